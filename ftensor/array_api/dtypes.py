"""The standard's dtypes and `__array_namespace_info__`."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from .. import errors
from .._device import DeviceLike, device, fpga_devices, get_default_device
from .._tensor import Tensor
from ..dtypes import (
    bool,
    complex64,
    complex128,
    dtype,
    float32,
    float64,
    from_numpy_dtype,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    parse_dtype,
    promote_types,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ..dtypes.limits import floating_limits, integer_limits
from ..errors import creation as messages
from ..errors.message import commas

_SIGNED = (int8, int16, int32, int64)
_UNSIGNED = (uint8, uint16, uint32, uint64)
_KINDS: dict[str, tuple[dtype, ...]] = {
    "bool": (bool,),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
    "numeric": _SIGNED + _UNSIGNED + (float32, float64, complex64, complex128),
}
STANDARD = (bool, *_KINDS["numeric"])
# Categories of functions, as the kinds of their dtypes; float16 and bfloat16 count as
# floating-point.
CATEGORIES = {
    "all": "buifc",
    "numeric": "uifc",
    "real numeric": "uif",
    "integer": "ui",
    "integer or boolean": "bui",
    "boolean": "b",
    "floating-point": "fc",
    "real floating-point": "f",
    "complex floating-point": "c",
}
_RANK = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
Dtype = dtype
NUMBERS = (builtins.bool, int, float, complex)


def check(name: str, category: str, *arrays: Any) -> None:
    """Raises TypeError for an array that is no tensor, or of a dtype that the function `name`
    doesn't support."""
    kinds = CATEGORIES[category]
    for x in arrays:
        if not isinstance(x, Tensor):
            raise messages.not_a_tensor_argument(name, x)
        if x.dtype.kind not in kinds:
            raise messages.dtype_category(name, category, x.dtype)


def one_of(name: str, argument: str, value: str, *words: str) -> str:
    """Returns an argument that is one of these words. Raises ValueError for another one."""
    if value not in words:
        raise messages.unknown_word(name, argument, commas(map(repr, words)), value)
    return value


def common_dtype(a: dtype, b: dtype) -> dtype:
    """Returns the dtype that two dtypes promote to by the standard's tables. Raises TypeError if
    there is none.

    float16, bfloat16 and other dtypes outside the standard promote with floating-point dtypes as
    elsewhere in ftensor.
    """
    if a is b:
        return a
    kinds = a.kind + b.kind
    if kinds in ("uu", "ii"):
        return a if a.itemsize > b.itemsize else b
    if kinds in ("ui", "iu"):
        unsigned, signed = (a, b) if kinds == "ui" else (b, a)
        if signed.itemsize > unsigned.itemsize:
            return signed
        if unsigned is not uint64:
            return next(d for d in _SIGNED if d.itemsize == 2 * unsigned.itemsize)
    elif set(kinds) <= set("fc"):
        return promote_types(a, b)
    raise messages.no_common_dtype(a, b)


def number_kind(value: builtins.bool | complex) -> str:
    """Returns the kind of dtypes that a Python number belongs to."""
    if isinstance(value, builtins.bool):
        return "b"
    return "i" if isinstance(value, int) else "f" if isinstance(value, float) else "c"


def with_number(array_dtype: dtype, value: builtins.bool | complex, name: str) -> dtype:
    """Returns the result dtype of an array of dtype `array_dtype` and a Python number."""
    kind = number_kind(value)
    if array_dtype.kind in "fc" and kind == "c":
        return array_dtype.to_complex()
    if _RANK[kind] > _RANK[array_dtype.kind] or (kind == "b") != (array_dtype.kind == "b"):
        raise messages.number_above_array(name, value, array_dtype)
    return array_dtype


def is_outside(number: Any, d: dtype) -> builtins.bool:
    """True for a Python int that the integer dtype `d` can't hold."""
    if d.kind not in "ui" or not isinstance(number, int):
        return False
    limits = integer_limits(d)
    return not limits.min <= number <= limits.max


def limited(number: Any, d: dtype) -> Any:
    """Returns the integer of `d` that is nearest to a Python int."""
    if not is_outside(number, d):
        return number
    limits = integer_limits(d)
    return limits.min if number < 0 else limits.max


def check_number(name: str, number: Any, d: dtype) -> None:
    """Raises OverflowError for a Python int that the integer dtype `d` can't hold."""
    if is_outside(number, d):
        raise messages.number_outside(name, number, d, integer_limits(d).min, integer_limits(d).max)


def _named_dtype(x: object) -> dtype:
    """Returns the dtype of a name or of another library's dtype. Raises TypeError for anything
    else."""
    if (found := parse_dtype(x.dtype if isinstance(x, np.generic) else x)) is None:
        raise errors.not_a_dtype("result_type", "arrays_and_dtypes", x, None)
    return found


def result_type(*arrays_and_dtypes: Tensor | dtype | complex | str) -> dtype:
    """Returns the result dtype of an operation on these arrays, dtypes and Python numbers.

    Names of dtypes, and NumPy's dtypes, promote as in `ft.promote_types` across kinds too.

    Shapes and values don't count: a 0-d array promotes like any other. Raises TypeError if the
    standard's tables have no common dtype, ValueError if only numbers are given.
    """
    operands = [x.dtype if isinstance(x, Tensor) else x for x in arrays_and_dtypes]
    types = [x for x in operands if isinstance(x, dtype)]
    if not types:
        raise messages.no_dtype_among()
    promoted = reduce(common_dtype, types)
    for x in operands:
        if isinstance(x, (builtins.bool, int, float, complex)):
            promoted = with_number(promoted, x, "result_type")
        elif not isinstance(x, dtype):
            promoted = promote_types(promoted, _named_dtype(x))
    return promoted


def can_cast(from_: dtype | Tensor, to: dtype, /) -> builtins.bool:
    """True if promotion leads from one dtype (or an array's) to another."""
    source = from_.dtype if isinstance(from_, Tensor) else from_
    for name, argument in (("from_", source), ("to", to)):
        if not isinstance(argument, dtype):
            raise errors.not_a_dtype("can_cast", name, argument, None)
    try:
        return common_dtype(source, to) is to
    except TypeError:
        return False


def own_dtype(value: Any) -> Any:
    """Returns ftensor's dtype for one of NumPy's; anything else unchanged."""
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return from_numpy_dtype(value)
    return value


def isdtype(dtype: Dtype, kind: Dtype | str | Sequence[Dtype | str]) -> builtins.bool:
    """True if a dtype is of a kind ("integral", ...), equals a dtype, or matches one of several
    kinds and dtypes."""
    dtype = own_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if not isinstance(kind, str):
        if not isinstance(kind, type(bool)):
            raise errors.not_a_dtype("isdtype", "kind", kind, None)
        return dtype is kind
    if kind not in _KINDS:
        raise messages.unknown_kind(kind)
    letters = {d.kind for d in _KINDS[kind]}
    return dtype.kind in letters


def of_kind(kind: str | None) -> tuple[dtype, ...]:
    """Returns the standard's dtypes of a kind; all for None. Raises ValueError for an unknown
    kind.
    """
    if kind is None:
        return STANDARD
    if kind not in _KINDS:
        raise messages.unknown_kind(kind)
    return _KINDS[kind]


@dataclass(frozen=True)
class finfo_object:
    """The limits of a floating-point dtype, or of a complex dtype's components."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype


@dataclass(frozen=True)
class iinfo_object:
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: dtype


def _dtype_of(type: Any) -> dtype:
    return type.dtype if isinstance(type, Tensor) else type


def finfo(type: dtype | Tensor, /) -> finfo_object:
    """Returns the limits of a floating-point or complex dtype, or of an array's. Raises TypeError
    for others."""
    kind = _dtype_of(type)
    limits = floating_limits(kind)
    real = kind.to_real()
    return finfo_object(limits.bits, limits.eps, limits.max, limits.min, limits.smallest_normal, real)


def iinfo(type: dtype | Tensor, /) -> iinfo_object:
    """Returns the limits of an integer dtype, or of an array's. Raises TypeError for others."""
    kind = _dtype_of(type)
    limits = integer_limits(kind)
    return iinfo_object(limits.bits, limits.max, limits.min, kind)


class Info:
    """Devices, dtypes and capabilities of `ftensor.array_api`."""

    def capabilities(self) -> dict[str, Any]:
        """Returns the capabilities: boolean indexing, data-dependent shapes, maximum number of
        dims."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> device:
        """Returns the device of new arrays for which no device is given."""
        return get_default_device()

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict[str, dtype]:
        """Returns the default dtypes of Python numbers and of indices."""
        real = get_default_dtype()
        return {"real floating": real, "complex floating": real.to_complex(), "integral": int64, "indexing": int64}

    def dtypes(
        self, *, device: DeviceLike | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, dtype]:
        """Returns the standard's dtypes of a kind or several kinds, all for None, by name."""
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return {d.name: d for k in kinds for d in of_kind(k)}

    def devices(self) -> list[device]:
        """Returns the available devices."""
        return [device("fpga", k) for k in range(len(fpga_devices()))] + [device("cpu")]
