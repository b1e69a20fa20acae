"""The element types, one row for each dtype, their names in other libraries and Python; torch's promotion
rules for dtypes and numbers, and the default dtype."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import errors

# The public names below (bool, int, float) hide Python's in this module, so annotations and checks
# write `builtins.int` for Python's type.


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class dtype:
    """The type of a tensor's elements. There is one object per type; compare with `is` or `==`.

    `numpy` is the NumPy type with the same bytes; types that NumPy lacks (bfloat16, float8,
    complex32) are stored as unsigned integers. `itemsize` is in bytes. `bare` is the letter of a
    group of dtypes for which few ops exist besides copies: "8" float8, "h" complex32. Rows list the
    groups that they support; all rows support the other dtypes, whose letter is "".
    """

    name: str
    kind: str  # "b" bool, "u" and "i" integers, "f" floating point, "c" complex
    itemsize: builtins.int
    numpy: np.dtype[Any]
    exponent_bits: builtins.int = 0  # of a real component; 0 for bool and integers
    bare: str = ""
    infinite: builtins.bool = True  # True if the largest exponent only encodes infinity and NaN
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
        # A string makes pickle and copy look up the module's global of that name: the copy is the
        # same object, and `is` keeps working.
        return self.name

    @property
    def compute(self) -> dtype:
        """The dtype that kernels compute in: float32 for narrower floating-point types, complex64
        for complex32."""
        if self.kind == "f" and self.itemsize < 4:
            return float32
        return complex64 if self is complex32 else self

    @property
    def bits(self) -> dtype:
        """The dtype that copies use: the signed integer (for one byte, uint8) of equal size for an
        unsigned integer or a dtype with few ops, else itself."""
        if self.bare or self.kind == "u":
            return {1: uint8, 2: int16, 4: int32, 8: int64}[self.itemsize]
        return self

    @property
    def in_numpy(self) -> builtins.bool:
        """True if NumPy has the type itself, not only a type of equal size."""
        return self.numpy.kind == self.kind

    @property
    def __numpy_dtype__(self) -> np.dtype[Any]:
        """The result of `np.dtype(x.dtype)`. Raises TypeError for bfloat16 and other types that
        NumPy lacks."""
        if not self.in_numpy:
            raise errors.no_numpy_dtype(self)
        return self.numpy

    @property
    def type(self) -> builtins.type[np.generic]:
        """NumPy's class of a single element; for types that NumPy lacks, of the dtype that they are
        computed in."""
        return self.numpy.type if self.in_numpy else self.compute.numpy.type

    def to_real(self) -> dtype:
        """Returns the dtype of a complex type's components; any other dtype itself."""
        return _REAL.get(self, self)

    def to_complex(self) -> dtype:
        """Returns the complex dtype whose components hold this type (complex64 for bfloat16)."""
        if self.kind == "c":
            return self
        if self.kind != "f" or self.bare:
            raise errors.no_complex_dtype(self)
        if self is float16:
            return complex32
        return complex128 if self.itemsize == 8 else complex64


dtype.__module__ = __package__  # pickle looks the dtype up there
dtype.dtype = dtype.__numpy_dtype__  # type: ignore[attr-defined]  # NumPy's name before 2.4

bool = dtype("bool", "b", 1, np.dtype(np.bool_))
uint8 = dtype("uint8", "u", 1, np.dtype(np.uint8))
uint16 = dtype("uint16", "u", 2, np.dtype(np.uint16))
uint32 = dtype("uint32", "u", 4, np.dtype(np.uint32))
uint64 = dtype("uint64", "u", 8, np.dtype(np.uint64))
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
# Dtypes for which torch has all ops: those of inventories' sets and of the tables of ops.
FULL: tuple[dtype, ...] = tuple([d for d in ALL if not d.bare and d not in (uint16, uint32, uint64)])

_REAL = {complex32: float16, complex64: float32, complex128: float64}


_NAMED = {d.name: d for d in ALL} | {"float": float, "double": double, "half": half, "int": int}
_OF_NUMPY = {(d.numpy.kind, d.itemsize): d for d in ALL if d.in_numpy}


def from_numpy_dtype(source: Any) -> dtype:
    """Returns the dtype of a tensor that shares a NumPy array's memory."""
    numpy_dtype = np.dtype(source)
    found = _OF_NUMPY.get((numpy_dtype.kind, numpy_dtype.itemsize))
    if found is None:
        supported = ", ".join(d.name for d in _OF_NUMPY.values())
        raise errors.numpy_dtype_not_supported(numpy_dtype, supported)
    if not numpy_dtype.isnative:
        raise errors.numpy_byte_order(numpy_dtype)
    return found


def parse_dtype(value: Any) -> dtype | None:
    """Returns the dtype that text ("float32", "f4") or another library's dtype spells; None if
    there is none.

    Only messages use it: such a value is not accepted as a dtype.
    """
    if not isinstance(value, (str, np.dtype)) and type(value).__name__ != "dtype":
        if not (isinstance(value, type) and issubclass(value, np.generic)):
            return None
        value = np.dtype(value)
    result = _NAMED.get(str(value).rpartition(".")[2])
    if result is None and isinstance(value, str):
        with contextlib.suppress(TypeError):
            result = _NAMED.get(np.dtype(value).name)
    return result


_PYTHON_TYPES: dict[Any, dtype] = {
    builtins.bool: bool,
    builtins.int: int64,
    builtins.float: float64,
    builtins.complex: complex128,
}


def as_dtype(function: str, value: Any) -> dtype | None:
    """Returns a dtype for a dtype, for Python's bool, int, float or complex, or for a NumPy type
    such as `numpy.float32`.

    Raises TypeError for anything else.
    """
    if value is None or isinstance(value, dtype):
        return value
    result = _PYTHON_TYPES.get(value) if isinstance(value, type) else None
    if isinstance(value, (np.dtype, type)) or (isinstance(value, str) and "." not in value):
        result = result or parse_dtype(value)
    if result is None:
        raise errors.not_a_dtype(function, "dtype", value, parse_dtype(value))
    return result


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
