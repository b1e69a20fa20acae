"""What a device reaches at best, measured once and kept in the user's cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import NamedTuple

from .. import add, matmul, ones
from .._device import DeviceLike, backend_of, current_device, device
from ..runtime import cache
from ..runtime.backend import Backend

ENOUGH = 0.02  # seconds of a call from which on a larger one is not tried
MOST_ELEMENTS, MOST_ROWS = 1 << 24, 1 << 10
TIMES = 5


class Limits(NamedTuple):
    """Bytes and operations on float32 in a second."""

    bandwidth: float
    flops: float


def limits(device: DeviceLike | None = None, *, again: bool = False) -> Limits:
    """What float32 reaches on a device, by default that of new tensors: the bandwidth of a sum of
    two tensors (up to 64 MiB each), the operations of a matrix product (up to 1024 rows).

    They are measured in up to a second, and kept for later processes; `again` measures them anew.
    """
    where = current_device() if device is None else _named(device)
    backend = backend_of(where)
    of = backend.properties
    name = cache.key("limits", of.platform, of.name, of.driver, str(backend.units))
    kept = None if again else cache.get(name)
    if kept is not None:
        return Limits(*json.loads(kept))
    found = Limits(_bandwidth(backend, where), _flops(backend, where))
    cache.put(name, json.dumps(found).encode())
    return found


_named = device  # where a parameter of torch's has the class's name


def _bandwidth(backend: Backend, where: device) -> float:
    n = 1 << 16
    while True:
        a, b = ones(n, device=where), ones(n, device=where)
        seconds = _best(backend, partial(add, a, b))
        if seconds > ENOUGH or n >= MOST_ELEMENTS:
            return 3 * 4 * n / seconds
        n *= 4


def _flops(backend: Backend, where: device) -> float:
    n = 64
    while True:
        a = ones(n, n, device=where)
        seconds = _best(backend, partial(matmul, a, a))
        if seconds > ENOUGH or n >= MOST_ROWS:
            return 2 * n**3 / seconds
        n *= 2


def _best(backend: Backend, call: Callable[[], object]) -> float:
    times = []
    for _ in range(TIMES):
        backend.synchronize()
        begun = perf_counter()
        call()
        backend.synchronize()
        times.append(perf_counter() - begun)
    return min(times)
