"""Creation functions of the array API standard, such as `asarray`, `zeros` and `linspace`."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .._device import DeviceLike
from .._tensor import Tensor
from ..dtypes import dtype, get_default_dtype, int64, uint64
from ..errors import creation as messages
from ..rows.catalogue import op_of
from .dtypes import NUMBERS, one_of, own_dtype

Shape = int | tuple[int, ...]


def _created(name: str, *values: Any, **options: Any) -> Tensor:
    return op_of(name)(*values, **options)


def asarray(
    obj: Any, /, *, dtype: dtype | None = None, device: DeviceLike | None = None, copy: builtins.bool | None = None
) -> Tensor:
    """Converts an array, a number, nested sequences of numbers, or a buffer to a tensor.

    With `copy` None memory is shared where possible, True copies, False raises ValueError if a copy
    is necessary. A tensor stays on its device.
    """
    if device is None and isinstance(obj, Tensor):
        device = obj.device
    if copy is False and isinstance(obj, (*NUMBERS, list, tuple)):
        raise messages.needs_copy("asarray", obj)
    dtype = own_dtype(dtype)
    if isinstance(obj, int) and obj > (1 << 63) - 1 and dtype is None:
        dtype = uint64
    if isinstance(obj, np.ndarray) and min(obj.strides, default=0) < 0 and copy is not False:
        obj = obj.copy()
    return _created("asarray", obj, dtype=dtype, device=device, copy=copy)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Returns the numbers from `start` (0 if `stop` is None) in steps up to and excluding `stop`.

    The shape is (n,), the dtype int64 for integers, else the default floating-point dtype. The
    result is empty if the steps lead away from `stop`.
    """
    low, high = (0, start) if stop is None else (start, stop)
    d = dtype
    if d is None:
        all_integers = all(isinstance(v, int) for v in (low, high, step))
        d = int64 if all_integers else get_default_dtype()
    if (high - low) * step < 0:
        high = low
    return _created("arange", low, high, step, dtype=d, device=device)


def _filled(name: str, like: Any, value: Any, dtype: dtype | None, device: Any) -> Tensor:
    if isinstance(value, Tensor) and not value.ndim:
        tensor = _created(name, like, 0, dtype=dtype or value.dtype, device=device or value.device)
        return tensor.fill_(value)
    if not isinstance(value, NUMBERS):
        raise messages.not_python_number(name, value)
    return _created(name, like, value, dtype=dtype, device=device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
) -> Tensor:
    """Returns (n_rows, n_cols) with ones on the `k`-th diagonal, above the main one if positive,
    zeros elsewhere."""
    n_cols = n_rows if n_cols is None else n_cols
    rows = _created("arange", n_rows, device=device).unsqueeze(1)
    mask = rows.add(k).eq(_created("arange", n_cols, device=device))
    return mask.to(dtype or get_default_dtype())


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    endpoint: builtins.bool = True,
) -> Tensor:
    """Returns (num,) equidistant numbers from `start` to `stop`; `endpoint=False` excludes `stop`.

    The dtype is the default floating-point dtype, or the complex one if an end is complex.
    """
    d = dtype
    if d is None:
        d = get_default_dtype()
        endpoints: Any = (start, stop)
        if any(isinstance(end, complex) for end in endpoints):
            d = d.to_complex()
    if not endpoint:
        return _created("linspace", start, stop, num + 1, dtype=d, device=device)[:num]
    return _created("linspace", start, stop, num, dtype=d, device=device)


def meshgrid(*arrays: Tensor, indexing: str = "xy") -> list[Tensor]:
    """Returns coordinate matrices of coordinate vectors; "xy" exchanges the first two axes.

    Raises ValueError for another `indexing`, and for arrays of different dtypes.
    """
    one_of("meshgrid", "indexing", indexing, "xy", "ij")
    if len({x.dtype for x in arrays}) > 1:
        raise messages.several_dtypes("meshgrid", {x.dtype for x in arrays})
    if not arrays:
        return []
    return list(op_of("meshgrid")(*arrays, indexing=indexing))


def astype(x: Tensor, dtype: dtype, /, *, copy: builtins.bool = True, device: DeviceLike | None = None) -> Tensor:
    """Returns the elements converted to `dtype`; `x` itself if nothing changes and `copy` is False.

    Raises TypeError for complex to real, which the standard excludes: use `real(x)`. NumPy's dtypes
    are accepted, because libraries pass them.
    """
    dtype = own_dtype(dtype)
    if x.dtype.kind == "c" and dtype.kind != "c":
        raise messages.no_common_dtype(x.dtype, dtype)
    on_device = x if device is None else x.to(device)
    converted = on_device.to(dtype)
    return converted.clone() if copy and converted is x else converted
