"""The standard's functions that arrange elements: shapes, joining, picking, sorting, sets."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._tensor import Tensor
from ..dtypes import bool as bool_
from ..dtypes import int64
from ..errors import files as messages
from ..rows.catalogue import ENTRIES
from . import unsigned
from .dtypes import NUMBERS, check, result_type
from .elementwise import as_array, two_arrays
from .reductions import Axis, axes_of, one_axis


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """Views of the arrays in the shape that they have together."""
    return tuple(ENTRIES["broadcast_tensors"].call(*arrays))


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """A view of `x` in a shape that it broadcasts to."""
    return x.broadcast_to(shape)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """The arrays one behind the other along an axis, flattened for None, in their common dtype."""
    if axis is None:
        arrays, axis = [x.reshape(-1) for x in arrays], 0
    d = result_type(*arrays)
    along = one_axis("concat", axis, arrays[0].ndim)
    # torch lets an array of shape (0,) fit everywhere, the standard does not
    if len({x.ndim for x in arrays}) > 1:
        raise messages.sizes_differ("concat", arrays[0].ndim, [x.ndim for x in arrays])
    joined: Tensor = ENTRIES["cat"].call([x.to(d) for x in arrays], along)
    return joined


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """The arrays side by side along a new axis, in their common dtype."""
    d = result_type(*arrays)
    stacked: Tensor = ENTRIES["stack"].call([x.to(d) for x in arrays], axis)
    return stacked


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The parts of `x` along an axis, without it."""
    return tuple(x.unbind(axis))


def expand_dims(x: Tensor, /, axis: int) -> Tensor:
    """A view of `x` with a new axis of one element; IndexError where it can't stand."""
    return x.unsqueeze(axis)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """A view of `x` without these axes; ValueError where one has not one element."""
    axes = axes_of("squeeze", axis, x.ndim)
    for a in axes:
        if x.shape[a] != 1:
            raise messages.not_size_one(a, x.shape[a])
    squeezed: Tensor = ENTRIES["squeeze"].call(x, axes)
    return squeezed


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """A view of `x` with its axes in this order."""
    return x.permute(axes)


def moveaxis(x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Tensor:
    """A view of `x` with the axes `source` at the places `destination`."""
    return x.movedim(source, destination)


def flip(x: Tensor, /, *, axis: Axis = None) -> Tensor:
    """The elements in the other order along axes, all for None."""
    flipped: Tensor = unsigned.moved(ENTRIES["flip"].call, x, axes_of("flip", axis, x.ndim))
    return flipped


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements moved on along axes, round the end; for None, in the order of memory."""
    return x.roll(shift) if axis is None else x.roll(shift, axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: builtins.bool | None = None) -> Tensor:
    """The elements in another shape; `copy=False` raises ValueError where a view can't do."""
    if copy is False:
        try:
            return x.view(shape)
        except RuntimeError as why:
            raise messages.reshape_needs_copy(shape) from why
    return x.clone().reshape(shape) if copy else x.reshape(shape)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element so often along an axis; of the flattened array for None."""
    if isinstance(repeats, Tensor):
        check("repeat", "integer", repeats)
        repeats = repeats.to(int64)
        if repeats.ndim == 1 and repeats.shape[0] == 1:
            repeats = repeats.reshape(())
    if axis is None:
        x, axis = x.reshape(-1), 0
    repeated: Tensor = unsigned.moved(ENTRIES["repeat_interleave"].call, x, repeats, axis)
    return repeated


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The array so often along each axis, the last ones first."""
    return x.tile(repetitions)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """(..., M, N) as (..., N, M), a view; ValueError for fewer than two dims."""
    if x.ndim < 2:
        raise messages.too_few_dims("matrix_transpose", 2, x.ndim)
    return x.transpose(-1, -2)


# Picking


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The parts of `x` at these places along an axis, which may be counted from the end.

    ValueError where no axis is named and there are several.
    """
    check("take", "integer", indices)
    if axis is None:
        if x.ndim != 1:
            raise messages.axis_needed("take", x.ndim)
        axis = 0
    before = (slice(None),) * one_axis("take", axis, x.ndim)
    return x[(*before, indices.to(int64))]


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements of `x` at the places that each element of `indices` names along the axis."""
    check("take_along_axis", "integer", indices)
    along = one_axis("take_along_axis", axis, x.ndim)
    at = indices.to(int64)
    at = at.add(x.shape[along]).where(at.lt(0), at)
    taken: Tensor = unsigned.moved(ENTRIES["take_along_dim"].call, x, at, along)
    return taken


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The places of the elements that are not zero, an array for each axis."""
    if x.ndim == 0:
        raise messages.nonzero_of_zero_dims()
    return tuple((x if x.dtype is bool_ else x.ne(0)).nonzero(as_tuple=True))


def where(condition: Tensor, x1: Tensor | complex, x2: Tensor | complex, /) -> Tensor:
    """The elements of `x1` where the bool `condition` is true, else of `x2`, broadcast together."""
    check("where", "boolean", condition)
    d, a, b = two_arrays("where", "all", x1, x2)
    a, b = (as_array(v, d, condition.device) if isinstance(v, NUMBERS) else v for v in (a, b))
    chosen: Tensor = ENTRIES["where"].call(condition, a, b)
    return chosen


def searchsorted(x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """The places in the sorted `x1`, (n,), at which the elements of `x2` keep its order; int64."""
    if side not in ("left", "right"):
        raise messages.unknown_word("searchsorted", "side", "'left', 'right'", side)
    _, a, b = two_arrays("searchsorted", "real numeric", x1, x2)
    if isinstance(b, NUMBERS):
        b = as_array(b, a.dtype, a.device)
    if a.ndim != 1:
        raise messages.sizes_differ("searchsorted", a.ndim, 1)
    more = {} if sorter is None else {"sorter": sorter.to(int64)}
    positions: Tensor = ENTRIES["searchsorted"].call(unsigned.ordered(a), unsigned.ordered(b), side=side, **more)
    return positions


def isin(x1: Tensor | int, x2: Tensor | int, /, *, invert: builtins.bool = False) -> Tensor:
    """Whether each element of `x1` is among those of `x2`, or with `invert`, is not."""
    d, a, b = two_arrays("isin", "integer", x1, x2)
    device = (a if isinstance(a, Tensor) else b).device
    a, b = (as_array(v, d, device) if isinstance(v, NUMBERS) else v for v in (a, b))
    mask: Tensor = ENTRIES["isin"].call(unsigned.lifted(a), unsigned.lifted(b), invert=invert)
    return mask


# Sorting and sets


def sort(x: Tensor, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
    """The elements in order along an axis."""
    check("sort", "real numeric", x)
    along = one_axis("sort", axis, x.ndim)
    return x.sort(dim=along, descending=descending, stable=True)[0]


def argsort(x: Tensor, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> Tensor:
    """The places of the elements in their order along an axis; equal ones stay as they stand."""
    check("argsort", "real numeric", x)
    along = one_axis("argsort", axis, x.ndim)
    return x.sort(dim=along, descending=descending, stable=True)[1]


class UniqueAllResult(NamedTuple):
    """What `unique_all` gives."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` gives."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` gives."""

    values: Tensor
    inverse_indices: Tensor


def _unique(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Values, inverse indices in the shape of `x`, counts."""
    if x.dtype.kind == "c":  # they have no order: NumPy's, on the host
        unique = np.unique(x.numpy().ravel(), return_inverse=True, return_counts=True, equal_nan=False)
        values, inverse, counts = (ENTRIES["asarray"].call(a, device=x.device) for a in unique)
        return values, inverse.reshape(x.shape), counts
    values, inverse, counts = ENTRIES["unique"].call(x.reshape(-1), return_inverse=True, return_counts=True)
    return values, inverse.reshape(x.shape), counts


def unique_all(x: Tensor, /) -> UniqueAllResult:
    """The different elements, where each first stands, which of them each element is, how many."""
    values, inverse, counts = _unique(x)
    order = inverse.reshape(-1).sort(stable=True)[1]
    first = order[counts.cumsum(0).sub(counts)]
    return UniqueAllResult(values, first, inverse, counts)


def unique_counts(x: Tensor, /) -> UniqueCountsResult:
    """The different elements, and how many of each there are; each NaN is another."""
    values, _, counts = _unique(x)
    return UniqueCountsResult(values, counts)


def unique_inverse(x: Tensor, /) -> UniqueInverseResult:
    """The different elements, and which of them each element is; each NaN is another."""
    values, inverse, _ = _unique(x)
    return UniqueInverseResult(values, inverse)


def unique_values(x: Tensor, /) -> Tensor:
    """The different elements; each NaN is another."""
    return _unique(x)[0]
