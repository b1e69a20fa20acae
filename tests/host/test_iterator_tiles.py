"""Tiles visit every element once, with the matching part of each operand."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ftensor.iterator.plan import LONG, TILE, tiled
from ftensor.iterator.shape import numel

from .. import geometry


def elements(piece):
    """Returns the offsets of the operands' elements in a tile, in loop order."""
    moved = piece.moved or (0,) * len(piece.strides)
    visited = geometry.visited(piece.shape, piece.strides)
    return [tuple(at + m for at, m in zip(place, moved)) for place in visited]


@settings(deadline=None)
@given(
    st.permutations(range(3)),
    st.tuples(
        st.integers(1, 3),
        st.sampled_from((TILE - 1, TILE, TILE + 1, 3 * TILE - 1)),
        st.sampled_from((LONG - 1, LONG, LONG + 1, LONG + TILE - 1)),
    ),
    st.integers(1, 5),
)
def test_every_element_once(order, shape, gap):
    rows = [1] * 3
    for dim in (1, 0):
        rows[dim] = rows[dim + 1] * shape[dim + 1]
    other, step = [0] * 3, gap
    for dim in order:  # adjacent elements of the first operand are `gap` apart
        other[dim] = step
        step *= shape[dim]
    strides = (tuple(rows), tuple(other), (0, 1, 0))
    pieces = tiled(shape, strides)
    assert sum(numel(p.shape) for p in pieces) == numel(shape)
    places = sorted(place for p in pieces for place in elements(p))
    assert places == sorted(geometry.visited(shape, strides))


def test_loops_that_gain_from_tiles():
    n = 4 * LONG
    turned = ((n, 1), (1, n))
    assert [p.shape for p in tiled((n, n), turned)] == [(n // TILE, n // TILE, TILE, TILE)]
    for shape, strides in (
        ((n,), ((1,), (n,))),  # a single dim
        ((n, TILE), turned),  # rows so short that their cache lines stay cached
        ((TILE - 1, n), turned),  # no full tile
        ((n, n), ((n, 1), (n, 2))),  # all operands are contiguous in the same dim
        ((n, n), ((n, 1), (0, n))),  # no operand is contiguous in any dim
    ):
        (only,) = tiled(shape, strides)
        assert only == (shape, strides, None)
