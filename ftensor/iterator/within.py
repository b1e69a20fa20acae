"""The elements of one tensor in two orders of loops: how the one's are those of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .shape import Ints

Split = tuple[int, int]
"""A loop as a part of a dim: (the dim, how many of its elements one step is)."""


class Same(NamedTuple):
    """Loops that two nests of loops have in common: their sizes, and what each is of both."""

    shape: Ints
    first: tuple[Split, ...]
    second: tuple[Split, ...]


def same_elements(shape: Ints, strides: Ints, other_shape: Ints, other_strides: Ints) -> Same | None:
    """The loops in which both nests visit the elements of one tensor, which they see with these
    strides and from the same first element, at the same time; None where there are none.

    Nests that differ must visit each element once, by steps above 0. `first` and `second` say which
    part of a dim of the first and of the second nest each loop is.
    """
    if shape == other_shape and strides == other_strides:
        each = tuple([(d, 1) for d in range(len(shape))])
        return Same(shape, each, each)
    left, right = _by_stride(shape, strides), _by_stride(other_shape, other_strides)
    if any(dim[0] <= 0 for dim in left + right):
        return None
    sizes: list[int] = []
    first: list[Split] = []
    second: list[Split] = []
    # From the closest elements outwards: the dims of both, and what is left of these.
    a = b = (0, 0, 0, 1)  # stride, dim, elements left, elements a step
    while True:
        if a[2] < 2:
            a = left.pop() if left else (0, 0, 1, 1)
        if b[2] < 2:
            b = right.pop() if right else (0, 0, 1, 1)
        if a[2] < 2 and b[2] < 2 and not left and not right:
            break
        if a[0] != b[0]:
            return None
        size = min(a[2], b[2])
        if size < 2 or a[2] % size or b[2] % size:
            return None
        sizes.append(size)
        first.append((a[1], a[3]))
        second.append((b[1], b[3]))
        a = (a[0] * size, a[1], a[2] // size, a[3] * size)
        b = (b[0] * size, b[1], b[2] // size, b[3] * size)
    return Same(tuple(sizes[::-1]), tuple(first[::-1]), tuple(second[::-1]))


def _by_stride(shape: Ints, strides: Ints) -> list[tuple[int, int, int, int]]:
    """The dims of more than one element: (stride, dim, size, 1), the closest elements' last."""
    dims = [(s, d, n, 1) for d, (n, s) in enumerate(zip(shape, strides, strict=True)) if n > 1]
    return sorted(dims, key=lambda dim: -dim[0])


def in_loops(strides: Ints, split: Sequence[Split]) -> Ints:
    """An operand's strides in the loops that its dims are split into."""
    return tuple([strides[dim] * step for dim, step in split])
