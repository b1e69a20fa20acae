"""Spellings of dtypes in other libraries and in Python."""

from __future__ import annotations

import builtins
import contextlib
from typing import Any

import numpy as np

from .. import errors
from .element import ALL, bool, complex128, double, dtype, float, float64, half, int, int64

_NAMED = {d.name: d for d in ALL} | {"float": float, "double": double, "half": half, "int": int}
_OF_NUMPY = {(d.numpy.kind, d.itemsize): d for d in ALL if d.in_numpy}


def from_numpy_dtype(source: Any) -> dtype:
    """Returns the dtype of a tensor that shares a NumPy array's memory."""
    numpy_dtype = np.dtype(source)
    of = _OF_NUMPY.get((numpy_dtype.kind, numpy_dtype.itemsize))
    if of is None:
        supported = ", ".join(d.name for d in _OF_NUMPY.values())
        raise errors.numpy_dtype_not_supported(numpy_dtype, supported)
    if not numpy_dtype.isnative:
        raise errors.numpy_byte_order(numpy_dtype)
    return of


def meant_by(value: Any) -> dtype | None:
    """Returns the dtype that text ("float32", "f4") or another library's dtype spells; None if
    there is none.

    Only messages use it: such a value is not accepted as a dtype.
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
    """Returns a dtype, from a dtype, Python's bool, int, float or complex, or NumPy's type
    "float32".

    Raises TypeError for anything else.
    """
    if value is None or isinstance(value, dtype):
        return value
    meant = _PYTHON_TYPES.get(value) if isinstance(value, type) else None
    if isinstance(value, (np.dtype, type)) or (isinstance(value, str) and "." not in value):
        meant = meant or meant_by(value)
    if meant is None:
        raise errors.not_a_dtype(function, "dtype", value, meant_by(value))
    return meant
