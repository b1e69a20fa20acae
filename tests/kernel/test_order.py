"""Scans, sorting and searching against torch: layouts, dtypes, NaN, and rows split between
units."""

from __future__ import annotations

import math
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft
from ftensor.execute import sort
from ftensor.execute import sort as sorting

from .. import geometry
from ..oracle import agree
from ..targets import draws, some
from .processors import family

DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
)
SCANS = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")


def values(shape: Any, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    """Returns numbers with many ties and both zeros, plus infinities and NaN if the dtype has
    them."""
    generator = torch.Generator().manual_seed(seed)
    t = torch.randint(-9, 10, shape, generator=generator) / 4
    if dtype.is_floating_point:
        special = torch.tensor([float("nan"), -0.0, float("inf"), -float("inf")])
        at = torch.randint(0, 40, shape, generator=generator)
        t = torch.where(at < 4, special[at.clamp(max=3)], t)
    return (t if dtype.is_floating_point or dtype.is_complex else t * 4).to(dtype)


def near(name: str, dtype: torch.dtype, *args: Any, x: torch.Tensor) -> bool:
    loose = {"rtol": 1e-3, "atol": 1e-4} if dtype in (torch.float32, torch.complex64) else {}
    mine = ft.from_torch(x)
    return agree(partial(getattr(ft, name), mine, *args), partial(getattr(torch, name), x, *args), **loose)


@pytest.mark.parametrize("dtype", some(DTYPES, 3), ids=lambda d: str(d)[6:])
def test_every_dtype(dtype: torch.dtype) -> None:
    """Along each dim, in parts, and in incomplete groups of columns."""
    x = values((3, 35, 18), dtype)
    exact = x[:, :, 3] if dtype.is_floating_point else x
    for name in SCANS:
        operand = x if name in ("cummax", "cummin") else exact
        assert [near(name, dtype, d, x=operand) for d in range(operand.ndim)] in (
            [True] * operand.ndim,
            [False] * operand.ndim,
        )
    ordered = {True: 0, False: 0}
    for dim in range(3):
        for descending in (False, True):
            mine = ft.from_torch(x)
            ordered[
                agree(
                    partial(ft.sort, mine, dim, descending, stable=True),
                    partial(torch.sort, x, dim=dim, descending=descending, stable=True),
                )
            ] += 1
    assert ordered == ({True: 0, False: 6} if dtype.is_complex else {True: 6, False: 0})


@pytest.mark.parametrize(
    ("shape", "dim", "turned"),
    [((3, 1500), 0, False), ((90, 3), 0, False), ((1100, 17), 1, False), ((30, 40), 1, True)],
)
def test_rows_in_parallel(shape: tuple[int, ...], dim: int, turned: bool) -> None:
    """More rows than a block has, fewer than the pipeline's depth, short contiguous rows, and
    strided results."""
    x = torch.randint(-9, 10, shape)
    y = ft.from_torch(x)
    x, y = (x.t(), y.t()) if turned else (x, y)
    for name in ("cumsum", "cummin"):
        assert agree(partial(getattr(ft, name), y, dim), partial(getattr(torch, name), x, dim))


@draws(60)
@given(geometry.geometries(4), st.data())
def test_any_layout(layout: Any, data: st.DataObject) -> None:
    shape, strides = layout
    size = 4 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n)
    base = torch.randint(-3, 4, (max(size, 4),), generator=torch.Generator().manual_seed(size))
    x = base.as_strided(shape, strides, 3)
    y = ft.from_torch(base).as_strided(tuple(shape), tuple(strides), 3)
    dim = data.draw(st.integers(-len(shape), len(shape) - 1)) if shape else 0
    name = data.draw(st.sampled_from(SCANS[:4]))
    agree(partial(getattr(ft, name), y, dim), partial(getattr(torch, name), x, dim))
    agree(partial(ft.sort, y, dim, stable=True), partial(torch.sort, x, dim=dim, stable=True))


@pytest.mark.parametrize(
    ("shape", "share"),
    [
        ((70001,), 1 << 14),
        ((2, 40000), 1 << 14),
        pytest.param((2, 701), 1 << 7, marks=pytest.mark.core),  # few, since an interpreter may run them
    ],
)
def test_long_rows(shape: tuple[int, ...], share: int) -> None:
    """All units share each of a few rows: parts are scanned, and tiles are merged."""
    x = torch.randint(-(2**40), 2**40, shape)
    y = ft.from_torch(x)
    with (
        family(5, unit_elements=share),
        mock.patch.object(sorting, "TILE", share // 2),
        mock.patch.object(sort, "LOCAL_TILE", share // 8),
    ):
        agree(partial(ft.cumsum, y, -1), partial(torch.cumsum, x, -1))
        agree(partial(ft.sort, y, stable=True), partial(torch.sort, x, stable=True))
        agree(
            partial(ft.sort, y % 9, descending=True, stable=True),
            partial(torch.sort, x % 9, descending=True, stable=True),
        )


@pytest.mark.parametrize("lined", [300, 1 << 17], ids=["parts", "whole"])
@pytest.mark.parametrize("dtype", some(DTYPES[:-1], 3), ids=lambda d: str(d)[6:])
def test_radix_sort_of_rows(dtype: torch.dtype, lined: int) -> None:
    """Rows that units share, and separate rows. Digits are narrow or wide, and some are equal in
    all elements. Sorts run along each dim in both orders."""
    x = values((3, 701), dtype)
    wide = torch.arange(2103).reshape(3, 701).mul(2654435761).remainder(2**31)
    many = wide.sub(2**30).to(dtype)
    with family(7, unit_elements=1 << 9), mock.patch.multiple(sort, LINED=lined, MANY=700):
        for t in (x, many, x[:1, :650], many[:, ::2], many.t(), many[:, :699].t().contiguous().t()):
            y = ft.from_torch(t)
            dim = 0 if t.shape[0] == 701 else 1
            for descending in (False, True):
                agree(
                    partial(ft.sort, y, dim, descending),
                    partial(torch.sort, t, dim=dim, descending=descending, stable=True),
                )
            agree(partial(ft.msort, y.movedim(dim, 0)), partial(torch.msort, t.movedim(dim, 0)))


@pytest.mark.parametrize("dtype", some([torch.float32, torch.bfloat16, torch.int64, torch.uint8], 2))
def test_kthvalue_and_topk_are_torchs(dtype: torch.dtype) -> None:
    """With ties and NaN, elements come in the order of a stable sort."""
    x = values((3, 180, 2), dtype)
    if dtype.is_floating_point:
        x[1, ::3] = math.nan
        x[2] = math.nan
        x[0, 5:50:5], x[0, 6:50:5] = -math.inf, -0.0
    y = ft.from_torch(x)
    for largest in (False, True):
        whole = torch.sort(x, dim=1, descending=largest, stable=True)
        for k in (1, 22, 23, 180):
            for mine, want in zip(ft.topk(y, k, 1, largest), whole):
                assert torch.equal(mine.to_torch().nan_to_num(7), want[:, :k].nan_to_num(7)), k
    whole = torch.sort(x, dim=1, stable=True)
    for k in (1, 90, 180):
        for mine, want in zip(ft.kthvalue(y, k, 1), whole):
            assert torch.equal(mine.to_torch().nan_to_num(7), want[:, k - 1].nan_to_num(7)), k
    for name in ("median", "nanmedian"):
        agree(partial(getattr(ft, name), y), partial(getattr(torch, name), x))
        ranked, place = (t.to_torch() for t in getattr(ft, name)(y, 1))
        want = getattr(torch, name)(x, 1).values
        assert torch.equal(ranked.nan_to_num(7), want.nan_to_num(7)), name
        again = x.gather(1, place.unsqueeze(1)).squeeze(1)
        assert torch.equal(again.nan_to_num(7), want.nan_to_num(7)), name


@pytest.mark.parametrize("dtype", some(DTYPES[1:-1], 3), ids=lambda d: str(d)[6:])
def test_searchsorted_is_torchs(dtype: torch.dtype) -> None:
    """With one row for all and a row for each, from both sides, with a sorter."""
    rows = values((4, 33), dtype).sort(-1).values
    wanted = values((4, 50), dtype, 1)
    shuffled = rows.flip(-1)
    sorter = torch.arange(32, -1, -1).expand(4, 33).contiguous()
    mine, r, s, o = (ft.from_torch(t) for t in (wanted, rows, shuffled, sorter))
    for right in (False, True):
        agree(partial(ft.searchsorted, r, mine, right=right), partial(torch.searchsorted, rows, wanted, right=right))
        agree(
            partial(ft.searchsorted, s, mine, right=right, sorter=o),
            partial(torch.searchsorted, shuffled, wanted, right=right, sorter=sorter),
        )
        agree(
            partial(ft.bucketize, mine, r[0], right=right, out_int32=True),
            partial(torch.bucketize, wanted, rows[0].contiguous(), right=right, out_int32=True),
        )


@pytest.mark.parametrize("of, among", [("float32", "int64"), ("int32", "float32"), ("float16", "float64")])
def test_searchsorted_compares_in_the_common_dtype(of: str, among: str) -> None:
    """Rows and values of two dtypes; a value of no dims is a number's equal."""
    row, values = np.arange(-3, 5) * 3, np.arange(-8, 9) * 1.5
    for lib_values in (values, values[4]):
        mine, theirs = (
            [lib.tensor(data.tolist()).to(getattr(lib, name)) for data, name in ((row, among), (lib_values, of))]
            for lib in (ft, torch)
        )
        agree(partial(ft.searchsorted, *mine, right=True), partial(torch.searchsorted, *theirs, right=True))
        agree(partial(ft.bucketize, *mine[::-1]), partial(torch.bucketize, *theirs[::-1]))
    digits = np.digitize(ft.tensor([0.5, 1.0, 2.5]), ft.tensor([0, 1, 3]))
    assert digits.tolist() == np.digitize([0.5, 1.0, 2.5], [0, 1, 3]).tolist()


@pytest.mark.parametrize("dtype", [torch.int32, torch.float32, torch.float16])
def test_isin_with_many_test_elements(dtype: torch.dtype) -> None:
    """There are more test elements than are compared one by one. NaN is never found."""
    x, tests = values((5, 40), dtype), values((50,), dtype, 7)[::2].repeat(3)
    mine, theirs = ft.from_torch(x), ft.from_torch(tests)
    assert 0 < int(torch.isin(x, tests).sum()) < x.numel()
    for invert in (False, True):
        agree(partial(ft.isin, mine, theirs, invert=invert), partial(torch.isin, x, tests, invert=invert))
    assert agree(partial(ft.isin, mine, theirs.long()), partial(torch.isin, x, tests.long()))


def test_error_of_a_long_cumsum() -> None:
    """Rounding errors grow no faster than the number of terms."""
    x = torch.rand(200_000, generator=torch.Generator().manual_seed(3))
    result = ft.from_torch(x).cumsum(0).to_torch().double()
    exact = x.double().cumsum(0)
    assert float(((result - exact).abs() / exact).max()) < 1e-4


def test_vander() -> None:
    x = torch.tensor([2, -1, 3])
    y = ft.from_torch(x)
    for increasing in (False, True):
        agree(partial(ft.vander, y, 4, increasing), partial(torch.vander, x, 4, increasing=increasing))
    agree(partial(ft.vander, y, 0), partial(torch.vander, x, 0))
    assert not agree(partial(ft.vander, y, -1), partial(torch.vander, x, -1))
