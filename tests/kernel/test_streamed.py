"""Streaming stores give the same results as stores through the caches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.runtime.launch_cache import LaunchTable
from ftensor.runtime.opencl.backend import OpenCLBackend, streamed_bytes

N = 16 * 21  # rows of whole cache lines


@pytest.fixture(autouse=True)
def all_streamed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes every result large enough for streaming stores."""
    backend = default_backend()
    if not isinstance(backend, OpenCLBackend) or backend.target.kind != "cpu":
        pytest.skip("only CPUs' OpenCL runtimes have a way past the caches")
    options = [o for o in backend._options if not o.startswith("-DFT_STREAMED_BYTES")]
    assert len(options) == len(backend._options) - 1
    monkeypatch.setattr(backend, "_options", (*options, "-DFT_STREAMED_BYTES=0"))
    monkeypatch.setattr(backend, "kernels", {})
    monkeypatch.setattr(backend, "launches", LaunchTable(backend.synchronize))
    yield
    backend.synchronize()  # launches made here keep the geometry buffers that kernels read


def _random(*shape: int, dtype: str = "float32") -> np.ndarray:
    return (np.random.default_rng(7).standard_normal(shape) * 50).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16", "int8"])
@pytest.mark.parametrize("begin, size", [(0, N), (0, N + 7), (1, N), (3, N + 5), (16, N)])
def test_any_alignment(dtype: str, begin: int, size: int) -> None:
    a = _random(size, dtype=dtype)
    out = ft.tensor(np.full(begin + size + 1, 77, dtype))
    x = ft.from_numpy(a)
    ft.add(x, x, out=out[begin : begin + size])
    values = out.numpy()
    assert (values[begin : begin + size] == a + a).all()
    assert (values[:begin] == 77).all() and values[-1] == 77


def test_in_place() -> None:
    a, b = _random(N), _random(N)[::-1].copy()
    x = ft.tensor(a)
    x.add_(ft.from_numpy(b))
    assert (x.numpy() == a + b).all()
    ft.sub(x, ft.from_numpy(b), out=x)
    assert (x.numpy() == (a + b) - b).all()


@pytest.mark.parametrize("first", [0, 1, 16])
def test_streamed_rows_have_the_same_results(first: int) -> None:
    a, row = _random(37, N), _random(N)
    x = ft.from_numpy(a)
    assert ((x + ft.from_numpy(row)).numpy() == a + row).all()
    part = x[:, first:]
    assert ((part + part).numpy() == a[:, first:] * 2).all()
    out = ft.tensor(np.zeros((37, 2 * N), np.float32))
    ft.add(x, x, out=out[:, first : first + N])
    wanted = np.zeros((37, 2 * N), np.float32)
    wanted[:, first : first + N] = a + a
    assert (out.numpy() == wanted).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize("size", [N, N + 5])
def test_streamed_indexed_reads_are_numpys(dtype: str, size: int) -> None:
    a, rows = _random(9, size, dtype=dtype), np.array([8, -9, 3, 3, 0, -1])
    places = np.random.default_rng(3).integers(0, size, (9, size))
    x = ft.tensor(a)
    assert (x[ft.tensor(rows)].numpy() == a[rows]).all()
    assert (x.gather(1, ft.tensor(places)).numpy() == np.take_along_axis(a, places, 1)).all()


def test_threshold_follows_the_cache_size(tmp_path: Path) -> None:
    file = tmp_path / "size"
    assert streamed_bytes(file) == 4 << 20
    for text, size in (("1024K\n", 4 << 20), ("491520K\n", 30 << 20), ("many\n", 4 << 20)):
        file.write_text(text)
        assert streamed_bytes(file) == size
