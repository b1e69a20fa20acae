"""FTENSOR_POISON=1: new results' memory is NaN until a kernel has written it."""

from __future__ import annotations

import os
import subprocess

import numpy as np
import pytest

from .. import forked
from .runtime_kernels import all_backends

PROGRAM = """
import ftensor as ft

for of in (ft.float16, ft.bfloat16, ft.float32, ft.float64, ft.complex64):
    assert ft.empty(1000, dtype=of).isnan().all(), of
assert ft.empty(3, dtype=ft.int32).tolist() == [-1] * 3
x = ft.ones(100_000)
for _ in range(20):
    y = x * 2 + 1  # the memory of what is read last is handed out again while this is queued
    assert y[y != 3].numel() == 0
    x, y = x + 0, None
    fresh = ft.empty(100_000)
assert fresh.isnan().all() and (x == 1).all()
"""


def run(program: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return forked.run("-c", program, env=os.environ | settings)


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(name, marks=[pytest.mark.long] if name == "pocl" else [])
        for name in all_backends()
        if name != "separate-memory"
    ],
)
def test_uninitialized_memory_is_nan(target: str) -> None:
    done = run(PROGRAM, FTENSOR_POISON="1", FTENSOR_DEVICE=target)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif("separate-memory" not in all_backends(), reason="needs OpenCL on a CPU")
def test_device_memory_is_poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FTENSOR_POISON", "1")
    backend = all_backends()["separate-memory"]()
    seen = np.zeros(1000, np.uint8)
    backend.download(backend.allocate(1000), 0, seen)
    assert (seen == 255).all()


def test_poison_is_free_if_off() -> None:
    look = "import ftensor._device as d; from ftensor.runtime.pool import MemoryPool as p; "
    look += "print(type(d.default_backend().pool).take is p.take)"
    assert run(look, FTENSOR_POISON="0").stdout == "True\n"
    assert run(look, FTENSOR_POISON="1").stdout == "False\n"
    wrong = run(look, FTENSOR_POISON="yes").stderr
    assert "FTENSOR_POISON" in wrong and "'yes'" in wrong
