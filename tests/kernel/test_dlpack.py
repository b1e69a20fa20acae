"""DLPack capsules: versions, flags, calls of the deleter, and refusals."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft
from ftensor.interop import dlpack

from .interop_cases import DTYPES, NUMPY_DTYPES, numbered, same, shared_memory, torch_tensors

READ_ONLY, IS_COPIED = 1, 2

# A deleter made here lives as long as anyone can call it, like the code of a real producer.
PRODUCERS: list[object] = []


def content(capsule: object) -> tuple[str, Any]:
    """Returns the capsule's name and, if it is unused, its structure."""
    name, managed = dlpack._content(capsule)
    return (name.decode(), managed) if managed else (repr(capsule).split('"')[1], None)


class Producer:
    """A foreign array whose deleter counts its calls; legacy or versioned, on any device."""

    def __init__(self, versioned: bool, **fields: Any) -> None:
        self.array = np.arange(6, dtype=np.int32)
        self.deleted = 0
        self.requests: list[dict[str, Any]] = []
        shape = (ctypes.c_int64 * 1)(6)
        self.managed = dlpack._Versioned() if versioned else dlpack._Legacy()
        tensor = self.managed.tensor
        tensor.data = self.array.ctypes.data
        tensor.device_type, tensor.ndim, tensor.shape = 1, 1, shape
        tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = 0, 32, 1
        if versioned:
            self.managed.major = 1
        for name, value in fields.items():
            target = self.managed if hasattr(type(self.managed), name) else tensor
            setattr(tensor.dtype if name in ("code", "bits", "lanes") else target, name, value)

        def delete(address: int) -> None:
            assert address == ctypes.addressof(self.managed)
            self.deleted += 1

        self.keep = (shape, dlpack._deleter(delete))
        self.managed.deleter = ctypes.cast(self.keep[1], ctypes.c_void_p).value
        self.name = b"dltensor_versioned" if versioned else b"dltensor"
        PRODUCERS.append(self)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.managed.tensor.device_type, self.managed.tensor.device_id

    def __dlpack__(self, **options: Any) -> object:
        self.requests.append(options)
        new = dlpack._python_api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.managed), self.name, None)


# Import


@given(torch_tensors())
def test_from_torch_by_dlpack(t: torch.Tensor) -> None:
    x = ft.from_dlpack(t)
    assert same(x.to_torch(), t)
    y = ft.from_dlpack(t, copy=True)
    assert same(y.to_torch(), t)
    if t.numel() and x._storage.backend.host_shared:
        assert x.data_ptr() == t.data_ptr() != y.data_ptr()
        assert ft.from_dlpack(t, copy=False).data_ptr() == t.data_ptr()


@given(torch_tensors(NUMPY_DTYPES), st.lists(st.booleans(), min_size=5, max_size=5))
def test_from_numpy_by_dlpack(t: torch.Tensor, turned: list[bool]) -> None:
    steps = [slice(None, None, -1 if turn else 1) for turn in turned[: t.dim()]]
    a = t.numpy()[(..., *steps)]
    x = ft.from_dlpack(a)
    assert np.array_equal(x.numpy(), a)
    assert min(x.stride(), default=0) >= 0


@pytest.mark.parametrize("versioned", (False, True))
def test_consumed_capsule_is_deleted_once_with_its_tensor(versioned: bool) -> None:
    producer = Producer(versioned)
    capsule = producer.__dlpack__()
    x = ft.from_dlpack(capsule)
    assert content(capsule) == ("used_dltensor_versioned" if versioned else "used_dltensor", None)
    with pytest.raises(ValueError, match="once"):
        ft.from_dlpack(capsule)
    view = x.narrow(0, 2, 4)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    del capsule, x
    gc.collect()
    assert producer.deleted == (0 if view._storage.backend.host_shared else 1)
    assert view.tolist() == [2, 3, 4, 5]
    del view
    ft.synchronize()
    gc.collect()
    assert producer.deleted == 1


def test_copied_capsule_is_deleted_at_once() -> None:
    producer = Producer(True)
    x = ft.from_dlpack(producer, copy=True)
    assert producer.deleted == 1
    producer.array[:] = -1
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"major": 2}, "2.0"),
        ({"device_type": 2, "device_id": 3}, "type 2, id 3"),
        ({"code": 1, "bits": 24}, "code 1 with 24 bits"),
        ({"lanes": 4}, "4 lanes"),
    ],
)
def test_refused_capsule_keeps_ownership(fields: dict[str, int], words: str) -> None:
    producer = Producer(True, **fields)
    capsule = producer.__dlpack__()
    with pytest.raises(BufferError, match=words):
        ft.from_dlpack(capsule)
    assert content(capsule)[0] == "dltensor_versioned" and producer.deleted == 0


NO_POINTER = ctypes.POINTER(ctypes.c_int64)()


@pytest.mark.parametrize("versioned", (False, True))
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ndim": -1}, "-1 dims"),
        ({"ndim": 2**31 - 1}, "2147483647 dims"),
        ({"shape": NO_POINTER}, "no shape"),
        ({"shape": (ctypes.c_int64 * 1)(-6)}, "negative"),
        ({"shape": (ctypes.c_int64 * 1)(2**62)}, "beyond any memory"),
        ({"strides": (ctypes.c_int64 * 1)(2**62)}, "beyond any memory"),
        ({"strides": (ctypes.c_int64 * 1)(-(2**62))}, "beyond any memory"),
        ({"data": None}, "NULL"),
        ({"byte_offset": 2**64 - 4}, "beyond any memory"),
    ],
)
def test_damaged_capsule_is_refused_and_keeps_ownership(versioned: bool, fields: dict[str, Any], words: str) -> None:
    producer = Producer(versioned, **fields)
    capsule = producer.__dlpack__()
    with pytest.raises(BufferError, match=words):
        ft.from_dlpack(capsule)
    assert content(capsule)[0] == producer.name.decode() and producer.deleted == 0


def test_producer_without_deleter() -> None:
    producer = Producer(True, byte_offset=8)
    producer.managed.deleter = None
    producer.managed.tensor.shape[0] = 4
    assert ft.from_dlpack(producer).tolist() == [2, 3, 4, 5]


@shared_memory
def test_read_only_flag_is_kept() -> None:
    x = ft.from_dlpack(Producer(True, flags=READ_ONLY))
    assert x._storage.readonly and not x.numpy().flags.writeable
    assert content(x.__dlpack__(max_version=(1, 0)))[1].flags == READ_ONLY
    assert content(x.__dlpack__())[0] == "dltensor"
    writable = ft.from_dlpack(Producer(False))
    assert not writable._storage.readonly and writable.numpy().flags.writeable


def test_arguments_passed_to_the_producer() -> None:
    here = Producer(True)
    ft.from_dlpack(here)
    assert here.requests == [{"max_version": (1, 0)}]
    away = Producer(True, device_type=2)
    with pytest.raises(BufferError, match="type 2"):
        ft.from_dlpack(away)
    assert away.requests[0]["dl_device"] == (1, 0)
    with pytest.raises(BufferError, match="type 2"):
        ft.from_dlpack(away, copy=False)

    class Old(Producer):
        def __dlpack__(self) -> object:
            return super().__dlpack__()

    assert ft.from_dlpack(Old(False)).tolist() == [0, 1, 2, 3, 4, 5]


def test_not_a_producer() -> None:
    for wrong in ([1, 2], 3, "text", None):
        with pytest.raises(RuntimeError, match=rf"^from_dlpack\(\): .*, not {type(wrong).__name__}; ft\.as_tensor"):
            ft.from_dlpack(wrong)


def test_ftensor_tensor_is_viewed() -> None:
    x = ft.from_numpy(np.arange(3.0))
    assert ft.from_dlpack(x)._storage is x._storage
    assert ft.from_dlpack(x, copy=True)._storage is not x._storage


# Export


@given(torch_tensors(), st.sampled_from([None, (0, 8), (1, 0), (1, 1), (2, 0)]))
def test_capsules_for_torch(t: torch.Tensor, max_version: tuple[int, int] | None) -> None:
    x = ft.from_torch(t)
    capsule = x.__dlpack__(max_version=max_version)
    name, managed = content(capsule)
    versioned = max_version is not None and max_version[0] >= 1
    assert name == ("dltensor_versioned" if versioned else "dltensor")
    if versioned:
        assert managed.major == 1
        assert managed.flags == (0 if x._storage.backend.host_shared else IS_COPIED)
    u = torch.from_dlpack(capsule)
    assert same(u, t)
    if x._storage.backend.host_shared and t.numel():
        assert u.data_ptr() == t.data_ptr() and u.stride() == t.stride()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_round_trips(dtype: str) -> None:
    t = numbered(dtype, (2, 3))
    x = ft.from_torch(t)
    assert same(torch.from_dlpack(x), t)
    y = ft.from_dlpack(x.__dlpack__(max_version=(1, 0)))
    assert y.dtype is x.dtype and y.tolist() == x.tolist()
    if dtype != "bfloat16":
        assert np.array_equal(np.from_dlpack(x), t.numpy())


def test_copies_are_flagged() -> None:
    x = ft.from_numpy(np.arange(4.0))
    capsule = x.__dlpack__(max_version=(1, 0), copy=True)
    assert content(capsule)[1].flags == IS_COPIED
    torch.from_dlpack(capsule).add_(1)
    assert x.tolist() == [0, 1, 2, 3]


def test_the_device_is_the_host() -> None:
    x = ft.from_numpy(np.arange(4.0))
    assert x.__dlpack_device__() == (1, 0)
    assert torch.from_dlpack(x.__dlpack__(dl_device=(1, 0))).tolist() == x.tolist()
    with pytest.raises(BufferError, match=r"\(2, 0\)"):
        x.__dlpack__(dl_device=(2, 0))


def test_dlpack_stream_arguments() -> None:
    x = ft.from_numpy(np.arange(4.0))
    for stream in (None, -1):
        assert content(x.__dlpack__(stream=stream))[0] == "dltensor"
    with pytest.raises(ValueError, match="7"):
        x.__dlpack__(stream=7)
    with pytest.raises(TypeError, match="str"):
        x.__dlpack__(stream="0")
