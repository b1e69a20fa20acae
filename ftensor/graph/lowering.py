"""Lowering: a graph becomes one launch, bound to its device."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any
from weakref import ref

from .._tensor import Tensor
from ..dtypes import dtype, uint8
from ..errors import graph as errors_graph
from ..execute.dispatch import bound_to
from ..execute.indexed import bounds_in_range
from ..execute.keys import shared_key
from ..execute.launch import Launch, Output, Step, enqueue
from ..execute.scalars import values_of
from ..iterator.shape import Ints, is_dense, numel
from .guards import CapturedStorage, Guards, captured_storage
from .ir import CheckedIndices, DrawnNumber, FreeNumber, Graph, GraphTensor, Node, ResultTensor, Seeding, assign_slots
from .launch_merging import LaunchMerger
from .replay import Part, Replay, ReturnedArgument, replay
from .signature import FreeNumbers, number_at

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage


# Held while a graph that seeds moves generators: one that its function makes is the same object in
# all threads.
_drawing = RLock()


def _new_lock() -> None:
    # If another thread holds the lock during a fork, it stays locked in the child.
    global _drawing
    _drawing = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)

# The most bytes of a graph's own memories without sharing; larger graphs share memory slots.
IN_SERIES = 1 << 24


def lower_graph(
    graph: Graph,
    backend: Backend,
    tensors: Sequence[Tensor],
    free: FreeNumbers | None = None,
    series: bool = False,
    owners: Sequence[Any] = (),
    seen: Set[Storage] = frozenset(),
) -> Lowered:
    """Returns the graph of a call with these tensors, bound to its device. Raises KernelNotBuilt if
    the images lack a kernel.

    `series`: merge steps if compute units need not wait between them. `owners`: objects that the
    signature refers to; the graph is dead without them. `seen`: storage of captured tensors.
    """
    lost = backend.launches.lost
    return _Lowering(graph, backend, tensors, free, series).done([ref(owner, lost) for owner in owners], seen)


class _Lowering:
    """The lowering of one graph."""

    def __init__(
        self, graph: Graph, backend: Backend, tensors: Sequence[Tensor], free: FreeNumbers | None, series: bool
    ) -> None:
        self.graph, self.backend, self.tensors, self.free = graph, backend, tensors, free
        self.series = series and backend.target.processor
        memories = graph.memories
        used = list(dict.fromkeys(r.memory for n in graph.nodes for r in n.operands))
        returned = dict.fromkeys(f.region.memory for f in graph.result_tensors)
        self.outputs = [m for m in returned if memories[m].own]
        self.arguments = [m for m in used if memories[m].argument is not None]
        self.held = [m for m in used if memories[m].held is not None]
        self.own = [m for m in used if memories[m].own and m not in self.outputs]
        self.seen: dict[tuple[int, dtype], None] = {}
        for r in (r for n in graph.nodes for r in n.operands if r.memory in self.arguments):
            if r.dtype is not self._argument(r.memory)._dtype:
                self.seen[r.memory, r.dtype] = None
        self.numbers: list[Any] = []
        self.drawn: list[tuple[int, dtype, DrawnNumber]] = []
        self.free_numbers: dict[tuple[int, dtype | None], list[int]] = {}

    def _argument(self, memory: int) -> Tensor:
        k = self.graph.memories[memory].argument
        assert k is not None
        return self.tensors[k]

    def done(self, owners: Sequence[ref[Any]], seen: Set[Storage]) -> Lowered:
        """Returns the lowered graph."""
        graph, memories = self.graph, self.graph.memories
        outputs = [self._output(m) for m in self.outputs]
        lost = self.backend.launches.lost
        found = captured_storage(graph, lost)
        held = [found[m] for m in self.held]
        launch = None
        if graph.nodes or outputs:
            if not (self.arguments or held):  # a launch takes its device from an input
                storage = self.backend.allocate_lasting(1)
                storage.device = next(m.device for m in memories if m.device is not None)
                held.append(CapturedStorage(storage, True, lost))
            launch = self._launch(outputs, len(self.arguments) + len(self.seen), len(held))
            launch.bind(bound_to(self.backend, launch.steps))
        parts = [self._part(f, outputs, found) for f in graph.result_tensors]
        arguments = [self._index(m) for m in self.arguments]
        written = [self._index(m) for m in self.arguments if graph.writes(m)]
        held_written = [k for k, m in enumerate(found) if graph.writes(m)]
        guards = None
        if written or found or graph.starts or seen:
            values = graph.values
            guards = Guards(arguments, written, tuple(found.values()), held_written, graph.starts, seen, lost, values)
        # Runs read neither the nodes nor, if no index is checked, the memories.
        memories = tuple([m._replace(held=None) for m in memories]) if graph.checks else ()
        return Lowered(
            replace(graph, nodes=(), memories=memories, starts=(), values=None),
            self.backend,
            launch,
            tuple(arguments),
            tuple([(self._index(m), of) for m, of in self.seen]),
            tuple(held),
            tuple(self.numbers),
            tuple(self.drawn),
            tuple(written),
            tuple([found[m] for m in self.held if graph.writes(m)]),
            tuple(parts),
            guards,
            tuple(owners),
            self.free,
            tuple([(place, of, tuple(ats)) for (place, of), ats in self.free_numbers.items()]),
        )

    def _index(self, memory: int) -> int:
        k = self.graph.memories[memory].argument
        assert k is not None
        return k

    def _output(self, memory: int) -> Output:
        """Returns the output for a memory of the result: with the geometry of the first tensor that
        covers the memory, else as bytes."""
        nbytes = self.graph.memories[memory].nbytes
        for r in (f.region for f in self.graph.result_tensors):
            whole = r.memory == memory and nbytes == numel(r.shape) * r.dtype.itemsize
            if whole and not r.offset and is_dense(r.shape, r.strides):
                return Output(r.dtype, r.shape, r.strides)
        return Output(uint8, (nbytes,), (1,))

    def _part(self, f: ResultTensor, outputs: Sequence[Output], found: Mapping[int, CapturedStorage]) -> Part:
        """Returns what a tensor of the result is."""
        r, m = f.region, self.graph.memories[f.region.memory]
        which, held = f.argument, found.get(r.memory)
        if which is not None:
            return ReturnedArgument(which)
        if held is not None:
            return lambda results, tensors: f.over(held.storage, r.offset)
        size = r.dtype.itemsize
        if m.argument is not None:
            moved = r.offset - m.offset // size

            def view(results: Any, tensors: Any) -> Tensor:
                t = tensors[m.argument]
                return f.over(t._storage, t._offset * t._dtype.itemsize // size + moved)

            return view
        j = self.outputs.index(r.memory)
        if outputs[j].key == f.key and not r.offset:
            return j
        return lambda results, tensors: f.over(results[j]._storage, r.offset)

    def _launch(self, outputs: Sequence[Output], tensors: int, storages: int) -> Launch:
        """Returns one launch of all nodes. A call passes `tensors`, then captured storage."""
        whose = [*self.outputs, *self.arguments, *self.seen, *self.held]
        self.place: dict[Any, int] = {m: k for k, m in enumerate(whose)}
        count = len(outputs) + tensors + storages
        needs, firsts = [], []
        nodes = self.graph.nodes
        for m in self.own:
            at = [k for k, n in enumerate(nodes) if any(r.memory == m for r in n.operands)]
            needs.append((self.graph.memories[m].nbytes, at[0], at[-1]))
        for k, n in enumerate(nodes):
            firsts.append(len(needs))
            needs += [(nbytes, k, k) for nbytes in n.launch.temporaries]
        self.series &= sum(nbytes for nbytes, _, _ in needs) <= IN_SERIES
        if self.series:  # steps that share memory have to wait for each other
            needs = [(nbytes, 0, len(nodes)) for nbytes, _, _ in needs]
        sizes, slot = assign_slots(needs)
        for k, m in enumerate(self.own):
            self.place[m] = count + slot[k]
        steps: list[Step] = []
        for n, first in zip(nodes, firsts, strict=True):
            operands = [self.place[self._alias_class(r)] for r in n.operands]
            operands += [count + slot[first + k] for k in range(len(n.launch.temporaries))]
            steps += self._steps(n, operands)
        if self.series and not self.drawn:
            memories = [m[0] if isinstance(m, tuple) else m for m in whose]
            steps = LaunchMerger(self.backend, count, sizes, memories, self.numbers, self.free_numbers.values()).merged(
                steps
            )
        return Launch(
            tuple([replace(s, key=shared_key(s.key)) for s in steps]),
            count,
            tuple(outputs),
            temporaries=tuple(sizes),
            own_numbers=None if self.drawn else tuple(self.numbers),
            storages=storages,
        )

    def _steps(self, node: Node, places: Sequence[int]) -> list[Step]:
        """Returns a node's steps, with operands renumbered for the whole launch."""
        begin = len(self.numbers)
        self._round(node)
        span = (begin, len(self.numbers))
        steps = []
        for s in node.launch.steps:
            starts, moved = [], []
            for k, more in zip(s.offsets, s.moved or (0,) * len(s.offsets), strict=True):
                start, there = (None, 0) if k is None else self._start(node.operands[k])
                starts.append(start)
                moved.append(there + more)
            steps.append(
                replace(
                    s,
                    pointers=tuple([places[k] for k in s.pointers]),
                    after=tuple([places[k] for k in s.after]),
                    offsets=tuple(starts),
                    moved=tuple(moved) if any(moved) else None,
                    numbers=_part_of(span, s.numbers),
                )
            )
        return steps

    def _round(self, node: Node) -> None:
        """Adds a node's numbers to those of the launch, as its kernels take them."""
        if not node.launch.numbers or node.launch.own_numbers is not None:
            for number in node.numbers:
                self.numbers.append(self._value(number, None))
            return
        for number, of in zip(node.numbers, node.launch.numbers, strict=True):
            if isinstance(number, DrawnNumber):
                self.drawn.append((len(self.numbers), of, number))
            self.numbers += values_of(self._value(number, of), of)

    def _value(self, number: Any, of: dtype | None) -> Any:
        """Returns a number as in the traced call. Records a FreeNumber's index, as each call passes
        it."""
        if not isinstance(number, FreeNumber):
            return number
        self.free_numbers.setdefault((number.place, of), []).append(len(self.numbers))
        return number.value

    def _alias_class(self, r: GraphTensor) -> Any:
        return (r.memory, r.dtype) if (r.memory, r.dtype) in self.seen else r.memory

    def _start(self, r: GraphTensor) -> tuple[int | None, int]:
        """Returns (the operand with the offset that a kernel gets, or None; the elements beyond
        that offset)."""
        m = self.graph.memories[r.memory]
        if m.argument is None:
            return None, r.offset
        return self.place[self._alias_class(r)], r.offset - m.offset // r.dtype.itemsize


def _part_of(span: tuple[int, int], numbers: bool | tuple[int, int]) -> bool | tuple[int, int]:
    begin, end = span
    if isinstance(numbers, tuple):
        return begin + numbers[0], begin + numbers[1]
    return span if numbers and begin < end else False


@dataclass(frozen=True)
class Lowered:
    """A lowered graph: one launch that returns the function's result for a call's tensors."""

    graph: Graph
    backend: Backend
    launch: Launch | None  # None where there is nothing to do
    arguments: Ints  # the call's tensors that kernels access, by index
    seen: tuple[tuple[int, dtype], ...]  # of these, as another dtype
    held: tuple[CapturedStorage, ...]  # and of captured tensors
    numbers: tuple[Any, ...]
    drawn: tuple[tuple[int, dtype, DrawnNumber], ...]  # the places of those that are drawn
    written: Ints  # which of the call's tensors are written
    changed: tuple[CapturedStorage, ...]  # and of captured tensors
    parts: tuple[Part, ...]  # the tensors of the result
    guards: Guards | None  # None if the signature covers all assumptions
    owners: tuple[ref[Any], ...]  # objects without which no call finds the graph
    # The numbers that a call may change: for each (index in the signature, dtype to round to,
    # indices in the kernels' numbers).
    free: FreeNumbers | None = None
    free_numbers: tuple[tuple[int, dtype | None, Ints], ...] = ()
    anew: bool = False  # each call passes them; else the graph uses those of the traced call
    run: Replay = field(init=False)
    _anew: Lowered | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "run", replay(self))

    @cached_property
    def _seeds(self) -> bool:
        """True if a run does more to generators than to call them."""
        return any(isinstance(draw, Seeding) for draw in self.graph.draws)

    @property
    def kept_bytes(self) -> int:
        """Returns about how many bytes of host memory the graph takes in the cache."""
        return 1 << 12 if self.launch is None else (1 << 12) + self.launch.kept_bytes

    @property
    def dead(self) -> bool:
        """True if no call can use the graph any more."""
        gone = any(owner() is None for owner in self.owners)
        gone = gone or any(thing.may_go and thing.current() is None for thing in self.graph.objects)
        return gone or (self.guards is not None and self.guards.stale)

    def release(self) -> None:
        """Drops objects that the first call alone can return."""
        for thing in self.graph.objects:
            if thing.once:
                thing.held = None
                self.backend.launches.lost()

    def serves(self, signature: Sequence[Any]) -> bool:
        """True if a call that differs in free numbers can use this graph."""
        return self.free is not None and self.free.check_numbers(signature, self.free_numbers)

    def renumbered(self) -> Lowered:
        """Returns the form of the graph that reads its free numbers (those that differ from call to
        call) from each call's signature."""
        if self._anew is None:
            launch = self.launch
            if launch is not None and self.free_numbers and not self.drawn:
                bound, launch = launch.bound, replace(launch, own_numbers=None)
                assert bound is not None
                launch.bind(bound)
            copy = replace(self, launch=launch, anew=bool(self.free_numbers))
            object.__setattr__(self, "_anew", copy)
        assert self._anew is not None
        return self._anew

    def _enqueued(self, inputs: Sequence[Tensor], numbers: Sequence[Any]) -> tuple[Tensor, ...]:
        """Runs the launch like `launch.call`, but by `enqueue`, so that observers see it."""
        assert self.launch is not None
        where = inputs[0]._storage.device
        outputs = tuple([out.make(self.backend, where) for out in self.launch.outputs])
        enqueue(self.launch, (*outputs, *inputs), numbers)
        return outputs

    def _with_call_numbers(self, signature: Sequence[Any]) -> list[Any]:
        """Returns the kernels' scalar arguments: those of the trace, but the free ones, which differ
        from call to call, from the call's signature."""
        numbers = list(self.numbers)
        for place, of, places in self.free_numbers:
            number = number_at(signature, place)
            values = (number,) if of is None else values_of(number, of)
            for at in places:
                numbers[at : at + len(values)] = values
        return numbers

    def _drawn(self, own: Sequence[Any]) -> list[Any]:
        """Returns the kernel numbers, with random numbers from new calls of the generators."""
        with _drawing if self._seeds else nullcontext():
            words = [draw.run() for draw in self.graph.draws]
        numbers = list(own)
        for place, of, number in self.drawn:
            (numbers[place],) = values_of(words[number.draw][number.part], of)
        return numbers

    def _check(self, tensors: Sequence[Tensor]) -> None:
        """Raises the first error that the kernels recorded about indices."""
        checks = [c for c in self.graph.checks if not self._indices_in_range(c, tensors)]
        if not checks:
            return
        self.backend.current_stream().finish()
        for check, bad in [(check, check.flag.read_and_clear()) for check in checks]:
            if bad is not None:
                which, index, size = bad
                error = check.refusal(index, check.dims[which], size)
                raise error if check.origin is None else errors_graph.at_line(error, *check.origin)

    def _indices_in_range(self, check: CheckedIndices, tensors: Sequence[Tensor]) -> bool:
        """True if the bounds of all indices of a call are known and valid."""
        for r, size, strict in check.indices:
            k = self.graph.memories[r.memory].argument
            if k is None or not bounds_in_range(tensors[k]._storage.bounds, r.dtype, size, strict):
                return False
        return bool(check.indices)

    @staticmethod
    def _seen_as(t: Tensor, of: dtype) -> Tensor:
        """Returns a tensor at the start of `t`, of another dtype."""
        return Tensor._make(t._storage, of, (), (), t._offset * t._dtype.itemsize // of.itemsize)
