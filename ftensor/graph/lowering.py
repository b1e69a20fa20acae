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
from ..execute.capture import capturing
from ..execute.dispatch import bound_to
from ..execute.indexed import bounds_in_range
from ..execute.keys import shared_key
from ..execute.launch import Launch, Output, Step, enqueue
from ..execute.scalars import CapturedRandom, values_of
from ..iterator.shape import Ints, is_dense, numel
from .beat_copies import reads_beats
from .guards import CapturedStorage, Guards, Replay, ResultPart, ReturnedArgument, captured_storage, replay
from .ir import (
    CheckedIndices,
    DynamicScalar,
    Graph,
    GraphTensor,
    Node,
    ResultTensor,
    Seeding,
    TracedRandom,
    assign_slots,
)
from .launch_merging import LaunchMerger
from .signature import DynamicScalars, scalar_at

if TYPE_CHECKING:
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage


# Held while a graph that seeds changes generators: a generator that its function creates is one
# object in all threads.
_draw_lock = RLock()


def _new_lock() -> None:
    # If another thread holds the lock during a fork, it stays locked in the child.
    global _draw_lock
    _draw_lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)

# Limit of the graph's own memories without sharing, in bytes; larger graphs share memory slots.
MAX_UNSHARED_BYTES = 1 << 24


def lower_graph(
    graph: Graph,
    backend: Backend,
    tensors: Sequence[Tensor],
    dynamic_scalars: DynamicScalars | None = None,
    merge_steps: bool = False,
    owners: Sequence[Any] = (),
    captured: Set[Storage] = frozenset(),
) -> Lowered:
    """Returns the graph of a call with these tensors, bound to its device. Raises KernelNotBuilt if
    the images lack a kernel.

    `merge_steps`: merge steps if compute units need not wait between them. `owners`: objects that
    the signature refers to; without them the graph is dead. `captured`: storages of captured
    tensors.
    """
    on_death = backend.launches.note_dead
    return _Lowering(graph, backend, tensors, dynamic_scalars, merge_steps).lower(
        [ref(owner, on_death) for owner in owners], captured
    )


class _Lowering:
    """The lowering of one graph."""

    def __init__(
        self,
        graph: Graph,
        backend: Backend,
        tensors: Sequence[Tensor],
        dynamic_scalars: DynamicScalars | None,
        merge_steps: bool,
    ) -> None:
        self.graph, self.backend, self.tensors, self.dynamic_scalars = graph, backend, tensors, dynamic_scalars
        self.merge_steps = merge_steps and backend.target.processor
        memories = graph.memories
        used = list(dict.fromkeys(r.memory for n in graph.nodes for r in n.operands))
        returned = dict.fromkeys(f.region.memory for f in graph.result_tensors)
        self.outputs = [m for m in returned if memories[m].is_internal]
        self.arguments = [m for m in used if memories[m].argument is not None]
        self.captured = [m for m in used if memories[m].captured is not None]
        self.internal = [m for m in used if memories[m].is_internal and m not in self.outputs]
        self.reinterpreted: dict[tuple[int, dtype], None] = {}
        for r in (r for n in graph.nodes for r in n.operands if r.memory in self.arguments):
            if r.dtype is not self._argument(r.memory)._dtype:
                self.reinterpreted[r.memory, r.dtype] = None
        self.scalars: list[Any] = []
        self.random_scalars: list[tuple[int, dtype, TracedRandom]] = []
        self.dynamic_scalar_uses: dict[tuple[int, dtype | None], list[int]] = {}

    def _argument(self, memory: int) -> Tensor:
        k = self.graph.memories[memory].argument
        assert k is not None
        return self.tensors[k]

    def lower(self, owners: Sequence[ref[Any]], shape_guarded: Set[Storage]) -> Lowered:
        """Returns the lowered graph."""
        graph, memories = self.graph, self.graph.memories
        outputs = [self._output(m) for m in self.outputs]
        on_death = self.backend.launches.note_dead
        captured = captured_storage(graph, on_death)
        inputs = [captured[m] for m in self.captured]
        launch = None
        if graph.nodes or outputs:
            if not (self.arguments or inputs):  # a launch takes its device from an input
                storage = self.backend.allocate_lasting(1)
                storage.device = next(m.device for m in memories if m.device is not None)
                inputs.append(CapturedStorage(storage, True, on_death))
            launch = self._launch(outputs, len(self.arguments) + len(self.reinterpreted), len(inputs))
            launch.bind(bound_to(self.backend, launch.steps))
        parts = [self._result_part(f, outputs, captured) for f in graph.result_tensors]
        arguments = [self._index(m) for m in self.arguments]
        written = [self._index(m) for m in self.arguments if graph.writes(m)]
        captured_written = [k for k, m in enumerate(captured) if graph.writes(m)]
        guards = None
        if written or captured or graph.offset_guards or shape_guarded:
            values = graph.captured_values
            guards = Guards(
                arguments,
                written,
                tuple(captured.values()),
                captured_written,
                graph.offset_guards,
                shape_guarded,
                on_death,
                values,
            )
        # Runs read neither the nodes nor, if no index is checked, the memories.
        memories = tuple([m._replace(captured=None) for m in memories]) if graph.checks else ()
        return Lowered(
            replace(graph, nodes=(), memories=memories, offset_guards=(), captured_values=None),
            self.backend,
            launch,
            tuple(arguments),
            tuple([(self._index(m), d) for m, d in self.reinterpreted]),
            tuple(inputs),
            tuple(self.scalars),
            tuple(self.random_scalars),
            tuple(written),
            tuple([captured[m] for m in self.captured if graph.writes(m)]),
            tuple(parts),
            guards,
            tuple(owners),
            self.dynamic_scalars,
            tuple([(index, d, tuple(positions)) for (index, d), positions in self.dynamic_scalar_uses.items()]),
            *self._off_beats(launch, captured),
        )

    def _off_beats(
        self, launch: Launch | None, captured: Mapping[int, CapturedStorage]
    ) -> tuple[tuple[tuple[int, int], ...], tuple[CapturedStorage, ...]]:
        """Returns the arguments, with their starts in bytes, and the captured storages that kernels
        need copies of: these read whole beats, and the memory begins on none."""
        if not reads_beats(self.backend, launch):
            return (), ()
        memories = self.graph.memories
        arguments = [m for m in self.arguments if self._argument(m)._storage.misalignment]
        storages = [captured[m] for m in self.captured if captured[m].storage.misalignment]
        return tuple([(self._index(m), memories[m].offset) for m in arguments]), tuple(storages)

    def _index(self, memory: int) -> int:
        k = self.graph.memories[memory].argument
        assert k is not None
        return k

    def _output(self, memory: int) -> Output:
        """Returns the output for a memory of the result: with the geometry of the first result
        tensor that covers the memory, else as bytes."""
        nbytes = self.graph.memories[memory].nbytes
        for r in (f.region for f in self.graph.result_tensors):
            covers = r.memory == memory and nbytes == numel(r.shape) * r.dtype.itemsize
            if covers and not r.offset and is_dense(r.shape, r.strides):
                return Output(r.dtype, r.shape, r.strides)
        return Output(uint8, (nbytes,), (1,))

    def _result_part(
        self, f: ResultTensor, outputs: Sequence[Output], captured_storages: Mapping[int, CapturedStorage]
    ) -> ResultPart:
        """Returns how a call obtains a tensor of the result: an argument, one of the launch's
        outputs, or a function that returns a view of an argument, of an output or of captured
        storage."""
        r, m = f.region, self.graph.memories[f.region.memory]
        argument, captured = f.argument, captured_storages.get(r.memory)
        if argument is not None:
            return ReturnedArgument(argument)
        if captured is not None:
            return lambda results, tensors: f.on_storage(captured.storage, r.offset)
        size = r.dtype.itemsize
        if m.argument is not None:
            shift = r.offset - m.offset // size

            def view(results: Any, tensors: Any) -> Tensor:
                t = tensors[m.argument]
                return f.on_storage(t._storage, t._offset * t._dtype.itemsize // size + shift)

            return view
        j = self.outputs.index(r.memory)
        if outputs[j].key == f.key and not r.offset:
            return j
        return lambda results, tensors: f.on_storage(results[j]._storage, r.offset)

    def _launch(self, outputs: Sequence[Output], tensors: int, storages: int) -> Launch:
        """Returns one launch of all nodes. A call passes `tensors`, then captured storage."""
        operand_keys = [*self.outputs, *self.arguments, *self.reinterpreted, *self.captured]
        self.operand_index: dict[Any, int] = {m: k for k, m in enumerate(operand_keys)}
        count = len(outputs) + tensors + storages
        requests, first_temporary = [], []
        nodes = self.graph.nodes
        for m in self.internal:
            uses = [k for k, n in enumerate(nodes) if any(r.memory == m for r in n.operands)]
            requests.append((self.graph.memories[m].nbytes, uses[0], uses[-1]))
        for k, n in enumerate(nodes):
            first_temporary.append(len(requests))
            requests += [(nbytes, k, k) for nbytes in n.launch.temporaries]
        self.merge_steps &= sum(nbytes for nbytes, _, _ in requests) <= MAX_UNSHARED_BYTES
        if self.merge_steps:  # steps that share memory have to wait for each other
            requests = [(nbytes, 0, len(nodes)) for nbytes, _, _ in requests]
        sizes, slots = assign_slots(requests)
        for k, m in enumerate(self.internal):
            self.operand_index[m] = count + slots[k]
        steps: list[Step] = []
        for n, first in zip(nodes, first_temporary, strict=True):
            operands = [self.operand_index[self._alias_class(r)] for r in n.operands]
            operands += [count + slots[first + k] for k in range(len(n.launch.temporaries))]
            steps += self._steps(n, operands)
        if self.merge_steps and not self.random_scalars:
            memories = [m[0] if isinstance(m, tuple) else m for m in operand_keys]
            steps = LaunchMerger(
                self.backend, count, sizes, memories, self.scalars, self.dynamic_scalar_uses.values()
            ).merge(steps)
        return Launch(
            tuple([replace(s, key=shared_key(s.key)) for s in steps]),
            count,
            tuple(outputs),
            temporaries=tuple(sizes),
            fixed_scalars=None if self.random_scalars else tuple(self.scalars),
            storages=storages,
        )

    def _steps(self, node: Node, operands: Sequence[int]) -> list[Step]:
        """Returns a node's steps, with operands renumbered for the whole launch."""
        begin = len(self.scalars)
        self._add_scalars(node)
        span = (begin, len(self.scalars))
        steps = []
        for s in node.launch.steps:
            starts, moved = [], []
            for k, extra in zip(s.offsets, s.moved or (0,) * len(s.offsets), strict=True):
                start, shift = (None, 0) if k is None else self._base_offset(node.operands[k])
                starts.append(start)
                moved.append(shift + extra)
            steps.append(
                replace(
                    s,
                    pointers=tuple([operands[k] for k in s.pointers]),
                    after=tuple([operands[k] for k in s.after]),
                    offsets=tuple(starts),
                    moved=tuple(moved) if any(moved) else None,
                    scalars=_scalar_range(span, s.scalars),
                )
            )
        return steps

    def _add_scalars(self, node: Node) -> None:
        """Appends a node's numbers to the numbers of the launch, rounded as its kernels take
        them."""
        if not node.launch.scalar_dtypes or node.launch.fixed_scalars is not None:
            for number in node.scalars:
                self.scalars.append(self._traced_value(number, None))
            return
        for number, d in zip(node.scalars, node.launch.scalar_dtypes, strict=True):
            if isinstance(number, TracedRandom):
                self.random_scalars.append((len(self.scalars), d, number))
            self.scalars += values_of(self._traced_value(number, d), d)

    def _traced_value(self, number: Any, d: dtype | None) -> Any:
        """Returns a number as in the traced call. Records the index of a DynamicScalar, since each
        call passes its own value."""
        if not isinstance(number, DynamicScalar):
            return number
        self.dynamic_scalar_uses.setdefault((number.index, d), []).append(len(self.scalars))
        return number.value

    def _alias_class(self, r: GraphTensor) -> Any:
        return (r.memory, r.dtype) if (r.memory, r.dtype) in self.reinterpreted else r.memory

    def _base_offset(self, r: GraphTensor) -> tuple[int | None, int]:
        """Returns (the operand with the offset that a kernel gets, or None; the elements beyond
        that offset)."""
        m = self.graph.memories[r.memory]
        if m.argument is None:
            return None, r.offset
        return self.operand_index[self._alias_class(r)], r.offset - m.offset // r.dtype.itemsize


def _scalar_range(span: tuple[int, int], scalars: bool | tuple[int, int]) -> bool | tuple[int, int]:
    begin, end = span
    if isinstance(scalars, tuple):
        return begin + scalars[0], begin + scalars[1]
    return span if scalars and begin < end else False


@dataclass(frozen=True)
class Lowered:
    """A lowered graph: one launch that returns the function's result for a call's tensors."""

    graph: Graph
    backend: Backend
    launch: Launch | None  # None for a graph without kernels
    arguments: Ints  # the call's tensors that kernels access, by index
    reinterpreted: tuple[tuple[int, dtype], ...]  # those accessed in another dtype
    captured: tuple[CapturedStorage, ...]  # and of captured tensors
    scalars: tuple[Any, ...]
    random_scalars: tuple[tuple[int, dtype, TracedRandom], ...]  # positions of the random numbers
    written_arguments: Ints  # indices of the call's tensors that kernels write
    written_captures: tuple[CapturedStorage, ...]  # captured storages that kernels write
    result_parts: tuple[ResultPart, ...]  # the tensors of the result
    guards: Guards | None  # None if the signature covers all assumptions
    owners: tuple[ref[Any], ...]  # the graph is dead without these objects
    # Numbers that may differ from call to call: for each (index in the signature, dtype to round
    # to, indices in the kernels' scalar arguments).
    dynamic_scalars: DynamicScalars | None = None
    dynamic_scalar_uses: tuple[tuple[int, dtype | None, Ints], ...] = ()
    # Memory off beats, of which kernels get copies: (argument, its start in bytes), captured storage.
    arguments_off_beats: tuple[tuple[int, int], ...] = ()
    captured_off_beats: tuple[CapturedStorage, ...] = ()
    takes_call_scalars: bool = False  # True if each call's numbers are used, False for those of the traced call
    run: Replay = field(init=False)
    _with_dynamic_scalars: Lowered | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "run", replay(self))

    @cached_property
    def _has_seeding(self) -> bool:
        """True if a run seeds generators or sets their state, besides drawing numbers."""
        return any(isinstance(draw, Seeding) for draw in self.graph.draws)

    @property
    def kept_bytes(self) -> int:
        """Returns the approximate host memory of the cached graph in bytes."""
        return 1 << 12 if self.launch is None else (1 << 12) + self.launch.kept_bytes

    @property
    def is_dead(self) -> bool:
        """True if no call can use the graph any more."""
        is_dead = any(owner() is None for owner in self.owners)
        is_dead = is_dead or any(
            returned.can_expire and returned.current() is None for returned in self.graph.returned_objects
        )
        return is_dead or (self.guards is not None and self.guards.is_stale)

    def release(self) -> None:
        """Drops the objects that only the first call can return."""
        for returned in self.graph.returned_objects:
            if returned.is_single_use:
                returned.value = None
                self.backend.launches.note_dead()

    def accepts(self, signature: Sequence[Any]) -> bool:
        """True if a call whose dynamic scalars differ can use this graph."""
        return self.dynamic_scalars is not None and self.dynamic_scalars.check_scalars(
            signature, self.dynamic_scalar_uses
        )

    def with_dynamic_scalars(self) -> Lowered:
        """Returns the form of the graph that reads its dynamic scalars (those that differ from call to
        call) from each call's signature."""
        if self._with_dynamic_scalars is None:
            launch = self.launch
            if launch is not None and self.dynamic_scalar_uses and not self.random_scalars:
                bound, launch = launch.bound, replace(launch, fixed_scalars=None)
                assert bound is not None
                launch.bind(bound)
            copy = replace(self, launch=launch, takes_call_scalars=bool(self.dynamic_scalar_uses))
            object.__setattr__(self, "_with_dynamic_scalars", copy)
        assert self._with_dynamic_scalars is not None
        return self._with_dynamic_scalars

    def _run_observed(self, inputs: Sequence[Tensor], scalars: Sequence[Any]) -> tuple[Tensor, ...]:
        """Runs the launch like `launch.call`, but through `enqueue`, so that observers see it."""
        assert self.launch is not None
        device = inputs[0]._storage.device
        outputs = tuple([out.make(self.backend, device) for out in self.launch.outputs])
        enqueue(self.launch, (*outputs, *inputs), scalars)
        return outputs

    def _with_call_scalars(self, signature: Sequence[Any]) -> list[Any]:
        """Returns the kernels' scalar arguments: the traced values, with the dynamic ones replaced by
        those of the call's signature."""
        scalars = list(self.scalars)
        for index, d, positions in self.dynamic_scalar_uses:
            number = scalar_at(signature, index)
            values = (number,) if d is None else values_of(number, d)
            for position in positions:
                scalars[position : position + len(values)] = values
        return scalars

    def _draw_random_scalars(self, constants: Sequence[Any]) -> list[Any]:
        """Returns the kernels' scalar arguments, with random numbers from new draws of the
        generators."""
        with _draw_lock if self._has_seeding else nullcontext():
            words = [draw.run() for draw in self.graph.draws]
        scalars = list(constants)
        for index, d, number in self.random_scalars:
            word = words[number.draw][number.part]
            (scalars[index],) = values_of(word, d)
            if type(word) is CapturedRandom and self.launch is not None:
                word.capture.record_use(self.launch, index, d, word)
        return scalars

    def _check_indices(self, tensors: Sequence[Tensor]) -> None:
        """Raises the first error that the kernels recorded about indices. A capture keeps the checks
        for its replays."""
        capture = None if self.backend.executor is None else capturing(self.backend)
        if capture is not None:
            for check in self.graph.checks:
                capture.record_check(check.flag, check.dims, check.refusal)
            return
        checks = [c for c in self.graph.checks if not self._indices_in_range(c, tensors)]
        if not checks:
            return
        self.backend.current_stream().finish()
        for check, violation in [(check, check.flag.read_and_clear()) for check in checks]:
            if violation is not None:
                dim, index, size = violation
                error = check.refusal(index, check.dims[dim], size)
                raise error if check.origin is None else errors_graph.at_line(error, *check.origin)

    def _indices_in_range(self, check: CheckedIndices, tensors: Sequence[Tensor]) -> bool:
        """True if the bounds of all indices of a call are known and valid."""
        for r, size, strict in check.indices:
            k = self.graph.memories[r.memory].argument
            if k is None or not bounds_in_range(tensors[k]._storage.bounds, r.dtype, size, strict):
                return False
        return bool(check.indices)

    @staticmethod
    def _reinterpret(t: Tensor, d: dtype) -> Tensor:
        """Returns a tensor of dtype `d` over the memory of `t`, from its first element on."""
        return Tensor._make(t._storage, d, (), (), t._offset * t._dtype.itemsize // d.itemsize)
