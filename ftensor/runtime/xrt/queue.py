"""A stream on XRT: commands in order, parts of one launch side by side."""

from __future__ import annotations

import os
import threading
import time
import weakref
from pathlib import Path
from typing import Any

TIDYING = 0.1  # seconds of a processor: a thread that has had them is at work of its own


def wait_for_idle_threads(seconds: float = 30.0) -> None:
    """Wait until every other thread of this process sleeps, but not longer than `seconds`.

    Those that go on computing are not waited for. That is told by the processor's time they have
    had: on a busy machine a thread with little to do may wait long until it can do it.
    """
    me, calm, end = str(threading.get_native_id()), 0, time.monotonic() + seconds
    had: dict[str, float] = {}
    while calm < 2 and time.monotonic() < end:
        calm += 1
        for task in os.listdir("/proc/self/task"):
            state, spent = _state(task)
            if task != me and state in "RD" and spent - had.setdefault(task, spent) < TIDYING:
                calm = 0
        time.sleep(0.001)


def _state(task: str) -> tuple[str, float]:
    """What a thread does (R and D: it runs, waits for a processor or the disk), and the seconds of
    a processor that it has had."""
    try:
        stat = Path(f"/proc/self/task/{task}/stat").read_text()
    except OSError:  # it has just ended
        return "X", 0.0
    fields = stat.rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# The commands that the host may be ahead of the device, about, all streams together: a launch has
# one for each compute unit. XRT keeps 128 command buffers for reuse, and in emulation it never
# closes the files of those that it makes beyond.
COMMANDS_AHEAD = 112


class Marker:
    """A point in a queue: the events of the last commands before it.

    An event keeps its kernel's program loaded, so markers let go of theirs once they are reached.
    """

    __slots__ = ("__weakref__", "ended", "events")

    def __init__(self, events: tuple[Any, ...]) -> None:
        self.events = events
        self.ended: int | None = None  # the time in ns on the driver's clock, once it is reached

    def wait(self) -> None:
        """Return when it is reached."""
        events = self.events
        for event in events:
            event.wait()
        self.settle(events)

    def settle(self, events: tuple[Any, ...]) -> None:
        """It is reached: note when, and let go of the events."""
        if self.ended is None:
            self.ended = max(int(e.profile.end) for e in events)
        self.events = ()


class XrtQueue:
    """An out-of-order queue whose commands wait for those before them, launch by launch.

    In an in-order queue the compute units of a launch would run one after the other. `tail` are
    the events of the last commands, `awaited` those of other queues: the next command waits for
    both. Used under the backend's lock.
    """

    __slots__ = ("__weakref__", "awaited", "cl", "commands", "markers", "module", "tail")

    def __init__(self, module: Any, context: Any, device: Any) -> None:
        flags = module.command_queue_properties
        self.module = module
        self.cl = module.CommandQueue(
            context, device, properties=flags.OUT_OF_ORDER_EXEC_MODE_ENABLE | flags.PROFILING_ENABLE
        )
        self.tail: list[Any] = []
        # Apart from the tail: freed memory may add to it while a command is being enqueued.
        self.awaited: list[Any] = []
        self.commands = 0  # since the stream was last throttled
        self.markers: weakref.WeakSet[Marker] = weakref.WeakSet()

    def before(self) -> list[Any] | None:
        """What the next command waits for."""
        if self.awaited:
            self.tail, self.awaited = [*self.tail, *self.awaited], []
        return self.tail or None

    def marker(self) -> Marker:
        """A marker behind everything so far."""
        if not self.tail and not self.awaited:
            # Its time is read on the driver's clock, which only events know.
            self.tail = [self.module._cl._enqueue_marker(self.cl)]
        # Without a flush: XRT starts commands by itself, and its clFlush waits for them.
        marker = Marker((*self.tail, *self.awaited))
        self.markers.add(marker)
        return marker

    def wait_for(self, marker: Marker) -> None:
        """Let the next command wait for a marker as well."""
        self.awaited = [*self._unfinished(), *marker.events]

    def _unfinished(self) -> list[Any]:
        done = self.module.command_execution_status.COMPLETE
        return [e for e in self.awaited if e.command_execution_status != done]

    def forget(self, tail: list[Any]) -> None:
        """The queue was waited for when `tail` was its tail: let go of what has ended."""
        if self.tail is tail:
            self.tail = []
        tail.clear()  # other threads may be holding this list, and with it kernels
        self.awaited = self._unfinished()
        done = self.module.command_execution_status.COMPLETE
        for marker in tuple(self.markers):
            events = marker.events
            if all(e.command_execution_status == done for e in events):
                marker.settle(events)
                self.markers.discard(marker)
