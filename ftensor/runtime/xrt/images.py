"""Images on XRT: one is active at a time. `ftensor emulate` builds kernels on request.

A file in the folder of an emulated run has one line of text for each of the last launches: kernel,
the launch's number among that kernel's launches, number of commands, stream, file, line, and the
pytest test. The device counts a kernel's launches, and its report of a failure looks them up.
"""

from __future__ import annotations

import gc
import json
import mmap
import os
import pickle
import socket
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import OutOfMemoryError
from ...errors import image as errors
from ...errors.message import Caller, caller
from ...image.file import ImageFile, check_device
from ...kernels.key import Key
from ..images import BuildResult, Images, LoadedImage, Slot
from ..interfaces import CompiledKernel
from . import launcher
from .launcher import make_launcher

if TYPE_CHECKING:
    from .backend import XrtBackend
    from .queue import Marker, XrtQueue

SLOTS, SLOT = 4096, 1024  # launches in the file, more than are ever in flight; bytes of each
Kernels = Sequence[tuple[str, int]]  # the kernels of a launch, and their largest number of commands


class Calls:
    """The file that records the user's line of each launch. Written only under the device's
    lock."""

    def __init__(self, folder: Path) -> None:
        path = folder / f"calls-{os.getpid()}"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.ftruncate(file, SLOTS * SLOT)
            self._memory: mmap.mmap | None = mmap.mmap(file, SLOTS * SLOT)
        finally:
            os.close(file)
        self._begun: dict[str, int] = {}
        self._next = 0
        self.made_by: Caller | None = None  # call site of the launch that was just deferred

    def note(self, kernels: Kernels, units: int, stream: int) -> None:
        """Records the kernels of a launch that is about to be enqueued."""
        if self._memory is None:
            return
        by = self.made_by or caller()
        for k, (name, most) in enumerate(kernels):
            words = (name, self._begun.get(name, 0), min(units, most), stream, by.file, by.line, by.test)
            text = "\t".join([str(word).replace("\t", " ").replace("\n", " ") for word in words])
            data = text.encode(errors="surrogateescape")[: SLOT - 1].ljust(SLOT - 1) + b"\n"
            at = (self._next + k) % SLOTS * SLOT
            self._memory[at : at + SLOT] = data

    def record_enqueued(self, kernels: Kernels, units: int) -> None:
        """Records that the last recorded launch is enqueued."""
        for name, most in kernels:
            self._begun[name] = self._begun.get(name, 0) + min(units, most)
        self._next += len(kernels)

    def clear(self) -> None:
        """Clears the file, since it is unknown how many commands of a launch were enqueued."""
        if self._memory is not None:
            self._memory[:] = bytes(len(self._memory))
            self._memory = None


def calls() -> Calls | None:
    """Returns the file of this run; None if the device is not emulated or the folder not
    writable."""
    folder = os.environ.get("FTENSOR_EMULATION", "")
    try:
        return Calls(Path(folder)) if os.path.isabs(folder) else None
    except OSError:
        return None


# The build service's socket, in the folder that `ftensor emulate` makes for a run.
SOCKET = "kernels"


def build_service() -> Callable[[Sequence[Key]], BuildResult] | None:
    """Returns a function that builds kernels, or None if there is no build service."""
    place = Path(os.environ.get("FTENSOR_EMULATION", "")) / SOCKET
    if not place.is_absolute() or not place.is_socket():
        return None
    return lambda keys: request_build(place, keys)


def request_build(place: Path, keys: Sequence[Key]) -> BuildResult:
    """Has the build service build `keys`, and returns the result.

    The request is a pickled dict from entries to pickled keys, so that a key that the service
    can't unpickle does not prevent the others. The answer is a `BuildResult` in JSON.
    """
    packed, problems = dict[str, bytes](), dict[str, str]()
    for key in keys:
        try:
            packed[key.entry] = pickle.dumps(key)
        except (pickle.PicklingError, AttributeError, TypeError) as problem:
            problems[key.entry] = str(problem)
    if not packed:
        return BuildResult(None, problems)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(place))
            connection.sendall(pickle.dumps(packed))
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answers:
                answer = json.loads(answers.read())
    except (OSError, ValueError) as problem:
        return BuildResult(None, problems | dict.fromkeys(packed, str(problem)))
    return BuildResult(answer["image"], problems | answer["problems"])


# Each kernel object takes a command buffer. XRT keeps 128 for reuse, and allocates more of them for
# each launch anew.
MAX_SEPARATE = 64
PATIENCE = 30.0  # seconds in which an unloaded image is released


class XrtImages(Images):
    """The images of a board. A launch that needs another image loads it in place of the active
    one."""

    backend: XrtBackend

    def __init__(self, backend: XrtBackend) -> None:
        super().__init__(backend)
        self.maker = build_service()
        self.calls = calls() if backend.emulated else None
        self.several_banks = False  # True if the active image's kernels reach several banks
        # The slots with kernel objects. Weak: a graph's slots end with the graph.
        self._ready_slots = weakref.WeakSet[Slot]()
        self._separate_slots = weakref.WeakSet[Slot]()  # of `separate_launchers`
        # The last launch of each entry with several kernels: its queue and end marker.
        self.ran_together: dict[str, tuple[XrtQueue, Marker]] = {}

    def check(self, file: ImageFile) -> None:
        """Raises ImageError unless the image is for this board, or for emulation on an emulated
        one."""
        check_device(file, self.device, os.environ.get("XCL_EMULATION_MODE", ""))

    def changed(self) -> None:
        super().changed()
        self.forget_kernels()
        self.backend.set_capacity(self.most_units(), self.memory())

    def activate(self, image: LoadedImage) -> None:
        """Loads an image. Tensors on the device keep their values: the host holds their bytes
        meanwhile."""
        with self.lock:
            before = self.active
            if image is before:
                return
            start = time.perf_counter()
            fetched = self.backend.leave_device()
            self._unload()
            try:
                self._load(image, 0.0 if before is None else PATIENCE)
            except errors.ImageError:
                if before is not None:
                    self._load(before, PATIENCE)
                raise
            if before is not None:
                self.reloads += 1
                self.saved_bytes += fetched
                self.seconds += time.perf_counter() - start

    def forget_kernels(self) -> None:
        """Drops the kernel objects and the buffers that they hold; launches create new ones."""
        for slot in tuple(self._ready_slots):
            slot.run = None
        self._ready_slots.clear()

    def _unload(self) -> None:
        """Drops the active image's kernels and program. The driver unloads it with the last of
        them."""
        self.forget_kernels()
        self.ran_together.clear()
        if self.active is not None:
            self.active.program = None
        self.active = None

    def _load(self, image: LoadedImage, patience: float = 0.0) -> None:
        """Loads an image into the driver.

        The driver refuses a second image while any object of the first exists. Other threads, XRT's
        among them, may hold a launch a moment longer than its event shows, so the load is retried
        for `patience` seconds.
        """
        end = time.monotonic() + patience
        while image.program is None:
            try:
                image.program = self.backend.load_program(image.file.data)
            except self.backend.cl.Error as e:
                busy = e.code == self.backend.cl.status_code.OUT_OF_RESOURCES
                if not busy or time.monotonic() >= end:
                    raise errors.not_loaded(image.file.path, e) from None
                gc.collect()
                time.sleep(0.01)
        self.active = image
        self.several_banks = len(image.file.banks) > 1

    def launcher(self, slot: Slot) -> CompiledKernel:
        """Returns a launcher bound to the slot's entry, which stays valid when images change."""
        lock, ready, backend = self.lock, self._ready, self.backend
        noted = self._noted if self.calls is not None else None

        def run(stream: Any, units: int, args: Sequence[Any]) -> None:
            start = slot.run or ready(slot)
            try:
                (start if noted is None else noted(slot, start))(stream, units, *args)
            except BaseException:
                # The launcher remembers the arguments that it has set. An error or Ctrl-C may come
                # between the driver's call and that record, so the kernel object is created anew.
                slot.run = None
                raise

        def launch(stream: Any, units: int, /, *args: Any) -> None:
            _ = stream.queue  # before the lock: in a forked child this raises
            with lock:
                try:
                    run(stream, units, args)
                    return
                except OutOfMemoryError:
                    # Leaving the block drops the traceback, and with it the kernel object and its
                    # buffers.
                    pass
                backend.make_room()
                try:
                    run(stream, units, args)
                except OutOfMemoryError:
                    backend.pool.failures += 1
                    raise

        launch.slot = slot  # type: ignore[attr-defined]
        return launch

    def separate_launchers(self, runs: Iterable[Any]) -> list[CompiledKernel]:
        """Returns copies of launchers, each with kernel objects of its own, while fewer than
        `MAX_SEPARATE` copies exist on the device. Those beyond are the launchers themselves."""
        result: list[CompiledKernel] = []
        for run in runs:
            if len(self._separate_slots) < MAX_SEPARATE:
                slot: Slot = run.slot
                own = Slot(slot.entry, slot.params, slot.image, slot.make, slot.kernels)
                self._separate_slots.add(own)
                run = self.launcher(own)
            result.append(run)
        return result

    def _noted(self, slot: Slot, run: CompiledKernel) -> CompiledKernel:
        """Returns the slot's launcher, wrapped so that each launch records the user's line."""
        calls = self.calls
        assert calls is not None

        def launch(stream: Any, units: int, /, *args: Any) -> None:
            calls.note(slot.kernels, units, id(stream))
            try:
                run(stream, units, *args)
            except BaseException as error:
                if units > 1 or not isinstance(error, Exception):  # Ctrl-C comes anywhere in it
                    calls.clear()
                raise
            calls.record_enqueued(slot.kernels, units)

        return launch

    def _ready(self, slot: Slot) -> CompiledKernel:
        """Activates the image that has the slot's entry, and returns the launcher for it."""
        image = slot.image or next(self._holders(slot.entry), None)
        if image is None:
            raise self.refusal(slot.entry)
        self.activate(image)
        self.backend.let_scheduler_rest()
        if slot.make is not None:
            slot.run = slot.make()
        else:
            members = image.file.manifest.kernels_of(slot.entry)
            several = len(members) > 1
            slot.kernels = tuple([(record.name, record.units) for record, _ in members])
            make = launcher.make_linked_launcher if several else make_launcher
            slot.run = make(self.backend, image, slot)
        self._ready_slots.add(slot)
        return slot.run
