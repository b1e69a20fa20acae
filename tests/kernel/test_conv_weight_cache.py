"""A convolution's packed weights, cached between calls. Writes to the weight invalidate them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor._device import default_backend  # noqa: E402
from ftensor.execute.dispatch import Observer, observed  # noqa: E402
from ftensor.execute.packed_weights import PACKING  # noqa: E402
from ftensor.kernels.skeletons.conv import ConvPackGeometry  # noqa: E402

from ..oracle import ours, same  # noqa: E402

Call = Callable[[Any], Any]
X, WEIGHT = (1, 24, 18, 19), (32, 24, 3, 3)


class Packed(Observer):
    """Counts packed panels of weights."""

    panels = 0

    def launch(self, launch: Any, *args: Any) -> None:
        for step in launch.steps:
            if step.key.skeleton in PACKING:
                self.panels += ConvPackGeometry.unpack(step.geometry).panels
        super().launch(launch, *args)


def packed(call: Callable[[], Any]) -> int:
    """Returns the number of panels that a call packs."""
    seen = Packed()
    with observed(default_backend(), seen):
        call()
    return seen.panels


def drawn(*shape: int) -> Any:
    """Returns integers, whose sums are exact."""
    return torch.randint(-2, 3, shape).float()


class Case:
    """A call in torch and in ftensor on the same numbers."""

    def __init__(self, op: str = "conv2d", weight: tuple[int, ...] = WEIGHT, **more: Any) -> None:
        torch.manual_seed(0)
        self.op, self.more = op, more
        filters = weight[1] if "transpose" in op else weight[0]
        self.theirs = [drawn(*X), drawn(*weight), drawn(filters)]
        # Memory that ftensor allocated, which no other library can write.
        self.mine = [ours(t).clone() for t in self.theirs]

    def call(self) -> Any:
        return getattr(ft, self.op)(*self.mine, **self.more)

    def agrees(self, calls: int = 4) -> None:
        """Asserts that every call has torch's bits."""
        wanted = getattr(torch, self.op)(*self.theirs, **self.more)
        for _ in range(calls):
            same(self.call(), wanted, exact=True)


def test_unmodified_weights_are_packed_once() -> None:
    case = Case(padding=1)
    assert packed(case.call) and packed(case.call)  # the second call caches it
    assert not packed(case.call)
    case.agrees(1)
    assert not packed(case.call)
    for k in (1, 2):  # the weight, and the bias, which is part of the panels
        case.mine[k].add_(1)
        case.theirs[k].add_(1)
        assert packed(case.call)
        case.agrees(1)


@pytest.mark.core
@pytest.mark.parametrize("product", [False, True], ids=["windows", "product"])
def test_int8_weights_are_cached(product: bool) -> None:
    """Only boards cache packed bytes."""
    shape = (20, 300) if product else (1, 24, 18, 19)
    x = ft.from_torch(torch.randint(-9, 10, shape, dtype=torch.int8))
    drawn_bytes = torch.randint(-9, 10, (300, 96) if product else (96, 24, 3, 3))
    weight = ft.from_torch(drawn_bytes.to(torch.int8)).clone()

    def call() -> Any:
        if product:
            return ft._int_mm(x, weight)
        return ft.quantized.conv2d(x, weight, None, 1, 1, input_scale=1.0, input_zero_point=0, weight_scale=1.0)

    board = not default_backend().target.unaligned
    assert packed(call) or not board
    once = call().tolist()
    assert not (board and packed(call))
    assert call().tolist() == once
    weight.add_(1)
    assert packed(call) or not board
    assert call().tolist() != once


@pytest.mark.parametrize(
    "case",
    [
        {"weight": (256, 24, 1, 1)},
        {"stride": 2},
        {"weight": (64, 12, 3, 3), "groups": 2, "dilation": 2},
        {"op": "conv_transpose2d", "weight": (24, 20, 4, 4), "stride": 2},
    ],
    ids=["as-it-lies", "strided", "groups", "transposed"],
)
def test_cached_panels_give_the_same_bits(case: dict[str, Any]) -> None:
    conv = Case(**case)
    conv.agrees()
    assert not packed(conv.call)
    conv.mine[1].mul_(2)
    conv.theirs[1].mul_(2)
    conv.agrees()


WRITES: dict[str, Call] = {
    "in place": lambda w: w.mul_(3),
    "copy": lambda w: w.copy_(ft.ones(*w.shape)),
    "out": lambda w: ft.add(ft.ones(*w.shape), 1, out=w),
    "view": lambda w: w[3:5].zero_(),
    "element": lambda w: w.__setitem__((0, 0, 1, 1), 9),
    "index": lambda w: w.index_fill_(0, ft.tensor([1, 4]), 2.0),
    "mask": lambda w: w.masked_fill_(w > 0, 5.0),
    "of a graph": lambda w: ft.jit(lambda t: t.add_(2.0))(w),
    "found by a graph": lambda w: ft.jit(lambda t: w.add_(t))(ft.ones(1)),
    "random": lambda w: w.random_(0, 3),
}


@pytest.mark.parametrize("way", WRITES)
def test_modified_weight_is_packed_again(way: str) -> None:
    case = Case(padding=1)
    for _ in range(2):  # the second write is a cached call
        case.agrees()
        WRITES[way](case.mine[1])
        case.theirs[1] = torch.tensor(case.mine[1].tolist())
        case.agrees()


def test_weights_in_exported_memory_are_not_cached() -> None:
    """The owner of an array or address may write at any time."""
    case = Case(padding=1)
    case.agrees()
    if not default_backend().host_shared:
        pytest.skip("the host has copies of this device's memory")
    array = case.mine[1].numpy()
    for value in (1, 2):
        array[:] = value
        case.theirs[1].fill_(value)
        case.agrees()
        assert packed(case.call)
    del array
    gc.collect()
    case.agrees()
    assert not packed(case.call)
    assert case.mine[1].data_ptr()
    case.agrees()
    assert packed(case.call)
    foreign = np.ones(WEIGHT, np.float32)
    case.mine[1] = ft.from_numpy(foreign)
    for value in (3, 4):
        foreign[:] = value
        case.theirs[1].fill_(value)
        case.agrees()


def test_packed_weights_are_freed_when_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """They count as memory in use, are freed with the weight, and are freed before an allocation is
    refused."""
    case = Case(padding=1)
    ft.synchronize()
    backend = default_backend()
    case.agrees()
    held = ft.fpga.memory_allocated()
    ft.fpga.empty_cache()
    gone = held - ft.fpga.memory_allocated()
    assert gone >= case.mine[1].nbytes
    case.agrees()
    assert not packed(case.call)
    with monkeypatch.context() as m, pytest.raises(ft.OutOfMemoryError):
        m.setattr(backend.pool, "limit", backend.pool.reserved)
        size = backend.pool.reserved - 4096
        backend.pool.new_block(size, size)
    assert packed(case.call)
    case.agrees()
    held = ft.fpga.memory_allocated()
    own = case.mine[1].nbytes
    case.mine.clear()
    assert held - ft.fpga.memory_allocated() >= 2 * own


def test_other_streams_wait_for_panels() -> None:
    case = Case(padding=1)
    case.agrees()
    other = ft.fpga.Stream()
    other.wait_stream(ft.fpga.current_stream())
    with ft.fpga.stream(other):
        case.agrees()
    ft.synchronize()
