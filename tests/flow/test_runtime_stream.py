"""Streams and events: order within a stream, waits between streams, and memory used by several
streams."""

from __future__ import annotations

import gc
import time
import weakref

import numpy as np
import pytest

from ftensor.runtime.backend import Backend
from ftensor.runtime.opencl.backend import OpenCLBackend
from ftensor.runtime.stream import DeviceStream, Event

from .build_flow import wait_for
from .runtime_kernels import add_kernel, all_backends, download, slow_kernel, upload

ROUNDS = 5_000_000  # of the slow kernel: some ten milliseconds


@pytest.fixture(scope="module", params=list(all_backends()))
def backend(request: pytest.FixtureRequest) -> Backend:
    opened: Backend = all_backends()[request.param]()
    return opened


def test_stream_waits_for_another(backend: Backend) -> None:
    slow, add = slow_kernel(backend), add_kernel(backend)
    here, side = backend.default_stream, DeviceStream(backend)
    x, out = backend.allocate(64), backend.allocate(64)
    for turn in range(3):
        slow(side, 1, x.handle, float(turn), ROUNDS, 16)
        here.wait_stream(side)
        add(here, 1, x.handle, x.handle, out.handle, 16)
        assert (download(backend, out, 16) == 2 * turn).all()


def test_stream_waits_only_for_an_event(backend: Backend) -> None:
    slow, add = slow_kernel(backend), add_kernel(backend)
    here, side = backend.default_stream, DeviceStream(backend)
    x, out = backend.allocate(64), backend.allocate(64)
    slow(side, 1, x.handle, 3.0, ROUNDS, 16)
    event = side.record_event()
    here.wait_event(event)
    add(here, 1, x.handle, x.handle, out.handle, 16)
    here.synchronize()
    assert event.query()
    assert (download(backend, out, 16) == 6).all()


def test_query_and_synchronize(backend: Backend) -> None:
    stream, x = DeviceStream(backend), backend.allocate(64)
    assert stream.query()
    slow, gate = slow_kernel(backend), None
    if isinstance(backend, OpenCLBackend):
        gate = backend.cl.UserEvent(backend.context)
        backend.cl.enqueue_barrier(stream.queue, wait_for=[gate])
    slow(stream, 1, x.handle, 1.0, ROUNDS, 16)
    event = stream.record_event()
    if gate is not None:
        assert not stream.query() and not event.query()
        gate.set_status(backend.cl.command_execution_status.COMPLETE)
    wait_for(event.query)  # it becomes true without a wait
    wait_for(stream.query)
    assert stream.idle()
    event.synchronize()


def test_elapsed_time_between_events(backend: Backend) -> None:
    stream, x = backend.default_stream, backend.allocate(64)
    slow = slow_kernel(backend)
    alone = []
    for _ in range(4):  # one of them on its own processor
        began = time.perf_counter()
        slow(stream, 1, x.handle, 1.0, 4 * ROUNDS, 16)
        stream.synchronize()
        alone.append((time.perf_counter() - began) * 1e3)
    start, end = Event(enable_timing=True), Event(enable_timing=True)
    began = time.perf_counter()
    start.record(stream)
    slow(stream, 1, x.handle, 1.0, 4 * ROUNDS, 16)
    end.record(stream)
    end.synchronize()
    host = (time.perf_counter() - began) * 1e3
    assert 0.05 * min(alone) < start.elapsed_time(end) <= 1.5 * host
    assert end.elapsed_time(start) == -start.elapsed_time(end)


def test_elapsed_time_needs_two_recorded_timed_events(backend: Backend) -> None:
    stream = backend.default_stream
    timed, plain = Event(enable_timing=True), Event()
    with pytest.raises(RuntimeError, match="record"):
        timed.elapsed_time(Event(enable_timing=True))
    timed.record(stream)
    plain.record(stream)
    with pytest.raises(RuntimeError, match="enable_timing"):
        timed.elapsed_time(plain)


def test_block_in_use_by_another_stream_is_not_overwritten(backend: Backend) -> None:
    slow, add = slow_kernel(backend), add_kernel(backend)
    here, side = backend.default_stream, DeviceStream(backend)
    x, out = upload(backend, np.ones(16, np.float32)), backend.allocate(64)
    backend.synchronize()
    block = x.block
    # The side stream reads x late. x is freed, and its own stream rewrites the block at once.
    slow(side, 1, out.handle, 1.0, ROUNDS, 16)
    add(side, 1, x.handle, out.handle, out.handle, 16)
    side.use(x)
    side.use(out)
    del x
    again = backend.allocate(64, here)
    assert again.block is block
    slow(here, 1, again.handle, 50.0, 1, 16)
    assert (download(backend, out, 16) == 2).all()


def test_each_thread_has_its_current_stream(backend: Backend) -> None:
    import threading

    side, seen = DeviceStream(backend), []
    backend.set_current_stream(side)
    thread = threading.Thread(target=lambda: seen.append(backend.current_stream()))
    thread.start()
    thread.join()
    assert backend.current_stream() is side
    assert backend.allocate(4).stream is side
    backend.set_current_stream(backend.default_stream)
    assert seen == [backend.default_stream]


def test_dropped_stream_finishes_its_work(backend: Backend) -> None:
    side, out = DeviceStream(backend), backend.allocate(64)
    temporary = backend.allocate(64, side)
    slow = slow_kernel(backend)
    slow(side, 1, temporary.handle, 1.0, ROUNDS, 16)
    slow(side, 1, out.handle, 2.0, 1, 16)
    del temporary, side
    gc.collect()
    assert (download(backend, out, 16) == 2).all()


def test_long_lived_storage_keeps_no_stream_alive(backend: Backend) -> None:
    add, x, out = add_kernel(backend), backend.allocate(64), backend.allocate(64)
    seen = []
    for _ in range(20):
        stream = DeviceStream(backend)
        for storage in (x, out):
            stream.use(storage)
        add(stream, 1, x.handle, x.handle, out.handle, 16)
        seen.append(weakref.ref(stream))
    del stream
    gc.collect()
    assert [ref for ref in seen if ref() is not None] == []
    x.synchronize()  # nothing is left to wait for on dropped streams
    assert not x.users
