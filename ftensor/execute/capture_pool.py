"""Memory of captures: intermediate tensors of a capture, and of all graphs of a pool, share
storages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING

from ..errors import graph as errors

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream
    from .launch import Launch


def _nbytes(storage: Storage) -> int:
    return storage.nbytes


class GraphPool:
    """Storages for the intermediate tensors of graphs, which replay one after the other."""

    def __init__(self) -> None:
        self.storages: list[Storage] = []
        self.temporaries: list[Storage] = []  # of single launches
        self.stream: DeviceStream | None = None  # of the last replay
        self._holder: dict[str, object] = {}  # of the replay in progress

    @contextmanager
    def replaying(self, stream: DeviceStream) -> Iterator[None]:
        """Context manager: orders a replay on a stream behind the last one. Raises RuntimeError if
        another replay is in progress."""
        replay = object()
        try:
            # Not a lock: Ctrl-C may strike after it was acquired and before it would be released.
            if self._holder.setdefault("replay", replay) is not replay:
                raise errors.replay_twice()
            if self.stream is not None and stream is not self.stream:
                stream.wait_stream(self.stream)
            self.stream = stream
            yield
        finally:
            if self._holder.get("replay") is replay:
                del self._holder["replay"]

    def share(self, calls: Sequence[Sequence[Tensor]], intermediate: Mapping[int, Storage]) -> None:
        """Gives the tensors of captured calls other storages, so that `intermediate` storages (by
        id) which are never in use at the same time become one."""
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
        """Reserves memory for temporaries that all launches share, as they run one by one."""
        needed = zip_longest(*[sorted(launch.temporaries, reverse=True) for launch in launches], fillvalue=0)
        for size, storage in zip_longest(map(max, needed), sorted(self.temporaries, key=_nbytes, reverse=True)):
            if size is not None and (storage is None or storage.nbytes < size):
                self.temporaries.append(backend.allocate(size))

    def temporary(self, nbytes: int, taken: Sequence[Storage]) -> Storage:
        """Returns the smallest reserved memory of at least `nbytes` bytes outside `taken`."""
        free = [s for s in self.temporaries if all(s is not x for x in taken)]
        return min([s for s in free if s.nbytes >= nbytes], key=_nbytes)

    def _take(self, free: list[Storage], storage: Storage) -> Storage:
        """Returns the smallest free storage that is large enough; else `storage` joins the pool."""
        # By the requested sizes: the block of a storage may be much larger than the storage.
        fitting = [s for s in free if s.nbytes >= storage.nbytes and s.device is storage.device]
        if not fitting:
            self.storages.append(storage)
            return storage
        least = min(fitting, key=_nbytes)
        free.remove(least)
        return least
