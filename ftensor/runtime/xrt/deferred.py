"""Deferred launches: they wait for kernels built on request, so that builds come in batches."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import image as errors
from ...errors.message import Caller, caller
from .. import lifetime
from ..images import ATTEMPTS

if TYPE_CHECKING:
    import numpy as np

    from ..pool import Storage
    from ..stream import DeviceStream
    from .backend import XrtBackend

# Limits at which deferred commands are enqueued: commands, bytes of arrays that were copied for
# them, kernels. Memory that these commands use is unavailable to others meanwhile.
MAX_COMMANDS = 1024
MAX_BYTES = 1 << 26
MAX_KERNELS = 64


@dataclass(frozen=True)
class DeferredOperand:
    """A tensor's storage and offset when its launch was deferred; the tensor may change since."""

    _storage: Storage
    _offset: int


class DeferredCommand(NamedTuple):
    """A deferred launch or upload. `made_by` is the user's line of the launch, and `lacking` is
    True if its kernel was missing."""

    run: Callable[[], None]
    stream: DeviceStream
    made_by: Caller | None = None
    lacking: bool = False


@dataclass(frozen=True)
class FailedCommand:
    """A command that could not be enqueued, recorded among its stream's `doubts`."""

    error: Exception

    def resolve(self) -> Exception:
        """Returns the error."""
        return self.error


class DeferredLaunches:
    """The executor (`Backend.executor`) of a board whose kernels are built on request.

    A launch of a requested kernel is deferred, and so are all later commands that could depend on
    it: every launch, and uploads into memory that deferred commands use. `settle` builds all
    requested kernels in one batch and enqueues the deferred commands in order. Code that waits for
    a stream or reads memory calls `settle` first.
    """

    def __init__(self, backend: XrtBackend) -> None:
        self.backend, self.images = backend, backend.images
        self._commands: deque[DeferredCommand] = deque()
        self._used: set[int] = set()  # the storages of the commands, by their ids
        self._bytes = 0
        # True from the first command until all are enqueued; read without the lock.
        self._active = False
        self._busy = False  # loading or enqueueing
        self._abandoned = False  # a waiting builder was interrupted
        self._closed = backend.closed  # at the interpreter's exit nothing is deferred any more

    def launch(self, launch: Any, stream: DeviceStream, tensors: Sequence[Any], scalars: Sequence[Any]) -> None:
        """Enqueues a launch, or defers it if a kernel is missing or other launches are deferred."""
        if (self._active or self.images.requested) and self._waits(launch, stream, tensors, scalars):
            return
        launch.enqueue(stream, scalars, *tensors)

    def _waits(self, launch: Any, stream: DeviceStream, tensors: Sequence[Any], scalars: Sequence[Any]) -> bool:
        _ = stream.queue  # before the lock: in a forked child this raises
        with self.backend.lock:
            lacking = any(step.key.entry in self.images.requested for step in launch.steps)
            if self._closed:
                self._build()
            if self._closed or not (lacking or self._active):
                return False
            operands = [DeferredOperand(t._storage, t._offset) for t in tensors]
            run = partial(_enqueued, launch, stream, tuple(scalars), operands)
            self._add(DeferredCommand(run, stream, caller(), lacking), [o._storage for o in operands])
            return True

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies an array into a storage, after the deferred commands that use the storage."""
        if self._active:
            stream = self.backend.current_stream()
            _ = stream.queue
            with self.backend.lock:
                if id(storage) in self._used:
                    copied = array.copy()
                    run = partial(self.backend.upload_on, stream, storage, byte_offset, copied)
                    self._bytes += copied.nbytes
                    self._add(DeferredCommand(run, stream), [storage])
                    return
        self.backend._upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies a storage to an array, after all deferred commands."""
        if self._active:
            with self.backend.lock:
                if self._busy:  # a finalizer of this thread reads during its work
                    raise errors.read_amid_launches()
                self.settle()
        self.backend._download(storage, byte_offset, array)

    def called(self) -> None:
        """Does nothing: only launches are deferred."""

    def allocate(self, backend: XrtBackend, nbytes: int, stream: DeviceStream, lasting: bool) -> Storage:
        return backend.pool.take(nbytes, stream)

    def read(self, storage: Storage) -> None:
        """Does nothing: `download` reads a board's memory."""

    def reshaped(self, tensor: Any) -> None:
        """Does nothing: deferred commands hold their operands' storages and offsets."""

    def start_read(self, tensor: Any, multiple: int) -> None:
        """Does nothing: deferred commands hold their operands' storages and offsets."""

    def _add(self, command: DeferredCommand, storages: Sequence[Storage]) -> None:
        self._active = True
        self._commands.append(command)
        for storage in storages:
            command.stream.use(storage)
            self._used.add(id(storage))
        if len(self._commands) >= MAX_COMMANDS or self._bytes >= MAX_BYTES or len(self.images.requested) >= MAX_KERNELS:
            self.settle()

    def settle(self) -> None:
        """Builds the requested kernels and enqueues the deferred commands.

        Raises nothing for a command that fails: the next wait for its stream raises the error. A
        signal handler that interrupts the build may call this, too, and then does all the work.
        """
        if not self._active:
            return
        with self.backend.lock:
            if self._busy:
                return
            self._abandoned = True
            while self._commands:
                before = len(self._commands)
                self._build()
                with self._undisturbed():
                    self._enqueue(before)
            self._abandoned = False

    def _build(self) -> None:
        for _ in range(ATTEMPTS):
            result = self.images.build_requested()
            if result is None:
                break
            with self._undisturbed():
                self.images.load_built(result)

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Defers signals: a handler that reads a tensor would find only half of the commands
        enqueued."""
        with lifetime.signals_deferred():
            self._busy = True
            try:
                yield
            finally:
                self._busy = False

    def _enqueue(self, most: int) -> None:
        calls = self.images.calls
        # Not the commands added since the kernels were requested, or added by finalizers now.
        for _ in range(min(most, len(self._commands))):
            command = self._commands.popleft()
            if calls is not None:
                calls.made_by = command.made_by
            try:
                command.run()
            except Exception as error:  # noqa: BLE001
                # Recorded as a doubt of the stream, and raised like the device's own errors.
                failure = _with_call_site(error.with_traceback(None), command)  # a traceback keeps kernels alive
                command.stream.doubts.setdefault((FailedCommand, str(failure)), FailedCommand(failure))
            finally:
                if calls is not None:
                    calls.made_by = None
        if not self._commands:
            self.forget()

    def forget(self) -> None:
        """Drops all deferred commands."""
        self._commands.clear()
        self._used.clear()
        self._bytes, self._active = 0, False

    def close(self) -> None:
        """Called at the interpreter's exit: enqueues the deferred commands and prints their errors.

        If an exception ended the program, drops the deferred commands and builds no kernels.
        """
        with self.backend.lock:
            if self._abandoned or getattr(sys, "last_value", None) is not None:
                self.forget()
            self.settle()
            self._closed = True
            for stream in self.backend.all_streams():
                for doubt in stream.doubts.values():
                    if isinstance(doubt, FailedCommand):
                        print(f"ftensor: {doubt.error}", file=sys.stderr)


def _with_call_site(error: Exception, command: DeferredCommand) -> Exception:
    """Returns the error with the user's line of the launch in its message."""
    if command.made_by is None:
        return error
    if command.lacking and isinstance(error, errors.ImageError):
        return errors.asked_for_at(error, command.made_by)
    if error.args and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]}\nIt was launched at {command.made_by}", *error.args[1:])
    return error


def _enqueued(launch: Any, stream: DeviceStream, scalars: Sequence[Any], operands: Sequence[DeferredOperand]) -> None:
    """Enqueues a deferred launch. Takes the launch itself, which keeps its geometry buffer
    alive."""
    launch.enqueue(stream, scalars, *operands)
