"""Running a program while noting its launches and its copies, cut as a board would get them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from ..errors import estimate as errors
from ..kernels import program
from ..toolchain.group import launch_parameters
from .launch import Ints, Launch, Member

if TYPE_CHECKING:
    from ..runtime.backend import Backend, Kernel
    from ..runtime.storage import Storage

# Uploads up to this size are remembered by what they hold: a geometry is one of them.
LARGEST_GEOMETRY = 8192


@dataclass
class Trace:
    """What a program did: launches in groups that are alike, and its copies by their size.

    `settings` are the copies of geometries, which a board gets once for each shape.
    """

    launches: Counter[Launch] = field(default_factory=Counter)
    uploads: Counter[int] = field(default_factory=Counter)
    downloads: Counter[int] = field(default_factory=Counter)
    settings: Counter[int] = field(default_factory=Counter)


class _Recorder:
    """The observer of one backend."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.trace = Trace()
        self.small: dict[Any, Ints] = {}
        self.sizes: dict[Any, int] = {}
        self.geometries: set[Any] = set()

    def kernel(self, key: Member, found: Kernel) -> Kernel:
        """A kernel that notes each of its launches."""
        names = [name for _, _, name in launch_parameters(key)]
        by_size = "n" in names
        at = names.index("n" if by_size else "geometry")

        def run(stream: Any, units: int, /, *args: Any) -> None:
            if stream.backend is self.backend:
                n, geometry = (args[at], ()) if by_size else (0, self.geometry(args[at]))
                self.trace.launches[Launch(key, units, n, geometry)] += 1
            found(stream, units, *args)

        return run

    def geometry(self, handle: Any) -> Ints:
        """What was uploaded to the buffer; its upload then counts as a setting."""
        held = self.small[handle]
        if handle not in self.geometries:
            self.geometries.add(handle)
            nbytes = self.sizes[handle]
            self.trace.uploads[nbytes] -= 1
            self.trace.settings[nbytes] += 1
        return held

    @contextmanager
    def attached(self) -> Iterator[Trace]:
        """Copies are noted inside the block."""
        backend, trace = self.backend, self.trace
        allocate, upload, download = backend.allocate, backend.upload, backend.download

        hidden: WeakSet[Storage] = WeakSet()

        def hide(nbytes: int, stream: Any = None) -> Storage:
            storage = allocate(nbytes, stream)
            storage.ptr = None  # a board's memory has no address for the host
            hidden.add(storage)
            return storage

        def note_upload(storage: Storage, byte_offset: int, array: np.ndarray) -> None:
            if array.nbytes:
                trace.uploads[array.nbytes] += 1
                if array.nbytes <= LARGEST_GEOMETRY and array.dtype.kind == "i":
                    self.geometries.discard(storage.handle)
                    self.small[storage.handle] = tuple(array.reshape(-1).tolist())
                    self.sizes[storage.handle] = array.nbytes
            with _address(storage):
                upload(storage, byte_offset, array)

        def note_download(storage: Storage, byte_offset: int, array: np.ndarray) -> None:
            trace.downloads[array.nbytes] += 1 if array.nbytes else 0
            with _address(storage):
                download(storage, byte_offset, array)

        patched: Any = backend  # on the object, so that no other backend is touched
        patched.allocate, patched.upload, patched.download = hide, note_upload, note_download
        try:
            yield trace
        finally:
            del patched.allocate, patched.upload, patched.download
            for storage in hidden:
                storage.ptr = storage.block.ptr
            for counts in (trace.uploads, trace.downloads):
                for nbytes in [n for n, count in counts.items() if count <= 0]:
                    del counts[nbytes]


@contextmanager
def _address(storage: Storage) -> Iterator[None]:
    """The device's own copies know where its memory is."""
    storage.ptr = storage.block.ptr
    try:
        yield
    finally:
        storage.ptr = None


@contextmanager
def recording(units: int, held: Container[str] | None = None) -> Iterator[Trace]:
    """Note what runs on the default device inside the block, cut as for a board.

    With `held`, the entries of an image's kernels, an op takes the best layout among these where
    it has a choice; what has none is compiled and noted all the same.

    As on a board, launches are cut for `units` compute units, vectors keep to their alignment,
    and memory is the device's own, so that what crosses to the host and back is a copy.
    EstimateError for a device whose launches are of another kind (a GPU).
    """
    from .._device import default_backend

    backend = default_backend()
    target = backend.target
    if target.grid != "slab" or target.lanes_bytes != 64:
        raise errors.not_sliced(backend.properties.name)
    recorder = _Recorder(backend)
    kept = backend.units, backend.host_shared, backend.kernels, backend.launches
    # What was prepared before was prepared otherwise, and is not observed.
    backend.kernels, backend.launches = {}, {}
    backend.units, backend.host_shared = units, False
    backend.target = replace(target, unaligned=False)
    before = program.observe, program.offered
    program.observe = recorder.kernel
    if held is not None:
        program.offered = lambda key: key.entry in held
    try:
        with recorder.attached() as trace:
            yield trace
    finally:
        program.observe, program.offered = before
        backend.target = target
        backend.units, backend.host_shared, backend.kernels, backend.launches = kept
