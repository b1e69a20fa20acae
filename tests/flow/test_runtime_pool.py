"""The memory pool: size classes, reuse, statistics and the limit."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ftensor as ft
from ftensor.runtime.backend import Backend
from ftensor.runtime.pool import SPARE, VECTOR, Block, FreeLists, Storage, larger_free_block, size_class

from .runtime_kernels import all_backends


@pytest.fixture(params=list(all_backends()))
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    opened: Backend = all_backends()[request.param]()
    gc.collect()
    opened.pool.release_cached()
    limit = opened.pool.limit
    yield opened
    opened.pool.limit = limit


@given(st.integers(0, 2**45))
def test_size_class_is_large_enough_and_hardly_larger(nbytes: int) -> None:
    size = size_class(nbytes)
    assert size >= max(nbytes, 1) and size % VECTOR == 0
    assert size <= max(nbytes + VECTOR, nbytes * 9 // 8)
    assert size_class(size) == size


@given(st.integers(0, 2**45), st.integers(0, 2**45))
def test_size_classes_grow_with_the_request(a: int, b: int) -> None:
    assert (size_class(a) <= size_class(b)) or a > b


@given(st.integers(6, 45))
def test_powers_of_two_waste_nothing(exponent: int) -> None:
    assert size_class(2**exponent) == 2**exponent


@given(st.integers(513, 2**30))
def test_the_next_larger_free_block_is_found(nbytes: int) -> None:
    """It is the smallest class beyond the request's, up to twice its size or 16 MiB more."""
    size = size_class(nbytes)
    classes = [size]
    while (more := size_class(classes[-1] + 1)) < min(2 * size, size + SPARE):
        classes.append(more)
    blocks = {n: Block(None, n, None, None, None) for n in (*classes, more, 2 * size)}  # type: ignore[arg-type]
    free = FreeLists({n: [block] for n, block in blocks.items()})
    chosen = [larger_free_block(size, free) for _ in classes]
    assert chosen == [*[blocks[n] for n in classes[1:]], None]


def test_freed_block_is_reused_by_its_class(backend: Backend) -> None:
    first = backend.allocate(1000)
    block = first.block
    del first
    assert backend.allocate(1010).block is block
    other = backend.allocate(1010)
    assert other.block is not backend.allocate(3000).block


def test_larger_block_is_used_if_its_class_is_empty(backend: Backend) -> None:
    """It may be twice as large. Otherwise changing lengths would leave blocks of all classes."""
    pool, allocated = backend.pool, backend.pool.allocated
    block = backend.allocate(15_000).block
    allocation = backend.allocate(8_000)
    assert allocation.block is block and allocation.nbytes == 8_000
    assert pool.allocated - allocated == block.size
    del allocation
    assert pool.allocated == allocated
    assert backend.allocate(7_000).block is not block


def test_much_larger_block_is_not_used(backend: Backend) -> None:
    """Beyond some MB a long-lived block would waste the rest."""
    block = backend.allocate(80 << 20).block
    assert backend.allocate(48 << 20).block is not block
    assert backend.allocate(72 << 20).block is block


def test_changing_lengths_keep_little_more_than_the_largest(backend: Backend) -> None:
    pool, before = backend.pool, backend.pool.reserved
    for n in range(512, 0, -1):
        held = [backend.allocate(4 * n * n) for _ in range(4)]
        held.clear()
    assert pool.reserved - before < 2.5 * 4 * 4 * 512 * 512


def test_streams_do_not_share_free_blocks(backend: Backend) -> None:
    from ftensor.runtime.stream import DeviceStream

    side = DeviceStream(backend)
    block = backend.allocate(5000).block
    assert backend.allocate(5000, side).block is not block
    assert backend.allocate(5000).block is block


def test_statistics_follow_allocations(backend: Backend) -> None:
    pool = backend.pool
    pool.reset_peaks()
    before = pool.stats()
    held = [backend.allocate(1 << 16) for _ in range(3)]
    assert pool.allocated - before["allocated_bytes"] == 3 << 16
    assert pool.reserved - before["reserved_bytes"] == 3 * ((1 << 16) + VECTOR)
    held.clear()
    after = pool.stats()
    assert after["allocated_bytes"] == before["allocated_bytes"]
    assert after["peak_allocated_bytes"] - before["allocated_bytes"] == 3 << 16
    assert after["requests"] - before["requests"] == 3
    pool.release_cached()
    assert pool.reserved == before["reserved_bytes"]
    pool.reset_peaks()
    assert pool.peak_allocated == pool.allocated and pool.peak_reserved == pool.reserved


def test_a_dropped_stream_returns_its_memory(backend: Backend) -> None:
    from ftensor.runtime.stream import DeviceStream

    before = backend.pool.reserved
    side = DeviceStream(backend)
    storage = backend.allocate(1 << 16, side)
    del side
    assert backend.pool.reserved > before
    del storage
    gc.collect()
    assert backend.pool.reserved == before


def test_exceeding_the_limit_is_out_of_memory(backend: Backend) -> None:
    pool = backend.pool
    pool.limit = pool.reserved + (1 << 20)
    kept = backend.allocate(1 << 19)
    with pytest.raises(ft.OutOfMemoryError) as caught:
        backend.allocate(1 << 20)
    message = str(caught.value)
    for fact in (str(1 << 20), str(pool.allocated), str(pool.reserved), str(pool.limit)):
        assert fact in message
    assert kept.nbytes == 1 << 19 and pool.stats()["out_of_memory"] >= 1


def test_cached_blocks_are_released_before_out_of_memory(backend: Backend) -> None:
    pool = backend.pool
    pool.limit = pool.reserved + (1 << 20)
    retries = pool.retries
    held = [backend.allocate(1 << 17) for _ in range(6)]
    held.clear()
    assert backend.allocate(1 << 19).nbytes == 1 << 19
    assert pool.retries == retries + 1


def test_exceeding_the_machines_memory_is_out_of_memory(backend: Backend) -> None:
    backend.pool.limit = 2**62
    with pytest.raises(ft.OutOfMemoryError):
        backend.allocate(2**60)


@pytest.mark.parametrize("text", ["many", "-1", "0", "1.5"])
def test_invalid_limit(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    from ftensor.runtime.pool import _limit_from_environment

    monkeypatch.setenv("FTENSOR_MEMORY_LIMIT", text)
    with pytest.raises(ValueError, match="FTENSOR_MEMORY_LIMIT"):
        _limit_from_environment()
    monkeypatch.setenv("FTENSOR_MEMORY_LIMIT", "1048576")
    assert _limit_from_environment() == 1048576


def test_object_without_init_is_deleted_quietly() -> None:
    """Ctrl-C may come between `__new__` and `__init__`. An exception in `__del__` would fail this
    test."""
    Storage.__new__(Storage)
