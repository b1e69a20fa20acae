"""Graphs' kernels of stages on NumPy memory that starts inside a beat: they compute on copies of
it."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.capture import capture_stream
from ftensor.toolchain.trace import recording

from ..fuzz_estimates import simulated

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
ROWS, LENGTH = 4, 32


def rows_at_offset(place: int, dtype: str) -> np.ndarray:
    """Returns rows of numbers in memory that starts `place` bytes after a beat."""
    size = ROWS * LENGTH * np.dtype(dtype).itemsize
    memory = np.zeros(size + 128, np.uint8)
    begin = -memory.ctypes.data % 64 + place
    rows = memory[begin : begin + size].view(dtype).reshape(ROWS, LENGTH)
    rows[:] = np.arange(ROWS * LENGTH).reshape(ROWS, LENGTH) % 7 - 3
    return rows


@pytest.mark.parametrize(("place", "dtype"), [(8, "c8"), (4, "f4"), (48, "f4")])
def test_arguments(place: int, dtype: str) -> None:
    """Later calls pass memory at another address. Views whose first element has the same offset in
    a beat share a graph."""
    jitted = ft.jit(lambda x: (x * 2 + 1).abs())
    with simulated():
        arrays = [rows_at_offset(place, dtype), rows_at_offset(0, dtype), rows_at_offset(place, dtype)]
        tensors = [ft.from_numpy(array) for array in arrays]
        skipped = place // np.dtype(dtype).itemsize
        view = ft.from_numpy(rows_at_offset(0, dtype).ravel())[skipped : skipped + LENGTH]
        moved = ft.from_numpy(arrays[0].ravel())[:LENGTH]
        with recording(1) as trace:
            for x, array in zip(tensors, arrays, strict=True):
                np.testing.assert_array_equal(jitted(x).numpy(), abs(array * 2 + 1))
            for x in (moved, view):
                wanted = [abs(n * 2 + 1) for n in x.tolist()]
                assert jitted(x).tolist() == wanted
        assert {one.key.skeleton for one in trace.launches} == {"staged"}


def test_captured_tensors() -> None:
    with simulated():
        row = ft.from_numpy(rows_at_offset(4, "f4")[0])
        jitted = ft.jit(lambda x: (x * row + 1).abs())
        x = rows_at_offset(0, "f4")
        with recording(1) as trace:
            for value in (5, 2):
                row[3:] = value  # the kernel reads the values at each call
                np.testing.assert_array_equal(jitted(ft.from_numpy(x)).numpy(), abs(x * row.numpy() + 1))
        assert "staged" in {one.key.skeleton for one in trace.launches}


def test_written_arguments() -> None:
    """The kernel that writes does so in NumPy's memory."""

    def step(x: ft.Tensor) -> ft.Tensor:
        y = (x * 2 + 1).abs()
        x.add_(3)
        return y

    with simulated():
        array = rows_at_offset(4, "f4")
        before, x, jitted = array.copy(), ft.from_numpy(array), ft.jit(step)
        with recording(1) as trace:
            y = jitted(x).numpy()
        assert [one.key.skeleton for one in trace.launches] == ["staged", "map"]
        np.testing.assert_array_equal(y, abs(before * 2 + 1))
        np.testing.assert_array_equal(array, before + 3)
        np.testing.assert_array_equal(x.numpy(), array)


def test_two_written_parts_of_one_memory() -> None:
    def step(x: ft.Tensor, y: ft.Tensor) -> ft.Tensor:
        z = (x * 2 + y).abs()
        x.add_(3)
        y.mul_(2)
        return z

    with simulated():
        array = rows_at_offset(4, "f4")
        before, x, jitted = array.copy(), ft.from_numpy(array), ft.jit(step)
        with recording(1) as trace:
            z = jitted(x[:2], x[2:]).numpy()
        assert "staged" in {one.key.skeleton for one in trace.launches}
        np.testing.assert_array_equal(z, abs(before[:2] * 2 + before[2:]))
        np.testing.assert_array_equal(array, np.concatenate((before[:2] + 3, before[2:] * 2)))


def test_captures() -> None:
    """A replay reads the argument's current values."""
    with simulated():
        array, jitted = rows_at_offset(4, "f4"), ft.jit(lambda x: (x * 2 + 1).abs())
        x = ft.from_numpy(array)
        with recording(1):
            jitted(x)
            with capture_stream(default_backend()) as capture:
                y = jitted(x)
            capture.share_memory()
            x += 1
            capture.recording.replay()
            assert y.tolist() == (x * 2 + 1).abs().tolist()
