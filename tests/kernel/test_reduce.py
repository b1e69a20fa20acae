"""Reductions against torch: layouts, dims, special values, accuracy, huge tensors."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute import reduce as fold_module
from ftensor.execute import reduce_pieces as fold_pieces

from .. import geometry
from ..oracle import agree
from ..targets import draws, pairs, some
from .processors import family

FLOATING = ["sum", "mean", "amax", "var", "logsumexp", "prod", "nansum"]
WHOLE = ["sum", "amin", "any", "all", "count_nonzero", "prod"]
WHERE = ["argmax", "argmin", "max", "min"]


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Any, torch.Tensor]:
    """Draws (shape, strides) of few or many elements, as an index into random storage."""
    if draw(st.booleans()):
        shape, strides = draw(geometry.geometries(4))
    else:
        shape = draw(st.sampled_from([(3000,), (70, 33), (5, 130, 9), (2, 40, 3, 17), (1000, 4)]))
        strides = draw(geometry.strides_of(shape))
    return shape, strides


def stored(shape: Any, strides: Any, whole: bool, seed: int) -> torch.Tensor:
    """Returns a tensor of this layout with an offset. Integers repeat values, and floats have one
    or two NaNs."""
    size = 4 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n)
    generator = torch.Generator().manual_seed(seed)
    base = torch.randint(-9, 10, (max(size, 4),), generator=generator)
    if not whole:
        base = torch.rand(base.shape, generator=generator) * 2 - 0.5
    return base.as_strided(shape, strides, 3)


def same_view(t: torch.Tensor) -> ft.Tensor:
    base = t.as_strided((t.untyped_storage().nbytes() // t.itemsize,), (1,), 0)
    return ft.from_torch(base).as_strided(tuple(t.shape), t.stride(), t.storage_offset())


@draws(60)
@given(layouts(), st.data())
def test_any_layout_and_dims(layout: Any, data: st.DataObject) -> None:
    shape, strides = layout
    whole, seed = data.draw(st.booleans()), data.draw(st.integers(0, 99))
    name = data.draw(st.sampled_from(WHOLE if whole else FLOATING))
    t = stored(shape, strides, whole, seed)
    one = name == "prod"
    chosen = [d for d in range(t.ndim) if data.draw(st.booleans())]
    dims = chosen[0] if one and chosen else (0 if one else tuple(chosen))
    options = {} if name == "count_nonzero" else {"keepdim": data.draw(st.booleans())}
    if not t.ndim or (name == "logsumexp" and not chosen):
        return
    # Both libraries round. In a product the roundings of all factors add up.
    tolerance = {"rtol": 1e-3 if one else 1e-5, "atol": 1e-5}
    mine = same_view(t)
    agree(
        lambda: getattr(ft, name)(mine, dims, **options), lambda: getattr(torch, name)(t, dims, **options), **tolerance
    )


@draws(60)
@given(layouts(), st.data())
def test_first_index_and_nan_win(layout: Any, data: st.DataObject) -> None:
    shape, strides = layout
    t = stored(shape, strides, True, data.draw(st.integers(0, 99))).float()
    if not t.numel():
        return
    flat = t.as_strided((t.untyped_storage().nbytes() // 4,), (1,), 0)
    for at in data.draw(st.lists(st.integers(0, len(flat) - 1), max_size=2)):
        flat[at] = math.nan
    name = data.draw(st.sampled_from(WHERE))
    dim = data.draw(st.integers(0, max(t.ndim - 1, 0)))
    array = t.numpy()
    ours = getattr(same_view(t), name)(dim)
    values = None
    if name in ("max", "min"):
        values, ours = ours
    # NumPy's argmax and argmin return the first of equal values, and the first NaN if there is one.
    where = np.argmax if "max" in name else np.argmin
    expected = where(array, axis=dim) if t.ndim else np.int64(0)
    np.testing.assert_array_equal(ours.numpy(), expected)
    if values is not None:
        picked = np.take_along_axis(array, np.expand_dims(expected, dim), dim) if t.ndim else array
        np.testing.assert_array_equal(values.numpy(), picked.reshape(values.shape))


@pytest.mark.parametrize("shape, dim", [((1 << 21,), 0), ((1 << 20, 3), 0), ((3, 1 << 20), 1)])
def test_accuracy_of_long_sums_is_pairwise(shape: Any, dim: int) -> None:
    """A plain float32 loop over this number of terms has an error of 1e-3, pairwise summation
    1e-7."""
    t = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    exact = t.double().sum(dim)
    result = ft.from_torch(t).sum(dim).to_torch().double()
    assert ((result - exact).abs() / exact).max() < 1e-6
    assert (ft.from_torch(t).var(dim).to_torch().double() - t.double().var(dim)).abs().max() < 1e-6


@pytest.mark.parametrize("n", [3000, 100_000, 1 << 22])
def test_sum_of_equal_terms(n: int) -> None:
    """Rounding errors of equal terms have one sign, which is the worst case for a sum."""
    for seed in range(10):
        t = torch.rand(1, generator=torch.Generator().manual_seed(seed))
        exact = t.double().item() * n
        # One value for all lanes: an image reduces it with one lane, in as many more steps.
        assert abs(ft.from_torch(t).expand(n).sum().item() / exact - 1) < 4e-6
        if n < 1 << 22:
            rows = ft.from_torch(t).expand(n, 5).contiguous()
            assert abs(rows.sum(0)[3].item() / exact - 1) < 2e-6


@pytest.mark.parametrize(
    ("shape", "transposed"), pairs([(300_001,), (3, 100_003), (100_003, 3), (517, 613), (40, 70, 90)], [False, True])
)
def test_reductions_split_over_units(shape: Any, transposed: bool) -> None:
    t = torch.randint(-(2**62), 2**62, shape, generator=torch.Generator().manual_seed(1))
    t = t.transpose(0, -1) if transposed else t
    x = same_view(t)
    for dims in [None, *range(t.ndim), (0, t.ndim - 1) if t.ndim > 1 else None]:
        assert torch.equal(x.sum(dims).to_torch(), t.sum(dims))  # wraps in both
        assert torch.equal(x.amax(dims).to_torch(), t.amax(dims if dims is not None else ()))
        if not isinstance(dims, tuple):
            assert torch.equal(x.argmin(dims).to_torch(), t.argmin(dims))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_narrow_floats_are_summed_in_float32(name: str) -> None:
    t = torch.full((40_000,), 0.25, dtype=getattr(torch, name))
    assert ft.from_torch(t).sum().item() == 10_000 if name == "float16" else 9_984
    assert ft.from_torch(t).mean().item() == 0.25


@draws(40)
@given(layouts().filter(lambda layout: 1 <= math.prod(layout[0]) <= 200), st.integers(16, 60), st.data())
def test_pieces_of_huge_tensors_are_combined(layout: Any, limit: int, data: st.DataObject) -> None:
    """The limit is small instead of 2^31, and results are unchanged."""
    name = data.draw(st.sampled_from(["sum", "mean", "argmax", "var", "any", "norm"]))
    t = stored(*layout, whole=True, seed=data.draw(st.integers(0, 99))).float()
    x, dim = same_view(t), data.draw(st.sampled_from([None, *range(t.ndim)]))
    options = {} if dim is None else {"dim": dim}
    launches = x._storage.backend.launches
    launches.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold_module, "COUNTED", limit)
        result = getattr(x, name)(**options).to_torch()
    launches.clear()
    torch.testing.assert_close(result, getattr(x, name)(**options).to_torch(), equal_nan=True)


@given(geometry.geometries(4), st.integers(1, 30))
def test_splits_are_ordered_and_complete(layout: geometry.Geometry, limit: int) -> None:
    shape, strides = layout
    seen = []
    for size, (offset,) in fold_pieces.cut_in_order(shape, [strides], limit):
        places = [offset + geometry.offset(i, strides) for i in geometry.indices(size)]
        assert len(places) <= limit
        assert not places or max(places) - min(places) <= limit
        seen += places
    assert seen == [geometry.offset(i, strides) for i in geometry.indices(shape)]


@pytest.mark.long
def test_beyond_two_to_the_31() -> None:
    one = ft.from_torch(torch.ones(1, dtype=torch.int8)).expand(2**32 + 5)
    assert one.sum().item() == 2**32 + 5
    assert one.argmax().item() == 0
    rows = ft.from_torch(torch.arange(3, dtype=torch.int8)).unsqueeze(1).expand(3, 2**31)
    assert rows.argmax().item() == 2**32
    assert rows.sum(1).tolist() == [0, 2**31, 2**32]


def test_named_results() -> None:
    result = ft.from_torch(torch.tensor([[1.0, 3.0], [2.0, 0.0]])).max(1)
    assert result.values.tolist() == [3.0, 2.0] and result.indices.tolist() == [1, 0]
    assert repr(result).startswith("ftensor.return_types.max(\nvalues=tensor([3., 2.]),\nindices=")
    values, indices = result
    assert values is result[0] and indices is result.indices


ROUNDED = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2, "bfloat16": 2e-2}


@pytest.mark.parametrize(("to", "name"), pairs(list(ROUNDED), ["softmax", "log_softmax"]))
def test_softmax_converts_to_dtype_first(name: str, to: str) -> None:
    for of, values in (("float64", [1e8 + 3, 0.0, 1e8]), ("float32", [2051.0, 2048.0, 1.0])):
        results = []
        for lib in (ft, torch):
            x = lib.tensor(values, dtype=getattr(lib, of))
            results.append(getattr(x, name)(0, dtype=getattr(lib, to)).to(lib.float64).tolist())
        assert results[0] == pytest.approx(results[1], rel=ROUNDED[to], nan_ok=True)


@pytest.mark.parametrize(
    ("name", "of"), pairs(["var", "std", "var_mean", "std_mean"], ["float32", "bfloat16", "complex64"])
)
def test_variance_of_extreme_values(name: str, of: str) -> None:
    if not default_backend().target.spares_double:
        pytest.skip("boards, and targets that emulate one, sum in the compute dtype")
    for values in ([1e30, 3e30, 2e30], [1e-25, 3e-25, 2e-25], [1e4, 1e4 + 1, 1e4 + 2]):
        results = []
        for lib in (ft, torch):
            x = lib.tensor(values, dtype=getattr(lib, of)).repeat(40)
            result = getattr(lib, name)(x)
            parts = result if isinstance(result, tuple) else (result,)
            results.append([complex(p.item()) for p in parts])
        for mine, theirs in zip(*results):
            assert mine == pytest.approx(theirs, rel=1e-2 if of == "bfloat16" else 1e-6)


@pytest.mark.parametrize("dtype", some([torch.float32, torch.float64, torch.int32, torch.int64], 2))
def test_indices_of_extremes(dtype: torch.dtype) -> None:
    """The first of equal values wins, in whole vectors, blocks, splits and remainders. NaN comes
    first."""
    generator = torch.Generator().manual_seed(5)
    backend = default_backend()
    # An image's kernels have the units that they were built with.
    units = 3 if backend.images is None else backend.units
    with family(units, unit_elements=256):
        for shape in ((64,), (67,), (2, 2048), (4103,), (3, 5, 131), (1, 9001)):
            x = torch.randint(-3, 4, shape, generator=generator).to(dtype)
            worst = torch.full(shape, -math.inf if dtype.is_floating_point else -(2**31)).to(dtype)
            inputs = [x, worst, -worst]
            if dtype.is_floating_point:
                inputs.append(x.masked_fill(torch.rand(shape, generator=generator) < 2e-3, math.nan))
                inputs.append(torch.where(x == 0, -0.0, x.abs() * 0))
            for t in inputs:
                y = ft.from_torch(t)
                for name in ("argmax", "argmin"):
                    agree(partial(getattr(ft, name), y), partial(getattr(torch, name), t))
                    agree(partial(getattr(ft, name), y, -1), partial(getattr(torch, name), t, -1))
                for name in ("max", "min"):
                    agree(partial(getattr(ft, name), y, -1), partial(getattr(torch, name), t, -1))
