"""Exchange with a device that has its own memory: copies in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given

import ftensor as ft
from ftensor._device import default_backend

from .interop_cases import same, torch_tensors


@pytest.fixture(scope="module")
def board() -> Iterator[Any]:
    """Treats the current device as if its memory were not the host's."""
    backend = default_backend()
    if not hasattr(backend, "cl_device"):
        pytest.skip("C simulation always shares the host's memory")
    if not backend.host_shared:
        yield backend
        return
    platform = backend.cl_device.platform
    apart = type(backend)(backend.target, platform, backend.cl_device, host_shared=False)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("host", "dlpack"):
            patch.setattr(f"ftensor.interop.{module}.backend_of", lambda where: apart)
        yield apart
    apart.synchronize()


@given(torch_tensors())
def test_device_memory_is_copied_both_ways(board: Any, t: torch.Tensor) -> None:
    x = ft.from_torch(t)
    assert x._storage.backend is board and x._storage.ptr is None
    for u in (x.to_torch(), torch.from_dlpack(x), ft.from_dlpack(t).to_torch()):
        assert same(u, t)
    if 0 in t.stride() and 0 not in t.shape and x._storage.nbytes < t.nbytes:
        assert t.numel() > 1 and 0 in x.stride()
    if t.dtype != torch.bfloat16:
        assert np.array_equal(ft.from_numpy(t.numpy()).numpy(), t.numpy())


def test_device_memory_keeps_expanded_tensors_small(board: Any) -> None:
    t = torch.arange(4.0).expand(1000, 4)
    x = ft.from_torch(t)
    assert x.stride() == (0, 1) and x._storage.nbytes == 16
    assert same(x.to_torch(), t)


def test_device_memory_keeps_the_order_of_dims(board: Any) -> None:
    t = torch.arange(60.0).reshape(3, 4, 5)[:, ::2].permute(2, 0, 1)
    assert ft.from_torch(t).stride() == (1, 10, 5)


def test_device_memory_is_not_shared(board: Any) -> None:
    x = ft.from_torch(torch.ones(3))
    assert x._storage.backend is board
    with pytest.raises(BufferError, match="copy=False"):
        x.__dlpack__(copy=False)
    with pytest.raises(ValueError, match="copy"):
        x.__array__(copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        ft.from_dlpack(np.ones(3), copy=False)
