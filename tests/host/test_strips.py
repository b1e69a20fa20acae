"""Strips of planes for a board's convolutions: beats arrive as early as the source states."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest

import ftensor as ft
from ftensor.kernels.skeletons.conv import ConvKey, input_strip
from ftensor.kernels.skeletons.conv.conv import min_accumulation_distance
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.vitis.source import source

KEYS = (ConvKey("conv", ft.float32, 16, 16, 16), ConvKey("conv", ft.float64, 8, 8, 16))
# Taps at a beat's start or inside it, near or far apart, in any order.
TAPS = ((0,), (1,), (0, 1, 2), (65, 33, 1), (517, 301, 100, 0), tuple(range(0, 990, 33))[::-1])


def waits(key: ConvKey, positions: int, offsets: tuple[int, ...]) -> Iterator[int]:
    """Yields, for each beat that a step reads, the number of steps since its arrival. One beat
    arrives in each step."""
    seen, taps = input_strip(key, positions, offsets), len(offsets)
    beats = sum(n for _, n in seen.runs)
    for vectors in range(1, min(key.vectors, -(-positions // key.lanes)) + 1):
        slots = max(vectors, min_accumulation_distance(key), -(-beats // taps))
        for (tap, place), q in itertools.product(enumerate(seen.places), range(slots)):
            at = place + (q if q < vectors else 0) * key.lanes
            for line in (at // key.lanes, (at + key.lanes - 1) // key.lanes):
                yield (taps + tap) * slots + q - line


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.dtype.name)
def test_beats_arrive_before_their_use_as_stated(key: ConvKey) -> None:
    """Planes have few positions or many."""
    distances = [n for many in (5, 100, 3000) for taps in TAPS for n in waits(key, many, taps)]
    pragma = re.search(r"variable=strip inter RAW distance=(\d+)", source(KernelGroup("conv", (key,))))
    assert pragma and min(distances) == int(pragma[1])
