"""Captures the launches of a stream while they run, and replays them with the same memory and numbers."""

from __future__ import annotations

import gc
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._tensor import Tensor
from ..errors import capture as errors
from ..rows.catalogue import op_called
from ..runtime.call_site import line_of
from .dispatch import Observer, observed, thread_recorder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..runtime.backend import Backend
    from ..runtime.pool import Block, Storage
    from ..runtime.stream import DeviceStream
    from .indexed import Flag
    from .launch import Launch


class CapturedCheck(NamedTuple):
    """An index check of a captured launch: where its kernel notes a bad index, and its error."""

    flag: Flag
    dims: tuple[int, ...]
    refusal: Callable[[int, int, int], Exception]
    call: str
    line: str

    def resolve(self) -> Exception | None:
        """Returns the error of the last replay's indices; None if all were in range. Its kernels
        are done."""
        bad = self.flag.read_and_clear()
        if bad is None:
            return None
        which, index, size = bad
        return errors.index(self.refusal(index, self.dims[which], size), self.call, self.line)


class _CapturedCall(NamedTuple):
    launch: Launch
    numbers: tuple[Any, ...]
    tensors: tuple[Tensor, ...]


@dataclass
class Recording:
    """Launches in their order. It holds all memory that they use, so nobody else gets it."""

    backend: Backend
    stream: DeviceStream  # of the last run
    calls: list[_CapturedCall] = field(default_factory=list)
    checks: list[CapturedCheck] = field(default_factory=list)
    written: dict[int, Storage] = field(default_factory=dict)
    # The block of each storage from outside: a storage with another block was resized.
    blocks: list[tuple[Storage, Block]] = field(default_factory=list)
    nbytes: int = 0  # of the memory that the captured calls allocated
    _running: Any = field(default_factory=threading.Lock)

    def replay(self) -> None:
        """Enqueues the launches on the current stream, behind the last replay.

        Raises RuntimeError if static memory was resized, inside a trace or another capture, and
        while another thread or an interrupted frame replays.
        """
        backend = self.backend
        stream = backend.current_stream()
        if thread_recorder() is not None or capturing(backend) is not None:
            raise errors.replay_inside()
        for storage, block in self.blocks:
            if storage.block is not block:
                raise errors.resized(storage.nbytes)
        if not self._running.acquire(blocking=False):
            raise errors.replay_twice()
        try:
            if stream is not self.stream:
                stream.wait_stream(self.stream)
                self.stream = stream
            self._changed()
            for launch, numbers, tensors in self.calls:
                launch.enqueue(stream, numbers, *tensors)
        finally:
            # Also after Ctrl-C: what ran before it has written, and its indices are checked.
            self._changed()
            for check in self.checks:
                stream.doubts[id(check)] = check
            self._running.release()

    def _changed(self) -> None:
        for storage in self.written.values():
            storage.changed()


class Capture(Observer):
    """Records the launches that this thread, and torch's autograd for it, enqueue on one stream.

    What a replay could not repeat is refused: values that the host reads or writes, random draws,
    other streams. With `strict` the op raises, else `fault` has the first error and the call goes
    on.
    """

    def __init__(self, backend: Backend, strict: bool = True) -> None:
        self.backend, self.strict = backend, strict
        self.stream = backend.current_stream()
        self.thread = threading.get_ident()
        self.recording = Recording(backend, self.stream)
        self.fault: Exception | None = None
        self._own: dict[int, Storage] = {}  # allocated by the capture
        self._seen: dict[int, Storage] = {}
        self._lasting: dict[int, Storage] = {}
        self._inside = False

    @property
    def here(self) -> bool:
        """True if the calling thread is captured: the one that began, or one that no Python code
        started, as autograd's."""
        if threading.get_ident() == self.thread:
            return True
        return isinstance(threading.current_thread(), threading._DummyThread)

    def refuse(self, error: Exception) -> None:
        """Notes the first error, and raises it with `strict`."""
        self.fault = self.fault or error
        if self.strict:
            raise error

    def _refuse(self, message: Callable[[str, str], Exception]) -> None:
        if self.here and not self._inside:
            name, user = op_called()
            self.refuse(message(name, line_of(user)))

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], numbers: Sequence[Any]) -> None:
        if self.here:
            if stream is not self.stream:
                self._refuse(errors.other_stream)
            # Views of their own: an op in place may give a tensor another geometry later.
            kept = tuple([x._view(x._shape, x._strides, x._offset) for x in tensors])
            self.recording.calls.append(_CapturedCall(launch, tuple(numbers), kept))
            for x in kept:
                self._note(x._storage)
            for k in launch.written:
                self.recording.written[id(kept[k]._storage)] = kept[k]._storage
        super().launch(launch, stream, tensors, numbers)

    def _note(self, storage: Storage) -> None:
        if id(storage) not in self._seen:
            self._seen[id(storage)] = storage  # held, so the id stays its own
            if id(storage) not in self._own:
                self.recording.blocks.append((storage, storage.block))

    def allocate(self, backend: Backend, nbytes: int, stream: DeviceStream, lasting: bool) -> Storage:
        storage = super().allocate(backend, nbytes, stream, lasting)
        if lasting:
            self._lasting[id(storage)] = storage
        return storage

    def allocated(self, storage: Storage) -> None:
        if self.here:
            self._own[id(storage)] = storage
            self.recording.nbytes += storage.nbytes

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        if id(storage) not in self._lasting:  # tables of prepared launches, the same in each run
            self._refuse(errors.uploads)
        super().upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        self._refuse(errors.reads)
        super().download(storage, byte_offset, array)

    def read(self, storage: Storage) -> None:
        self._refuse(errors.reads)
        super().read(storage)

    def reshaped(self, tensor: Tensor) -> None:
        super().reshaped(tensor)

    def drawn(self) -> None:
        """Called before a generator's call: a replay would repeat its numbers."""
        self._refuse(errors.draws)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Context manager: the library's own copies are no part of the captured calls."""
        before, self._inside = self._inside, True
        try:
            yield
        finally:
            self._inside = before

    def made(self, storage: Storage) -> bool:
        """True if the captured calls allocated the storage."""
        return id(storage) in self._own

    def escaped(self, known: Collection[int]) -> Storage | None:
        """Returns memory of the captured calls that others still hold, except that with an id in
        `known`; None if there is none. A replay would write it, where the calls make new memory."""
        gc.collect()
        held = Counter(id(x._storage) for call in self.recording.calls for x in call.tensors)
        held.update(id(check.flag.tensor._storage) for check in self.recording.checks)
        held.update(self.recording.written.keys())
        for of in (self._own, self._seen, self._lasting):
            held.update(of.keys())
        for number in list(self._own):
            if number in known or number in self._lasting:
                continue
            if sys.getrefcount(self._own[number]) - 1 > held[number]:  # the argument is one
                return self._own[number]
        return None

    def checked(self, flag: Flag, dims: Sequence[int], refusal: Any) -> None:
        """Records that a launch notes a bad index in `flag`, which this capture owns."""
        name, user = op_called()
        self.recording.checks.append(CapturedCheck(flag, tuple(dims), refusal, name, line_of(user)))


def capturing(backend: Backend) -> Capture | None:
    """Returns the capture of this thread on a device; None if there is none."""
    at: Any = backend.executor
    while at is not None and not (isinstance(at, Capture) and at.here):
        at = getattr(at, "inner", None)
    return at


@contextmanager
def captured(backend: Backend, strict: bool = True) -> Iterator[Capture]:
    """Context manager: runs and records the launches of this thread on the current stream.

    Raises RuntimeError at the start inside another capture or a trace and on devices whose kernels
    come from images; at the end for indices out of range, as the calls do.
    """
    if thread_recorder() is not None or capturing(backend) is not None:
        raise errors.inside()
    if backend.built_ahead:
        raise errors.built_ahead(backend.properties.name)
    backend.synchronize()
    capture = Capture(backend, strict)
    with observed(backend, capture):
        yield capture
    capture.stream.finish()
    for check in capture.recording.checks:
        error = check.resolve()
        if error is not None:
            raise error
