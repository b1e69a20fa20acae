"""Records a profile: launches, host copies, allocations, and the work of each launch."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from ..execute.dispatch import Observer
from ..iterator.shape import numel
from ..kernels.skeleton import skeleton_of
from ..kernels.workload import distinct_elements
from ..rows.catalogue import ENTRIES
from ..runtime.launch_cache import notice

if TYPE_CHECKING:
    import numpy as np

    from .._tensor import Tensor
    from ..execute.launch import Launch
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream


class Work(NamedTuple):
    """The work of a launch. `nbytes` counts each byte of inputs and outputs once, regardless of
    caches and temporaries. `flops` counts floating-point operations; a function call is one."""

    title: str
    shapes: str
    nbytes: int
    flops: int


def work_of(launch: Launch, tensors: Sequence[Tensor]) -> Work:
    """Returns the work of a launch on these outputs and inputs."""
    shapes = [x._shape for x in tensors]
    titles: list[str] = []
    located: set[int] = set()
    read: set[int] = set()
    counted: set[str] = set()
    flops = 0
    for step in launch.steps:
        skeleton = skeleton_of(step.key)
        titles.append(skeleton.title(step.key))
        located |= {step.pointers[k] for k in skeleton.located(step.key)}
        unread = skeleton.unread(step.geometry)
        read |= {operand for k, operand in enumerate(step.pointers) if k not in unread}
        read |= set(step.after)
        # Steps of one kind share the operands: parts of a launch, classes of results.
        if step.key.skeleton not in counted:
            counted.add(step.key.skeleton)
            flops += skeleton.flops(step.key, step.geometry, shapes)
    sizes = [distinct_elements(x._shape, x._strides) * x._dtype.itemsize for x in tensors]
    # Operands accessed by indices are read or written at most as often as the others have elements.
    other_sizes = [numel(shape) for k, shape in enumerate(shapes) if k not in located]
    nbytes = 0
    seen: set[tuple[int, int, int]] = set()
    for k, x in enumerate(tensors):
        size = sizes[k]
        if k in located:
            size = min(size, max(other_sizes, default=0) * x._dtype.itemsize)
        place = (id(x._storage), x._offset, x._key)
        if k in read and place not in seen:
            nbytes += size
        if launch.fresh or k not in launch.written:
            seen.add(place)  # an absent operand may be passed as another one
    words = " ".join("x".join(map(str, shape)) or "1" for shape in shapes)
    return Work(" ".join(dict.fromkeys(titles)), words, nbytes, flops)


PACKAGE = __name__.partition(".")[0]
# Frames of these packages are between a program and its kernels and are skipped.
BETWEEN = (PACKAGE, "torch")
# Names of functions that are ops; other functions on the way to a kernel don't name an op.
OPS = frozenset(name.rpartition(".")[2] for name in ENTRIES)


@dataclass(slots=True)
class ProfiledEvent:
    """A launch, or a copy by the host. Times are nanoseconds of `time.perf_counter_ns`. The host
    was busy from `called` to `ended`, of which `compiling` was spent in a compiler. The device was
    busy from `begun` to `done`; copies occupy only the host."""

    kind: str  # "launch", "upload", "download"
    op: str  # the op that the program called
    kernel: str
    shapes: str
    line: str  # line of the program
    thread: int
    stream: int  # identifies the stream; 0 for a copy
    work: Work
    called: int
    ended: int
    compiling: int = 0
    begun: int = 0
    done: int = 0
    timings: tuple[Any, Any] | None = None  # the device's timestamps, until they are read


@dataclass
class MemoryUse:
    """The bytes that tensors held during a profile, by the program's line that allocated them."""

    before: int = 0  # bytes held at its start
    peak: int = 0
    by_line: dict[str, int] = field(default_factory=dict)  # bytes held at the peak
    held: dict[str, int] = field(default_factory=dict)  # bytes held now
    curve: list[tuple[int, int]] = field(default_factory=list)  # (time, bytes that tensors hold)


class Recorder(Observer):
    """The executor of a profiled device; fills a list of events."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.events: list[ProfiledEvent] = []
        self.memory = MemoryUse(backend.pool.allocated, backend.pool.allocated)
        self._offset = _clocks_apart(backend)
        self._works: dict[int, tuple[Launch, Work]] = {}  # keeps the launch alive, so that its id stays unique
        self._thread = threading.local()
        self._refs: set[weakref.ref[Storage]] = set()

    def called(self) -> None:
        self._thread.called = perf_counter_ns(), notice.spent

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> None:
        called, spent = self._thread.__dict__.pop("called", (perf_counter_ns(), notice.spent))
        entry = self._works.get(id(launch))
        if entry is None:
            entry = self._works[id(launch)] = launch, work_of(launch, tensors)
        op, line = _caller()
        enqueued = stream.launched
        before = stream.enqueued()
        begun = perf_counter_ns()
        super().launch(launch, stream, tensors, scalars)
        ended = perf_counter_ns()
        make = self.backend.make_timing
        # A launch that enqueued nothing was done in the call.
        timings = None if stream.launched == enqueued else (make(before), make(stream.enqueued()))
        work = entry[1]
        self.events.append(
            ProfiledEvent(
                "launch",
                op or work.title,
                work.title,
                work.shapes,
                line,
                threading.get_ident(),
                id(stream),
                work,
                called,
                ended,
                int((notice.spent - spent) * 1e9),
                begun,
                ended,
                timings,
            )
        )

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        begun = perf_counter_ns()
        super().upload(storage, byte_offset, array)
        self._copied("upload", array, begun)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        begun = perf_counter_ns()
        super().download(storage, byte_offset, array)
        self._copied("download", array, begun)

    def _copied(self, kind: str, array: np.ndarray, begun: int) -> None:
        op, line = _caller()
        shape = "x".join(map(str, array.shape))
        self.events.append(
            ProfiledEvent(
                kind,
                op or kind,
                kind,
                shape,
                line,
                threading.get_ident(),
                0,
                Work(kind, shape, array.nbytes, 0),
                begun,
                perf_counter_ns(),
            )
        )

    def allocated(self, storage: Storage) -> None:
        """Attributes memory to the user's line until it is freed."""
        super().allocated(storage)
        memory, size = self.memory, storage.block.size
        line = _caller()[1]
        memory.held[line] = memory.held.get(line, 0) + size

        def freed(ref: weakref.ref[Storage]) -> None:
            self._refs.discard(ref)
            memory.held[line] -= size
            memory.curve.append((perf_counter_ns(), self.backend.pool.allocated))

        self._refs.add(weakref.ref(storage, freed))
        now = self.backend.pool.allocated
        memory.curve.append((perf_counter_ns(), now))
        if now > memory.peak:
            memory.peak, memory.by_line = now, dict(memory.held)

    def finish(self) -> None:
        """Waits for the device and reads its timestamps. Stops watching memory."""
        self._refs.clear()
        self.backend.synchronize()
        for event in self.events:
            if event.timings is not None:
                begun, done = map(self.backend.timing_ns, event.timings)
                event.begun, event.done = begun + self._offset, done + self._offset
                event.timings = None


def _clocks_apart(backend: Backend) -> int:
    """Returns the nanoseconds to add to the device's clock to get the host's: the least of five
    trials, since each wait for a marker adds time."""
    backend.synchronize()
    offsets = []
    for _ in range(5):
        marker = backend.make_marker(backend.current_stream().queue)
        timing = backend.make_timing(marker)
        backend.finish_marker(marker)
        now = perf_counter_ns()
        offsets.append(now - backend.timing_ns(timing))
    return min(offsets)


def _caller() -> tuple[str, str]:
    """Returns the op that the program called ("" if no function on the stack is an op) and the
    program's line."""
    frame, op = sys._getframe(2), ""
    while frame.f_back is not None:
        name = str(frame.f_globals.get("__name__"))  # generated functions have no module name
        if name.partition(".")[0] not in (*BETWEEN, "None"):
            break
        if name.startswith(f"{PACKAGE}.ops.") and frame.f_code.co_name in OPS:
            op = frame.f_code.co_name
        frame = frame.f_back
    return op, f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
