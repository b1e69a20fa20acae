"""Kernels of users' own on XRT: of any image, whose metadata says what they take and reach."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import own as errors
from ...kernels.own import DTYPES, OwnArgument
from ..images import LoadedImage, Slot
from ..parts import OwnKernel
from .banks import Port, place
from .queue import COMMANDS_AHEAD

if TYPE_CHECKING:
    from ...image.file import ImageFile
    from ...kernels.own import OwnKey
    from ..parts import CompiledKernel
    from .backend import XrtBackend

ONE = (1,)


def own_kernel(backend: XrtBackend, file: ImageFile, key: OwnKey) -> OwnKernel:
    """A kernel of a file, whose image is loaded with the first launch; ImageError where that can't
    run here."""
    image = backend.images.add(file)
    described = file.description.kernel(key.name)
    assert described is not None, "asked for by its description"
    units = len(described.units) if key.shared else 1
    slot = Slot(key.entry, image=image, make=partial(_launcher, backend, image, key))
    slot.kernels = ((key.name, max(1, units)),)
    return OwnKernel(backend.images.launcher(slot), 0, max(1, units))


def _launcher(backend: XrtBackend, image: LoadedImage, key: OwnKey) -> CompiledKernel:
    """A function that launches the kernel on the loaded image, a command for each unit."""
    _cl: Any = import_module("pyopencl._cl")
    kernel = backend.cl.Kernel(image.program, key.name)
    pointers = key.pointers
    bank = partial(image.file.bank, key.name)
    ports: list[Port] = [(a.number, bank(a.number), not a.const) for a in pointers]
    behind = 1 + max([a.number for a in key.arguments], default=-1)
    set_bytes, enqueue = kernel._set_arg_buf_multi, _cl.enqueue_nd_range_kernel

    def launch(stream: Any, units: int, /, *args: Any) -> None:
        queue = stream.queue
        if any(args[len(pointers) : 2 * len(pointers)]):  # a graph's: calls are looked at before
            raise errors.begins_later(key.name)
        # What the second gives is held until the command is enqueued.
        buffers, held = place(backend, stream, kernel, args[: len(pointers)], ports)
        for (number, _, _), buffer in zip(ports, buffers):
            kernel._set_arg_multi((number, buffer))
        for a, value in zip(key.numbers, args[2 * len(pointers) :]):
            set_bytes((a.number, _packed(a, value)))
        before, tail = queue.before(), []
        for unit in range(units):
            if key.shared:
                kernel._set_arg_buf_pack_multi((behind, b"i", unit, behind + 1, b"i", units))
            tail.append(enqueue(queue.cl, kernel, ONE, ONE, None, before, False, False))
        del held
        queue.tail = tail
        stream.launched += 1
        queue.commands += units
        if queue.commands * len(backend.queues) >= COMMANDS_AHEAD // 2:
            queue.commands = 0
            stream.throttle()

    return launch


def _packed(of: OwnArgument, value: Any) -> bytes:
    """A number as the host writes it: as many bytes as the image says."""
    return DTYPES[of.kind].numpy.type(value).tobytes().ljust(of.size, b"\0")
