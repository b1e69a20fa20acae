"""Every row's kernel in both languages on the same inputs: the default OpenCL device, and g++.

The Vitis source is built as for C simulation, with the lanes of the OpenCL kernel, so that both
process the same vectors and remainders. Results have equal bits, except for rows with a function
that is only defined up to rounding (exp, sin, ...).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._tensor import Tensor
from ftensor.dtypes import dtype
from ftensor.execute.pointwise import pointwise
from ftensor.execute.reduce import fold
from ftensor.iterator.shape import contiguous_strides
from ftensor.kernels.source import hls_root
from ftensor.rows.catalogue import ROWS, Row
from ftensor.rows.op import Op, Promote, Reduce
from ftensor.runtime import discovery, targets
from ftensor.runtime.backend import Backend

from .before import compile_before

# Two whole vectors of float32 and a remainder. This is less than one slab, so one compute unit has
# it all.
SIZE = 37
ULPS = 32
# 1 + tanh(x) and 1 + erf(x) cancel where gelu is small. Its derivative is nearly 0 there, which
# makes the relative error large.
CANCELLING = {"gelu": 256, "gelu_backward": 2**20}
PARAMETERS = {"eps": 0.25, "scale": 10, "rtol": 0.25, "atol": 0.125, "nan": 7, "n": 36, "p": 3}
SPECIAL = {
    "float32": [
        0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.5, 2.0, 0.25, 3.0, -7.25, 1e-3, 20.0, -90.0, 1e30,
        -1e30, float("inf"), -float("inf"), float("nan"),
    ],
    "int32": [0, 1, -1, 2, -2, 3, -7, 31, 32, 33, 100, -100, 2**20, -(2**31), 2**31 - 1, 2**30 + 1],
    "complex64": [0j, 1 + 1j, -2 + 0.5j, 0.25 - 3j, -1 - 1j, 2 + 0j, 0 - 1j, 5 + 7j, -0.1 + 0.2j],
    "bool": [True, False, False, True, True],
}  # fmt: skip
SPECIAL["int64"] = SPECIAL["int32"] + [2**40, -(2**40), 2**62]


@lru_cache(maxsize=1)
def rows() -> dict[str, Row]:
    """Returns all rows by unique names."""
    named: dict[str, Row] = {}
    for row, category in ROWS.items():
        name = f"{category}-{row.name}"
        while name in named:
            name += "'"
        named[name] = row
    return named


def serves(row: Op | Reduce, d: dtype) -> bool:
    """Returns whether a row has an expression for a compute dtype."""
    if isinstance(row, Reduce):
        if row.promote is Promote.TRUTH:
            return d.kind == "b"
        kind = "f" if "f" in row.kinds else "i"
        return row.complex_ is not None if d.is_complex else bool(row.lift) and d.kind == kind
    return bool(row.expression(d)) and d.name not in row.refuses


def cases() -> Iterator[Any]:
    """Yields each row for a real and for a complex dtype, alternately on contiguous and strided
    elements. Skeletons treat all expressions alike, and each case compiles two kernels. An eighth
    of the cases is in every run, and the others are marked long."""
    layouts = ("contiguous", "strided")
    turn = 0
    for name, row in rows().items():
        candidates = (ft.float32, ft.int32, ft.bool)
        if isinstance(row, Op) and row.only == ("int64",):
            candidates = (ft.int64,)
        real = next((d for d in candidates if serves(row, d)), None)
        for d in (real, ft.complex64 if serves(row, ft.complex64) else None):
            if d is not None:
                layout = "contiguous" if of_positions(row) else layouts[turn % 2]
                turn += 1
                case = f"{name}-{d.name}-{layout}"
                marks = [pytest.mark.long] if turn % 16 > 1 else []
                yield pytest.param(name, d.name, layout, id=case, marks=marks)


def of_positions(row: Op | Reduce) -> bool:
    """Returns whether a row computes from an element's position. Such rows only fill new memory."""
    return isinstance(row, Op) and "FT_POSITION" in all_text(row)


def all_text(row: Op) -> str:
    """Returns all expressions of a row."""
    texts = (row.body, row.int_, row.bool_, row.complex_, *(text for _, text in row.lets))
    return " ".join(text or "" for text in texts)


@pytest.fixture(scope="module")
def backends(request: pytest.FixtureRequest) -> tuple[Backend, Backend]:
    """The default OpenCL device, and C simulation, with the kernels of all cases compiled."""
    if targets.csim_compiler() is None:
        pytest.skip("there is no C++ compiler")
    devices = [f for f in discovery.find() if f.target.dialect == "opencl" and not f.target.emulates]
    if not devices:
        pytest.skip("there is no OpenCL device")
    opencl = devices[0].open()
    from ftensor.runtime.csim.backend import CSimBackend

    csim = CSimBackend(replace(targets.CSIM, unaligned=True, lanes_bytes=opencl.target.lanes_bytes))
    noted = [
        tuple(item.callspec.params.values())  # type: ignore[attr-defined]
        for item in request.session.items
        if getattr(item, "function", None) is test_both_dialects_compute_the_same
    ]
    for backend in (opencl, csim):
        compile_before(backend, [partial(compute, backend, *case) for case in noted])
    return opencl, csim


def place(backend: Backend, values: np.ndarray, strided: bool) -> Tensor:
    """Returns a tensor on a backend, contiguous or with gaps."""
    step = 2 if strided else 1
    memory = np.zeros((len(values) * step,), values.dtype)
    memory[::step] = values
    storage = backend.allocate(memory.nbytes)
    backend.upload(storage, 0, memory)
    storage.device = label(backend)
    return Tensor._make(storage, getattr(ft, values.dtype.name), values.shape, (step,))


@cache
def label(backend: Backend) -> ft.device:
    return ft.device("fpga", 0)


def input_values(of: str, k: int) -> np.ndarray:
    """Returns operand `k`: special values, each next to others in each operand, and ordinary
    values."""
    special = SPECIAL[of]
    step = (1, 3, 7, 11, 13, 17, 19, 23)[k]
    array = np.array([special[(i * step + k) % len(special)] for i in range(SIZE)], of)
    ordinary = np.random.default_rng(k).normal(0, 2, SIZE)
    if of == "float32":
        array[len(special) :] = ordinary[len(special) :]
    if of == "complex64":
        array[len(special) :] = (ordinary + 1j * ordinary[::-1])[len(special) :]
    return array


def numbers(row: Op | Reduce, of: str) -> tuple[Any, ...]:
    return tuple(PARAMETERS.get(p, 2) for p in row.params)


def compute(backend: Backend, name: str, of: str, layout: str) -> list[np.ndarray]:
    """Returns a row's results on a backend."""
    row = rows()[name]
    strided = layout == "strided"
    if isinstance(row, Reduce):
        return reduced(backend, row, of, strided)
    inputs = tuple(
        place(backend, input_values("bool" if k in row.masks else of, k), strided and k == 0)
        for k in range(inputs_of(row))
    )
    out = None if inputs else place(backend, input_values(of, 0), strided)
    return [read(pointwise(row, inputs, numbers(row, of), out, out is not None))]


def inputs_of(row: Op) -> int:
    """Returns the number of inputs that a row's expressions name: a, b, ... up to the last one."""
    words = re.findall(r"\b[a-h]\b", all_text(row))
    return max((ord(word) - ord("a") + 1 for word in words), default=0)


def reduced(backend: Backend, row: Reduce, of: str, strided: bool) -> list[np.ndarray]:
    """Reduces rows of whole vectors with a remainder, and, strided, across rows."""
    values = input_values(of, 0)
    if of == "float32":
        values[~np.isfinite(values)] = 3
        values[abs(values) > 100] = -2
    first = place(backend, np.tile(values, 3), False)._view((3, SIZE), (SIZE, 1), 0)
    if strided:
        first = first._view((SIZE, 3), (1, SIZE), 0)
    d = getattr(ft, of)
    inputs = [first]
    if re.search(r"\bb\b", row.lift + (row.complex_[0] if row.complex_ else "")):
        real = row.complex_ is not None and "b.re" not in row.complex_[0]
        other = np.full(1, 1.5, "float32" if real or of == "float32" else of)
        inputs.append(place(backend, other, False)._view((1, 1), (1, 1), 0))
    compute_in = ft.int64 if row.truth else d
    result = d.to_real() if not row.state_complex else compute_in
    outs = tuple(ft.int64 if text == "i" else result for text in row.finish)
    results = [read(t) for t in fold(row, inputs, 1, False, compute_in, outs, numbers(row, of))]
    return results + [read(t) for t in fold(row, inputs, 0, False, compute_in, outs, numbers(row, of))]


def read(t: Tensor) -> np.ndarray:
    assert t._strides == contiguous_strides(t._shape) or t._shape == (SIZE,)
    return np.array(t._host())


# Functions that OpenCL and the C library define up to a few ulps.
ROUNDED = {
    "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin",
    "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "pow", "cbrt",
    "rsqrt", "hypot", "erf", "erfc", "lgamma", "tgamma",
}  # fmt: skip


@lru_cache(maxsize=1)
def helpers() -> dict[str, str]:
    """Returns the text of each helper function or macro of expressions, in all variants."""
    bodies: dict[str, str] = {}
    for file in sorted(hls_root().glob("*.h")):
        text = file.read_text().replace("\\\n", " ")
        heads = list(re.finditer(r"^(?:FT_FN\w* \w+ |#define )(\w+)", text, re.M))
        for head, following in zip(heads, [*heads[1:], None]):
            body = text[head.end() : following.start() if following else len(text)]
            bodies[head[1]] = bodies.get(head[1], "") + body
            if head[1].isupper():  # a macro that defines functions: search its expansion
                for use in re.finditer(rf"^{head[1]}\((\w+)", text, re.M):
                    bodies[use[1]] = bodies.get(use[1], "") + body
    return bodies


def words(text: str) -> set[str]:
    """Returns the words of an expression, and of the helpers that it calls."""
    seen: set[str] = set()
    new = set(re.findall(r"\w+", text))
    while new:
        seen |= new
        new = {w for name in new for w in re.findall(r"\w+", helpers().get(name, ""))} - seen
    return seen


def expressions(row: Op | Reduce, of: str) -> str:
    if isinstance(row, Op):
        return " ".join([row.expression(getattr(ft, of)), *(text for _, text in row.lets)])
    lift = row.complex_[0] + row.complex_[1] if of == "complex64" and row.complex_ else row.lift
    return " ".join([lift, row.combine, *row.finish])


def ulps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns the number of float32 values between two numbers, 0 if both are NaN. For complex
    numbers it is the difference of the parts in ulps of the larger part."""
    if a.dtype.kind == "c":
        unit = np.spacing(np.maximum(abs(b.real), abs(b.imag)).astype("float32"))
        parts = [np.where(both_same(x, y), 0, abs(x - y) / unit) for x, y in ((a.real, b.real), (a.imag, b.imag))]
        return np.maximum(*parts)
    return np.where(both_same(a, b), 0, abs(a.astype("float64") - b) / np.spacing(abs(b)))


def both_same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a == b) | (np.isnan(a) & np.isnan(b))


@pytest.mark.parametrize(("name", "of", "layout"), list(cases()))
def test_both_dialects_compute_the_same(backends: tuple[Backend, Backend], name: str, of: str, layout: str) -> None:
    """Bits are equal, or, with functions that round, at most ULPS apart."""
    row = rows()[name]
    for mine, theirs in zip(*(compute(backend, name, of, layout) for backend in backends)):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        if mine.dtype.kind not in "fc":
            np.testing.assert_array_equal(mine, theirs)
            continue
        with np.errstate(all="ignore"):
            apart = ulps(mine, theirs)
        used = words(expressions(row, of))
        limit = CANCELLING.get(row.name, ULPS) if used & ROUNDED else 0
        worst = int(np.nanargmax(apart)) if not np.isnan(apart).all() else 0
        assert not np.isnan(apart).any() and apart.max() <= limit, (
            f"{apart.flat[worst]} ulps apart at {worst}: {mine.flat[worst]} (opencl), {theirs.flat[worst]} (vitis)"
        )
        # It is undefined which of two zeros fmax and fmin return.
        if not limit and mine.dtype.kind == "f" and not used & {"fmax", "fmin"}:
            real = ~np.isnan(mine)
            np.testing.assert_array_equal(np.signbit(mine)[real], np.signbit(theirs)[real])
