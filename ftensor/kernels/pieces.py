"""Rows that go through lanes in pieces (hls/vitis/pieces.h), counted for the performance model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..iterator.stride import contiguous_strides
from .source import constant


def _looked_up(low: np.ndarray, high: np.ndarray) -> tuple[int, int]:
    """(steps, beats read) of pieces that lie in these beats: as `ft_look` goes."""
    before = np.concatenate([[-1], low[:-1]]), np.concatenate([[-1], high[:-1]])
    has_low = (low == before[0]) | (low == before[1])
    has_high = (high == before[0]) | (high == before[1]) | (high == low)
    two = ~has_low & (high != low)
    reads = (~has_low).sum() + (two | (has_low & ~has_high)).sum()
    return len(low) + int(two.sum()), int(reads)


class Pieces(NamedTuple):
    """A unit's part of rows that are no whole beats (hls/vitis/pieces.h): `elements` of the
    results, from `first` on."""

    first: int
    elements: int
    inner: int
    lanes: int
    shape: tuple[int, ...]  # of the rows

    def where(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each piece's row, its first column, its elements."""
        first, last = self.first, self.first + self.elements
        rows = np.arange(first // self.inner, -(-last // self.inner))
        columns = np.arange(0, self.inner, self.lanes)
        begin = np.where(rows == first // self.inner, first % self.inner, 0)
        end = np.minimum(self.inner, last - rows * self.inner)
        at = begin[:, None] + columns
        inside = at < end[:, None]
        sizes = np.minimum(self.lanes, end[:, None] - at)
        return np.broadcast_to(rows[:, None], at.shape)[inside], at[inside], sizes[inside]

    def steps(self, strides: tuple[int, ...], step: int) -> tuple[int, int]:
        """(steps, beats read) for an operand: as `ft_look` goes, from a beat's beginning on."""
        rows, columns, sizes = self.where()
        at = columns * step
        for n, stride in zip(self.shape[::-1], strides[::-1]):
            at, rows = at + rows % n * stride, rows // n
        return _looked_up(at // self.lanes, (at + (sizes - 1) * step) // self.lanes)

    def in_line(self, strides: tuple[int, ...], step: int) -> bool:
        """Whether an operand's rows follow each other, so that all beats are one burst."""
        return step == 1 and (*strides, 1) == contiguous_strides((*self.shape, self.inner))


class Turns(NamedTuple):
    """A unit's part of short rows that are folded in turns (hls/vitis/turns.h): rows [begin, end),
    `inner` elements of each, `stride` elements apart."""

    begin: int
    end: int
    inner: int
    stride: int
    lanes: int

    @classmethod
    def of(cls, g: Any, k: int, begin: int, end: int, lanes: int) -> Turns:
        """Those of operand k in a reduction's geometry."""
        return cls(begin, end, g.inner, g.kept_strides[k][0], lanes)

    @property
    def in_line(self) -> bool:
        """Whether all is one burst: a piece is a row, and they follow each other."""
        return self.inner <= self.lanes and self.stride == self.inner

    def looked_up(self) -> tuple[int, int]:
        """(steps, beats read), from a beat's beginning on."""
        among = constant("vitis/turns.h", "FT_TURNS")
        rows, pieces = np.arange(self.end - self.begin), np.arange(-(-self.inner // self.lanes))
        # Blocks of rows, in these all first pieces, then all second ones.
        row, piece = (x.ravel() for x in np.meshgrid(rows, pieces, indexing="ij"))
        order = np.lexsort((row, piece, row // among))
        row, piece = row[order], piece[order]
        at = (self.begin + row) * self.stride + piece * self.lanes
        sizes = np.minimum(self.lanes, self.inner - piece * self.lanes)
        return _looked_up(at // self.lanes, (at + sizes - 1) // self.lanes)

    def steps(self) -> int:
        """Steps in which the pieces are brought together."""
        return self.looked_up()[0]

    def reads(self) -> int:
        """Beats that are read."""
        return self.looked_up()[1]
