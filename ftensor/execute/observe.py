"""Who stands at a device's door: what sees its launches and copies, or takes them over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
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
    """Lets everything pass; a subclass overrides what it wants to see, or to do otherwise.

    Copies between tensors and fills are launches. `upload` and `download` are the host's copies; on
    a device that shares the host's memory a value that is read there is none.
    """

    inner: Executor | None = None  # who stood there before

    def called(self) -> None:
        """An op's call, before its launch is looked up or prepared."""
        if self.inner is not None:
            self.inner.called()

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], numbers: Sequence[Any]) -> None:
        """A launch on a stream: its outputs and inputs, and the numbers its kernels get."""
        if self.inner is None:
            launch.enqueue(stream, numbers, *tensors)
        else:
            self.inner.launch(launch, stream, tensors, numbers)

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """An array that is copied into a storage."""
        if self.inner is None:
            storage.backend._upload(storage, byte_offset, array)
        else:
            self.inner.upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """An array that is filled from a storage; the work on it has been waited for."""
        if self.inner is None:
            storage.backend._download(storage, byte_offset, array)
        else:
            self.inner.download(storage, byte_offset, array)

    def allocate(self, backend: Backend, nbytes: int, stream: DeviceStream, lasting: bool) -> Storage:
        """Memory that is asked for; `lasting`: for what serves all calls."""
        if self.inner is None:
            storage = backend.pool.take(nbytes, stream)
        else:
            storage = self.inner.allocate(backend, nbytes, stream, lasting)
        self.allocated(storage)
        return storage

    def allocated(self, storage: Storage) -> None:
        """Memory that was just handed out."""

    def read(self, storage: Storage) -> None:
        """Memory that the host shares is about to be read or written there."""
        if self.inner is not None:
            self.inner.read(storage)

    def reshaped(self, tensor: Tensor) -> None:
        """A tensor that is about to get another geometry, or other memory."""
        if self.inner is not None:
            self.inner.reshaped(tensor)

    def start_read(self, tensor: Tensor, multiple: int) -> None:
        """A tensor of which it matters where it begins: modulo so many bytes, or (0) exactly, with
        the size of its memory."""
        if self.inner is not None:
            self.inner.start_read(tensor, multiple)


class LaunchRecorder(Observer):
    """Takes over what one thread does, the one that makes it: launches are noted and not run, and
    no kernel is looked for. What other threads do passes."""

    def __init__(self) -> None:
        self.thread = get_ident()

    @property
    def here(self) -> bool:
        """Whether the calling thread is the one."""
        return get_ident() == self.thread

    @abstractmethod
    def handed_out(self, storage: Storage) -> bool:
        """Whether it has handed out a storage: nobody but what is noted writes there."""

    @abstractmethod
    def checked(self, flag: Any, dims: Sequence[int], refusal: Any, indices: Sequence[Any]) -> None:
        """A launch notes in `flag` which of `indices` is out of range; nobody waits for it now."""

    @abstractmethod
    def drawn(self, generator: Any, words: Callable[[int, int], Any]) -> tuple[Any, ...]:
        """The numbers that `words` makes of a generator's call; each run of what is noted makes a
        call of its own."""


def recorder(backend: Backend) -> LaunchRecorder | None:
    """Who notes what this thread does, if anybody does."""
    at: Any = backend.executor
    while at is not None and not (isinstance(at, LaunchRecorder) and at.here):
        at = getattr(at, "inner", None)
    return at


@contextmanager
def observed(backend: Backend, observer: Observer) -> Iterator[None]:
    """Let `observer` stand at a device's door, before whoever does. They may leave in any order."""
    with _door:
        observer.inner, backend.executor = backend.executor, observer
    try:
        yield
    finally:
        with _door:
            _leave(backend, observer)


_door = RLock()


def _leave(backend: Backend, observer: Observer) -> None:
    if backend.executor is observer:
        backend.executor = observer.inner
        return
    at: Any = backend.executor
    while at.inner is not observer:
        at = at.inner
    at.inner = observer.inner
