"""The check of FIFO depths: the device collects a report of each launch, the command prints them.

hls/standin/fifos.h makes the reports of kernels with DATAFLOW regions.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

_PATTERN = "fifos-*.json"
_UNCHECKED = 1 << 30  # the depth of a stream that ends outside of the kernels (toolchain/stream_ends.py)


class FifoReports:
    """Collects the reports of launches by kernel, and keeps them in a file."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._seen: set[tuple[str, str]] = set()
        self._kernels: dict[str, dict[str, Any]] = {}

    def add(self, kernel: str, text: str) -> None:
        """Adds the report of one launch, as fifos.h writes it."""
        with self._lock:
            if not text or (kernel, text) in self._seen:
                return
            self._seen.add((kernel, text))
            report = json.loads(text)
            kernel = report.pop("kernels", kernel)  # several that streams connect
            if rows := report.get("fifos"):
                report["fifos"] = [row for row in rows if row["depth"] < _UNCHECKED]
                if not report["fifos"]:
                    return
            self._kernels[kernel] = merged(self._kernels.get(kernel), report)
            temporary = self._path.with_suffix(".tmp")
            temporary.write_text(json.dumps(self._kernels))
            temporary.replace(self._path)


def merged(before: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """Returns one report for several launches of a kernel: the largest depths, the first launch
    that locks up, and the number of launches that were too long to check (`long`).

    Both may be reports of several launches. FIFOs that differ are those of a launch that locks up.
    """
    if before is None:
        return _counted(new)
    old, new = _counted(before), _counted(new)
    first, second = (new, old) if locks_up(new) and not locks_up(old) else (old, new)
    if not first.get("fifos"):  # the launch was too long to check
        first, second = second, first
    result = dict(first)
    for name in ("launches", "long"):
        result[name] = old[name] + new[name]
    result["accesses"] = max(old["accesses"], new["accesses"])
    result["polled"] = old.get("polled", False) or new.get("polled", False)
    one, two = first.get("fifos", []), second.get("fifos", [])
    if [f["name"] for f in one] == [f["name"] for f in two]:
        result["fifos"] = [_largest(a, b) for a, b in zip(one, two)]
    elif not locks_up(first):
        result["fifos"] = max(one, two, key=len)
    return result


def _counted(report: dict[str, Any]) -> dict[str, Any]:
    """Returns the report of one launch in the form for several launches, which counts them."""
    return {**report, "launches": report.get("launches", 1), "long": int(report.get("long", 0))}


def _largest(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in ("elements", "least", "fast") if name in a and name in b]
    return a | {name: max(a[name], b[name]) for name in names}


def collected(scratch: Path) -> dict[str, dict[str, Any]]:
    """Returns the reports of a run's devices by kernel."""
    kernels: dict[str, dict[str, Any]] = {}
    for path in sorted(scratch.glob(_PATTERN)):
        for kernel, report in json.loads(path.read_text()).items():
            kernels[kernel] = merged(kernels.get(kernel), report)
    return kernels


def locks_up(report: dict[str, Any]) -> bool:
    """True if a launch of the kernel locks up with the declared depths."""
    return bool(report.get("waits"))


def as_json(report: dict[str, Any]) -> dict[str, Any]:
    """Returns a kernel's report for `ftensor emulate --json`."""
    names = ("process", "stream", "writes", "other")
    waits = [dict(zip(names, one)) for one in report.get("waits", [])]
    return {**report, "locks_up": locks_up(report), "waits": waits}


def describe(kernel: str, report: dict[str, Any]) -> str:
    """Returns a kernel's report as text."""
    lines = []
    if report.get("long"):
        launches = f"{report['long']} of {report['launches']} launches" if report["launches"] > 1 else "the launch"
        lines.append(
            f"kernel {kernel}: {launches} could not be checked for FIFOs that lock up, with {report['accesses']} "
            "accesses or more. Run it with smaller data"
        )
        if not report.get("fifos"):
            return lines[0]
    if locks_up(report):
        lines.append(f"kernel {kernel} locks up on a board, because a FIFO is too small:")
        lines += [f"  {_wait(*one)}" for one in report["waits"]]
    else:
        lines.append(f"kernel {kernel}: its FIFOs do not lock up")
    head = ("stream", "from", "to", "elements", "depth", "least", "full speed")
    rows = [
        (f["name"], f["from"], f["to"], f["elements"], f["depth"], f.get("least", "?"), f.get("fast", "?"))
        for f in report["fifos"]
    ]
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    lines += ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in cells]
    if "cycles" in report and report["cycles"] > report["best"]:
        lines.append(f"  {report['cycles']} cycles with the depths there are, {report['best']} at full speed")
    if report.get("polled"):
        lines.append("  It asks whether a FIFO is empty, or reads without waiting: on a board the order may be another")
    if any("least" not in f for f in report["fifos"]):
        lines.append("  The least depths take too long to find: run it with smaller data")
    return "\n".join(lines)


def _wait(process: str, fifo: str, writes: bool, other: str) -> str:
    if writes:
        return f"{process} waits to write {fifo}, which is full until {other} reads it"
    return f"{process} waits to read {fifo}, which is empty until {other} writes it"
