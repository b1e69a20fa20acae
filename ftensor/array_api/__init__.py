"""The Python array API standard, version 2024.12, as a namespace for other libraries.

Functions take and return `ftensor.Tensor`. Their names, arguments, dtypes and errors are the
standard's (data-apis.org/array-api); the ops of the catalogue compute them. Unlike ftensor's own
functions they promote by dtypes only, never by numbers of dims, and refuse dtypes for which the
standard leaves the result undefined. `x.__array_namespace__()` is this module.
"""

from __future__ import annotations

import sys
from collections import ChainMap
from math import e, inf, nan, pi
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from ..dtypes import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ..errors import creation as _messages
from ..interop.dlpack import from_dlpack
from ..rows.lines import Functions
from . import creation as _creation
from . import elementwise as _elementwise
from . import fft, linalg, special
from . import linalg as _products
from . import manipulation as _manipulation
from . import reductions as _reductions
from .dtypes import Info as __array_namespace_info__  # noqa: N813
from .dtypes import can_cast, finfo, iinfo, isdtype, result_type

__array_api_version__ = "2024.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
newaxis = None


def _functions(module: ModuleType) -> dict[str, Any]:
    """Returns the public functions that a module defines, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", "") == module.__name__ and not isinstance(value, type)
    }


_SCOPE = {"from_dlpack": from_dlpack, "np": np, "range": range}
_MODULES = (_creation, _manipulation, _products, fft)
_LINES = Functions(Path(__file__).with_name("standard.txt"), _SCOPE | dict(ChainMap(*map(vars, _MODULES))))


def _lines_of(module: str) -> dict[str, Any]:
    """Returns the functions of `standard.txt` whose names have this prefix; they become the module's."""
    found = {name.rpartition(".")[2]: call for name, call in _LINES.items() if name.rpartition(".")[0] == module}
    for call in found.values():
        call.__module__ = f"{__name__}.{module}" if module in ("fft", "linalg") else __name__
    return found


for _name, _names in (("fft", vars(fft)), ("linalg", vars(linalg))):
    _names |= _lines_of(_name) | {"__all__": sorted([*_names["__all__"], *_lines_of(_name)])}
FUNCTIONS = {
    **_functions(_creation),
    **_functions(_manipulation),
    **{name: getattr(_products, name) for name in ("matmul", "tensordot", "vecdot")},
    **_elementwise.FUNCTIONS,
    **_reductions.FUNCTIONS,
    **_lines_of(""),
}
globals().update(_lines_of("extra") | FUNCTIONS)
lib = SimpleNamespace(stride_tricks=SimpleNamespace(sliding_window_view=_manipulation._sliding_window_view))
_OTHERS = """
can_cast finfo iinfo isdtype result_type e inf nan newaxis pi bool int8 int16 int32 int64 uint8
uint16 uint32 uint64 float32 float64 complex64 complex128 fft linalg __array_api_version__
__array_namespace_info__
"""
__all__ = sorted([*FUNCTIONS, *_OTHERS.split()])


def __dir__() -> list[str]:
    return list(__all__)


def of_version(api_version: str | None) -> ModuleType:
    """Returns this module. Raises ValueError for a version of the standard that it doesn't
    follow."""
    if api_version is not None and api_version not in VERSIONS:
        raise _messages.unknown_version(api_version, ", ".join(VERSIONS))
    return sys.modules[__name__]
