"""A graph becomes one launch: its steps, where operands lie, and what a call passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import ref

from .._tensor import Tensor
from ..dtypes import dtype, uint8
from ..execute.launch import Launch, Output, Step
from ..execute.look_up import bound_to
from ..execute.numbers import values_of
from ..iterator.shape import numel
from ..iterator.stride import is_dense
from .guards import Guards, Held, held_by
from .lowered import Lowered, ResultMaker
from .node import DrawnNumber, FreeNumber, Graph, Node, Region, ResultTensor
from .numbers import Free
from .series import InSeries
from .slots import slots

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.storage import Storage

# Bytes that a graph's own memories take side by side, beyond which they share them.
IN_SERIES = 1 << 24


def lowered(
    graph: Graph,
    backend: Backend,
    tensors: Sequence[Tensor],
    free: Free | None = None,
    series: bool = False,
    owners: Sequence[Any] = (),
    seen: Set[Storage] = frozenset(),
) -> Lowered:
    """A graph of a call with such tensors, bound to its device; KernelNotBuilt where the images
    there lack a kernel. `series`: kernels become one where units need not wait between. `owners`:
    without whom no call finds the graph; `seen`: memory whose tensors were seen outside."""
    lost = backend.launches.lost
    return _Lowering(graph, backend, tensors, free, series).done([ref(owner, lost) for owner in owners], seen)


class _Lowering:
    """One graph on its way."""

    def __init__(
        self, graph: Graph, backend: Backend, tensors: Sequence[Tensor], free: Free | None, series: bool
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
        """The launch, and what a call passes it."""
        graph, memories = self.graph, self.graph.memories
        outputs = [self._output(m) for m in self.outputs]
        lost = self.backend.launches.lost
        found = held_by(graph, lost)
        held = [found[m] for m in self.held]
        launch = None
        if graph.nodes or outputs:
            if not (self.arguments or held):  # a launch is where an input is
                storage = self.backend.allocate_lasting(1)
                storage.device = next(m.device for m in memories if m.device is not None)
                held.append(Held(storage, True, lost))
            launch = self._launch(outputs, len(self.arguments) + len(self.seen) + len(held))
            launch.bind(bound_to(self.backend, launch.steps))
        parts = [self._part(f, outputs, found) for f in graph.result_tensors]
        arguments = [self._index(m) for m in self.arguments]
        written = [self._index(m) for m in self.arguments if graph.writes(m)]
        held_written = [k for k, m in enumerate(found) if graph.writes(m)]
        guards = None
        if written or found or graph.starts or seen:
            guards = Guards(arguments, written, tuple(found.values()), held_written, graph.starts, seen, lost)
        memories = tuple([m._replace(held=None) for m in memories])
        return Lowered(
            replace(graph, memories=memories),
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
        """A memory of the result: as its first tensor, where that is all of it."""
        nbytes = self.graph.memories[memory].nbytes
        for r in (f.region for f in self.graph.result_tensors):
            whole = r.memory == memory and nbytes == numel(r.shape) * r.dtype.itemsize
            if whole and not r.offset and is_dense(r.shape, r.strides):
                return Output(r.dtype, r.shape, r.strides)
        return Output(uint8, (nbytes,), (1,))

    def _part(self, f: ResultTensor, outputs: Sequence[Output], found: Mapping[int, Held]) -> int | ResultMaker:
        """What gives a tensor of the result; an output's number for that as it is."""
        r, m = f.region, self.graph.memories[f.region.memory]
        which, held = f.argument, found.get(r.memory)
        if which is not None:
            return lambda results, tensors: tensors[which]
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

    def _launch(self, outputs: Sequence[Output], inputs: int) -> Launch:
        """All nodes in one."""
        whose = [*self.outputs, *self.arguments, *self.seen, *self.held]
        self.place: dict[Any, int] = {m: k for k, m in enumerate(whose)}
        count = len(outputs) + inputs
        needs, firsts = [], []
        nodes = self.graph.nodes
        for m in self.own:
            at = [k for k, n in enumerate(nodes) if any(r.memory == m for r in n.operands)]
            needs.append((self.graph.memories[m].nbytes, at[0], at[-1]))
        for k, n in enumerate(nodes):
            firsts.append(len(needs))
            needs += [(nbytes, k, k) for nbytes in n.launch.temporaries]
        self.series &= sum(nbytes for nbytes, _, _ in needs) <= IN_SERIES
        if self.series:  # who shares memory has to wait
            needs = [(nbytes, 0, len(nodes)) for nbytes, _, _ in needs]
        sizes, slot = slots(needs)
        for k, m in enumerate(self.own):
            self.place[m] = count + slot[k]
        steps: list[Step] = []
        for n, first in zip(nodes, firsts, strict=True):
            operands = [self.place[self._whose(r)] for r in n.operands]
            operands += [count + slot[first + k] for k in range(len(n.launch.temporaries))]
            steps += self._steps(n, operands)
        if self.series and not self.drawn:
            memories = [m[0] if isinstance(m, tuple) else m for m in whose]
            steps = InSeries(self.backend, count, sizes, memories, self.numbers, self.free_numbers.values()).merged(
                steps
            )
        return Launch(
            tuple(steps),
            count,
            tuple(outputs),
            temporaries=tuple(sizes),
            own_numbers=None if self.drawn else tuple(self.numbers),
        )

    def _steps(self, node: Node, places: Sequence[int]) -> list[Step]:
        """A node's steps, on the whole launch's operands."""
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
        """Note the numbers that a node's kernels get."""
        if not node.launch.numbers or node.launch.own_numbers is not None:
            for number in node.numbers:
                self.numbers.append(self._value(number, None))
            return
        for number, of in zip(node.numbers, node.launch.numbers, strict=True):
            if isinstance(number, DrawnNumber):
                self.drawn.append((len(self.numbers), of, number))
            self.numbers += values_of(self._value(number, of), of)

    def _value(self, number: Any, of: dtype | None) -> Any:
        """A number as the traced call had it; where each call tells it is noted."""
        if not isinstance(number, FreeNumber):
            return number
        self.free_numbers.setdefault((number.place, of), []).append(len(self.numbers))
        return number.value

    def _whose(self, r: Region) -> Any:
        """What stands for a region among the operands."""
        return (r.memory, r.dtype) if (r.memory, r.dtype) in self.seen else r.memory

    def _start(self, r: Region) -> tuple[int | None, int]:
        """(whose offset a kernel gets, if anybody's; elements beyond it)."""
        m = self.graph.memories[r.memory]
        if m.argument is None:
            return None, r.offset
        return self.place[self._whose(r)], r.offset - m.offset // r.dtype.itemsize


def _part_of(span: tuple[int, int], numbers: bool | tuple[int, int]) -> bool | tuple[int, int]:
    """Of a launch's numbers those of a step of one of its nodes, which lie at `span`."""
    begin, end = span
    if isinstance(numbers, tuple):
        return begin + numbers[0], begin + numbers[1]
    return span if numbers and begin < end else False
