"""Base class of all devices: memory, kernels and streams; and a thread's view of a device as
another one."""

from __future__ import annotations

import ctypes
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from threading import get_ident
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import lifetime
from .interfaces import CompiledKernel, DeviceProperties, DropsCache, Executor, KernelSource, Prebuilt, UserKernel
from .launch_cache import KernelTable, KeyedLocks, LaunchTable, Tables
from .poison import poisoned
from .pool import POISON, Block, MemoryPool, Storage
from .stream import CurrentStream, DeviceStream

if TYPE_CHECKING:
    from pathlib import Path

    from ..image.file import ImageFile
    from ..kernels.user_kernels import UserKernelKey
    from .interfaces import KernelCall
    from .opencl.launch import UserProgram
    from .targets import Target
    from .xrt.deferred import DeferredLaunches


class Backend(ABC):
    """An opened device: its memory, kernels and streams."""

    target: Target
    # Kernels that were built ahead; None if the device compiles kernels on first use.
    images: Prebuilt | None = None
    # Defers launches until their kernels are built; None if the device doesn't build in batches.
    deferred_launches: DeferredLaunches | None = None
    # A list while ftensor/warm collects programs: kernels are recorded here and compute nothing.
    noted: list[KernelSource] | None = None
    properties: DeviceProperties
    host_shared: bool
    # The alignment, in bytes, that foreign memory needs to be adopted without a copy. The alignment
    # of the element's own dtype is always needed, too.
    adopt_alignment: int = 1
    # True if small launches may run in the calling thread while the stream is idle.
    inline: bool = False
    # True if a stream's queue is pyopencl's and a program may use it.
    has_opencl_queues: bool = False
    # The cache's name for this family's tuned thresholds; "" if they are not measured.
    tuned_as: str = ""

    def __init__(self, target: Target, properties: DeviceProperties, host_shared: bool) -> None:
        self.target = target
        self.dialect: str = target.dialect
        self.properties = properties
        self.host_shared = host_shared
        self.units: int = max(1, target.units_per_cu * properties.multi_processor_count)
        # Two tables for the layers above: launches by geometry, kernels by key.
        self.launches = LaunchTable(self.synchronize)
        self.kernels: dict[Any, Any] = KernelTable(self.forget_launches)
        self.making = KeyedLocks()
        self._overrides_by_thread: dict[int, PreparedTarget] = {}  # in override_target
        # Users' own kernels by key, while a user holds them.
        self.user_kernels: weakref.WeakValueDictionary[Any, CompiledKernel] = weakref.WeakValueDictionary()
        # Derived copies of storages' bytes (packed weights, say), dropped when memory runs short.
        self._caches: weakref.WeakSet[DropsCache] = weakref.WeakSet()
        self.executor: Executor | None = None  # intercepts launches and copies, if set
        self.lock = threading.RLock()
        self.closed = False
        # The live streams by id. A dict, since iterating a WeakSet takes microseconds and every
        # wait for the device iterates.
        self.streams: dict[int, weakref.ref[DeviceStream]] = {}
        self.pool = poisoned(MemoryPool(self, properties.total_memory, self._make_memory))
        self.default_stream = DeviceStream(self)
        self.tables = Tables(self)
        self._current = CurrentStream(self.default_stream)
        lifetime.register_backend(self)

    @property
    def built_ahead(self) -> bool:
        """True if the device is a board by its target, or takes its kernels from images."""
        return self.target.is_board or self.images is not None

    def forked(self) -> None:
        """Called in a forked child. Renews the locks, which suffices for a device without a runtime
        of its own; other devices override this."""
        self.lock = threading.RLock()
        self.pool.lock = threading.RLock()
        self.making = KeyedLocks()

    def close(self) -> None:
        """Called at the interpreter's exit. Afterwards other threads block when they use the
        device, and the exiting thread waits for each command."""
        self.closed = True
        for stream in self.all_streams():
            stream.close()
        self.pool.close()

    # Streams

    def current_stream(self) -> DeviceStream:
        """Returns the stream to which the calling thread enqueues."""
        return self._current.stream

    def set_current_stream(self, stream: DeviceStream) -> None:
        """Makes `stream` the stream to which the calling thread enqueues."""
        assert stream.backend is self, "a stream of another device"
        self._current.stream = stream

    def add_stream(self, stream: DeviceStream) -> None:
        """Adds a new stream to `streams`; the stream calls this itself."""
        held, number = self.streams, id(stream)
        held[number] = weakref.ref(stream, lambda gone: held.pop(number, None))
        if self.closed:
            stream.close()

    def synchronize(self) -> list[DeviceStream]:
        """Waits for all commands on all streams of this device, and returns the streams."""
        streams = self.all_streams()
        for stream in streams:
            stream.finish()
        self.pool.reap()
        return streams

    def settle(self) -> None:
        """Enqueues the deferred launches. Raises nothing: the next wait for a stream raises the
        errors of its launches."""
        if self.deferred_launches is not None:
            self.deferred_launches.settle()

    def forget_launches(self) -> None:
        """Drops all cached launches. Waits first, since commands in flight may use their geometry
        buffers."""
        self.synchronize()
        self.launches.clear()

    @contextmanager
    def preparing_for(
        self, target: Target, units: int, host_shared: bool, every_thread: bool = False
    ) -> Iterator[None]:
        """Inside the block, launches are prepared as for a device of family `target`, with `units`
        compute units and with or without memory shared with the host.

        This applies to the calling thread, with `every_thread` to all threads.
        """
        seen = PreparedTarget(target, units, host_shared, LaunchTable(self.synchronize))
        with override_target(self, seen, every_thread):
            yield

    def all_streams(self) -> list[DeviceStream]:
        """Returns the live streams."""
        held = tuple(self.streams.values())
        return [stream for reference in held if (stream := reference()) is not None]

    # Kernels that were built ahead

    def load_image(self, path: str | Path) -> ImageFile:
        """Loads an image and makes it the active one. Raises ImageError if the device takes
        none."""
        from ..errors.image import no_images_here

        raise no_images_here(self.properties.name)

    # Kernels of users' own

    def user_kernel_of_image(self, file: ImageFile, key: UserKernelKey) -> UserKernel:
        """Returns a kernel of a user's image. Raises RuntimeError if the device takes no images."""
        from ..errors.image import no_image_here

        raise no_image_here(self.properties.name, file.name)

    def user_program(self, source: str, options: Sequence[str]) -> UserProgram:
        """Compiles a user's OpenCL C. Raises RuntimeError if the device can't."""
        from ..errors.image import no_opencl_here

        raise no_opencl_here(self.properties.name)

    # Memory

    def allocate(self, nbytes: int, stream: DeviceStream | None = None, lasting: bool = False) -> Storage:
        """Returns a storage of `nbytes` bytes on `stream`, by default the current stream."""
        stream = stream or self._current.stream
        if self.executor is None:
            return self.pool.take(nbytes, stream)
        return self.executor.allocate(self, nbytes, stream, lasting)

    def poison(self, storage: Storage, nbytes: int) -> None:
        """Fills newly allocated memory in the order of its stream (FTENSOR_POISON)."""
        assert storage.ptr is not None
        ctypes.memset(storage.ptr, POISON, nbytes)

    def allocate_lasting(self, nbytes: int) -> Storage:
        """Allocates on the default stream, for memory that outlives the current stream."""
        storage = self.allocate(nbytes, self.default_stream, lasting=True)
        # The default stream may still be using the block, or filling it (FTENSOR_POISON).
        self._current.stream.wait_stream(self.default_stream)
        return storage

    def track_cache(self, kept: DropsCache) -> None:
        """Registers a derived copy of a storage's bytes, so that `drop_caches` can drop it."""
        with self.lock:
            self._caches.add(kept)

    def drop_caches(self) -> bool:
        """Drops all derived copies that `track_cache` registered, such as packed weights; they are
        recomputed at their next use. Returns True if this freed memory."""
        with self.lock:
            all_kept = list(self._caches)
            self._caches.clear()
        return sum(kept.drop() for kept in all_kept) > 0

    def adopt(self, ptr: int, nbytes: int, owner: object, readonly: bool = False) -> Storage:
        """Wraps foreign host memory in a storage without a copy; `owner` keeps that memory
        alive."""
        assert self.host_shared, f"{self.properties.name} does not share host memory"
        assert ptr % self.adopt_alignment == 0, f"{ptr:#x} is not aligned for {self.target.name}"
        handle, memory = self._wrap_host(ptr, nbytes, readonly)
        block = Block(self.pool, nbytes, handle, ptr, memory)
        return self.pool.adopt(block, self._current.stream, owner, readonly)

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies a C-contiguous array into a storage. The caller may change the array
        afterwards."""
        assert array.flags.c_contiguous, "upload takes a C-contiguous array"
        assert 0 <= byte_offset <= storage.nbytes - array.nbytes, "upload outside the storage"
        if array.nbytes:
            storage.changed()
            take = self._upload if self.executor is None else self.executor.upload
            take(storage, byte_offset, array)
            storage.changed()  # only now: another thread may have read the memory before the write
            if storage.visible:
                self._current.stream.finish()

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Fills a C-contiguous array from a storage, after all commands that use the storage."""
        assert array.flags.c_contiguous, "download fills a C-contiguous array"
        assert 0 <= byte_offset <= storage.nbytes - array.nbytes, "download outside the storage"
        self._current.stream.synchronize()
        storage.synchronize()
        self.fetch(storage, byte_offset, array)

    def fetch(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Like `download`, but does not wait: no unfinished command may use the storage."""
        if array.nbytes:
            take = self._download if self.executor is None else self.executor.download
            take(storage, byte_offset, array)

    # Methods of each kind of device

    @abstractmethod
    def build(self, source: str, entry: str, params: Sequence[str], options: tuple[str, ...] = ()) -> CompiledKernel:
        """Compiles one kernel, or loads it from the disk cache.

        `params` lists the kernel arguments in order: "*" for a pointer, or the C name of a
        scalar: char uchar short ushort int uint long ulong float double.
        """

    def note(self, source: str, entry: str, params: Sequence[str]) -> CompiledKernel:
        """Replaces `build` while `noted` is set: records the program and returns a kernel that does
        nothing."""
        assert self.noted is not None
        self.noted.append(KernelSource(source, entry, tuple(params)))
        return _nothing

    def prepare_calls(self, calls: Sequence[KernelCall]) -> Callable[[DeviceStream], None]:
        """Returns a function that enqueues the calls on a stream, one after the other."""

        def enqueue(stream: DeviceStream) -> None:
            for call in calls:
                call.enqueue(stream)

        return enqueue

    def bank(self, storage: Storage) -> str | None:
        """Returns the memory bank that holds a storage's bytes; None if no bank does yet, or if the
        device has one memory."""
        return None

    def has_built(self, program: KernelSource) -> bool:
        """Returns True if the disk cache holds the program."""
        return False

    def build_together(self, source: str, programs: Sequence[KernelSource]) -> None:
        """Fills the disk cache with `programs`; `source` is their combined text."""
        for program in programs:
            self.build(*program)

    @abstractmethod
    def _make_memory(self, nbytes: int) -> tuple[Any, int | None, object] | None:
        """Returns (handle, host address, keeper) of new memory, or None if memory is exhausted. The
        keeper is an object that keeps the memory alive."""

    @abstractmethod
    def _wrap_host(self, ptr: int, nbytes: int, readonly: bool) -> tuple[Any, object]:
        """Returns (handle, keeper) for host memory at an address."""

    def _upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copies an array into a storage in host memory, which no command uses now."""
        assert storage.ptr is not None
        np.copyto(host_bytes(storage.ptr + byte_offset, array.nbytes), array.reshape(-1).view(np.uint8))

    def _download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Fills an array from a storage in host memory, which no command uses now."""
        assert storage.ptr is not None
        np.copyto(array.reshape(-1).view(np.uint8), host_bytes(storage.ptr + byte_offset, array.nbytes))

    @abstractmethod
    def make_queue(self) -> Any:
        """Returns a new in-order queue of the device."""

    @abstractmethod
    def finish(self, queue: Any) -> None:
        """Waits for a queue."""

    @abstractmethod
    def make_marker(self, queue: Any) -> Any:
        """Returns an event that completes after all commands in the queue."""

    @abstractmethod
    def marker_done(self, marker: Any) -> bool:
        """Returns True if the marker's event is complete."""

    @abstractmethod
    def finish_marker(self, marker: Any) -> None:
        """Waits for a marker."""

    @abstractmethod
    def wait_marker(self, queue: Any, marker: Any, origin: Backend | None) -> None:
        """Makes later commands of a queue wait for a marker, which may belong to another device."""

    @abstractmethod
    def make_timing(self, marker: Any) -> Any:
        """Returns an object from which `timing_ns` reads the marker's completion time."""

    @abstractmethod
    def timing_ns(self, timing: Any) -> int:
        """Returns the marker's completion time in nanoseconds. The marker must be complete."""


def _nothing(stream: Any, units: int, /, *args: Any) -> None:
    """Does nothing: replaces a kernel that was only recorded."""


def host_memory(nbytes: int) -> tuple[int, np.ndarray]:
    """Returns the address and bytes of new host memory, aligned for a device's memory port."""
    alignment = 4096 if nbytes >= 4096 else 64
    memory = np.empty(nbytes + alignment, np.uint8)
    address: int = memory.__array_interface__["data"][0]
    skipped = -address % alignment
    return address + skipped, memory[skipped : skipped + nbytes]


def host_bytes(ptr: int, nbytes: int) -> np.ndarray:
    """Returns the bytes at a host address as an array that does not own them."""
    return np.frombuffer(memoryview((ctypes.c_ubyte * nbytes).from_address(ptr)), np.uint8)


class PreparedTarget(NamedTuple):
    """The device properties on which launches depend, and the table of launches prepared for
    them."""

    target: Target
    units: int
    host_shared: bool
    launches: LaunchTable


@contextmanager
def override_target(backend: Backend, seen: PreparedTarget, every_thread: bool) -> Iterator[None]:
    """Inside the block, this thread (with `every_thread`, all threads) sees the device properties
    `seen`.

    Every op reads these fields, so outside of such blocks they are plain attributes. During a
    block, the device's class is a subclass that looks up the thread first.
    """
    fields, thread = backend.__dict__, get_ident()
    with backend.lock:
        overrides = backend._overrides_by_thread
        if not overrides:
            backend.__class__ = _by_thread(type(backend))
        before = overrides.get(thread)
        overrides[thread] = seen
        kept = {name: fields[name] for name in PreparedTarget._fields}
        if every_thread:
            fields.update(seen._asdict())
    try:
        yield
    finally:
        with backend.lock:
            if every_thread:
                fields.update(kept)
            if before is None:
                del overrides[thread]
            else:
                overrides[thread] = before
            if not overrides:
                backend.__class__ = type(backend).__bases__[0]


@cache
def _by_thread(kind: type[Backend]) -> type[Backend]:
    fields = {name: _field(name) for name in PreparedTarget._fields}
    meta: Any = type(kind)
    return meta(kind.__name__, (kind,), {"__module__": kind.__module__, **fields})


def _field(name: str) -> Any:
    def get(backend: Backend) -> Any:
        seen = backend._overrides_by_thread.get(get_ident())
        return backend.__dict__[name] if seen is None else getattr(seen, name)

    def put(backend: Backend, value: Any) -> None:
        others, me = backend._overrides_by_thread, get_ident()
        if me in others:
            others[me] = others[me]._replace(**{name: value})
        else:
            backend.__dict__[name] = value

    return property(get, put)
