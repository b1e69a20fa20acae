"""Convolutions on every device: sums over windows where they lie, and over blocks of columns."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor.ops.nn import conv  # noqa: E402

from ..oracle import ours, same  # noqa: E402


def check(n: int, size: int, filters: int, groups: int, dtype: torch.dtype, stride: int) -> None:
    """A convolution of whole numbers, whose sums every dtype here holds exactly."""
    torch.manual_seed(0)
    draw = torch.randint
    x = draw(-2, 3, (3, 2 * groups, *(size,) * n)).to(dtype)
    weight = draw(-2, 3, (filters, 2, *(3, 2, 3)[:n])).to(dtype)
    bias = draw(-9, 9, (filters,)).to(dtype)
    theirs = getattr(torch, f"conv{n}d")(x, weight, bias, stride, 1, 2, groups)
    given = [ours(t) for t in (x, weight, bias)]
    mine = getattr(ft, f"conv{n}d")(*given, stride, 1, 2, groups)
    same(mine, theirs, exact=True)


@pytest.mark.core
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64])
@pytest.mark.parametrize(("n", "size"), [(1, 40), (2, 12), (3, 7)])
def test_both_ways_agree(
    monkeypatch: pytest.MonkeyPatch, n: int, size: int, dtype: torch.dtype
) -> None:
    check(n, size, 6, 2, dtype, 2)
    monkeypatch.setattr(conv, "TERMS", 0)
    # Blocks of some rows, of one sample, of two.
    for block in (50, 2000, 4500):
        monkeypatch.setattr(conv, "BLOCK", block)
        monkeypatch.setattr(conv, "FILTERS", 1)
        check(n, size, 6, 2, dtype, 2)


def test_many_products_go_by_columns() -> None:
    check(2, 33, 16, 1, torch.float32, 1)
