"""What every device can do: memory, kernels, streams; OpenCL and C simulation fill it in."""

from __future__ import annotations

import ctypes
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from . import lifetime
from .interfaces import CompiledKernel, DeviceProperties, Executor, Keeps, KernelSource, OwnKernel, Prebuilt
from .launch_cache import KernelTable, KeyedLocks, LaunchTable, Tables
from .pool import POISON, Block, MemoryPool, poisoned
from .storage import Storage
from .stream import CurrentStream, DeviceStream
from .thread_view import As, prepared_as

if TYPE_CHECKING:
    from pathlib import Path

    from ..image.file import ImageFile
    from ..kernels.user_kernels import OwnKey
    from .opencl.launch import OwnProgram
    from .targets import Target
    from .xrt.deferred import DeferredLaunches


class Backend(ABC):
    """One opened device."""

    target: Target
    # Where kernels come from; None where they are compiled when they are needed.
    images: Prebuilt | None = None
    # Who puts launches off until their kernels are built, where that is done many at a time.
    deferred_launches: DeferredLaunches | None = None
    # While programs are only wanted (ftensor/warm): they are noted here, and no kernel computes.
    noted: list[KernelSource] | None = None
    properties: DeviceProperties
    host_shared: bool
    # The alignment, in bytes, that foreign memory needs to be adopted without a copy; an
    # element's own alignment is always needed.
    adopt_alignment: int = 1
    # Whether small launches may run in the calling thread, beside a stream that has nothing to do.
    inline: bool = False
    # What the cache calls its family's thresholds; "" where these are not measured.
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
        self._seen_by_thread: dict[int, As] = {}  # in thread_view.py
        # The kernels of users' own that somebody holds, by key.
        self.own: weakref.WeakValueDictionary[Any, CompiledKernel] = weakref.WeakValueDictionary()
        # What is kept of storages' bytes, and goes where memory is wanted.
        self._kept: weakref.WeakSet[Keeps] = weakref.WeakSet()
        self.executor: Executor | None = None  # who stands at the door, if anybody does
        self.lock = threading.RLock()
        self.closed = False
        # The streams that somebody holds, by id: a WeakSet takes microseconds to go through, and
        # each wait for the device does.
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
        """In a forked child: a device that is no more than calls goes on, others override this."""
        self.lock = threading.RLock()
        self.pool.lock = threading.RLock()
        self.making = KeyedLocks()

    def close(self) -> None:
        """The interpreter exits: threads other than this one wait for its end from now on, and this
        one for each command."""
        self.closed = True
        for stream in self.all_streams():
            stream.close()
        self.pool.close()

    # Streams

    def current_stream(self) -> DeviceStream:
        """The stream that this thread enqueues to."""
        return self._current.stream

    def set_current_stream(self, stream: DeviceStream) -> None:
        """Let this thread enqueue to `stream` from now on."""
        assert stream.backend is self, "a stream of another device"
        self._current.stream = stream

    def register_stream(self, stream: DeviceStream) -> None:
        """Called by a new stream."""
        held, number = self.streams, id(stream)
        held[number] = weakref.ref(stream, lambda gone: held.pop(number, None))
        if self.closed:
            stream.close()

    def synchronize(self) -> list[DeviceStream]:
        """Wait for everything enqueued on any stream of this device; the streams."""
        streams = self.all_streams()
        for stream in streams:
            stream.finish()
        self.pool.reap()
        return streams

    def settle(self) -> None:
        """Enqueue what was put off. Nothing is raised: what fails is told by the next wait for its
        stream."""
        if self.deferred_launches is not None:
            self.deferred_launches.settle()

    def forget_launches(self) -> None:
        """Have all launches prepared again; what is in flight may be using their geometry."""
        self.synchronize()
        self.launches.clear()

    @contextmanager
    def preparing_for(
        self, target: Target, units: int, host_shared: bool, every_thread: bool = False
    ) -> Iterator[None]:
        """Inside the block, prepare launches as for another device: of so many units, of another
        family, of memory that the host shares or not. Other threads go on as they were, unless what
        `every_thread` does is asked about."""
        seen = As(target, units, host_shared, LaunchTable(self.synchronize))
        with prepared_as(self, seen, every_thread):
            yield

    def all_streams(self) -> list[DeviceStream]:
        """The streams that somebody holds."""
        held = tuple(self.streams.values())
        return [stream for reference in held if (stream := reference()) is not None]

    # Kernels that were built ahead

    def load_image(self, path: str | Path) -> ImageFile:
        """Add an image and make it the active one; ImageError where the device takes none."""
        from ..errors.image import no_images_here

        raise no_images_here(self.properties.name)

    # Kernels of users' own

    def user_kernel_of_image(self, file: ImageFile, key: OwnKey) -> OwnKernel:
        """A kernel of an image that anybody made; RuntimeError where the device takes none."""
        from ..errors.image import no_image_here

        raise no_image_here(self.properties.name, file.name)

    def user_program(self, source: str, options: Sequence[str]) -> OwnProgram:
        """A user's OpenCL C, compiled; RuntimeError where the device takes none."""
        from ..errors.image import no_opencl_here

        raise no_opencl_here(self.properties.name)

    # Memory

    def allocate(self, nbytes: int, stream: DeviceStream | None = None, lasting: bool = False) -> Storage:
        """Memory for `nbytes` bytes on `stream`, by default the current one."""
        stream = stream or self._current.stream
        if self.executor is None:
            return self.pool.take(nbytes, stream)
        return self.executor.allocate(self, nbytes, stream, lasting)

    def poison(self, storage: Storage, nbytes: int) -> None:
        """Fill memory that was just handed out, in its stream's order (FTENSOR_POISON)."""
        assert storage.ptr is not None
        ctypes.memset(storage.ptr, POISON, nbytes)

    def allocate_lasting(self, nbytes: int) -> Storage:
        """Memory that outlives the current stream, for what serves all: the default one's."""
        storage = self.allocate(nbytes, self.default_stream, lasting=True)
        # Whose work may still be using the block, or filling it (FTENSOR_POISON).
        self._current.stream.wait_stream(self.default_stream)
        return storage

    def keeping(self, kept: Keeps) -> None:
        """Note what is kept of a storage's bytes, so that it can be dropped."""
        with self.lock:
            self._kept.add(kept)

    def drop_kept(self) -> bool:
        """Let go of what can be made again; whether memory was in it."""
        with self.lock:
            all_kept = list(self._kept)
            self._kept.clear()
        return sum(kept.drop() for kept in all_kept) > 0

    def adopt(self, ptr: int, nbytes: int, owner: object, readonly: bool = False) -> Storage:
        """A storage on host memory of others, without a copy; `owner` keeps that memory alive."""
        assert self.host_shared, f"{self.properties.name} does not share host memory"
        assert ptr % self.adopt_alignment == 0, f"{ptr:#x} is not aligned for {self.target.name}"
        handle, memory = self._wrap_host(ptr, nbytes, readonly)
        block = Block(self.pool, nbytes, handle, ptr, memory)
        return self.pool.adopt(block, self._current.stream, owner, readonly)

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Copy a C-contiguous array into a storage; the array may be changed afterwards."""
        assert array.flags.c_contiguous, "upload takes a C-contiguous array"
        assert 0 <= byte_offset <= storage.nbytes - array.nbytes, "upload outside the storage"
        if array.nbytes:
            storage.changed()
            take = self._upload if self.executor is None else self.executor.upload
            take(storage, byte_offset, array)
            storage.changed()  # by then another thread may have read it, before it was written
            if storage.visible:
                self._current.stream.finish()

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Fill a C-contiguous array from a storage, after the work that is enqueued on it."""
        assert array.flags.c_contiguous, "download fills a C-contiguous array"
        assert 0 <= byte_offset <= storage.nbytes - array.nbytes, "download outside the storage"
        self._current.stream.synchronize()
        storage.synchronize()
        self.fetch(storage, byte_offset, array)

    def fetch(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """As `download`, for a storage whose work is known to be done."""
        if array.nbytes:
            take = self._download if self.executor is None else self.executor.download
            take(storage, byte_offset, array)

    # What a kind of device fills in

    @abstractmethod
    def build(self, source: str, entry: str, params: Sequence[str], options: tuple[str, ...] = ()) -> CompiledKernel:
        """Compile, or load from the disk cache, one kernel.

        `params` says what the kernel takes, in order: "*" for a pointer, or the C name of a
        scalar: char uchar short ushort int uint long ulong float double.
        """

    def note(self, source: str, entry: str, params: Sequence[str]) -> CompiledKernel:
        """What `build` is while programs are only noted."""
        assert self.noted is not None
        self.noted.append(KernelSource(source, entry, tuple(params)))
        return _nothing

    def has_built(self, program: KernelSource) -> bool:
        """Whether the disk cache holds a program."""
        return False

    def build_together(self, source: str, programs: Sequence[KernelSource]) -> None:
        """Fill the disk cache with programs; `source` is the text of all of them in one."""
        for program in programs:
            self.build(*program)

    @abstractmethod
    def _make_memory(self, nbytes: int) -> tuple[Any, int | None, object] | None:
        """(handle, host address, what keeps it) of fresh memory, or None where there is none."""

    @abstractmethod
    def _wrap_host(self, ptr: int, nbytes: int, readonly: bool) -> tuple[Any, object]:
        """(handle, what keeps it) of host memory at an address."""

    @abstractmethod
    def _upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None: ...

    @abstractmethod
    def _download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None: ...

    @abstractmethod
    def make_queue(self) -> Any:
        """The device's own in-order queue."""

    @abstractmethod
    def finish(self, queue: Any) -> None:
        """Wait for a queue."""

    @abstractmethod
    def make_marker(self, queue: Any) -> Any:
        """The device's own event behind everything in a queue."""

    @abstractmethod
    def marker_done(self, marker: Any) -> bool:
        """Whether a marker was reached."""

    @abstractmethod
    def finish_marker(self, marker: Any) -> None:
        """Wait for a marker."""

    @abstractmethod
    def wait_marker(self, queue: Any, marker: Any, origin: Backend | None) -> None:
        """Let a queue wait for a marker, which may be another device's."""

    @abstractmethod
    def make_timing(self, marker: Any) -> Any:
        """Something that will know when the marker was reached."""

    @abstractmethod
    def timing_ns(self, timing: Any) -> int:
        """The time in nanoseconds at which the marker was reached, once it was."""


def _nothing(stream: Any, units: int, /, *args: Any) -> None:
    """Stands for a kernel that was only noted."""


def host_memory(nbytes: int) -> tuple[int, np.ndarray]:
    """Fresh host memory, aligned as a device's port wants it: its address, and its bytes."""
    alignment = 4096 if nbytes >= 4096 else 64
    memory = np.empty(nbytes + alignment, np.uint8)
    address: int = memory.__array_interface__["data"][0]
    skipped = -address % alignment
    return address + skipped, memory[skipped : skipped + nbytes]


def host_bytes(ptr: int, nbytes: int) -> np.ndarray:
    """The bytes at a host address as an array that does not own them."""
    return np.frombuffer(memoryview((ctypes.c_ubyte * nbytes).from_address(ptr)), np.uint8)
