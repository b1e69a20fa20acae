"""The steps of clusters with folds: one fold with what goes into it and comes of it, or several in
passes over the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..execute.launch import Step
from ..iterator.shape import Ints
from ..kernels import select
from ..kernels.key import LINEAR
from ..kernels.skeletons.reduce_geometry import FoldGeometry
from ..kernels.unit import unit_of
from .cluster import Cluster, PointCall
from .point import Place, Point, key_of, size
from .program import Program, program

if TYPE_CHECKING:
    from ..runtime.backend import Backend


class _Rows:
    """How operands go in the loops of a fold, which a cluster may have split."""

    def __init__(self, cluster: Cluster, fold: Point) -> None:
        step = fold.node.launch.steps[0]
        g = fold.geometry
        assert g is not None
        inner = step.key.skeleton == "reduce_inner"
        kept = g.kept_shape if inner else (*g.kept_shape, g.inner)
        self.loops = cluster.loops
        # Of each kept loop: its size, which of the cluster's, which of the fold's, its step there.
        self.kept: list[tuple[int, int | None, int, int]] = []
        used = 0
        for at, count in enumerate(kept):
            if count == 1:
                self.kept.append((1, None, at, 1))
                continue
            for k, (d, by) in enumerate(cluster.splits):
                if d == used:
                    self.kept.append((cluster.loops[k].size, k, at, by))
            used += 1
        self.reduced = (*g.shape, g.inner) if inner else g.shape

    def place(self, p: Place) -> tuple[Ints, Ints]:
        """A place's strides: in the kept loops, and in those that are folded."""
        kept = tuple([0 if k is None else p.strides[k] for _, k, _, _ in self.kept])
        folded = iter([s for s, loop in zip(p.strides, self.loops, strict=True) if loop.folded])
        return kept, tuple([0 if n == 1 else next(folded) for n in self.reduced])

    def own(self, step: Step, k: int) -> tuple[Ints, Ints]:
        """Those of operand k of one of the fold's own steps."""
        g = FoldGeometry.unpack(step.geometry)
        inner = step.key.skeleton == "reduce_inner"
        kept = g.kept_strides[k] if inner else (*g.kept_strides[k], g.steps[k])
        reduced = (*g.strides[k], g.steps[k]) if inner else g.strides[k]
        return tuple([kept[at] * by for _, _, at, by in self.kept]), reduced

    def geometry(self, step: Step, operands: Sequence[tuple[Ints, Ints]]) -> FoldGeometry:
        """The geometry of such a step with these operands."""
        g = FoldGeometry.unpack(step.geometry)
        sizes = tuple([of[0] for of in self.kept])
        kept, reduced = zip(*operands, strict=True)
        if step.key.skeleton == "reduce_inner":
            return replace(
                g,
                kept_shape=sizes,
                kept_strides=kept,
                strides=tuple([r[:-1] for r in reduced]),
                steps=tuple([r[-1] for r in reduced]),
            )
        return replace(
            g,
            kept_shape=sizes[:-1],
            kept_strides=tuple([k[:-1] for k in kept]),
            strides=reduced,
            steps=tuple([k[-1] for k in kept]),
        )


def passes_step(cluster: Cluster, whole: Program, places: Sequence[Place], outputs: int, backend: Backend) -> Step:
    """The step of folds and elements, pass by pass; rows are shared by as many units as what is
    computed in them deserves.
    """
    fold = cluster.folds[0]
    step, rows = fold.node.launch.steps[0], _Rows(cluster, fold)
    geometry = rows.geometry(step, [rows.place(p) for p in places])
    kinds = [select.kind_of(s) for s in geometry.steps]
    per_row = tuple([k for k, p in enumerate(places) if p.of_row(cluster.loops)])
    skeleton = step.key.skeleton.replace("reduce", "row_passes")
    dtypes = [p.dtype for p in places]
    key = whole.key(skeleton, step.key.lanes, dtypes, kinds, outputs, per_row)
    pointers = tuple(range(len(places)))
    work, target, units = size(cluster.loops), backend.target, step.units
    if target.processor:
        deserved = select.units_for(work * whole.additions, backend.units, target, 1)
        units = max(units, min(geometry.items, deserved))
    return Step(key, units, pointers, pointers, numbers=bool(whole.numbers), geometry=geometry.pack(), work=work)


def fold_steps(cluster: Cluster, stored: Sequence[Place]) -> tuple[Program, list[Place], list[Step], Ints]:
    """One fold, of what is computed where it reads, and what is computed of its results: the whole
    program, the operands' places, one step or two, and the bytes between these."""
    (fold,) = cluster.folds
    at = next(k for k, c in enumerate(cluster.calls) if c.point is fold)
    call, rows = cluster.calls[at], _Rows(cluster, fold)
    wanted = [cluster.outputs[p] for p in stored]
    if fold.stages == 1:
        all_ = program(cluster.calls, wanted)
        places = [*stored, *all_.inputs]
        step = _fold_step(rows, fold.node.launch.steps[0], all_, places, [], len(stored), 0)
        return all_, places, [step], ()
    first, last = fold.node.launch.steps
    cut, whole = (replace(fold, unit=unit_of(key_of(s))) for s in (first, last))
    states = [Place(-1 - k, 0, p.dtype, ()) for k, p in enumerate(key_of(first).outs)]
    partial = tuple([p.memory for p in states])
    one = program([*cluster.calls[:at], PointCall(cut, call.takes, partial)], partial)
    then = PointCall(whole, tuple(states), call.gives)
    two = program([then, *cluster.calls[at + 1 :]], wanted)
    inputs = [p for p in two.inputs if p not in states]
    places = list(dict.fromkeys([*stored, *one.inputs, *inputs]))
    steps = [
        _fold_step(rows, first, one, places, states, 0, 0),
        _fold_step(rows, last, two, places, states, len(stored), one.arguments),
    ]
    one.numbers += two.numbers
    one.rounded += two.rounded
    return one, places, steps, fold.node.launch.temporaries


def _fold_step(
    rows: _Rows, step: Step, of: Program, places: Sequence[Place], states: Sequence[Place], outputs: int, begin: int
) -> Step:
    """A step of a fold with a program's operands; without `outputs` it writes the states."""
    writes = [*states] if states and not outputs else [*places[:outputs]]
    operands = [*writes, *of.inputs]
    own = {p: k for k, p in enumerate(states)}
    count = len(key_of(step).outs) if outputs else 0
    walks = [rows.own(step, count + own[p]) if p in own else _of_stage(rows.place(p), step) for p in operands]
    geometry = rows.geometry(step, walks)
    inner = step.key.skeleton == "reduce_inner"
    kinds = [LINEAR if inner and k < len(writes) else select.kind_of(s) for k, s in enumerate(geometry.steps)]
    dtypes = [p.dtype for p in operands]
    skeleton = f"fused_{step.key.skeleton}"
    key = of.key(skeleton, step.key.lanes, dtypes, kinds, len(writes))
    pointers = tuple([len(places) + own[p] if p in own else places.index(p) for p in operands])
    offsets = tuple([None if k >= len(places) else k for k in pointers])
    numbers = (begin, begin + of.arguments) if of.numbers else False
    return Step(key, step.units, pointers, offsets, numbers=numbers, geometry=geometry.pack(), work=step.work)


def _of_stage(strides: tuple[Ints, Ints], step: Step) -> tuple[Ints, Ints]:
    """Strides in the loops of a step: what the second of two stages folds is one loop."""
    words = key_of(step).reduction
    if words is None or words.stage != "second":
        return strides
    g = FoldGeometry.unpack(step.geometry)
    count = len(g.shape) + (step.key.skeleton == "reduce_inner")
    return strides[0], (0,) * count
