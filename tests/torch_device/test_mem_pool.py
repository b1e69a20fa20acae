"""`torch.fpga.MemPool`: memory separate from that of other allocations."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
import torch

import ftensor.torch

from .device import quiet  # noqa: F401

SIZE = 1 << 20  # bytes of a tensor


@pytest.fixture(autouse=True)
def no_free_memory() -> Iterator[None]:
    gc.collect()
    torch.fpga.empty_cache()
    yield
    torch.fpga.set_per_process_memory_fraction(1.0)


def filled(value: float = 0.0) -> torch.Tensor:
    return torch.full((SIZE // 4,), float(value), device="fpga")


def sizes(pool: torch.fpga.MemPool) -> list[tuple[int, int]]:
    return [(s["total_size"], s["allocated_size"]) for s in pool.snapshot()]


def test_memory_of_a_pool_is_reserved_for_its_tensors() -> None:
    pool = torch.fpga.MemPool()
    before = torch.fpga.memory_reserved()
    with torch.fpga.use_mem_pool(pool):
        x = filled(1)
        address = x.data_ptr()
        assert sizes(pool) == [(SIZE, SIZE)] and torch.fpga.memory_reserved() - before >= SIZE
        del x
        assert sizes(pool) == [(SIZE, 0)]
    other = filled(2)
    assert sizes(pool) == [(SIZE, 0)], "another tensor uses the pool's memory"
    with torch.fpga.use_mem_pool(pool, device="fpga"):
        again = filled(3)
        assert again.data_ptr() == address or not address
    assert sizes(pool) == [(SIZE, SIZE)]
    assert [s["segment_pool_id"] for s in torch.fpga.memory_snapshot(pool.id)] == [pool.id]
    assert [again.sum().item(), other.sum().item()] == [3 * SIZE / 4, 2 * SIZE / 4]


def test_memory_of_a_pool_is_freed_with_it() -> None:
    before = torch.fpga.memory_reserved()
    pool = torch.fpga.MemPool()
    with torch.fpga.use_mem_pool(pool):
        x, y = filled(1), filled(2)
    del x
    torch.fpga.empty_cache()
    assert torch.fpga.memory_reserved() - before >= 2 * SIZE, "a pool keeps its free memory"
    del pool
    assert SIZE <= torch.fpga.memory_reserved() - before < 2 * SIZE
    assert y.sum().item() == 2 * SIZE / 4
    del y
    torch.fpga.empty_cache()
    # A kernel's first launch keeps its geometry in memory of a few hundred bytes.
    assert torch.fpga.memory_reserved() - before < SIZE, "memory of the pool's last tensor is kept"


def test_other_threads_and_streams() -> None:
    pool, made = torch.fpga.MemPool(), []
    with torch.fpga.use_mem_pool(pool):
        thread = threading.Thread(target=lambda: made.append(filled()))
        thread.start()
        thread.join()
        assert sizes(pool) == []
        with torch.fpga.stream(torch.fpga.Stream()):
            on_side = filled(1)
        here = on_side.sum()
    del on_side
    assert here.item() == SIZE / 4 and max(sizes(pool)) == (SIZE, 0)
    with torch.fpga.use_mem_pool(pool):
        x = filled()  # of this stream, not of the other stream's free memory
    assert sizes(pool)[:2] == [(SIZE, SIZE), (SIZE, 0)] or sizes(pool)[:2] == [(SIZE, 0), (SIZE, SIZE)]
    assert x.sum().item() == 0


def test_nested_pools() -> None:
    outer, inner = torch.fpga.MemPool(), torch.fpga.MemPool(no_split=True)
    assert outer.id != inner.id and outer.use_count() == 1 and outer.allocator is None
    with torch.fpga.use_mem_pool(outer):
        with torch.fpga.use_mem_pool(inner):
            x = filled()
            assert (outer.use_count(), inner.use_count()) == (2, 2)
        y = filled()
    assert sizes(inner) == sizes(outer) == [(SIZE, SIZE)] and inner.use_count() == 1
    with pytest.raises(ZeroDivisionError), torch.fpga.use_mem_pool(inner):
        1 / 0
    z = filled()
    assert sizes(inner) == [(SIZE, SIZE)]
    del x, y, z


@pytest.mark.parametrize("lends", [True, False])
def test_pool_used_on_oom(lends: bool) -> None:
    pool = torch.fpga.MemPool(use_on_oom=lends)
    with torch.fpga.use_mem_pool(pool):
        freed = filled()
    del freed
    limit = torch.fpga.memory_reserved() + SIZE // 2
    torch.fpga.set_per_process_memory_fraction(limit / torch.fpga.mem_get_info()[1])
    if not lends:
        with pytest.raises(torch.OutOfMemoryError):
            filled()
        return
    x = filled(1)
    assert sizes(pool) == [(SIZE, SIZE)] and x.sum().item() == SIZE / 4
    del x
    assert sizes(pool) == [(SIZE, 0)]


def test_graph_in_a_pool() -> None:
    pool, x = torch.fpga.MemPool(), filled(1)
    g = torch.fpga.FPGAGraph()
    with torch.fpga.graph(g, pool=pool.id):
        y = (x + 1) * 2
    assert pool.use_count() == 2 and max(sizes(pool)) == (SIZE, SIZE)
    assert [s["segment_pool_id"] for s in torch.fpga.memory_snapshot() if s["address"] == y.data_ptr()] == [pool.id]
    step = ftensor.torch.capture(lambda x: (x - 1).exp(), pool=pool.id)
    results = [step(x)[0].item() for _ in range(4)]
    assert results == [1] * 4 and step.report()[0].state == "captured" and pool.use_count() == 3
    x.fill_(3)
    g.replay()
    assert y[0].item() == 8
    del pool  # the graph keeps its memory
    filled(7)
    x.fill_(4)
    g.replay()
    assert y[0].item() == 10
    g.reset()


def test_invalid_pools_are_refused() -> None:
    pool = torch.fpga.MemPool()
    gone = pool.id
    del pool
    with pytest.raises(TypeError, match=r"id of a torch\.fpga\.MemPool that exists"):
        torch.fpga.FPGAGraph().capture_begin(gone)
    with pytest.raises(TypeError, match="pool is a handle"):
        ftensor.torch.capture(abs, pool=3)
    with pytest.raises(TypeError, match=r"takes a torch\.fpga\.MemPool, not tuple"), torch.fpga.use_mem_pool(gone):
        pass
    with pytest.raises(TypeError, match="takes no allocator"):
        torch.fpga.MemPool(object())
    with pytest.raises(RuntimeError, match="fpga:1 does not exist"), torch.fpga.use_mem_pool(torch.fpga.MemPool(), 1):
        pass
