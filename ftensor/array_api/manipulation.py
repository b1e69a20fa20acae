"""The standard's manipulation functions: shapes, joining, indexing, sorting, sets."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._tensor import Tensor
from ..dtypes import bool as bool_
from ..dtypes import int64
from ..errors import creation as messages
from ..rows.catalogue import op_of
from .dtypes import NUMBERS, check, is_outside, one_of, result_type
from .elementwise import as_array, compare_outside, two_arrays
from .reductions import axes_of, one_axis


def _matrices(name: str, x: Tensor) -> Tensor:
    """Returns `x`. Raises ValueError for fewer than two dims."""
    if x.ndim < 2:
        raise messages.too_few_dims(name, 2, x.ndim)
    return x


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Concatenates the arrays along an axis (None: flattened) in their common dtype."""
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    d = result_type(*arrays)
    dim = one_axis("concat", axis, arrays[0].ndim)
    # torch accepts an array of shape (0,) with every shape; the standard doesn't
    if len({x.ndim for x in arrays}) > 1:
        raise messages.sizes_differ("concat", arrays[0].ndim, [x.ndim for x in arrays])
    return op_of("cat")([x.to(d) for x in arrays], dim)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """Returns a view of `x` without these axes. Raises ValueError for an axis whose size is not
    1."""
    axes = axes_of("squeeze", axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise messages.not_size_one(a, x.shape[a])
    return op_of("squeeze")(x, axes)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: builtins.bool | None = None) -> Tensor:
    """Returns the elements in another shape. `copy=False` raises ValueError if a view is
    impossible."""
    if copy is False:
        try:
            return x.view(shape)
        except RuntimeError as why:
            raise messages.reshape_needs_copy(shape) from why
    return x.clone().reshape(shape) if copy else x.reshape(shape)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Repeats each element along an axis; for None, those of the flattened array."""
    if isinstance(repeats, Tensor):
        check("repeat", "integer", repeats)
        repeats = repeats.to(int64)
        if repeats.ndim == 1 and repeats.shape[0] == 1:
            repeats = repeats.reshape(())
    if axis is None:
        x, axis = x.reshape(-1), 0
    return op_of("repeat_interleave")(x, repeats, axis)


# Picking


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """Returns the slices of `x` at these indices along an axis; negative indices count from the
    end.

    Raises ValueError without `axis` for an array of several dims.
    """
    check("take", "integer", indices)
    if axis is None:
        if x.ndim != 1:
            raise messages.axis_needed("take", x.ndim)
        axis = 0
    leading = (slice(None),) * one_axis("take", axis, x.ndim)
    return x[(*leading, indices.to(int64))]


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Returns the elements of `x` at the indices along the axis."""
    check("take_along_axis", "integer", indices)
    dim = one_axis("take_along_axis", axis, x.ndim)
    positions = indices.to(int64)
    positions = positions.add(x.shape[dim]).where(positions.lt(0), positions)
    return op_of("take_along_dim")(x, positions, dim)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Returns the indices of the nonzero elements, one array for each axis."""
    if x.ndim == 0:
        raise messages.nonzero_of_zero_dims()
    return tuple((x if x.dtype is bool_ else x.ne(0)).nonzero(as_tuple=True))


def where(condition: Tensor, x1: Tensor | complex, x2: Tensor | complex, /) -> Tensor:
    """Returns the elements of `x1` where the bool `condition` is True, else of `x2`, broadcast
    together."""
    check("where", "boolean", condition)
    d, a, b = two_arrays("where", "all", x1, x2)
    a, b = (as_array(v, d, condition.device) if isinstance(v, NUMBERS) else v for v in (a, b))
    return op_of("where")(condition, a, b)


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Returns int64 indices into the sorted `x1`, (n,), at which the elements of `x2` keep its
    order."""
    one_of("searchsorted", "side", side, "left", "right")
    _, a, b = two_arrays("searchsorted", "real numeric", x1, x2)
    if isinstance(b, NUMBERS):
        b = as_array(b, a.dtype, a.device)
    if a.ndim != 1:
        raise messages.sizes_differ("searchsorted", a.ndim, 1)
    options = {} if sorter is None else {"sorter": sorter.to(int64)}
    return op_of("searchsorted")(a, b, side=side, **options)


def isin(x1: Tensor | int, x2: Tensor | int, /, *, invert: builtins.bool = False) -> Tensor:
    """Returns True where an element of `x1` is among those of `x2`, or with `invert`, is not."""
    d, a, b = two_arrays("isin", "integer", x1, x2, any_number=True)
    if is_outside(a, d) or is_outside(b, d):
        return compare_outside("ne" if invert else "eq", a, b)
    device = (a if isinstance(a, Tensor) else b).device
    a, b = (as_array(v, d, device) if isinstance(v, NUMBERS) else v for v in (a, b))
    return op_of("isin")(a, b, invert=invert)


# Sorting and sets


class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: Tensor
    inverse_indices: Tensor


def _unique_parts(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (values, inverse indices in the shape of `x`, counts)."""
    if x.dtype.kind == "c":  # complex numbers have no order; NumPy orders them on the host
        unique = np.unique(x.numpy().ravel(), return_inverse=True, return_counts=True, equal_nan=False)
        values, inverse, counts = (op_of("asarray")(a, device=x.device) for a in unique)
        return values, inverse.reshape(x.shape), counts
    values, inverse, counts = op_of("unique")(x.reshape(-1), return_inverse=True, return_counts=True)
    return values, inverse.reshape(x.shape), counts


def unique_all(x: Tensor, /) -> UniqueAllResult:
    """Returns the distinct elements, the first index of each, the inverse indices, and the
    counts."""
    values, inverse, counts = _unique_parts(x)
    order = inverse.reshape(-1).sort(stable=True)[1]
    first = order[counts.cumsum(0).sub(counts)]
    return UniqueAllResult(values, first, inverse, counts)


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
