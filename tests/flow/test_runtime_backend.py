"""Memory, kernels and copies, on every device of this machine."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from ftensor.runtime.backend import Backend

from .runtime_kernels import add_kernel, all_backends, download, slow_kernel, source, upload, values


@pytest.fixture(scope="module", params=list(all_backends()))
def backend(request: pytest.FixtureRequest) -> Backend:
    opened: Backend = all_backends()[request.param]()
    return opened


class Owner:
    """Foreign memory: an array with an observable lifetime."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


def shared(backend: Backend) -> Backend:
    if not backend.host_shared:
        pytest.skip("the device has a memory of its own")
    return backend


@pytest.mark.parametrize("count", [1, 15, 16, 17, 100_003])
def test_kernel_computes(backend: Backend, count: int) -> None:
    a, b = values(count, 1), values(count, 2)
    x, y, out = upload(backend, a), upload(backend, b), backend.allocate(4 * count)
    kernel = add_kernel(backend)
    for units in (1, backend.units, 7):
        backend.upload(out, 0, np.zeros(count, np.float32))
        kernel(backend.current_stream(), units, x.handle, y.handle, out.handle, count)
        np.testing.assert_array_equal(download(backend, out, count), a + b)


def test_scalars_of_every_type_are_passed_exactly(backend: Backend) -> None:
    types = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double"]
    numpy_types = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
    if not backend.properties.has_float64:
        pytest.skip("no float64")
    params = ", ".join(f"{t} v{i}" for i, t in enumerate(types))
    stores = " ".join(f"whole[{i}] = v{i};" for i in range(8))
    text = source(
        backend,
        "scalars",
        f"OUT(ulong, whole), OUT(double, real), long n, {params}",
        f"if (unit == 0) {{ {stores} real[0] = v8; real[1] = v9; }}",
    )
    kernel = backend.build(text, "scalars", ["*", "*", "long", *types])
    for bound in ("min", "max"):
        limits = [int(getattr(np.iinfo(t), bound)) for t in numpy_types]
        reals = [float(np.finfo(np.float32).tiny), -1.7976931348623157e308]
        whole, real = backend.allocate(64), backend.allocate(16)
        kernel(backend.current_stream(), 1, whole.handle, real.handle, 1, *limits, *reals)
        got = np.empty(8, np.uint64)
        backend.download(whole, 0, got)
        assert [int(v) for v in got] == [v % 2**64 for v in limits]
        got_real = np.empty(2)
        backend.download(real, 0, got_real)
        assert list(got_real) == reals


def test_copies_at_offsets_keep_the_rest(backend: Backend) -> None:
    storage = upload(backend, np.arange(100, dtype=np.uint8))
    backend.upload(storage, 7, np.full((3, 5), 255, np.uint8))
    part, expected = np.empty(40, np.uint8), np.arange(100, dtype=np.uint8)
    expected[7:22] = 255
    backend.download(storage, 3, part)
    np.testing.assert_array_equal(part, expected[3:43])


def test_uploaded_array_may_change_at_once(backend: Backend) -> None:
    kernel, stream = slow_kernel(backend), backend.current_stream()
    busy = backend.allocate(64)
    for count in (16, 1 << 20):
        kernel(stream, 1, busy.handle, 1.0, 2_000_000, 16)
        array = np.ones(count, np.float32)
        storage = upload(backend, array)
        array[:] = 2
        assert (download(backend, storage, count) == 1).all()


def test_upload_waits_for_pending_reads(backend: Backend) -> None:
    slow, add, stream = slow_kernel(backend), add_kernel(backend), backend.current_stream()
    x, out = upload(backend, np.ones(16, np.float32)), backend.allocate(64)
    slow(stream, 1, out.handle, 3.0, 3_000_000, 16)
    add(stream, 1, x.handle, out.handle, out.handle, 16)
    backend.upload(x, 0, np.full(16, 100, np.float32))
    assert (download(backend, out, 16) == 4).all()


def test_zero_bytes(backend: Backend) -> None:
    storage = backend.allocate(0)
    backend.upload(storage, 0, np.empty((0, 3), np.float32))
    backend.download(storage, 0, np.empty(0, np.float32))
    assert storage.nbytes == 0
    if backend.host_shared:
        empty = backend.adopt(0, 0, owner=object())
        assert empty.nbytes == 0 and empty.handle is not None


def test_compile_error_names_the_kernel(backend: Backend) -> None:
    text = source(backend, "broken", "OUT(float, o), long n", "this is no C;")
    with pytest.raises(RuntimeError, match="broken") as caught:
        backend.build(text, "broken", ["*", "long"])
    assert "this is no C" in str(caught.value) and backend.properties.name in str(caught.value)


@pytest.mark.parametrize("offset", [0, 4, 8, 12, 32, 60, 64, 2048, 4092])
def test_adopted_memory_is_used_at_any_alignment(backend: Backend, offset: int) -> None:
    shared(backend)
    room = np.zeros(16384, np.uint8)
    start = -room.ctypes.data % 4096 + offset
    mine = room[start : start + 400].view(np.float32)
    mine[:] = values(100)
    expected = mine + mine
    storage = backend.adopt(mine.ctypes.data, mine.nbytes, owner=room)
    assert storage.ptr == mine.ctypes.data and storage.owner is room
    kernel = add_kernel(backend)
    kernel(backend.current_stream(), 2, storage.handle, storage.handle, storage.handle, 100)
    backend.synchronize()
    np.testing.assert_array_equal(mine, expected)
    untouched = room.copy()
    untouched[start : start + 400] = 0
    assert not untouched.any()


def test_read_only_memory_can_be_adopted(backend: Backend) -> None:
    shared(backend)
    import mmap

    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ)
    array = np.frombuffer(page, np.float32, 16)
    storage = backend.adopt(array.ctypes.data, 64, owner=page, readonly=True)
    assert storage.readonly
    one, out = upload(backend, np.ones(16, np.float32)), backend.allocate(64)
    kernel = add_kernel(backend)
    kernel(backend.current_stream(), 1, storage.handle, one.handle, out.handle, 16)
    assert (download(backend, out, 16) == 1).all()


def test_adopted_memory_outlives_pending_work(backend: Backend) -> None:
    shared(backend)
    owner = Owner(np.zeros(16, np.float32))
    watch, address = weakref.ref(owner), owner.array.ctypes.data
    storage = backend.adopt(address, 64, owner=owner)
    done = threading.Event()
    weakref.finalize(owner, done.set)
    del owner
    slow_kernel(backend)(backend.current_stream(), 1, storage.handle, 1.0, 5_000_000, 16)
    gc.collect()
    assert watch() is not None
    if backend.target.kind != "csim":  # if work is never pending
        del storage
        assert not done.is_set()
    else:
        del storage
    backend.synchronize()
    gc.collect()
    assert done.is_set()


def test_memory_is_aligned_and_padded(backend: Backend) -> None:
    shared(backend)
    for nbytes in (1, 63, 64, 65, 4000, 4096, 100_000, 1 << 20):
        storage = backend.allocate(nbytes)
        assert storage.ptr is not None
        assert storage.ptr % (4096 if nbytes >= 4096 else 64) == 0
        assert storage.nbytes == nbytes <= storage.block.size


def test_threads_share_a_kernel(backend: Backend) -> None:
    kernel, failures = add_kernel(backend), []
    gc.collect()  # what other tests have left
    before = backend.pool.allocated

    def work(seed: int) -> None:
        a = values(64, seed)
        x = upload(backend, a)
        for turn in range(100):
            out = backend.allocate(256)
            kernel(backend.current_stream(), 2, x.handle, x.handle, out.handle, 64)
            if turn % 10 == 0 and (download(backend, out, 64) != a + a).any():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    gc.collect()
    assert backend.pool.allocated == before


def test_long_sequence_of_launches_is_bounded(backend: Backend) -> None:
    kernel, stream = add_kernel(backend), backend.current_stream()
    x, out = upload(backend, values(16)), backend.allocate(64)
    backend.synchronize()
    for _ in range(5000):
        kernel(stream, 1, x.handle, x.handle, out.handle, 16)
    # The count of finished commands advances without a wait for the stream.
    assert stream.launched - stream.finished <= 2048
    backend.synchronize()
    assert stream.idle()
