"""Fusion groups: nodes that share an iteration space, and their program of element functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..dtypes import dtype, int8
from ..iterator.plan import SharedLoops, Split, same_elements, split_strides
from ..iterator.shape import Ints, contiguous_strides, numel
from ..kernels import costs
from ..kernels.fused import Call, FusedKey, kernel_name
from ..kernels.key import Port
from .loop_body import AffineAccess, Loop, LoopBody, size

# A kernel with more calls takes long to compile, and its values spill from the registers.
MOST_CALLS = 64
MOST_OPERANDS = 14  # and the states of a fold that is cut
MOST_VALUES = 48  # of which most are no operands in the end
# The most bytes of a row, per operand, that stay in a cache while passes read the row again.
NEAR_BYTES = 1 << 18


@dataclass(frozen=True)
class ElementCall:
    """A call of a point's element function. `takes` holds numbers of earlier results, or accesses
    of inputs; `gives` holds the numbers of its results."""

    point: LoopBody
    takes: tuple[AffineAccess | int, ...]
    gives: Ints


class FusedLoops:
    """A fusion group: loop bodies in one iteration space, in execution order. With folds the space
    is that of the first fold (`frame`).

    `passes`: several folds may run over the same rows. `most`: the limit of results plus inputs.
    `horizontal`: bodies need no shared operand if they have equal element counts.
    """

    horizontal = False

    def __init__(self, frame: LoopBody | None = None, passes: bool = True, most: int = MOST_VALUES) -> None:
        self.frame, self.passes, self.most = frame, passes, most
        self.calls: list[ElementCall] = []
        self.loops: tuple[Loop, ...] = frame.loops if frame else ()
        self.splits: tuple[Split, ...] = tuple([(k, 1) for k in range(len(self.loops))])
        self.inputs: list[AffineAccess] = []
        self.outputs: dict[AffineAccess, int] = {}  # the last result written to an access

    @property
    def points(self) -> list[LoopBody]:
        """Returns the loop bodies in execution order."""
        return [call.point for call in self.calls]

    @property
    def folds(self) -> list[LoopBody]:
        """Returns the loop bodies that fold."""
        return [point for point in self.points if point.folds]

    def with_point(self, point: LoopBody) -> FusedLoops | None:
        """Adds a loop body. Returns this group, or a new group that also has it; None if the body
        can't be fused."""
        if len(self.calls) >= MOST_CALLS:
            return None
        if point.folds and self.frame is None and self.calls:
            return self._with_fold_loops(point)
        return self if self._try_add(point) else None

    def _with_fold_loops(self, fold: LoopBody) -> FusedLoops | None:
        """Returns a group in the loops of a fold, with this elementwise group and the fold; None if
        they do not fit."""
        framed = FusedLoops(fold, self.passes, self.most)
        for one, other in product(fold.ins, (*self.outputs, *self.inputs)):
            same = framed._common_loops(one, self.loops, other) if one[:3] == other[:3] else None
            if same is not None:
                framed._set_loops(same)
                framed._adopt_calls(self, same.second)
                return framed if framed._try_add(fold) else None
        same = framed._match_sizes(self.loops) if self.horizontal else None
        if same is None:
            return None
        framed._set_loops(same)
        framed._adopt_calls(self, same.second)
        framed.horizontal = True
        return framed if framed._try_add(fold) else None

    def _adopt_calls(self, of: FusedLoops, split: Sequence[Split]) -> None:
        """Takes the calls of a group (maybe this one), with the accesses rewritten for the split
        loops."""

        def there(p: AffineAccess) -> AffineAccess:
            return p._replace(strides=split_strides((*p.strides, 0), split))

        self.inputs = [there(p) for p in of.inputs]
        self.outputs = {there(p): k for p, k in of.outputs.items()}
        self.calls = [
            ElementCall(c.point, tuple([there(t) if isinstance(t, AffineAccess) else t for t in c.takes]), c.gives)
            for c in of.calls
        ]

    def _set_loops(self, same: SharedLoops) -> None:
        self.loops = self._split_loops(same)
        self.splits = tuple([(self.splits[d][0], self.splits[d][1] * step) for d, step in same.first])

    def _split_loops(self, same: SharedLoops) -> tuple[Loop, ...]:
        sizes = zip(same.shape, same.first, strict=True)
        return tuple([self.loops[d]._replace(size=n) for n, (d, _) in sizes])

    def _try_add(self, point: LoopBody) -> bool:
        """Adds a loop body. Returns False and changes nothing if the body does not fit."""
        if not self.calls and self.frame is None:
            self.loops = point.loops
            self.splits = tuple([(k, 1) for k in range(len(self.loops))])
            self._append_call(point, point.outs, point.ins)
            return True
        if point is self.frame:  # its own loops, as far as they have been split
            each = tuple([(k, 1) for k in range(len(self.loops))])
            return self._try_fuse(point, SharedLoops(_shape(self.loops), each, self.splits))
        if point.folds and not self._same_iteration_space(point):
            return False
        mine = (*self.outputs, *self.inputs)
        for one, other in product(mine, (*point.ins, *point.outs)):
            if one[:3] != other[:3]:
                continue
            same = self._common_loops(one, point.loops, other)
            # The loops of a further fold stay in their order.
            if same is None or (point.folds and not _in_order(same.second)):
                continue
            if self._try_fuse(point, same):
                return True
        if not self.horizontal or point.folds:
            return False
        same = self._match_sizes(point.loops)
        return same is not None and self._try_fuse(point, same)

    def _match_sizes(self, loops: Sequence[Loop]) -> SharedLoops | None:
        """Returns the loops shared with a nest that has as many elements as this group or as its
        rows, in row-major order."""
        whole = size(loops) == size(self.loops)
        shape = tuple([n.size for n in self.loops if whole or not n.folded])
        if size(loops) != numel(shape):
            return None
        steps = iter(contiguous_strides(shape))
        mine = [next(steps) if whole or not n.folded else 0 for n in self.loops]
        one, other = (AffineAccess(-1, 0, int8, tuple(s)) for s in (mine, contiguous_strides(_shape(loops))))
        return self._common_loops(one, loops, other)

    def _same_iteration_space(self, point: LoopBody) -> bool:
        """True if a further fold runs over the same rows with the same schedule."""
        frame = self.frame
        assert frame is not None
        passes = self.passes and row_fits_cache(frame) and row_fits_cache(point)
        return passes and frame.loops == point.loops and frame.schedule == point.schedule

    def _common_loops(self, one: AffineAccess, loops: Sequence[Loop], other: AffineAccess) -> SharedLoops | None:
        """Returns the loops shared with another nest, derived from an operand that both access."""
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
                same = SharedLoops(same.shape + sizes, first + tuple(folded), same.second + nowhere)
        if same is None:
            return None
        # The order of the frame's loops stays, and folded ones are not split.
        order = sorted(range(len(same.shape)), key=lambda k: (same.first[k][0], -same.first[k][1]))
        shape = tuple([same.shape[k] for k in order])
        first, second = (tuple([split[k] for k in order]) for split in same[1:])
        if any(self.loops[d].whole and n != self.loops[d].size for n, (d, _) in zip(shape, first)):
            return None
        return SharedLoops(shape, first, second)

    def _try_fuse(self, point: LoopBody, same: SharedLoops) -> bool:
        """Adds a loop body in the shared loops. Returns False if the order of reads and writes, the
        operand limit or the fold's passes forbid it."""
        loops = self._split_loops(same)

        def ours(p: AffineAccess) -> AffineAccess:
            return p._replace(strides=split_strides(p.strides, same.first))

        def theirs(p: AffineAccess) -> AffineAccess:
            return p._replace(strides=split_strides((*p.strides, 0), same.second))

        outs, ins = [theirs(p) for p in point.outs], [theirs(p) for p in point.ins]
        written = {ours(p): k for p, k in self.outputs.items()}
        read = [ours(p) for p in self.inputs]
        # Both must access a written element in the same iteration, or one of them not at all.
        if any(w != p and _may_alias(w, p, loops) for w in written for p in (*ins, *outs)):
            return False
        if any(w != p and _may_alias(w, p, loops) for w in outs for p in read):
            return False
        if len({*read, *ins} - written.keys()) + len({*written, *outs}) > self.most:
            return False
        if self.frame is not None and not self._fits_passes(point, outs, ins, written, loops):
            return False
        self._adopt_calls(self, same.first)
        self._set_loops(same)
        self._append_call(point, outs, ins)
        return True

    def _fits_passes(
        self,
        point: LoopBody,
        outs: Sequence[AffineAccess],
        ins: Sequence[AffineAccess],
        written: dict[AffineAccess, int],
        loops: Sequence[Loop],
    ) -> bool:
        """True if one kernel around folds can compute the body. Passes over cached rows accept any
        body. A fold that is cut, or has long rows, accepts producers before the fold and an
        epilogue per result."""
        frame = self.frame
        assert frame is not None
        if not all(_lanes_fit(frame, p) for p in (point, *self.points)):
            return False
        # Passes read their inputs again, so no pass may overwrite them, except for one value of a
        # row, which is written at its end.
        read = [p for p in (*self.inputs, *ins) if p not in written or p.of_row(loops)]
        writes = (*written, *outs)
        if any(p.memory == w.memory and not (p == w and p.single(loops)) for p in read for w in writes):
            return False
        if self.passes and row_fits_cache(frame):
            return True
        if not any(p.folds for p in self.points):
            return True
        return not point.folds and all(p.of_row(loops) for p in (*outs, *ins))

    def _append_call(self, point: LoopBody, outs: Sequence[AffineAccess], ins: Sequence[AffineAccess]) -> None:
        takes: list[AffineAccess | int] = []
        for p in ins:
            value = self.outputs.get(p)
            if value is None and p not in self.inputs:
                self.inputs.append(p)
            takes.append(p if value is None else value)
        first = sum(len(c.gives) for c in self.calls)
        gives = tuple(range(first, first + len(outs)))
        self.calls.append(ElementCall(point, tuple(takes), gives))
        self.outputs.update(zip(outs, gives, strict=True))


def fuse_bodies(points: Sequence[LoopBody], passes: bool, most: int) -> FusedLoops | None:
    """Returns loop bodies as one fusion group, where later bodies use earlier ones; None if they
    can't be fused."""
    cluster: FusedLoops | None = None
    for point in points:
        cluster = cluster or FusedLoops(point if point.folds else None, passes, most)
        cluster.horizontal = True
        cluster = cluster.with_point(point)
        if cluster is None:
            return None
    if cluster is not None:
        cluster.horizontal = False
    return cluster


def _in_order(split: Sequence[Split]) -> bool:
    dims = [d for d, _ in split]
    return dims == sorted(dims)


def _lanes_fit(fold: LoopBody, point: LoopBody) -> bool:
    places = (*point.outs, *point.ins)
    pairs = point.unit.compute.is_complex or any(p.dtype.is_complex for p in places)
    return not pairs or fold.node.launch.steps[0].key.lanes <= 8


def row_fits_cache(fold: LoopBody) -> bool:
    """True if the fold has one stage and its rows fit `NEAR_BYTES`, so that passes can read a row
    again."""
    folded = [loop for loop in fold.loops if loop.folded]
    return fold.stages == 1 and size(folded) * fold.ins[0].dtype.itemsize <= NEAR_BYTES


def _shape(loops: Sequence[Loop]) -> Ints:
    return tuple([loop.size for loop in loops])


def _may_alias(a: AffineAccess, b: AffineAccess, loops: Sequence[Loop]) -> bool:
    return a.memory == b.memory and a.region(loops).conflicts_with(b.region(loops))


@dataclass
class Program:
    """Calls with the numbers of values and of Python numbers, from inputs to what is stored."""

    inputs: list[AffineAccess]
    calls: list[Call]
    gives: Ints
    numbers: list[Any]
    rounded: list[dtype]
    passed: list[dtype]  # what each number is passed as

    @property
    def name(self) -> str:
        """Returns the kernel's name, from some of the calls."""
        return kernel_name(self.calls)

    @property
    def additions(self) -> int:
        """Returns the cost of an element, in additions."""
        units = [c.unit for c in self.calls]
        return costs.additions([t for u in units for t in (*u.body, *[text for _, text in u.lets])])

    @property
    def arguments(self) -> int:
        """Returns the number of kernel arguments that the numbers take."""
        return sum(2 if d.is_complex else 1 for d in self.passed)

    def key(
        self, skeleton: str, lanes: int, dtypes: Sequence[dtype], kinds: Sequence[str], outputs: int, per_row: Ints = ()
    ) -> FusedKey:
        """Returns the kernel key for operands of these dtypes and kinds; the first `outputs`
        operands are outputs."""
        ports = tuple([Port(d, kind) for d, kind in zip(dtypes, kinds, strict=True)])
        return FusedKey(
            self.name,
            skeleton,
            lanes,
            ports[:outputs],
            ports[outputs:],
            tuple(self.calls),
            self.gives,
            tuple(self.passed),
            per_row,
        )


def live_calls(calls: Sequence[ElementCall], wanted: Sequence[int]) -> list[ElementCall]:
    """Returns the calls that the results `wanted` depend on."""
    alive, kept = set(wanted), []
    for call in reversed(calls):
        if alive & set(call.gives):
            alive |= {t for t in call.takes if isinstance(t, int)}
            kept.append(call)
    return kept[::-1]


def program(calls: Sequence[ElementCall], wanted: Sequence[int]) -> Program:
    """Returns the program of the calls that the results `wanted` depend on."""
    kept = live_calls(calls, wanted)
    inputs = list(dict.fromkeys(t for c in kept for t in c.takes if isinstance(t, AffineAccess)))
    value: dict[AffineAccess | int, int] = {p: k for k, p in enumerate(inputs)}
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
