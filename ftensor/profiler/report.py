"""A profile as a table and as Chrome's trace events, and as a roofline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import picture
from ..errors import commands as errors
from ..terminal import counted, size, table
from .measurement import Limits
from .record import MemoryUse, ProfiledEvent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUPS = ("op", "kernel", "shapes", "line")


@dataclass
class Average:
    """Sums over similar launches; times are in seconds. `host_time` is from the op's call to its
    last enqueue, without compilation; `device_time` is the time in which the device worked.
    `nbytes` are those of inputs and outputs; `flops` are floating-point operations."""

    name: str
    kernel: str
    count: int = 0
    host_time: float = 0.0
    device_time: float = 0.0
    compile_time: float = 0.0
    nbytes: int = 0
    flops: int = 0
    limit: float = 0.0  # share of the device's best rate, in bytes or in operations

    @property
    def bandwidth(self) -> float:
        """Bytes in a second."""
        return self.nbytes / self.device_time if self.device_time else 0.0

    @property
    def flop_rate(self) -> float:
        """Operations in a second."""
        return self.flops / self.device_time if self.device_time else 0.0


ORDERS = ("device_time", "host_time", "compile_time", "count", "nbytes", "flops", "bandwidth",
          "flop_rate", "limit", "name")  # fmt: skip


def averages(events: Iterable[ProfiledEvent], group_by: str, limits: Limits) -> list[Average]:
    """Returns sums over launches with the same op and kernel, and the same shapes or program line
    if `group_by` is one of these; the longest on the device first."""
    if group_by not in GROUPS:
        raise errors.unknown_group_key(group_by, GROUPS)
    by_key: dict[tuple[str, str], Average] = {}
    for e in events:
        if e.kind != "launch":
            continue
        name = {"op": e.op, "kernel": e.kernel, "shapes": f"{e.op} {e.shapes}", "line": e.line}
        key = name[group_by], "" if group_by == "line" else e.kernel
        one = by_key.setdefault(key, Average(*key))
        one.count += 1
        one.host_time += (e.ended - e.called - e.compiling) * 1e-9
        one.device_time += (e.done - e.begun) * 1e-9
        one.compile_time += e.compiling * 1e-9
        one.nbytes += e.work.nbytes
        one.flops += e.work.flops
    for one in by_key.values():
        rates = (one.bandwidth, limits.bandwidth), (one.flop_rate, limits.flops)
        one.limit = max((rate / most for rate, most in rates if not isnan(most)), default=nan)
    return sorted(by_key.values(), key=lambda one: -one.device_time)


def as_table(rows: list[Average], sort_by: str, row_limit: int) -> str:
    """Returns an aligned table with one line per row."""
    if sort_by not in ORDERS:
        raise errors.no_order(sort_by, ORDERS)
    head = ("op", "kernel", "count", "host ms", "device ms", "compile ms", "MB", "GB/s", "GFLOP/s", "of limit")
    down = sort_by != "name"
    rows = sorted(rows, key=lambda one: getattr(one, sort_by), reverse=down)
    cells = [
        (
            one.name,
            one.kernel,
            one.count,
            _ms(one.host_time),
            _ms(one.device_time),
            _ms(one.compile_time),
            _Number(f"{one.nbytes / 1e6:.2f}"),
            _Number(f"{one.bandwidth / 1e9:.2f}"),
            _Number(f"{one.flop_rate / 1e9:.2f}"),
            _Number("-" if isnan(one.limit) else f"{one.limit:.0%}"),
        )
        for one in rows[:row_limit]
    ]
    left = len(rows) - row_limit
    more = [f"... and {counted(left, 'more line')} (row_limit)"] if left > 0 else []
    return "\n".join([table([head, *cells], indent=""), *more])


def _rate(limit: float, unit: str, op: str) -> str:
    if isnan(limit):
        return f"no {unit.partition(' ')[0]} as the images lack {op}"
    return f"{limit / 1e9:.1f} {unit}"


def totals(events: list[ProfiledEvent], wall: int, memory: MemoryUse, limits: Limits) -> str:
    """Returns the lines that belong to no op: total time, host copies, memory."""
    launches = [e for e in events if e.kind == "launch"]
    out = [
        f"{_seconds(wall)} in all; the device was at work for {_seconds(busy(launches))}; "
        f"{counted(len(launches), 'launch')}; compiling took "
        f"{_seconds(sum(e.compiling for e in launches))}",
        f"limits: {_rate(limits.bandwidth, 'GB/s', 'add')}, {_rate(limits.flops, 'GFLOP/s of float32', 'matmul')}",
    ]
    for kind, word in (("upload", "to the device"), ("download", "to the host")):
        copies = [e for e in events if e.kind == kind]
        if copies:
            moved = size(sum(e.work.nbytes for e in copies))
            took = _seconds(sum(e.ended - e.called for e in copies))
            out.append(f"{word}: {moved} in {len(copies)} copies, {took}")
    out.append(f"memory: {size(memory.peak)} at the peak")
    lines = sorted(memory.by_line.items(), key=lambda line: -line[1])
    out += [f"  {size(held)} by {line}" for line, held in lines[:5] if held]
    return "\n".join(out)


def busy(launches: Iterable[ProfiledEvent]) -> int:
    """Returns the nanoseconds in which the device worked; launches on several streams may
    overlap."""
    total = until = 0
    for begun, done in sorted((e.begun, e.done) for e in launches):
        total += max(0, done - max(begun, until))
        until = max(until, done)
    return total


class _Number(float):
    """A number that prints as the given text."""

    def __new__(cls, shown: str) -> _Number:
        number = super().__new__(cls, shown.rstrip("%"))
        number.shown = shown
        return number

    shown: str

    def __str__(self) -> str:
        return self.shown


def _ms(seconds: float) -> _Number:
    return _Number(f"{seconds * 1e3:.3f}")


def _seconds(ns: int) -> str:
    return f"{ns / 1e6:.2f} ms"


HOST, DEVICE = 1, 2  # the processes of a trace: rows of threads, and of streams


def as_trace(events: Sequence[ProfiledEvent], memories: Sequence[MemoryUse], begun: int) -> dict[str, Any]:
    """Returns the trace; times are microseconds since the profile began (`begun`, nanoseconds)."""

    def us(ns: int) -> float:
        return (ns - begun) / 1e3

    entries = [
        {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
        for pid, name in ((HOST, "host"), (DEVICE, "device"))
    ]
    # Streams are numbered in order of appearance, so that rows have small numbers.
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


LINE, LETTER = 9.0, 4.5  # approximate size of a label, in points


def plot(rows: Sequence[Average], limits: Limits, title: str, path: str | Path) -> None:
    """Draws each row by operations per byte and operations per second.

    The area of a point grows with the row's device time. Raises PictureError without matplotlib, or
    if the file can't be written.
    """
    picture.save(drawn(rows, limits, title), path)


def drawn(rows: Sequence[Average], limits: Limits, title: str) -> Figure:
    """Returns the roofline as a matplotlib figure."""
    shown = [r for r in rows if r.flops and r.nbytes and r.device_time]
    drawing = picture.figure(7, 4.5)
    with picture.styled():
        axes = drawing.add_subplot(title=title)
    ratios = [r.flops / r.nbytes for r in shown]
    ridge = limits.flops / limits.bandwidth
    bends = [] if isnan(ridge) else [ridge]
    ends = [min([*ratios, *(x / 100 for x in bends)], default=1.0) / 2, max([*ratios, *bends], default=1.0) * 4]
    xs = [ends[0], *bends, ends[1]]
    # NaN is not drawn: with only one limit, that limit is the roof.
    roof = [np.fmin(x * limits.bandwidth, limits.flops) / 1e9 for x in xs]
    axes.loglog(xs, roof, color="black", linewidth=1.5)
    if not isnan(limits.flops):
        at = bends[0] if bends else xs[0]
        words = f"{limits.flops / 1e9:.0f} GFLOP/s"
        axes.annotate(words, (at, limits.flops / 1e9), (4, 4), textcoords="offset points")
    if not isnan(limits.bandwidth):
        at = (xs[0] * xs[1]) ** 0.5  # halfway up
        words = f"{limits.bandwidth / 1e9:.1f} GB/s"
        axes.annotate(words, (at, at * limits.bandwidth / 1e9), (-6, 4), textcoords="offset points", ha="right")
    longest = max((r.device_time for r in shown), default=1.0)
    for x, r in zip(ratios, shown):
        size = 20 + 180 * r.device_time / longest
        axes.scatter(x, r.flop_rate / 1e9, s=size, alpha=0.6, linewidths=0)
    axes.set(xlabel="FLOP/byte", ylabel="GFLOP/s")
    axes.margins(y=0.1)
    axes.grid(alpha=0.3)
    drawing.draw_without_rendering()  # positions of points are known from here on
    _label(axes, [(r.flop_rate / 1e9, x, r.name) for x, r in zip(ratios, shown)])
    return drawing


def _label(axes: Axes, names: Sequence[tuple[float, float, str]]) -> None:
    """Writes names to the right of points (y, x, name), higher if another name overlaps."""
    placed: list[tuple[float, float, float]] = []
    for v, u, name in sorted(names):
        x, y = axes.transData.transform((u, v)) * 72 / axes.figure.dpi
        begin, end, low = x + 6, x + 6 + LETTER * len(name), y - 3
        for placed_x, first, last in sorted(placed):
            if begin < last and first < end and low < placed_x + LINE:
                low = placed_x + LINE
        placed.append((low, begin, end))
        at = (6, low - y)
        axes.annotate(name, (u, v), at, textcoords="offset points", fontsize=7)
