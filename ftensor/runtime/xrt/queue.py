"""Queues on XRT: launches in order, the commands of one launch in parallel."""

from __future__ import annotations

import os
import threading
import time
import weakref
from pathlib import Path
from typing import Any

TIDYING = 0.1  # seconds of a processor: a thread that has had them is at work of its own


def wait_for_idle_threads(seconds: float = 30.0) -> None:
    """Waits until every other thread of this process sleeps, for at most `seconds`.

    Does not wait for threads that keep computing. Their CPU time identifies them: on a busy
    machine, a thread with little work may have to wait long for a CPU.
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
    """Returns a thread's state letter (R: running or runnable, D: waiting for the disk) and its CPU
    time in seconds."""
    try:
        stat = Path(f"/proc/self/task/{task}/stat").read_text()
    except OSError:  # it has just ended
        return "X", 0.0
    fields = stat.rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# The approximate number of commands that the host may be ahead of the device, over all streams.
# A launch has one command per compute unit. XRT keeps 128 command buffers for reuse, and in
# emulation it never closes the files of further ones.
COMMANDS_AHEAD = 112


class Marker:
    """A point in a queue: the events of the last commands before it.

    An event keeps its kernel's program loaded, so a marker drops its events once they complete.
    """

    __slots__ = ("__weakref__", "ended", "events")

    def __init__(self, events: tuple[Any, ...]) -> None:
        self.events = events
        self.ended: int | None = None  # the time in ns on the driver's clock, once it is reached

    def wait(self) -> None:
        """Waits for the marker."""
        events = self.events
        for event in events:
            event.wait()
        self.settle(events)

    def settle(self, events: tuple[Any, ...]) -> None:
        """Records when the marker was reached, and drops the events."""
        if self.ended is None:
            self.ended = max(int(e.profile.end) for e in events)
        self.events = ()


class XrtQueue:
    """An out-of-order queue in which each launch waits for the launches before it.

    In an in-order queue the compute units of a launch would run one after the other. `tail` holds
    the events of the last commands, `awaited` events of other queues: the next command waits for
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
        # Separate from the tail: freed memory may append to it while a command is being enqueued.
        self.awaited: list[Any] = []
        self.commands = 0  # since the stream was last throttled
        self.markers: weakref.WeakSet[Marker] = weakref.WeakSet()

    def before(self) -> list[Any] | None:
        """Returns the events for which the next command waits."""
        if self.awaited:
            self.tail, self.awaited = [*self.tail, *self.awaited], []
        return self.tail or None

    def marker(self) -> Marker:
        """Returns a marker behind all commands so far."""
        if not self.tail and not self.awaited:
            # The time is read on the driver's clock, which only events provide.
            self.tail = [self.module._cl._enqueue_marker(self.cl)]
        # No flush: XRT starts commands by itself, and its clFlush waits for them.
        marker = Marker((*self.tail, *self.awaited))
        self.markers.add(marker)
        return marker

    def wait_for(self, marker: Marker) -> None:
        """Makes the next command wait for a marker as well."""
        self.awaited = [*self._unfinished(), *marker.events]

    def _unfinished(self) -> list[Any]:
        complete = self.module.command_execution_status.COMPLETE
        return [e for e in self.awaited if e.command_execution_status != complete]

    def forget(self, tail: list[Any]) -> None:
        """Drops the events of completed commands, once the host has waited for all commands up to
        `tail`."""
        if self.tail is tail:
            self.tail = []
        tail.clear()  # other threads may be holding this list, and with it kernels
        self.awaited = self._unfinished()
        complete = self.module.command_execution_status.COMPLETE
        for marker in tuple(self.markers):
            events = marker.events
            if all(e.command_execution_status == complete for e in events):
                marker.settle(events)
                self.markers.discard(marker)
