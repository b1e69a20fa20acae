"""Ctrl-C during a launch of several kernels that wait for each other."""

from __future__ import annotations

import signal
from collections.abc import Callable

import ftensor as ft


def calls_after_interrupts(call: Callable[[], ft.Tensor]) -> list[bool]:
    """Interrupts a call by Ctrl-C after its first enqueued kernel, then after its second, and so
    on. Returns whether the following call has the right result each time. The process must not have
    launched it before."""
    from pyopencl import _cl

    enqueue, left = _cl.enqueue_nd_range_kernel, 0

    def interrupted(*args: object) -> object:
        nonlocal left
        event, left = enqueue(*args), left - 1
        if left == 0:
            signal.raise_signal(signal.SIGINT)
        return event

    _cl.enqueue_nd_range_kernel = interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted, equal = call().tolist(), list[bool]()
    while True:
        left = len(equal) + 1
        try:
            call()
        except KeyboardInterrupt:
            equal.append(call().tolist() == wanted)
        else:
            left = 0
            return equal
