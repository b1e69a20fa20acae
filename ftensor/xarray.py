"""`import ftensor.xarray` lets xarray mark missing values in tensors, and multiply them.

xarray chooses the fill value of a dtype by NumPy's rules, and knows no dtypes of other libraries. This module adds the
rules for ftensor's dtypes to `xarray.core.dtypes`; those of all other dtypes stay xarray's. Rolling windows, `where`,
`shift` and `count` need them.

`dot` and `weighted` call opt_einsum where it is installed. It calls functions with NumPy's signatures in the package of
its operands; for tensors this module has it call NumPy's own, which compute on the device.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from . import array_api
from .dtypes import dtype, float32, float64

rules: Any = import_module("xarray.core.dtypes")


def fill_value(of: dtype) -> tuple[dtype, Any]:
    """Returns (the dtype that can mark missing values, their value), as xarray does for NumPy's
    dtypes: NaN for floating-point numbers; integers become float32 up to 16 bits, else float64.
    Raises TypeError for bool, which xarray would turn into objects."""
    if of.is_complex:
        return of, complex(math.nan, math.nan)
    if of.is_floating_point:
        return of, math.nan
    if of.kind == "b":
        raise TypeError(f"{of} cannot mark missing values; convert the array with astype(float) first")
    return (float32 if of.itemsize <= 2 else float64), math.nan


def _register() -> None:
    promote: Callable[..., Any] = rules.maybe_promote
    is_of: Callable[..., Any] = rules.isdtype
    if hasattr(promote, "__wrapped__"):  # the module was reloaded
        return

    @wraps(promote)
    def maybe_promote(of: Any) -> Any:
        return fill_value(of) if isinstance(of, dtype) else promote(of)

    @wraps(is_of)
    def isdtype(of: Any, kind: Any, xp: Any = None) -> Any:
        return array_api.isdtype(of, kind) if isinstance(of, dtype) else is_of(of, kind, xp)

    rules.maybe_promote, rules.isdtype = maybe_promote, isdtype
    if find_spec("opt_einsum"):
        import_module("opt_einsum.backends.dispatch")._aliases["ftensor"] = "numpy"


_register()
