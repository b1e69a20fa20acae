"""A cluster as one node: its program, and the kernel that computes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..execute.launch import Launch, Step
from ..iterator.plan import coalesce
from ..iterator.shape import Ints, numel
from ..iterator.stride import loop_order
from ..iterator.tiles import Piece, tiled
from ..kernels import fused, select
from ..kernels.key import lanes_for
from .cluster import MOST_OPERANDS, Cluster, near
from .emit_folds import fold_steps, passes_step
from .node import Node
from .point import Loop, Place
from .program import Program, needed, program

if TYPE_CHECKING:
    from ..runtime.backend import Backend


def emitted(cluster: Cluster, stored: Sequence[Place], backend: Backend) -> Node | None:
    """The cluster as one node that stores what was written at these places; None where no kernel
    computes all of that."""
    node = _emitted(cluster, stored, backend)
    most = MOST_OPERANDS if cluster.folds else fused.MOST_OPERANDS
    return None if node is None or len(node.operands) > most else node


def _emitted(cluster: Cluster, stored: Sequence[Place], backend: Backend) -> Node | None:
    rows = all(p.of_row(cluster.loops) for p in stored)
    folds, wanted = cluster.folds, [cluster.outputs[p] for p in stored]
    if len(folds) > sum(c.point.folds for c in needed(cluster.calls, wanted)):
        return None  # what a fold gives is written over
    if not folds:
        whole = program(cluster.calls, wanted)
        places = [*stored, *whole.inputs]
        steps = _map_steps(whole, cluster.loops, places, len(stored), backend)
        return _node(cluster, whole, places, steps)
    if len(folds) == 1 and rows:
        return _node(cluster, *fold_steps(cluster, stored))
    if not (cluster.passes and all(near(fold) for fold in folds)):
        return None
    whole = program(cluster.calls, wanted)
    places = [*stored, *whole.inputs]
    step = passes_step(cluster, whole, places, len(stored), backend)
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
