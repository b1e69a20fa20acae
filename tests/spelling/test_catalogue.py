"""Every row of the catalogue in every form of call, against torch.

The cases are generated from the rows, so a new op is tested without a line here. One dtype of each
row computes values. The other dtypes use empty tensors, since tests/kernel/test_rows.py tests their
values on every target.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import ftensor as ft
from ftensor.rows.catalogue import ENTRIES
from ftensor.rows.op import Op

from ..oracle import agree, ours, same, torch
from ..row_cases import (
    DTYPES,
    REDUCTIONS,
    REFUSED,
    ROWS,
    computed,
    few,
    inputs_of,
    operands,
    parameters,
    reductions_of,
    theirs,
)


def test_refused_dtypes_name_existing_rows() -> None:
    """Each row keeps at least one dtype."""
    assert set(REFUSED) <= set(ROWS)
    assert all(any(computed(name, dtype) for dtype in DTYPES) for name in ROWS)


def refused_with_out(name: str, dtype: str) -> None:
    """Asserts that both errors name the dtype of the inputs, or that of `out` if neither fits."""
    inputs = [t[:1] for t in inputs_of(name, dtype)]
    for out in (torch.float32, torch.bool):
        operands = [*inputs, torch.zeros(inputs[0].shape, dtype=out)]

        def call(function: Any, tensors: list[Any]) -> Any:
            return function(*tensors[:-1], out=tensors[-1])

        mine, function = partial(call, ROWS[name].call, ours(operands)), theirs(ROWS[name])
        assert not agree(mine, partial(call, function, operands))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ROWS)
def test_every_row_in_every_spelling(name: str, dtype: str) -> None:
    """As a function, a method, with `out=`, in place, and with a Python number."""
    entry = ROWS[name]
    op = entry.row
    function, mine = theirs(entry), entry.call
    inputs = inputs_of(name, dtype)
    if dtype != next(d for d in DTYPES if computed(name, d)):
        inputs = [t[:0] for t in inputs]
    params = parameters(entry)
    own = ours(inputs)
    both = agree(lambda: mine(*own, **params), lambda: function(*inputs, **params))
    assert both == computed(name, dtype), "computed" if both else "refused by both libraries"
    if not both:
        if name != "special.ndtr":  # in torch these are composed of other functions
            refused_with_out(name, dtype)
        return
    expected = function(*inputs, **params)
    out = ours(torch.zeros_like(expected))
    assert mine(*own, **params, out=out) is out
    same(out, expected)
    if entry.method and not entry.namespace:
        method = getattr(own[0], entry.name)
        same(method(*own[1:], **params), getattr(inputs[0], entry.name)(*inputs[1:], **params))
    if op.inplace and not entry.namespace and hasattr(torch.Tensor, entry.name + "_"):
        a, b = ours(inputs[0]), inputs[0].clone()
        fits = agree(
            lambda: getattr(a, entry.name + "_")(*own[1:], **params),
            lambda: getattr(b, entry.name + "_")(*inputs[1:], **params),
        )
        same(a, b)
        if fits and entry.name + "_" in ENTRIES:
            assert getattr(ft, entry.name + "_")(a, *own[1:], **params) is a
    if op.arity == 2:
        number = 2.5 if dtype.startswith(("float", "bfloat")) else 2
        agree(lambda: mine(own[0], number, **params), lambda: function(inputs[0], number, **params))


# The matrix has two dims, and each can be named once.
REFUSED_DIMS = ({"dim": 2}, {"dim": (1, 1)})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, dtype: str) -> None:
    """Each reduction as a function, a method and with `out=`, for every form of its arguments."""
    entry = REDUCTIONS[name]
    served = entry.row.serves(getattr(ft, dtype).kind)
    whole = (entry.row.serves("f") and dtype == "float32") or dtype == "int64"
    x = few(dtype) if whole or not served else few(dtype)[:0]
    for options in reductions_of(entry.row):
        mine = partial(entry.call, ours(x), **{k: ours(v) for k, v in options.items()})
        both = agree(mine, partial(theirs(entry), x, **options))
        wrong = not served or options in REFUSED_DIMS
        assert both != wrong or "dtype" in options or not x.numel(), (options, both)
        if not both:
            continue
        expected = theirs(entry)(x, **options)
        same(getattr(ours(x), name)(**mine.keywords), expected)
        if "out" in entry.row.arguments:
            out = ours(torch.empty(0, dtype=expected.dtype))
            assert mine(out=out) is out
            same(out, expected)


def operator_cases() -> Iterator[Any]:
    for name, entry in ENTRIES.items():
        rows = [r for r in (*entry.rows, entry.row) if isinstance(r, Op)]
        words = {w for r in rows for w in r.operators} | set(entry.operators)
        for word in sorted(words):
            yield pytest.param(word, id=f"{name}-{word}")


# Both refuse: integer-only operators on floats, and quotients written to integers.
BITS = ("and", "or", "xor", "lshift", "rshift")
REFUSED_OPERATORS = {
    "float32": {f"__{k}{word}__" for k in ("", "i", "r") for word in BITS} | {"__invert__"},
    "int64": {"__idiv__", "__itruediv__"},
}
ONE_OPERAND = ("__neg__", "__abs__", "__invert__", "__pos__")


@pytest.mark.parametrize("word", list(operator_cases()))
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_operators(word: str, dtype: str) -> None:
    """Operators with tensors and numbers, including reflected and in-place ones."""
    a, b = operands(2, dtype)
    if "shift" in word:
        b = b % 8
    if "mod" in word or "div" in word:  # torch refuses 0, and gives NaN for some quotients
        a, b = (torch.where(t.abs() > 1e-30, t, 1) for t in (a, b))
    mine = ours(a)
    if word in ONE_OPERAND:
        both = agree(lambda: getattr(mine, word)(), lambda: getattr(a, word)())
    else:
        both = agree(lambda: getattr(mine, word)(ours(b)), lambda: getattr(a.clone(), word)(b))
        agree(lambda: getattr(ours(a), word)(3), lambda: getattr(a.clone(), word)(3))
        assert getattr(mine, word)(object()) is NotImplemented
    assert both == (word not in REFUSED_OPERATORS[dtype])
