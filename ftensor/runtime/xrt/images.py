"""Images on XRT: one is loaded at a time, and its kernels are launched over their compute units."""

from __future__ import annotations

import gc
import os
import struct
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import OutOfMemoryError
from ...errors import image as errors
from ...image.call_tokens import SCOPE, compiled, expressions
from ...image.file import ImageFile, check_device
from ...kernels.channels import LEAST_BEATS, Cut, channels, spreads
from ...kernels.ctype import width
from ...kernels.skeleton import exact_units
from ..images import Images, LoadedImage, Slot
from ..opencl.launch import TYPE_CHARS
from ..parts import CompiledKernel
from . import together
from .banks import Port, place, spread
from .maker import maker
from .queue import COMMANDS_AHEAD

if TYPE_CHECKING:
    from ...image.manifest import KernelRecord, MemberRecord
    from .backend import XrtBackend
    from .banks import BankedBuffer
    from .queue import Marker, XrtQueue

PATIENCE = 30.0  # seconds in which an image that was left is released


class XrtImages(Images):
    """The images of a board. A launch that needs another than the active one loads it."""

    backend: XrtBackend

    def __init__(self, backend: XrtBackend) -> None:
        super().__init__(backend)
        self.maker = maker()
        self.several_banks = False  # whether the active image's kernels reach more than one
        self._ready_slots: list[Slot] = []  # those that hold kernel objects
        # The last launch of each entry that several kernels serve: its queue, and its end.
        self.ran_together: dict[str, tuple[XrtQueue, Marker]] = {}

    def check(self, file: ImageFile) -> None:
        """Is it for this board, or for emulation where this is one?"""
        check_device(file, self.device, os.environ.get("XCL_EMULATION_MODE", ""))

    def changed(self) -> None:
        """Other kernels, units and memories are there now."""
        super().changed()
        self.forget_kernels()
        self.backend.set_capacity(self.most_units(), self.memory())

    def activate(self, image: LoadedImage) -> None:
        """Load an image. Tensors on the device survive: they wait on the host meanwhile."""
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
        """Let go of the kernel objects, and of the buffers they hold; launches make them anew."""
        for slot in self._ready_slots:
            slot.run = None
        self._ready_slots.clear()

    def _unload(self) -> None:
        """Let go of the active image's kernels and program; the driver unloads it with the last."""
        self.forget_kernels()
        self.ran_together.clear()
        if self.active is not None:
            self.active.program = None
        self.active = None

    def _load(self, image: LoadedImage, patience: float = 0.0) -> None:
        """Give the driver an image. It refuses a second one while anything of the first is held;
        other threads, XRT's own among them, may hold a launch of it a moment longer than its event
        says, which `patience` (seconds) is for."""
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
        """A launcher that holds on to the entry, while images come and go."""
        lock, ready, backend = self.lock, self._ready, self.backend

        def launch(stream: Any, units: int, /, *args: Any) -> None:
            _ = stream.queue  # before the lock: in a forked child this raises
            with lock:
                try:
                    (slot.run or ready(slot))(stream, units, *args)
                    return
                except OutOfMemoryError:
                    # Here ends what the traceback holds: the kernel object, and with it buffers.
                    pass
                backend.make_room()
                try:
                    ready(slot)(stream, units, *args)
                except OutOfMemoryError:
                    backend.pool.failures += 1
                    raise

        return launch

    def _ready(self, slot: Slot) -> CompiledKernel:
        """The slot's launcher for the image that has its entry, which is active from now on."""
        image = slot.image or next(self._holders(slot.entry), None)
        if image is None:
            raise self.refusal(slot.entry)
        self.activate(image)
        if self.reloads:
            self.backend.let_scheduler_rest()
        if slot.make is not None:
            slot.run = slot.make()
        else:
            several = len(image.file.manifest.parts(slot.entry)) > 1
            make = together.make_launcher if several else make_launcher
            slot.run = make(self.backend, image, slot)
        self._ready_slots.append(slot)
        return slot.run


def make_launcher(backend: XrtBackend, image: LoadedImage, slot: Slot) -> CompiledKernel:
    """A function `launch(stream, units, *args)` written for one entry of an image.

    Its arguments become the kernel's as the manifest's tokens say; buffers that are not yet in
    the bank of their port take the slow way through `banks.place`. Each compute unit's part of
    the launch is a command of its own.
    """
    from pyopencl import _cl

    entry = image.find(slot.entry)
    assert entry is not None
    record, member = entry
    kernel = backend.cl.Kernel(image.program, record.name)
    passed = expressions(image.file.path, record, member, slot.params)
    count = len(passed)
    unused = [token.startswith("@") for token in member.call.split()]
    pointers, ports = [], list[Port]()
    stand_ins, scalars, longs, constants = [], [], [], []
    for k, (argument, text) in enumerate(zip(record.arguments, passed)):
        if argument.what == "*":
            bank = image.file.bank(record.name, k)
            if unused[k]:
                stand_ins.append((k, bank))
                continue
            pointers.append(text)
            ports.append((k, bank, not argument.c.startswith("const ")))
            continue
        char = TYPE_CHARS[argument.what]
        if text.lstrip("-").isdecimal():
            constants.append((k, char, int(text)))
        elif char in "qQ":
            longs.append(f"{k}, pack({char!r}, {text})")
        else:
            scalars.append(f"{k}, {char.encode()!r}, {text}")

    def prepared(kernel: Any) -> Any:
        for k, char, value in constants:
            kernel._set_arg_buf_multi((k, struct.pack(char, value)))
        for k, bank in stand_ins:
            backend.stand_in(kernel, k, bank)
        return kernel

    prepared(kernel)
    lines = [
        f"def launch(stream, units, {''.join(f'a{i}, ' for i in range(len(slot.params)))}/):",
        "    queue = stream.queue",
        "    held = ()",
    ]
    if pointers:
        there = " and ".join(f"{p}.bank == bank{i}" for i, p in enumerate(pointers))
        pairs = ", ".join(f"{k}, {p}.cl" for p, (k, _, _) in zip(pointers, ports))
        placed = ", ".join(f"{k}, buffers[{i}]" for i, (k, _, _) in enumerate(ports))
        lines += [
            f"    if {there}:",
            f"        set_handles(({pairs}))",
            "    else:",
            f"        handles = ({', '.join(pointers)},)",
            "        buffers, held = place(backend, stream, kernel, handles, ports)",
            f"        set_handles(({placed}))",
        ]
    numbers = [f"set_longs(({', '.join(longs)}))"] if longs else []
    scalars.append(f"{count + 1}, b'i', units")
    numbers.append(f"set_scalars(({', '.join(scalars)}))")
    started = "enqueue(queue.cl, kernel, ONE, ONE, None, before, False, False)"
    enqueued = [
        "    queue.tail = tail",
        "    stream.launched += 1",
        "    queue.commands += units",
        "    if queue.commands * len(queues) >= STEP:",
        "        queue.commands = 0",
        "        stream.throttle()",
    ]
    if not exact_units(record.skeleton):
        lines.insert(3, f"    if units > {record.units}: units = {record.units}")
    slabs = _slabs(backend, image, record, member, passed, ports, prepared)
    if slabs is not None:
        lines[4:4] = [
            f"    if units > 1 and {slabs.asked}:",
            f"        each = in_slabs(stream, units, {slabs.n}, ({', '.join(pointers)},))",
            "        if each is not None:",
            "            before, tail = queue.before(), []",
            "            for unit, (own, set_longs_, set_scalars_) in enumerate(each):",
            *[f"                {line.replace('((', '_((', 1)}" for line in numbers],
            f"                set_scalars_(({count}, b'i', unit))",
            f"                tail.append({started.replace('kernel', 'own')})",
            *["        " + line for line in enqueued],
            "            return",
        ]
    lines += [
        *["    " + line for line in numbers],
        "    before, tail = queue.before(), []",
        "    for unit in range(units):",
        f"        set_scalars(({count}, b'i', unit))",
        f"        tail.append({started})",
        *enqueued,
    ]
    scope = {
        **SCOPE,
        **{f"bank{i}": bank for i, (_, bank, _) in enumerate(ports)},
        "ONE": (1,),
        "STEP": COMMANDS_AHEAD // 2,
        "queues": backend.queues,
        "backend": backend,
        "enqueue": _cl.enqueue_nd_range_kernel,
        "in_slabs": slabs and slabs.launch,
        "kernel": kernel,
        "pack": struct.pack,
        "place": place,
        "ports": tuple(ports),
        "set_handles": kernel._set_arg_multi,
        "set_longs": kernel._set_arg_buf_multi,
        "set_scalars": kernel._set_arg_buf_pack_multi,
    }
    run: CompiledKernel = compiled(slot.entry, lines, scope)
    return run


class _Slabs(NamedTuple):
    """What a launcher asks before its operands may lie in slabs, as code, and for the number of
    elements; and what then places them."""

    asked: str
    n: str
    launch: Callable[..., Sequence[tuple[Any, Any, Any]] | None]


def _slabs(
    backend: XrtBackend,
    image: LoadedImage,
    record: KernelRecord,
    member: MemberRecord,
    passed: Sequence[str],
    ports: Sequence[Port],
    prepared: Callable[[Any], Any],
) -> _Slabs | None:
    """How a kernel's operands go in slabs; None where they don't, whatever their size.

    XRT gives a command to whichever compute unit is free, unless the kernel's object names one: so
    each unit has an object of its own, and gets the slabs that lie next to it.
    """
    named = {a.name: text for a, text in zip(record.arguments, passed)}
    large = LEAST_BEATS * record.lanes * record.units
    if not spreads(record.skeleton, member.kinds, large, record.lanes, record.units):
        return None
    if len({bank for _, bank, _ in ports}) != 1 or not channels(ports[0][1]) or "n" not in named:
        return None
    offsets = [text for name, text in named.items() if name.endswith("_offset") and text != "0"]
    unaligned = "".join(f" and not {text}" for text in offsets)
    sizes = [width(record.arguments[k].c) for k, _, _ in ports]
    described = image.file.description.kernel(record.name)
    assert described is not None, "the manifest was compared with the file"
    units = [f"{record.name}:{{{unit.name}}}" for unit in described.units]
    kernels: list[Any] = []

    def launch(stream: Any, count: int, n: int, handles: Sequence[BankedBuffer]) -> list[tuple[Any, Any, Any]] | None:
        while len(kernels) < count:
            kernels.append(prepared(backend.cl.Kernel(image.program, units[len(kernels)])))
        cuts = [Cut(n // record.lanes, size, count) for size in sizes]
        if not spread(backend, stream, kernels[0], handles, ports, cuts):
            return None
        for unit, kernel in enumerate(kernels[:count]):
            parts = [h.cl.pieces[unit].cl for h in handles]
            kernel._set_arg_multi(tuple(x for p, part in zip(ports, parts) for x in (p[0], part)))
        return [(k, k._set_arg_buf_multi, k._set_arg_buf_pack_multi) for k in kernels[:count]]

    least = f"{named['n']} >= {LEAST_BEATS * record.lanes} * units"
    return _Slabs(least + unaligned, named["n"], launch)
