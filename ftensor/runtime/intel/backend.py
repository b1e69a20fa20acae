"""Intel FPGAs and their emulator: images, with one command per stage of each compute unit."""

from __future__ import annotations

import os
import struct
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import image as errors
from ...image.file import CHANNEL_DEPTH, TARGETS, VARIABLE, ImageFile, stages, uses_channels
from ...image.manifest import SCOPE, ArgumentRecord, KernelRecord, compiled, expressions
from ...kernels.skeleton import exact_units
from ..images import Images, LoadedImage, Slot
from ..interfaces import CompiledKernel
from ..lifetime import signals_deferred
from ..opencl.backend import OpenCLBackend
from ..opencl.launch import TYPE_CHARS
from ..stream import DeviceStream

if TYPE_CHECKING:
    from ..targets import Target


ONE = (1,)


class StageKernel:
    """A kernel object of one stage, and for each of its arguments the index among the launch's
    values."""

    def __init__(self, kernel: Any, arguments: Sequence[ArgumentRecord], order: Sequence[str]) -> None:
        self.kernel = kernel
        self.handles: list[tuple[int, int]] = []
        self.longs: list[tuple[int, int]] = []
        self.scalars: list[tuple[int, bytes, int]] = []
        for number, argument in enumerate(arguments):
            at = order.index(argument.name)
            if argument.what == "*":
                self.handles.append((number, at))
            elif TYPE_CHARS[argument.what] in "qlQL":
                self.longs.append((number, at))
            else:
                self.scalars.append((number, TYPE_CHARS[argument.what].encode(), at))

    def bind(self, values: tuple[Any, ...], unit: int, units: int) -> None:
        """Sets all arguments. The last two values are the unit and the number of units."""
        values = (*values, unit, units)
        kernel = self.kernel
        if self.handles:
            kernel._set_arg_multi(tuple(x for n, at in self.handles for x in (n, values[at])))
        if self.longs:
            packed = (x for n, at in self.longs for x in (n, struct.pack("q", values[at])))
            kernel._set_arg_buf_multi(tuple(packed))
        if self.scalars:
            plain = (x for n, char, at in self.scalars for x in (n, char, values[at]))
            kernel._set_arg_buf_pack_multi(tuple(plain))


class ReloadTurn:
    """Serializes the launches of one kernel of an image, since its channels serve one at a time."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.busy = False
        self.stream: DeviceStream | None = None
        self.events: list[Any] = []

    @contextmanager
    def exclusive(self, name: str) -> Iterator[None]:
        """Inside the block, one launch is enqueued completely. If Ctrl-C ended a launch half
        started, its data would still be in the channels when the next launch begins."""
        with self.lock, signals_deferred():
            if self.busy:  # in a finalizer that this thread is at, amid the launch
                raise errors.launch_interrupted(name)
            self.busy = True
            try:
                yield
            finally:
                self.busy = False

    def take(self, cl: Any, stream: DeviceStream) -> None:
        """Makes a stream's next command wait for the last launch on another stream."""
        if self.stream is not stream and self.events:
            cl.enqueue_barrier(stream.queue, wait_for=self.events)
        self.stream = stream


def make_launcher(images: IntelImages, image: LoadedImage, slot: Slot) -> CompiledKernel:
    """Returns a function `launch(stream, units, *args)` for one entry of an image."""
    entry = image.find(slot.entry)
    assert entry is not None
    record, member = entry
    names = "".join(f"a{i}, " for i in range(len(slot.params)))
    arguments = expressions(image.file.path, record, member, slot.params)
    lines = [f"def launch({names}/):", f"    return ({''.join(f'{e}, ' for e in arguments)})"]
    values: Callable[..., tuple[Any, ...]] = compiled(slot.entry, lines, dict(SCOPE))

    def make() -> list[list[StageKernel]]:
        return [_stages(images, image, record, copy) for copy in range(record.units)]

    try:
        copies = make()
    except images.backend.cl.Error as e:
        raise errors.not_loaded(image.file.path, e) from None
    most = 1 << 30 if exact_units(record.skeleton) else record.units
    turn = images.turn(image, record.name)
    enqueue = _stage_launcher(images, record, copies, turn, make)

    def launch(stream: Any, units: int, /, *args: Any) -> None:
        _ = stream.queue  # first of all: in a forked child this raises
        enqueue(stream, values(*args), min(units, most))
        launched = stream.launched = stream.launched + 1
        if not launched & 1023:
            stream.throttle()

    return launch


def _stages(images: IntelImages, image: LoadedImage, record: KernelRecord, copy: int) -> list[StageKernel]:
    arguments = {a.name: a for a in record.arguments}
    names = list(arguments)
    records = record.stages or stages(record.name, record.skeleton, record.structure, names, copy)
    kernel = images.backend.cl.Kernel
    return [
        StageKernel(kernel(image.program, part.name), [arguments[a] for a in part.arguments], names) for part in records
    ]


def _stage_launcher(
    images: IntelImages,
    record: KernelRecord,
    copies: list[list[StageKernel]],
    turn: ReloadTurn,
    make: Callable[[], list[list[StageKernel]]],
) -> Callable[[Any, tuple[Any, ...], int], None]:
    """Returns the function that enqueues a launch of the kernel."""
    from pyopencl import _cl

    cl = images.backend.cl
    enqueue: Any = _cl.enqueue_nd_range_kernel
    counts = [len(copy) for copy in copies]
    first = [sum(counts[:k]) for k in range(len(copies))]  # index of each copy's first queue
    place = [a.name for a in record.arguments].index("n") if counts[0] > 1 else 0

    def in_order(stream: Any, taken: tuple[Any, ...], units: int) -> None:
        """Enqueues one kernel on the stream's own queue.

        A kernel object holds the arguments of one launch, so each launch takes a free object or
        creates one. There is no lock: a signal handler or finalizer may launch the kernel that it
        interrupted.
        """
        try:
            stage = free.pop()
        except IndexError:
            stage = make()[0][0]
        for unit in range(units):
            stage.bind(taken, unit, units)
            enqueue(stream.queue, stage.kernel, ONE, ONE, None, None, False, False)
        free.append(stage)

    def in_pieces(stream: Any, taken: tuple[Any, ...], units: int) -> None:
        """Enqueues stage after stage, in slabs that fit a channel, so that no stage blocks."""
        turn.take(cl, stream)
        slabs = taken[place] // keeps_rows + 1
        event = None
        for slab in range(slabs):
            for stage in copies[slab % len(copies)]:
                stage.bind(taken, slab, slabs)
                event = enqueue(stream.queue, stage.kernel, ONE, ONE, None, None, False, False)
        turn.events = [event]
        stream.queue.flush()  # another stream may wait for it

    def side_by_side(stream: Any, taken: tuple[Any, ...], units: int) -> None:
        """Enqueues all stages at once, between earlier and later commands of the stream."""
        turn.take(cl, stream)
        queues = images.queues(stream, sum(counts))
        before = [cl.enqueue_marker(stream.queue)]
        stream.queue.flush()
        done = []
        for unit in range(units):
            copy = unit % len(copies)
            for k, stage in enumerate(copies[copy]):
                stage.bind(taken, unit, units)
                mine = queues[first[copy] + k]
                done.append(enqueue(mine, stage.kernel, ONE, ONE, None, before, False, False))
        for mine in queues[: sum(counts)]:
            mine.flush()
        cl.enqueue_barrier(stream.queue, wait_for=done)
        turn.events = done

    if len(copies) == 1 and counts[0] == 1:
        free = [copies[0][0]]
        return in_order
    keeps_rows = record.held
    if uses_channels(record.skeleton, record.structure):
        keeps_rows = record.lanes * (CHANNEL_DEPTH - 2)
    launch = side_by_side if images.side_by_side or not keeps_rows else in_pieces

    def in_turn(stream: Any, taken: tuple[Any, ...], units: int) -> None:
        with turn.exclusive(record.name):
            launch(stream, taken, units)

    return in_turn


class IntelImages(Images):
    """The images of a device. All stay loaded as programs; a board's driver switches to the needed
    one and saves the buffers."""

    backend: IntelBackend

    def __init__(self, backend: IntelBackend) -> None:
        super().__init__(backend)
        # On the emulator, a stage that waits for another one spins until the system preempts it, so
        # a launch would take milliseconds.
        self.side_by_side = not backend.compiles
        self._turns: dict[tuple[int, str], ReloadTurn] = {}
        self._queues: weakref.WeakKeyDictionary[DeviceStream, list[Any]] = weakref.WeakKeyDictionary()

    def check(self, file: ImageFile) -> None:
        """Raises ImageError unless the image is for a board, or for the emulator on the
        emulator."""
        target = file.manifest.target
        if target not in TARGETS:
            raise errors.of_another_maker(file.path, target, self.device)
        if (target == "intel-emulator") is not self.backend.compiles:
            target_name = "intel-emulator" if self.backend.compiles else "intel"
            raise errors.of_another_target(file.path, target, target_name)

    def activate(self, image: LoadedImage) -> None:
        """Makes the image a program once. The active image is the first to be searched."""
        if image.program is None:
            try:
                image.program = self.backend.load_program(image.file.data)
            except self.backend.cl.Error as e:
                raise errors.not_loaded(image.file.path, e) from None
        self.active = image

    def changed(self) -> None:
        super().changed()
        self.backend.units = self.most_units()

    def launcher(self, slot: Slot) -> CompiledKernel:
        """Returns the kernel's launcher itself, since images are never unloaded."""
        if slot.run is None:
            image = next(self._holders(slot.entry))
            self._program(image)
            slot.run = make_launcher(self, image, slot)
        return slot.run

    def _program(self, image: LoadedImage) -> None:
        """Loads a later image of FTENSOR_IMAGE on first use, and leaves the active image as it
        is."""
        active = self.active
        self.activate(image)
        self.active = active or image

    def turn(self, image: LoadedImage, name: str) -> ReloadTurn:
        """Returns the `ReloadTurn` that all launches of one kernel share."""
        return self._turns.setdefault((id(image), name), ReloadTurn())

    def queues(self, stream: DeviceStream, count: int) -> list[Any]:
        """Returns the queues for a stream's stages and units."""
        with self.lock:
            queues = self._queues.setdefault(stream, [])
            while len(queues) < count:
                queues.append(self.backend.make_queue())
            return queues


class IntelBackend(OpenCLBackend):
    """An Intel FPGA board, which takes its kernels from images, or the emulator, which can also
    compile them."""

    images: IntelImages | None = None

    def __init__(
        self, target: Target, cl_platform: Any, cl_device: Any, host_shared: bool | None = None, context: Any = None
    ) -> None:
        super().__init__(target, cl_platform, cl_device, host_shared, context)
        self.compiles = bool(target.emulates)
        if os.environ.get(VARIABLE) or not self.compiles:
            images = IntelImages(self)
            images.load_from_environment()
            self.images = images

    def load_image(self, path: str | Path) -> ImageFile:
        """Loads an image and searches it first. From now on no kernel is compiled."""
        images = self.images or IntelImages(self)
        file = images.load(path)
        self.images = images
        return file

    def build(self, source: str, entry: str, params: Sequence[str], options: tuple[str, ...] = ()) -> CompiledKernel:
        """Compiles a kernel on the emulator. Raises ImageError on a board."""
        if not self.compiles:
            raise errors.no_image(self.properties.name)
        return super().build(source, entry, params, options)
