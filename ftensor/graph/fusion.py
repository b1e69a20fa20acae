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
    MAX_GROUP_OPERANDS,
    MAX_GROUP_VALUES,
    CallSequence,
    ElementCall,
    FusedLoopNest,
    call_sequence,
    fuse_bodies,
    live_calls,
    row_fits_cache,
)
from .ir import Graph, Node
from .loop_body import AffineAccess, Loop, LoopBody, iteration_count, loop_body_of, step_key
from .partition import as_dataflow

if TYPE_CHECKING:
    from ..runtime.backend import Backend


class _FoldLoops:
    """Maps operands onto the loops of a fold, which its fusion group may have split."""

    def __init__(self, group: FusedLoopNest, fold: LoopBody) -> None:
        step = fold.node.launch.steps[0]
        g = fold.geometry
        assert g is not None
        inner = step.key.skeleton == "reduce_inner"
        kept = g.kept_shape if inner else (*g.kept_shape, g.inner)
        self.loops = group.loops
        # Each kept loop: (size, index in the group's loops, index in the fold's loops, step there).
        self.kept: list[tuple[int, int | None, int, int]] = []
        used = 0
        for index, count in enumerate(kept):
            if count == 1:
                self.kept.append((1, None, index, 1))
                continue
            for k, (d, by) in enumerate(group.splits):
                if d == used:
                    self.kept.append((group.loops[k].size, k, index, by))
            used += 1
        self.reduced = (*g.shape, g.inner) if inner else g.shape

    def access_strides(self, p: AffineAccess) -> tuple[Ints, Ints]:
        """Returns an access's strides in the kept loops, and in the folded loops."""
        kept = tuple([0 if k is None else p.strides[k] for _, k, _, _ in self.kept])
        folded = iter([s for s, loop in zip(p.strides, self.loops, strict=True) if loop.folded])
        return kept, tuple([0 if n == 1 else next(folded) for n in self.reduced])

    def step_strides(self, step: Step, k: int) -> tuple[Ints, Ints]:
        """Returns the strides of operand `k` of one of the fold's own steps, as `access_strides`
        does."""
        g = FoldGeometry.unpack(step.geometry)
        inner = step.key.skeleton == "reduce_inner"
        kept = g.kept_strides[k] if inner else (*g.kept_strides[k], g.inner_strides[k])
        reduced = (*g.strides[k], g.inner_strides[k]) if inner else g.strides[k]
        return tuple([kept[at] * by for _, _, at, by in self.kept]), reduced

    def geometry(self, step: Step, operands: Sequence[tuple[Ints, Ints]]) -> FoldGeometry:
        """Returns the geometry buffer of a fold's step for operands with these strides."""
        g = FoldGeometry.unpack(step.geometry)
        sizes = tuple([loop[0] for loop in self.kept])
        kept, reduced = zip(*operands, strict=True)
        if step.key.skeleton == "reduce_inner":
            return replace(
                g,
                kept_shape=sizes,
                kept_strides=kept,
                strides=tuple([r[:-1] for r in reduced]),
                inner_strides=tuple([r[-1] for r in reduced]),
            )
        return replace(
            g,
            kept_shape=sizes[:-1],
            kept_strides=tuple([k[:-1] for k in kept]),
            strides=reduced,
            inner_strides=tuple([k[-1] for k in kept]),
        )


def passes_step(
    group: FusedLoopNest, program: CallSequence, accesses: Sequence[AffineAccess], outputs: int, backend: Backend
) -> Step:
    """Returns one step that runs folds and elementwise bodies pass by pass. On a CPU the number of
    units that share the rows grows with the work of the whole program."""
    fold = group.folds[0]
    step, rows = fold.node.launch.steps[0], _FoldLoops(group, fold)
    geometry = rows.geometry(step, [rows.access_strides(p) for p in accesses])
    kinds = [select.access_kind(s) for s in geometry.inner_strides]
    per_row = tuple([k for k, p in enumerate(accesses) if p.is_row_invariant(group.loops)])
    skeleton = step.key.skeleton.replace("reduce", "row_passes")
    dtypes = [p.dtype for p in accesses]
    key = program.key(skeleton, step.key.lanes, dtypes, kinds, outputs, per_row)
    pointers = tuple(range(len(accesses)))
    work, target, units = iteration_count(group.loops), backend.target, step.units
    if target.processor:
        wanted_units = select.compute_units(work * program.cost_in_additions, backend.units, target, 1)
        units = max(units, min(geometry.items, wanted_units))
    return Step(key, units, pointers, pointers, scalars=bool(program.scalars), geometry=geometry.pack(), work=work)


def fold_steps(
    group: FusedLoopNest, stored: Sequence[AffineAccess]
) -> tuple[CallSequence, list[AffineAccess], list[Step], Ints]:
    """Returns the steps of one fold with its producers and its epilogue: (the program, the accesses
    of the operands, one or two steps, the bytes of the partial results between two steps)."""
    (fold,) = group.folds
    index = next(k for k, c in enumerate(group.calls) if c.body is fold)
    call, rows = group.calls[index], _FoldLoops(group, fold)
    results = [group.outputs[p] for p in stored]
    if fold.step_count == 1:
        single = call_sequence(group.calls, results)
        accesses = [*stored, *single.inputs]
        step = _fold_step(rows, fold.node.launch.steps[0], single, accesses, [], len(stored), 0)
        return single, accesses, [step], ()
    first, last = fold.node.launch.steps
    first_fold, last_fold = (replace(fold, function=element_function_of(step_key(s))) for s in (first, last))
    states = [AffineAccess(-1 - k, 0, p.dtype, ()) for k, p in enumerate(step_key(first).outs)]
    partial = tuple([p.memory for p in states])
    first_program = call_sequence([*group.calls[:index], ElementCall(first_fold, call.operands, partial)], partial)
    last_call = ElementCall(last_fold, tuple(states), call.results)
    last_program = call_sequence([last_call, *group.calls[index + 1 :]], results)
    inputs = [p for p in last_program.inputs if p not in states]
    accesses = list(dict.fromkeys([*stored, *first_program.inputs, *inputs]))
    steps = [
        _fold_step(rows, first, first_program, accesses, states, 0, 0),
        _fold_step(rows, last, last_program, accesses, states, len(stored), first_program.scalar_count),
    ]
    first_program.scalars += last_program.scalars
    first_program.scalar_dtypes += last_program.scalar_dtypes
    return first_program, accesses, steps, fold.node.launch.temporaries


def _fold_step(
    rows: _FoldLoops,
    step: Step,
    program: CallSequence,
    accesses: Sequence[AffineAccess],
    states: Sequence[AffineAccess],
    outputs: int,
    begin: int,
) -> Step:
    """Returns a step of a fold, for the operands of the program. Without `outputs` the step writes
    the states."""
    writes = [*states] if states and not outputs else [*accesses[:outputs]]
    operands = [*writes, *program.inputs]
    state_index = {p: k for k, p in enumerate(states)}
    count = len(step_key(step).outs) if outputs else 0
    strides = [
        rows.step_strides(step, count + state_index[p])
        if p in state_index
        else _stage_strides(rows.access_strides(p), step)
        for p in operands
    ]
    geometry = rows.geometry(step, strides)
    inner = step.key.skeleton == "reduce_inner"
    kinds = [
        LINEAR if inner and k < len(writes) else select.access_kind(s) for k, s in enumerate(geometry.inner_strides)
    ]
    dtypes = [p.dtype for p in operands]
    skeleton = f"fused_{step.key.skeleton}"
    key = program.key(skeleton, step.key.lanes, dtypes, kinds, len(writes))
    pointers = tuple([len(accesses) + state_index[p] if p in state_index else accesses.index(p) for p in operands])
    offsets = tuple([None if k >= len(accesses) else k for k in pointers])
    scalars = (begin, begin + program.scalar_count) if program.scalars else False
    return Step(key, step.units, pointers, offsets, scalars=scalars, geometry=geometry.pack(), work=step.work)


def _stage_strides(strides: tuple[Ints, Ints], step: Step) -> tuple[Ints, Ints]:
    """Returns the strides of an operand's access as the loops of `step` need them: (kept, folded).

    The second kernel of a two-stage fold folds the partial sums of the first one. These are not
    elements of the operand, so its folded strides are 0.
    """
    words = step_key(step).reduction
    if words is None or words.stage != "second":
        return strides
    g = FoldGeometry.unpack(step.geometry)
    count = len(g.shape) + (step.key.skeleton == "reduce_inner")
    return strides[0], (0,) * count


def emit_node(group: FusedLoopNest, stored: Sequence[AffineAccess], backend: Backend) -> Node | None:
    """Returns the fusion group as one node that stores the values at the accesses `stored`; None if
    no kernel computes all of them."""
    node = _emit_node(group, stored, backend)
    max_operands = MAX_GROUP_OPERANDS if group.folds else fused.MAX_OPERANDS
    return None if node is None or len(node.operands) > max_operands else node


def _emit_node(group: FusedLoopNest, stored: Sequence[AffineAccess], backend: Backend) -> Node | None:
    all_row_invariant = all(p.is_row_invariant(group.loops) for p in stored)
    folds, results = group.folds, [group.outputs[p] for p in stored]
    if len(folds) > sum(c.body.is_fold for c in live_calls(group.calls, results)):
        return None  # a later write replaces the result of a fold
    if not folds:
        program = call_sequence(group.calls, results)
        accesses = [*stored, *program.inputs]
        steps = _map_steps(program, group.loops, accesses, len(stored), backend)
        return _node(group, program, accesses, steps)
    if len(folds) == 1 and all_row_invariant:
        return _node(group, *fold_steps(group, stored))
    if not (group.multi_pass and all(row_fits_cache(fold) for fold in folds)):
        return None
    program = call_sequence(group.calls, results)
    accesses = [*stored, *program.inputs]
    step = passes_step(group, program, accesses, len(stored), backend)
    return _node(group, program, accesses, [step])


def _node(
    group: FusedLoopNest,
    program: CallSequence,
    accesses: Sequence[AffineAccess],
    steps: Sequence[Step],
    temporaries: Ints = (),
) -> Node:
    launch = Launch(tuple(steps), len(accesses), scalar_dtypes=tuple(program.scalar_dtypes), temporaries=temporaries)
    regions = tuple([p.region(group.loops) for p in accesses])
    origins = tuple([body.node.origin for body in group.bodies])
    return Node(launch, regions, tuple(program.scalars), origins[-1], origins)


def _map_steps(
    program: CallSequence, loops: Sequence[Loop], accesses: Sequence[AffineAccess], outputs: int, backend: Backend
) -> list[Step]:
    """Returns the steps of an elementwise program."""
    target = backend.target
    shape = tuple([loop.size for loop in loops])
    strides = [p.strides for p in accesses]
    sizes, steps = coalesce(shape, strides, loop_order(shape, strides))
    dtypes = [p.dtype for p in accesses]
    widest = max([c.function.compute for c in program.calls], key=lambda d: (d.is_complex, d.itemsize))
    lanes = lanes_for(dtypes, widest, target.lanes_bytes)
    tiles = tiled(sizes, steps) if target.processor else [Tile(sizes, steps, None)]
    pointers, map_steps = tuple(range(len(accesses))), []
    element_cost = program.cost_in_additions if target.processor else 1
    for tile in tiles:
        sizes, steps = tile.shape, tile.strides
        if target.processor:
            sizes, steps = select.long_rows(sizes, steps, lanes)
        choice = select.choose_map(sizes, steps, backend.units, target, lanes, element_cost)
        key = program.key(f"fused_{choice.skeleton}", lanes, dtypes, choice.kinds, outputs)
        geometry = choice.geometry
        map_steps.append(
            Step(
                key,
                choice.units,
                pointers,
                pointers,
                tile.moved,
                bool(program.scalars),
                n=choice.n if geometry is None else None,
                geometry=geometry or (),
                work=numel(sizes),
            )
        )
    return map_steps


class FusionGroup:
    """Nodes that share a kernel; `fused` is None for a node that can't be fused."""

    def __init__(self, nodes: list[Node], fused: FusedLoopNest | None) -> None:
        self.nodes, self.fused = nodes, fused

    def conflicts_with(self, group: FusionGroup) -> bool:
        return any(a.conflicts_with(b) for a in self.nodes for b in group.nodes)


def fuse_graph(graph: Graph, backend: Backend, multi_pass: bool | None = None) -> Graph:
    """Returns the graph with fusable nodes replaced by one kernel each. `multi_pass`: several folds
    over the same rows may share a kernel; by default if the target's compute unit is more than one
    work-item."""
    if backend.built_ahead:
        return as_dataflow(graph, backend)  # boards have only kernels that were built ahead
    if multi_pass is None:
        multi_pass = backend.target.grid != "stride"
    groups: list[FusionGroup] = []
    for node in graph.nodes:
        _join(groups, node, multi_pass)
    stored = {k for k, m in enumerate(graph.memories) if not m.is_internal}
    stored |= {f.region.memory for f in graph.result_tensors}
    return replace(graph, nodes=tuple(_nodes_of_all(groups, stored, backend)))


def _nodes_of_all(groups: Sequence[FusionGroup], stored: set[int], backend: Backend) -> list[Node]:
    """Returns the nodes of all groups. Groups store the memories `stored` and those that other
    groups access."""
    nodes: list[Node] = []
    for k, group in enumerate(groups):
        others = [n for j, g in enumerate(groups) if j != k for n in g.nodes]
        nodes += _nodes_of(group, stored | {m for n in others for m in n.touched}, backend)
    return nodes


def _nodes_of(group: FusionGroup, stored_memories: set[int], backend: Backend) -> list[Node]:
    """Returns the nodes of a group: one kernel if a kernel can compute the whole group."""
    fused = group.fused
    if fused is None or len(group.nodes) == 1:
        return group.nodes
    stored = [p for p in fused.outputs if p.memory in stored_memories]
    if not stored:
        return []
    node = emit_node(fused, stored, backend)
    if node is not None:
        return [node]
    # Retries with fewer operands; if that was tried already, without folds.
    split = _fuse_nodes(group.nodes, fused.multi_pass, fused.max_values > MAX_GROUP_OPERANDS)
    if len(split) == 1:
        split = _fuse_nodes(group.nodes, fused.multi_pass, False)
    # A kernel that reads a tensor several times counts it each time.
    if len(split) == 1:
        half = len(group.nodes) // 2
        halves = group.nodes[:half], group.nodes[half:]
        split = [group_ for nodes in halves for group_ in _fuse_nodes(nodes, fused.multi_pass, False)]
    return _nodes_of_all(split, stored_memories, backend)


def _fuse_nodes(nodes: Sequence[Node], multi_pass: bool, allow_folds: bool) -> list[FusionGroup]:
    groups: list[FusionGroup] = []
    for node in nodes:
        _join(groups, node, multi_pass, allow_folds, MAX_GROUP_OPERANDS)
    return groups


def _join(
    groups: list[FusionGroup],
    node: Node,
    multi_pass: bool,
    allow_folds: bool = True,
    max_values: int = MAX_GROUP_VALUES,
) -> None:
    """Adds a node to a group that it can be fused with, else to a new group at the end."""
    body = loop_body_of(node)
    single = FusionGroup([node], None)
    unfusable = body is None or (body.is_fold and not allow_folds)
    if unfusable or body is None or select.needs_split(_plan(body)):
        groups.append(single)
        return
    producers = [k for k, g in enumerate(groups) if g.conflicts_with(single)]
    last = producers[-1] if producers else 0
    # Looks for a group that runs after all producers of the node.
    for k in range(len(groups) - 1, last - 1, -1):
        if _with_node(groups[k], body, node):
            _merge_groups(groups, k, producers)
            return
    # Otherwise appends a group, and moves producers that can wait into it.
    for k in producers[::-1]:
        group = groups[k]
        if not any(group.conflicts_with(g) for g in groups[k + 1 :]) and _with_node(group, body, node):
            groups.append(groups.pop(k))
            _merge_groups(groups, len(groups) - 1, [b - (b > k) for b in producers if b != k])
            return
    single.fused = FusedLoopNest(body if body.is_fold else None, multi_pass, max_values).with_body(body)
    groups.append(single)


def _with_node(group: FusionGroup, body: LoopBody, node: Node) -> bool:
    fused = group.fused and group.fused.with_body(body)
    if not fused:
        return False
    group.fused = fused
    group.nodes.append(node)
    return True


def _merge_groups(groups: list[FusionGroup], target: int, producers: Sequence[int]) -> None:
    """Merges earlier fusion groups into group `target` unless a group between them depends on them."""
    for k in sorted([b for b in producers if b < target], reverse=True):
        group, merged = groups[k], groups[target]
        if group.fused is None or any(group.conflicts_with(g) for g in groups[k + 1 : target]):
            continue
        assert merged.fused is not None
        bodies = [*group.fused.bodies, *merged.fused.bodies]
        fused = fuse_bodies(bodies, merged.fused.multi_pass, merged.fused.max_values)
        if fused is not None:
            merged.fused, merged.nodes = fused, [*group.nodes, *merged.nodes]
            del groups[k]
            target -= 1


def _plan(body: LoopBody) -> Plan:
    accesses: tuple[AffineAccess, ...] = (*body.outs, *body.ins)
    shape = tuple([loop.size for loop in body.loops])
    return Plan(shape, tuple([p.strides for p in accesses]), shape, ())
