"""Events: points in streams' work."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import errors

if TYPE_CHECKING:
    from .backend import Backend
    from .stream import Stream


class Event:
    """A point in a stream's work, as `torch.cuda.Event`."""

    # Which stream is meant where none is given: the devices' names say it (`_device.py`).
    current_stream: Callable[[], Stream]

    def __init__(self, enable_timing: bool = False) -> None:
        self.enable_timing = enable_timing
        self.stream: Stream | None = None
        self.backend: Backend | None = None
        self.marker: Any = None
        self._timing: Any = None

    def record(self, stream: Stream | None = None) -> None:
        """Take the place behind everything enqueued in the stream so far."""
        if stream is None:
            stream = self.current_stream()
        self.stream, self.backend = stream, stream.backend
        self.marker = stream.marker()
        if self.enable_timing:
            self._timing = stream.backend.make_timing(self.marker)

    def wait(self, stream: Stream | None = None) -> None:
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
