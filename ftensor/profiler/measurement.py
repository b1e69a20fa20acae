"""`ft.profiler.benchmark`: the time of a call, including the wait for the device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from .._device import DeviceLike, backend_of, current_device
from .._device import device as _device
from ..errors import commands as errors
from ..execute.dispatch import observed
from ..runtime.backend import Backend
from ..terminal import counted
from .record import Recorder

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
