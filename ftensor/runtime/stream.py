"""Streams and events: in-order commands within a stream, dependencies between streams."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

from .. import errors
from ..errors import opencl as opencl_errors
from .pool import FreeLists, wait_unless_exiting

if TYPE_CHECKING:
    from .backend import Backend
    from .pool import Storage
    from .private_pool import PrivatePool


def _check(function: str, argument: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        expected = "an ft.fpga.Event" if kind is Event else "an ft.fpga.Stream"
        raise errors.argument_type(function, argument, expected, value)


class Event:
    """A point in a stream's work, like `torch.cuda.Event`."""

    # Returns the stream to record without an argument; `_device.py` sets this.
    current_stream: Callable[[], DeviceStream]

    def __init__(self, enable_timing: bool = False) -> None:
        self.enable_timing = enable_timing
        self.stream: DeviceStream | None = None
        self.backend: Backend | None = None
        self.marker: Any = None
        self._timing: Any = None

    def record(self, stream: DeviceStream | None = None) -> None:
        """Records the event after everything enqueued in the stream so far."""
        if stream is None:
            stream = self.current_stream()
        _check("record", "stream", stream, DeviceStream)
        self.stream, self.backend = stream, stream.backend
        self.marker = stream.marker()
        if self.enable_timing:
            self._timing = stream.backend.make_timing(self.marker)

    def wait(self, stream: DeviceStream | None = None) -> None:
        """Makes a stream (by default the current one) wait for this event."""
        if stream is None and self.backend is not None:
            stream = self.backend.current_stream()
        if stream is not None:
            _check("wait", "stream", stream, DeviceStream)
            stream.wait_event(self)

    def query(self) -> bool:
        """True if the work before the event is done. An unrecorded event is done."""
        return self.backend is None or self.backend.marker_done(self.marker)

    def synchronize(self) -> None:
        """Waits on the host for the event."""
        if self.backend is not None:
            self.backend.finish_marker(self.marker)

    def elapsed_time(self, end: Event) -> float:
        """Returns the milliseconds from this event to `end`."""
        _check("elapsed_time", "end", end, Event)
        if self.backend is None or end.backend is None or self._timing is None or (end._timing is None):
            raise errors.event_without_time(self.backend is not None and end.backend is not None)
        start_ns = self.backend.timing_ns(self._timing)
        return (end.backend.timing_ns(end._timing) - start_ns) * 1e-6

    def __repr__(self) -> str:
        return f"Event(enable_timing={self.enable_timing}, recorded={self.marker is not None})"


class Doubt(Protocol):
    """A possible error of a kernel, which the next wait for the stream looks up."""

    def resolve(self) -> Exception | None:
        """Returns the error, or None. Called only after the kernel has finished."""


class DeviceStream:
    """One in-order queue of a device, like `torch.cuda.Stream`. `priority` is only stored."""

    def __init__(self, backend: Backend, priority: int = 0, *, queue: Any = None) -> None:
        self.backend = backend
        self.priority = priority
        self.queue: Any = backend.make_queue() if queue is None else queue
        self.free = FreeLists()
        # Commands enqueued, and commands known to be done. Launches increment the former after the
        # enqueue, so equality never means idle while a counted command still runs.
        self.launched = 0
        self.finished = 0
        self._kept: list[Any] = []
        # Used if launches may run beside the queue (`Backend.inline`): events of the queue's
        # commands, oldest first; the number of completed events dropped; the lock for both.
        self.flying: deque[Any] = deque()
        self._landed = 0
        self._landing = threading.Lock()
        # Launches with a possible error, by an identifying key; resolved at the next wait.
        self.doubts: dict[Any, Doubt] = {}
        self._checkpoint: tuple[int, Any, int] | None = None
        self._probe: tuple[int, Any] | None = None
        for stream in backend.all_streams():
            # Launches prepared on other streams may be used here; their geometry buffers may still
            # be uploading.
            self.wait_stream(stream)
        backend.add_stream(self)

    def close(self) -> None:
        """Called at the interpreter's exit: makes the next wait include a launch that Ctrl-C
        interrupted after it was enqueued and before it was counted."""
        self.__class__ = ClosedStream
        self.__dict__["launched"] += 1  # close() waits for it

    @property
    def opencl_queue(self) -> Any:
        """The stream's pyopencl queue, on an OpenCL device.

        Commands that a program enqueues there run in order with ftensor's. From the first use of
        this property on, waits for the stream include them, and small launches no longer run in
        the calling thread. Raises RuntimeError on another device.
        """
        if not self.backend.has_opencl_queues:
            raise opencl_errors.no_opencl(self.backend.properties.name)
        if not isinstance(self, (SharedStream, ClosedStream, LostStream)):
            self.__class__ = SharedStream
        return self.queue

    def idle(self) -> bool:
        """True if all counted commands are known to be done, without a query to the device."""
        return self.finished == self.launched

    def count_finished(self) -> int:
        """Returns the number of ftensor's commands that are known to be done."""
        return self.finished

    def synchronize(self) -> None:
        """Waits for all commands enqueued so far.

        Raises a kernel's error if its lookup was deferred to this wait.
        """
        self.finish()
        for key in tuple(self.doubts):
            doubt = self.doubts.pop(key, None)  # another thread may resolve it
            if doubt is not None and (error := doubt.resolve()):
                raise error

    def finish(self) -> None:
        """Waits for all commands enqueued so far, without raising kernels' errors. For internal
        waits."""
        self.backend.settle()
        self._finish_enqueued()

    def _finish_enqueued(self) -> None:
        """Like `finish`, but does not enqueue deferred launches first."""
        seen, flying = self.launched, self._landed + len(self.flying)
        if self.finished != seen:
            kept, self._kept = self._kept, []
            self.backend.finish(self.queue)
            self.finished = max(self.finished, seen)
            kept.clear()
            self._land(flying)

    def query_finished(self) -> bool:
        """True if the events of all commands so far are complete. Requires that `flying` is
        maintained."""
        seen = self.launched
        if not self._landing.acquire(blocking=False):
            # a lookup is in progress in another thread, or in the code that a signal interrupted
            return False
        try:
            while self.flying:
                if self.flying[0].command_execution_status:  # 0 is CL_COMPLETE
                    return False
                self.flying.popleft()
                self._landed += 1
        finally:
            self._landing.release()
        self.finished = max(self.finished, seen)
        return True

    def _land(self, count: int) -> None:
        """Drops the events of the first `count` commands, which have completed."""
        if self._landing.acquire(blocking=False):
            try:
                while self._landed < count:
                    self.flying.popleft()
                    self._landed += 1
            finally:
                self._landing.release()

    def note(self, event: Any = None) -> None:
        """Counts a command that is not a launch; `event` is the command's own event, if any."""
        if self.backend.inline:
            self.flying.append(event or self.marker())
        self.launched += 1

    def forget_events(self) -> None:
        """Records that a launch was interrupted, perhaps after its enqueue. Only a wait shows when
        it is done."""
        self.flying.append(_Unseen)
        self.launched += 1

    def keep(self, guard: Any) -> None:
        """Keeps an object that a running command needs alive until the next wait. Waits once it
        keeps 64 objects."""
        if len(self._kept) >= 64:
            self._finish_enqueued()
        self._kept.append(guard)

    def throttle(self) -> None:
        """Called every 1024 launches: waits for the commands enqueued before the previous call.

        A runtime stores every command that has not run, so without this a host that is faster than
        the device would fill the memory with commands.
        """
        flying = self._landed + len(self.flying)
        before, self._checkpoint = self._checkpoint, (self.launched, self.enqueued(), flying)
        if before is not None:
            self.backend.finish_marker(before[1])
            self.finished = max(self.finished, before[0])
            self._land(before[2])

    def marker(self) -> Any:
        """Returns the device's event after all commands so far, deferred launches included."""
        self.backend.settle()
        return self.enqueued()

    def enqueued(self) -> Any:
        """Like `marker`, for memory that deferred launches do not use: leaves these out."""
        return self.backend.make_marker(self.queue)

    def query(self) -> bool:
        """True if all commands enqueued so far are done."""
        self.backend.settle()
        if self.finished == self.launched:
            return True
        # All queries about the same work share one marker. With a new marker for each query, which
        # is never done at once, queries could return False for ever.
        if self._probe is None or self._probe[0] != self.launched:
            self._probe = (self.launched, self.marker())
        seen, marker = self._probe
        done = self.backend.marker_done(marker)
        if done:
            self.finished = max(self.finished, seen)
        return done

    def record_event(self, event: Event | None = None) -> Event:
        """Records an event (by default a new one) after the work so far, and returns it."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Makes work enqueued from now on wait for the event; the host does not wait."""
        _check("wait_event", "event", event, Event)
        if event.marker is not None and event.stream is not self:
            self.backend.wait_marker(self.queue, event.marker, event.backend)
            self.note()

    def wait_stream(self, stream: DeviceStream) -> None:
        """Makes work enqueued from now on wait for the other stream's work so far."""
        _check("wait_stream", "stream", stream, DeviceStream)
        if stream is not self:
            stream.backend.settle()
            self.wait_enqueued(stream)

    def wait_enqueued(self, stream: DeviceStream) -> None:
        """Like `wait_stream`, but without the deferred launches."""
        if stream is self or stream.idle():
            return
        self.backend.wait_marker(self.queue, stream.enqueued(), stream.backend)
        self.note()

    def use(self, storage: Storage) -> None:
        """Records that this stream uses a storage of another stream.

        When the storage is freed, its block is reused only after the work enqueued here by then.
        The caller orders the uses themselves, with `wait_stream`.
        """
        if storage.stream is not self:
            # Weak references suffice: a dropped stream waits for its work in `__del__`.
            if storage.users is None:
                storage.users = WeakSet((self,))
            elif self not in storage.users:
                storage.users.add(self)

    def __del__(self) -> None:
        # The work in flight may use the free blocks, which end with the stream.
        if "queue" in self.__dict__:  # else the constructor failed
            self._finish_enqueued()  # the stream's deferred launches refer to it
            self.backend.pool.drop_free(self.free)

    def __repr__(self) -> str:
        return f"Stream(device={self.backend.properties.name!r}, priority={self.priority})"


class SharedStream(DeviceStream):
    """A stream whose queue other code uses, too. It is never known to be idle: each wait waits for
    the queue, and no launch runs beside it."""

    @property
    def finished(self) -> int:
        """-1: less than the number of commands enqueued."""
        return -1

    @finished.setter
    def finished(self, count: int) -> None:
        self.__dict__["finished"] = max(self.count_finished(), count)

    def count_finished(self) -> int:
        return self.__dict__.get("finished", 0)

    def query_finished(self) -> bool:
        return False

    def query(self) -> bool:
        self.backend.settle()
        before, self._probe = self._probe, None
        marker = self.marker() if before is None else before[1]
        if self.backend.marker_done(marker):
            return True
        self._probe = (0, marker)  # a marker of its own for each query might never be done
        return False


class _Unseen:
    """Replaces the unknown event of an interrupted command; never complete."""

    command_execution_status = 1


class ClosedStream(DeviceStream):
    """A stream after the interpreter's exit began: only the exiting thread gets its queue, and it
    waits for each command. Exit hooks and finalizers may still run ops, and nothing waits later."""

    @property
    def queue(self) -> Any:
        """The queue, for the exiting thread; blocks all other threads."""
        wait_unless_exiting()
        return self.__dict__["queue"]

    @queue.setter
    def queue(self, value: Any) -> None:
        self.__dict__["queue"] = value

    @property
    def launched(self) -> int:
        """The number of commands enqueued."""
        return self.__dict__["launched"]

    @launched.setter
    def launched(self, count: int) -> None:
        self.__dict__["launched"] = count
        self.finish()


class LostStream(DeviceStream):
    """A stream in a forked child, which lacks the runtime's threads."""

    @property
    def queue(self) -> Any:
        """Raises: every use of the device needs the queue."""
        raise errors.used_after_fork(self.backend.properties.name)

    @queue.setter
    def queue(self, value: Any) -> None:
        raise errors.used_after_fork(self.backend.properties.name)

    def __del__(self) -> None:
        """Does nothing: the memory ends with the process."""


class CurrentStream(threading.local):
    """The stream to which each thread enqueues, and the private pool from which it allocates."""

    def __init__(self, stream: DeviceStream) -> None:
        self.stream = stream
        self.private: PrivatePool | None = None
