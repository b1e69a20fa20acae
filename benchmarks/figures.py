"""Measures and prints figures."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

from cases import GROUPS, Call

REST, WARM = 0.15, 0.05  # seconds
IN_A_TURN = 3  # measured calls
MINE, THEIRS, OTHERS = "ftensor", ("torch", "numpy"), ("pyopencl", "tinygrad")


@dataclass
class Row:
    """One figure; None for a library that does not take part."""

    name: str
    unit: str
    ftensor: float
    torch: float | None = None
    numpy: float | None = None
    pyopencl: float | None = None
    tinygrad: float | None = None
    limit: float | None = None  # ftensor's target, in the same unit
    last: float | None = None  # ftensor's own figure of the last run on this machine

    @property
    def ratio(self) -> float | None:
        others = [time for time in (self.torch, self.numpy) if time is not None]
        return min(others) / self.ftensor if others else None

    @property
    def changed(self) -> float | None:
        return self.ftensor / self.last if self.last else None


def medians_by_turns(calls: dict[str, Call], repeats: int) -> dict[str, float]:
    """Returns the median seconds of each call. The first round of all calls is not counted.

    Each turn begins with a pause, because a library's threads keep spinning after its call
    (OpenBLAS's for tens of milliseconds) and would occupy the next one's processors. Uncounted
    calls follow: a virtual machine that was idle puts a library's threads on one processor until
    they have kept it busy for some milliseconds.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(-(-repeats // IN_A_TURN) + 1):
        for name, call in calls.items():
            time.sleep(REST)
            begun = time.perf_counter()
            while time.perf_counter() - begun < WARM:
                call()
            for _ in range(IN_A_TURN):
                start = time.perf_counter()
                call()
                if turn:
                    times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def scaled(name: str, unit: str, factor: float, times: dict[str, float], **more: Any) -> Row:
    """Returns a row in `unit`, of which a second has `factor`."""
    return Row(name, unit, **{key: value * factor for key, value in times.items()}, **more)


def table(rows: list[Row]) -> str:
    """Returns aligned text with a line for each figure."""

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"

    others = [name for name in OTHERS if any(getattr(row, name) is not None for row in rows)]
    head = ("figure", "unit", MINE, *THEIRS, *others, "ratio", "now / last", "limit", "")
    body = []
    for row in rows:
        more = [getattr(row, name) for name in others]
        numbers = (row.ftensor, row.torch, row.numpy, *more, row.ratio, row.changed, row.limit)
        verdict = "" if row.limit is None else "ok" if row.ftensor <= row.limit else "OVER"
        body.append((row.name, row.unit, *map(number, numbers), verdict))
    widths = [max(len(line[column]) for line in (head, *body)) for column in range(len(head))]

    def aligned(line: tuple[str, ...]) -> str:
        texts = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ]
        return "  ".join(texts).rstrip()

    return "\n".join(map(aligned, (head, *body)))


def means(rows: list[Row]) -> str:
    """Returns the geometric mean of the ratios of each group of cases."""
    lines = []
    for group in GROUPS:
        own = [row for row in rows if row.name.startswith(f"{group}: ") and row.ratio]
        by_library = {"torch and NumPy": [row.ratio for row in own if row.ratio]}
        for name in OTHERS:
            times = [(getattr(row, name), row.ftensor) for row in own]
            by_library[name] = [theirs / mine for theirs, mine in times if theirs]
        for against, ratios in by_library.items():
            if ratios:
                mean, least = statistics.geometric_mean(ratios), min(ratios)
                count = f"{len(ratios)} cases"
                lines.append(f"{group}: {mean:.2f} against {against} ({count}, least {least:.2f})")
    return "\n".join(lines)
