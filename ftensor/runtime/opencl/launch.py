"""Python code written for one OpenCL kernel: its arguments and its enqueue, in few steps."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from ..parts import CompiledKernel

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


def make_launcher(
    make: Callable[[], Any],
    params: Sequence[str],
    local_size: tuple[int] | None,
    tasks: bool = False,
    inline_queue: Any = None,
) -> CompiledKernel:
    """A function `launch(stream, units, *args)` written for one kernel's parameters.

    A unit is a work-item; with `tasks` it is a launch of its own of a single work-item, which is
    told its number and the number of units by two ints behind `params`. Where the device has an
    `inline_queue`, which runs commands in the calling thread, the function has another one,
    `inline`, that runs its kernel there if the stream has nothing left to do.

    Setting all pointers in one call and all scalars in another, through the two methods that
    pyopencl's own generated code uses, leaves 0.5 us of Python around the enqueue itself.

    A kernel object holds its arguments until it is enqueued, so each is in one launch at a time:
    it is taken from those that are free, or `make` makes another one. No lock: a signal's handler
    or a finalizer may launch what it has just interrupted, and threads need not wait.
    """
    names = [f"a{i}" for i in range(len(params))]
    handles, packed, other = [], [], []
    for i, (name, param) in enumerate(zip(names, params, strict=True)):
        if param == "*":
            handles.append(f"{i}, {name}")
        elif TYPE_CHARS[param] in "qQ":
            other.append(f"{i}, pack({TYPE_CHARS[param]!r}, {name})")
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
    for method, parts in (("handles", handles), ("packed", packed), ("other", other)):
        if parts:
            lines.append(f"    set_{method}(({', '.join(parts)},))")
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
    scope = {
        "free": [first],
        "another": another,
        "enqueue": _cl.enqueue_nd_range_kernel,
        "local_size": local_size,
        "pack": struct.pack,
    }
    name = first[0].function_name
    if inline_queue is None:
        return _compiled(name, [head, queue, *lines, *count], scope)
    # Whether a stream is through is asked of its commands' events, and one that Ctrl-C lost between
    # these two lines is not waited for by what runs beside the queue: so nothing does then.
    noted = [
        "    try:",
        f"        stream.flying.append({enqueue})",
        "    except BaseException:",
        "        stream.lose_sight()",
        "        raise",
    ]
    launch = _compiled(name, [head, queue, *lines, *noted, *count], scope)
    # A second function of the same code: `launch` holds `inline`, which must not hold `launch`.
    queued = FunctionType(launch.__code__, launch.__globals__)  # type: ignore[attr-defined]
    scope |= {"queued": queued, "inline_queue": inline_queue}
    beside = [
        queue,
        "    if stream.finished != stream.launched and not stream.through():",
        f"        return queued({', '.join(['stream', 'units', *names])})",
        "    queue = inline_queue",
        *lines,
        f"    {enqueue}",
        release,
    ]
    launch.inline = _compiled(name, [head, *beside], scope)  # type: ignore[attr-defined]
    return launch


def _compiled(name: str, lines: Sequence[str], scope: dict[str, Any]) -> CompiledKernel:
    namespace = dict(scope)
    exec(compile("\n".join(lines), f"<launch {name}>", "exec"), namespace)
    launch: CompiledKernel = namespace.pop("launch")  # or it would hold itself, until a garbage collection
    return launch
