"""Rows of whole beats have NumPy's values, by wide kernels if possible, otherwise by narrow
ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ftensor as ft
from ftensor._device import backend_of, get_device_mapping, resolve, set_device_mapping
from ftensor.execute.dispatch import observed
from ftensor.kernels.key import KernelKey
from ftensor.runtime import launch_cache
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import expand, parse
from ftensor.toolchain.vitis.source import source

from .hls_cases import F, key, port
from .hls_kernels import Kernels, launch

pytestmark = [pytest.mark.skipif(csim_compiler() is None, reason="the C simulation needs a C++ compiler")]

INVENTORY = b"""
[[kernel]]
ops = ["add", "copy", "fill", "where", "eq"]
dtypes = ["float32"]
layouts = ["linear", "scalar", "rows", "strided"]

[[kernel]]
ops = ["sum", "amax", "norm"]
dtypes = ["float32"]
layouts = ["inner"]
vectors = [4]

[[kernel]]
ops = ["add"]
dtypes = ["float64", "complex64", "bfloat16"]
layouts = ["linear", "rows", "strided"]
"""
UNITS = 3


@pytest.fixture(scope="module")
def used() -> Iterator[list[KernelKey]]:
    """Runs launches by the kernels of an inventory, made from their HLS sources, and records
    each."""
    groups = expand(parse(INVENTORY, Path("rows.toml")))
    held = {k: (g, opcode) for g in groups for opcode, k in enumerate(g.keys)}
    noted: list[KernelKey] = []

    def from_source(key: Any, run: Any) -> Any:
        def call(stream: Any, units: int, *args: Any) -> None:
            noted.append(key)
            launch(*held[key], args, units)

        return call if key in held else run

    before = get_device_mapping()
    set_device_mapping("csim")
    backend = backend_of(resolve())
    units, backend.units = backend.units, UNITS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch_cache, "stand_in_build", lambda key: key in held)
        for kept in (backend.kernels, backend.launches):
            kept.clear()
        with observed(backend, Kernels(from_source)):
            yield noted
    for kept in (backend.kernels, backend.launches):
        kept.clear()
    backend.units = units
    set_device_mapping(before)


def numbers(*shape: int, of: str = "float32") -> np.ndarray:
    array = np.random.default_rng(len(shape)).integers(-99, 99, shape).astype(of)
    return array


def both(compute: Callable[..., Any], *operands: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the last operand or the result, from tensors and from NumPy."""
    tensors, arrays = [ft.tensor(x) for x in operands], [x.copy() for x in operands]
    mine, theirs = compute(*tensors), compute(*arrays)
    return (tensors[-1] if mine is None else mine).numpy(), arrays[-1] if theirs is None else theirs


def written(target: Any, a: Any, b: Any) -> None:
    """Calls with out= in both libraries."""
    (np if isinstance(a, np.ndarray) else ft).add(a, b, out=target)


def grow(target: Any, value: Any) -> None:
    target += value


def where(mask: Any, a: Any, b: Any) -> Any:
    """Calls each library's own `where`."""
    return (np if isinstance(mask, np.ndarray) else ft).where(mask, a, b)


def copied(part: Any) -> Any:
    """Returns a contiguous copy."""
    return part.copy() if isinstance(part, np.ndarray) else part.contiguous()


def put(target: Any, value: Any) -> None:
    target[...] = value


A, B, C, D, E = numbers(6, 64), numbers(32), numbers(6, 1), numbers(4, 3, 32), numbers(6, 7)
LONG, WIDE = numbers(3, 1200), numbers(1120)
PLANES = numbers(6, 40, 49)
TEN, COLUMN, QKV = numbers(300, 10), numbers(300, 1), numbers(90, 24)
# The computation, its operands, and the number of lanes.
CASES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...], int]] = {
    "a bias": (lambda a, b: a[:, 16:48] + b, (A, B), 16),
    "a bias for all of a matrix": (lambda a, b: a + b, (numbers(90, 32), B), 16),
    "a row too long to be kept": (lambda a, b: a[:, 16:1136] + b, (LONG, WIDE), 16),
    "a column": (lambda a, c: a[:, :32] + c, (A, C), 16),
    "a column at any offset": (lambda e, a: a[:, :32] + e[:, 3:4], (E, A), 16),
    "a row and a column": (lambda b, c: b + c, (B, C), 16),
    "every second row": (lambda a, b: a[1::2, :32] + b, (A, B), 16),
    "exchanged dims": (lambda d, b: d.swapaxes(0, 1) + b, (D, B), 16),
    "repeated in the middle": (lambda d, b: d + d[:, :1], (D, B), 16),
    "one element for all": (lambda a, e: a + e[2, 3], (A, E), 16),
    "a number": (lambda a: a[:, 16:48] + 2, (A,), 16),
    "wider than out": (lambda a, b, t: written(t[:, 16:48], a[:, 32:], b), (A, B, A), 16),
    "in place": (lambda b, a: grow(a[:, 32:64], b), (B, A), 16),
    "onto itself": (lambda a: grow(a[2:, 32:64], a[2:, 32:64]), (A,), 16),
    "fill": (lambda a: put(a[:, 16:32], 7), (A,), 16),
    "copy": (lambda b, a: put(a[1:5, 16:48], b), (B, A), 16),
    "compare": (lambda a, b: a[:, 16:48] == b, (A, B), 16),
    "float64": (lambda a, b: a[:, 8:40] + b, (A.astype("f8"), B.astype("f8")), 8),
    "complex64": (lambda a, b: a[:, 8:40] + b, (A.astype("c8"), B.astype("c8")), 8),
    "an element off": (lambda a, b: a[:, 1:33] + b, (A, B), 16),
    "a bias that is an element off": (lambda a, b: a[:, :16] + b[3:19], (A, B), 16),
    "rows of ten": (lambda t, c: t + c, (TEN, COLUMN), 16),
    "a bias of ten": (lambda t, b: t + b[5:15], (TEN, B), 16),
    "neighbours in rows of 24": (lambda q: q[:, :8] + q[:, 8:16], (QKV,), 16),
    "rows of three": (lambda q, c: q[:, 20:23] + c[:90], (QKV, COLUMN), 16),
    "a slice that is copied": (lambda q: copied(q[:, 3:22]), (QKV,), 16),
    "long rows, none of them whole": (lambda c, w: c[:7] + w[:1003], (COLUMN, WIDE), 16),
    "off by more in each row": (lambda w, c: w[:, 1:90] + c[:7], (numbers(7, 117), COLUMN), 16),
    "compare rows of ten": (lambda t, c: t == c, (TEN, COLUMN), 16),
    "chosen in rows of ten": (lambda t, c: where(t[:, :1] > 9, t, c), (TEN, COLUMN), 16),
    "rows of ten, float64": (lambda t, c: t + c, (TEN.astype("f8"), COLUMN.astype("f8")), 8),
    "rows of ten in place": (lambda c, t: grow(t, c), (COLUMN, TEN), 16),
    "three dims, none of them whole": (lambda d, b: d[:, :2, 1:30] + b[:29], (D, B), 16),
    "a bias for planes of 7 x 7": (lambda p, b: p + b, (PLANES, numbers(40, 1)), 16),
    "the middle of planes": (lambda d: copied(d[:, 1:6, 1:, 1:6]), (numbers(9, 7, 3, 7),), 16),
    "exchanged dims of no whole beats": (lambda p: copied(p.swapaxes(0, 1)), (PLANES,), 16),
    "five dims": (lambda d: copied(d[:, 1:, 1:, 1:, 1:6]), (numbers(3, 3, 3, 3, 7),), 1),
    "no whole beats in a row": (lambda b, a: grow(a[:, :24], b[:24]), (B, A), 1),
    "rows off their beats": (lambda a, b: a[:, 16:48] + b, (numbers(6, 72), B), 16),
    "transposed": (lambda a: a.swapaxes(0, 1)[:6] + a[:, :6], (A,), 1),
    "transposed all of it": (lambda a, b: a.swapaxes(0, 1)[:6] + b[:6], (A, B), 16),
    "every second element": (lambda a, b: a[:, ::2] + b, (A, B), 1),
    "out off its beats": (lambda a, b, t: written(t[:, 8:40], a[:, 32:], b), (A, B, A), 1),
    "off in place": (lambda b, a: grow(a[:, 31:63], b), (B, A), 1),
}


@pytest.mark.parametrize("name", list(CASES))
def test_widest_possible_kernel_is_used(used: list[KernelKey], name: str) -> None:
    """Values are NumPy's, also around the written elements."""
    compute, operands, lanes = CASES[name]
    del used[:]
    mine, theirs = both(compute, *operands)
    assert np.array_equal(mine, theirs)
    assert [(k.skeleton, k.lanes) for k in used] == [("rows", lanes)]


def test_input_overlapping_the_output_is_read_in_order(used: list[KernelKey]) -> None:
    """A wide kernel reads ahead and buffers rows. The narrow one goes element by element."""
    for read in (slice(0, 1), slice(2, 3), slice(0, 5)):
        a, expected = ft.tensor(A), A.copy()
        del used[:]
        a[1:, :32].add_(a[read, :32])
        for k in range(5):
            expected[1 + k, :32] += expected[read, :32][k % (read.stop - read.start)]
        assert np.array_equal(a.numpy(), expected)
        assert [k.lanes for k in used] == [1]


SHORT = {
    "rows of ten": lambda: numbers(300, 10),
    "rows of four beats": lambda: numbers(300, 64),
    "a slice in one beat": lambda: numbers(90, 24)[:, :8],
    "a slice in two": lambda: numbers(90, 24)[:, 9:24],
    "two beats and a part": lambda: numbers(101, 33),
    "parts at a distance": lambda: numbers(70, 90)[:, 3:53],
    "few rows": lambda: numbers(5, 3),
    "the same row": lambda: np.broadcast_to(numbers(1, 10), (40, 10)),
}


@pytest.mark.parametrize("name", list(SHORT))
@pytest.mark.parametrize("op", ["sum", "amax"])
def test_short_rows_are_interleaved(used: list[KernelKey], name: str, op: str) -> None:
    """Sums and maxima are NumPy's, for rows and results that start anywhere, in vectors."""
    rows = SHORT[name]()
    base = rows if rows.base is None else rows.base
    t = ft.tensor(base)
    t = t.expand(*rows.shape) if rows.strides[0] == 0 else t[_cut(rows, base)]
    expected = {"sum": np.sum, "amax": np.max}[op](rows, axis=1)
    del used[:]
    assert np.array_equal(getattr(t, op)(1).numpy(), expected)
    target = ft.zeros(2 * len(rows))
    getattr(ft, op)(t, 1, out=target[1::2])
    assert np.array_equal(target.numpy()[1::2], expected) and not target.numpy()[::2].any()
    folds = [(k.skeleton, k.lanes) for k in used if k.reduction is not None]
    assert folds == [("reduce_inner", 16)] * 2


def _cut(part: np.ndarray, whole: np.ndarray) -> tuple[slice, slice]:
    """Returns the position of a slice of columns in its matrix."""
    begin = (part.ctypes.data - whole.ctypes.data) // whole.itemsize
    return slice(None), slice(begin, begin + part.shape[1])


def test_rows_wide_of_narrow_and_wide_elements(used: list[KernelKey]) -> None:
    """A port of narrow elements is next to wide ones, and its beats have equal lanes."""
    mask = numbers(6, 64) > 0
    t = ft.where(ft.tensor(mask), ft.tensor(A), ft.tensor(C))
    assert np.array_equal(t.numpy(), np.where(mask, A, C))
    assert used[-1].lanes == 16 and used[-1].name == "where"


def test_strided_members_are_refused() -> None:
    """More than one lane requires vector ports, which strided operands cannot use."""
    group = KernelGroup("odd", (key("neg", "-a", port(F), port(F, "x"), skeleton="rows"),))
    with pytest.raises(ValueError, match="no strided operands"):
        source(group)


@st.composite
def views(draw: Any) -> tuple[list[np.ndarray], list[tuple[Any, ...]], list[list[int]]]:
    """Draws two arrays, and views of them that broadcast together."""
    unit = draw(st.sampled_from((1, 4, 16)))
    shape = [draw(st.integers(1, 5)) for _ in range(draw(st.integers(0, 3)))]
    shape.append(unit * draw(st.integers(1, 70 // unit)))
    bases, cuts, orders = [], [], []
    for _ in range(2):
        base, cut = [], []
        for k, size in enumerate(shape):
            last = k == len(shape) - 1
            size = 1 if draw(st.integers(0, 3)) == 0 else size
            step = draw(st.sampled_from((1, 1, 1, 2)))
            begin = draw(st.sampled_from((0, 0, 16, 32, 3) if last else (0, 0, 1)))
            over = draw(st.sampled_from((0, 16, 5) if last else (0, 1)))
            cut.append(slice(begin, begin + size * step, step))
            base.append(begin + size * step + over)
        if draw(st.booleans()):
            base[-1] += -base[-1] % 16
        order = [*draw(st.permutations(range(len(shape) - 1))), len(shape) - 1]
        bases.append(numbers(*[base[k] for k in order]))
        cuts.append(tuple(cut))
        orders.append([order.index(k) for k in range(len(shape))])
    return bases, cuts, orders


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(views())
def test_sums_of_any_views_are_numpys(used: list[KernelKey], drawn: Any) -> None:
    """Views are slices, gaps, transposed dims and broadcasts. Sums use lanes if all rows fit."""
    bases, cuts, orders = drawn
    arrays = [b.transpose(o)[c] for b, c, o in zip(bases, cuts, orders)]
    tensors = [ft.tensor(b).permute(o)[c] for b, c, o in zip(bases, cuts, orders)]
    whole = arrays[0] + arrays[1]
    del used[:]
    mine = (tensors[0] + tensors[1]).numpy()
    assert np.array_equal(mine, whole)
    target, around = ft.zeros(*whole.shape[:-1], whole.shape[-1] + 32), whole.shape[-1] + 16
    ft.add(*tensors, out=target[..., 16:around])
    framed = np.zeros((*whole.shape[:-1], around + 16), np.float32)
    framed[..., 16:around] = whole
    assert np.array_equal(target.numpy(), framed)
    if used[-1].skeleton == "rows" and whole.shape[-1] > 1:
        offsets = [t.storage_offset() for t in tensors]
        fits = all(map(in_beats, (np.broadcast_to(a, whole.shape) for a in arrays), offsets))
        assert used[-1].lanes == (16 if fits else 1)


def in_beats(array: np.ndarray, offset: int) -> bool:
    """Returns whether an operand's rows are whole beats of 16 elements, or single elements."""
    *outer, inner = (s // 4 for s in array.strides)
    begins = [offset, *(s for s, n in zip(outer, array.shape) if n > 1)]
    whole = array.shape[-1] % 16 == 0
    return whole and (inner == 0 or (inner == 1 and all(b % 16 == 0 for b in begins)))
