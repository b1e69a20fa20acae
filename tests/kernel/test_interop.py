"""Exchange with NumPy, torch and DLPack: the same memory, strides and values on both sides."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given

import ftensor as ft
from ftensor._device import current_device, default_backend

from .interop_cases import DTYPES, NUMPY_DTYPES, numbered, same, shared_memory, torch_tensors


def geometry(x: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(x.shape), tuple(x.stride())


# torch


@given(torch_tensors())
def test_torch_round_trip(t: torch.Tensor) -> None:
    x = ft.from_torch(t)
    assert x.dtype is getattr(ft, str(t.dtype).removeprefix("torch."))
    assert tuple(x.shape) == tuple(t.shape)
    assert x.device == current_device()
    u = x.to_torch()
    assert same(u, t)
    assert geometry(u) == geometry(x)
    if default_backend().host_shared:
        assert geometry(x) == geometry(t)
        assert t.numel() == 0 or u.data_ptr() == t.data_ptr() == x.data_ptr()


@shared_memory
@given(torch_tensors())
def test_writes_are_visible_on_both_sides(t: torch.Tensor) -> None:
    x = ft.from_torch(t)
    u = x.to_torch()
    if t.numel():
        first = t[(0,) * t.dim()]
        first.copy_(first == 0)
        assert same(u, t) and same(x.to_torch(), t)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ops_run_on_torch_memory(dtype: str) -> None:
    t = numbered(dtype, (5, 7))[1:, ::2].T
    x = ft.from_torch(t)
    assert same((x + x).to_torch(), t + t)


@shared_memory
@pytest.mark.parametrize("skip", range(5))
@pytest.mark.parametrize("size", (1, 3, 15, 16, 17, 64, 1000))
def test_in_place_op_stays_within_foreign_memory(skip: int, size: int) -> None:
    base = np.zeros(size + 40, np.float32)
    x = ft.from_numpy(base[skip : skip + size])
    x.add_(1)
    ft.synchronize()
    assert base.sum() == size == base[skip : skip + size].sum()


@shared_memory
def test_tensors_of_one_torch_storage_share_one_storage() -> None:
    t = torch.arange(20.0)
    x, y = ft.from_torch(t), ft.from_torch(t[1:])
    assert x._storage is y._storage and y.storage_offset() == 1 + x.storage_offset()
    with pytest.raises(RuntimeError):
        ft.add(x.narrow(0, 0, 19), 1, out=y)


def test_lazy_conjugates_and_negations_are_resolved() -> None:
    t = torch.tensor([1 + 2j, 3 - 4j]).conj()
    assert ft.from_torch(t).tolist() == [1 - 2j, 3 + 4j]
    assert ft.from_torch(t.imag).tolist() == [-2.0, 4.0]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: torch.zeros(2, dtype=torch.float8_e8m0fnu), TypeError, "float8_e8m0fnu"),
        (lambda: torch.zeros(2, device="meta"), TypeError, "meta"),
        (lambda: torch.eye(2).to_sparse(), TypeError, "sparse"),
        (lambda: torch.zeros(2, requires_grad=True), RuntimeError, "detach"),
        (lambda: np.zeros(2), TypeError, "ndarray"),
    ],
)
def test_from_torch_refuses(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ft.from_torch(make())


# NumPy


@given(torch_tensors(NUMPY_DTYPES))
def test_numpy_round_trip(t: torch.Tensor) -> None:
    a = t.numpy()
    x = ft.from_numpy(a)
    b = x.numpy()
    assert b.dtype == a.dtype and np.array_equal(a, b)
    assert same(x.to_torch(), t)
    if default_backend().host_shared and a.size:
        assert b.strides == a.strides and b.ctypes.data == a.ctypes.data
        assert np.shares_memory(np.asarray(x), a)


@pytest.mark.parametrize(
    ("array", "error", "words"),
    [
        ([1.0], TypeError, "list"),
        (np.array(["a"]), TypeError, "float32"),
        (np.zeros(2, np.longdouble), TypeError, "longdouble|float128"),
        (np.zeros(2, "f4,i4"), TypeError, "astype"),
        (np.zeros(4)[::-1], ValueError, "-8"),
        (np.zeros(3, "f4,i1")["f0"], ValueError, "5"),
        (np.zeros(2, ">f4"), ValueError, "byte order"),
    ],
)
def test_from_numpy_refuses(array: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ft.from_numpy(array)


def test_unaligned_array_is_copied() -> None:
    raw = np.arange(41, dtype=np.uint8)
    array = raw[1:].view(np.float32)
    x = ft.from_numpy(array)
    assert np.array_equal(x.numpy(), array) and not np.shares_memory(x.numpy(), raw)
    with pytest.raises(ValueError, match="copy=False"):
        ft.from_dlpack(array, copy=False)


def test_bfloat16_has_no_numpy_dtype() -> None:
    x = ft.from_torch(torch.ones(2, dtype=torch.bfloat16))
    for read in (x.numpy, lambda: np.asarray(x), lambda: np.asarray(x, np.float32)):
        with pytest.raises(TypeError, match="bfloat16"):
            read()
    with pytest.raises((RuntimeError, BufferError)):
        np.from_dlpack(x)


def test_array_protocol() -> None:
    x = ft.from_numpy(np.arange(6.0).reshape(2, 3))
    assert np.array(x).tolist() == x.tolist()
    assert not np.shares_memory(np.array(x), np.asarray(x))
    halves = np.asarray(x, np.float16)
    assert halves.dtype == np.float16 and halves.tolist() == x.tolist()
    assert (np.ones(3) + np.asarray(x)).shape == (2, 3)
    with pytest.raises(ValueError, match="int32"):
        x.__array__(np.int32, copy=False)
    with pytest.raises(ValueError, match="copy"):
        x.__array__("f4", copy=False)


@shared_memory
def test_numpy_keeps_the_memory_of_a_dead_tensor() -> None:
    a = (ft.from_numpy(np.arange(1000.0)) + 1).numpy()
    rivals = [ft.from_numpy(np.zeros(1000)) + 7 for _ in range(5)]
    assert np.array_equal(a, np.arange(1000.0) + 1), rivals


# Read-only memory


@pytest.fixture
def readonly() -> np.ndarray[Any, Any]:
    array = np.arange(4.0)
    array.flags.writeable = False
    return array


@shared_memory
def test_read_only_arrays_stay_read_only(readonly: np.ndarray[Any, Any]) -> None:
    for x in (ft.from_numpy(readonly), ft.from_dlpack(readonly), ft.from_numpy(readonly).narrow(0, 1, 3)):
        assert not x.numpy().flags.writeable
        assert not np.from_dlpack(x).flags.writeable
        assert (x + 1).add_(1).numpy()[-1] == 5
    assert readonly.tolist() == [0, 1, 2, 3]


@shared_memory
def test_ops_refuse_to_write_read_only_memory(readonly: np.ndarray[Any, Any]) -> None:
    x = ft.from_numpy(readonly)
    for write in (lambda: x.add_(1), lambda: ft.add(x, x, out=x), lambda: x.narrow(0, 1, 2).neg_()):
        with pytest.raises(RuntimeError, match="read-only"):
            write()
    ft.synchronize()
    assert readonly.tolist() == [0, 1, 2, 3]


@shared_memory
def test_read_only_memory_is_copied_for_consumers_without_the_flag(readonly: np.ndarray[Any, Any]) -> None:
    x = ft.from_numpy(readonly)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        u = x.to_torch()
    u.add_(1)
    torch.utils.dlpack.from_dlpack(x.__dlpack__()).add_(1)
    assert readonly.tolist() == [0, 1, 2, 3] and u.tolist() == [1, 2, 3, 4]
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__(copy=False)


# Work in flight


@pytest.mark.parametrize(
    "export",
    [
        lambda x: x.numpy()[-1],
        lambda x: np.asarray(x)[-1],
        lambda x: x.to_torch()[-1].item(),
        lambda x: np.from_dlpack(x)[-1],
        lambda x: torch.from_dlpack(x)[-1].item(),
        lambda x: torch.from_dlpack(x.__dlpack__(stream=-1))[-1].item(),
    ],
)
def test_exports_wait_for_the_kernels(export: Any) -> None:
    x = ft.from_numpy(np.zeros(1 << 20, np.float32))
    ft.synchronize()
    for _ in range(40):
        x.add_(1)
    assert export(x) == 40


def test_threads_exchange_concurrently() -> None:
    failures: list[str] = []

    def work(seed: int) -> None:
        t = torch.full((100,), float(seed), dtype=torch.bfloat16)
        for _ in range(200):
            x = ft.from_dlpack(t)
            y = ft.from_torch(x.to_torch())
            if not same(torch.from_dlpack(y), t) or np.asarray(y.to(ft.float32)).max() != seed:
                failures.append(f"thread {seed}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def odd_tensors() -> dict[str, Any]:
    """Returns torch tensors that are not strided host memory, or whose values differ from their
    memory."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.testing._internal.two_tensor import TwoTensor

    with FakeTensorMode():
        fake = torch.ones(3)
    ones = torch.ones(3, 3)
    return {
        "fake": fake,
        "meta": torch.ones(3, device="meta"),
        "sparse": ones.to_sparse(),
        "csr": ones.to_sparse_csr(),
        "nested": torch.nested.nested_tensor([ones, ones[:2]]),
        "jagged": torch.nested.nested_tensor([ones, ones[:2]], layout=torch.jagged),
        "quantized": torch.quantize_per_tensor(ones, 0.1, 0, torch.quint8),
        "mkldnn": ones.to_mkldnn(),
        "subclass": TwoTensor(ones, ones),
    }


TAKE = (ft.from_torch, ft.from_dlpack, ft.tensor, ft.asarray, ft.as_tensor)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("take", TAKE, ids=lambda f: f.__name__)
def test_tensor_without_host_memory_is_refused(take: Any) -> None:
    for name, t in odd_tensors().items():
        with pytest.raises(TypeError):
            pytest.fail(f"{name} gave {take(t)}")
    for transform in (torch.func.vmap, torch.func.grad, torch.func.functionalize):
        with pytest.raises(TypeError, match="transform of torch"):
            transform(lambda t: take(t).to_torch().sum())(torch.ones(3))


@pytest.mark.parametrize("take", TAKE, ids=lambda f: f.__name__)
def test_lazy_torch_views_are_resolved(take: Any) -> None:
    z = torch.tensor([1 + 2j, 3 - 4j])
    assert take(z.conj().imag).tolist() == [-2.0, 4.0]
    assert take(z.conj()).tolist() == [1 - 2j, 3 + 4j]
    assert take(z.conj()[1:].imag).tolist() == [4.0]
    assert take(torch._efficientzerotensor(2)).tolist() == [0.0, 0.0]
