"""Hypothesis strategies for shapes and memory layouts, and the elements that a loop nest visits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

Ints = tuple[int, ...]
Geometry = tuple[Ints, Ints]

sizes = st.sampled_from([0, 1, 1, 2, 2, 3, 3, 4, 5])
positive_sizes = st.sampled_from([1, 1, 2, 2, 3, 3, 4, 5])


def shapes(max_dims: int = 5, empty: bool = True) -> st.SearchStrategy[Ints]:
    """Draws shapes of few elements, including sizes 0 and 1."""
    each = st.lists(sizes if empty else positive_sizes, max_size=max_dims)
    images = st.tuples(*[positive_sizes] * 4)  # where channels-last exists
    return st.one_of(each.map(tuple), images) if max_dims >= 4 else each.map(tuple)


@st.composite
def strides_of(draw: st.DrawFn, shape: Ints, expand: bool = True, gaps: bool = True) -> Ints:
    """Draws non-negative strides for a shape: any order, gaps, expanded dims, unusual ones for size
    1.

    Elements never share memory unless expanded.
    """
    orders = [tuple(range(len(shape)))]
    if len(shape) >= 3:
        orders.append((0, *range(2, len(shape)), 1))  # channels last
    order = draw(st.one_of(st.sampled_from(orders), st.permutations(range(len(shape)))))
    plain = draw(st.booleans())  # at least half of the cases have no gaps
    strides = [0] * len(shape)
    step = 1
    for dim in reversed(order):
        if not plain and gaps and draw(st.integers(0, 3)) == 0:
            step *= draw(st.integers(2, 3))
        strides[dim] = step
        step *= max(shape[dim], 1)
        if expand and not plain and draw(st.integers(0, 4)) == 0:
            strides[dim] = 0
        if shape[dim] == 1 and draw(st.integers(0, 3)) == 0:
            strides[dim] = draw(st.integers(0, 7))
    return tuple(strides)


@st.composite
def geometries(draw: st.DrawFn, max_dims: int = 5, empty: bool = True, expand: bool = True) -> Geometry:
    """Draws a shape with strides."""
    shape = draw(shapes(max_dims, empty))
    return shape, draw(strides_of(shape, expand))


@st.composite
def broadcastable(draw: st.DrawFn, count: int, max_dims: int = 5) -> list[Geometry]:
    """Draws operands that broadcast together, often of one shape and often of one layout."""
    shape = draw(shapes(max_dims))
    operands: list[Geometry] = []
    for _ in range(count):
        kind = draw(st.sampled_from(["same", "twin", "stretched", "scalar"]))
        if kind == "twin" and operands:
            operands.append(operands[-1])
            continue
        own = shape
        if kind == "stretched":
            own = tuple(1 if draw(st.integers(0, 2)) == 0 else n for n in shape)
            own = own[draw(st.integers(0, len(own))) :]
        elif kind == "scalar":
            own = ()
        operands.append((own, draw(strides_of(own))))
    return operands


def indices(shape: Ints) -> Iterator[Ints]:
    """Yields all indices of a shape in logical order."""
    return itertools.product(*(range(n) for n in shape))


def offset(index: Ints, strides: Sequence[int]) -> int:
    return sum(i * s for i, s in zip(index, strides, strict=True))


def visited(shape: Ints, strides: Sequence[Ints]) -> list[Ints]:
    """Returns the operands' offsets at every step of a loop nest."""
    return [tuple(offset(i, s) for s in strides) for i in indices(shape)]


def stretched(shape: Ints, strides: Ints, to_shape: Ints) -> Ints:
    """Returns the broadcast strides: 0 wherever the operand lacks the dim or has one element."""
    lead = len(to_shape) - len(shape)
    return tuple(strides[i - lead] if i >= lead and shape[i - lead] == to_shape[i] else 0 for i in range(len(to_shape)))
