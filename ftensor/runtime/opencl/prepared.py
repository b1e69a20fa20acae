"""Kernel calls whose arguments stay the same: prepared once, enqueued many times in the same order."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ..interfaces import KernelCall
from .launch import TYPE_CHARS, KernelObjects

if TYPE_CHECKING:
    from ..stream import DeviceStream

MAX_RUN = 64  # calls between two looks at the stream's length
# Kernels in the calling thread between two looks at whether the stream is idle.
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
    """Enqueues kernel calls on a stream. Between runs it holds no kernel object, so it costs no
    memory of the driver, and each run sets all arguments anew: a run that Ctrl-C ends leaves no trace.

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
        """Enqueues the calls behind the stream's commands."""
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
                    stream.flying.append(event)  # that of the last command: the queue is in order
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
