"""The kernel of one stage of a reduction: layout, lanes and splits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype
from ..iterator.plan import ReducePlan
from ..iterator.shape import Ints, numel
from ..kernels.key import LINEAR, KernelKey, Reduction, lanes_for
from ..kernels.select import FoldChoice, choose_fold, interleaves_rows, units_for
from ..kernels.skeletons.cpu.extreme import ExtremeGeometry, extreme_key
from ..rows.op import Reduce
from ..runtime.program import built
from .keys import Fields, fold_key
from .launch import Step

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.targets import Target


LEAST = 64  # elements of a row from which on a block is worth its beginning
AT_ONCE = 4  # elements that take as long as one of another reduction


def step(
    red: Reduce,
    backend: Backend,
    plan: ReducePlan,
    of: dtype,
    outs: tuple[dtype, ...],
    splits: int,
    written: Ints,
    starts: tuple[int | None, ...],
) -> Step | None:
    """Returns the step that folds contiguous rows to `outs` (values, positions or both), in
    `splits` parts with a result each; None if another kernel is better.

    `plan` has the strides of results first. `written` are the operands of results, then of the
    input.
    """
    if not (red.arg and backend.target.processor) or plan.reduced_strides != ((1,),):
        return None
    n, rows = plan.reduced[0], numel(plan.kept)
    smallest = "<" in red.beats
    key = extreme_key(of, outs[-1], backend.target, smallest, len(outs) > 1)
    if key is None or n < LEAST or outs[:-1] not in ((), (of,)):
        return None
    kept = plan.kept_strides
    g = ExtremeGeometry(n, splits, rows, plan.kept, kept[0], kept[-1])
    work = n * rows // AT_ONCE
    units = units_for(work, backend.units, backend.target, 1)
    return Step(key, min(units, g.items), written, starts, geometry=g.pack(), work=work)


def soon_done(step: Step, target: Target) -> bool:
    """True if one unit finishes the step in less time than several units need to start."""
    return step.work is not None and step.work < 2 * target.unit_elements


class ReduceStage:
    """Builds the step of one stage."""

    def __init__(self, red: Reduce, backend: Backend, compute: dtype, words: Reduction, places: list[int]) -> None:
        self.red, self.backend, self.compute, self.words = red, backend, compute, words
        self.places = places

    def _choose(self, plan: ReducePlan, dtypes: list[dtype], outs: Any, may_split: bool) -> Any:
        target = self.backend.target
        lanes = lanes_for(dtypes + [d for d, _ in outs], self.compute, target.lanes_bytes)
        n, most = len(outs), self.backend.units
        choice = choose_fold(plan, n, most, target, lanes, may_split)
        if target.is_board and not self._aligned(plan, n, dtypes, choice):
            lanes = 1  # a wide port would read the wrong data
            choice = choose_fold(plan, n, most, target, lanes, may_split)
        return lanes, choice

    def _aligned(self, plan: ReducePlan, n: int, dtypes: list[dtype], choice: Any, lanes: int = 0) -> bool:
        """True if all vectors that are read are aligned to 64 bytes, or to `lanes` elements.
        Results are written lane by lane."""
        across = choice.skeleton == "reduce_outer"
        kept = plan.kept[:-1] if across else plan.kept
        reduced = plan.reduced if across else plan.reduced[:-1]
        for k, d in enumerate(dtypes):
            if choice.kinds[n + k] != LINEAR:
                continue
            steps = [s for s, size in zip(plan.kept_strides[n + k], kept) if size > 1]
            steps += [s for s, size in zip(plan.reduced_strides[k], reduced) if size > 1]
            beat = lanes * d.itemsize or 64
            if self.places[k] or any(s * d.itemsize % beat for s in steps):
                return False
        return True

    def splits(self, plan: ReducePlan, dtypes: list[dtype], fields: Fields) -> int:
        """Returns the number of parts that the first of two stages cuts the reduced space into, so
        that every compute unit has work. Returns 1 if the first stage's kernel isn't built; images
        with it have the second's, too."""
        lanes, choice = self._choose(plan, dtypes, fields, True)
        key = self._fold_key(lanes, choice, dtypes, fields, names_of(fields), "first")
        splits: int = choice.splits
        return splits if splits > 1 and built(self.backend, key) else 1

    def build(
        self,
        plan: ReducePlan,
        dtypes: list[dtype],
        outs: Any,
        body: Sequence[str],
        stage: str,
        written: Ints,
        read: Ints,
    ) -> Step:
        """Returns this stage's step, from the operands `read` to the operands `written`."""
        key, choice = self._key(plan, dtypes, outs, body, stage)
        work = numel(plan.kept) * numel(plan.reduced)
        # States have offset 0 in their memory.
        starts: tuple[int | None, ...] = written if stage != "first" else (None,) * len(written)
        starts += read if stage != "second" else (None,) * len(read)
        return Step(key, choice.units, written + read, starts, geometry=choice.geometry, work=work)

    def _key(
        self, plan: ReducePlan, dtypes: list[dtype], outs: Any, body: Sequence[str], stage: str
    ) -> tuple[KernelKey, FoldChoice]:
        """Returns the kernel in the best layout that is built, and its launch parameters."""
        lanes, choice = self._choose(plan, dtypes, outs, stage == "first")
        key = self._fold_key(lanes, choice, dtypes, outs, body, stage)
        if built(self.backend, key):
            return key, choice
        for width, held in self._others(plan, dtypes, outs, lanes, choice, stage):
            other = self._fold_key(width, held, dtypes, outs, body, stage)
            if built(self.backend, other):
                return other, held
        return key, choice

    def _others(
        self, plan: ReducePlan, dtypes: list[dtype], outs: Any, lanes: int, choice: FoldChoice, stage: str
    ) -> Iterator[tuple[int, FoldChoice]]:
        """Yields (lanes, choice) of the other kernels that support the plan, the best first.

        Short rows at a constant distance are interleaved, at any alignment (hls/vitis/turns.h). An
        image may have fewer or more parallel states than is best for the rows, and narrower ports
        than a launch fills. The kernel for any strides is last.
        """
        target, most, n = self.backend.target, self.backend.units, len(outs)
        if target.realigns and target.is_board and stage == "whole":
            full = lanes_for(dtypes + [d for d, _ in outs], self.compute, target.lanes_bytes)
            rows = choose_fold(plan, n, most, target, full, False, row_wise=True)
            for vectors in _fewer(target.row_vectors[1]):
                if interleaves_rows(rows, n, full, vectors):
                    yield full, replace(rows, vectors=vectors)
        split, width = stage == "first", lanes
        while width > 1 or width == lanes:
            held = choice if width == lanes else choose_fold(plan, n, most, target, width, split)
            if not target.is_board or self._aligned(plan, n, dtypes, held, width):
                yield width, held
                if held.skeleton == "reduce_inner":
                    for k in _fewer(target.row_vectors[1]):
                        held = choose_fold(plan, n, most, target, width, split, beside=k)
                        yield width, replace(held, vectors=k)
                elif held.vectors > 1:
                    side = held.vectors
                    while side := side // 2:
                        yield width, choose_fold(plan, n, most, target, width, split, side=side)
            width //= 2
        yield 1, choose_fold(plan, n, most, target, 1, split, True)

    def _fold_key(
        self, lanes: int, choice: FoldChoice, dtypes: list[dtype], outs: Any, body: Sequence[str], stage: str
    ) -> KernelKey:
        return fold_key(
            self.red,
            stage,
            choice.skeleton,
            self.compute,
            lanes,
            self.words,
            outs,
            body,
            dtypes,
            choice.kinds,
            choice.vectors,
        )


def names_of(fields: Fields) -> tuple[str, ...]:
    return ("x", "i")[: len(fields)]


def _fewer(vectors: int) -> Iterator[int]:
    """Yields the numbers of parallel vectors that kernels have, the largest first."""
    while vectors:
        yield vectors
        vectors //= 2
