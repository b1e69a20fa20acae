"""The memory and the kernel calls of captured launches: pools that captures share, and prepared replays."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from ..errors import graph as errors
from ..runtime.interfaces import KernelCall

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ..runtime.backend import Backend
    from ..runtime.interfaces import CompiledKernel
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream
    from .capture import CapturedCall, Recording
    from .launch import Launch


def _nbytes(storage: Storage) -> int:
    return storage.nbytes


class GraphPool:
    """Storages for the intermediate tensors of graphs that replay one after the other."""

    def __init__(self) -> None:
        self.storages: list[Storage] = []
        self.temporaries: list[Storage] = []  # of single launches
        self.recordings: WeakSet[Recording] = WeakSet()  # that use it
        self.stream: DeviceStream | None = None  # of the last replay
        self._holder: dict[str, object] = {}  # of the replay in progress

    @contextmanager
    def replaying(self, stream: DeviceStream) -> Iterator[None]:
        """Context manager: orders a replay on a stream after the last one. Raises RuntimeError if
        another replay is in progress."""
        replay = object()
        try:
            # A lock would not do: Ctrl-C may strike between its acquisition and the `try` that
            # releases it.
            if self._holder.setdefault("replay", replay) is not replay:
                raise errors.replay_twice()
            if self.stream is not None and stream is not self.stream:
                stream.wait_stream(self.stream)
            self.stream = stream
            yield
        finally:
            if self._holder.get("replay") is replay:
                del self._holder["replay"]

    def allocating(self, backend: Backend) -> AbstractContextManager[None]:
        """Context manager for the allocations of a capture; a subclass directs them elsewhere."""
        return nullcontext()

    def share(self, calls: Sequence[Sequence[Tensor]], intermediate: Mapping[int, Storage]) -> None:
        """Replaces storages of captured calls: `intermediate` storages (by id) that are never in
        use at the same time become one."""
        last = {id(x._storage): k for k, tensors in enumerate(calls) for x in tensors}
        free, shared = list(self.storages), dict[int, "Storage"]()
        for k, tensors in enumerate(calls):
            used = {id(x._storage): x._storage for x in tensors if id(x._storage) in intermediate}
            for number, storage in used.items():
                if number not in shared:
                    shared[number] = self._take(free, storage)
            free += [shared[number] for number in used if last[number] == k]
        for tensors in calls:
            for x in tensors:
                x._storage = shared.get(id(x._storage), x._storage)

    def reserve(self, backend: Backend, launches: Iterable[Launch]) -> None:
        """Reserves memory for temporaries. All launches share it, since they run one by one."""
        needed = zip_longest(*[sorted(launch.temporaries, reverse=True) for launch in launches], fillvalue=0)
        with self.allocating(backend):
            for size, storage in zip_longest(map(max, needed), sorted(self.temporaries, key=_nbytes, reverse=True)):
                if size is not None and (storage is None or storage.nbytes < size):
                    self.temporaries.append(backend.allocate(size))

    def temporary(self, nbytes: int, taken: Sequence[Storage]) -> Storage:
        """Returns the smallest reserved memory of at least `nbytes` bytes that is not in `taken`."""
        free = [s for s in self.temporaries if all(s is not x for x in taken)]
        return min([s for s in free if s.nbytes >= nbytes], key=_nbytes)

    def _take(self, free: list[Storage], storage: Storage) -> Storage:
        """Returns the smallest free storage that is large enough; else `storage` joins the pool."""
        # Compares requested sizes, since the block of a storage may be much larger.
        fitting = [s for s in free if s.nbytes >= storage.nbytes and s.device is storage.device]
        bank = storage.backend.bank
        if (wanted := bank(storage)) is not None:
            # A replay would copy the bytes from another bank and back.
            fitting = [s for s in fitting if bank(s) in (wanted, None)]
        if not fitting:
            self.storages.append(storage)
            return storage
        least = min(fitting, key=_nbytes)
        free.remove(least)
        return least


class KernelCalls:
    """Collects the kernel calls of launches. A launch's generated code gets it instead of a stream,
    so the order of arguments is written in one place only."""

    def __init__(self, pool: GraphPool) -> None:
        self.pool = pool
        self.calls: list[KernelCall] = []
        self.storages: dict[int, Storage] = {}  # that the calls use, by id
        self._temporaries: list[Storage] = []  # of the current launch

    def add(self, launch: Launch, scalars: Sequence[Any], tensors: Sequence[Tensor]) -> None:
        """Adds the calls of a launch."""
        self._temporaries = []
        launch.collect(partial(partial, self._call), self, scalars, *tensors)

    def _call(self, run: CompiledKernel, stream: Any, units: int, *arguments: Any) -> None:
        self.calls.append(KernelCall(run, units, arguments))

    # The attributes of a stream and its backend that a launch's code reads.

    @property
    def backend(self) -> KernelCalls:
        """The object that allocates a launch's temporaries."""
        return self

    def allocate(self, nbytes: int, stream: Any) -> Storage:
        """Returns memory of the graph pool for a temporary, other than the memory that this launch
        already uses."""
        storage = self.pool.temporary(nbytes, self._temporaries)
        self._temporaries.append(storage)
        self.use(storage)
        return storage

    def use(self, storage: Storage) -> None:
        """Records a storage that a launch uses."""
        self.storages[id(storage)] = storage

    def finish(self) -> None:
        """Does nothing: no command runs."""


def prepare_replay(
    backend: Backend, pool: GraphPool, calls: list[CapturedCall], drawing: Container[int]
) -> tuple[list[Callable[[DeviceStream], None]], list[Storage]]:
    """Returns functions that enqueue the calls on a stream, and the storages that they use.

    The calls at the indices `drawing` have new numbers in each replay and read them from `calls`
    then; all others are prepared completely.
    """
    pool.reserve(backend, [call.launch for k, call in enumerate(calls) if k not in drawing])
    parts: list[Callable[[DeviceStream], None]] = []
    collected = KernelCalls(pool)
    for is_drawing, group in groupby(range(len(calls)), drawing.__contains__):
        if is_drawing:
            parts += [partial(_enqueue, calls, k) for k in group]
            continue
        for k in group:
            collected.add(calls[k].launch, calls[k].scalars, calls[k].tensors)
        parts.append(backend.prepare_calls(collected.calls))
        collected.calls = []
    return parts, list(collected.storages.values())


def _enqueue(calls: list[CapturedCall], k: int, stream: DeviceStream) -> None:
    launch, scalars, tensors = calls[k]
    launch.enqueue(stream, scalars, *tensors)
