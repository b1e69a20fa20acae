"""Nodes as elements of loops: what each computes, and where its operands lie in these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dtypes import dtype
from ..iterator.plan import coalesce
from ..iterator.shape import Ints, numel
from ..iterator.stride import broadcast_strides
from ..kernels.key import BY_VALUE, INDEX, LOCATED, KernelKey
from ..kernels.skeletons.reduce_geometry import FoldGeometry
from ..kernels.unit import Unit, unit_of
from .node import Node, Region

if TYPE_CHECKING:
    from ..execute.launch import Step


class Loop(NamedTuple):
    """One loop; `folded` where its elements go into one result, `whole` where it can't be two."""

    size: int
    folded: bool = False
    whole: bool = False


class Place(NamedTuple):
    """Where an operand's elements lie in loops."""

    memory: int
    start: int  # the first element's, in bytes
    dtype: dtype
    strides: Ints

    def region(self, loops: Sequence[Loop]) -> Region:
        """The same as a tensor of the graph."""
        shape, offset = tuple([loop.size for loop in loops]), self.start // self.dtype.itemsize
        return Region(self.memory, self.dtype, shape, self.strides, offset)

    def of_row(self, loops: Sequence[Loop]) -> bool:
        """Whether all that is folded into one result reads the same element."""
        return not any(loop.folded and s for loop, s in zip(loops, self.strides, strict=True))

    def single(self, loops: Sequence[Loop]) -> bool:
        """Whether it is of rows, and each of these has an element of its own."""
        alone = all(loop.folded or loop.size == 1 or s for loop, s in zip(loops, self.strides))
        return alone and self.of_row(loops)


@dataclass(frozen=True)
class Point:
    """A node: what it computes, in which loops, and where its operands lie in these."""

    node: Node
    unit: Unit
    loops: tuple[Loop, ...]
    outs: tuple[Place, ...]
    ins: tuple[Place, ...]
    numbers: tuple[Any, ...]
    rounded: tuple[dtype, ...]
    geometry: FoldGeometry | None = None  # of a fold

    @property
    def folds(self) -> bool:
        """Whether it is a fold."""
        return self.geometry is not None

    @property
    def way(self) -> tuple[Any, ...]:
        """How a fold goes over its rows: lanes, units, and how rows are cut."""
        step, g = self.node.launch.steps[0], self.geometry
        words = key_of(step).reduction
        assert g is not None and words is not None
        cut = (g.items, g.inner, g.chunk, g.chunks, g.work, g.kept_shape, g.shape)
        return step.key.skeleton, step.key.lanes, words.vectors, step.units, *cut

    @property
    def stages(self) -> int:
        """In how many steps."""
        return len(self.node.launch.steps)


def point_of(node: Node) -> Point | None:
    """A node as elements of one nest of loops; None where it is more than that."""
    launch = node.launch
    key = launch.steps[0].key
    if not isinstance(key, KernelKey) or launch.own_numbers is not None:
        return None
    if any(p.sees == INDEX or p.kind == LOCATED for p in key.ins + key.outs):
        return None
    if len(launch.numbers) != len(node.numbers):
        return None
    if key.skeleton in ("map", "rows") and not launch.temporaries:
        return _elements(node, key)
    if key.skeleton in ("reduce_inner", "reduce_outer"):
        return _fold(node, key)
    return None


def _elements(node: Node, key: KernelKey) -> Point | None:
    unit = unit_of(key)
    ports = [*key.outs, *[p for p in key.ins if p.kind != BY_VALUE]]
    if unit.positional or len(ports) != len(node.operands):  # random numbers go by position
        return None
    shape = node.operands[0].shape
    strides = [broadcast_strides(r.shape, r.strides, shape) for r in node.operands]
    sizes, steps = coalesce(shape, strides, range(len(shape)))
    if sizes == (1,):
        sizes, steps = (), ((),) * len(strides)
    places = [_place(r, port.dtype, s) for port, r, s in zip(ports, node.operands, steps, strict=True)]
    count = len(key.outs)
    return Point(
        node,
        unit,
        tuple([Loop(n) for n in sizes]),
        tuple(places[:count]),
        tuple(places[count:]),
        node.numbers,
        node.launch.numbers,
    )


def _fold(node: Node, key: KernelKey) -> Point | None:
    step = node.launch.steps[0]
    g = FoldGeometry.unpack(step.geometry)
    inner = key.skeleton == "reduce_inner"
    loops = [Loop(size) for size in g.kept_shape]
    if inner:
        loops += [Loop(size, True, True) for size in (*g.shape, g.inner)]
    else:
        loops += [Loop(g.inner, False, True), *[Loop(size, True, True) for size in g.shape]]
    outs = len(node.launch.outputs)
    fields = len(key.outs)  # the results, or the states of the first of two stages
    if len(node.operands) != outs + len(key.ins) or 0 in [loop.size for loop in loops]:
        return None
    used = [k for k, loop in enumerate(loops) if loop.size != 1]
    if not any(loops[k].folded for k in used):
        return None
    strides = [_walked(g, inner, fields + k) for k in range(len(key.ins))]
    last = node.launch.steps[-1]
    of = FoldGeometry.unpack(last.geometry) if last is not step else g
    if last is not step and _kept(of, key_of(last)) != _kept(g, key):
        return None
    kept = sum(not loop.folded for loop in loops)
    walked = [_walked(of, last.key.skeleton == "reduce_inner", k) for k in range(outs)]
    written = [(*s[:kept], *(0,) * (len(loops) - kept)) for s in walked]
    dtypes = [p.dtype for p in key_of(last).outs] + [p.dtype for p in key.ins]
    places = [
        _place(r, d, [s[k] for k in used]) for r, d, s in zip(node.operands, dtypes, [*written, *strides], strict=True)
    ]
    return Point(
        node,
        unit_of(key),
        tuple([loops[k] for k in used]),
        tuple(places[:outs]),
        tuple(places[outs:]),
        node.numbers,
        node.launch.numbers,
        g,
    )


def _kept(g: FoldGeometry, key: KernelKey) -> Ints:
    return g.kept_shape if key.skeleton == "reduce_inner" else (*g.kept_shape, g.inner)


def _walked(g: FoldGeometry, inner: bool, k: int) -> Ints:
    """Operand k's strides in the kept loops, then in those that are folded."""
    if inner:
        return (*g.kept_strides[k], *g.strides[k], g.steps[k])
    return (*g.kept_strides[k], g.steps[k], *g.strides[k])


def _place(r: Region, of: dtype, strides: Sequence[int]) -> Place:
    return Place(r.memory, r.offset * r.dtype.itemsize, of, tuple(strides))


def key_of(step: Step) -> KernelKey:
    """The key of a step of a point."""
    assert isinstance(step.key, KernelKey), step.key
    return step.key


def in_one(point: Point, states: int) -> Point:
    """A fold in one go, of so many states side by side, whatever kernel it was traced with."""
    last, unit = key_of(point.node.launch.steps[-1]), point.unit
    reduction = unit.reduction
    assert reduction is not None
    if len(point.node.launch.steps) > 1:
        unit = replace(unit, outs=tuple((p.dtype, p.sees) for p in last.outs), body=last.body, params=last.params)
    name = unit.name.removesuffix("_first").removesuffix("_whole")
    whole = replace(reduction, stage="whole", vectors=states)
    return replace(point, unit=replace(unit, name=name, reduction=whole))


def size(loops: Sequence[Loop]) -> int:
    """How many elements loops visit."""
    return numel(tuple([loop.size for loop in loops]))
