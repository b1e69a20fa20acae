"""Each row of the catalogue against torch: values of every dtype, every layout.

The cases are generated from the rows. Spellings are tested in tests/spelling.
"""

from __future__ import annotations

from functools import partial

import pytest

import ftensor as ft

from ..oracle import agree, agree_on, ours, same, torch
from ..row_cases import DTYPES, REDUCTIONS, ROWS, computed, few, inputs_of, operands, parameters, theirs
from ..targets import pairs

LAYOUTS = ("transposed", "broadcast", "sliced", "expanded", "zero-dim")


def in_every_run(name: str, dtype: str) -> bool:
    """Returns whether every run has the case: bool and complex have separate texts, and half of the
    other dtypes take turns."""
    kind = getattr(ft, dtype).kind
    return kind in "bc" or (len(name) + DTYPES.index(dtype)) % 2 == 0


@pytest.mark.parametrize(("name", "dtype"), pairs(list(ROWS), DTYPES, computed, in_every_run))
def test_each_row_has_torchs_values(name: str, dtype: str) -> None:
    """Each pair of special numbers occurs."""
    entry, inputs = ROWS[name], inputs_of(name, dtype)
    own, params = ours(inputs), parameters(entry)
    assert agree(lambda: entry.call(*own, **params), lambda: theirs(entry)(*inputs, **params))


def reduction_supports(name: str, dtype: str) -> bool:
    """Returns whether a reduction supports a dtype."""
    return bool(REDUCTIONS[name].row.serves(getattr(ft, dtype).kind))


@pytest.mark.parametrize(("name", "dtype"), pairs(list(REDUCTIONS), DTYPES, reduction_supports, in_every_run))
def test_reductions(name: str, dtype: str) -> None:
    """Along rows and across rows."""
    entry = REDUCTIONS[name]
    for t in (few(dtype), few(dtype).t()):
        for dims in ((), (0,)):
            mine = partial(entry.call, same_memory(t), *dims)
            assert agree(mine, partial(theirs(entry), t, *dims))


def operands_in_layout(name: str, layout: str, dtype: str) -> list[torch.Tensor]:
    """Returns two operands whose layouts differ from the result's."""
    a, b = inputs_of(name, dtype)
    if layout == "transposed":
        return [a.t(), b]
    if layout == "broadcast":
        return [a, b[0]]
    if layout == "sliced":
        return [a[::2, 1::3], b[::2, ::3][:, : a[0, 1::3].numel()]]
    if layout == "expanded":
        return [a[:, :1].expand_as(a), b[:1].expand_as(a)]
    return [a, b[0, -1]]


def same_memory(t: torch.Tensor) -> ft.Tensor:
    """Returns a view of an equal layout."""
    base = t.as_strided((t.untyped_storage().nbytes() // t.itemsize,), (1,), 0)
    return ft.from_torch(base.clone()).as_strided(tuple(t.shape), t.stride(), t.storage_offset())


def check(name: str, layout: str, dtype: str) -> None:
    """Asserts the result's values and strides."""
    entry, inputs = ROWS[name], operands_in_layout(name, layout, dtype)
    own = [same_memory(t) for t in inputs]
    assert agree(lambda: entry.call(*own), lambda: theirs(entry)(*inputs))


@pytest.mark.parametrize(("dtype", "layout"), pairs(DTYPES, LAYOUTS, both=True))
def test_layouts_of_every_dtype(layout: str, dtype: str) -> None:
    """Tests the skeleton's kernels for every element size."""
    check("mul", layout, dtype)


TWO = [name for name, entry in ROWS.items() if entry.row.arity == 2]


@pytest.mark.parametrize("k", range(len(TWO)), ids=TWO)
def test_layouts_of_every_row(k: int) -> None:
    """The skeleton treats all expressions alike, so the layouts alternate."""
    check(TWO[k], LAYOUTS[k % len(LAYOUTS)], next(d for d in DTYPES if computed(TWO[k], d)))


@pytest.mark.filterwarnings("ignore:.*imaginary part")
@pytest.mark.parametrize(("source", "target"), pairs(DTYPES, DTYPES, both=True))
def test_conversions(source: str, target: str) -> None:
    """Converts numbers that both dtypes can represent, for each pair of dtypes."""
    t = operands(1, source)[0]
    size = t.to(torch.complex128).real
    t = t[(size >= 0) & (size < 120)]
    same(ours(t).to(getattr(ft, target)), t.to(getattr(torch, target)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_created_tensors_have_torchs_values(dtype: str) -> None:
    """Kernels fill memory with one value, or with values that depend on the position."""
    of = getattr(torch, dtype)
    agree_on("full", (3, 37), 1, dtype=of)
    agree_on("eye", 5, 7, dtype=of)
    if dtype != "bool":
        agree_on("arange", 1, 100, 3, dtype=of)
        agree_on("linspace", 0, 9, 37, dtype=of)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["pow", "atan2", "hypot", "log", "log2", "log10", "log1p", "expm1", "tanh", "asinh"])
def test_lanes_are_independent(name: str, dtype: torch.dtype) -> None:
    few = torch.tensor([0.0, -0.0, 1e-310, 1e-40, 7.0, 7.0, 0.75, torch.inf, 1.0], dtype=dtype)
    places = torch.randint(len(few), (2, 512), generator=torch.Generator().manual_seed(0))
    operands = few[places][: 2 if name in ("pow", "atan2", "hypot") else 1]
    agree_on(name, *operands)
