"""Several threads on one device."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.launch import Launch
from ftensor.runtime.backend import CompiledKernel
from ftensor.runtime.launch_cache import LaunchTable

THREADS = 6


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Makes the interpreter switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], None], count: int = THREADS) -> None:
    """Runs `work(k)` in threads that start at the same time; raises the first failure."""
    start = threading.Barrier(count)
    failures: list[BaseException] = []

    def run(k: int) -> None:
        try:
            start.wait()
            work(k)
        except BaseException as failure:  # noqa: BLE001 - raised below, in the test's own thread
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive(), "a thread hangs"
    if failures:
        raise failures[0]


def values(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_threads_read_the_same_tensors() -> None:
    a, b = values(64, 33), values(33, seed=1)
    x, y = ft.from_numpy(a.copy()), ft.from_numpy(b.copy())

    def work(k: int) -> None:
        for turn in range(20):
            got = ((x + y) * (k + 1) - turn).t().sum(0)
            np.testing.assert_allclose(got.numpy(), ((a + b) * np.float32(k + 1) - turn).sum(1), rtol=1e-3, atol=1e-3)

    together(work)


def test_threads_write_their_own_parts_of_one_tensor() -> None:
    x = ft.zeros(THREADS, 100)

    def work(k: int) -> None:
        for _ in range(50):
            x[k].add_(k + 1)
            x[k, 10:20].mul_(1)

    together(work)
    expected = np.repeat(50.0 * np.arange(1, THREADS + 1)[:, None], 100, 1)
    np.testing.assert_array_equal(x.numpy(), expected)


def test_threads_with_streams_of_their_own() -> None:
    a = values(5000)
    x = ft.from_numpy(a.copy())
    results: list[ft.Tensor | None] = [None] * THREADS

    def work(k: int) -> None:
        stream = ft.fpga.Stream()
        with ft.fpga.stream(stream):
            assert ft.fpga.current_stream() is stream
            total = x.clone()
            for _ in range(30):
                total = total + x  # temporaries that this stream reuses at once
            results[k] = total * (k + 1)
        stream.synchronize()

    together(work)
    for k, t in enumerate(results):
        assert t is not None
        np.testing.assert_allclose(t.numpy(), 31 * a * (k + 1), rtol=1e-4)
        # The stream has ended or is idle, so all streams may use its tensors.
        np.testing.assert_allclose((t - t).numpy(), 0 * a)


def test_tensor_is_passed_between_streams() -> None:
    a = values(200_000)
    side = ft.fpga.Stream()
    for turn in range(20):
        x = ft.from_numpy(a.copy()) + turn
        with ft.fpga.stream(side):
            side.wait_stream(ft.fpga.default_stream())
            y = x * 2
            del x  # its memory may be reused only after `side` has read it
        other = [ft.full((200_000,), float("nan")) for _ in range(3)]
        ft.fpga.default_stream().wait_stream(side)
        np.testing.assert_allclose((y - 1).numpy(), (a + turn) * 2 - 1, rtol=1e-5, atol=1e-5)
        del other


@pytest.mark.parametrize("new", [False, True])
def test_launch_prepared_on_one_stream_runs_on_another(new: bool) -> None:
    """Its geometry buffer exists, though the first stream still has earlier work."""
    elements = 4_000_000 if default_backend().images is None else 400_000
    side, long = None if new else ft.fpga.Stream(), ft.ones(elements)
    for turn in range(5):
        x = ft.arange(7 * (300 + turn)).float().reshape(-1, 7)
        ft.synchronize()
        for _ in range(10):
            long = long.exp().log()
        x.t()[::2] + 1
        with ft.fpga.stream(side or ft.fpga.Stream()):
            y = x.t()[::2] + 1
            assert y[:, 299].tolist() == [7 * 299 + k + 1 for k in (0, 2, 4, 6)]


def test_preparing_for_another_device_affects_one_thread() -> None:
    backend, x = default_backend(), ft.ones(40)
    before = (backend.target, backend.units, backend.host_shared, backend.launches)
    seen: list[object] = []

    def other() -> None:
        seen.append((backend.target, backend.units, backend.host_shared, backend.launches))
        np.testing.assert_array_equal((x + 1).numpy(), 2 * np.ones(40, np.float32))

    for every in (False, True):
        with backend.preparing_for(backend.target.as_board(), 3, backend.host_shared, every):
            with backend.preparing_for(backend.target, 5, backend.host_shared):
                assert backend.units == 5
                backend.units = 7
                assert backend.units == 7
            mine = (backend.target, backend.units, backend.host_shared, backend.launches)
            assert mine[:2] == (before[0].as_board(), 3) and not mine[3]
            together(lambda k: other(), 1)
            # Compared by identity, since launch tables of equal content are equal.
            assert all(a is b for a, b in zip(seen.pop(), mine if every else before))
    after = (backend.target, backend.units, backend.host_shared, backend.launches)
    assert all(a is b for a, b in zip(after, before))


def test_allocated_memory_is_exact_after_threads() -> None:
    x = ft.from_numpy(values(300))
    gc.collect()
    ft.synchronize()
    before = ft.fpga.memory_allocated()

    def work(k: int) -> None:
        kept = []
        for turn in range(200):
            kept.append(x[: 1 + turn % 300] * k)
            if len(kept) > 10:
                kept.pop(turn % 10)
        del kept

    together(work)
    gc.collect()
    ft.synchronize()
    # Prepared launches keep their geometry tables, but no tensors.
    again = ft.fpga.memory_allocated()
    together(work)
    gc.collect()
    ft.synchronize()
    assert ft.fpga.memory_allocated() == again
    assert again - before <= 400 * 64
    stats = ft.fpga.memory_stats()
    assert stats["allocated_bytes.all.current"] <= stats["reserved_bytes.all.current"]


def test_failing_thread_does_not_affect_others() -> None:
    a = values(40)
    x, wrong = ft.from_numpy(a.copy()), ft.zeros(7)

    def work(k: int) -> None:
        for _ in range(30):
            if k % 2:
                with pytest.raises(RuntimeError):
                    x + wrong
                with pytest.raises(IndexError):
                    x.sum(3)
            else:
                np.testing.assert_array_equal((x + x).numpy(), a + a)

    together(work)


def test_threads_write_through_indices() -> None:
    x = ft.arange(100)

    def work(k: int) -> None:
        for _ in range(15):
            assert x[ft.tensor([k, 99 - k])].tolist() == [k, 99 - k]
            with pytest.raises(IndexError):
                x[ft.tensor([100 + k])]

    together(work)


# Small launches may run in the calling thread instead of the stream's queue, but never out of
# order.


@pytest.mark.parametrize("streams", [1, 2])
def test_small_launches_run_in_order(streams: int) -> None:
    """They mix with large launches in the queue, uploads, waits for another stream, and reads."""
    rng, side = np.random.default_rng(streams), ft.fpga.Stream()
    default, array = ft.fpga.default_stream(), values(300_000)
    x, expected = ft.from_numpy(array.copy()), array.copy()
    for turn in range(300):
        here = side if streams == 2 and turn % 3 == 0 else default
        here.wait_stream(default if here is side else side)
        with ft.fpga.stream(here):
            match int(rng.integers(5)):
                case 0:
                    x.mul_(-1)
                    expected *= -1
                case 1:
                    x[:100].add_(1)
                    expected[:100] += 1
                case 2:
                    x[50:5000:3].neg_()
                    expected[50:5000:3] *= -1
                case 3:
                    x[1000:1016].copy_(x[:16] * 1)
                    expected[1000:1016] = expected[:16]
                case _:
                    x[7:9].copy_(ft.tensor([float(turn), 0.5]))
                    expected[7:9] = turn, 0.5
            if turn % 7 == 0:
                assert x[7].item() == expected[7]
    ft.synchronize()
    np.testing.assert_array_equal(x.numpy(), expected)


def test_command_without_recorded_event_is_waited_for() -> None:
    """Ctrl-C may come between the enqueue of a command and the recording of its event."""
    x = ft.zeros(16)
    ft.synchronize()
    stream = x._storage.backend.current_stream()
    if not stream.backend.inline:
        pytest.skip("the device has no queue that runs in the calling thread")
    assert stream.query_finished()
    stream.forget_events()
    assert not stream.query_finished() and not stream.idle()
    x.add_(1)  # is enqueued after it
    assert not stream.query_finished()
    assert x.tolist() == [1.0] * 16
    assert stream.query_finished() and stream.idle()


def test_recorded_events_are_bounded() -> None:
    x = ft.zeros(200_000)
    stream = x._storage.backend.current_stream()
    for _ in range(5000):
        x.add_(1)
    assert len(stream.flying) <= 3 * 1024
    assert x[0].item() == 5000 and not stream.flying


def test_different_kernels_compile_concurrently_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = default_backend()
    if backend.images is not None:
        pytest.skip("the device takes images")
    backend.synchronize()
    monkeypatch.setattr(backend, "kernels", {})
    monkeypatch.setattr(backend, "launches", LaunchTable(backend.synchronize))
    built: list[str] = []
    build, both = backend.build, threading.Barrier(2)

    def waiting(source: str, entry: str, params: Sequence[str]) -> CompiledKernel:
        built.append(entry)
        both.wait()  # for the other kernel's compiler
        return build(source, entry, params)

    x = ft.from_numpy(values(64))
    monkeypatch.setattr(backend, "build", waiting)
    together(lambda k: (x + x if k % 2 else x * x).tolist(), 4)
    assert sorted(entry[:6] for entry in built) == ["ft_add", "ft_mul"]


def test_concurrent_trace_caches_no_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, launches = default_backend(), LaunchTable(default_backend().synchronize)
    a = values(7, 5)
    x, noted = ft.from_numpy(a), list[Hashable]()
    backend.synchronize()

    def late(key: Hashable, entry: Any) -> Any:
        if type(entry) is Launch and not noted:
            noted.append(key)
            trace = threading.Thread(target=ft.jit(ft.neg).graph, args=(x,))
            trace.start()
            trace.join()
            assert launches.get(key) is None  # launches of a trace have no kernels
        return LaunchTable.keep(launches, key, entry)

    monkeypatch.setattr(launches, "keep", late)
    monkeypatch.setattr(backend, "launches", launches)
    for _ in range(2):
        np.testing.assert_array_equal((-x).numpy(), -a)
    assert noted
