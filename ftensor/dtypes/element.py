"""The element types, one row for each dtype, and their names in other libraries and Python."""

from __future__ import annotations

import builtins
import contextlib
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
