"""Indexing with ints, slices, None and Ellipsis: the layout of the view, without tensors."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ...errors import view as errors_view
from .layout import Ints, Layout, slice_dim

LARGEST = 2**63 - 1


def basic_index(shape: Ints, strides: Ints, offset: int, items: Sequence[Any]) -> Layout:
    """The layout of `tensor[items]`; sizes, strides and offset in elements.

    Anything with `__index__` counts as an int. bool and tensor indices with dims are no views
    and must not get here. IndexError for what is out of bounds or too much, ValueError for a
    step that is not positive.
    """
    ndim = len(shape)
    used = sum(1 for item in items if item is not None and item is not Ellipsis)
    if used > ndim:
        raise errors_view.too_many_indices(used, ndim)
    sizes: list[int] = []
    steps: list[int] = []
    at = 0  # the dim that the next item is about
    for item in items:
        if item is Ellipsis:
            # torch lets a second ... count its dims again; only a dim wanted after it is an error
            skip = at + ndim - used
            sizes += shape[at:skip]
            steps += strides[at:skip]
            at = skip
            continue
        if isinstance(item, slice) and item.start is item.stop is item.step is None:
            sizes += shape[at : at + 1]
            steps += strides[at : at + 1]
            at += 1
            continue
        if at > ndim or (at == ndim and item is not None):
            raise errors_view.index_after_ellipsis(ndim)
        if item is None:
            sizes.append(1)
            steps.append(shape[at] * strides[at] if at < ndim else 1)
        elif isinstance(item, slice):
            start, stop, step = slice_bounds(item)
            size, stride, offset = slice_dim(shape[at : at + 1], strides[at : at + 1], offset, 0, start, stop, step)
            if stride[0] > LARGEST:
                raise errors_view.size_overflow(stride)
            sizes += size
            steps += stride
            at += 1
        else:
            index, size_at = as_index(item), shape[at]
            if not -size_at <= index < size_at:
                raise errors_view.index_out_of_bounds(index, at, size_at)
            offset += (index + size_at if index < 0 else index) * strides[at]
            at += 1
    return (*sizes, *shape[at:]), (*steps, *strides[at:]), offset


def slice_bounds(item: slice) -> tuple[int, int, int]:
    """start, stop, step of a slice as ints, before they meet a size."""
    step = 1 if item.step is None else _bound(item.step)
    if step <= 0:
        raise errors_view.slice_step(step)
    start = 0 if item.start is None else _bound(item.start)
    stop = LARGEST if item.stop is None else _bound(item.stop)
    return start, stop, step


def _bound(value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise errors_view.slice_bound(value) from None


def as_index(item: Any) -> int:
    """An item that stands for one int."""
    if type(item) is int:
        return item
    try:
        return operator.index(item)
    except TypeError:
        raise errors_view.not_an_index(item) from None
