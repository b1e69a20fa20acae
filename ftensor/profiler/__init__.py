"""`ft.profiler`: measures a program's launches and copies, and compares them with the device's
limits."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType

from .._device import DeviceLike, backend_of, current_device
from .._device import device as _device
from ..errors import commands as errors
from ..execute.dispatch import observed
from . import report
from .measurement import Limits, Measurement, benchmark, limits
from .record import MemoryUse, ProfiledEvent, Recorder
from .report import Average, as_trace

__all__ = ["Average", "Limits", "Measurement", "MemoryUse", "ProfiledEvent", "benchmark", "limits", "profile"]


class profile:
    """Records the launches, copies and memory of a device while the `with` block runs.

    `device` is by default that of new tensors. Nothing waits for the device before the block ends.
    On the device each launch is between two markers, which cost some microseconds. Without a
    profile a program has no overhead.
    """

    def __init__(self, device: DeviceLike | None = None) -> None:
        self.device = current_device() if device is None else _device(device)
        self._stack = ExitStack()
        self._recorder: Recorder | None = None
        self._begun = self._ended = 0

    def __enter__(self) -> profile:
        if self._recorder is not None:
            raise errors.entered_twice()
        backend = backend_of(self.device)
        self._recorder = Recorder(backend)
        self._begun = perf_counter_ns()
        self._stack.enter_context(observed(backend, self._recorder))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._recorder is not None
        self._stack.close()
        self._recorder.finish()
        self._ended = perf_counter_ns()

    @property
    def events(self) -> list[ProfiledEvent]:
        """The launches and copies, in the order of their calls."""
        return self._done.events

    @property
    def memory(self) -> MemoryUse:
        """The memory that tensors occupied."""
        return self._done.memory

    @property
    def _done(self) -> Recorder:
        if self._recorder is None or not self._ended:
            raise errors.not_done()
        return self._recorder

    def averages(self, group_by: str = "op") -> list[Average]:
        """Returns similar launches summed up, by descending device time. `group_by` is "op" (with
        its kernel), "kernel", "shapes" (op, kernel and operands), or "line" (of the program)."""
        return report.averages(self.events, group_by, limits(self.device))

    def table(self, sort_by: str = "device_time", row_limit: int = 30, group_by: str = "op") -> str:
        """Returns a table of `averages(group_by)`, followed by the events that belong to no op.

        `sort_by` is a figure of `Average`: "device_time", "host_time", "compile_time", "count",
        "nbytes", "flops", "bandwidth", "flop_rate", "limit", or "name". Raises ValueError for other
        words.
        """
        rows = report.as_table(self.averages(group_by), sort_by, row_limit)
        ended = self._ended - self._begun
        below = report.totals(self.events, ended, self.memory, limits(self.device))
        return f"{rows}\n\n{below}"

    def export_chrome_trace(self, path: str | Path) -> None:
        """Writes the events as a trace in JSON for https://ui.perfetto.dev and chrome://tracing:
        threads of the host, streams of the device, memory."""
        trace = as_trace(self.events, [self.memory], self._begun)
        Path(path).write_text(json.dumps(trace))

    def plot(self, path: str | Path) -> None:
        """Draws a roofline into a file (.png, .svg, .pdf): the floating-point operations per second
        of launches, below the device's `limits`. Raises RuntimeError without matplotlib (the extra
        `plot`)."""
        name = self._done.backend.properties.name
        report.plot(self.averages(), limits(self.device), name, path)
