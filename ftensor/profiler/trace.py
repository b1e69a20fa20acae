"""A profile as Chrome's trace events, which Perfetto and chrome://tracing show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .record import Event, Memory

HOST, DEVICE = 1, 2  # the processes of a trace: rows of threads, and of streams


def as_trace(events: Sequence[Event], memories: Sequence[Memory], begun: int) -> dict[str, Any]:
    """The trace; times are microseconds since the profile began (`begun`, nanoseconds)."""

    def us(ns: int) -> float:
        return (ns - begun) / 1e3

    entries = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in ((HOST, "host"), (DEVICE, "device"))
    ]
    # Streams are numbered as they are met: rows of small numbers.
    streams: dict[int, int] = {}
    for number, e in enumerate(events):
        about = {"kernel": e.kernel, "shapes": e.shapes, "line": e.line, "bytes": e.work.nbytes, "flops": e.work.flops}
        host = {"pid": HOST, "tid": e.thread, "cat": e.kind}
        entries.append(
            {"ph": "X", "name": e.op, "ts": us(e.called), "dur": (e.ended - e.called) / 1e3, "args": about, **host}
        )
        if e.compiling:
            begin = {"ph": "X", "name": "compile", "ts": us(e.called), "dur": e.compiling / 1e3}
            entries.append({**begin, "args": {"kernel": e.kernel}, **host})
        if e.kind != "launch":
            continue
        tid = streams.setdefault(e.stream, len(streams))
        row = {"pid": DEVICE, "tid": tid, "cat": "kernel"}
        entries.append(
            {"ph": "X", "name": e.kernel, "ts": us(e.begun), "dur": (e.done - e.begun) / 1e3, "args": about, **row}
        )
        # An arrow from the call to the kernel.
        arrow = {"name": "launch", "cat": "launch", "id": number}
        entries.append({"ph": "s", **arrow, "pid": HOST, "tid": e.thread, "ts": us(e.called)})
        entries.append({"ph": "f", "bp": "e", **arrow, "pid": DEVICE, "tid": tid, "ts": us(e.begun)})
    for tid in streams.values():
        name = {"name": f"stream {tid}"}
        entries.append({"ph": "M", "name": "thread_name", "pid": DEVICE, "tid": tid, "args": name})
    for number, memory in enumerate(memories):
        entries += [
            {"ph": "C", "name": f"memory {number}", "pid": DEVICE, "tid": 0, "ts": us(at), "args": {"bytes": held}}
            for at, held in memory.curve
        ]
    return {"displayTimeUnit": "ns", "traceEvents": entries}
