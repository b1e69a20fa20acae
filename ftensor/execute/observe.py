"""Who stands at a device's door: what sees its launches and copies, or takes them over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from .._tensor import Tensor
    from ..runtime.backend import Backend, Executor
    from ..runtime.storage import Storage
    from ..runtime.stream import Stream
    from .launch import Launch


class Observer:
    """Lets everything pass; a subclass overrides what it wants to see, or to do otherwise.

    Copies between tensors and fills are launches. `upload` and `download` are the host's copies; on
    a device that shares the host's memory a value that is read there is none.
    """

    inner: Executor | None = None  # who stood there before

    def launch(
        self, launch: Launch, stream: Stream, tensors: Sequence[Tensor], numbers: Sequence[Any]
    ) -> None:
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

    def allocated(self, storage: Storage) -> None:
        """Memory that was just handed out."""
        if self.inner is not None:
            self.inner.allocated(storage)


@contextmanager
def observed(backend: Backend, observer: Observer) -> Iterator[None]:
    """Let `observer` stand at a device's door, before whoever does, for all threads."""
    observer.inner, backend.executor = backend.executor, observer
    try:
        yield
    finally:
        backend.executor = observer.inner
