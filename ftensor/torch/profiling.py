"""Adds the device's times, kernels and memory to `torch.profiler.profile`.

torch reads device activity from C++ only. So an ftensor profile runs along with torch's if
ProfilerActivity.PrivateUse1 is among the activities (the default). Its kernels and memory are
merged into torch's events when torch parses its results.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_right
from functools import wraps
from typing import Any

from torch.autograd import profiler as torch_profiler
from torch.autograd.profiler_util import FunctionEvent

from .. import profiler
from ..profiler.report import DEVICE, as_trace
from . import internals, memory
from .registration import NAME

_start = torch_profiler.profile._start_trace
_stop = torch_profiler.profile.__exit__
_parse = torch_profiler.profile._parse_kineto_results
_export = torch_profiler.profile.export_chrome_trace


@wraps(_start)
def _start_trace(self: Any) -> None:
    if self.use_device == NAME:
        self._ftensor = profiler.profile(memory.device_of_calls())
        self._ftensor.__enter__()
    _start(self)


@wraps(_stop)
def _exit(self: Any, *exc: Any) -> Any:
    session = getattr(self, "_ftensor", None)
    if session is not None:
        session.__exit__(*exc)
        # torch's times are wall-clock times since the epoch.
        self._ftensor_epoch = time.time_ns() - time.perf_counter_ns()
    return _stop(self, *exc)


@wraps(_parse)
def _parse_kineto_results(self: Any, result: Any, timeout_s: float | None = None) -> Any:
    events = _parse(self, result, timeout_s)
    session = getattr(self, "_ftensor", None)
    if session is None:
        return events
    clock_offset = self._ftensor_epoch - result.trace_start_ns()

    def us(ns: int) -> float:
        return (ns + clock_offset) / 1e3

    calls = sorted(events, key=_outermost_first)
    starts = [e.time_range.start for e in calls]
    for number, e in enumerate(session.events):
        if e.kind != "launch":
            continue
        end_us = us(e.ended)
        # The innermost op that was running when the kernel was enqueued.
        for call in reversed(calls[: bisect_right(starts, end_us)]):
            if call.time_range.end >= end_us:
                call.append_kernel(e.kernel, 0, (e.done - e.begun) / 1e3)
                break
        event = FunctionEvent(
            id=-1 - number,
            name=e.kernel,
            thread=0,
            start_us=us(e.begun),
            end_us=us(e.done),
            stack=[],
            use_device=NAME,
            device_type=internals.PRIVATE_USE_1,
            device_index=0,
            device_resource_id=0,
        )
        events.append(event)
    if self.profile_memory:
        times = [us(ns) for ns, _ in session.memory.curve]
        allocated = [session.memory.before, *[nbytes for _, nbytes in session.memory.curve]]
        for call in calls:
            start, end = call.time_range.start, call.time_range.end
            growth = allocated[bisect_right(times, end)] - allocated[bisect_right(times, start)]
            call.device_memory_usage += growth
    return sorted(events, key=_outermost_first)


def _outermost_first(event: Any) -> tuple[float, float]:
    return event.time_range.start, -event.time_range.end


@wraps(_export)
def _export_chrome_trace(self: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
    result = _export(self, path, *args, **kwargs)
    session = getattr(self, "_ftensor", None)
    if session is not None:
        with open(path) as file:
            trace = json.load(file)
        start = trace.get("baseTimeNanoseconds", 0) - self._ftensor_epoch
        device_events = as_trace(session.events, [session.memory], start)["traceEvents"]
        trace["traceEvents"] += [
            {**e, "pid": NAME} for e in device_events if e["pid"] == DEVICE and e["ph"] not in "sf"
        ]
        with open(path, "w") as file:
            json.dump(trace, file)
    return result


def install() -> None:
    """Replaces the profiler's methods by those of this module."""
    torch_profiler.profile._start_trace = _start_trace
    torch_profiler.profile.__exit__ = _exit
    torch_profiler.profile._parse_kineto_results = _parse_kineto_results
    torch_profiler.profile.export_chrome_trace = _export_chrome_trace
