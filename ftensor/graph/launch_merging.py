"""Merging of launch steps: one kernel runs several steps if no compute unit has to wait for
another.

A unit runs its steps in order, so it may read only values that it wrote itself. That holds for
steps of one unit, and for independent steps of any number of units. If a small single-unit step
feeds a step of many units, each unit repeats the small step in its own memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..execute.launch import Step
from ..iterator.shape import Ints
from ..kernels.skeletons.cpu.series import Member, SeriesKey, parameters_of, series_geometry

if TYPE_CHECKING:
    from ..runtime.backend import Backend

MOST_MEMBERS = 6
# The most members with the same kernel on other operands, as for a list of tensors.
MOST_ALIKE = 16
# The skeletons whose work any number of units can share.
SERVED = (
    "map", "rows", "reduce_inner", "reduce_outer", "gemm_direct", "gemm_pack", "gemm", "take",
    "fused_map", "fused_rows", "fused_reduce_inner", "fused_reduce_outer", "row_passes_inner",
    "row_passes_outer",
)  # fmt: skip


@dataclass
class _Group:
    """Steps to merge. `each` is True for a step that every unit runs for itself."""

    steps: list[Step]
    each: list[bool]

    @property
    def units(self) -> int:
        return max(s.units for s in self.steps)


class LaunchMerger:
    """Merges the steps of a launch with `operands` operands. `temporaries`: bytes of the launch's
    temporaries, which grow if units get copies. `whose`: equal entries are operands that share
    memory. `numbers`: the kernel numbers; those of steps that were not neighbours are appended
    again. `free_numbers`: indices of the numbers that each call passes."""

    def __init__(
        self,
        backend: Backend,
        operands: int,
        temporaries: list[int],
        whose: Sequence[object],
        numbers: list[Any],
        free_numbers: Collection[list[int]],
    ) -> None:
        self.inline = backend.target.inline_elements
        self.operands, self.temporaries, self.alias_of = operands, temporaries, whose
        self.numbers, self.free_numbers = numbers, free_numbers

    def merged(self, steps: Sequence[Step]) -> list[Step]:
        """Returns the steps, merged where possible."""
        groups: list[_Group] = []
        for step in steps:
            self._place_step(groups, step)
        return [self._step(g) if len(g.steps) > 1 else g.steps[0] for g in groups]

    def _place_step(self, groups: list[_Group], step: Step) -> None:
        needs = [k for k, g in enumerate(groups) if any(self._may_alias(s, step) for s in g.steps)]
        for k in range(needs[-1] if needs else 0, len(groups)):
            each = self._fusable(groups[k], step)
            if each is not None:
                groups[k].steps.append(step)
                groups[k].each = each
                return
        groups.append(_Group([step], [False]))

    def _memory(self, places: Sequence[int]) -> set[object]:
        return {self.alias_of[k] if k < self.operands else (None, k) for k in places}

    def _touched(self, step: Step) -> set[object]:
        return self._memory((*step.pointers, *step.after))

    def _written(self, step: Step) -> set[object]:
        return self._memory(step.written)

    def _may_alias(self, a: Step, b: Step) -> bool:
        ours, theirs = self._written(a), self._written(b)
        return bool(ours & self._touched(b) or theirs & self._touched(a))

    def _fusable(self, group: _Group, step: Step) -> list[bool] | None:
        """Returns `each` for the group with this step added; None if the step can't join the
        group."""
        steps = [*group.steps, step]
        if len(steps) > (MOST_ALIKE if _same_kernel(steps) else MOST_MEMBERS):
            return None
        if any(s.key.skeleton not in SERVED or s.work is None for s in steps):
            return None
        one = all(s.units == 1 for s in steps)
        each = [*group.each, False]
        if one or not any(self._may_alias(s, step) for s in group.steps):
            return each
        last = len(steps) - 1
        if not self._unit_local(steps, each, last):
            return None
        return each

    def _unit_local(self, steps: Sequence[Step], each: list[bool], k: int) -> bool:
        """True if each unit can compute all that step `k` reads from earlier steps. Marks those
        steps in `each`."""
        for j in range(k):
            written, other = self._written(steps[j]), self._written(steps[k])
            if other & self._touched(steps[j]):
                return False
            if not written & self._touched(steps[k]) or each[j]:
                continue
            own = all(place >= self.operands for place in steps[j].written)
            again = any(written & self._touched(s) for s in steps[:j])
            reads = [place for place in steps[j].pointers if place not in steps[j].written]
            twice = len(set(reads)) + len(set(steps[j].written)) != len(set(steps[j].pointers))
            large = steps[j].units > 1 or (steps[j].work or 0) > self.inline
            if not own or again or twice or large:
                return False
            each[j] = True
            if not self._unit_local(steps, each, j):
                return False
        return True

    def _step(self, group: _Group) -> Step:
        """Returns a group as one step."""
        steps = group.steps
        places = list(dict.fromkeys(p for s in steps for p in (*s.pointers, *s.after)))
        starts: dict[tuple[int | None, int], int] = {}
        members: list[Member] = []
        parts: list[Ints] = []
        wide: list[bool | None] = []
        for step, each in zip(steps, group.each, strict=True):
            offsets: list[int | None] = []
            for k, more in zip(step.offsets, step.moved or (0,) * len(step.offsets), strict=True):
                start = (k, more)
                here = None if start == (None, 0) else starts.setdefault(start, len(starts))
                offsets.append(here)
            count = 0 if step.numbers is False else _length(step.numbers)
            pointers = tuple([places.index(p) for p in (*step.pointers, *step.after)])
            members.append(Member(step.key, pointers, tuple(offsets), count, each))
            last = parameters_of(members[-1]).last
            if last is not None and last[0] == "*":
                wide.append("long" in last[1])
                parts.append(step.geometry)
            else:
                wide.append(None)
                parts.append(() if step.n is None else (step.n,))
        copied: list[int] = []
        if any(group.each):
            private = [p for s, each in zip(steps, group.each, strict=True) if each for p in s.written]
            copied = list(dict.fromkeys(places.index(p) for p in private))
        sizes = []
        for k in copied:
            slot = places[k] - self.operands
            sizes.append(-(-self.temporaries[slot] // 64) * 64)
        for k, size in zip(copied, sizes, strict=True):
            slot = places[k] - self.operands
            self.temporaries[slot] = max(self.temporaries[slot], size * group.units)
        table = series_geometry([s.units for s in steps], sizes, parts, wide)
        offsets_of = list(starts)
        ranges = [_range(s.numbers) for s in steps if s.numbers is not False]
        shared = _same_kernel(steps) and len({self._numbers_key(*part) for part in ranges}) == 1
        works = [s.work or 0 for s in steps]  # the calling thread waits as long as for each
        return Step(
            SeriesKey(tuple(members), tuple(copied), shared),
            group.units,
            tuple(places),
            tuple([k for k, _ in offsets_of]),
            tuple([more for _, more in offsets_of]),
            numbers=self._numbers_of(ranges[:1] if shared else ranges),
            geometry=table,
            work=sum(works) if _same_kernel(steps) else max(works),
        )

    def _numbers_key(self, begin: int, end: int) -> tuple[Any, ...]:
        """Returns a key that is equal for numbers with equal values and equal free numbers."""
        places = [tuple([at - begin for at in ats if begin <= at < end]) for ats in self.free_numbers]
        return (*map(repr, self.numbers[begin:end]), *places)

    def _numbers_of(self, each: Sequence[tuple[int, int]]) -> bool | tuple[int, int]:
        """Returns the range of the numbers of these parts. Appends copies of the numbers if the
        parts are not adjacent."""
        if not each:
            return False
        if any(a[1] != b[0] for a, b in pairwise(each)):
            begin = len(self.numbers)
            for a, b in each:
                for places in self.free_numbers:
                    places += [at - a + len(self.numbers) for at in places if a <= at < b]
                self.numbers += self.numbers[a:b]
            return begin, len(self.numbers)
        return each[0][0], each[-1][1]


def _same_kernel(steps: Sequence[Step]) -> bool:
    return all(s.key == steps[0].key for s in steps)


def _range(numbers: bool | tuple[int, int]) -> tuple[int, int]:
    assert isinstance(numbers, tuple), numbers
    return numbers


def _length(numbers: bool | tuple[int, int]) -> int:
    begin, end = _range(numbers)
    return end - begin
