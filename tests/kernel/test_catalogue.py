"""Every row of the catalogue in every spelling it has, against torch.

The cases are made from the rows, so an op that is added is tested without a line here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from math import inf, nan
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor.rows.catalogue import ENTRIES, Entry  # noqa: E402
from ftensor.rows.op import Dims, Op, Reduce  # noqa: E402

NUMBERS = {
    "float32": [0.0, -0.0, 0.5, -1.0, 1.5, 2.0, -3.25, 1e-40, 1e30, -1e30, inf, -inf, nan],
    "int64": [0, 1, -1, 2, 3, -7, 100, 2**40, -(2**40), 2**62],
    "int32": [0, 1, -1, 2, 3, -7, 100, 2**20, 1 - 2**31, 2**31 - 1],
    "bool": [True, False],
    "complex64": [0j, 1 + 1j, -2 + 0.5j, 0.25 - 3j, -1 - 1j, 2 + 0j, 0 - 1j],
}  # fmt: skip
NUMBERS |= {"float64": NUMBERS["float32"], "complex128": NUMBERS["complex64"]}
NUMBERS |= {"float16": [0.0, -0.0, 0.5, -1.0, 2.0, -3.25, 6e-8, 6e4, inf, nan]}
NUMBERS |= {"bfloat16": NUMBERS["float16"], "uint8": [0, 1, 2, 3, 7, 100, 255]}
NUMBERS |= {"int8": [0, 1, -1, 2, -7, 100, -128, 127], "int16": [0, 1, -1, 2, 300, -(2**15)]}

# Each (op, dtype) is a kernel to compile, so the full list runs where compiling is quick.
ALL = os.environ.get("FTENSOR_DEVICE", "intel") == "intel"
DTYPES = tuple(NUMBERS) if ALL else ("float32", "int64", "bool", "complex64", "bfloat16")

ROWS = {name: entry for name, entry in ENTRIES.items() if isinstance(entry.row, Op)}
REDUCTIONS = {name: entry for name, entry in ENTRIES.items() if isinstance(entry.row, Reduce)}


def torch_function(entry: Entry) -> Callable[..., Any]:
    """torch's function of the same name."""
    found: Any = torch
    for part in [*filter(None, entry.namespace.split(".")), entry.name]:
        found = getattr(found, part)
    return found


def operands(arity: int, dtype: str) -> list[torch.Tensor]:
    """Inputs in which every pair of the dtype's numbers meets; 2-d so that views have something."""
    numbers = NUMBERS[dtype]
    n = len(numbers)
    of = getattr(torch, dtype)
    made = [[numbers[i // n % n] for i in range(n * n)], [numbers[i % n] for i in range(n * n)]]
    made.append([numbers[(i + i // n) % n] for i in range(n * n)])
    return [torch.tensor(x, dtype=of).reshape(n, n) for x in made[:arity]]


def to_ft(t: torch.Tensor) -> ft.Tensor:
    return ft.from_torch(t.clone())


def close(mine: Any, theirs: Any) -> None:
    """Equal shape, dtype and values, within torch's own tolerances."""
    torch.testing.assert_close(mine.to_torch(), theirs, equal_nan=True)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or its exception."""
    try:
        return call()
    except (RuntimeError, TypeError, ValueError, IndexError) as e:
        return e


def agree(mine: Callable[[], Any], theirs: Callable[[], Any]) -> bool:
    """Both give the same result (True), or both refuse (False)."""
    expected = outcome(theirs)
    got = outcome(mine)
    if isinstance(expected, Exception):
        kind = RuntimeError if isinstance(expected, RuntimeError) else type(expected)
        assert isinstance(got, kind), f"torch raises {expected!r}, ftensor: {got!r}"
        return False
    if expected is NotImplemented:
        assert got is NotImplemented
        return False
    if isinstance(got, Exception):
        raise got
    close(got, expected)
    return True


def cases() -> Iterator[Any]:
    for name in ROWS:
        for dtype in DTYPES:
            yield pytest.param(name, dtype, id=f"{name}-{dtype}")


@pytest.mark.parametrize(("name", "dtype"), list(cases()))
def test_spellings(name: str, dtype: str) -> None:
    """Function, method, `out=`, in-place, and with a Python number: all as torch's."""
    entry = ROWS[name]
    op = entry.row
    theirs = torch_function(entry)
    mine = entry.call
    inputs = operands(op.arity, dtype)
    if op.sees:
        inputs = [t.bool() if s == "M" else t for t, s in zip(inputs, op.sees)]
    if name == "lcm" and dtype.startswith("int"):  # torch's traps the process at the least integer
        inputs = [t.clamp(min=torch.iinfo(t.dtype).min + 1) for t in inputs]
    params = parameters(entry)
    own = [to_ft(t) for t in inputs]
    if not agree(lambda: mine(*own, **params), lambda: theirs(*inputs, **params)):
        return
    expected = theirs(*inputs, **params)
    out = ft.from_torch(torch.zeros_like(expected))
    assert mine(*own, **params, out=out) is out
    close(out, expected)
    if entry.method and not entry.namespace:
        method = getattr(own[0], entry.name)
        close(method(*own[1:], **params), getattr(inputs[0], entry.name)(*inputs[1:], **params))
    if op.inplace and not entry.namespace and hasattr(torch.Tensor, entry.name + "_"):
        a, b = to_ft(inputs[0]), inputs[0].clone()
        agree(
            lambda: getattr(a, entry.name + "_")(*own[1:], **params),
            lambda: getattr(b, entry.name + "_")(*inputs[1:], **params),
        )
        torch.testing.assert_close(a.to_torch(), b, equal_nan=True)
    if op.arity == 2:
        number = 2.5 if dtype.startswith(("float", "bfloat")) else 2
        agree(lambda: mine(own[0], number, **params), lambda: theirs(inputs[0], number, **params))


def parameters(entry: Entry) -> dict[str, Any]:
    """Values for the parameters that a row has no default for."""
    inside = entry.row.signature.partition("(")[2]
    known = {"alpha": 2, "value": 2, "weight": 2, "eps": 0.25, "threshold": 1, "lambd": 1}
    return {p: known[p] for p in entry.row.params if f"{p}=" not in inside and p in known}


def reductions_of(row: Reduce) -> Iterator[dict[str, Any]]:
    """Arguments of a reduction in every spelling that its row says it has."""
    yield {}
    yield {"dim": 0}
    yield {"axis": -1}
    yield {"dim": 2}  # refused: there are two dims
    if row.dims is not Dims.ONE:
        yield from ({"dim": (0, 1)}, {"axis": [1]}, {"dim": ()}, {"dim": (1, 1)})
    if "keepdim" in row.arguments:
        yield from ({"dim": 0, "keepdim": True}, {"axis": 1, "keepdims": True})
    if row.converts:
        yield from ({"dtype": "float32"}, {"dim": 0, "dtype": "int64"}, {"dtype": "bool"})


def in_library(lib: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments with one library's dtypes in place of their names."""
    return {k: getattr(lib, v) if k == "dtype" else v for k, v in given.items()}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, dtype: str) -> None:
    """Function, method and `out=` of each reduction in every spelling of its arguments."""
    entry, theirs = REDUCTIONS[name], torch_function(REDUCTIONS[name])
    a = (torch.arange(12) % 5 - 2).reshape(3, 4).to(getattr(torch, dtype))
    served = entry.row.serves(getattr(ft, dtype).kind)
    for given in reductions_of(entry.row):
        for x in (a, a.t(), a[:, ::2], a[:0]) if served else (a,):
            mine = partial(entry.call, to_ft(x), **in_library(ft, given))
            if not agree(mine, partial(theirs, x, **in_library(torch, given))):
                continue
            expected = theirs(x, **in_library(torch, given))
            close(getattr(to_ft(x), name)(**in_library(ft, given)), expected)
            if "out" in entry.row.arguments:
                out = ft.empty(0, dtype=getattr(ft, str(expected.dtype)[len("torch.") :]))
                assert mine(out=out) is out
                close(out, expected)


def operator_cases() -> Iterator[Any]:
    for name, entry in ENTRIES.items():
        rows = [r for r in (*entry.rows, entry.row) if isinstance(r, Op)]
        words = {w for r in rows for w in r.operators} | set(entry.operators)
        for word in sorted(words):
            yield pytest.param(word, id=f"{name}-{word}")


@pytest.mark.parametrize("word", list(operator_cases()))
@pytest.mark.parametrize("dtype", ["float32", "int64"] if ALL else ["float32"])
def test_operators(word: str, dtype: str) -> None:
    """Operators, reflected and in-place ones included, with tensors and numbers."""
    a, b = operands(2, dtype)
    if "shift" in word:
        b = b % 8
    if "mod" in word or "div" in word:  # torch refuses 0 and has NaN for some quotients
        a, b = (torch.where(t.abs() > 1e-30, t, 1) for t in (a, b))
    ours = to_ft(a)
    if getattr(getattr(torch.Tensor, word), "__code__", None) is None and word in (
        "__neg__", "__abs__", "__invert__", "__pos__",
    ):  # fmt: skip
        agree(lambda: getattr(ours, word)(), lambda: getattr(a, word)())
        return
    agree(lambda: getattr(ours, word)(to_ft(b)), lambda: getattr(a.clone(), word)(b))
    agree(lambda: getattr(to_ft(a), word)(3), lambda: getattr(a.clone(), word)(3))
    assert getattr(ours, word)(object()) is NotImplemented


@pytest.mark.parametrize("name", [n for n, e in ROWS.items() if e.row.arity == 2])
@pytest.mark.parametrize("layout", ["transposed", "broadcast", "sliced", "expanded", "zero-dim"])
def test_layouts(name: str, layout: str) -> None:
    """Values and strides of results for operands that don't lie in memory as the result does."""
    if not ALL and name not in ("add", "lt"):
        pytest.skip("other rows run the same kernels' skeletons: two are enough on this target")
    entry = ROWS[name]
    dtype = "int64" if "bitwise" in name or name in ("gcd", "lcm") else "float32"
    a, b = operands(2, dtype)
    a, b = {
        "transposed": lambda: (a.t(), b),
        "broadcast": lambda: (a, b[0]),
        "sliced": lambda: (a[::2, 1::3], b[::2, ::3][:, : a[0, 1::3].numel()]),
        "expanded": lambda: (a[:, :1].expand(-1, 9), b[:1, :9].expand(a.shape[0], 9)),
        "zero-dim": lambda: (a, b[0, 3]),
    }[layout]()
    mine, theirs = entry.call, torch_function(entry)
    x, y = ft.from_torch(a), ft.from_torch(b)
    if agree(lambda: mine(x, y), lambda: theirs(a, b)):
        assert mine(x, y).strides == theirs(a, b).stride()
