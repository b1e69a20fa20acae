"""A device's peak rates, measured once and stored in the user's cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from math import nan
from time import perf_counter
from typing import NamedTuple

import numpy as np

from .. import add, from_numpy, matmul
from .._device import DeviceLike, backend_of, current_device, device
from .._tensor import Tensor
from ..errors import KernelNotBuilt
from ..runtime import cache
from ..runtime.backend import Backend
from ..runtime.fallback import fallback_refused

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
    target = current_device() if device is None else _named(device)
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


_named = device  # where a parameter of torch's has the class's name


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
