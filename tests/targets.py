"""Which cases a test of kernels has on the target at hand.

Compiling decides how long these tests take. Two targets have every case: Intel's CPU runtime for
OpenCL C, and C simulation for HLS C++. The text of a kernel is the same on the others, so these
have fewer: each skeleton, dtype, layout and row, but not all their products. Which ones is fixed
for a target and differs from one to the next.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import settings

from ftensor._device import default_backend

TARGET = default_backend().target.name
EVERY_CASE = TARGET in ("intel-cpu", "csim")
TURN = zlib.crc32(TARGET.encode())


def pairs(
    first: Sequence[Any], second: Sequence[Any], fit: Callable[[Any, Any], bool] | None = None
) -> list[tuple[Any, Any]]:
    """Those that fit, or each of `first` with one of `second`, which take turns."""
    made = [[(a, b) for b in second if fit is None or fit(a, b)] for a in first]
    if EVERY_CASE:
        return [pair for row in made for pair in row]
    return [row[(TURN + k) % len(row)] for k, row in enumerate(made) if row]


def some(cases: Sequence[Any], share: int) -> list[Any]:
    """All, or each `share`-th one."""
    return list(cases) if EVERY_CASE else list(cases[TURN % share :: share])


def draws(count: int) -> settings:
    """As many examples of Hypothesis as it takes, or a quarter of them."""
    return settings(max_examples=count if EVERY_CASE else -(-count // 4), deadline=None)
