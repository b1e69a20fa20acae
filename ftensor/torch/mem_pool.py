"""`torch.fpga.MemPool` and `torch.fpga.use_mem_pool`: memory apart from that of other allocations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from .._device import backend_of
from ..errors import graph as graph_errors
from ..errors import torch as errors
from ..execute.capture_replay import GraphPool
from ..execute.dispatch import Observer, observed
from ..runtime.private_pool import PrivatePool, next_id
from . import module
from .memory import device_of_calls

if TYPE_CHECKING:
    from ..runtime.backend import Backend

_pools: WeakValueDictionary[tuple[int, int], MemPool] = WeakValueDictionary()


class MemPool:
    """A pool of device memory for the allocations inside `use_mem_pool`, and for captured graphs.

    Memory that its tensors free serves the pool's next allocations only, `empty_cache` leaves it
    alone, and it returns to the system once the pool is deleted and its tensors are freed. With
    `use_on_oom`, allocations elsewhere that would fail use it. `no_split` has no effect, as blocks
    are never split. Raises TypeError for an `allocator`.

        pool = torch.fpga.MemPool()
        with torch.fpga.use_mem_pool(pool):
            x = torch.zeros(1000, device="fpga")
    """

    def __init__(self, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False) -> None:
        if allocator is not None:
            raise errors.pool_allocator(allocator)
        self._id, self._use_on_oom, self._active = next_id(), bool(use_on_oom), 0
        self._parts: dict[Backend, PrivatePool] = {}
        self._graphs = _GraphPool(self)
        _pools[self._id] = self

    def __del__(self) -> None:
        self.__dict__.pop("_graphs", None)  # frees its memory, unless a graph still uses it
        for part in self.__dict__.get("_parts", {}).values():
            part.close()

    @property
    def id(self) -> tuple[int, int]:
        """The pool's number, for `pool=` of captures and `torch.fpga.memory_snapshot`."""
        return self._id

    @property
    def allocator(self) -> None:
        """None: the device's own allocator."""
        return None

    def use_count(self) -> int:
        """Returns 1, and 1 for each `use_mem_pool` in progress and each captured graph."""
        return 1 + self._active + len(self._graphs.recordings)

    def snapshot(self, include_traces: bool = True) -> list[dict[str, Any]]:
        """Returns the pool's memory blocks, like `torch.fpga.memory_snapshot`."""
        return module.memory_snapshot(self._id, include_traces)

    @contextmanager
    def _allocating(self, backend: Backend) -> Iterator[None]:
        part = self._parts.get(backend)
        if part is None:
            part = self._parts.setdefault(backend, PrivatePool(backend.pool, self._id, self._use_on_oom))
        # An observer makes all allocations ask which pool the thread uses.
        with observed(backend, Observer()):
            current = backend._current
            before, current.private = current.private, part
            try:
                yield
            finally:
                current.private = before


class _GraphPool(GraphPool):
    """The memory that captured graphs with one MemPool share."""

    def __init__(self, owner: MemPool) -> None:
        super().__init__()
        self.number = owner.id

    @contextmanager
    def allocating(self, backend: Backend) -> Iterator[None]:
        owner = _pools.get(self.number)
        if owner is None:  # deleted, while a graph still uses its memory
            yield
            return
        with owner._allocating(backend):
            yield


@contextmanager
def use_mem_pool(pool: MemPool, device: Any = None) -> Iterator[None]:
    """Context manager: this thread's allocations on the device use `pool`, those of other threads do
    not. Raises TypeError for another type of pool."""
    module._check(device)
    if not isinstance(pool, MemPool):
        raise errors.mem_pool_type(pool)
    pool._active += 1
    try:
        with pool._allocating(backend_of(device_of_calls())):
            yield
    finally:
        pool._active -= 1


def graph_pool(pool: Any) -> GraphPool:
    """Returns the pool that an argument `pool=` of a capture names; a new one for None. Raises
    TypeError for other values."""
    if pool is None:
        return GraphPool()
    if isinstance(pool, tuple):
        pool = _pools.get(pool, pool)
    if isinstance(pool, MemPool):
        return pool._graphs
    if not isinstance(pool, GraphPool):
        raise graph_errors.pool_type(pool)
    return pool
