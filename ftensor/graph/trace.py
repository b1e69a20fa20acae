"""Runs a function under the tracer: launches are recorded, arguments are placeholders.

With FTENSOR_FUSE=0 nothing is traced or fused, so that a wrong value can be bisected."""

from __future__ import annotations

import copy
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from .._tensor import Tensor
from ..dtypes import int32, uint8
from ..errors import graph as errors
from ..errors.call import environment_value
from ..errors.message import line_of
from ..execute.dispatch import LaunchRecorder, observed
from ..execute.indexed import in_range
from ..execute.layers import FIR, REFLECT
from ..execute.pointwise import pointwise
from ..execute.scalars import TracedScalar, plain
from ..iterator.shape import Ints
from ..rows.catalogue import op_called
from ..rows.copies import COPY
from ..runtime.pool import Storage
from .guards import OffsetGuard
from .ir import (
    CALL_NUMBER,
    CheckedIndices,
    Draw,
    Graph,
    GraphBuffer,
    GraphTensor,
    LayerCall,
    Node,
    Origin,
    ResultTensor,
    ReturnedObject,
    Seeding,
    TracedRandom,
    placeholder_for,
)
from .written_arguments import record_copies

if TYPE_CHECKING:
    from ..execute.launch import Launch
    from ..runtime.backend import Backend
    from ..runtime.stream import DeviceStream


class TracedStorage(Storage):
    """Placeholder for memory that a graph allocates at each call. It has no bytes."""

    __slots__ = ("memory",)

    def __init__(self, backend: Backend, stream: DeviceStream, nbytes: int, memory: int) -> None:
        self.backend, self.stream, self.nbytes, self.memory = backend, stream, nbytes, memory
        self.users = self.owner = self.bounds = self.derived = self.device = None
        self.readonly, self.exposed, self.visible = False, False, []

    @property
    def handle(self) -> Any:
        """Raises GraphError, as there is no memory during a trace."""
        raise errors.left()

    ptr = handle

    @property
    def misalignment(self) -> int:
        """Returns 0, as the pool's memory begins on a vector boundary."""
        return 0


class Tracer(LaunchRecorder):
    """Records the launches of one thread on a device."""

    def __init__(self, function: str, backend: Backend, tensors: Sequence[Tensor]) -> None:
        super().__init__()
        self.function, self.backend = function, backend
        self.stream, self._tensors = backend.current_stream(), tensors
        self.nodes: list[Node] = []
        self.memories: list[GraphBuffer] = []
        self.draws: list[Draw | Seeding] = []
        self.checks: list[CheckedIndices] = []
        self._undo: list[Callable[[], object]] = []  # restores generators, the last one first
        self._drawn_from: set[int] = set()  # ids of generators
        self.offset_guards: list[OffsetGuard] = []
        self.returned_objects: dict[int, ReturnedObject] = {}  # that the function returns, by id
        self._reshaped: dict[int, tuple[ref[Tensor], Tensor]] = {}  # and their former geometry
        self._allocated: list[tuple[ref[TracedStorage], Origin]] = []
        self._staging: dict[int, Storage] = {}  # of arrays that are copied to the device, by id
        self.layers: list[LayerCall] = []
        self.filters: list[LayerCall] = []
        self._in_layer = False
        self._memory_numbers: dict[int, int] = {}  # of the memories that are there, by their ids
        for k, t in enumerate(tensors):
            storage = t._storage
            if id(storage) not in self._memory_numbers:
                self._memory_numbers[id(storage)] = len(self.memories)
                start = t._offset * t._dtype.itemsize
                self.memories.append(GraphBuffer(storage.nbytes, storage.device, k, start))

    # The device's calls, as an observer

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> None:
        """Records a launch as a node."""
        if not self.is_current_thread:
            super().launch(launch, stream, tensors, scalars)
            return
        origin = self._origin()
        if launch.steps:
            name = getattr(launch.steps[0].key, "name", launch.steps[0].key.skeleton)
            origin = origin._replace(op=name.removesuffix("_whole").removesuffix("_first"))
        if stream is not self.stream:
            raise errors.other_stream(origin.op, self.function, origin.line)
        regions = tuple([self.region(t) for t in tensors])
        if launch.steps:
            self.nodes.append(Node(launch, regions, tuple(scalars), origin))

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Records a copy from an array to the graph's memory. Uploads to other storage run at
        once."""
        if not (self.is_current_thread and isinstance(storage, TracedStorage)):
            super().upload(storage, byte_offset, array)
            return
        staging = self.backend.pool.take(array.nbytes, self.backend.default_stream)
        # The graph owns it, also where the device still holds it for the copy.
        self._staging[id(staging)] = staging
        staging.device = storage.device
        super().upload(staging, 0, array)
        d = int32 if array.nbytes % 4 == byte_offset % 4 == 0 else uint8
        shape = (array.nbytes // d.itemsize,)
        source = Tensor._make(staging, d, shape, (1,))
        target = Tensor._make(storage, d, shape, (1,), byte_offset // d.itemsize)
        pointwise(COPY, (source,), (), target, True)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Raises GraphError, as the function reads a value."""
        self.read(storage)
        super().download(storage, byte_offset, array)

    def read(self, storage: Storage) -> None:
        """Raises GraphError, as there is no value during a trace."""
        if self.is_current_thread:
            origin = self._origin()
            raise errors.value_read(origin.op, self.function, origin.line)
        super().read(storage)

    def reshaped(self, tensor: Tensor) -> None:
        if (
            self.is_current_thread
            and not isinstance(tensor._storage, TracedStorage)
            and id(tensor) not in self._reshaped
        ):
            before = tensor._view(tensor._shape, tensor._strides, tensor._offset)
            self._reshaped[id(tensor)] = ref(tensor), before

    def start_read(self, tensor: Tensor, multiple: int) -> None:
        """Adds a guard on an argument's offset, which may differ in other calls. A captured
        tensor's offset is fixed until the tensor gets another geometry."""
        if not self.is_current_thread:
            return
        argument = self.memories[self.region(tensor).memory].argument
        if argument is not None:
            self.offset_guards.append(OffsetGuard.for_tensor(argument, self._tensors[argument], multiple))

    def allocate(self, backend: Backend, nbytes: int, stream: DeviceStream, lasting: bool) -> Storage:
        """Returns placeholder storage. Lasting storage is allocated at once."""
        if lasting or not self.is_current_thread:
            return super().allocate(backend, nbytes, stream, lasting)
        backend.pool.check_capacity(nbytes)
        storage = TracedStorage(backend, stream, nbytes, len(self.memories))
        self.memories.append(GraphBuffer(nbytes, None))
        self._allocated.append((ref(storage), self._origin()))
        return storage

    def is_placeholder(self, storage: Storage) -> bool:
        """True if the storage is a placeholder of this trace."""
        return isinstance(storage, TracedStorage)

    def record_check(self, flag: Any, dims: Sequence[int], refusal: Any, indices: Sequence[Any]) -> None:
        """Records an index check, which each run performs."""
        unchecked = [i for i in indices if not (i.checked or in_range(i.tensor, i.size, i.strict))]
        regions = tuple([(self.region(i.tensor), i.size, i.strict) for i in unchecked])
        self.checks.append(CheckedIndices(flag, tuple(map(plain, dims)), refusal, regions, self._origin()))

    def record_draw(self, generator: Any, words: Callable[[int, int], Any]) -> tuple[Any, ...]:
        """Records a generator's call, and advances the generator until `restore_generators`."""
        if id(generator) not in self._drawn_from:
            self._drawn_from.add(id(generator))
            self._undo.append(partial(generator._set, *generator._both()))
        scalars = []
        for part, value in enumerate(words(*generator._call())):
            number = TracedRandom(value)
            number.draw, number.part = len(self.draws), part
            scalars.append(number)
        self.draws.append(Draw(generator, words))
        return tuple(scalars)

    def record_seeding(self, act: Callable[[], object], undo: Callable[[], object]) -> None:
        """Records a change of generators, and applies it until `restore_generators`."""
        self._undo.append(undo)
        self.draws.append(Seeding(act))
        act()

    def refuse_state_read(self) -> None:
        """Raises GraphError, since later calls find other states."""
        origin = self._origin()
        raise errors.state_read(origin.op, self.function, origin.line)

    def layer(
        self, kind: str, inputs: Sequence[Tensor], settings: Mapping[str, Any], compute: Callable[[], Tensor]
    ) -> Tensor:
        """Records the launches of `compute()` as one layer; a layer within another has no record of
        its own."""
        if self._in_layer:
            return compute()
        first, origin = len(self.nodes), self._origin()
        regions = tuple([self.region(t) for t in inputs])
        self._in_layer = True
        try:
            result = compute()
        finally:
            self._in_layer = False
        nodes = range(first, len(self.nodes))
        recorded = {name: self._setting(value) for name, value in settings.items()}
        calls = self.filters if kind in (FIR, REFLECT) else self.layers
        calls.append(LayerCall(kind, regions, self.region(result), recorded, nodes, origin))
        return result

    def _setting(self, value: Any) -> Any:
        """Returns a layer's argument for the layer's record, which must not keep the call's tensors
        and numbers alive."""
        if type(value) is Tensor:
            return self.region(value)
        if isinstance(value, (list, tuple)):
            return tuple([self._setting(part) for part in value])
        return CALL_NUMBER if type(value) is TracedScalar else value

    def restore_generators(self) -> None:
        """Restores the state of generators from before the trace."""
        while self._undo:
            self._undo.pop()()

    def geometry_changed(self) -> bool:
        """True if a live tensor has another geometry than before the trace."""
        return any(reference() is not None for reference, _ in self._reshaped.values())

    def argument_reshaped(self) -> bool:
        """True if a tensor over an argument's memory has another geometry. If an argument is also
        captured, the trace has two tensors for it: a change of one is missing in the other, so the
        function may raise an error that it would not raise without a trace."""
        argument_ids = {id(t) for t in self._tensors}
        argument_storage = {t._storage.storage for t in self._tensors if isinstance(t._storage, ArgumentStorage)}
        changed = [(reference(), before._storage) for reference, before in self._reshaped.values()]
        return any(t is not None and (id(t) in argument_ids or storage in argument_storage) for t, storage in changed)

    def restore_geometry(self) -> tuple[Ints, Ints] | None:
        """Restores the geometry of tensors. Returns (the shape before, the shape during the trace)
        of the first live tensor that changed; None if there is none."""
        shapes = None
        for reference, before in self._reshaped.values():
            t = reference()
            if t is not None:
                shapes = shapes or (before._shape, t._shape)
                t._become(before)
        return shapes

    # The parts of a graph

    def region(self, t: Tensor) -> GraphTensor:
        """Returns the GraphTensor of a tensor: its memory's number, dtype and geometry. Adds the
        memory to the graph if it is new."""
        storage = t._storage
        if isinstance(storage, TracedStorage):
            number = storage.memory
            if self.memories[number].device is None:
                self.memories[number] = self.memories[number]._replace(device=storage.device)
        else:
            number = self._memory_numbers.setdefault(id(storage), len(self.memories))
            if number == len(self.memories):
                owned = id(storage) in self._staging
                self.memories.append(GraphBuffer(storage.nbytes, storage.device, captured=storage, owned=owned))
        return GraphTensor(number, t._dtype, t._shape, t._strides, t._offset)

    def escaped_memory(self, returned: set[int]) -> list[Origin]:
        """Returns the origins of live placeholder memory that the function keeps but does not
        return."""
        allocated = ((reference(), origin) for reference, origin in self._allocated)
        return [origin for storage, origin in allocated if storage and storage.memory not in returned]

    def _origin(self) -> Origin:
        op, user = op_called()
        return Origin(op, line_of(user))


def trace_graph(name: str, backend: Backend, call: Callable[[], Any], tensors: Sequence[Tensor]) -> Graph:
    """Returns the graph of `call()`, which works on `tensors`. Restores the tensors and the
    generators.

    Raises GraphError for operations that a graph can't contain; the function's own errors pass
    through.
    """
    tracer = Tracer(name, backend, tensors)
    try:
        with observed(backend, tracer):
            result = call()
            copies = record_copies(tracer, tensors) if backend.target.is_board else ()
    except BaseException as error:
        reshaped = tracer.argument_reshaped()
        changed = tracer.restore_geometry()
        if changed and reshaped and isinstance(error, Exception) and not isinstance(error, errors.GraphError):
            raise errors.geometry_changed(name, *changed) from error
        raise
    finally:
        tracer.restore_generators()
    template = _template(result, tracer, tensors)
    del result
    if tracer.geometry_changed():
        gc.collect()  # as below
        changed = tracer.restore_geometry()
        if changed is not None:
            raise errors.geometry_changed(name, *changed)
    returned = {f.region.memory for f in Graph(name, (), (), template).result_tensors}
    if tracer.escaped_memory(returned):
        gc.collect()  # an unreachable reference cycle may hold it
        for origin in tracer.escaped_memory(returned):
            raise errors.escaped(origin.op, name, origin.line)
    memories = tuple(tracer.memories)
    if len({m.device for m in memories if m.device is not None}) > 1:
        names = sorted({str(m.device) for m in memories if m.device is not None})
        raise errors.several_devices(name, " and ".join(names))
    starts = tuple(dict.fromkeys(tracer.offset_guards))
    layers, filters = tuple(tracer.layers), tuple(tracer.filters)
    objects = tuple(tracer.returned_objects.values())
    draws, checks = tuple(tracer.draws), tuple(tracer.checks)
    graph = Graph(name, tuple(tracer.nodes), memories, template, draws, checks, starts, objects, layers, filters)
    return replace(graph, argument_copies=copies)


def _template(result: Any, tracer: Tracer, tensors: Sequence[Tensor]) -> Any:
    """Returns the function's result with each tensor replaced by a ResultTensor, and each object by
    a ReturnedObject."""
    if type(result) is Tensor:
        for k, t in enumerate(tensors):
            if t is result:
                return ResultTensor(tracer.region(result), k)
        return ResultTensor(tracer.region(result))
    if isinstance(result, tuple):
        parts = [_template(part, tracer, tensors) for part in result]
        return result._make(parts) if hasattr(result, "_make") else type(result)(parts)
    if isinstance(result, list):
        return type(result)(_template(part, tracer, tensors) for part in result)
    if isinstance(result, dict):
        keys = [placeholder_for(k, tracer.returned_objects) for k in result]
        return type(result)((k, _template(part, tracer, tensors)) for k, part in zip(keys, result.values()))
    return placeholder_for(plain(result), tracer.returned_objects)


VARIABLE = "FTENSOR_FUSE"


def fusion_enabled() -> bool:
    """True if calls may be traced and fused; the default. False if FTENSOR_FUSE is 0.

    Graphs that the process has already made are kept, so the variable is set before the first op.
    Raises ValueError if the variable is neither 0 nor 1.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if text not in ("", "0", "1"):
        raise environment_value(VARIABLE, text, "0 or 1")
    return text != "0"


class ArgumentStorage(Storage):
    """Placeholder storage of an argument: the same bytes, but another object."""

    __slots__ = ("storage",)

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.backend, self.stream, self.nbytes, self.device = (
            storage.backend,
            storage.stream,
            storage.nbytes,
            storage.device,
        )
        self.readonly, self.exposed, self.visible = storage.readonly, storage.exposed, storage.visible
        self.users = self.owner = self.bounds = self.derived = None

    @property
    def handle(self) -> Any:
        """Returns the handle of the argument's storage."""
        return self.storage.handle

    @property
    def ptr(self) -> int | None:  # type: ignore[override]
        """Returns the address of the argument's storage."""
        return self.storage.ptr

    @property
    def misalignment(self) -> int:
        return self.storage.misalignment


class TraceArguments:
    """The arguments that a trace runs with, in a `with` block around the trace.

    Tuples, lists and dicts that contain tensors are copied. If a container can't be copied, the
    trace runs with the call's own arguments.
    """

    def __init__(self, tensors: Sequence[Tensor], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self._memory: dict[Storage, ArgumentStorage] = {}
        self._pairs: dict[int, tuple[Tensor, Tensor]] = {}  # (the call's, the trace's), by either's id
        self._containers: list[tuple[Any, Any, list[Any]]] = []  # the call's, the trace's, its parts
        for t in tensors:
            self._placeholder(t)
        try:
            self.args = tuple([self._replaced(x) for x in args])
            self.kwargs = {name: self._replaced(x) for name, x in kwargs.items()}
            self.tensors = [self._pairs[id(t)][1] for t in tensors]
        except Exception:  # noqa: BLE001 - of a container's own class, which wants other arguments
            self.args, self.kwargs, self.tensors = tuple(args), dict(kwargs), list(tensors)

    def _placeholder(self, t: Tensor) -> None:
        if id(t) not in self._pairs:
            memory = self._memory.get(t._storage)
            if memory is None:
                memory = self._memory[t._storage] = ArgumentStorage(t._storage)
            placeholder = Tensor._make(memory, t._dtype, t._shape, t._strides, t._offset)
            self._pairs[id(t)] = self._pairs[id(placeholder)] = t, placeholder

    def _replaced(self, x: Any) -> Any:
        if type(x) is Tensor:
            return self._pairs[id(x)][1]
        if isinstance(x, tuple):
            items = [self._replaced(item) for item in x]
            if all(a is b for a, b in zip(items, x)):
                return x
            return x._make(items) if hasattr(x, "_make") else type(x)(items)
        if not isinstance(x, (list, dict)):
            return x
        keys = range(len(x)) if isinstance(x, list) else list(x)
        changed = {k: item for k in keys if (item := self._replaced(x[k])) is not x[k]}
        if not changed:
            return x
        copied: Any = copy.copy(x)
        for k, item in changed.items():
            copied[k] = item
        self._containers.append((x, copied, _children(copied)))
        return copied

    def __enter__(self) -> TraceArguments:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        """Copies the trace's changes of containers to the call's containers. Replaces trace tensors
        that the function kept by the call's tensors."""
        for original, traced, before in self._containers:
            after = _children(traced)
            if len(after) != len(before) or any(a is not b for a, b in zip(after, before)):
                restored = [self._pairs[id(x)][0] if id(x) in self._pairs else x for x in after]
                original.clear()
                original.extend(restored) if isinstance(original, list) else original.update(
                    zip(restored[::2], restored[1::2])
                )
        for t, traced in self._pairs.values():
            traced._become(t)
        memories = [(memory, ref(placeholder)) for memory, placeholder in self._memory.items()]
        self._containers, self._pairs, self._memory = [], {}, {}
        # An unreachable reference cycle may hold it. The frames of an error hold it in any case.
        if kind is None and any(placeholder() for _, placeholder in memories):
            gc.collect()
        for memory, placeholder in memories:
            if placeholder() is not None:  # a view that the function has kept, and may write by
                memory.expose()


def _children(container: Any) -> list[Any]:
    return [x for pair in container.items() for x in pair] if isinstance(container, dict) else list(container)
