"""Runs a program and records its launches and copies, as a board would receive them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from ..errors import commands as errors
from ..errors.message import program_line
from ..execute.dispatch import Observer, observed
from ..kernels.key import Key
from ..kernels.user_kernels import is_user_kernel
from ..kernels.workload import Ints, KernelLaunch
from ..python_program import PythonProgram
from ..runtime import launch_cache
from ..runtime.targets import csim_compiler
from ..terminal import counted, waiting

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ..execute import launch as execute
    from ..runtime.launch_cache import SharedTable
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream


Buffers = tuple[tuple[int, int], ...]


@dataclass
class Trace:
    """The launches of a program, counted by kind, and its copies, counted by size.

    `settings` are the uploads of geometry buffers, which a board receives once for each shape.
    `order` lists launches and the bytes of copies in time order; copies to the host are negative.
    `buffers` lists the (number, bytes) of the buffers that each launch in `order` uses.
    `lines` has the line of the program that first asked for each kernel, `transforms` the line of
    each kind of Fourier transform by its geometry.
    """

    launches: Counter[KernelLaunch] = field(default_factory=Counter)
    uploads: Counter[int] = field(default_factory=Counter)
    downloads: Counter[int] = field(default_factory=Counter)
    settings: Counter[int] = field(default_factory=Counter)
    order: list[KernelLaunch | int] = field(default_factory=list)
    buffers: list[Buffers] = field(default_factory=list)
    lines: dict[Key, str] = field(default_factory=dict)
    transforms: dict[Ints, str] = field(default_factory=dict)


class _Recorder(Observer):
    """Records launches and copies of a device, and hides the device's memory from the host."""

    def __init__(self) -> None:
        self.trace = Trace()
        # Equal launches share one object, to keep `order` small.
        self.alike: dict[KernelLaunch, KernelLaunch] = {}
        self.counted: WeakSet[Storage | SharedTable] = WeakSet()
        self.hidden: WeakSet[Storage] = WeakSet()
        self.memory_ids: WeakKeyDictionary[Storage | SharedTable, int] = WeakKeyDictionary()
        self.next = count()
        self.same: dict[Buffers, Buffers] = {}  # one object for equal tuples, as in `alike`

    def launch(self, launch: execute.Launch, stream: DeviceStream, tensors: Sequence[Tensor], scalars: Any) -> None:
        """Records each kernel of a launch."""
        passed = [self._buffer(x._storage) for x in tensors]
        passed += [(next(self.next), nbytes) for nbytes in launch.temporaries]
        for step, (_, table) in zip(launch.steps, launch.bound or ()):
            n, geometry = step.n, step.geometry
            if is_user_kernel(step.key):  # of a user kernel, only the sizes of its buffers are known
                n, geometry = 0, tuple([tensors[k].nbytes for k in step.pointers])
            elif table is None and len(geometry) == 1:  # the only number is n
                (n,), geometry = geometry, ()
            if table is not None and table not in self.counted:
                self._setting(table)
            noted = KernelLaunch(step.key, step.units, n or 0, geometry)
            if step.key not in self.trace.lines:
                self.trace.lines[step.key] = program_line()
            if step.key.skeleton == "fft" and geometry not in self.trace.transforms:
                self.trace.transforms[geometry] = program_line()
            self.trace.launches[noted] += 1
            self.trace.order.append(self.alike.setdefault(noted, noted))
            used = tuple([passed[k] for k in step.pointers + step.after])
            used += (self._buffer(table),) if table is not None else ()
            self.trace.buffers.append(self.same.setdefault(used, used))
        super().launch(launch, stream, tensors, scalars)

    def _buffer(self, storage: Storage | SharedTable) -> tuple[int, int]:
        number = self.memory_ids.get(storage)
        if number is None:
            self.memory_ids[storage] = number = next(self.next)
        return number, storage.nbytes

    def _setting(self, table: Storage | SharedTable) -> None:
        """Counts an upload that fills a geometry buffer, which a board receives only once for each
        shape."""
        self.counted.add(table)
        self.trace.uploads[table.nbytes] -= 1
        self.trace.settings[table.nbytes] += 1

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        self.trace.uploads[array.nbytes] += 1
        self.trace.order.append(array.nbytes)
        with _address(storage):
            super().upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        self.trace.downloads[array.nbytes] += 1
        self.trace.order.append(-array.nbytes)
        with _address(storage):
            super().download(storage, byte_offset, array)

    def allocated(self, storage: Storage) -> None:
        """Hides the memory's address, because a host can't address a board's memory."""
        storage.ptr = None
        self.hidden.add(storage)

    def finish(self) -> None:
        """Ends the trace: restores the addresses of hidden storages, and drops upload counts of
        zero."""
        for storage in self.hidden:
            storage.ptr = storage.block.ptr
        self.trace.uploads = +self.trace.uploads


@contextmanager
def _address(storage: Storage) -> Iterator[None]:
    """Context manager: the storage has its address again, for a copy by the device."""
    hidden, storage.ptr = storage.ptr, storage.block.ptr
    try:
        yield
    finally:
        storage.ptr = hidden


@contextmanager
def recording(
    units: int, held: Container[str] | None = None, fits: Callable[[Key], bool] | None = None
) -> Iterator[Trace]:
    """Records the default device's launches and copies inside the block, as for a board.

    With `held`, the entries of an image's kernels, an op with a choice takes the best kernel among
    these, else the best kernel that any image could hold, of those that `fits` accepts; the device
    compiles missing kernels and records them too.

    As on a board, launches are divided among `units` compute units, vectors keep their alignment,
    and the host copies data to and from device memory. Raises EstimateError for a device with other
    launches (a GPU).
    """
    from .._device import default_backend

    backend = default_backend()
    target = backend.target
    if target.grid != "slab" or target.lanes_bytes != 64:
        raise errors.not_sliced(backend.properties.name)
    recorder = _Recorder()
    before = launch_cache.stand_in_build
    images = backend.images

    def offered(key: Key) -> bool:
        """True if a launch may use the kernel: `held` has it, if given, `fits` accepts it, if
        given, and so do the device's images, if it has any."""
        chosen = (held is None or key.entry in held) and (fits is None or fits(key))
        return chosen and (images is None or images.has(key.entry))

    launch_cache.stand_in_build = offered
    try:
        with (
            # Includes the program's threads, and torch's threads for backward passes.
            backend.preparing_for(target.as_board(), units, False, every_thread=True),
            observed(backend, recorder),
        ):
            yield recorder.trace
    finally:
        launch_cache.stand_in_build = before
        recorder.finish()


def run_program(
    user_program: PythonProgram,
    units: int,
    held: Container[str] | None = None,
    stdout: Any = None,
    fits: Callable[[Key], bool] | None = None,
) -> Trace:
    """Runs a program as `python` would, and returns its `Trace`.

    Uses the device of FTENSOR_DEVICE; without it, the C simulation if there is a compiler. The
    program's output goes to `stdout`, if given. Raises EstimateError for a program that can't be
    read or that fails; the error's `status` is the program's exit status.
    """
    user_program.check()
    if not os.environ.get("FTENSOR_DEVICE") and csim_compiler() is not None:
        os.environ["FTENSOR_DEVICE"] = "csim"
    with (
        recording(units, held, fits) as trace,
        redirect_stdout(stdout) if stdout else nullcontext(),
        waiting(lambda: f"{Path(user_program.name).name} runs: {counted(len(trace.launches), 'kind')} of launches"),
    ):
        status = user_program.run()
    if status:
        raise errors.program_failed(user_program.name, status)
    return trace
