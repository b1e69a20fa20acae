"""Captures a stream's launches as they run, and replays them with the same memory and numbers."""

from __future__ import annotations

import gc
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._tensor import Tensor
from ..errors import graph as errors
from ..errors.message import line_of
from ..rows.catalogue import op_called
from .capture_replay import GraphPool, prepare_replay
from .dispatch import Observer, find_observer, observed, thread_recorder
from .scalars import CapturedRandom, values_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..dtypes import dtype
    from ..runtime.backend import Backend
    from ..runtime.pool import Storage
    from ..runtime.stream import DeviceStream
    from .indexed import Flag
    from .launch import Launch


class CapturedDraw(NamedTuple):
    """A captured draw from a generator, and the function that computes the launches' numbers from
    it."""

    generator: Any
    words: Callable[[int, int], tuple[Any, ...]]


class RandomUse(NamedTuple):
    """The use of a random number: the index of the launch, the index among the launch's numbers,
    the dtype that it is rounded to, and the number."""

    call: int
    position: int
    dtype: dtype
    number: CapturedRandom


class CapturedCheck(NamedTuple):
    """An index check of a captured launch: the flag where its kernel records a bad index, and its
    error."""

    flag: Flag
    dims: tuple[int, ...]
    refusal: Callable[[int, int, int], Exception]
    call: str
    line: str

    def resolve(self) -> Exception | None:
        """Returns the error of the last replay's indices; None if all were in range. The replay
        must have finished."""
        bad = self.flag.read_and_clear()
        if bad is None:
            return None
        which, index, size = bad
        return errors.index(self.refusal(index, self.dims[which], size), self.call, self.line)


class CapturedCall(NamedTuple):
    """A launch with its numbers and tensors."""

    launch: Launch
    scalars: tuple[Any, ...]
    tensors: tuple[Tensor, ...]


@dataclass(eq=False)
class Recording:
    """The captured launches in order. Owns all memory that they use, so that no other tensor gets
    it."""

    backend: Backend
    pool: GraphPool
    calls: list[CapturedCall] = field(default_factory=list)
    checks: list[CapturedCheck] = field(default_factory=list)
    draws: list[CapturedDraw] = field(default_factory=list)
    drawn: list[RandomUse] = field(default_factory=list)
    written: dict[int, Storage] = field(default_factory=dict)
    outside: list[Storage] = field(default_factory=list)  # storages from outside the capture
    nbytes: int = 0  # bytes that the calls allocated and a replay uses
    # Functions that enqueue the calls, and the storages that they use; set by `prepare`.
    parts: list[Callable[[DeviceStream], None]] = field(default_factory=list)
    used: list[Storage] = field(default_factory=list)
    _stream: DeviceStream | None = None  # stream of the last replay

    def __post_init__(self) -> None:
        self.pool.recordings.add(self)

    def prepare(self) -> None:
        """Prepares the replays. Called once the captured calls have their final storages."""
        drawing = {use.call for use in self.drawn}
        self.parts, self.used = prepare_replay(self.backend, self.pool, self.calls, drawing)

    def replay(self) -> None:
        """Enqueues the launches on the current stream, after the last replay.

        Raises RuntimeError if a storage from outside the capture was resized, inside a trace or
        another capture, and while another thread or an outer frame replays a graph of its pool.
        """
        backend = self.backend
        stream = backend.current_stream()
        if thread_recorder() is not None or capturing(backend) is not None:
            raise errors.replay_inside()
        for storage in self.outside:
            if storage.replaced:
                raise errors.resized(storage.nbytes)
        backend.settle()  # a part enqueues kernels without asking whether others wait to be built
        with self.pool.replaying(stream):
            try:
                self._use(stream)
                self._changed()
                self._draw()
                for enqueue in self.parts:
                    enqueue(stream)
                for storage in self.used:
                    if storage.visible:  # other code may look at it after this
                        stream.finish()
                        break
            finally:
                # Also after Ctrl-C: earlier launches have written memory and checked indices.
                self._changed()
                for check in self.checks:
                    stream.doubts[id(check)] = check

    def _use(self, stream: DeviceStream) -> None:
        if stream is not self._stream:
            for storage in self.used:
                stream.use(storage)
            self._stream = stream

    def _draw(self) -> None:
        """Calls the generators in the captured order, and puts the numbers into the launches."""
        if not self.draws:
            return
        words = [draw.words(*draw.generator._call()) for draw in self.draws]
        for index, position, d, number in self.drawn:
            call = self.calls[index]
            scalars = list(call.scalars)
            (scalars[position],) = values_of(words[number.draw][number.part], d)
            self.calls[index] = call._replace(scalars=tuple(scalars))

    def _changed(self) -> None:
        for storage in self.written.values():  # inlines `Storage.changed` for speed
            storage.bounds = storage.derived = None


class Capture(Observer):
    """Records the launches that this thread, and torch's autograd for it, enqueue on one stream.

    Refuses operations that a replay could not repeat: values that the host reads or writes, seeds,
    other streams. With `strict` the op raises, else the call continues and `fault` is the first
    error. With `keep_reads`, values on the host stay those of the capture. Each replay draws new
    random numbers.
    """

    def __init__(
        self, backend: Backend, strict: bool = True, pool: GraphPool | None = None, keep_reads: bool = False
    ) -> None:
        self.backend, self.strict, self.keep_reads = backend, strict, keep_reads
        self.stream = backend.current_stream()
        self.thread = threading.get_ident()
        self.recording = Recording(backend, pool or GraphPool())
        self.fault: Exception | None = None
        self._own: dict[int, Storage] = {}  # allocated by the capture
        self._seen: dict[int, Storage] = {}
        self._lasting: dict[int, Storage] = {}
        self._is_suspended = False
        self._launching = False
        # The launch that is about to run, and its random numbers: index, dtype, number.
        self._random_uses: tuple[Launch | None, list[tuple[int, dtype, CapturedRandom]]] = None, []

    @property
    def is_captured_thread(self) -> bool:
        """True if the calling thread is captured: the one that began the capture, or one that
        Python did not start, such as autograd's."""
        if threading.get_ident() == self.thread:
            return True
        return isinstance(threading.current_thread(), threading._DummyThread)

    def refuse(self, error: Exception) -> None:
        """Records the first error; raises it if `strict`."""
        self.fault = self.fault or error
        if self.strict:
            raise error

    def _refuse(self, message: Callable[[str, str], Exception]) -> None:
        if self.is_captured_thread and not self._is_suspended:
            name, user = op_called()
            self.refuse(message(name, line_of(user)))

    def launch(self, launch: Launch, stream: DeviceStream, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> None:
        if self.is_captured_thread:
            if stream is not self.stream:
                self._refuse(errors.other_stream_than_captured)
            # New views, since an in-place op may later give a tensor another geometry.
            kept = tuple([x._view(x._shape, x._strides, x._offset) for x in tensors])
            if self._random_uses[0] is launch:
                index = len(self.recording.calls)
                self.recording.drawn += [RandomUse(index, *use) for use in self._random_uses[1]]
            self._random_uses = None, []
            self.recording.calls.append(CapturedCall(launch, tuple(scalars), kept))
            for x in kept:
                self._note(x._storage)
            for k in launch.written:
                self.recording.written[id(kept[k]._storage)] = kept[k]._storage
        self._launching = True
        try:
            super().launch(launch, stream, tensors, scalars)
        finally:
            self._launching = False

    def _note(self, storage: Storage) -> None:
        if id(storage) not in self._seen:
            self._seen[id(storage)] = storage  # keeps the storage alive, so that its id stays unique
            if id(storage) not in self._own:
                self.recording.outside.append(storage)

    def allocate(self, backend: Backend, nbytes: int, stream: DeviceStream, lasting: bool) -> Storage:
        storage = super().allocate(backend, nbytes, stream, lasting)
        if lasting:
            self._lasting[id(storage)] = storage
        return storage

    def allocated(self, storage: Storage) -> None:
        if self.is_captured_thread and not self._launching:  # replays allocate temporaries themselves
            self._own[id(storage)] = storage

    def upload(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        if id(storage) not in self._lasting:  # geometry buffers, the same in each run
            self._on_host(storage, errors.uploads)
        super().upload(storage, byte_offset, array)

    def download(self, storage: Storage, byte_offset: int, array: np.ndarray) -> None:
        self._on_host(storage, errors.reads)
        super().download(storage, byte_offset, array)

    def read(self, storage: Storage) -> None:
        self._on_host(storage, errors.reads)
        super().read(storage)

    def _on_host(self, storage: Storage, message: Callable[[str, str], Exception]) -> None:
        """Refuses host access. With `keep_reads`, allows it and keeps other values from reusing the
        memory."""
        if not self.keep_reads:
            self._refuse(message)
        elif self.is_captured_thread:
            self._lasting[id(storage)] = storage

    def host_op(self, name: str) -> None:
        """Called before the host computes an op: a replay would not."""
        self._refuse(lambda _, line: errors.host_ops(name, line))

    def draw(self, generator: Any, words: Callable[[int, int], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Returns the numbers that `words` computes from a draw of a generator, marked as random."""
        scalars = []
        for part, value in enumerate(words(*generator._call())):
            number = CapturedRandom(value)
            number.capture, number.draw, number.part = self, len(self.recording.draws), part
            scalars.append(number)
        self.recording.draws.append(CapturedDraw(generator, words))
        return tuple(scalars)

    def record_use(self, launch: Launch, index: int, d: dtype, number: CapturedRandom) -> None:
        """Records that `number` is at `index` of the numbers of the next call of `launch`."""
        if self._random_uses[0] is not launch:
            self._random_uses = launch, []
        self._random_uses[1].append((index, d, number))

    def refuse_seed(self) -> None:
        """Called when a generator's state is set or read: a replay would not do so."""
        self._refuse(errors.seeds)

    @contextmanager
    def uncaptured(self) -> Iterator[None]:
        """Context manager that allows the library's own host accesses."""
        before, self._is_suspended = self._is_suspended, True
        try:
            yield
        finally:
            self._is_suspended = before

    def has_allocated(self, storage: Storage) -> bool:
        """True if the captured calls allocated the storage."""
        return id(storage) in self._own

    def find_escaped(self, known: Collection[int]) -> Storage | None:
        """Returns a storage of the captured calls that other objects still hold, other than that
        with id `known`; None if there is none. A replay would overwrite it, while the calls
        themselves would allocate new memory."""
        for generation in (1, 2):  # the oldest one takes long in a large program
            gc.collect(generation)
            escaped = [number for number in self._held_outside() if number not in known]
            if not escaped:
                return None
        return self._own[escaped[0]]

    def share_memory(self) -> None:
        """After the capture: lets its intermediate tensors share the pool's memory."""
        gc.collect(1)
        recording, outside = self.recording, set(self._held_outside())
        kept = {number: s for number, s in self._own.items() if number in outside or number in self._lasting}
        intermediate = {number: s for number, s in self._own.items() if number not in kept}
        recording.pool.share([call.tensors for call in recording.calls], intermediate)
        recording.written = {n: s for n, s in recording.written.items() if n not in intermediate}
        used = {id(x._storage): x._storage for call in recording.calls for x in call.tensors}
        inside = [s for n, s in used.items() if n in self._own or any(s is x for x in recording.pool.storages)]
        recording.prepare()
        recording.nbytes = sum([s.block.size for s in (*inside, *recording.pool.temporaries)])

    def _held_outside(self) -> list[int]:
        """Returns the ids of the capture's storages that objects outside the capture also hold,
        cycles that were not collected included."""
        held = Counter(id(x._storage) for call in self.recording.calls for x in call.tensors)
        held.update(id(check.flag.tensor._storage) for check in self.recording.checks)
        held.update(self.recording.written.keys())
        for of in (self._own, self._seen, self._lasting):
            held.update(of.keys())
        # getrefcount counts its own argument, too.
        return [n for n in self._own if n not in self._lasting and sys.getrefcount(self._own[n]) - 1 > held[n]]

    def record_check(self, flag: Flag, dims: Sequence[int], refusal: Any) -> None:
        """Records that a launch records bad indices in `flag`, which this capture owns."""
        name, user = op_called()
        self.recording.checks.append(CapturedCheck(flag, tuple(dims), refusal, name, line_of(user)))


def capturing(backend: Backend) -> Capture | None:
    """Returns the capture of this thread on a device; None if there is none."""
    return find_observer(backend, lambda one: isinstance(one, Capture) and one.is_captured_thread)


def thread_capture() -> Capture | None:
    """Returns the capture of this thread, whatever its device; None if there is none."""
    return next((capture for capture in reversed(_captures) if capture.is_captured_thread), None)


_captures: list[Capture] = []  # of all devices and threads


def random_scalars(backend: Backend, generator: Any, words: Callable[[int, int], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Returns the numbers that `words` computes from a draw of a generator. Each replay of a
    capture draws anew."""
    capture = None if backend.executor is None else capturing(backend)
    return words(*generator._call()) if capture is None else capture.draw(generator, words)


@contextmanager
def capture_stream(
    backend: Backend, strict: bool = True, pool: GraphPool | None = None, keep_reads: bool = False
) -> Iterator[Capture]:
    """Context manager: runs and records the launches of this thread on the current stream.

    Raises RuntimeError on entry inside another capture or a trace; on exit for indices out of range,
    as the calls do.
    """
    if thread_recorder() is not None or capturing(backend) is not None:
        raise errors.inside()
    backend.synchronize()
    capture = Capture(backend, strict, pool, keep_reads)
    with capture.recording.pool.allocating(backend), observed(backend, capture):
        _captures.append(capture)
        try:
            yield capture
        finally:
            _captures.remove(capture)
    capture.stream.finish()
    capture.recording.pool.stream = capture.stream
    for check in capture.recording.checks:
        error = check.resolve()
        if error is not None:
            raise error
