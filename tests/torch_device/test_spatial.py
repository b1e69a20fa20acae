"""Resizing, padding, grid sampling and ops that torch decomposes, on the device, forward and
backward."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from .device import agree, quiet  # noqa: F401

SIZES = {1: (2, 2, 3), 2: (1, 2, 3, 4), 3: (1, 2, 3, 2, 4)}
RESIZED = [
    (1, "nearest", {"scale_factor": 2.0}),
    (2, "nearest", {"size": (5, 3)}),
    (3, "nearest", {"scale_factor": 1.5}),
    (2, "nearest-exact", {"scale_factor": (1.7, 0.6)}),
    (1, "linear", {"scale_factor": 2.3}),
    (2, "bilinear", {"scale_factor": 1.7}),
    (2, "bilinear", {"size": (2, 9), "align_corners": True}),
    (3, "trilinear", {"size": (2, 5, 6), "align_corners": True}),
    (2, "bicubic", {"scale_factor": 1.7}),
    (2, "bicubic", {"size": (7, 3), "align_corners": True}),
    (2, "bilinear", {"size": (2, 3), "antialias": True}),
    (2, "bicubic", {"scale_factor": 0.5, "antialias": True}),
]


@pytest.mark.parametrize(("n", "mode", "how"), RESIZED, ids=str)
def test_resizing(n: int, mode: str, how: dict[str, object]) -> None:
    x = torch.randn(SIZES[n], requires_grad=True)
    agree(lambda x: F.interpolate(x, mode=mode, **how), x, fallback=False, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [(1, 2), (-1, 2), (1, 0, 2, 1), (1, 1, 0, 1, 1, 0)], ids=str)
def test_padding(mode: str, padding: tuple[int, ...]) -> None:
    x = torch.randn(SIZES[len(padding) // 2], requires_grad=True)
    agree(lambda x: F.pad(x, padding, mode), x, fallback=False, atol=1e-5, rtol=1e-4)


def weighted(y: torch.Tensor) -> torch.Tensor:
    """Returns a result with a different weight for each element."""
    return y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape).to(y.device)


SAMPLED = [(2, "bilinear"), (2, "nearest"), (2, "bicubic"), (3, "bilinear"), (3, "nearest")]


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(("n", "mode"), SAMPLED)
def test_grid_sample(n: int, mode: str, padding: str, corners: bool) -> None:
    """Points are inside, outside, and on the borders, where padding starts to clamp or reflect."""
    random = torch.Generator().manual_seed(n)
    for dtype, close in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        x = torch.randn(2, 3, *(4, 5, 3)[:n], generator=random, dtype=dtype)
        points = torch.rand(2, *(3, 6, 2)[:n], n, generator=random, dtype=dtype) * 6 - 3
        points.view(-1)[: 6 * n] = torch.tensor([-1.0, 1.0, 0.0, -3.0, 3.0, 0.5]).repeat(n)

        def call(x: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
            return weighted(F.grid_sample(x, points, mode, padding, corners))

        args = x.requires_grad_(), points.requires_grad_()
        agree(call, *args, fallback=False, atol=close, rtol=close)


def test_grid_sample_of_few_points_or_gradients() -> None:
    for x, points in (
        (torch.randn(2, 3, 4, 4), torch.zeros(2, 0, 3, 2)),
        (torch.randn(0, 3, 4, 4), torch.zeros(0, 2, 3, 2)),
        (torch.randn(1, 1, 1, 1), torch.tensor([[[[-2.0, 0.0], [0.3, 0.9]]]])),
    ):
        for padding, corners in (("zeros", False), ("border", True), ("reflection", True)):
            for wanting in ((True, False), (False, True)):
                x.requires_grad_(wanting[0])
                points.requires_grad_(wanting[1])

                def call(x: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
                    return F.grid_sample(x, points, "bilinear", padding, corners)  # noqa: B023

                agree(call, x, points, fallback=False)


def test_ops_that_torch_decomposes() -> None:
    def program(x: torch.Tensor, w: torch.Tensor) -> list[torch.Tensor]:
        kept, at = F.max_pool2d(x, 2, return_indices=True)
        return [
            F.prelu(x, w),
            F.glu(x, 1),
            F.elu_(x * 1),
            F.selu_(x * 1),
            x.sigmoid().logit(1e-3),
            F.binary_cross_entropy(x.sigmoid(), (x > 0).float()),
            x.unfold(3, 2, 1) * 2,
            x.select(1, 1) * 2,
            F.max_unpool2d(kept, at, 2),
            torch._weight_norm(x[0, 0], x[0, 1, :, :1]),
        ]

    x, w = torch.randn(2, 4, 4, 4, requires_grad=True), torch.rand(4, requires_grad=True)
    agree(program, x, w, fallback=False, atol=1e-5, rtol=1e-4)


def test_group_norm_of_channels_last() -> None:
    x, w = torch.randn(2, 4, 3, 3, requires_grad=True), torch.rand(4, requires_grad=True)

    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.group_norm(x.to(memory_format=torch.channels_last), 2, w)

    agree(program, x, w, fallback=False, atol=1e-5, rtol=1e-4)


def test_max_unpool_indices_out_of_range_are_refused() -> None:
    for n, unpool in enumerate((F.max_unpool1d, F.max_unpool2d, F.max_unpool3d), 1):
        x = torch.ones(2, 3, *[2] * n, device="fpga")
        for at in (-1, 4**n):
            with pytest.raises(RuntimeError, match="indices are from"):
                unpool(x, torch.full(x.shape, at, device="fpga"), 2)


def test_histc_of_integers() -> None:
    """torch's CUDA kernel does this too; Mixtral counts tokens with it."""
    for dtype in (torch.int64, torch.int32, torch.uint8):
        x = torch.tensor([0, 1, 1, 3, 7, 4], dtype=dtype, device="fpga")
        counts = torch.histc(x, bins=4, min=0, max=3)
        assert counts.dtype is dtype and counts.tolist() == [1, 2, 0, 1]
        assert torch.histc(x, bins=2).tolist() == [4, 2]
