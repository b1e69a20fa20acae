"""Hypothesis strategies for indices, described once and converted to torch's and ftensor's
tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

Ints = tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """One item of an index. `of_library` converts it with a library's `tensor(array)`."""

    kind: str
    value: Any = None

    def of_library(self, tensor: Any) -> Any:
        """Returns the item for a library."""
        if self.kind == "tensor":
            return tensor(self.value)
        if self.kind == "list":
            return self.value.tolist()
        return self.value


@dataclass(frozen=True)
class Case:
    """A tensor's layout in a larger storage, and an index for it."""

    shape: Ints
    strides: Ints
    offset: int
    items: tuple[Item, ...]
    alone: bool  # a single item is passed without a tuple

    def index(self, tensor: Any) -> Any:
        """Returns the index with a library's tensors."""
        items = tuple([item.of_library(tensor) for item in self.items])
        return items[0] if self.alone and len(items) == 1 else items


@st.composite
def _slices(draw: st.DrawFn) -> slice:
    bound = st.one_of(st.none(), st.integers(-6, 6))
    return slice(draw(bound), draw(bound), draw(st.one_of(st.none(), st.integers(1, 3))))


@st.composite
def _positions(draw: st.DrawFn, common: Ints, size: int) -> Item:
    """Draws an integer index for a dim of a size. Most are in range, and most shapes fit."""
    shape = common[draw(st.integers(0, len(common))) :]
    shape = tuple([1 if draw(st.integers(0, 4)) == 0 else n for n in shape])
    if draw(st.integers(0, 19)) == 0:
        shape = (*shape, 2)
    beyond = draw(st.integers(0, 14)) == 0
    low, high = (-size - 2, size + 1) if beyond else (-size, size - 1)
    count = int(np.prod(shape))
    if low > high:
        low, high = 0, 0
    values = draw(st.lists(st.integers(low, high), min_size=count, max_size=count))
    array = np.array(values, draw(st.sampled_from([np.int64, np.int64, np.int32]))).reshape(shape)
    if array.ndim > 1 and draw(st.booleans()):
        array = np.asfortranarray(array)
    if array.ndim and array.size and draw(st.integers(0, 3)) == 0:
        return Item("list", array)
    return Item("array" if array.ndim and draw(st.integers(0, 4)) == 0 else "tensor", array)


@st.composite
def _masks(draw: st.DrawFn, covered: Ints) -> Item:
    shape = covered
    if draw(st.integers(0, 14)) == 0:
        shape = tuple([n + 1 for n in covered])
    count = int(np.prod(shape))
    values = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    array = np.array(values, bool).reshape(shape)
    return Item("list" if array.ndim == 1 and draw(st.booleans()) and count else "tensor", array)


@st.composite
def cases(draw: st.DrawFn, expand: bool = False) -> Case:
    """Draws tensors of up to 4 dims and indices of every kind, most of which fit."""
    shape = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 2, 3, 3, 4]), max_size=4)))
    order = draw(st.permutations(range(len(shape))))
    strides = [0] * len(shape)
    step = draw(st.sampled_from([1, 1, 1, 2]))
    for dim in reversed(order if draw(st.booleans()) else range(len(shape))):
        strides[dim] = step
        step *= max(1, shape[dim])
        if expand and draw(st.integers(0, 9)) == 0:
            strides[dim] = 0
    common = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 2, 3]), max_size=2)))
    items: list[Item] = []
    at = 0
    for _ in range(draw(st.integers(1, 5))):
        left = shape[at:]
        kinds = ["int", "slice", "slice", "none", "dots", "bool", "mask", "ints", "ints", "ints"]
        kind = draw(st.sampled_from(kinds))
        if kind in ("int", "slice", "ints") and not left and draw(st.integers(0, 9)):
            kind = "none"
        size = left[0] if left else 2
        if kind == "int":
            wide = draw(st.integers(0, 14)) == 0
            low, high = (-size - 1, size) if wide or not size else (-size, size - 1)
            value = draw(st.integers(low, high))
            number = draw(st.sampled_from([value, np.int64(value)]))
            items.append(Item("int", number))
            at += 1
        elif kind == "slice":
            items.append(Item("slice", draw(_slices())))
            at += 1
        elif kind == "none":
            items.append(Item("none"))
        elif kind == "dots":
            if any(item.kind == "dots" for item in items):
                continue  # a second call depends on state other than the shape
            items.append(Item("dots", Ellipsis))
            at = max(at, len(shape) - draw(st.integers(0, 2)))
        elif kind == "bool":
            if draw(st.integers(0, 3)) == 0:
                value = draw(st.booleans())
                tensor = draw(st.booleans())
                items.append(Item("tensor", np.array(value)) if tensor else Item("bool", value))
        elif kind == "mask":
            covered = left[: draw(st.integers(1, 2))]
            if covered:
                items.append(draw(_masks(covered)))
                at += len(covered)
        else:
            items.append(draw(_positions(common, size)))
            at += 1
    offset = draw(st.integers(0, 5))
    return Case(shape, tuple(strides), offset, tuple(items), draw(st.booleans()))
