"""torch's tensors on the device: values, dtypes, shapes, views, in-place results."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
import torch

from ftensor.torch.memory import TO_FT

from .device import agree, quiet, same  # noqa: F401

DTYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
    torch.float32, torch.float64, torch.complex64, torch.complex128, torch.bool,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_round_trip(dtype: torch.dtype) -> None:
    x = torch.arange(-6, 6).reshape(3, 4).to(dtype)
    y = x.to("fpga")
    assert y.device == torch.device("fpga", 0) and y.is_fpga
    assert y.cpu().equal(x)
    assert y.t()[1:].cpu().equal(x.t()[1:])
    assert y.to(torch.float32).cpu().equal(x.to(torch.float32)) or dtype.is_complex


@pytest.mark.parametrize("dtype", list(TO_FT), ids=str)
def test_every_dtype_has_memory(dtype: torch.dtype) -> None:
    x = torch.tensor([[1.0, 0.0], [2.0, 3.0]]).to(dtype)
    y = torch.empty(2, 2, dtype=dtype, device="fpga")
    y.copy_(x)
    assert y.dtype is dtype and y.clone().t().cpu().float().equal(x.float().t())


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (2, 3, 4, 5)])
def test_shapes(shape: tuple[int, ...]) -> None:
    agree(lambda x: (x + 1, x.sum(), x.clone()), torch.randn(shape))


def test_conversions_between_devices() -> None:
    x = torch.randn(3, 4)
    assert x.to("fpga", torch.float64).cpu().equal(x.double())
    assert x.to("fpga").to("cpu", torch.int32).equal(x.int())
    y = torch.zeros(2, 3, 4, device="fpga", dtype=torch.int64)
    y.copy_(x)
    assert y.cpu().equal(torch.zeros(2, 3, 4, dtype=torch.int64).copy_(x))
    z = torch.zeros(4, 6)
    z[:, ::2].copy_(x.to("fpga").t())
    assert z[:, ::2].equal(x.t())


def test_channels_last_is_kept() -> None:
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    y = x.to("fpga")
    assert y.stride() == x.stride() and y.cpu().stride() == x.stride()
    assert y.is_contiguous(memory_format=torch.channels_last)
    result = torch.empty(2, 3, 4, 5, device="fpga", memory_format=torch.channels_last)
    assert result.stride() == x.stride()


def test_views_share_memory() -> None:
    def views(x: torch.Tensor) -> list[torch.Tensor]:
        a = x.view(3, 8)
        b = a.t()[2:6]
        c = x.unfold(1, 2, 1)
        b.mul_(2)
        c[0].zero_()
        x.select(0, 1).add_(x[0])
        x[..., 1:].neg_()
        return [x, a, b, c, x.unsqueeze(0).expand(2, -1, -1, -1), x.diagonal(), x.permute(2, 0, 1)]

    agree(views, torch.randn(2, 3, 4))


def test_view_has_its_base() -> None:
    x = torch.zeros(4, device="fpga")
    y = x[1:]
    assert y._base is x and y.data_ptr() == x.data_ptr() + 4
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    y += 1
    assert x._version == y._version == 1
    del x
    gc.collect()
    assert y.cpu().tolist() == [1, 1, 1]


def test_in_place_and_out() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        out = torch.empty(0, device=x.device)
        torch.add(x, y, out=out)
        torch.mul(x, 2, out=x[:])
        x.clamp_(-1, 1)
        x[0] = 5
        x[x > 1] = 0
        y.fill_(3).sub_(x)
        kept, order = torch.empty(0, device=x.device), torch.empty(0, device=x.device).long()
        torch.sort(x, out=(kept, order))
        return [out, x, y, kept, order]

    agree(program, torch.randn(3, 4), torch.randn(3, 4))


@pytest.mark.parametrize("devices", [("fpga", "fpga"), ("cpu", "fpga"), ("fpga", "cpu")])
def test_copy_into_an_empty_tensor_must_fit(devices: tuple[str, str]) -> None:
    source, place = devices
    for shape, of in (((0, 4), (6,)), ((0, 4), (2, 4)), ((2, 0), (2, 3))):
        with pytest.raises(RuntimeError, match="size"):
            torch.zeros(shape, device=place).copy_(torch.zeros(of, device=source))
    torch.zeros(0, 4, device=place).copy_(torch.zeros(4, device=source))


def test_resizing() -> None:
    x = torch.arange(4.0, device="fpga")
    x.resize_(2, 4)
    assert x[0].cpu().tolist() == [0, 1, 2, 3] and x.shape == (2, 4)
    x.resize_(3)
    assert x.cpu().tolist() == [0, 1, 2]
    x.set_()
    assert x.numel() == 0
    x.set_(torch.ones(3, device="fpga"))
    assert x.cpu().tolist() == [1, 1, 1]


def test_complex_and_lazy_conjugates() -> None:
    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        return [
            x.conj() @ y,
            x.conj() + y,
            x.conj().imag.clone(),
            torch.view_as_real(x * 2),
            x.conj().clone(),
            x.mH.contiguous(),
            x.abs(),
            (x.conj() * x).real.clone(),
        ]

    x, y = torch.randn(2, 3, 3, dtype=torch.complex64)
    agree(program, x, y)


def test_zero_dim_cpu_tensors_are_accepted() -> None:
    x = torch.randn(3)
    assert (x.to("fpga") * torch.tensor(2.0)).cpu().equal(x * 2)
    with pytest.raises(RuntimeError, match="same device"):
        x.to("fpga") + torch.ones(3)


@pytest.mark.parametrize("like", [torch.zeros_like, torch.ones_like], ids=["zeros", "ones"])
def test_filled_likes(like: Callable[..., torch.Tensor]) -> None:
    turned = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last).transpose(0, 1)
    gaps = torch.randn(4, 6)[:, ::2]
    agree(lambda x, y: (like(x), like(y), like(x, dtype=torch.int64)), turned, gaps, fallback=False)
    for x in (turned, gaps, torch.empty(0, 3), torch.tensor(2.0), torch.zeros(3, dtype=torch.bool)):
        wanted, result = like(x), like(x.to("fpga"))
        assert (result.stride(), result.dtype) == (wanted.stride(), wanted.dtype) and result.cpu().equal(wanted)
    last = like(torch.randn(2, 3, 4, 5, device="fpga"), memory_format=torch.channels_last)
    assert last.is_contiguous(memory_format=torch.channels_last)
    assert like(gaps.to("fpga"), device="cpu").device.type == "cpu" and like(gaps, device="fpga").device.type == "fpga"


def test_arguments_of_factories_are_checked_at_each_call() -> None:
    for _ in range(2):
        assert torch.empty(2, 3, device="fpga").stride() == (3, 1)
        with pytest.raises(RuntimeError, match="negative dimension"):
            torch.empty(2, -3, device="fpga")
        with pytest.raises(RuntimeError, match="fpga:1"):
            torch.empty(2, 3, device="fpga:1")
        with pytest.raises(RuntimeError, match="pin"):
            torch.empty(2, 3, device="fpga", pin_memory=True)
    try:
        torch.set_default_dtype(torch.float64)
        assert torch.empty(2, 3, device="fpga").dtype is torch.zeros(2, device="fpga").dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.empty(2, 3, device="fpga").dtype is torch.float32
