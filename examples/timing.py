"""Timing of the examples: the same work on the device and by NumPy, alternately."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import ftensor as ft

Work = Callable[[], object]


def compare(name: str, on_device: Work, by_numpy: Work, repeats: int = 5) -> str:
    """Returns one line with both medians, in milliseconds.

    Both start from NumPy arrays and end with NumPy arrays, so the figure includes the transfers.
    The first call of each is excluded: it compiles kernels and touches fresh memory.
    """
    device_times, numpy_times = [], []
    on_device()
    by_numpy()
    for _ in range(repeats):
        device_times.append(seconds(on_device))
        numpy_times.append(seconds(by_numpy))
    mine, theirs = statistics.median(device_times), statistics.median(numpy_times)
    return (
        f"time of {name:<16} ftensor {mine * 1e3:7.1f} ms   NumPy {theirs * 1e3:7.1f} ms"
        f"   ftensor has {theirs / mine:.2f} times NumPy's speed"
    )


def medians(works: Mapping[str, Work], repeats: int = 9) -> str:
    """Returns a line with the median of each way in milliseconds. Each way has run before."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(seconds(work))
    middle = {name: statistics.median(each) for name, each in times.items()}
    return "\n".join(f"time of {name:<6} {each * 1e3:8.2f} ms" for name, each in middle.items())


def seconds(work: Work) -> float:
    """Returns the wall-clock time of one call, until the device is done."""
    start = time.perf_counter()
    work()
    ft.synchronize()
    return time.perf_counter() - start
