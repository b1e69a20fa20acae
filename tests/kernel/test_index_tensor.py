"""Runs and elements selected by one index tensor, with a CPU's vector kernels."""

from __future__ import annotations

from functools import partial

import pytest
import torch

import ftensor as ft

from ..oracle import agree
from ..targets import some
from .processors import family

DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int16,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.int64,
    torch.complex64,
    torch.complex128,
)


def numbers(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.arange(1, 1 + torch.Size(shape).numel()).reshape(shape).remainder(251).to(dtype)


@pytest.mark.parametrize("dtype", some(DTYPES, 3), ids=lambda d: str(d)[6:])
@pytest.mark.parametrize("size", [1, 5, 16, 67])
def test_runs_and_elements(dtype: torch.dtype, size: int) -> None:
    """Rows are shorter than a vector, or have whole vectors plus a remainder, along each dim."""
    x = numbers(dtype, 7, 3, size)
    y = ft.from_torch(x)
    for of in (torch.int64, torch.int32):
        row = torch.tensor([6, 0, 3, 3, 5], dtype=of)
        for dim, index in ((0, row), (1, row % 3), (2, row % size)):
            agree(partial(ft.index_select, y, dim, ft.from_torch(index)), partial(torch.index_select, x, dim, index))
            agree(
                partial(ft.index_select, y[:, :, ::2], 0, ft.from_torch(row)),
                partial(torch.index_select, x[:, :, ::2], 0, row),
            )
    assert agree(lambda: y[ft.tensor([-1, 2, -7])], lambda: x[torch.tensor([-1, 2, -7])])
    for dim in range(3):
        index = torch.randint(0, x.shape[dim], (5, 3, size) if dim == 0 else (7, 2, size))
        agree(partial(ft.gather, y, dim, ft.from_torch(index)), partial(torch.gather, x, dim, index))
        turned = index.transpose(0, 2).contiguous().transpose(0, 2)
        agree(partial(ft.gather, y, dim, ft.from_torch(turned)), partial(torch.gather, x, dim, turned))


@pytest.mark.core
@pytest.mark.parametrize("rows", [1, 3])
def test_rows_split_between_units(rows: int) -> None:
    """There are fewer rows than units, so each row is split at vector boundaries."""
    x, index = numbers(torch.float32, 4, 1003), torch.randint(0, 4, (rows,))
    places = torch.randint(0, 1003, (rows, 1003))
    with family(5, unit_elements=64):
        y = ft.from_torch(x)
        assert torch.equal(y[ft.from_torch(index) + 0].to_torch(), x[index])
        assert torch.equal(y.gather(1, ft.from_torch(places) + 0).to_torch(), x.gather(1, places))


@pytest.mark.parametrize("at", [0, 20, 39])
@pytest.mark.parametrize("bad", [40, -41, 2**62])
def test_error_names_the_bad_index(bad: int, at: int) -> None:
    """It is in a whole vector of indices, or in the remainder. Other results are right."""
    x, index = numbers(torch.float32, 40), torch.arange(40)
    index[at] = bad
    y, places = ft.from_torch(x), ft.from_torch(index) + 0
    with pytest.raises(IndexError, match=f"index {bad} .* size 40"):
        y[places]
    out = ft.full((40,), -1.0)
    with pytest.raises(RuntimeError, match=f"index {bad} "):
        ft.gather(y, 0, places, out=out)
    others = torch.arange(40) != at
    assert torch.equal(out.to_torch()[others], x[others])
    rows = ft.full((40, 5), -1.0)
    with pytest.raises(IndexError, match=f"index {bad} "):
        ft.index_select(y.reshape(40, 1).expand(40, 5).contiguous(), 0, places, out=rows)
    assert torch.equal(rows.to_torch()[others], x[others].reshape(39, 1).expand(39, 5))


def test_gather_refuses_negative_indices() -> None:
    places = ft.tensor([0, -1]) + 0
    with pytest.raises(RuntimeError, match="index -1 "):
        ft.gather(ft.ones(40), 0, places)
