"""A device with a limit on kernels keeps computing, and holds few kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.runtime.launch_cache import KernelTable, LaunchTable


@pytest.fixture(autouse=True)
def few_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    backend = default_backend()
    backend.synchronize()
    monkeypatch.setattr(backend, "kernels", KernelTable(backend.forget_launches, most=4))
    monkeypatch.setattr(backend, "launches", LaunchTable(backend.synchronize))
    yield 4
    backend.synchronize()  # launches made here keep the geometry buffers that kernels read


def test_evicted_kernels_are_freed(few_kernels: int) -> None:
    a = np.arange(1, 41, dtype=np.float32).reshape(5, 8)
    x = ft.from_numpy(a)
    ops = [
        ("add", (x, x), a + a),
        ("mul", (x, x), a * a),
        ("sub", (x, 1), a - 1),
        ("neg", (x,), -a),
        ("add", (x.t(), 1), a.T + 1),
        ("sum", (x, 1), a.sum(1)),
        ("gt", (x, 9), a > 9),
        ("maximum", (x, x), a),
    ]
    for _ in range(3):
        for name, arguments, wanted in ops:
            assert (getattr(ft, name)(*arguments).numpy() == wanted).all(), name
            assert 0 < ft.fpga.memory_stats()["kernels"] <= few_kernels
