"""Memory shared through DLPack: each side may be freed first."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import ftensor as ft

from .interop_cases import shared_memory


def exports(x: ft.Tensor) -> list[Any]:
    return [x.to_torch(), x.numpy(), torch.from_dlpack(x), np.from_dlpack(x), np.asarray(x)]


@shared_memory
@pytest.mark.parametrize("which", range(5))
def test_tensor_is_freed_first(which: int) -> None:
    x = ft.from_numpy(np.arange(100.0)) + 1
    storage = weakref.ref(x._storage)
    peer = exports(x)[which]
    del x
    gc.collect()
    assert storage() is not None
    assert peer.sum() == 5050
    del peer
    gc.collect()
    assert storage() is None


@shared_memory
@pytest.mark.parametrize("bring", [ft.from_numpy, ft.from_dlpack])
def test_array_is_freed_first(bring: Any) -> None:
    class Array(np.ndarray[Any, Any]):
        """An array that supports weak references."""

    array = np.arange(100.0).view(Array)
    watched = weakref.ref(array)
    x = bring(array)
    del array
    gc.collect()
    assert watched() is not None
    assert sum(x.tolist()) == 4950
    del x
    ft.synchronize()
    gc.collect()
    assert watched() is None


@shared_memory
@pytest.mark.parametrize("bring", [ft.from_torch, ft.from_dlpack])
def test_torch_tensor_is_freed_first(bring: Any) -> None:
    source = np.arange(100.0)
    watched = weakref.ref(source)
    t = torch.from_numpy(source)
    x = bring(t)
    del t, source
    gc.collect()
    assert watched() is not None
    assert sum(x.tolist()) == 4950
    del x
    ft.synchronize()
    gc.collect()
    assert watched() is None


@shared_memory
def test_work_in_flight_keeps_foreign_memory() -> None:
    memory = bytearray(4 << 20)
    array = np.frombuffer(memory, np.float32)
    watched = weakref.ref(array)
    x = ft.from_numpy(array)
    ft.synchronize()
    for _ in range(20):
        x.add_(1)
    del x, array
    ft.synchronize()
    assert np.frombuffer(memory, np.float32).tolist()[::99999] == [20.0] * 11
    ft.from_numpy(np.zeros(1))  # the next import releases the memory of finished work
    gc.collect()
    assert watched() is None


@shared_memory
@pytest.mark.parametrize("max_version", (None, (1, 0)))
def test_unconsumed_capsule_frees_its_tensor(max_version: tuple[int, int] | None) -> None:
    x = ft.from_numpy(np.arange(4.0)) + 1
    storage = weakref.ref(x._storage)
    capsule = x.__dlpack__(max_version=max_version)
    del x
    gc.collect()
    assert storage() is not None
    del capsule
    gc.collect()
    assert storage() is None


@shared_memory
def test_failing_consumer_frees_its_capsule() -> None:
    x = ft.from_torch(torch.ones(4, dtype=torch.bfloat16)) + 1
    storage = weakref.ref(x._storage)
    with pytest.raises((RuntimeError, BufferError)):
        np.from_dlpack(x)
    del x
    gc.collect()
    assert storage() is None


def test_exports_may_outlive_the_interpreter() -> None:
    program = """
import numpy, torch
import ftensor as ft
x = ft.from_dlpack(numpy.arange(1000.0)) + 1
kept = [x.to_torch(), torch.from_dlpack(x), numpy.from_dlpack(x), x.__dlpack__()]
torch.kept = kept[1]
numpy.kept = ft.from_dlpack(torch.ones(5))
unused = ft.from_torch(torch.ones(5)).__dlpack__(max_version=(1, 0))
print("done")
"""
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "done", "")


def test_torch_is_imported_on_demand() -> None:
    program = """
import sys
import ftensor as ft, numpy
ft.from_dlpack(ft.from_numpy(numpy.arange(3.0)))
assert "torch" not in sys.modules
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
