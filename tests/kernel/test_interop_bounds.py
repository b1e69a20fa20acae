"""A storage over foreign memory covers only that memory: bytes around it are untouched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend

GUARD = 0x5A
DTYPES = ("uint8", "int16", "int32", "int64", "float32", "float64", "complex64")


def between_guards(dtype: str, count: int, start: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns (zeros that begin `start` elements after a 64-byte boundary, all bytes around
    them)."""
    size = np.dtype(dtype).itemsize
    around = np.full(64 + (start + count) * size + 256, GUARD, np.uint8)
    first = -around.ctypes.data % 64 + start * size
    inside = around[first : first + count * size].view(dtype)
    inside[:] = 0
    return inside, around


def makers() -> dict[str, Callable[[np.ndarray], ft.Tensor]]:
    return {
        "from_numpy": ft.from_numpy,
        "from_dlpack": ft.from_dlpack,
        "asarray": ft.asarray,
        "as_tensor": ft.as_tensor,
        "from_torch": lambda a: ft.from_torch(torch.from_numpy(a)),
        "frombuffer": lambda a: ft.frombuffer(a.data, dtype=getattr(ft, a.dtype.name)),
    }


@pytest.mark.parametrize("name", makers())
@pytest.mark.parametrize("start", [0, 1, 3, 5, 8, 15])
def test_views_cannot_leave_the_memory(name: str, start: int) -> None:
    inside, around = between_guards("float32", 12, start)
    before = around.copy()
    x = makers()[name](inside)
    assert x.storage_offset() == 0
    assert x.data_ptr() in (0, inside.ctypes.data)
    x.as_strided((4,), (1,), 0).fill_(1.0)
    for size, offset in ((13, 0), (4, 9), (1, 12)):
        with pytest.raises(RuntimeError):
            x.as_strided((size,), (1,), offset)
    with pytest.raises(RuntimeError):
        x.as_strided((4,), (1,), -1)
    ft.synchronize()
    assert x.tolist() == [1.0] * 4 + [0.0] * 8
    inside[:] = 0
    assert np.array_equal(around, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [1, 7, 64, 1000])
def test_every_op_stays_within_the_memory(dtype: str, count: int) -> None:
    for start in (0, 1, 2, 7):
        inside, around = between_guards(dtype, count, start)
        before = around.copy()
        x = ft.from_numpy(inside)
        x.fill_(1)
        x.add_(x)
        x.mul_(ft.from_numpy(np.full(count, 3, dtype)))
        x[::2] = 5
        ft.sum(x.reshape(1, -1), 0, dtype=x.dtype, out=x)
        want = np.where(np.arange(count) % 2, 6, 5).astype(dtype)
        assert np.array_equal(x.numpy(), want)
        if default_backend().host_shared:
            assert np.array_equal(inside, want)
        inside[:] = 0
        assert np.array_equal(around, before), (start, np.flatnonzero(around != before))


@pytest.mark.parametrize("start", [0, 1, 5])
def test_matrices_at_any_offset(start: int) -> None:
    inside, _ = between_guards("float32", 33 * 65, start)
    a = inside.reshape(33, 65)
    a[:] = np.arange(33 * 65).reshape(33, 65) % 7
    x: Any = ft.from_numpy(a)
    assert np.array_equal((x @ x.t()).numpy(), a @ a.T)
    assert np.array_equal(x.sum(0).numpy(), a.sum(0))
    assert np.array_equal(x.sum(1).numpy(), a.sum(1))
    assert np.array_equal((x + x[:, :1]).numpy(), a + a[:, :1])
    assert np.array_equal(x.t().contiguous().numpy(), a.T)
