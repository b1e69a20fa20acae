"""Methods of Tensor for the array API standard and NumPy's protocols; these import lazily."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._tensor import Tensor, method


@method("__array_namespace__")
def array_namespace(self: Tensor, /, *, api_version: str | None = None) -> Any:
    """Returns the namespace of the array API standard, the module `ftensor.array_api`.

    Raises ValueError for an `api_version` after 2024.12 or an unknown one.
    """
    from . import array_api

    return array_api.of_version(api_version)


def _foreign(value: Any) -> bool:
    """True if a value implements NumPy's functions itself: Dask, xarray, masked arrays."""
    if isinstance(value, np.ndarray):
        return isinstance(value, np.ma.MaskedArray)
    return not isinstance(value, (Tensor, np.generic)) and hasattr(value, "__array_ufunc__")


@method("__array_ufunc__")
def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """Runs NumPy's universal functions on the device (docs/numpy.md)."""
    from .array_functions.ufuncs import ufunc as called

    if any(map(_foreign, (*inputs, *options.get("out", ())))):
        return NotImplemented
    return called(ufunc, method, inputs, options)


@method("__array_function__")
def array_function(self: Tensor, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Runs NumPy's other functions on the device (docs/numpy.md)."""
    from .array_functions.functions import function as called

    if not all(kind is Tensor or issubclass(kind, np.ndarray) for kind in types):
        return NotImplemented
    return called(function, args, options, self)
