"""Where extremes of rows are, on processors: the step of a reduction that tells places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dtypes import dtype
from ..iterator.reduce_plan import ReducePlan
from ..iterator.shape import Ints, numel
from ..kernels.select import units_for
from ..kernels.skeletons.cpu.extreme import ExtremeGeometry, extreme_key
from ..rows.op import Reduce
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
    """The step that folds rows which lie in line into `outs` (values, places, or places alone), in
    `splits` of which each has a result of its own; None where another kernel serves better.

    `plan` has the steps of results first; `written` are their operands and the input's.
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
    """Whether one unit does it in less time than several need to begin."""
    return step.work is not None and step.work < 2 * target.unit_elements
