"""Loops in tiles: one operand's neighbours lie along the last dim, another's along an outer one.

Row by row, each element of the second lies in a cache line of its own, which is gone when the next
row wants its neighbour; in tiles a line is used whole. The tiles follow the second operand's lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .shape import Ints

# Rows and columns of a tile, in elements: what a cache line holds of most dtypes.
TILE = 16
# The lines of a shorter row stay in a CPU's first cache until the next row.
LONG = 128
# Neighbours so far apart at most share a line, and from so many elements on they share none.
NEAR, FAR = 4, 16


class Piece(NamedTuple):
    """Some of a plan's elements: their loops, and each operand's first one (None: where it is)."""

    shape: Ints
    strides: tuple[Ints, ...]
    moved: Ints | None


def tiled(shape: Ints, strides: Sequence[Ints]) -> list[Piece]:
    """The loops in tiles, and what is left beside them; as they are where tiles gain nothing.

    Every element is in exactly one piece.
    """
    dim = _turned(shape, strides)
    if dim is None:
        return [Piece(shape, tuple(strides), None)]
    *outer, columns = shape
    rows = outer.pop(dim)
    own = [(*s[:dim], *s[dim + 1 : -1]) for s in strides]
    across, along = [s[dim] for s in strides], [s[-1] for s in strides]
    high, wide = rows - rows % TILE, columns - columns % TILE
    pieces = [
        Piece(
            (*outer, wide // TILE, high // TILE, TILE, TILE),
            tuple((*s, TILE * b, TILE * a, a, b) for s, a, b in zip(own, across, along)),
            None,
        )
    ]
    turned = tuple((*s, a, b) for s, a, b in zip(own, across, along))
    if high < rows:
        below = tuple(high * a for a in across)
        pieces.append(Piece((*outer, rows - high, wide), turned, below))
    if wide < columns:
        right = tuple(wide * b for b in along)
        pieces.append(Piece((*outer, rows, columns - wide), turned, right))
    return pieces


def _turned(shape: Ints, strides: Sequence[Ints]) -> int | None:
    """The outer dim along which an operand's neighbours lie, if its rows are long."""
    if shape[-1] < LONG:
        return None
    for steps in strides:
        if abs(steps[-1]) >= FAR:
            for dim, (size, step) in enumerate(zip(shape[:-1], steps)):
                if size >= TILE and 0 < abs(step) <= NEAR:
                    return dim
    return None
