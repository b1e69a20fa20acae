"""Launches of several kernels that run side by side: those of a graph, joined by streams."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...image.call_tokens import SCOPE, compiled, expressions
from ..images import LoadedImage, Slot
from ..opencl.launch import TYPE_CHARS
from ..parts import CompiledKernel
from ..signals import deferred
from .banks import Port, place
from .queue import COMMANDS_AHEAD

if TYPE_CHECKING:
    from .backend import XrtBackend


class Kernels:
    """Several in the way of one: their arguments are counted through all of them."""

    def __init__(self, kernels: Sequence[Any], counts: Sequence[int]) -> None:
        """The driver's kernels, and how many arguments each has."""
        self._places = [(one, k) for one, count in zip(kernels, counts) for k in range(count)]
        self.function_name = kernels[0].function_name

    def _set_arg_multi(self, pair: tuple[int, Any]) -> None:
        """As pyopencl's kernels have it, of one argument."""
        kernel, k = self._places[pair[0]]
        kernel._set_arg_multi((k, pair[1]))


def make_launcher(backend: XrtBackend, image: LoadedImage, slot: Slot) -> CompiledKernel:
    """A function `launch(stream, units, *args)` that starts all kernels of an entry.

    Each has one compute unit, and is a command of its own. The commands wait for what was before
    them and not for each other: a kernel ends when it has had all beats, which others send. Nor
    would they tell two launches apart, so one waits for the one before it, in whatever stream. What
    Ctrl-C left half started would wait for ever, and with it what is behind it: all are started,
    and noted, or none.
    """
    from pyopencl import _cl

    parts = image.file.manifest.parts(slot.entry)
    kernels = [backend.cl.Kernel(image.program, record.name) for record, _ in parts]
    whole = Kernels(kernels, [len(record.arguments) for record, _ in parts])
    pointers, ports, lines = list[str](), list[Port](), list[str]()
    scope, first = dict[str, Any](SCOPE), 0
    for j, ((record, member), kernel) in enumerate(zip(parts, kernels)):
        passed = expressions(image.file.path, record, member, slot.params)
        texts = [*passed, "0", "1"]  # the compute unit, of one
        for k, (argument, text) in enumerate(zip(record.arguments, texts)):
            if argument.what == "*":
                lines.append(f"    set{j}(({k}, buffers[{len(pointers)}]))")
                pointers.append(text)
                writes = not argument.c.startswith("const ")
                ports.append((first + k, image.file.bank(record.name, k), writes))
            else:
                char = TYPE_CHARS[argument.what]
                lines.append(f"    number{j}(({k}, pack({char!r}, {text})))")
        first += len(record.arguments)
        scope |= {f"kernel{j}": kernel, f"set{j}": kernel._set_arg_multi}
        scope[f"number{j}"] = kernel._set_arg_buf_multi
    lines = [
        f"def launch(stream, units, {''.join(f'a{i}, ' for i in range(len(slot.params)))}/):",
        "    queue = stream.queue",
        f"    handles = ({', '.join(pointers)},)",
        "    buffers, held = place(backend, stream, whole, handles, ports)",
        *lines,
        "    last = ran.get(name)",
        "    if last is not None and last[0] is not queue: queue.wait_for(last[1])",
        "    before, tail = queue.before(), []",
        "    with deferred():",
        f"        for kernel in ({', '.join(f'kernel{j}' for j in range(len(parts)))},):",
        "            tail.append(enqueue(queue.cl, kernel, ONE, ONE, None, before, False, False))",
        "        queue.tail = tail",
        "        ran[name] = queue, queue.marker()",
        "    stream.launched += 1",
        f"    queue.commands += {len(parts)}",
        "    if queue.commands * len(queues) >= STEP:",
        "        queue.commands = 0",
        "        stream.throttle()",
    ]
    scope |= {
        "ONE": (1,),
        "STEP": COMMANDS_AHEAD // 2,
        "queues": backend.queues,
        "backend": backend,
        "name": slot.entry,
        "ran": backend.images.ran_together,
        "deferred": deferred,
        "enqueue": _cl.enqueue_nd_range_kernel,
        "pack": struct.pack,
        "place": place,
        "ports": tuple(ports),
        "whole": whole,
    }
    run: CompiledKernel = compiled(slot.entry, lines, scope)
    return run
