"""Launches through pyopencl: arguments, units, and calls prepared for replays."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import image as errors
from ...kernels.user_kernels import DTYPES, UserKernelArgument, argument
from .. import cache
from ..interfaces import CompiledKernel, KernelCall, UserKernel

if TYPE_CHECKING:
    from ...kernels.user_kernels import UserKernelKey
    from ..stream import DeviceStream
    from .backend import OpenCLBackend


# How pyopencl packs a scalar of that C type; "l" and "L" are 64 bits wide where C's long is.
TYPE_CHARS = {
    "char": "b",
    "uchar": "B",
    "short": "h",
    "ushort": "H",
    "int": "i",
    "uint": "I",
    "long": "l" if struct.calcsize("l") == 8 else "q",
    "ulong": "L" if struct.calcsize("L") == 8 else "Q",
    "float": "f",
    "double": "d",
}


class KernelObjects(NamedTuple):
    """The kernel objects behind a launcher, and how it launches them."""

    free: list[Any]  # each with its three setters
    another: Callable[[], Any]
    params: Sequence[str]
    local_size: tuple[int] | None
    inline_queue: Any
    inline: bool  # True if it runs in the calling thread while the stream is idle

    def take(self) -> Any:
        """Returns an unused kernel object with its three setters."""
        try:
            return self.free.pop()
        except IndexError:
            return self.another()


def make_launcher(
    make: Callable[[], Any],
    params: Sequence[str],
    local_size: tuple[int] | None,
    tasks: bool = False,
    inline_queue: Any = None,
) -> CompiledKernel:
    """Returns a generated function `launch(stream, units, *args)` for one kernel's parameters.

    A unit is a work-item. With `tasks`, a unit is a launch of its own with a single work-item, and
    two ints after `params` pass its index and the number of units. If the device has an
    `inline_queue`, which runs commands in the calling thread, the function has an attribute
    `inline`: a function that runs the kernel there if the stream is idle. Without `tasks`, both
    functions have an attribute `objects`, which `PreparedCalls` uses to launch the kernel.

    All pointers are set in one call and all scalars in another, by the two methods that pyopencl's
    own generated code uses. That leaves 0.5 us of Python around the enqueue itself.

    A kernel object holds its arguments until the enqueue, so only one launch may use it at a time.
    Each launch takes a free kernel object, or creates one with `make`. There is no lock: a signal
    handler or finalizer may launch the kernel that it has just interrupted, and threads need not
    wait.
    """
    names = [f"a{i}" for i in range(len(params))]
    handles, packed, scalars = [], [], []
    for i, (name, param) in enumerate(zip(names, params, strict=True)):
        if param == "*":
            handles.append(f"{i}, {name}")
        elif TYPE_CHARS[param] in "qQ":
            scalars.append(f"{i}, pack({TYPE_CHARS[param]!r}, {name})")
        else:
            packed.append(f"{i}, {TYPE_CHARS[param].encode()!r}, {name}")
    head = f"def launch({', '.join(['stream', 'units', *names])}, /):"
    queue = "    queue = stream.queue"  # in a forked child this raises
    lines = [
        "    try:",
        "        taken = free.pop()",
        "    except IndexError:",
        "        taken = another()",
        "    kernel, set_handles, set_packed, set_other = taken",
    ]
    for method, arguments in (("handles", handles), ("packed", packed), ("other", scalars)):
        if arguments:
            lines.append(f"    set_{method}(({', '.join(arguments)},))")
    enqueue = "enqueue(queue, kernel, (units,), local_size, None, None, False, False)"
    if tasks:
        n = len(params)
        lines += [
            "    for unit in range(units):",
            f"        set_packed(({n}, b'i', unit, {n + 1}, b'i', units))",
            "        enqueue(queue, kernel, (1,), (1,), None, None, False, False)",
        ]
    elif inline_queue is None:
        lines.append(f"    {enqueue}")
    release = "    free.append(taken)"
    count = [
        release,
        "    launched = stream.launched = stream.launched + 1",
        "    if not launched & 1023:",
        "        stream.throttle()",
    ]
    from pyopencl import _cl

    def another() -> tuple[Any, ...]:
        kernel = make()
        setters = kernel._set_arg_multi, kernel._set_arg_buf_pack_multi, kernel._set_arg_buf_multi
        return (kernel, *setters)

    first = another()
    free = [first]
    scope = {
        "free": free,
        "another": another,
        "enqueue": _cl.enqueue_nd_range_kernel,
        "local_size": local_size,
        "pack": struct.pack,
    }
    name = first[0].function_name
    objects = KernelObjects(free, another, params, local_size, inline_queue, False)
    if inline_queue is None:
        launch = _compiled(name, [head, queue, *lines, *count], scope)
        launch.objects = None if tasks else objects  # type: ignore[attr-defined]
        return launch
    # A stream is idle if the events of its commands are complete. If Ctrl-C strikes between these
    # two lines, an event is lost and inline launches could not wait for it. So the stream counts as
    # busy until it is waited for.
    noted = [
        "    try:",
        f"        stream.flying.append({enqueue})",
        "    except BaseException:",
        "        stream.forget_events()",
        "        raise",
    ]
    launch = _compiled(name, [head, queue, *lines, *noted, *count], scope)
    # A second function with the same code: `launch` refers to `inline`, and a reference back would
    # be a cycle.
    queued = FunctionType(launch.__code__, launch.__globals__)  # type: ignore[attr-defined]
    scope |= {"queued": queued, "inline_queue": inline_queue}
    beside = [
        queue,
        "    if stream.finished != stream.launched and not stream.query_finished():",
        f"        return queued({', '.join(['stream', 'units', *names])})",
        "    queue = inline_queue",
        *lines,
        f"    {enqueue}",
        release,
    ]
    inline = _compiled(name, [head, *beside], scope)
    inline.objects = objects._replace(inline=True)  # type: ignore[attr-defined]
    launch.inline, launch.objects = inline, objects  # type: ignore[attr-defined]
    return launch


def _compiled(name: str, lines: Sequence[str], scope: dict[str, Any]) -> CompiledKernel:
    namespace = dict(scope)
    exec(compile("\n".join(lines), f"<launch {name}>", "exec"), namespace)
    return namespace.pop("launch")  # avoids a reference cycle


# With it the driver keeps the parameters' names and types.
ARGUMENT_INFO = "-cl-kernel-arg-info"
ALIGNED = 128  # each `__local` argument is aligned to the largest vector, in bytes
_ASKS_WHICH = re.compile(r"\bget_(?:global|local|group|num)_\w+\s*\(")


class UserProgram:
    """A user's compiled OpenCL program and its kernels."""

    def __init__(self, backend: OpenCLBackend, source: str, options: tuple[str, ...]) -> None:
        self.backend = backend
        self.most: int = backend.cl_device.max_work_group_size
        self.asks_which = _ASKS_WHICH.search(source) is not None
        self.digest = cache.key("own", source, *options)[:16]
        words = backend._all_options((ARGUMENT_INFO, *options))
        key = backend._cache_key(source, words)
        with cache.entry_lock(key):
            # Programs loaded from binaries lack parameter info, so the cache has it beside the
            # binary.
            parameters = cache.get(_argument_cache_key(key))
            program = None if parameters is None else backend._program_from_cache(key, words)
            if program is None:
                program = backend._compiled(source, "", words, _refused)
                parameters = json.dumps(_parameters(backend.cl, program)).encode()
                if parameters != b"{}":  # drivers return no binary for a program without kernels
                    cache.put(key, backend._binary(program))
                    cache.put(_argument_cache_key(key), parameters)
        assert parameters is not None
        self.program = program
        self.parameters: dict[str, list[list[Any]]] = json.loads(parameters)

    def arguments(self, name: str) -> tuple[UserKernelArgument, ...]:
        """Returns a kernel's parameters. Raises ValueError for a parameter that no call can
        pass."""
        return tuple([self._argument(name, k, *p) for k, p in enumerate(self.parameters[name])])

    def _argument(self, kernel: str, k: int, name: str, c: str, space: str, const: bool) -> Any:
        if space == "local":
            return UserKernelArgument(name, f"__local {c.replace('*', ' *')}", "local", k)
        if space == "private" and "*" not in c:
            described = argument(name, c, k)
        else:
            described = argument(name, f"{'const ' * const}{c}", k)
        if described is None or described.kind == "stream":
            raise errors.bad_parameter(kernel, name, c)
        return described

    def kernel(self, key: UserKernelKey) -> UserKernel:
        """Returns a kernel for the work-items of a key."""
        backend = self.backend
        alignment = backend.cl_device.mem_base_addr_align // 8
        return UserKernel(_Launcher(self, key), 1 if backend.host_shared else alignment)


def _argument_cache_key(key: str) -> str:
    return cache.key("own arguments", key)


def _refused(entry: str, device: str, log: str, source: str) -> RuntimeError:
    return errors.not_compiled(device, "the OpenCL C", log.strip())


def _parameters(cl: Any, program: Any) -> dict[str, list[list[Any]]]:
    """Returns for each kernel its parameters: name, C type, address space, and True if const."""
    about, spaces = cl.kernel_arg_info, cl.kernel_arg_address_qualifier
    names = {spaces.GLOBAL: "global", spaces.CONSTANT: "global", spaces.LOCAL: "local"}
    parameters: dict[str, list[list[Any]]] = {}
    for name in _kernel_names(cl, program):
        kernel = cl.Kernel(program, name)
        parameters[name] = []
        for k in range(kernel.num_args):
            space = kernel.get_arg_info(k, about.ADDRESS_QUALIFIER)
            const = kernel.get_arg_info(k, about.TYPE_QUALIFIER) & cl.kernel_arg_type_qualifier.CONST
            const = bool(const) or space == spaces.CONSTANT
            words = [kernel.get_arg_info(k, query) for query in (about.NAME, about.TYPE_NAME)]
            parameters[name].append([*words, names.get(space, "private"), const])
    return parameters


def _kernel_names(cl: Any, program: Any) -> list[str]:
    try:
        return [name for name in program.get_info(cl.program_info.KERNEL_NAMES).split(";") if name]
    except cl.LogicError as e:
        # Some drivers return this for a source that compiles and has no kernel.
        if e.code != cl.status_code.INVALID_PROGRAM_EXECUTABLE:
            raise
        return []


class _Launcher:
    """Launches a user's kernel. A kernel object holds its arguments until the enqueue, so only one
    launch uses it at a time."""

    def __init__(self, program: UserProgram, key: UserKernelKey) -> None:
        self.backend, self.key = program.backend, key
        self.cl, self.program = program.backend.cl, program.program
        self.free: list[Any] = [self._new_kernel()]
        self.locals = [k for k, a in enumerate(key.scalars) if a.kind == "local"]
        device = self.backend.cl_device
        about = self.cl.kernel_work_group_info.LOCAL_MEM_SIZE
        self.static_local_bytes: int = self.free[0].get_work_group_info(about, device)
        self._fits(())

    def _new_kernel(self) -> Any:
        return self.cl.Kernel(self.program, self.key.name)

    def __call__(self, stream: DeviceStream, units: int, /, *args: Any) -> None:
        queue, key = stream.queue, self.key
        count = len(key.pointers)
        # Held until the command is enqueued: a kernel object does not hold its arguments.
        buffers = [self._from(buffer, offset, a) for a, buffer, offset in zip(key.pointers, args, args[count:])]
        pointers = iter(buffers)
        if self.locals:
            self._fits([args[2 * count + k] for k in self.locals])
        scalars = iter(args[2 * count :])
        try:
            kernel = self.free.pop()
        except IndexError:
            kernel = self._new_kernel()
        for a in key.arguments:
            if a.kind == "*":
                kernel.set_arg(a.number, next(pointers))
            elif a.kind == "local":
                kernel.set_arg(a.number, self.cl.LocalMemory(next(scalars)))
            else:
                kernel.set_arg(a.number, DTYPES[a.kind].numpy.type(next(scalars)))
        try:
            stream.note(self.cl.enqueue_nd_range_kernel(queue, kernel, key.grid, key.group))
        except self.cl.LogicError as e:
            units_of = f"units={key.grid}, group={key.group}"
            name = self.backend.properties.name
            raise errors.refused(name, key.name, units_of, e) from None
        except BaseException:
            if self.backend.inline:
                stream.forget_events()
            raise
        self.free.append(kernel)
        if not stream.launched & 1023:
            stream.throttle()

    def _fits(self, sizes: Sequence[int]) -> None:
        """Raises ValueError if a work-group needs more local memory than the device has. Some
        drivers end the process in this case."""
        available: int = self.backend.cl_device.local_mem_size
        requested = self.static_local_bytes + sum(-(-size // ALIGNED) * ALIGNED for size in sizes)
        if requested > available:
            raise errors.no_room_for_locals(self.key.name, requested, self.backend.properties.name, available)

    def _from(self, buffer: Any, offset: int, a: UserKernelArgument) -> Any:
        """Returns the part of the buffer that begins at the tensor's first element."""
        if not offset:
            return buffer
        start = offset * (a.dtype.itemsize if a.dtype else 1)
        if not self.backend.host_shared:
            return buffer.get_sub_region(start, buffer.size - start)
        flags = self.cl.mem_flags
        access = flags.READ_ONLY if a.const else flags.READ_WRITE
        memory = buffer.hostbuf[start:]
        return self.cl.Buffer(self.backend.context, access | flags.USE_HOST_PTR, hostbuf=memory)


MAX_RUN = 64  # calls between two checks of the stream's length
# Kernels in the calling thread between two checks whether the stream is idle.
MAX_INLINE_RUN = 8


class _Entry(NamedTuple):
    """A prepared call: the index of its kernel object, its compute units, and the arguments that
    differ from those of the previous call with this object, grouped by the pyopencl function that
    sets them."""

    place: int
    units: tuple[int]
    handles: tuple[Any, ...]
    packed: tuple[Any, ...]
    other: tuple[Any, ...]


class PreparedCalls:
    """Enqueues kernel calls on a stream. Between runs it holds no kernel object, so it takes no
    memory of the driver. Each run sets all arguments anew, so a run that Ctrl-C ends has no effect
    on the next.

    Kernels that may run in the calling thread do so while the stream is idle, as single calls do.
    """

    def __init__(self, calls: Sequence[KernelCall]) -> None:
        self.objects: list[KernelObjects] = []
        places: dict[int, int] = {}
        last: dict[int, Sequence[Any]] = {}
        entries: list[tuple[bool, _Entry]] = []
        for run, units, arguments in calls:
            objects: KernelObjects = run.objects  # type: ignore[attr-defined]
            place = places.setdefault(id(objects.free), len(places))
            if place == len(self.objects):
                self.objects.append(objects)
            setters = _differing(objects.params, arguments, last.get(place))
            last[place] = arguments
            entries.append((objects.inline, _Entry(place, (units,), *setters)))
        self.runs = list(_runs(entries))

    def enqueue(self, stream: DeviceStream) -> None:
        """Enqueues the calls after the stream's earlier commands."""
        from pyopencl import _cl

        enqueue: Callable[..., Any] = _cl.enqueue_nd_range_kernel
        queue = stream.queue  # in a forked child this raises
        taken = [objects.take() for objects in self.objects]
        local_size, inline_queue = self.objects[0].local_size, self.objects[0].inline_queue
        for inline, entries in self.runs:
            beside = inline and (stream.finished == stream.launched or stream.query_finished())
            to = inline_queue if beside else queue
            event = None
            try:
                for place, units, handles, packed, other in entries:
                    kernel, set_handles, set_packed, set_other = taken[place]
                    if handles:
                        set_handles(handles)
                    if packed:
                        set_packed(packed)
                    if other:
                        set_other(other)
                    event = enqueue(to, kernel, units, local_size, None, None, False, False)
                if not beside and inline_queue is not None:
                    stream.flying.append(event)  # the last command's event is enough: the queue is in order
            except BaseException:
                if not beside:
                    stream.forget_events()
                raise
            if not beside:
                before, stream.launched = stream.launched, stream.launched + len(entries)
                if before >> 10 != stream.launched >> 10:
                    stream.throttle()
        for objects, one in zip(self.objects, taken):
            objects.free.append(one)


def prepare_calls(calls: Sequence[KernelCall]) -> Callable[[DeviceStream], None]:
    """Returns a function that enqueues the calls on a stream. Calls of kernels that `make_launcher`
    did not make are enqueued one by one."""
    parts: list[Callable[[DeviceStream], None]] = []
    for is_prepared, group in groupby(calls, lambda call: getattr(call.run, "objects", None) is not None):
        if is_prepared:
            parts.append(PreparedCalls(list(group)).enqueue)
        else:
            parts += [call.enqueue for call in group]
    if len(parts) == 1:
        return parts[0]

    def enqueue(stream: DeviceStream) -> None:
        for part in parts:
            part(stream)

    return enqueue


def _differing(params: Sequence[str], arguments: Sequence[Any], last: Sequence[Any] | None) -> list[tuple[Any, ...]]:
    """Returns the arguments that differ from `last`, in three groups: buffers, scalars that
    pyopencl packs, and 64-bit integers."""
    handles: list[Any] = []
    packed: list[Any] = []
    other: list[Any] = []
    for i, (param, x) in enumerate(zip(params, arguments, strict=True)):
        if last is not None and (last[i] is x or (type(x) is int and type(last[i]) is int and last[i] == x)):
            continue
        if param == "*":
            handles += (i, x)
        elif TYPE_CHARS[param] in "qQ":
            other += (i, struct.pack(TYPE_CHARS[param], x))
        else:
            packed += (i, TYPE_CHARS[param].encode(), x)
    return [tuple(handles), tuple(packed), tuple(other)]


def _runs(entries: Sequence[tuple[bool, _Entry]]) -> Iterator[tuple[bool, list[_Entry]]]:
    for inline, group in groupby(entries, lambda entry: entry[0]):
        while run := [entry for _, entry in islice(group, MAX_INLINE_RUN if inline else MAX_RUN)]:
            yield inline, run
