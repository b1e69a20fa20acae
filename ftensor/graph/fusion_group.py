"""Fusion groups: nodes that share an iteration space, and their program of element functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..dtypes import dtype, int8
from ..iterator.plan import SharedLoops, Split, same_elements, split_strides
from ..iterator.shape import Ints, contiguous_strides, numel
from ..kernels import select
from ..kernels.fused import Call, FusedKey, kernel_name
from ..kernels.key import Port
from .loop_body import AffineAccess, Loop, LoopBody, iteration_count

# A kernel with more calls takes long to compile, and its values spill from the registers.
MAX_CALLS = 64
MAX_GROUP_OPERANDS = 14  # leaves room for the states of a two-stage fold
MAX_GROUP_VALUES = 48  # most of them become neither inputs nor outputs
# The most bytes of a row, per operand, that stay in a cache while passes read the row again.
CACHED_ROW_BYTES = 1 << 18


@dataclass(frozen=True)
class ElementCall:
    """A call of a loop body's element function. `operands` holds numbers of earlier results, or
    accesses of inputs; `results` holds the numbers of its results."""

    body: LoopBody
    operands: tuple[AffineAccess | int, ...]
    results: Ints


class FusedLoopNest:
    """A fusion group: loop bodies in one iteration space, in execution order. With folds the space
    is that of the first fold (`first_fold`).

    `multi_pass`: several folds may run over the same rows. `max_values`: the limit of results plus inputs.
    `is_horizontal`: bodies need no shared operand if they have equal element counts.
    """

    is_horizontal = False

    def __init__(
        self, first_fold: LoopBody | None = None, multi_pass: bool = True, max_values: int = MAX_GROUP_VALUES
    ) -> None:
        self.first_fold, self.multi_pass, self.max_values = first_fold, multi_pass, max_values
        self.calls: list[ElementCall] = []
        self.loops: tuple[Loop, ...] = first_fold.loops if first_fold else ()
        self.splits: tuple[Split, ...] = tuple([(k, 1) for k in range(len(self.loops))])
        self.inputs: list[AffineAccess] = []
        self.outputs: dict[AffineAccess, int] = {}  # the last result written to an access

    @property
    def bodies(self) -> list[LoopBody]:
        """Returns the loop bodies in execution order."""
        return [c.body for c in self.calls]

    @property
    def folds(self) -> list[LoopBody]:
        """Returns the loop bodies that fold."""
        return [body for body in self.bodies if body.is_fold]

    def with_body(self, body: LoopBody) -> FusedLoopNest | None:
        """Adds a loop body. Returns this group, or a new group that also contains the body; None if
        the body can't be fused."""
        if len(self.calls) >= MAX_CALLS:
            return None
        if body.is_fold and self.first_fold is None and self.calls:
            return self._with_fold_loops(body)
        return self if self._try_add(body) else None

    def _with_fold_loops(self, fold: LoopBody) -> FusedLoopNest | None:
        """Returns a group in the loops of a fold that contains this elementwise group and the fold;
        None if they do not fit."""
        group = FusedLoopNest(fold, self.multi_pass, self.max_values)
        for fold_input, access in product(fold.ins, (*self.outputs, *self.inputs)):
            shared = group._common_loops(fold_input, self.loops, access) if fold_input[:3] == access[:3] else None
            if shared is not None:
                group._set_loops(shared)
                group._adopt_calls(self, shared.second)
                return group if group._try_add(fold) else None
        shared = group._match_sizes(self.loops) if self.is_horizontal else None
        if shared is None:
            return None
        group._set_loops(shared)
        group._adopt_calls(self, shared.second)
        group.is_horizontal = True
        return group if group._try_add(fold) else None

    def _adopt_calls(self, group: FusedLoopNest, split: Sequence[Split]) -> None:
        """Takes over the calls of another group, or of this one from before its loops were split,
        with accesses rewritten for the split loops."""

        def rewritten(p: AffineAccess) -> AffineAccess:
            return p._replace(strides=split_strides((*p.strides, 0), split))

        self.inputs = [rewritten(p) for p in group.inputs]
        self.outputs = {rewritten(p): k for p, k in group.outputs.items()}
        self.calls = [
            ElementCall(
                c.body, tuple([rewritten(t) if isinstance(t, AffineAccess) else t for t in c.operands]), c.results
            )
            for c in group.calls
        ]

    def _set_loops(self, shared: SharedLoops) -> None:
        self.loops = self._split_loops(shared)
        self.splits = tuple([(self.splits[d][0], self.splits[d][1] * step) for d, step in shared.first])

    def _split_loops(self, shared: SharedLoops) -> tuple[Loop, ...]:
        sizes = zip(shared.shape, shared.first, strict=True)
        return tuple([self.loops[d]._replace(size=n) for n, (d, _) in sizes])

    def _try_add(self, body: LoopBody) -> bool:
        """Adds a loop body. Returns False and changes nothing if the body does not fit."""
        if not self.calls and self.first_fold is None:
            self.loops = body.loops
            self.splits = tuple([(k, 1) for k in range(len(self.loops))])
            self._append_call(body, body.outs, body.ins)
            return True
        if body is self.first_fold:  # its own loops, split like the group's
            unsplit = tuple([(k, 1) for k in range(len(self.loops))])
            return self._try_fuse(body, SharedLoops(_shape(self.loops), unsplit, self.splits))
        if body.is_fold and not self._same_iteration_space(body):
            return False
        accesses = (*self.outputs, *self.inputs)
        for group_access, access in product(accesses, (*body.ins, *body.outs)):
            if group_access[:3] != access[:3]:
                continue
            shared = self._common_loops(group_access, body.loops, access)
            # A further fold keeps the order of its loops.
            if shared is None or (body.is_fold and not _in_order(shared.second)):
                continue
            if self._try_fuse(body, shared):
                return True
        if not self.is_horizontal or body.is_fold:
            return False
        shared = self._match_sizes(body.loops)
        return shared is not None and self._try_fuse(body, shared)

    def _match_sizes(self, loops: Sequence[Loop]) -> SharedLoops | None:
        """Returns the loops, in row-major order, that this group shares with a nest of as many
        elements as the group or its rows have."""
        all_elements = iteration_count(loops) == iteration_count(self.loops)
        shape = tuple([n.size for n in self.loops if all_elements or not n.folded])
        if iteration_count(loops) != numel(shape):
            return None
        steps = iter(contiguous_strides(shape))
        strides = [next(steps) if all_elements or not n.folded else 0 for n in self.loops]
        group_access, access = (
            AffineAccess(-1, 0, int8, tuple(s)) for s in (strides, contiguous_strides(_shape(loops)))
        )
        return self._common_loops(group_access, loops, access)

    def _same_iteration_space(self, body: LoopBody) -> bool:
        """True if a further fold iterates over the same rows with the same schedule."""
        first = self.first_fold
        assert first is not None
        multi_pass = self.multi_pass and row_fits_cache(first) and row_fits_cache(body)
        return multi_pass and first.loops == body.loops and first.schedule == body.schedule

    def _common_loops(
        self, group_access: AffineAccess, loops: Sequence[Loop], access: AffineAccess
    ) -> SharedLoops | None:
        """Returns loops in which both this group and the nest `loops` can run, None if there are
        none. Both access one operand: the group by `group_access`, the nest by `access`. In each
        iteration of the shared loops, both access the same element."""
        shape, other_shape = _shape(self.loops), _shape(loops)
        if self.first_fold is None or iteration_count(loops) == iteration_count(self.loops):
            shared = same_elements(shape, group_access.strides, other_shape, access.strides)
        elif not group_access.is_row_invariant(self.loops):
            return None
        else:  # a per-row value
            kept = [k for k, loop in enumerate(self.loops) if not loop.folded]
            rows = tuple([shape[k] for k in kept])
            strides = tuple([group_access.strides[k] for k in kept])
            shared = same_elements(rows, strides, other_shape, access.strides)
            if shared is not None:
                folded = [(k, 1) for k, loop in enumerate(self.loops) if loop.folded]
                sizes = tuple([shape[k] for k, _ in folded])
                first = tuple([(kept[k], step) for k, step in shared.first])
                absent = ((-1, 0),) * len(folded)
                shared = SharedLoops(shared.shape + sizes, first + tuple(folded), shared.second + absent)
        if shared is None:
            return None
        # The outer loops keep their order, and folded loops are not split.
        order = sorted(range(len(shared.shape)), key=lambda k: (shared.first[k][0], -shared.first[k][1]))
        shape = tuple([shared.shape[k] for k in order])
        first, second = (tuple([split[k] for k in order]) for split in shared[1:])
        if any(self.loops[d].unsplittable and n != self.loops[d].size for n, (d, _) in zip(shape, first)):
            return None
        return SharedLoops(shape, first, second)

    def _try_fuse(self, body: LoopBody, shared: SharedLoops) -> bool:
        """Adds a loop body in the shared loops. Returns False if the order of reads and writes, the
        operand limit or the fold's passes forbid it."""
        loops = self._split_loops(shared)

        def in_group_loops(p: AffineAccess) -> AffineAccess:
            return p._replace(strides=split_strides(p.strides, shared.first))

        def in_body_loops(p: AffineAccess) -> AffineAccess:
            return p._replace(strides=split_strides((*p.strides, 0), shared.second))

        outs, ins = [in_body_loops(p) for p in body.outs], [in_body_loops(p) for p in body.ins]
        written = {in_group_loops(p): k for p, k in self.outputs.items()}
        read = [in_group_loops(p) for p in self.inputs]
        # Both must access a written element in the same iteration, unless only one of them accesses
        # it.
        if any(w != p and _may_alias(w, p, loops) for w in written for p in (*ins, *outs)):
            return False
        if any(w != p and _may_alias(w, p, loops) for w in outs for p in read):
            return False
        if len({*read, *ins} - written.keys()) + len({*written, *outs}) > self.max_values:
            return False
        if self.first_fold is not None and not self._fits_passes(body, outs, ins, written, loops):
            return False
        self._adopt_calls(self, shared.first)
        self._set_loops(shared)
        self._append_call(body, outs, ins)
        return True

    def _fits_passes(
        self,
        body: LoopBody,
        outs: Sequence[AffineAccess],
        ins: Sequence[AffineAccess],
        written: dict[AffineAccess, int],
        loops: Sequence[Loop],
    ) -> bool:
        """True if one kernel around folds can compute the body. Passes over cached rows accept any
        body. A fold that is cut, or has long rows, accepts producers before the fold and an
        epilogue per result."""
        first = self.first_fold
        assert first is not None
        if not all(_lanes_fit(first, p) for p in (body, *self.bodies)):
            return False
        # Passes read their inputs again, so no pass may overwrite them. Per-row values are an
        # exception: they are written at the end of a row.
        read = [p for p in (*self.inputs, *ins) if p not in written or p.is_row_invariant(loops)]
        writes = (*written, *outs)
        if any(p.memory == w.memory and not (p == w and p.is_row_scalar(loops)) for p in read for w in writes):
            return False
        if self.multi_pass and row_fits_cache(first):
            return True
        if not any(p.is_fold for p in self.bodies):
            return True
        return not body.is_fold and all(p.is_row_invariant(loops) for p in (*outs, *ins))

    def _append_call(self, body: LoopBody, outs: Sequence[AffineAccess], ins: Sequence[AffineAccess]) -> None:
        operands: list[AffineAccess | int] = []
        for p in ins:
            value = self.outputs.get(p)
            if value is None and p not in self.inputs:
                self.inputs.append(p)
            operands.append(p if value is None else value)
        first = sum(len(c.results) for c in self.calls)
        results = tuple(range(first, first + len(outs)))
        self.calls.append(ElementCall(body, tuple(operands), results))
        self.outputs.update(zip(outs, results, strict=True))


def fuse_bodies(bodies: Sequence[LoopBody], multi_pass: bool, max_values: int) -> FusedLoopNest | None:
    """Returns loop bodies as one fusion group in which later bodies use results of earlier ones;
    None if they can't be fused."""
    group: FusedLoopNest | None = None
    for body in bodies:
        group = group or FusedLoopNest(body if body.is_fold else None, multi_pass, max_values)
        group.is_horizontal = True
        group = group.with_body(body)
        if group is None:
            return None
    if group is not None:
        group.is_horizontal = False
    return group


def _in_order(split: Sequence[Split]) -> bool:
    dims = [d for d, _ in split]
    return dims == sorted(dims)


def _lanes_fit(fold: LoopBody, body: LoopBody) -> bool:
    accesses = (*body.outs, *body.ins)
    has_complex = body.function.compute.is_complex or any(p.dtype.is_complex for p in accesses)
    return not has_complex or fold.node.launch.steps[0].key.lanes <= 8


def row_fits_cache(fold: LoopBody) -> bool:
    """True if the fold has one stage and its rows fit `CACHED_ROW_BYTES`, so that passes can read a
    row again."""
    folded = [loop for loop in fold.loops if loop.folded]
    return fold.step_count == 1 and iteration_count(folded) * fold.ins[0].dtype.itemsize <= CACHED_ROW_BYTES


def _shape(loops: Sequence[Loop]) -> Ints:
    return tuple([loop.size for loop in loops])


def _may_alias(a: AffineAccess, b: AffineAccess, loops: Sequence[Loop]) -> bool:
    return a.memory == b.memory and a.region(loops).conflicts_with(b.region(loops))


@dataclass
class CallSequence:
    """Element functions in execution order, as numbered values: inputs first, then results.
    `scalars` are the Python numbers that become kernel arguments."""

    inputs: list[AffineAccess]
    calls: list[Call]
    results: Ints
    scalars: list[Any]
    scalar_dtypes: list[dtype]
    argument_dtypes: list[dtype]  # the dtype in which each number is passed

    @property
    def name(self) -> str:
        """Returns the kernel's name, from some of the calls."""
        return kernel_name(self.calls)

    @property
    def cost_in_additions(self) -> int:
        """Returns the cost of an element, in additions."""
        functions = [c.function for c in self.calls]
        return select.additions([t for u in functions for t in (*u.body, *[text for _, text in u.lets])])

    @property
    def scalar_count(self) -> int:
        """Returns the number of kernel arguments that the numbers take."""
        return sum(2 if d.is_complex else 1 for d in self.argument_dtypes)

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
            self.results,
            tuple(self.argument_dtypes),
            per_row,
        )


def live_calls(calls: Sequence[ElementCall], results: Sequence[int]) -> list[ElementCall]:
    """Returns the calls that the results `results` depend on."""
    alive, live = set(results), []
    for call in reversed(calls):
        if alive & set(call.results):
            alive |= {t for t in call.operands if isinstance(t, int)}
            live.append(call)
    return live[::-1]


def call_sequence(calls: Sequence[ElementCall], results: Sequence[int]) -> CallSequence:
    """Returns the program of the calls that the results `results` depend on."""
    live = live_calls(calls, results)
    inputs = list(dict.fromkeys(t for c in live for t in c.operands if isinstance(t, AffineAccess)))
    value: dict[AffineAccess | int, int] = {p: k for k, p in enumerate(inputs)}
    built = CallSequence(inputs, [], (), [], [], [])
    count = len(inputs)
    for c in live:
        function, first = c.body.function, len(built.scalars)
        operands = tuple([value[t] for t in c.operands])
        built.calls.append(Call(function, operands, tuple(range(first, first + function.scalar_count))))
        built.scalars += c.body.scalars
        built.scalar_dtypes += c.body.scalar_dtypes
        built.argument_dtypes += function.passed_dtypes
        for k, result in enumerate(c.results):
            value[result] = count + k
        count += len(c.results)
    built.results = tuple([value[k] for k in results])
    return built
