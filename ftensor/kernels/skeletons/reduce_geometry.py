"""What a launch of a fold is told: the kept dims, the folded ones, and how they are cut."""

from __future__ import annotations

from typing import NamedTuple

from ..work import Ints, cut


class FoldGeometry(NamedTuple):
    """What a launch is told. Strides and `steps` are per operand, outputs first; `steps` are those
    of the dim that the lanes lie along: reduced (reduce_inner) or kept (reduce_outer)."""

    splits: int
    items: int
    inner: int
    chunk: int
    chunks: int
    work: int
    results: int
    kept_shape: Ints
    kept_strides: tuple[Ints, ...]
    shape: Ints
    strides: tuple[Ints, ...]
    steps: Ints

    def pack(self) -> Ints:
        """The numbers that the kernel gets."""
        return (
            len(self.kept_shape), len(self.shape), self.splits, self.items, self.inner, self.chunk,
            self.chunks, self.work, self.results, *self.kept_shape,
            *(n for s in self.kept_strides for n in s), *self.shape,
            *(n for s in self.strides for n in s), *self.steps,
        )  # fmt: skip

    @classmethod
    def read(cls, g: Ints) -> FoldGeometry:
        """From the numbers that the kernel gets."""
        kept, reduced = g[0], g[1]
        operands = (len(g) - 9 - kept - reduced) // (kept + reduced + 1)
        at = 9 + kept
        kept_strides = tuple(cut(g[at:], kept, operands))
        at += kept * operands
        shape = g[at : at + reduced]
        at += reduced
        strides = tuple(cut(g[at:], reduced, operands))
        steps = g[at + reduced * operands :]
        splits, items, inner, chunk, chunks, work, results = g[2:9]
        return cls(
            splits, items, inner, chunk, chunks, work, results, g[9 : 9 + kept], kept_strides,
            shape, strides, steps,
        )  # fmt: skip

    def turns(self, lanes: int, vectors: int) -> bool:
        """Whether rows are short and lie at one distance from each other, so that a kernel along
        rows takes one piece of each in turn (hls/vitis/turns.h)."""
        # Turns read a beat here and one there; beyond, with states side by side, a row's own loops
        # are filled sooner.
        limit = self.chunk // 2 if vectors > 1 else self.chunk
        plain = len(self.kept_shape) == 1 and not self.shape and self.splits == self.chunks == 1
        return plain and lanes > 1 and 0 < self.inner <= limit

    def work_of(self, split: int) -> tuple[int, int]:
        """The part of the work that a split folds."""
        return self.work * split // self.splits, self.work * (split + 1) // self.splits
