"""A cluster as one node: its program, and the kernel that computes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype
from ..execute.launch import Launch, Step
from ..iterator.plan import coalesce
from ..iterator.shape import Ints, numel
from ..iterator.stride import loop_order
from ..iterator.tiles import Piece, tiled
from ..kernels import costs, fused, select
from ..kernels.fused import Call, FusedKey
from ..kernels.key import LINEAR, Port, lanes_for
from ..kernels.skeletons.reduce_geometry import FoldGeometry
from ..kernels.unit import unit_of
from .cluster import MOST_OPERANDS, Cluster, PointCall, near
from .node import Node
from .point import Loop, Place, Point, key_of, size

if TYPE_CHECKING:
    from ..runtime.backend import Backend


@dataclass
class Program:
    """Calls with the numbers of values and of Python numbers, from inputs to what is stored."""

    inputs: list[Place]
    calls: list[Call]
    gives: Ints
    numbers: list[Any]
    rounded: list[dtype]
    passed: list[dtype]  # what each number is passed as

    @property
    def name(self) -> str:
        """Of the kernel: some of what it computes."""
        names = dict.fromkeys(call.unit.name.removesuffix("_whole") for call in self.calls)
        return "_".join(list(names)[:3])


def _needed(calls: Sequence[PointCall], wanted: Sequence[int]) -> list[PointCall]:
    alive, kept = set(wanted), []
    for call in reversed(calls):
        if alive & set(call.gives):
            alive |= {t for t in call.takes if isinstance(t, int)}
            kept.append(call)
    return kept[::-1]


def program(calls: Sequence[PointCall], wanted: Sequence[int]) -> Program:
    """The program of the calls that some results need."""
    kept = _needed(calls, wanted)
    inputs = list(dict.fromkeys(t for c in kept for t in c.takes if isinstance(t, Place)))
    value: dict[Place | int, int] = {p: k for k, p in enumerate(inputs)}
    whole = Program(inputs, [], (), [], [], [])
    count = len(inputs)
    for c in kept:
        unit, first = c.point.unit, len(whole.numbers)
        takes = tuple([value[t] for t in c.takes])
        whole.calls.append(Call(unit, takes, tuple(range(first, first + unit.numbers))))
        whole.numbers += c.point.numbers
        whole.rounded += c.point.rounded
        whole.passed += [unit.passed] * unit.numbers
        for k, result in enumerate(c.gives):
            value[result] = count + k
        count += len(c.gives)
    whole.gives = tuple([value[k] for k in wanted])
    return whole


def emitted(cluster: Cluster, stored: Sequence[Place], backend: Backend) -> Node | None:
    """The cluster as one node that stores what was written at these places; None where no kernel
    computes all of that."""
    node = _emitted(cluster, stored, backend)
    most = MOST_OPERANDS if cluster.folds else fused.MOST_OPERANDS
    return None if node is None or len(node.operands) > most else node


def _emitted(cluster: Cluster, stored: Sequence[Place], backend: Backend) -> Node | None:
    rows = all(p.of_row(cluster.loops) for p in stored)
    folds, wanted = cluster.folds, [cluster.outputs[p] for p in stored]
    if len(folds) > sum(c.point.folds for c in _needed(cluster.calls, wanted)):
        return None  # what a fold gives is written over
    if not folds:
        whole = program(cluster.calls, wanted)
        places = [*stored, *whole.inputs]
        steps = _map_steps(whole, cluster.loops, places, len(stored), backend)
        return _node(cluster, whole, places, steps)
    if len(folds) == 1 and rows:
        return _fold_node(cluster, stored)
    if not (cluster.passes and all(near(fold) for fold in folds)):
        return None
    whole = program(cluster.calls, wanted)
    places = [*stored, *whole.inputs]
    step = _passes_step(cluster, whole, places, len(stored), backend)
    return _node(cluster, whole, places, [step])


def _node(
    cluster: Cluster, whole: Program, places: Sequence[Place], steps: Sequence[Step], temporaries: Ints = ()
) -> Node:
    launch = Launch(tuple(steps), len(places), numbers=tuple(whole.rounded), temporaries=temporaries)
    regions = tuple([p.region(cluster.loops) for p in places])
    parts = tuple([point.node.origin for point in cluster.points])
    return Node(launch, regions, tuple(whole.numbers), parts[-1], parts)


def _map_steps(
    whole: Program, loops: Sequence[Loop], places: Sequence[Place], outputs: int, backend: Backend
) -> list[Step]:
    """The steps of elements alone."""
    target = backend.target
    shape = tuple([loop.size for loop in loops])
    strides = [p.strides for p in places]
    sizes, steps = coalesce(shape, strides, loop_order(shape, strides))
    dtypes = [p.dtype for p in places]
    widest = max([c.unit.compute for c in whole.calls], key=lambda d: (d.is_complex, d.itemsize))
    lanes = lanes_for(dtypes, widest, target.lanes_bytes)
    parts = tiled(sizes, steps) if target.processor else [Piece(sizes, steps, None)]
    pointers, map_steps = tuple(range(len(places))), []
    each = _additions(whole) if target.processor else 1
    for piece in parts:
        sizes, steps = piece.shape, piece.strides
        if target.processor:
            sizes, steps = select.long_rows(sizes, steps, lanes)
        choice = select.choose_map(sizes, steps, backend.units, target, lanes, each)
        key = _key(f"fused_{choice.skeleton}", lanes, whole, dtypes, choice.kinds, outputs)
        geometry = choice.geometry
        map_steps.append(
            Step(
                key,
                choice.units,
                pointers,
                pointers,
                piece.moved,
                bool(whole.numbers),
                n=choice.n if geometry is None else None,
                geometry=geometry or (),
                work=numel(sizes),
            )
        )
    return map_steps


def _additions(whole: Program) -> int:
    """About how many additions take as long as a program does for an element."""
    units = [c.unit for c in whole.calls]
    return costs.additions([t for u in units for t in (*u.body, *[text for _, text in u.lets])])


def _key(
    skeleton: str,
    lanes: int,
    whole: Program,
    dtypes: Sequence[dtype],
    kinds: Sequence[str],
    outputs: int,
    per_row: Ints = (),
) -> FusedKey:
    ports = tuple([Port(d, kind) for d, kind in zip(dtypes, kinds, strict=True)])
    return FusedKey(
        whole.name,
        skeleton,
        lanes,
        ports[:outputs],
        ports[outputs:],
        tuple(whole.calls),
        whole.gives,
        tuple(whole.passed),
        per_row,
    )


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


def _passes_step(cluster: Cluster, whole: Program, places: Sequence[Place], outputs: int, backend: Backend) -> Step:
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
    key = _key(skeleton, step.key.lanes, whole, dtypes, kinds, outputs, per_row)
    pointers = tuple(range(len(places)))
    work, target, units = size(cluster.loops), backend.target, step.units
    if target.processor:
        deserved = select.units_for(work * _additions(whole), backend.units, target, 1)
        units = max(units, min(geometry.items, deserved))
    return Step(key, units, pointers, pointers, numbers=bool(whole.numbers), geometry=geometry.pack(), work=work)


def _fold_node(cluster: Cluster, stored: Sequence[Place]) -> Node:
    """One fold, of what is computed where it reads, and what is computed of its results."""
    (fold,) = cluster.folds
    at = next(k for k, c in enumerate(cluster.calls) if c.point is fold)
    call, rows = cluster.calls[at], _Rows(cluster, fold)
    wanted = [cluster.outputs[p] for p in stored]
    if fold.stages == 1:
        all_ = program(cluster.calls, wanted)
        places = [*stored, *all_.inputs]
        step = _fold_step(rows, fold.node.launch.steps[0], all_, places, [], len(stored), 0)
        return _node(cluster, all_, places, [step])
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
        _fold_step(rows, last, two, places, states, len(stored), _passed(one)),
    ]
    one.numbers += two.numbers
    one.rounded += two.rounded
    return _node(cluster, one, places, steps, fold.node.launch.temporaries)


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
    key = _key(skeleton, step.key.lanes, of, dtypes, kinds, len(writes))
    pointers = tuple([len(places) + own[p] if p in own else places.index(p) for p in operands])
    offsets = tuple([None if k >= len(places) else k for k in pointers])
    numbers = (begin, begin + _passed(of)) if of.numbers else False
    return Step(key, step.units, pointers, offsets, numbers=numbers, geometry=geometry.pack(), work=step.work)


def _of_stage(strides: tuple[Ints, Ints], step: Step) -> tuple[Ints, Ints]:
    """Strides in the loops of a step: what the second of two stages folds is one loop."""
    words = key_of(step).reduction
    if words is None or words.stage != "second":
        return strides
    g = FoldGeometry.unpack(step.geometry)
    count = len(g.shape) + (step.key.skeleton == "reduce_inner")
    return strides[0], (0,) * count


def _passed(of: Program) -> int:
    """How many arguments a program's numbers are."""
    return sum(2 if d.is_complex else 1 for d in of.passed)
