"""Prepared replays: the kernel calls of captured launches, with all arguments."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..runtime.interfaces import KernelCall

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ..runtime.backend import Backend
    from ..runtime.interfaces import CompiledKernel
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream
    from .capture import CapturedCall
    from .capture_pool import GraphPool
    from .launch import Launch


class KernelCalls:
    """Collects the kernel calls of launches. A launch's generated code takes it for the stream, so
    that the order of arguments is written down in one place."""

    def __init__(self, pool: GraphPool) -> None:
        self.pool = pool
        self.calls: list[KernelCall] = []
        self.storages: dict[int, Storage] = {}  # that the calls use, by id
        self._temporaries: list[Storage] = []  # of the launch at hand

    def add(self, launch: Launch, numbers: Sequence[Any], tensors: Sequence[Tensor]) -> None:
        """Adds the calls of a launch."""
        self._temporaries = []
        launch.collect(partial(partial, self._call), self, numbers, *tensors)

    def _call(self, run: CompiledKernel, stream: Any, units: int, *arguments: Any) -> None:
        self.calls.append(KernelCall(run, units, arguments))

    # What a launch's code reads of a stream and of its backend.

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
        """Notes a storage that a launch uses."""
        self.storages[id(storage)] = storage

    def finish(self) -> None:
        """Does nothing: no command runs."""


def prepare_replay(
    backend: Backend, pool: GraphPool, calls: list[CapturedCall], drawing: Container[int]
) -> tuple[list[Callable[[DeviceStream], None]], list[Storage]]:
    """Returns functions that enqueue the calls on a stream, and the storages that these use.

    The calls at the indices `drawing` have other numbers in each replay, and are read from `calls`
    then; all others are prepared.
    """
    pool.reserve(backend, [call.launch for k, call in enumerate(calls) if k not in drawing])
    parts: list[Callable[[DeviceStream], None]] = []
    collected = KernelCalls(pool)
    for is_drawing, group in groupby(range(len(calls)), drawing.__contains__):
        if is_drawing:
            parts += [partial(_enqueue, calls, k) for k in group]
            continue
        for k in group:
            collected.add(calls[k].launch, calls[k].numbers, calls[k].tensors)
        parts.append(backend.prepare_calls(collected.calls))
        collected.calls = []
    return parts, list(collected.storages.values())


def _enqueue(calls: list[CapturedCall], k: int, stream: DeviceStream) -> None:
    launch, numbers, tensors = calls[k]
    launch.enqueue(stream, numbers, *tensors)
