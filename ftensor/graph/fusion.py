"""Fusion: which nodes share a kernel, and the fused node that replaces them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..execute.launch import Launch, Step
from ..iterator.plan import Plan, Tile, coalesce, loop_order, tiled
from ..iterator.shape import Ints, numel
from ..kernels import fused, select
from ..kernels.element_function import element_function_of
from ..kernels.key import LINEAR, lanes_for
from ..kernels.skeletons.reduce import FoldGeometry
from .fusion_group import (
    MOST_OPERANDS,
    MOST_VALUES,
    ElementCall,
    FusedLoops,
    Program,
    fuse_bodies,
    live_calls,
    program,
    row_fits_cache,
)
from .ir import Graph, Node
from .loop_body import AffineAccess, Loop, LoopBody, loop_body_of, size, step_key
from .partition import as_dataflow

if TYPE_CHECKING:
    from ..runtime.backend import Backend


class _Rows:
    """Maps operands onto the loops of a fold, which its fusion group may have split."""

    def __init__(self, cluster: FusedLoops, fold: LoopBody) -> None:
        step = fold.node.launch.steps[0]
        g = fold.geometry
        assert g is not None
        inner = step.key.skeleton == "reduce_inner"
        kept = g.kept_shape if inner else (*g.kept_shape, g.inner)
        self.loops = cluster.loops
        # Each kept loop: (size, index in the group's loops, index in the fold's loops, step there).
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

    def place(self, p: AffineAccess) -> tuple[Ints, Ints]:
        """Returns an access's strides in the kept loops, and in the folded loops."""
        kept = tuple([0 if k is None else p.strides[k] for _, k, _, _ in self.kept])
        folded = iter([s for s, loop in zip(p.strides, self.loops, strict=True) if loop.folded])
        return kept, tuple([0 if n == 1 else next(folded) for n in self.reduced])

    def own(self, step: Step, k: int) -> tuple[Ints, Ints]:
        """Returns the strides of operand `k` of one of the fold's own steps, as `place` does."""
        g = FoldGeometry.unpack(step.geometry)
        inner = step.key.skeleton == "reduce_inner"
        kept = g.kept_strides[k] if inner else (*g.kept_strides[k], g.steps[k])
        reduced = (*g.strides[k], g.steps[k]) if inner else g.strides[k]
        return tuple([kept[at] * by for _, _, at, by in self.kept]), reduced

    def geometry(self, step: Step, operands: Sequence[tuple[Ints, Ints]]) -> FoldGeometry:
        """Returns the geometry of a fold's step for operands with these strides."""
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


def passes_step(
    cluster: FusedLoops, whole: Program, places: Sequence[AffineAccess], outputs: int, backend: Backend
) -> Step:
    """Returns one step that runs folds and elementwise bodies pass by pass. On a processor the
    number of units that share the rows grows with the work of the whole program."""
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


def fold_steps(
    cluster: FusedLoops, stored: Sequence[AffineAccess]
) -> tuple[Program, list[AffineAccess], list[Step], Ints]:
    """Returns the steps of one fold with its producers and its epilogue: (the program, the accesses
    of the operands, one or two steps, the bytes of the partial results between two steps)."""
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
    cut, whole = (replace(fold, unit=element_function_of(step_key(s))) for s in (first, last))
    states = [AffineAccess(-1 - k, 0, p.dtype, ()) for k, p in enumerate(step_key(first).outs)]
    partial = tuple([p.memory for p in states])
    one = program([*cluster.calls[:at], ElementCall(cut, call.takes, partial)], partial)
    then = ElementCall(whole, tuple(states), call.gives)
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
    rows: _Rows,
    step: Step,
    of: Program,
    places: Sequence[AffineAccess],
    states: Sequence[AffineAccess],
    outputs: int,
    begin: int,
) -> Step:
    """Returns a step of a fold with a program's operands. Without `outputs` the step writes the
    states."""
    writes = [*states] if states and not outputs else [*places[:outputs]]
    operands = [*writes, *of.inputs]
    own = {p: k for k, p in enumerate(states)}
    count = len(step_key(step).outs) if outputs else 0
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
    """Returns strides in the loops of a step. The second of two stages folds a single loop."""
    words = step_key(step).reduction
    if words is None or words.stage != "second":
        return strides
    g = FoldGeometry.unpack(step.geometry)
    count = len(g.shape) + (step.key.skeleton == "reduce_inner")
    return strides[0], (0,) * count


def emit_node(cluster: FusedLoops, stored: Sequence[AffineAccess], backend: Backend) -> Node | None:
    """Returns the fusion group as one node that stores the values at the accesses `stored`; None if
    no kernel computes all of them."""
    node = _emit_node(cluster, stored, backend)
    most = MOST_OPERANDS if cluster.folds else fused.MAX_OPERANDS
    return None if node is None or len(node.operands) > most else node


def _emit_node(cluster: FusedLoops, stored: Sequence[AffineAccess], backend: Backend) -> Node | None:
    rows = all(p.of_row(cluster.loops) for p in stored)
    folds, wanted = cluster.folds, [cluster.outputs[p] for p in stored]
    if len(folds) > sum(c.point.folds for c in live_calls(cluster.calls, wanted)):
        return None  # a later write replaces the result of a fold
    if not folds:
        whole = program(cluster.calls, wanted)
        places = [*stored, *whole.inputs]
        steps = _map_steps(whole, cluster.loops, places, len(stored), backend)
        return _node(cluster, whole, places, steps)
    if len(folds) == 1 and rows:
        return _node(cluster, *fold_steps(cluster, stored))
    if not (cluster.passes and all(row_fits_cache(fold) for fold in folds)):
        return None
    whole = program(cluster.calls, wanted)
    places = [*stored, *whole.inputs]
    step = passes_step(cluster, whole, places, len(stored), backend)
    return _node(cluster, whole, places, [step])


def _node(
    cluster: FusedLoops, whole: Program, places: Sequence[AffineAccess], steps: Sequence[Step], temporaries: Ints = ()
) -> Node:
    launch = Launch(tuple(steps), len(places), numbers=tuple(whole.rounded), temporaries=temporaries)
    regions = tuple([p.region(cluster.loops) for p in places])
    parts = tuple([point.node.origin for point in cluster.points])
    return Node(launch, regions, tuple(whole.numbers), parts[-1], parts)


def _map_steps(
    whole: Program, loops: Sequence[Loop], places: Sequence[AffineAccess], outputs: int, backend: Backend
) -> list[Step]:
    """Returns the steps of an elementwise program."""
    target = backend.target
    shape = tuple([loop.size for loop in loops])
    strides = [p.strides for p in places]
    sizes, steps = coalesce(shape, strides, loop_order(shape, strides))
    dtypes = [p.dtype for p in places]
    widest = max([c.unit.compute for c in whole.calls], key=lambda d: (d.is_complex, d.itemsize))
    lanes = lanes_for(dtypes, widest, target.lanes_bytes)
    parts = tiled(sizes, steps) if target.processor else [Tile(sizes, steps, None)]
    pointers, map_steps = tuple(range(len(places))), []
    each = whole.additions if target.processor else 1
    for piece in parts:
        sizes, steps = piece.shape, piece.strides
        if target.processor:
            sizes, steps = select.long_rows(sizes, steps, lanes)
        choice = select.choose_map(sizes, steps, backend.units, target, lanes, each)
        key = whole.key(f"fused_{choice.skeleton}", lanes, dtypes, choice.kinds, outputs)
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


class FusionGroup:
    """Nodes that share a kernel; `cluster` is None for a node that can't be fused."""

    def __init__(self, nodes: list[Node], cluster: FusedLoops | None) -> None:
        self.nodes, self.cluster = nodes, cluster

    def conflicts_with(self, other: FusionGroup) -> bool:
        return any(a.conflicts_with(b) for a in self.nodes for b in other.nodes)


def fuse_graph(graph: Graph, backend: Backend, passes: bool | None = None) -> Graph:
    """Returns the graph with fusable nodes replaced by one kernel each. `passes`: several folds
    over the same rows may share a kernel; by default if the target's compute unit is more than one
    work-item."""
    if backend.built_ahead:
        return as_dataflow(graph, backend)  # a board's kernels are built ahead
    if passes is None:
        passes = backend.target.grid != "stride"
    groups: list[FusionGroup] = []
    for node in graph.nodes:
        _join(groups, node, passes)
    needed = {k for k, m in enumerate(graph.memories) if not m.own}
    needed |= {f.region.memory for f in graph.result_tensors}
    return replace(graph, nodes=tuple(_nodes_of_all(groups, needed, backend)))


def _nodes_of_all(groups: Sequence[FusionGroup], needed: set[int], backend: Backend) -> list[Node]:
    """Returns the nodes of all groups. Groups store the memories `needed` and those that other
    groups access."""
    nodes: list[Node] = []
    for k, group in enumerate(groups):
        others = [n for j, g in enumerate(groups) if j != k for n in g.nodes]
        nodes += _nodes_of(group, needed | {m for n in others for m in n.touched}, backend)
    return nodes


def _nodes_of(group: FusionGroup, touched: set[int], backend: Backend) -> list[Node]:
    """Returns the nodes of a group: one kernel if a kernel can compute the whole group."""
    cluster = group.cluster
    if cluster is None or len(group.nodes) == 1:
        return group.nodes
    stored = [p for p in cluster.outputs if p.memory in touched]
    if not stored:
        return []
    node = emit_node(cluster, stored, backend)
    if node is not None:
        return [node]
    # With fewer operands, and if that was tried, without folds.
    apart = _fuse_nodes(group.nodes, cluster.passes, cluster.most > MOST_OPERANDS)
    if len(apart) == 1:
        apart = _fuse_nodes(group.nodes, cluster.passes, False)
    # a tensor that a kernel reads several times counts each time for that kernel
    if len(apart) == 1:
        half = len(group.nodes) // 2
        halves = group.nodes[:half], group.nodes[half:]
        apart = [one for nodes in halves for one in _fuse_nodes(nodes, cluster.passes, False)]
    return _nodes_of_all(apart, touched, backend)


def _fuse_nodes(nodes: Sequence[Node], passes: bool, folds: bool) -> list[FusionGroup]:
    groups: list[FusionGroup] = []
    for node in nodes:
        _join(groups, node, passes, folds, MOST_OPERANDS)
    return groups


def _join(groups: list[FusionGroup], node: Node, passes: bool, folds: bool = True, most: int = MOST_VALUES) -> None:
    """Adds a node to a group that it can be fused with, else to a new group at the end."""
    point = loop_body_of(node)
    single = FusionGroup([node], None)
    alone = point is None or (point.folds and not folds)
    if alone or point is None or select.needs_split(_plan(point)):
        groups.append(single)
        return
    before = [k for k, g in enumerate(groups) if g.conflicts_with(single)]
    last = before[-1] if before else 0
    # A group that runs after all producers of the node.
    for k in range(len(groups) - 1, last - 1, -1):
        if _with_node(groups[k], point, node):
            _merge_groups(groups, k, before)
            return
    # Or behind all, with what can wait that long.
    for k in before[::-1]:
        group = groups[k]
        if not any(group.conflicts_with(g) for g in groups[k + 1 :]) and _with_node(group, point, node):
            groups.append(groups.pop(k))
            _merge_groups(groups, len(groups) - 1, [b - (b > k) for b in before if b != k])
            return
    single.cluster = FusedLoops(point if point.folds else None, passes, most).with_point(point)
    groups.append(single)


def _with_node(group: FusionGroup, point: LoopBody, node: Node) -> bool:
    cluster = group.cluster and group.cluster.with_point(point)
    if not cluster:
        return False
    group.cluster = cluster
    group.nodes.append(node)
    return True


def _merge_groups(groups: list[FusionGroup], at: int, before: Sequence[int]) -> None:
    """Merges earlier fusion groups into group `at` where no group between depends on them."""
    for k in sorted([b for b in before if b < at], reverse=True):
        group, mine = groups[k], groups[at]
        if group.cluster is None or any(group.conflicts_with(g) for g in groups[k + 1 : at]):
            continue
        assert mine.cluster is not None
        points = [*group.cluster.points, *mine.cluster.points]
        whole = fuse_bodies(points, mine.cluster.passes, mine.cluster.most)
        if whole is not None:
            mine.cluster, mine.nodes = whole, [*group.nodes, *mine.nodes]
            del groups[k]
            at -= 1


def _plan(point: LoopBody) -> Plan:
    places: tuple[AffineAccess, ...] = (*point.outs, *point.ins)
    shape = tuple([loop.size for loop in point.loops])
    return Plan(shape, tuple([p.strides for p in places]), shape, ())
