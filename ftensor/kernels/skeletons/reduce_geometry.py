"""What a launch of a fold is told: the kept dims, the folded ones, and how they are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ..geometry import Geometry, Many
from ..work import Ints

TURNED = 64  # vectors of a row, at most, where rows take turns


@dataclass(frozen=True)
class FoldGeometry(Geometry):
    """What a launch is told. Strides and `steps` are per operand, outputs first; `steps` are those
    of the dim that the lanes lie along: reduced (reduce_inner) or kept (reduce_outer). Strides of
    outputs in reduced dims are 0; `results` is the step from one split's to the next."""

    splits: int
    items: int
    inner: int
    chunk: int
    chunks: int
    work: int
    results: int
    kept_shape: Annotated[Ints, Many("kept")]
    kept_strides: Annotated[tuple[Ints, ...], Many("operands", "kept", packed=False)]
    shape: Annotated[Ints, Many("reduced")]
    strides: Annotated[tuple[Ints, ...], Many("operands", "reduced", packed=False)]
    steps: Annotated[Ints, Many("operands", packed=False)]

    def turns(self, lanes: int, vectors: int) -> bool:
        """Whether rows are short and lie at one distance from each other, so that a kernel along
        rows takes one piece of each in turn (hls/vitis/turns.h)."""
        # Turns read a beat here and one there; beyond, with states side by side, a row's own loops
        # are filled sooner.
        limit = TURNED // (1 + (vectors > 1)) * lanes
        plain = len(self.kept_shape) == 1 and not self.shape and self.splits == self.chunks == 1
        return plain and lanes > 1 and 0 < self.inner <= limit

    def work_of(self, split: int) -> tuple[int, int]:
        """The part of the work that a split folds."""
        return self.work * split // self.splits, self.work * (split + 1) // self.splits
