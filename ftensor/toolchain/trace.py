"""Running a program while noting its launches and its copies, cut as a board would get them."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from ..errors import commands as errors
from ..execute.observe import Observer, observed
from ..kernels.key import Key
from ..kernels.user_kernels import is_own
from ..kernels.workload import KernelLaunch
from ..runtime import program
from ..runtime.targets import csim_compiler
from ..terminal import counted, waiting

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ..execute import launch as execute
    from ..runtime.storage import Storage
    from ..runtime.stream import DeviceStream


@dataclass
class Trace:
    """What a program did: launches in groups that are alike, and its copies by their size.

    `settings` are the copies of geometries, which a board gets once for each shape. `order` is what
    happened one after another: launches, and the bytes of copies, less than 0 to the host.
    """

    launches: Counter[KernelLaunch] = field(default_factory=Counter)
    uploads: Counter[int] = field(default_factory=Counter)
    downloads: Counter[int] = field(default_factory=Counter)
    settings: Counter[int] = field(default_factory=Counter)
    order: list[KernelLaunch | int] = field(default_factory=list)


class _Recorder(Observer):
    """Notes what passes a device's door, and hides its memory from the host."""

    def __init__(self) -> None:
        self.trace = Trace()
        # Each kept once, however often it is in the order.
        self.alike: dict[KernelLaunch, KernelLaunch] = {}
        self.counted: WeakSet[Storage] = WeakSet()
        self.hidden: WeakSet[Storage] = WeakSet()

    def launch(self, launch: execute.Launch, stream: DeviceStream, tensors: Sequence[Tensor], numbers: Any) -> None:
        """Note each kernel."""
        for step, (_, table) in zip(launch.steps, launch.bound or ()):
            n, geometry = step.n, step.geometry
            if is_own(step.key):  # of which no more is known than what it may move
                n, geometry = 0, tuple([tensors[k].nbytes for k in step.pointers])
            elif table is None and len(geometry) == 1:  # what its numbers say is one size
                (n,), geometry = geometry, ()
            if table is not None and table not in self.counted:
                self._setting(table)
            noted = KernelLaunch(step.key, step.units, n or 0, geometry)
            self.trace.launches[noted] += 1
            self.trace.order.append(self.alike.setdefault(noted, noted))
        super().launch(launch, stream, tensors, numbers)

    def _setting(self, table: Storage) -> None:
        """The upload of what was told to a kernel counts as a setting."""
        self.counted.add(table)
        self.trace.uploads[table.nbytes] -= 1
        self.trace.settings[table.nbytes] += 1

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Note a copy to the device."""
        self.trace.uploads[array.nbytes] += 1
        self.trace.order.append(array.nbytes)
        with _address(storage):
            super().upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        """Note a copy to the host."""
        self.trace.downloads[array.nbytes] += 1
        self.trace.order.append(-array.nbytes)
        with _address(storage):
            super().download(storage, byte_offset, array)

    def allocated(self, storage: Storage) -> None:
        """A board's memory has no address for the host."""
        storage.ptr = None
        self.hidden.add(storage)

    def finish(self) -> None:
        """Memory is what it was; counts that are none are left out."""
        for storage in self.hidden:
            storage.ptr = storage.block.ptr
        self.trace.uploads = +self.trace.uploads


@contextmanager
def _address(storage: Storage) -> Iterator[None]:
    """The device's own copies know where its memory is."""
    hidden, storage.ptr = storage.ptr, storage.block.ptr
    try:
        yield
    finally:
        storage.ptr = hidden


@contextmanager
def recording(units: int, held: Container[str] | None = None) -> Iterator[Trace]:
    """Note what runs on the default device inside the block, cut as for a board.

    With `held`, the entries of an image's kernels, an op takes the best kernel among these where
    it has a choice, and else the best of all that an image may hold; what has none is compiled and
    noted all the same.

    As on a board, launches are cut for `units` compute units, vectors keep to their alignment,
    and memory is the device's own, so that what crosses to the host and back is a copy.
    EstimateError for a device whose launches are of another kind (a GPU).
    """
    from .._device import default_backend

    backend = default_backend()
    target = backend.target
    if target.grid != "slab" or target.lanes_bytes != 64:
        raise errors.not_sliced(backend.properties.name)
    recorder = _Recorder()
    before = program.offered
    images = backend.images

    def offered(key: Key) -> bool:
        """An image that the device has is asked, too: what it lacks does not run."""
        chosen = held is None or key.entry in held
        return chosen and (images is None or images.has(key.entry))

    program.offered = offered
    try:
        with (
            # A program's threads, and torch's of its derivatives, are what is asked about, too.
            backend.preparing_for(target.as_board(), units, False, every_thread=True),
            observed(backend, recorder),
        ):
            yield recorder.trace
    finally:
        program.offered = before
        recorder.finish()


def run_program(
    path: Path, argv: Sequence[str], units: int, held: Container[str] | None = None, stdout: Any = None
) -> Trace:
    """The `Trace` of a program that runs here as `python path argv...` would.

    On the device of FTENSOR_DEVICE, by default the C simulation where there is a compiler for it.
    What the program prints goes to `stdout`, by default where it goes anyway. EstimateError for a
    program that can't be read or that fails; its `status` is the program's exit status.
    """
    if not path.is_file():
        raise errors.no_program(path, "no such file")
    if not os.environ.get("FTENSOR_DEVICE") and csim_compiler() is not None:
        os.environ["FTENSOR_DEVICE"] = "csim"
    kept = sys.argv, sys.path[0]
    sys.argv, sys.path[0] = [str(path), *argv], str(path.resolve().parent)
    try:
        with (
            recording(units, held) as trace,
            redirect_stdout(stdout) if stdout else nullcontext(),
            waiting(lambda: f"{path.name} runs: {counted(len(trace.launches), 'kind')} of launches"),
        ):
            try:
                runpy.run_path(str(path), run_name="__main__")
            except SystemExit as end:
                if end.code:
                    if isinstance(end.code, str):
                        print(end.code, file=sys.stderr)
                    status = end.code & 0xFF if isinstance(end.code, int) else 1
                    raise errors.failed_with(str(path), status) from None
            except Exception as error:  # noqa: BLE001
                # Whatever the program raises is its own, and shown as Python shows it.
                traceback.print_exception(error)
                raise errors.program_failed(str(path)) from None
    finally:
        sys.argv, sys.path[0] = kept
    return trace
