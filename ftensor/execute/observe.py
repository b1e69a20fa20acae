"""Observers of a device: they see its launches and copies, or run them in another way."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from .._tensor import Tensor
    from ..runtime.backend import Backend, Executor
    from ..runtime.storage import Storage
    from ..runtime.stream import DeviceStream
    from .launch import Launch


class Observer:
    """Passes every call on; a subclass overrides the calls that it observes or replaces.

    Copies between tensors and fills are launches. `upload` and `download` are copies from and to
    the host. On a device that shares the host's memory, reading a value is no download.
    """

    inner: Executor | None = None  # the next observer

    def called(self) -> None:
        """Called at an op's call, before its launch is looked up or prepared."""
        if self.inner is not None:
            self.inner.called()

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], numbers: Sequence[Any]) -> None:
        """Runs a launch on a stream. `tensors` are its outputs and inputs, `numbers` the scalar
        kernel arguments."""
        if self.inner is None:
            launch.enqueue(stream, numbers, *tensors)
        else:
            self.inner.launch(launch, stream, tensors, numbers)

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies an array to a storage."""
        if self.inner is None:
            storage.backend._upload(storage, byte_offset, array)
        else:
            self.inner.upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies a storage to an array, after the storage's pending work has finished."""
        if self.inner is None:
            storage.backend._download(storage, byte_offset, array)
        else:
            self.inner.download(storage, byte_offset, array)

    def allocate(self, backend: Backend, nbytes: int, stream: DeviceStream, lasting: bool) -> Storage:
        """Returns memory; `lasting` memory serves all calls."""
        if self.inner is None:
            storage = backend.pool.take(nbytes, stream)
        else:
            storage = self.inner.allocate(backend, nbytes, stream, lasting)
        self.allocated(storage)
        return storage

    def allocated(self, storage: Storage) -> None:
        """Called after memory was allocated."""

    def read(self, storage: Storage) -> None:
        """Called before the host reads or writes shared memory."""
        if self.inner is not None:
            self.inner.read(storage)

    def reshaped(self, tensor: Tensor) -> None:
        """Called before a tensor gets another geometry or other memory."""
        if self.inner is not None:
            self.inner.reshaped(tensor)

    def start_read(self, tensor: Tensor, multiple: int) -> None:
        """Called when code depends on a tensor's offset: modulo `multiple` bytes, or, if `multiple`
        is 0, exactly and with the size of its memory."""
        if self.inner is not None:
            self.inner.start_read(tensor, multiple)


class LaunchRecorder(Observer):
    """Records the launches of the thread that creates it, instead of running them, and looks for no
    kernel. Passes on the calls of other threads."""

    def __init__(self) -> None:
        self.thread = get_ident()
        # The launches that were prepared for the recording, by key; they have no kernels.
        self.launches: dict[Hashable, Launch] = {}

    @property
    def here(self) -> bool:
        """True if the calling thread is recorded."""
        return get_ident() == self.thread

    @abstractmethod
    def handed_out(self, storage: Storage) -> bool:
        """True if this recorder allocated the storage, so that only recorded launches write it."""

    @abstractmethod
    def checked(self, flag: Any, dims: Sequence[int], refusal: Any, indices: Sequence[Any]) -> None:
        """Records that a launch sets `flag` if one of `indices` is out of range. No code waits for
        the flag during the recording."""

    @abstractmethod
    def drawn(self, generator: Any, words: Callable[[int, int], Any]) -> tuple[Any, ...]:
        """Returns the numbers that `words` makes from a generator's call. Each run of the recorded
        launches calls the generator anew."""

    @abstractmethod
    def seeded(self, act: Callable[[], object], undo: Callable[[], object]) -> None:
        """Runs `act`, which gives generators another state. Each run of the recorded launches does
        so, too. `undo` restores the states from before the recording."""

    @abstractmethod
    def state_read(self) -> None:
        """Raises an error, as Python code reads the state of a generator, which differs at later
        runs of the recorded launches."""


def recorder(backend: Backend) -> LaunchRecorder | None:
    """Returns the LaunchRecorder of this thread on a device; None if there is none."""
    at: Any = backend.executor
    while at is not None and not (isinstance(at, LaunchRecorder) and at.here):
        at = getattr(at, "inner", None)
    return at


def thread_recorder() -> LaunchRecorder | None:
    """Returns the innermost LaunchRecorder of this thread, whatever its device; None if there is
    none."""
    return next((at for at in reversed(_recorders) if at.here), None)


@contextmanager
def observed(backend: Backend, observer: Observer) -> Iterator[None]:
    """Puts `observer` before a device's other observers. Observers may leave in any order."""
    with _door:
        observer.inner, backend.executor = backend.executor, observer
        if isinstance(observer, LaunchRecorder):
            _recorders.append(observer)
    try:
        yield
    finally:
        with _door:
            _leave(backend, observer)
            if isinstance(observer, LaunchRecorder):
                _recorders.remove(observer)


_door = RLock()
_recorders: list[LaunchRecorder] = []  # of all devices and threads


def _leave(backend: Backend, observer: Observer) -> None:
    if backend.executor is observer:
        backend.executor = observer.inner
        return
    at: Any = backend.executor
    while at.inner is not observer:
        at = at.inner
    at.inner = observer.inner
