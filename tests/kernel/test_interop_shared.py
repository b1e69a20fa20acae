"""Memory shared with the host: an op on it is complete when its call returns, unless
`non_blocking`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend

MANY = 2_000_000  # large enough that an asynchronous op is still running when the call returns
TIMES = 20


@pytest.fixture(autouse=True)
def shares() -> None:
    if not default_backend().host_shared:
        pytest.skip("a device with memory of its own shares none")


def imported() -> dict[str, tuple[Any, ft.Tensor]]:
    array, tensor, exported = np.zeros(MANY, np.float32), torch.zeros(MANY), torch.zeros(MANY)
    return {
        "from_numpy": (array, ft.from_numpy(array)),
        "from_torch": (tensor, ft.from_torch(tensor)),
        "from_dlpack": (exported, ft.from_dlpack(exported)),
    }


def exported() -> dict[str, tuple[Any, ft.Tensor]]:
    tensors = [ft.zeros(MANY) for _ in range(4)]
    return {
        "numpy": (tensors[0].numpy(), tensors[0]),
        "asarray": (np.asarray(tensors[1]), tensors[1]),
        "to_torch": (tensors[2].to_torch(), tensors[2]),
        "dlpack": (torch.from_dlpack(tensors[3]), tensors[3]),
    }


def zero(host: Any) -> None:
    host[:] = 0


@pytest.mark.parametrize("make", [imported, exported])
def test_writes_are_complete_when_the_call_returns(make: Callable[[], Any]) -> None:
    for name, (host, x) in make().items():
        for _ in range(TIMES):
            x.add_(1)
        assert bool((host == TIMES).all()), name


@pytest.mark.parametrize("make", [imported, exported])
def test_reads_are_complete_when_the_call_returns(make: Callable[[], Any]) -> None:
    for name, (host, x) in make().items():
        host[:] = 1
        results = [x.exp(), x * 2, x.reshape(1000, -1).sum(0), x[::3].cos(), ft.cat((x, x))]
        zero(host)
        for k, y in enumerate(results):
            assert bool((y == y.reshape(-1)[0]).all()), (name, k)
            assert y.reshape(-1)[0].item() not in (0.0, 2.0 if k == 0 else 0.0), (name, k)


def test_views_and_other_streams_wait_too() -> None:
    host = np.zeros((1000, MANY // 1000), np.float32)
    x = ft.from_numpy(host)
    with ft.fpga.stream(ft.fpga.Stream()):
        for _ in range(TIMES):
            x[:, ::2].add_(1)
        assert (host[:, ::2] == TIMES).all() and not host[:, 1::2].any()


def test_sharing_ends_with_the_last_array() -> None:
    x = ft.zeros(MANY)
    first, second = x.numpy(), x[1:].numpy()
    assert x._storage.visible
    del first
    assert x._storage.visible
    del second
    assert not x._storage.visible
    shared = torch.from_dlpack(x)
    part = shared[3:]
    del shared
    assert x._storage.visible
    del part
    assert not x._storage.visible


def test_printing_and_reading_do_not_share_memory() -> None:
    x = ft.zeros(4)
    assert (repr(x), x.tolist(), x[0].item()) == ("tensor([0., 0., 0., 0.])", [0.0] * 4, 0.0)
    np.array(x)
    assert not x._storage.visible


def test_asynchrony_on_request() -> None:
    host = np.zeros(MANY, np.float32)
    x = ft.from_numpy(host, non_blocking=True)
    y = ft.zeros(MANY)
    seen = [y.numpy(non_blocking=True), y.to_torch(non_blocking=True)]
    assert not x._storage.visible and not y._storage.visible
    x.add_(1)
    y.add_(1)
    ft.synchronize()
    assert (host == 1).all() and all(bool((s == 1).all()) for s in seen)
    assert not ft.from_torch(torch.zeros(3), non_blocking=True)._storage.visible
    assert not ft.from_dlpack(torch.zeros(3), non_blocking=True)._storage.visible


def test_one_blocking_import_makes_the_memory_blocking() -> None:
    t = torch.zeros(MANY)
    first = ft.from_torch(t, non_blocking=True)
    second = ft.from_torch(t)
    assert first._storage is second._storage and first._storage.visible
