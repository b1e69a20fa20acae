"""`ft.benchmark`: which calls it makes, what it counts, what it refuses."""

from __future__ import annotations

import pytest

import ftensor as ft
from ftensor.profiler.measurement import MIN_BLOCKS, Measurement


def test_counts_calls_and_launches() -> None:
    """Two calls come before the timed ones, and three after them for the device's time."""
    made = []

    def function(x: ft.Tensor, *, scale: float) -> ft.Tensor:
        made.append(scale)
        return (x * scale).sum()

    measured = ft.benchmark(function, ft.ones(3000), scale=2.0, min_time=1e-6)
    assert len(made) >= measured.calls + 2 + 3
    assert set(made) == {2.0}
    assert measured.calls >= MIN_BLOCKS
    assert measured.launches == 2
    assert measured.quartiles[0] <= measured.seconds <= measured.quartiles[1]
    assert measured.device_seconds > 0


def test_text() -> None:
    text = str(Measurement(2.5e-3, (2e-3, 3e-3), 4e-5, 1, 100, "a device"))
    assert text == "2.5 ms a call (quartiles 2 ms to 3 ms, 100 calls), device 40 us in 1 launch, on a device"


def test_error_of_the_function_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        ft.benchmark(lambda: 1 // 0)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_benchmark_refuses_a_bad_time(seconds: float) -> None:
    with pytest.raises(ValueError, match="min_time must be more than 0"):
        ft.benchmark(ft.ones, 3, min_time=seconds)
