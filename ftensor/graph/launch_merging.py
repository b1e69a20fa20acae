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
from ..kernels.skeletons.cpu.merged_launch import MergedKernel, MergedLaunchKey, merged_geometry, parameters_of

if TYPE_CHECKING:
    from ..runtime.backend import Backend

MAX_MEMBERS = 6
# The most steps with one kernel and different operands, as for a list of tensors.
MAX_SAME_KERNEL = 16
# Skeletons whose work any number of units can share.
MERGEABLE_SKELETONS = (
    "map", "rows", "reduce_inner", "reduce_outer", "gemm_direct", "gemm_pack", "gemm", "take",
    "fused_map", "fused_rows", "fused_reduce_inner", "fused_reduce_outer", "row_passes_inner",
    "row_passes_outer",
)  # fmt: skip


@dataclass
class _Group:
    """Steps to merge. `per_unit` is, for each step, True if every unit runs the whole step."""

    steps: list[Step]
    per_unit: list[bool]

    @property
    def units(self) -> int:
        return max(s.units for s in self.steps)


class LaunchMerger:
    """Merges the steps of a launch with `operands` operands. `temporaries`: bytes of the launch's
    temporaries, which grow if units get copies. `alias_of`: equal entries are operands that share
    memory. `scalars`: the kernels' scalar arguments; for steps that were not neighbours, copies are
    appended. `dynamic_scalars`: indices of the numbers that each call passes."""

    def __init__(
        self,
        backend: Backend,
        operands: int,
        temporaries: list[int],
        alias_of: Sequence[object],
        scalars: list[Any],
        dynamic_scalars: Collection[list[int]],
    ) -> None:
        self.max_inline_elements = backend.target.inline_elements
        self.operands, self.temporaries, self.alias_of = operands, temporaries, alias_of
        self.scalars, self.dynamic_scalars = scalars, dynamic_scalars

    def merge(self, steps: Sequence[Step]) -> list[Step]:
        """Returns the steps, merged where possible."""
        groups: list[_Group] = []
        for step in steps:
            self._place_step(groups, step)
        return [self._merge_group(g) if len(g.steps) > 1 else g.steps[0] for g in groups]

    def _place_step(self, groups: list[_Group], step: Step) -> None:
        dependencies = [k for k, g in enumerate(groups) if any(self._may_alias(s, step) for s in g.steps)]
        for k in range(dependencies[-1] if dependencies else 0, len(groups)):
            per_unit = self._fusable(groups[k], step)
            if per_unit is not None:
                groups[k].steps.append(step)
                groups[k].per_unit = per_unit
                return
        groups.append(_Group([step], [False]))

    def _memories_of(self, operands: Sequence[int]) -> set[object]:
        return {self.alias_of[k] if k < self.operands else (None, k) for k in operands}

    def _touched(self, step: Step) -> set[object]:
        return self._memories_of((*step.pointers, *step.after))

    def _written(self, step: Step) -> set[object]:
        return self._memories_of(step.written)

    def _may_alias(self, a: Step, b: Step) -> bool:
        written_by_a, written_by_b = self._written(a), self._written(b)
        return bool(written_by_a & self._touched(b) or written_by_b & self._touched(a))

    def _fusable(self, group: _Group, step: Step) -> list[bool] | None:
        """Returns the `per_unit` of the group after this step is added; None if the step can't join
        the group."""
        steps = [*group.steps, step]
        if len(steps) > (MAX_SAME_KERNEL if _same_kernel(steps) else MAX_MEMBERS):
            return None
        if any(s.key.skeleton not in MERGEABLE_SKELETONS or s.work is None for s in steps):
            return None
        single_units = all(s.units == 1 for s in steps)
        per_unit = [*group.per_unit, False]
        if single_units or not any(self._may_alias(s, step) for s in group.steps):
            return per_unit
        last = len(steps) - 1
        if not self._is_unit_local(steps, per_unit, last):
            return None
        return per_unit

    def _is_unit_local(self, steps: Sequence[Step], per_unit: list[bool], k: int) -> bool:
        """True if each unit can itself compute everything that step `k` reads from earlier steps.
        Marks those steps in `per_unit`."""
        for j in range(k):
            written, overwritten = self._written(steps[j]), self._written(steps[k])
            if overwritten & self._touched(steps[j]):
                return False
            if not written & self._touched(steps[k]) or per_unit[j]:
                continue
            writes_temporaries = all(operand >= self.operands for operand in steps[j].written)
            used_before = any(written & self._touched(s) for s in steps[:j])
            reads = [operand for operand in steps[j].pointers if operand not in steps[j].written]
            repeats_operand = len(set(reads)) + len(set(steps[j].written)) != len(set(steps[j].pointers))
            is_large = steps[j].units > 1 or (steps[j].work or 0) > self.max_inline_elements
            if not writes_temporaries or used_before or repeats_operand or is_large:
                return False
            per_unit[j] = True
            if not self._is_unit_local(steps, per_unit, j):
                return False
        return True

    def _merge_group(self, group: _Group) -> Step:
        """Returns one step that launches the kernels of a group as one merged kernel."""
        steps = group.steps
        operands = list(dict.fromkeys(p for s in steps for p in (*s.pointers, *s.after)))
        starts: dict[tuple[int | None, int], int] = {}
        members: list[MergedKernel] = []
        geometries: list[Ints] = []
        is_long: list[bool | None] = []
        for step, per_unit in zip(steps, group.per_unit, strict=True):
            offsets: list[int | None] = []
            for k, extra in zip(step.offsets, step.moved or (0,) * len(step.offsets), strict=True):
                start = (k, extra)
                position = None if start == (None, 0) else starts.setdefault(start, len(starts))
                offsets.append(position)
            count = 0 if step.scalars is False else _length(step.scalars)
            pointers = tuple([operands.index(p) for p in (*step.pointers, *step.after)])
            members.append(MergedKernel(step.key, pointers, tuple(offsets), count, per_unit))
            last = parameters_of(members[-1]).last
            if last is not None and last[0] == "*":
                is_long.append("long" in last[1])
                geometries.append(step.geometry)
            else:
                is_long.append(None)
                geometries.append(() if step.n is None else (step.n,))
        private_indices: list[int] = []
        if any(group.per_unit):
            private_operands = [
                p for s, per_unit in zip(steps, group.per_unit, strict=True) if per_unit for p in s.written
            ]
            private_indices = list(dict.fromkeys(operands.index(p) for p in private_operands))
        sizes = []
        for k in private_indices:
            slot = operands[k] - self.operands
            sizes.append(-(-self.temporaries[slot] // 64) * 64)
        for k, size in zip(private_indices, sizes, strict=True):
            slot = operands[k] - self.operands
            self.temporaries[slot] = max(self.temporaries[slot], size * group.units)
        table = merged_geometry([s.units for s in steps], sizes, geometries, is_long)
        offsets_of = list(starts)
        ranges = [_range(s.scalars) for s in steps if s.scalars is not False]
        shares_scalars = _same_kernel(steps) and len({self._scalars_key(*span) for span in ranges}) == 1
        works = [s.work or 0 for s in steps]  # the limit of work in the calling thread is the sum of the steps' limits
        return Step(
            MergedLaunchKey(tuple(members), tuple(private_indices), shares_scalars),
            group.units,
            tuple(operands),
            tuple([k for k, _ in offsets_of]),
            tuple([extra for _, extra in offsets_of]),
            scalars=self._scalars_of(ranges[:1] if shares_scalars else ranges),
            geometry=table,
            work=sum(works) if _same_kernel(steps) else max(works),
        )

    def _scalars_key(self, begin: int, end: int) -> tuple[Any, ...]:
        """Returns a key that is equal for numbers with equal values and equal dynamic scalars."""
        free_positions = [
            tuple([position - begin for position in positions if begin <= position < end])
            for positions in self.dynamic_scalars
        ]
        return (*map(repr, self.scalars[begin:end]), *free_positions)

    def _scalars_of(self, ranges: Sequence[tuple[int, int]]) -> bool | tuple[int, int]:
        """Returns the range of scalar arguments that covers `ranges`, False if there are none. If
        the ranges are not adjacent, copies of the scalars are appended to make them so."""
        if not ranges:
            return False
        if any(a[1] != b[0] for a, b in pairwise(ranges)):
            begin = len(self.scalars)
            for a, b in ranges:
                for positions in self.dynamic_scalars:
                    positions += [position - a + len(self.scalars) for position in positions if a <= position < b]
                self.scalars += self.scalars[a:b]
            return begin, len(self.scalars)
        return ranges[0][0], ranges[-1][1]


def _same_kernel(steps: Sequence[Step]) -> bool:
    return all(s.key == steps[0].key for s in steps)


def _range(scalars: bool | tuple[int, int]) -> tuple[int, int]:
    assert isinstance(scalars, tuple), scalars
    return scalars


def _length(scalars: bool | tuple[int, int]) -> int:
    begin, end = _range(scalars)
    return end - begin
