"""float16 and bfloat16 where torch rounds between steps: the same bits."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
import ftensor.nn.functional as F  # noqa: E402

from ..oracle import ours  # noqa: E402

HALVES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
torch_f = torch.nn.functional


def same_bits(name: str, *args: Any, **kwargs: Any) -> None:
    """Asserts torch's bits of a function of `nn.functional`."""
    expected = getattr(torch_f, name)(*args, **kwargs)
    mine = {word: ours(value) for word, value in kwargs.items()}
    got = getattr(F, name)(*ours(args), **mine).to_torch()
    assert got.dtype is expected.dtype
    torch.testing.assert_close(got, expected, rtol=0, atol=0)


@HALVES
@pytest.mark.parametrize("count", [1, 2, 17, 18, 300])
@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_nll_loss_rounds_like_torch(dtype: torch.dtype, count: int, reduction: str) -> None:
    torch.manual_seed(count)
    logs, classes = torch.randn(count, 4).log_softmax(1).to(dtype), torch.randint(4, (count,))
    same_bits("nll_loss", logs, classes, reduction=reduction)
    same_bits("nll_loss", logs, classes, (torch.rand(4) * 9).to(dtype), reduction=reduction)


@HALVES
@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 3, 3), (5, 4, 7), (1, 1, 1)])
def test_adaptive_avg_pool3d_and_area(dtype: torch.dtype, sizes: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 5, 7).to(dtype)
    same_bits("adaptive_avg_pool3d", x, sizes)
    same_bits("interpolate", x, sizes, mode="area")


@HALVES
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [True, False])
def test_grid_sample_of_three_dims(dtype: torch.dtype, padding: str, corners: bool) -> None:
    torch.manual_seed(0)
    x, grid = (torch.randn(2, 3, 4, 5, 6).to(dtype), (torch.rand(2, 3, 4, 5, 3) * 2.4 - 1.2).to(dtype))
    how = {"padding_mode": padding, "align_corners": corners}
    same_bits("grid_sample", x.to(dtype), grid.to(dtype), mode="bilinear", **how)


@HALVES
@pytest.mark.parametrize("count", [61, 270])
def test_weights_of_cubic_convolution(dtype: torch.dtype, count: int) -> None:
    """Unit vectors show each weight for an image with a single row. The outer elements are
    excluded, because they also replace elements beyond the border."""
    x = torch.eye(101)[1:-1].reshape(1, 99, 1, 101).to(dtype)
    same_bits("interpolate", x, (1, count), mode="bicubic")


@HALVES
def test_weighted_bags_are_rounded_once(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    table, index = (torch.randn(10, 5) * 9).to(dtype), torch.randint(10, (6, 5))
    weights = (torch.randn(6, 5) * 9).to(dtype)
    got = F.embedding_bag(ours(index), ours(table), mode="sum", per_sample_weights=ours(weights))
    exact = (table.double()[index] * weights.double().unsqueeze(-1)).sum(1).to(dtype)
    torch.testing.assert_close(got.to_torch(), exact)


def test_narrow_copy_along_a_missing_dim() -> None:
    """Beyond the last dim torch has another exception class than before the first."""
    x = ft.zeros(2, 3)
    with pytest.raises(RuntimeError, match="dim 2"):
        ft.narrow_copy(x, 2, 0, 0)
    with pytest.raises(IndexError, match="dim -3"):
        ft.narrow_copy(x, -3, 0, 0)
