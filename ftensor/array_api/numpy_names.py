"""NumPy's functions that libraries such as xarray call on a namespace, though the standard lacks them.

They are attributes of the namespace, but not among its names: `dir` lists those of the standard.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._tensor import Tensor


def transpose(x: Tensor, /, axes: Sequence[int] | None = None) -> Tensor:
    """Returns a view of `x` with its axes in this order, reversed for None."""
    return x.permute(tuple(range(x.ndim))[::-1] if axes is None else tuple(axes))


def pad(x: Tensor, /, pad_width: Any, mode: str = "constant", **options: Any) -> Tensor:
    """Returns `x` with further elements at its ends, like `numpy.pad`."""
    padded: Tensor = np.pad(x, pad_width, mode, **options)  # type: ignore[call-overload]
    return padded


def gradient(f: Tensor, /, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Returns derivatives along axes, like `numpy.gradient`."""
    return np.gradient(f, *spacing, axis=axis, edge_order=edge_order)  # type: ignore[arg-type, call-overload, unused-ignore]


def einsum(subscripts: str, /, *operands: Tensor, **options: Any) -> Tensor:
    """Returns sums of products by Einstein's convention, like `numpy.einsum`."""
    product: Tensor = np.einsum(subscripts, *operands, **options)
    return product


def cumsum(x: Tensor, /, axis: int | None = None, **options: Any) -> Tensor:
    """Returns the running sums along an axis, of the flattened array for None, like `numpy.cumsum`."""
    sums: Tensor = np.cumsum(x, axis, **options)
    return sums


def cumprod(x: Tensor, /, axis: int | None = None, **options: Any) -> Tensor:
    """Returns the running products along an axis, of the flattened array for None, like
    `numpy.cumprod`."""
    products: Tensor = np.cumprod(x, axis, **options)
    return products


def _sliding_window_view(
    x: Tensor, window_shape: int | Sequence[int], axis: int | Sequence[int] | None = None, **_: Any
) -> Tensor:
    """Returns a view of all windows along these axes, like numpy.lib.stride_tricks: the axes of the
    windows are last."""
    sizes = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    for size, along in zip(sizes, [a % x.ndim for a in axes], strict=True):
        x = x.unfold(along, size, 1)
    return x


lib = SimpleNamespace(stride_tricks=SimpleNamespace(sliding_window_view=_sliding_window_view))
