"""Clusters: points that are computed together, in loops that all of them have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from ..dtypes import int8
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides
from ..iterator.within import Same, Split, in_loops, same_elements
from .point import Loop, Place, Point, size

# Beyond so many calls a kernel takes long to compile, and its values leave the registers.
MOST_CALLS = 64
MOST_OPERANDS = 14  # and the states of a fold that is cut
MOST_VALUES = 48  # of which most are no operands in the end
# Bytes of what one result is folded of, of each operand, that stay near while passes go over them.
NEAR_BYTES = 1 << 18


@dataclass(frozen=True)
class PointCall:
    """A point's call: what it takes, earlier results by their number or inputs by their place, and
    the numbers of its results."""

    point: Point
    takes: tuple[Place | int, ...]
    gives: Ints


class Cluster:
    """Points in common loops, in their order; with folds, in those of the first of these.

    `passes`: several folds may be over the same rows. `most`: so many results and inputs. `beside`:
    points need have no operand in common, as long as there are as many elements.
    """

    beside = False

    def __init__(self, frame: Point | None = None, passes: bool = True, most: int = MOST_VALUES) -> None:
        self.frame, self.passes, self.most = frame, passes, most
        self.calls: list[PointCall] = []
        self.loops: tuple[Loop, ...] = frame.loops if frame else ()
        self.splits: tuple[Split, ...] = tuple([(k, 1) for k in range(len(self.loops))])
        self.inputs: list[Place] = []
        self.outputs: dict[Place, int] = {}  # the result that lies there in the end

    @property
    def points(self) -> list[Point]:
        """In their order."""
        return [call.point for call in self.calls]

    @property
    def folds(self) -> list[Point]:
        """Those that fold."""
        return [point for point in self.points if point.folds]

    def with_point(self, point: Point) -> Cluster | None:
        """This cluster with one more point, or another one with all; None where that can't be."""
        if len(self.calls) >= MOST_CALLS:
            return None
        if point.folds and self.frame is None and self.calls:
            return self._framed(point)
        return self if self._add(point) else None

    def _framed(self, fold: Point) -> Cluster | None:
        """A cluster of elements in the loops of a fold, and the fold."""
        framed = Cluster(fold, self.passes, self.most)
        for one, other in product(fold.ins, (*self.outputs, *self.inputs)):
            same = framed._common(one, self.loops, other) if one[:3] == other[:3] else None
            if same is not None:
                framed._go_on(same)
                framed._keep(self, same.second)
                return framed if framed._add(fold) else None
        same = framed._as_many(self.loops) if self.beside else None
        if same is None:
            return None
        framed._go_on(same)
        framed._keep(self, same.second)
        framed.beside = True
        return framed if framed._add(fold) else None

    def _keep(self, of: Cluster, split: Sequence[Split]) -> None:
        """Take over another cluster's calls, or its own, with their places in other loops."""

        def there(p: Place) -> Place:
            return p._replace(strides=in_loops((*p.strides, 0), split))

        self.inputs = [there(p) for p in of.inputs]
        self.outputs = {there(p): k for p, k in of.outputs.items()}
        self.calls = [
            PointCall(c.point, tuple([there(t) if isinstance(t, Place) else t for t in c.takes]), c.gives)
            for c in of.calls
        ]

    def _go_on(self, same: Same) -> None:
        """Have these loops from now on."""
        self.loops = self._split(same)
        self.splits = tuple([(self.splits[d][0], self.splits[d][1] * step) for d, step in same.first])

    def _split(self, same: Same) -> tuple[Loop, ...]:
        sizes = zip(same.shape, same.first, strict=True)
        return tuple([self.loops[d]._replace(size=n) for n, (d, _) in sizes])

    def _add(self, point: Point) -> bool:
        """Take a point in; False, and nothing has changed, where it does not fit."""
        if not self.calls and self.frame is None:
            self.loops = point.loops
            self.splits = tuple([(k, 1) for k in range(len(self.loops))])
            self._take(point, point.outs, point.ins)
            return True
        if point is self.frame:  # its own loops, as far as they have been split
            each = tuple([(k, 1) for k in range(len(self.loops))])
            return self._fits(point, Same(_shape(self.loops), each, self.splits))
        if point.folds and not self._alike(point):
            return False
        mine = (*self.outputs, *self.inputs)
        for one, other in product(mine, (*point.ins, *point.outs)):
            if one[:3] != other[:3]:
                continue
            same = self._common(one, point.loops, other)
            # The loops of a further fold stay in their order.
            if same is None or (point.folds and not _in_order(same.second)):
                continue
            if self._fits(point, same):
                return True
        if not self.beside or point.folds:
            return False
        same = self._as_many(point.loops)
        return same is not None and self._fits(point, same)

    def _as_many(self, loops: Sequence[Loop]) -> Same | None:
        """The loops of this cluster and of others with as many elements, or as it has rows, in
        their order."""
        whole = size(loops) == size(self.loops)
        shape = tuple([n.size for n in self.loops if whole or not n.folded])
        if size(loops) != numel(shape):
            return None
        steps = iter(contiguous_strides(shape))
        mine = [next(steps) if whole or not n.folded else 0 for n in self.loops]
        one, other = (Place(-1, 0, int8, tuple(s)) for s in (mine, contiguous_strides(_shape(loops))))
        return self._common(one, loops, other)

    def _alike(self, point: Point) -> bool:
        """Whether a further fold goes over the same rows in the same way."""
        frame = self.frame
        assert frame is not None
        passes = self.passes and near(frame) and near(point)
        return passes and frame.loops == point.loops and frame.way == point.way

    def _common(self, one: Place, loops: Sequence[Loop], other: Place) -> Same | None:
        """The loops of this cluster and of others, by an operand that both have."""
        shape, theirs = _shape(self.loops), _shape(loops)
        if self.frame is None or size(loops) == size(self.loops):
            same = same_elements(shape, one.strides, theirs, other.strides)
        elif not one.of_row(self.loops):
            return None
        else:  # something of each row
            kept = [k for k, loop in enumerate(self.loops) if not loop.folded]
            rows = tuple([shape[k] for k in kept])
            strides = tuple([one.strides[k] for k in kept])
            same = same_elements(rows, strides, theirs, other.strides)
            if same is not None:
                folded = [(k, 1) for k, loop in enumerate(self.loops) if loop.folded]
                sizes = tuple([shape[k] for k, _ in folded])
                first = tuple([(kept[k], step) for k, step in same.first])
                nowhere = ((-1, 0),) * len(folded)
                same = Same(same.shape + sizes, first + tuple(folded), same.second + nowhere)
        if same is None:
            return None
        # The order of the frame's loops stays, and folded ones are not split.
        order = sorted(range(len(same.shape)), key=lambda k: (same.first[k][0], -same.first[k][1]))
        shape = tuple([same.shape[k] for k in order])
        first, second = (tuple([split[k] for k in order]) for split in same[1:])
        if any(self.loops[d].whole and n != self.loops[d].size for n, (d, _) in zip(shape, first)):
            return None
        return Same(shape, first, second)

    def _fits(self, point: Point, same: Same) -> bool:
        """Take a point in by these loops, if the order of reads and writes allows it."""
        loops = self._split(same)

        def ours(p: Place) -> Place:
            return p._replace(strides=in_loops(p.strides, same.first))

        def theirs(p: Place) -> Place:
            return p._replace(strides=in_loops((*p.strides, 0), same.second))

        outs, ins = [theirs(p) for p in point.outs], [theirs(p) for p in point.ins]
        written = {ours(p): k for p, k in self.outputs.items()}
        read = [ours(p) for p in self.inputs]
        # What the one writes the other must read or write at the same element, or not at all.
        if any(w != p and _meet(w, p, loops) for w in written for p in (*ins, *outs)):
            return False
        if any(w != p and _meet(w, p, loops) for w in outs for p in read):
            return False
        if len({*read, *ins} - written.keys()) + len({*written, *outs}) > self.most:
            return False
        if self.frame is not None and not self._in_passes(point, outs, ins, written, loops):
            return False
        self._keep(self, same.first)
        self._go_on(same)
        self._take(point, outs, ins)
        return True

    def _in_passes(
        self,
        point: Point,
        outs: Sequence[Place],
        ins: Sequence[Place],
        written: dict[Place, int],
        loops: Sequence[Loop],
    ) -> bool:
        """Whether a kernel around folds can compute it: passes over rows all; one that is cut, or
        whose rows are long, what comes before the fold and, of each result, behind it."""
        frame = self.frame
        assert frame is not None
        if not all(_serves(frame, p) for p in (point, *self.points)):
            return False
        # Passes read again what they have read: nothing new is written there, but what a row has
        # one of, which it writes at its end.
        read = [p for p in (*self.inputs, *ins) if p not in written or p.of_row(loops)]
        writes = (*written, *outs)
        if any(p.memory == w.memory and not (p == w and p.single(loops)) for p in read for w in writes):
            return False
        if self.passes and near(frame):
            return True
        if not any(p.folds for p in self.points):
            return True
        return not point.folds and all(p.of_row(loops) for p in (*outs, *ins))

    def _take(self, point: Point, outs: Sequence[Place], ins: Sequence[Place]) -> None:
        takes: list[Place | int] = []
        for p in ins:
            value = self.outputs.get(p)
            if value is None and p not in self.inputs:
                self.inputs.append(p)
            takes.append(p if value is None else value)
        first = sum(len(c.gives) for c in self.calls)
        gives = tuple(range(first, first + len(outs)))
        self.calls.append(PointCall(point, tuple(takes), gives))
        self.outputs.update(zip(outs, gives, strict=True))


def cluster_of(points: Sequence[Point], passes: bool, most: int) -> Cluster | None:
    """Points as one cluster, of which later ones need earlier ones; None where they can't be."""
    cluster: Cluster | None = None
    for point in points:
        cluster = cluster or Cluster(point if point.folds else None, passes, most)
        cluster.beside = True
        cluster = cluster.with_point(point)
        if cluster is None:
            return None
    if cluster is not None:
        cluster.beside = False
    return cluster


def _in_order(split: Sequence[Split]) -> bool:
    dims = [d for d, _ in split]
    return dims == sorted(dims)


def _serves(fold: Point, point: Point) -> bool:
    """Whether the lanes of a fold hold what a point computes: pairs come in at most eight."""
    places = (*point.outs, *point.ins)
    pairs = point.unit.compute.is_complex or any(p.dtype.is_complex for p in places)
    return not pairs or fold.node.launch.steps[0].key.lanes <= 8


def near(fold: Point) -> bool:
    """Whether a fold is one of passes: in one stage, of rows that stay near."""
    folded = [loop for loop in fold.loops if loop.folded]
    return fold.stages == 1 and size(folded) * fold.ins[0].dtype.itemsize <= NEAR_BYTES


def _shape(loops: Sequence[Loop]) -> Ints:
    return tuple([loop.size for loop in loops])


def _meet(a: Place, b: Place, loops: Sequence[Loop]) -> bool:
    """Whether elements of both may share a byte."""
    return a.memory == b.memory and a.region(loops).meets(b.region(loops))
