"""Streams and events: commands in order within a stream, waits between streams."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

from .. import errors
from .pool import FreeLists, wait_unless_exiting

if TYPE_CHECKING:
    from .backend import Backend
    from .storage import Storage


class Event:
    """A point in a stream's work, as `torch.cuda.Event`."""

    # Which stream is meant where none is given: the devices' names say it (`_device.py`).
    current_stream: Callable[[], DeviceStream]

    def __init__(self, enable_timing: bool = False) -> None:
        self.enable_timing = enable_timing
        self.stream: DeviceStream | None = None
        self.backend: Backend | None = None
        self.marker: Any = None
        self._timing: Any = None

    def record(self, stream: DeviceStream | None = None) -> None:
        """Take the place behind everything enqueued in the stream so far."""
        if stream is None:
            stream = self.current_stream()
        self.stream, self.backend = stream, stream.backend
        self.marker = stream.marker()
        if self.enable_timing:
            self._timing = stream.backend.make_timing(self.marker)

    def wait(self, stream: DeviceStream | None = None) -> None:
        """Let a stream (the current one by default) wait for this event."""
        if stream is None and self.backend is not None:
            stream = self.backend.current_stream()
        if stream is not None:
            stream.wait_event(self)

    def query(self) -> bool:
        """Whether the work before the event is done; an unrecorded event is."""
        return self.backend is None or self.backend.marker_done(self.marker)

    def synchronize(self) -> None:
        """Let the host wait for the event."""
        if self.backend is not None:
            self.backend.finish_marker(self.marker)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to `end`."""
        if self.backend is None or end.backend is None or self._timing is None or (end._timing is None):
            raise errors.event_without_time(self.backend is not None and end.backend is not None)
        start_ns = self.backend.timing_ns(self._timing)
        return (end.backend.timing_ns(end._timing) - start_ns) * 1e-6

    def __repr__(self) -> str:
        return f"Event(enable_timing={self.enable_timing}, recorded={self.marker is not None})"


class Doubt(Protocol):
    """What a kernel may have found."""

    def resolve(self) -> Exception | None:
        """The error, if there was one; the work is done."""


class DeviceStream:
    """One in-order queue of a device, as `torch.cuda.DeviceStream`; `priority` is noted."""

    def __init__(self, backend: Backend, priority: int = 0) -> None:
        self.backend = backend
        self.priority = priority
        self.queue: Any = backend.make_queue()
        self.free = FreeLists()
        # Commands enqueued, and how many of them are known to be done. Launches only add to the
        # first, after the enqueue, so that equality never claims idleness for a counted command.
        self.launched = 0
        self.finished = 0
        self._kept: list[Any] = []
        # Where launches may run beside the queue (`Backend.inline`): events of the commands in it,
        # the oldest first, how many were dropped since they are done, and whose turn that is.
        self.flying: deque[Any] = deque()
        self._landed = 0
        self._landing = threading.Lock()
        # Launches that may have met an error, by what tells them apart; asked at the next wait.
        self.doubts: dict[Any, Doubt] = {}
        self._checkpoint: tuple[int, Any, int] | None = None
        self._probe: tuple[int, Any] | None = None
        for other in backend.all_streams():
            # Launches that were prepared there serve here too; their geometry may be on its way.
            self.wait_stream(other)
        backend.register_stream(self)

    def close(self) -> None:
        """The interpreter exits: wait for all work, also for a launch that was interrupted (by
        Ctrl-C) after it was enqueued and before it was counted."""
        self.__class__ = ClosedStream
        self.__dict__["launched"] += 1  # whoever closes all streams waits for them afterwards

    def idle(self) -> bool:
        """Whether all counted work is known to be done, without asking the device."""
        return self.finished == self.launched

    def synchronize(self) -> None:
        """Wait for everything enqueued so far.

        Raises what a kernel has found meanwhile, where asking for it was deferred to this moment.
        """
        self.finish()
        for key in tuple(self.doubts):
            doubt = self.doubts.pop(key, None)  # another thread may ask, too
            if doubt is not None and (error := doubt.resolve()):
                raise error

    def finish(self) -> None:
        """Wait for everything enqueued so far, and raise nothing: for what is no user's wait."""
        self.backend.settle()
        self._finish_enqueued()

    def _finish_enqueued(self) -> None:
        """As `finish`, but what is put off is not enqueued for it."""
        seen, flying = self.launched, self._landed + len(self.flying)
        if self.finished != seen:
            kept, self._kept = self._kept, []
            self.backend.finish(self.queue)
            self.finished = max(self.finished, seen)
            kept.clear()
            self._land(flying)

    def through(self) -> bool:
        """Whether everything enqueued so far is done, as its events say; where these are kept."""
        seen = self.launched
        if not self._landing.acquire(blocking=False):
            return False  # another thread is asking, or this one, in what a signal interrupted
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
        """Drop the events of the first `count` commands of all, which are done."""
        if self._landing.acquire(blocking=False):
            try:
                while self._landed < count:
                    self.flying.popleft()
                    self._landed += 1
            finally:
                self._landing.release()

    def note(self, event: Any = None) -> None:
        """Count a command that is no launch; `event` is its own, if it has one."""
        if self.backend.inline:
            self.flying.append(event or self.marker())
        self.launched += 1

    def lose_sight(self) -> None:
        """A launch was interrupted, perhaps after it was enqueued: only waiting tells its end."""
        self.flying.append(_Unseen)
        self.launched += 1

    def keep(self, guard: Any) -> None:
        """Hold what a command in flight needs, until the stream is waited for or it is many."""
        if len(self._kept) >= 64:
            self._finish_enqueued()
        self._kept.append(guard)

    def throttle(self) -> None:
        """Called every 1024 launches: waits for the work of the time before the last call.

        A runtime keeps every command it has not run, so a host that is faster than the device
        would otherwise fill the memory with commands.
        """
        flying = self._landed + len(self.flying)
        before, self._checkpoint = self._checkpoint, (self.launched, self.enqueued(), flying)
        if before is not None:
            self.backend.finish_marker(before[1])
            self.finished = max(self.finished, before[0])
            self._land(before[2])

    def marker(self) -> Any:
        """The device's own event behind everything enqueued so far."""
        self.backend.settle()
        return self.enqueued()

    def enqueued(self) -> Any:
        """As `marker`, but not behind what is put off: for memory that none of that uses."""
        return self.backend.make_marker(self.queue)

    def query(self) -> bool:
        """Whether everything enqueued so far is done."""
        self.backend.settle()
        if self.finished == self.launched:
            return True
        # One marker serves all questions about the same work: a fresh one is itself not done at
        # once, so asking with a new one each time could say no for ever.
        if self._probe is None or self._probe[0] != self.launched:
            self._probe = (self.launched, self.marker())
        seen, marker = self._probe
        done = self.backend.marker_done(marker)
        if done:
            self.finished = max(self.finished, seen)
        return done

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (a new one by default) behind the work so far, and return it."""
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what is enqueued here from now on wait for the event; the host does not wait."""
        if event.marker is not None and event.stream is not self:
            self.backend.wait_marker(self.queue, event.marker, event.backend)
            self.note()

    def wait_stream(self, stream: DeviceStream) -> None:
        """Let what is enqueued here from now on wait for the other stream's work so far."""
        if stream is not self:
            stream.backend.settle()
            self.wait_enqueued(stream)

    def wait_enqueued(self, stream: DeviceStream) -> None:
        """As `wait_stream`, but not for what is put off."""
        if stream is self or stream.idle():
            return
        self.backend.wait_marker(self.queue, stream.enqueued(), stream.backend)
        self.note()

    def use(self, storage: Storage) -> None:
        """Say that a storage of another stream is used here, so that its memory stays safe.

        Its block is not handed out again before the work enqueued here by the time of its
        release is done. Ordering the uses themselves is the caller's: `wait_stream`.
        """
        if storage.stream is not self:
            # Weakly: a stream that nobody holds any more waits for its work before it goes.
            if storage.users is None:
                storage.users = WeakSet((self,))
            elif self not in storage.users:
                storage.users.add(self)

    def __del__(self) -> None:
        # The work in flight may use the free blocks, which end with the stream.
        if "queue" in self.__dict__:  # else the constructor failed
            self._finish_enqueued()  # what is put off for a stream holds it
            self.backend.pool.drop_free(self.free)

    def __repr__(self) -> str:
        return f"Stream(device={self.backend.properties.name!r}, priority={self.priority})"


class _Unseen:
    """Stands for the event of a command that nobody has: it never says that it is done."""

    command_execution_status = 1


class ClosedStream(DeviceStream):
    """What a stream becomes when the interpreter exits: only the exiting thread gets its queue, and
    waits for each command. Hooks that were registered before ours and finalizers may still run ops,
    and nobody comes after them who could wait."""

    @property
    def queue(self) -> Any:
        """Whatever needs the device comes here first."""
        wait_unless_exiting()
        return self.__dict__["queue"]

    @queue.setter
    def queue(self, value: Any) -> None:
        self.__dict__["queue"] = value

    @property
    def launched(self) -> int:
        """Commands enqueued."""
        count: int = self.__dict__["launched"]
        return count

    @launched.setter
    def launched(self, count: int) -> None:
        self.__dict__["launched"] = count
        self.finish()


class LostStream(DeviceStream):
    """What a stream becomes in a forked child, where the threads that served it don't exist."""

    @property
    def queue(self) -> Any:
        """Whatever needs the device comes here first, and fails."""
        raise errors.used_after_fork(self.backend.properties.name)

    @queue.setter
    def queue(self, value: Any) -> None:
        raise errors.used_after_fork(self.backend.properties.name)

    def __del__(self) -> None:
        """Nothing: the memory ends with the process."""


class CurrentStream(threading.local):
    """Which stream a thread enqueues to."""

    def __init__(self, stream: DeviceStream) -> None:
        self.stream = stream
