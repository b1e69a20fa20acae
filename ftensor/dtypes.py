"""The element types: one row per dtype, and torch's rules for which type a mixture of them has."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import errors

# The public names below (bool, int, float) hide Python's within this module, so that
# annotations and checks say `builtins.int` where Python's own type is meant.


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class dtype:
    """The type of a tensor's elements. There is one object per type; compare with `is` or `==`.

    `numpy` is the NumPy type with the same bytes; what NumPy lacks (bfloat16, float8, complex32) is
    stored as unsigned integers. `itemsize` is in bytes. `bare` is the letter of a group of dtypes
    that torch has little more than copies for: "u" uint16, uint32 and uint64, "8" float8, "h"
    complex32. Rows say which groups they serve; all serve the other dtypes, whose letter is "".
    """

    name: str
    kind: str  # "b" bool, "u" and "i" integers, "f" floating point, "c" complex
    itemsize: builtins.int
    numpy: np.dtype[Any]
    exponent_bits: builtins.int = 0  # of one real component; 0 for bool and integers
    bare: str = ""
    infinite: builtins.bool = True  # whether the largest exponent is for infinity and NaN alone
    is_floating_point: builtins.bool = field(init=False)
    is_complex: builtins.bool = field(init=False)
    is_signed: builtins.bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_floating_point", self.kind == "f")
        object.__setattr__(self, "is_complex", self.kind == "c")
        object.__setattr__(self, "is_signed", self.kind in "ifc")

    def __repr__(self) -> str:
        return f"ftensor.{self.name}"

    def __reduce__(self) -> str:
        # A string tells pickle and copy that this is the module's global of that name, so that
        # the object that comes back is the same one and `is` goes on working.
        return self.name

    @property
    def compute(self) -> dtype:
        """The dtype that kernels compute in: float32 for narrower types, complex64 for theirs."""
        if self.kind == "f" and self.itemsize < 4:
            return float32
        return complex64 if self is complex32 else self

    @property
    def bits(self) -> dtype:
        """The dtype to move its elements as: for one of few ops, an integer of as many bytes."""
        return {1: uint8, 2: int16, 4: int32, 8: int64}[self.itemsize] if self.bare else self

    @property
    def in_numpy(self) -> builtins.bool:
        """Whether NumPy has the type itself, not only one with as many bytes."""
        return self.numpy.kind == self.kind

    @property
    def __numpy_dtype__(self) -> np.dtype[Any]:
        """What `np.dtype(x.dtype)` gives; TypeError for bfloat16 and others that NumPy lacks."""
        if not self.in_numpy:
            raise errors.no_numpy_dtype(self)
        return self.numpy

    def to_real(self) -> dtype:
        """The dtype of a complex type's components; any other dtype is its own."""
        return _REAL.get(self, self)

    def to_complex(self) -> dtype:
        """The complex dtype whose components hold this type (complex64 for bfloat16)."""
        if self.kind == "c":
            return self
        if self.kind != "f" or self.bare:
            raise errors.no_complex_dtype(self)
        if self is float16:
            return complex32
        return complex128 if self.itemsize == 8 else complex64


dtype.dtype = dtype.__numpy_dtype__  # type: ignore[attr-defined]  # NumPy's name before 2.4

bool = dtype("bool", "b", 1, np.dtype(np.bool_))
uint8 = dtype("uint8", "u", 1, np.dtype(np.uint8))
uint16 = dtype("uint16", "u", 2, np.dtype(np.uint16), bare="u")
uint32 = dtype("uint32", "u", 4, np.dtype(np.uint32), bare="u")
uint64 = dtype("uint64", "u", 8, np.dtype(np.uint64), bare="u")
int8 = dtype("int8", "i", 1, np.dtype(np.int8))
int16 = dtype("int16", "i", 2, np.dtype(np.int16))
int32 = dtype("int32", "i", 4, np.dtype(np.int32))
int64 = dtype("int64", "i", 8, np.dtype(np.int64))
float8_e4m3fn = dtype("float8_e4m3fn", "f", 1, np.dtype(np.uint8), 4, "8", infinite=False)
float8_e5m2 = dtype("float8_e5m2", "f", 1, np.dtype(np.uint8), 5, "8")
float16 = dtype("float16", "f", 2, np.dtype(np.float16), 5)
bfloat16 = dtype("bfloat16", "f", 2, np.dtype(np.uint16), 8)
float32 = dtype("float32", "f", 4, np.dtype(np.float32), 8)
float64 = dtype("float64", "f", 8, np.dtype(np.float64), 11)
complex32 = dtype("complex32", "c", 4, np.dtype(np.uint32), 5, "h")
complex64 = dtype("complex64", "c", 8, np.dtype(np.complex64), 8)
complex128 = dtype("complex128", "c", 16, np.dtype(np.complex128), 11)

short, int, long = int16, int32, int64
half, float, double = float16, float32, float64
chalf, cfloat, cdouble = complex32, complex64, complex128

ALL: tuple[dtype, ...] = (
    bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float8_e4m3fn, float8_e5m2,
    float16, bfloat16, float32, float64, complex32, complex64, complex128,
)  # fmt: skip
# Those that have words in every row: what inventories and tables of ops are about.
FULL: tuple[dtype, ...] = tuple([d for d in ALL if not d.bare])

_NAMED = {d.name: d for d in ALL} | {"float": float, "double": double, "half": half, "int": int}
_REAL = {complex32: float16, complex64: float32, complex128: float64}
_OF_NUMPY = {(d.numpy.kind, d.itemsize): d for d in ALL if d.in_numpy}
_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}

# torch's promotion: the type of a pair is their lowest common bound in this graph. The wide
# unsigned types go with floating ones alone, float8 with nothing.
_WIDER: dict[dtype, tuple[dtype, ...]] = {
    bool: (uint8, int8),
    uint8: (int16,),
    int8: (int16,),
    int16: (int32,),
    int32: (int64,),
    int64: (float16, bfloat16),
    uint16: (float16, bfloat16),
    uint32: (float16, bfloat16),
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


def _promoted() -> dict[tuple[dtype, dtype], dtype]:
    bounds = {d: _bounds(d) for d in ALL}
    # The lowest common bound is the one with the most types above it.
    lowest = {
        (a, b): max(bounds[a] & bounds[b], key=lambda d: len(bounds[d]))
        for a in ALL
        for b in ALL
        if bounds[a] & bounds[b]
    }
    wide = {uint16, uint32, uint64}
    return {(a, b): d for (a, b), d in lowest.items() if not wide & {a, b} or (d in (a, b) and d.kind != "c")}


_PROMOTED = _promoted()


def _pair(a: dtype, b: dtype) -> dtype:
    promoted = _PROMOTED.get((a, b))
    if promoted is None:
        raise errors.no_promotion(a, b)
    return promoted


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both can be converted to without leaving their category.

    RuntimeError where torch has none: uint16, uint32 and uint64 with other integers or complex
    numbers, float8 with any other.
    """
    promoted = _PROMOTED.get((type1, type2))
    if promoted is None:
        arguments: tuple[tuple[str, Any], ...] = (("type1", type1), ("type2", type2))
        for name, wrong in arguments:
            if not isinstance(wrong, dtype):
                raise errors.not_a_dtype("promote_types", name, wrong, meant_by(wrong))
        raise errors.no_promotion(type1, type2)
    return promoted


def can_cast(from_: dtype, to: dtype) -> builtins.bool:
    """Whether torch converts `from_` to `to` by itself, as when a result is written to `out=`.

    The category may rise (bool, integer, floating point, complex) but not fall; within one
    category every conversion is allowed, also a narrowing one.
    """
    for name, argument in (("from_", from_), ("to", to)):
        if not isinstance(argument, dtype):
            raise errors.not_a_dtype("can_cast", name, argument, meant_by(argument))
    return _RANK[from_.kind] <= _RANK[to.kind]


_default = float32


def get_default_dtype() -> dtype:
    """The dtype that Python floats become; float32 unless `set_default_dtype` said otherwise."""
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Make `d`, a floating-point dtype, the one that Python floats become. Not per thread."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point or d.bare:
        raise errors.default_dtype_not_float(d)
    _default = d


def scalar_dtype(scalar: object) -> dtype:
    """The dtype of the tensor that a Python (or NumPy) number becomes."""
    if isinstance(scalar, (builtins.bool, np.bool_)):
        return bool
    if isinstance(scalar, (builtins.int, np.integer)):
        return int64
    if isinstance(scalar, (builtins.float, np.floating)):
        return _default
    if isinstance(scalar, (complex, np.complexfloating)):
        return _default.to_complex()
    raise errors.not_a_number(scalar)


def from_numpy_dtype(source: Any) -> dtype:
    """The dtype of a tensor that shares a NumPy array's memory."""
    numpy_dtype = np.dtype(source)
    of = _OF_NUMPY.get((numpy_dtype.kind, numpy_dtype.itemsize))
    if of is None:
        supported = ", ".join(d.name for d in _OF_NUMPY.values())
        raise errors.numpy_dtype_not_supported(numpy_dtype, supported)
    if not numpy_dtype.isnative:
        raise errors.numpy_byte_order(numpy_dtype)
    return of


def meant_by(value: Any) -> dtype | None:
    """The dtype that text ("float32", "f4") or another library's dtype spells, if one is meant.

    For messages: none of these is taken for a dtype.
    """
    if not isinstance(value, (str, np.dtype)) and type(value).__name__ != "dtype":
        if not (isinstance(value, type) and issubclass(value, np.generic)):
            return None
        value = np.dtype(value)
    meant = _NAMED.get(str(value).rpartition(".")[2])
    if meant is None and isinstance(value, str):
        with contextlib.suppress(TypeError):
            meant = _NAMED.get(np.dtype(value).name)
    return meant


_PYTHON_TYPES: dict[Any, dtype] = {
    builtins.bool: bool,
    builtins.int: int64,
    builtins.float: float64,
    builtins.complex: complex128,
}


def as_dtype(function: str, value: Any) -> dtype | None:
    """A dtype, also given as Python's bool, int, float or complex, or as NumPy's: "float32".

    TypeError for anything else.
    """
    if value is None or isinstance(value, dtype):
        return value
    meant = _PYTHON_TYPES.get(value) if isinstance(value, type) else None
    if isinstance(value, (np.dtype, type)) or (isinstance(value, str) and "." not in value):
        meant = meant or meant_by(value)
    if meant is None:
        raise errors.not_a_dtype(function, "dtype", value, meant_by(value))
    return meant


def result_dtype(operands: Sequence[tuple[dtype, builtins.int]]) -> dtype:
    """The dtype of an op on operands of these (dtype, priority).

    Priority 0 is a tensor with dimensions, 1 a zero-dim tensor, 2 a Python scalar. Each
    priority is promoted by itself; a lower one counts only where it is of a higher category
    (bool, integer, floating point, complex) than the result so far.
    """
    by_priority: list[dtype | None] = [None, None, None]
    for d, priority in operands:
        so_far = by_priority[priority]
        by_priority[priority] = d if so_far is None else _pair(so_far, d)
    dims, zero_dim, scalar = by_priority
    result = _raised(dims, _raised(zero_dim, scalar))
    assert result is not None, "result_dtype of no operands"
    return result


def _raised(first: dtype | None, second: dtype | None) -> dtype | None:
    """`first`, lifted to `second`'s category where that is higher."""
    if first is None or second is None:
        return first or second
    if first.kind == "c" or _RANK[second.kind] <= _RANK[first.kind]:
        return first
    if first.kind == "f":  # with a complex one: the components keep the width of `first`
        return first.to_complex()
    return second if second.kind == "c" else _pair(first, second)


def result_type(tensor: Any, other: Any, *more: Any) -> dtype:
    """The dtype that arithmetic on these tensors and Python numbers has."""
    operands = []
    for arg in (tensor, other, *more):
        of = getattr(arg, "dtype", None)
        if isinstance(of, dtype):
            operands.append((of, 0 if arg.ndim else 1))
        else:
            operands.append((scalar_dtype(arg), 2))
    return result_dtype(operands)
