"""torch's promotion rules for dtypes and numbers, and the default dtype."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors
from .element import (
    ALL,
    bfloat16,
    bool,
    complex32,
    complex64,
    complex128,
    dtype,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    parse_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)

_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}

# torch's promotion: the result of a pair is its lowest common bound in this graph. torch promotes
# uint16, uint32 and uint64 only with floating-point types; with integers they promote as in NumPy,
# with complex types as other integers do. float8 promotes with none.
_WIDER: dict[dtype, tuple[dtype, ...]] = {
    bool: (uint8, int8),
    uint8: (uint16, int16),
    int8: (int16,),
    int16: (int32,),
    int32: (int64,),
    int64: (float16, bfloat16),
    uint16: (uint32, int32),
    uint32: (uint64, int64),
    uint64: (float16, bfloat16),
    float8_e4m3fn: (),
    float8_e5m2: (),
    float16: (float32, complex32),
    bfloat16: (float32,),
    complex32: (complex64,),
    float32: (float64, complex64),
    float64: (complex128,),
    complex64: (complex128,),
    complex128: (),
}


def _bounds(low: dtype) -> set[dtype]:
    return {low}.union(*(_bounds(wider) for wider in _WIDER[low]))


def _promotion_table() -> dict[tuple[dtype, dtype], dtype]:
    bounds = {d: _bounds(d) for d in ALL}
    # The lowest common bound is the one with the most types above it.
    lowest = {
        (a, b): max(bounds[a] & bounds[b], key=lambda d: len(bounds[d]))
        for a in ALL
        for b in ALL
        if bounds[a] & bounds[b]
    }
    # NumPy's float64 for uint64 with signed integers would be silent, and boards may lack it.
    return {(a, b): d for (a, b), d in lowest.items() if d.kind != "f" or "f" in (a.kind, b.kind)}


_PROMOTED = _promotion_table()


def _pair(a: dtype, b: dtype) -> dtype:
    promoted = _PROMOTED.get((a, b))
    if promoted is None:
        raise errors.no_promotion(a, b)
    return promoted


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Returns the smallest dtype to which both can be converted without leaving their category.

    torch refuses uint16, uint32 and uint64 with other integers; the result is then NumPy's. Raises
    RuntimeError if there is none: uint64 with signed integers, float8 with any other dtype.
    """
    promoted = _PROMOTED.get((type1, type2))
    if promoted is None:
        arguments: tuple[tuple[str, Any], ...] = (("type1", type1), ("type2", type2))
        for name, wrong in arguments:
            if not isinstance(wrong, dtype):
                raise errors.not_a_dtype("promote_types", name, wrong, parse_dtype(wrong))
        raise errors.no_promotion(type1, type2)
    return promoted


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """True if torch converts `from_` to `to` implicitly, as for a result written to `out=`.

    The category may rise (bool, integer, floating-point, complex) but not fall. Within one category
    every conversion is allowed, including narrowing.
    """
    for name, argument in (("from_", from_), ("to", to)):
        if not isinstance(argument, dtype):
            raise errors.not_a_dtype("can_cast", name, argument, parse_dtype(argument))
    return _RANK[from_.kind] <= _RANK[to.kind]


_default = float32


def get_default_dtype() -> dtype:
    """Returns the dtype of tensors from Python floats; float32 unless `set_default_dtype` changed
    it."""
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Sets the dtype of tensors from Python floats, a floating-point dtype, for all threads."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point or d.bare:
        raise errors.default_dtype_not_float(d)
    _default = d


def scalar_dtype(scalar: object) -> dtype:
    """Returns the dtype of a tensor made from a Python (or NumPy) number."""
    if isinstance(scalar, (builtins.bool, np.bool_)):
        return bool
    if isinstance(scalar, (builtins.int, np.integer)):
        return int64
    if isinstance(scalar, (builtins.float, np.floating)):
        return _default
    if isinstance(scalar, (complex, np.complexfloating)):
        return _default.to_complex()
    raise errors.not_a_number(scalar)


def result_dtype(operands: Sequence[tuple[dtype, builtins.int]]) -> dtype:
    """Returns the dtype of an op on operands of these (dtype, priority).

    Priority 0 is a tensor with dims, 1 a 0-d tensor, 2 a Python scalar. Each priority is promoted
    by itself. A later priority counts only if its category (bool, integer, floating-point, complex)
    is higher than that of the result so far.
    """
    by_priority: list[dtype | None] = [None, None, None]
    for d, priority in operands:
        so_far = by_priority[priority]
        by_priority[priority] = d if so_far is None else _pair(so_far, d)
    dims, zero_dim, scalar = by_priority
    result = _raise_category(dims, _raise_category(zero_dim, scalar))
    assert result is not None, "result_dtype of no operands"
    return result


def _raise_category(first: dtype | None, second: dtype | None) -> dtype | None:
    """Returns `first`, raised to `second`'s category if that is higher."""
    if first is None or second is None:
        return first or second
    if first.kind == "c" or _RANK[second.kind] <= _RANK[first.kind]:
        return first
    if first.kind == "f":  # the components of the complex dtype keep the width of `first`
        return first.to_complex()
    return second if second.kind == "c" else _pair(first, second)


def result_type(tensor: Any, other: Any, *more: Any) -> dtype:
    """Returns the dtype of arithmetic on these tensors and Python numbers."""
    operands = []
    for arg in (tensor, other, *more):
        dtype_ = getattr(arg, "dtype", None)
        if isinstance(dtype_, dtype):
            operands.append((dtype_, 0 if arg.ndim else 1))
        else:
            operands.append((scalar_dtype(arg), 2))
    return result_dtype(operands)
