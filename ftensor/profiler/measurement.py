"""Measurements: `ft.profiler.benchmark`, the time of a call with the wait for the device; and a device's
peak rates, measured once and stored in the user's cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import nan
from statistics import median, quantiles
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .. import add, from_numpy, matmul
from .._device import DeviceLike, backend_of, current_device, device
from .._device import device as _device
from .._tensor import Tensor
from ..errors import KernelNotBuilt
from ..errors import commands as errors
from ..execute.dispatch import observed
from ..runtime import cache
from ..runtime.backend import Backend
from ..runtime.fallback import fallback_refused
from ..terminal import counted
from .record import Recorder

ENOUGH = 0.02  # seconds of a call from which on a larger one is not tried
MAX_ELEMENTS, MAX_ROWS = 1 << 24, 1 << 10
TIMES = 5


class Limits(NamedTuple):
    """Bytes and float32 operations per second; NaN if a device's images lack the kernel that the
    measurement needs."""

    bandwidth: float
    flops: float


def limits(device: DeviceLike | None = None, *, again: bool = False) -> Limits:
    """Returns the float32 limits of a device, by default the device of new tensors: the bandwidth
    of a sum of two tensors (up to 64 MiB each), and the operations of a matrix product (up to 1024
    rows).

    The measurement takes up to a second and is stored for later processes; `again` repeats it. The
    host never replaces the device: if the images lack the sum or the product, that limit is NaN.
    """
    target = current_device() if device is None else _device(device)
    backend = backend_of(target)
    properties = backend.properties
    images = () if backend.images is None else backend.images.uuids
    name = cache.key("limits", properties.platform, properties.name, properties.driver, str(backend.units), *images)
    kept = None if again else cache.get(name)
    if kept is not None:
        return Limits(*json.loads(kept))
    with fallback_refused():
        measured = Limits(_bandwidth(backend, target), _flops(backend, target))
    cache.put(name, json.dumps(measured).encode())
    return measured


def _bandwidth(backend: Backend, device: device) -> float:
    n, rate = 1 << 16, nan
    with suppress(KernelNotBuilt):  # of the first size, or of a larger one
        while True:
            a, b = _ones(device, n), _ones(device, n)
            seconds = _best(backend, partial(add, a, b))
            rate = 3 * 4 * n / seconds
            if seconds > ENOUGH or n >= MAX_ELEMENTS:
                break
            n *= 4
    return rate


def _flops(backend: Backend, device: device) -> float:
    n, rate = 64, nan
    with suppress(KernelNotBuilt):
        while True:
            a = _ones(device, n, n)
            seconds = _best(backend, partial(matmul, a, a))
            rate = 2 * n**3 / seconds
            if seconds > ENOUGH or n >= MAX_ROWS:
                break
            n *= 2
    return rate


def _ones(device: device, *shape: int) -> Tensor:
    """Returns ones copied from the host, since images may lack a kernel that fills."""
    return from_numpy(np.ones(shape, np.float32)).to(device)


def _best(backend: Backend, call: Callable[[], object]) -> float:
    times = []
    for _ in range(TIMES):
        backend.synchronize()
        begun = perf_counter()
        call()
        backend.synchronize()
        times.append(perf_counter() - begun)
    return min(times)


MIN_BLOCK = 1e-3  # seconds of a block, far above the clock's resolution and the cost of a wait
MIN_BLOCKS = 5
MAX_CALLS = 1_000_000  # of a block


@dataclass(frozen=True)
class Measurement:
    """The time of a call in seconds, and its launches.

    `seconds` is the median over blocks of calls, each of which ends with a wait for the device.
    Half of the blocks are within `quartiles`. `device_seconds` is the device time of a call's
    launches, and `launches` their number.
    """

    seconds: float
    quartiles: tuple[float, float]
    device_seconds: float
    launches: int
    calls: int
    device: str

    def __str__(self) -> str:
        low, high = self.quartiles
        return (
            f"{_time(self.seconds)} a call (quartiles {_time(low)} to {_time(high)}, {self.calls} calls), "
            f"device {_time(self.device_seconds)} in {counted(self.launches, 'launch')}, on {self.device}"
        )


def benchmark(
    function: Callable[..., object],
    /,
    *args: Any,
    min_time: float = 0.2,
    device: DeviceLike | None = None,
    **kwargs: Any,
) -> Measurement:
    """Measures `function(*args, **kwargs)` on a device, by default that of new tensors.

    Two calls come first, so that kernels are compiled and graphs traced before the clock starts.
    Calls are then timed in blocks of at least 1 ms for `min_time` seconds, at least 5 blocks. Each
    block ends when the device is done. Raises ValueError unless `min_time` is positive.

    >>> measured = ft.profiler.benchmark(ft.add, ft.ones(1000), 1, min_time=0.01)
    >>> measured.launches, measured.seconds > 0
    (1, True)
    """
    if not min_time > 0:
        raise errors.no_time(min_time)
    backend = backend_of(current_device() if device is None else _device(device))
    for _ in range(2):
        function(*args, **kwargs)
    backend.synchronize()

    def block(calls: int) -> float:
        begin = perf_counter()
        for _ in range(calls):
            function(*args, **kwargs)
        backend.synchronize()
        return perf_counter() - begin

    calls = 1
    while (seconds := block(calls)) < MIN_BLOCK and calls < MAX_CALLS:
        calls = min(MAX_CALLS, max(2 * calls, int(calls * MIN_BLOCK / max(seconds, 1e-9))))
    blocks = max(MIN_BLOCKS, int(min_time / max(seconds, 1e-9)))
    each = [block(calls) / calls for _ in range(blocks)]
    low, _, high = quantiles(each, n=4)
    device_seconds, launches = _of_device(backend, lambda: function(*args, **kwargs))
    return Measurement(median(each), (low, high), device_seconds, launches, blocks * calls, backend.properties.name)


def _of_device(backend: Backend, call: Callable[[], object]) -> tuple[float, int]:
    """Returns the median over three calls of their device time in seconds, and the launches of one
    call."""
    times: list[float] = []
    launches: list[Any] = []
    for _ in range(3):
        recorder = Recorder(backend)
        with observed(backend, recorder):
            call()
        recorder.finish()
        launches = [event for event in recorder.events if event.kind == "launch"]
        times.append(sum(event.done - event.begun for event in launches) * 1e-9)
    return median(times), len(launches)


def _time(seconds: float) -> str:
    unit, factor = next((u, f) for u, f in (("s", 1), ("ms", 1e3), ("us", 1e6)) if seconds * f >= 1 or u == "us")
    return f"{seconds * factor:.3g} {unit}"
