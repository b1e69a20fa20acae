"""Launches on XRT: arguments, compute units, linked kernels."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import image as errors
from ...image.manifest import SCOPE, compiled, expressions
from ...kernels.channels import MIN_BEATS, RowSlabs, SlabCut, channels, splits_into_slabs
from ...kernels.graph_text import ABOVE, HALO
from ...kernels.skeleton import exact_units
from ...kernels.source import width
from ...kernels.user_kernels import DTYPES, UserKernelArgument
from ..images import LoadedImage, Slot
from ..interfaces import CompiledKernel, UserKernel
from ..lifetime import signals_deferred
from ..opencl.launch import TYPE_CHARS
from .banks import Port, place_arguments, place_in_slabs
from .queue import COMMANDS_AHEAD

if TYPE_CHECKING:
    from ...image.file import ImageFile
    from ...image.manifest import KernelRecord, MemberRecord
    from ...kernels.user_kernels import UserKernelKey
    from .backend import XrtBackend
    from .banks import BankedBuffer


def make_launcher(backend: XrtBackend, image: LoadedImage, slot: Slot) -> CompiledKernel:
    """Returns a generated function `launch(stream, units, *args)` for one entry of an image.

    The manifest's tokens map its arguments to the kernel's. Buffers that are not in the bank of
    their port take the slow path through `banks.place_arguments`. Each compute unit's part of the
    launch is a command of its own. Arguments that have not changed since the kernel object's last
    launch are not set again, since a call of the driver takes long on Arm boards.
    """
    from pyopencl import _cl

    entry = image.find(slot.entry)
    assert entry is not None
    record, member = entry
    kernel = backend.cl.Kernel(image.program, record.name)
    arguments = expressions(image.file.path, record, member, slot.params)
    count = len(arguments)
    unused = [token.startswith("@") for token in member.call.split()]
    pointers, ports = [], list[Port]()
    stand_ins, scalars, constants = [], [], []
    for k, (argument, text) in enumerate(zip(record.arguments, arguments)):
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
        else:
            scalars.append((k, char, text))

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
        lines.append(f"    if {there}:")
        for p, (k, _, _) in zip(pointers, ports):
            lines += [
                f"        if {p}.cl is not last[{k}]:",
                f"            set_handles(({k}, {p}.cl))",
                f"            last[{k}] = {p}.cl",
            ]
        lines += [
            "    else:",
            f"        handles = ({', '.join(pointers)},)",
            "        last.clear()  # placing a buffer sets an argument",
            "        buffers, held = place(backend, stream, kernel, handles, ports)",
            *[f"        set_handles(({k}, buffers[{i}]))" for i, (k, _, _) in enumerate(ports)],
            *[f"        last[{k}] = buffers[{i}]" for i, (k, _, _) in enumerate(ports)],
        ]
    scalars.append((count + 1, "i", "units"))
    scalar_lines = [line for k, char, text in scalars for line in _set_number(k, char, text)]
    unit_set = _set_number(count, "i", "unit")
    started = "enqueue(queue.cl, kernel, ONE, ONE, None, before, False, False)"
    enqueued = ["    queue.tail = tail", *_counted("units")]
    if not exact_units(record.skeleton):
        lines.insert(3, f"    if units > {record.units}: units = {record.units}")
    slabs = _slabs(backend, image, record, member, arguments, ports, prepared)
    if slabs is not None:
        lines[4:4] = [
            f"    if units > 1 and {slabs.condition}:",
            f"        each = in_slabs(stream, units, {slabs.n}, ({', '.join(pointers)},))",
            "        if each is not None:",
            "            before, tail = queue.before(), []",
            "            for unit, (own, set_longs_, set_scalars_, last_) in enumerate(each):",
            *[f"                {_of_unit(line)}" for line in (*scalar_lines, *unit_set)],
            f"                tail.append({started.replace('kernel', 'own')})",
            *["        " + line for line in enqueued],
            "            return",
        ]
    lines += [
        *["    " + line for line in scalar_lines],
        "    before, tail = queue.before(), []",
        "    for unit in range(units):",
        *["        " + line for line in unit_set],
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
        "place": place_arguments,
        "last": defaultdict[int, Any](_never),
        "ports": tuple(ports),
        "set_handles": kernel._set_arg_multi,
        "set_longs": kernel._set_arg_buf_multi,
        "set_scalars": kernel._set_arg_buf_pack_multi,
    }
    return compiled(slot.entry, lines, scope)


def _never() -> object:
    """Returns a new object, which equals no argument."""
    return object()


def _counted(commands: str) -> list[str]:
    """Returns the lines that count a launch of this number of commands."""
    return [
        "    stream.launched += 1",
        f"    queue.commands += {commands}",
        "    if queue.commands * len(queues) >= STEP:",
        "        queue.commands = 0",
        "        stream.throttle()",
    ]


def _set_number(k: int, char: str, text: str) -> list[str]:
    """Returns lines of Python that set argument `k` of a kernel to the value of the expression
    `text` if it has changed. `char` is its format character in `struct`.

    In these lines `last` holds the arguments of the kernel's last launch.
    """
    again = " or not value" if char in "efd" else ""  # the two zeros are equal
    if char in "qQ":
        set_ = f"set_longs(({k}, pack({char!r}, value)))"
    else:
        set_ = f"set_scalars(({k}, {char.encode()!r}, value))"
    return [f"value = {text}", f"if value != last[{k}]{again}:", f"    {set_}", f"    last[{k}] = value"]


def _of_unit(line: str) -> str:
    """Returns a line of `_set_number` changed to set the argument in one compute unit's kernel
    object."""
    return line.replace("set_longs(", "set_longs_(").replace("set_scalars(", "set_scalars_(").replace("last[", "last_[")


class _Slabs(NamedTuple):
    """How a launcher places operands in slabs: `condition` and `n` are code for the condition and
    for the number of elements, and `launch` places the operands."""

    condition: str
    n: str
    launch: Callable[..., Sequence[tuple[Any, Any, Any, Any]] | None]


def _slabs(
    backend: XrtBackend,
    image: LoadedImage,
    record: KernelRecord,
    member: MemberRecord,
    arguments: Sequence[str],
    ports: Sequence[Port],
    prepared: Callable[[Any], Any],
) -> _Slabs | None:
    """Returns how a kernel's operands are placed in slabs, or None if the kernel does not support
    slabs.

    XRT gives a command to any free compute unit, unless the kernel object names one. So each unit
    has its own kernel object, and gets the slabs next to it.
    """
    named = {a.name: text for a, text in zip(record.arguments, arguments)}
    large = MIN_BEATS * record.lanes * record.units
    if member.rows:
        by_rows = RowSlabs(member.rows[0], member.rows[1:])
        together, sizes, least = by_rows.rows, by_rows.nbytes, by_rows.min_rows_per_unit
        if record.units < 2 or len(sizes) != len(ports):
            return None
    elif splits_into_slabs(record.skeleton, member.kinds, large, record.lanes, record.units):
        together, least = record.lanes, MIN_BEATS * record.lanes
        sizes = tuple(width(record.arguments[k].c) for k, _, _ in ports)
    else:
        return None
    if len({bank for _, bank, _ in ports}) != 1 or not channels(ports[0][1]) or "n" not in named:
        return None
    # Of the rows beside a unit's own: the distance of their slab.
    beside = [{HALO: 1, ABOVE: -1}.get(kind, 0) for kind in member.kinds] if member.rows else [0] * len(ports)
    offsets = [text for name, text in named.items() if name.endswith("_offset") and text != "0"]
    unaligned = "".join(f" and not {text}" for text in offsets)
    described = image.file.description.kernel(record.name)
    assert described is not None, "the manifest was compared with the file"
    units = [f"{record.name}:{{{unit.name}}}" for unit in described.units]
    kernels: list[Any] = []
    lasts: list[defaultdict[int, Any]] = []  # the arguments of each kernel's last launch

    def launch(
        stream: Any, count: int, n: int, handles: Sequence[BankedBuffer]
    ) -> list[tuple[Any, Any, Any, Any]] | None:
        while len(kernels) < count:
            backend.let_scheduler_rest()
            kernels.append(prepared(backend.cl.Kernel(image.program, units[len(kernels)])))
            lasts.append(defaultdict(_never))
        cuts = [SlabCut(n // together, size, count) if size else None for size in sizes]
        if not place_in_slabs(backend, stream, kernels[0], handles, ports, cuts):
            return None
        for unit, (kernel, last) in enumerate(zip(kernels[:count], lasts)):
            for (k, _, _), handle, cut, distance in zip(ports, handles, cuts, beside):
                part = handle.cl.pieces[min(max(unit + distance, 0), count - 1)].cl if cut else handle.cl
                if unit == 0 or last[k] is not part:  # placing a buffer sets an argument of the first
                    kernel._set_arg_multi((k, part))
                    last[k] = part
        return [(k, k._set_arg_buf_multi, k._set_arg_buf_pack_multi, last) for k, last in zip(kernels[:count], lasts)]

    return _Slabs(f"{named['n']} >= {least} * units{unaligned}", named["n"], launch)


def _in_banks(handles: Sequence[BankedBuffer], ports: Sequence[Port]) -> bool:
    """True if every buffer already is in the bank of its port."""
    return all(handle.bank == bank for handle, (_, bank, _) in zip(handles, ports))


class LinkedKernels:
    """Several kernels with the interface of one: their arguments are numbered consecutively."""

    def __init__(self, kernels: Sequence[Any], counts: Sequence[int]) -> None:
        """`counts` is the number of arguments of each of the driver's kernels."""
        self._places = [(one, k) for one, count in zip(kernels, counts) for k in range(count)]
        self.function_name = kernels[0].function_name

    def _set_arg_multi(self, pair: tuple[int, Any]) -> None:
        """Sets one argument, given as (number, value), like the method of pyopencl's kernels."""
        kernel, k = self._places[pair[0]]
        kernel._set_arg_multi((k, pair[1]))


def make_linked_launcher(backend: XrtBackend, image: LoadedImage, slot: Slot) -> CompiledKernel:
    """Returns a function `launch(stream, units, *args)` that starts all kernels of an entry.

    Each kernel has one compute unit and is a command of its own. The commands wait for earlier
    commands but not for each other, since a kernel ends after it has received all beats from the
    others. The kernels can't distinguish two launches, so each launch waits for the previous one,
    in any stream. If Ctrl-C left a launch half started, it would block itself and later launches
    for ever, so either all kernels are started and recorded, or none.
    """
    from pyopencl import _cl

    members = image.file.manifest.kernels_of(slot.entry)
    kernels = [backend.cl.Kernel(image.program, record.name) for record, _ in members]
    linked = LinkedKernels(kernels, [len(record.arguments) for record, _ in members])
    pointers, ports, lines = list[str](), list[Port](), list[str]()
    scope, first = dict[str, Any](SCOPE), 0
    for j, ((record, member), kernel) in enumerate(zip(members, kernels)):
        arguments = expressions(image.file.path, record, member, slot.params)
        texts = [*arguments, "0", "1"]  # the compute unit, of one
        for k, (argument, text) in enumerate(zip(record.arguments, texts)):
            if argument.what == "*":
                lines += [
                    f"    if buffers[{len(pointers)}] is not last[{first + k}]:",
                    f"        set{j}(({k}, buffers[{len(pointers)}]))",
                    f"        last[{first + k}] = buffers[{len(pointers)}]",
                ]
                pointers.append(text)
                writes = not argument.c.startswith("const ")
                ports.append((first + k, image.file.bank(record.name, k), writes))
            else:
                char = TYPE_CHARS[argument.what]
                lines += [
                    f"    value = pack({char!r}, {text})",
                    f"    if value != last[{first + k}]:",
                    f"        number{j}(({k}, value))",
                    f"        last[{first + k}] = value",
                ]
        first += len(record.arguments)
        scope |= {f"kernel{j}": kernel, f"set{j}": kernel._set_arg_multi}
        scope[f"number{j}"] = kernel._set_arg_buf_multi
    lines = [
        f"def launch(stream, units, {''.join(f'a{i}, ' for i in range(len(slot.params)))}/):",
        "    queue = stream.queue",
        f"    handles = ({', '.join(pointers)},)",
        "    if not in_banks(handles, ports): last.clear()  # placing a buffer sets an argument",
        "    buffers, held = place(backend, stream, whole, handles, ports)",
        *lines,
        "    previous = ran.get(name)",
        "    if previous is not None and previous[0] is not queue: queue.wait_for(previous[1])",
        "    before, tail = queue.before(), []",
        "    with deferred():",
        f"        for kernel in ({', '.join(f'kernel{j}' for j in range(len(members)))},):",
        "            tail.append(enqueue(queue.cl, kernel, ONE, ONE, None, before, False, False))",
        "        queue.tail = tail",
        "        ran[name] = queue, queue.marker()",
        *_counted(str(len(members))),
    ]
    scope |= {
        "ONE": (1,),
        "STEP": COMMANDS_AHEAD // 2,
        "queues": backend.queues,
        "backend": backend,
        "in_banks": _in_banks,
        "last": defaultdict[int, Any](_never),
        "name": slot.entry,
        "ran": backend.images.ran_together,
        "deferred": signals_deferred,
        "enqueue": _cl.enqueue_nd_range_kernel,
        "pack": struct.pack,
        "place": place_arguments,
        "ports": tuple(ports),
        "whole": linked,
    }
    return compiled(slot.entry, lines, scope)


ONE = (1,)


def user_kernel(backend: XrtBackend, file: ImageFile, key: UserKernelKey) -> UserKernel:
    """Returns a kernel of a user's image, which is loaded at the first launch. Raises ImageError if
    the device can't run the image."""
    image = backend.images.add(file)
    described = file.description.kernel(key.name)
    assert described is not None, "asked for by its description"
    units = len(described.units) if key.shared else 1
    slot = Slot(key.entry, image=image, make=partial(_launcher, backend, image, key))
    slot.kernels = ((key.name, max(1, units)),)
    return UserKernel(backend.images.launcher(slot), 0, max(1, units))


def _launcher(backend: XrtBackend, image: LoadedImage, key: UserKernelKey) -> CompiledKernel:
    """Returns a function that launches the kernel on the loaded image, one command per unit."""
    _cl: Any = import_module("pyopencl._cl")
    kernel = backend.cl.Kernel(image.program, key.name)
    pointers = key.pointers
    bank = partial(image.file.bank, key.name)
    ports: list[Port] = [(a.number, bank(a.number), not a.const) for a in pointers]
    scalar_count = 1 + max([a.number for a in key.arguments], default=-1)
    set_bytes, enqueue = kernel._set_arg_buf_multi, _cl.enqueue_nd_range_kernel
    last = defaultdict[int, Any](_never)  # the arguments of the last launch

    def launch(stream: Any, units: int, /, *args: Any) -> None:
        queue = stream.queue
        if any(args[len(pointers) : 2 * len(pointers)]):  # a graph's: calls are looked at before
            raise errors.begins_later(key.name)
        if not _in_banks(args[: len(pointers)], ports):
            last.clear()  # placing a buffer sets an argument
        # `held` keeps the copies alive until the command is enqueued.
        buffers, held = place_arguments(backend, stream, kernel, args[: len(pointers)], ports)
        for (number, _, _), buffer in zip(ports, buffers):
            if buffer is not last[number]:
                kernel._set_arg_multi((number, buffer))
                last[number] = buffer
        for a, value in zip(key.scalars, args[2 * len(pointers) :]):
            data = _packed(a, value)
            if data != last[a.number]:
                set_bytes((a.number, data))
                last[a.number] = data
        before, tail = queue.before(), []
        for unit in range(units):
            if key.shared:
                kernel._set_arg_buf_pack_multi((scalar_count, b"i", unit, scalar_count + 1, b"i", units))
            tail.append(enqueue(queue.cl, kernel, ONE, ONE, None, before, False, False))
        del held
        queue.tail = tail
        stream.launched += 1
        queue.commands += units
        if queue.commands * len(backend.queues) >= COMMANDS_AHEAD // 2:
            queue.commands = 0
            stream.throttle()

    return launch


def _packed(argument: UserKernelArgument, value: Any) -> bytes:
    return DTYPES[argument.kind].numpy.type(value).tobytes().ljust(argument.size, b"\0")
