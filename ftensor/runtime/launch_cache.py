"""The kernel of a key: compiled, or loaded from the disk cache or an image. Bounded caches of a device
keep kernels and prepared launches."""

from __future__ import annotations

import ctypes
import logging
import re
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from .. import errors, logs
from ..kernels.key import Key
from ..kernels.skeleton import board_skeleton_of, skeleton_of
from . import lifetime
from .pool import Block, FreeLists, Storage, size_class

if TYPE_CHECKING:
    import numpy as np

    from .backend import Backend
    from .interfaces import CompiledKernel, KernelSource


log = logging.getLogger(__name__)

PATIENCE = 2.0  # seconds of compiling before a message


class Notice:
    """Prints once per process that kernels are being compiled, if that takes long."""

    def __init__(self, timer: Callable[..., Any] = Timer, clock: Callable[[], float] = monotonic) -> None:
        self.timer, self.clock = timer, clock
        self.spent, self.is_printed = 0.0, False

    @contextmanager
    def compiling(self, device: str) -> Iterator[None]:
        """Encloses a compilation and adds its time to the total."""
        began, timer = self.clock(), None
        if not self.is_printed and sys.stderr is not None and sys.stderr.isatty() and not logs.is_quiet():
            timer = self.timer(max(0.0, PATIENCE - self.spent), self._say, (device,))
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
            self.spent += self.clock() - began
            log.debug("compiled for %s in %.3f s", device, self.clock() - began)

    def _say(self, device: str) -> None:
        if not self.is_printed:
            self.is_printed = True
            text = f"ftensor: kernels are being compiled for {device}, and kept for the next time"
            print(f"{text} (ftensor docs compile-times)", file=sys.stderr, flush=True)


notice = Notice()


# Intel's CPU runtime needs 0.064 s of CPU for a simple kernel alone and 0.021 s each in a
# batch of ten. Loading one kernel of a batch loads all of it.
MAX_BATCH = 10
# The cache entry of a kernel that was compiled in a batch: this prefix and the batch's name.
IN_BATCH = b"ftensor: compiled together, in "
# Start of a source's own part, its macros and the kernel.
OWN = "\n#define FT_NAME "
DEFINED = re.compile(r"^#define (\w+)", re.M)


def batches(programs: Iterable[KernelSource]) -> list[list[KernelSource]]:
    """Groups programs to be compiled together: those of one group have the same dialect and
    helpers, and differ only after them."""
    by_head: dict[str, list[list[KernelSource]]] = {}
    for program in programs:
        head, _, body = program.source.partition(OWN)
        one = OWN not in body and "#define FT_KERNEL" in head  # kernels of several members are not batched
        shared = head if body and one else program.source
        among = by_head.setdefault(shared, [[]])
        if len(among[-1]) == MAX_BATCH:
            among.append([])
        among[-1].append(program)
    return [group for among in by_head.values() for group in among]


def batch_source(programs: list[KernelSource]) -> str:
    """Returns the source of a group: the shared part, then each program's own part, followed by
    #undef lines for its macros."""
    if len(programs) == 1:
        return programs[0].source
    sources = [programs[0].source.partition(OWN)[0]]
    for program in programs:
        body = OWN + program.source.partition(OWN)[2]
        sources += [body, *(f"#undef {name}" for name in dict.fromkeys(DEFINED.findall(body)))]
    return "\n".join(sources)


# Replaces the lookup in images (ftensor/toolchain/trace.py): True if the image holds a key.
stand_in_build: Callable[[Key], bool] | None = None


def kernel(backend: Backend, key: Key) -> CompiledKernel:
    """Returns the kernel of `key`, from the cache or compiled now. Raises KernelNotBuilt if the
    backend's images lack it."""
    kernel: CompiledKernel | None = backend.kernels.get(key) or backend.user_kernels.get(key)
    if kernel is None:
        skeleton = skeleton_of(key)
        kernel = build_kernel(
            backend,
            key,
            tuple(kind for kind, _, _ in skeleton.parameters(key)),
            lambda: skeleton.program(
                key, backend.dialect, float64=backend.properties.has_float64, grid=backend.target.grid
            ),
        )
    return kernel


def build_kernel(backend: Backend, key: Key, types: Sequence[str], text: Callable[[], str]) -> CompiledKernel:
    """Makes a kernel that the backend lacks, and stores it under `key`.

    `types` lists the kernel arguments as in `Backend.build`; `text()` returns the source.
    """
    with lifetime.gate.inside(), backend.making.lock_for(key):
        kernel: CompiledKernel | None = backend.kernels.get(key)
        return kernel or _make(backend, key, types, text)


def _make(backend: Backend, key: Key, types: Sequence[str], text: Callable[[], str]) -> CompiledKernel:
    name = key.entry
    if backend.images is None:
        make = backend.build if backend.noted is None else backend.note
        kernel = make(text(), name, types)
    else:
        backend.images.request(key)
        looked_up = backend.images.kernel(name, types)
        if looked_up is None:
            images = backend.images
            words = board_skeleton_of(key).in_words(key)
            missing = errors.kernel_not_built(
                **words._asdict(), nearest=images.nearest(name), options=images.build_options
            )
            missing.on_host = images.leaves_to_host(missing)
            raise missing
        kernel = looked_up
    backend.kernels[key] = kernel
    log.debug("kernel %s is ready", name)
    return kernel


def is_available(backend: Backend, key: Key) -> bool:
    """Returns True if a launch may use `key`: always, unless kernels come from images that lack
    it."""
    if stand_in_build is not None:
        return stand_in_build(key)
    return backend.images is None or backend.images.has(key.entry)


def in_image(backend: Backend, key: Key) -> bool:
    """Returns True if an image holds `key`, for kernels that only images contain. Returns False for
    kernels that are compiled on first use or built on request."""
    if stand_in_build is not None:
        return stand_in_build(key)
    return backend.images is not None and backend.images.holds(key.entry)


# On Intel's CPU runtime a kernel takes 0.6 MB.
MAX_KERNELS = 640


class KernelTable(OrderedDict[Hashable, Any]):
    """Cache of kernels by key. A full cache evicts the least recently used quarter.

    Prepared launches hold kernels and don't look them up, so each eviction also calls
    `forget_launches`. The table calls it once more at three quarters full, so that the kernels in
    use are looked up again before the first eviction.
    """

    def __init__(self, forget_launches: Callable[[], None], most: int = MAX_KERNELS) -> None:
        super().__init__()
        self.most = most
        self._forget_launches = forget_launches
        self._asked = False

    def get(self, key: Hashable, default: Any = None) -> Any:
        """Returns the kernel of this key and marks the key as the most recently used."""
        kernel = super().get(key, default)
        with suppress(KeyError):  # it is missing, or another thread drops it now
            self.move_to_end(key)
        return kernel

    def __setitem__(self, key: Hashable, kernel: Any) -> None:
        super().__setitem__(key, kernel)
        full = len(self) > self.most
        if full:
            for _ in range(max(1, self.most // 4)):
                self.popitem(last=False)
        if full or (not self._asked and 4 * len(self) > 3 * self.most):
            self._asked = not full
            self._forget_launches()


class KeyedLocks:
    """One lock per key: while one thread creates the value of a key, other threads can create other
    values.

    The locks are reentrant, so a signal handler may create the value that its thread is creating.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._making: dict[Any, tuple[Any, list[int]]] = {}

    @contextmanager
    def lock_for(self, thing: Any) -> Iterator[None]:
        """Inside the block, no other thread creates `thing`."""
        with self._lock:
            lock, threads = self._making.setdefault(thing, (threading.RLock(), [0]))
            threads[0] += 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                threads[0] -= 1
                if not threads[0]:
                    del self._making[thing]


# Limit on all memory held by prepared launches: about 6000 launches.
MAX_BYTES = 1 << 25


class CachedLaunch(Protocol):
    """A value that `LaunchTable` stores."""

    @property
    def kept_bytes(self) -> int:
        """The memory in bytes that evicting the entry frees."""
        ...


K = TypeVar("K", bound=CachedLaunch)


class _Miss:
    """The value for a key that is not in the table."""

    def call(self, inputs: Any, scalars: Any, out: Any) -> None:
        """Does nothing."""


NEW = _Miss()


class LaunchTable(dict[Hashable, Any]):
    """Cache of launches by key, in two generations. `table[key]` looks up the newer generation at
    a dict's speed; for a missing key it returns NEW, whose `call` does nothing.

    When the newer generation holds `most` / 2 bytes, it becomes the older generation, and the
    previous older generation is evicted. `find` also looks in the older generation and moves a hit
    to the newer, so entries in use survive. Evicted launches may be in flight, so eviction calls
    `synchronize`. An entry whose attribute `is_dead` is true is useless: code that finds a dead
    entry calls `note_dead`, and the next `keep` removes all dead entries.
    """

    def __init__(self, synchronize: Callable[[], object], most: int = MAX_BYTES) -> None:
        super().__init__()
        self.most = most
        self.newer_bytes = 0  # bytes of the newer ones
        self._lost = False
        self._older: dict[Hashable, Any] = {}
        self._synchronize = synchronize
        # Reentrant: a signal handler may enter while its thread holds it.
        self._turning = threading.RLock()

    def __missing__(self, key: Hashable) -> Any:
        return NEW

    def find(self, key: Hashable) -> Any:
        """Returns the entry of `key` in either generation, or None."""
        entry = self.get(key)
        if entry is None:
            entry = self._older.pop(key, None)
            if entry is not None:
                entry = self.keep(key, entry)
        return entry

    def keep(self, key: Hashable, entry: K) -> K:
        """Stores `entry`, unless another thread stored an entry for `key` first; returns the stored
        entry."""
        if self._lost:
            self._remove_dead()
        one: K = self.setdefault(key, entry)
        if one is entry:
            self.newer_bytes += entry.kept_bytes
            if 2 * self.newer_bytes > self.most:
                self._make_older()
        return one

    def note_dead(self, *_: object) -> None:
        """Records that an entry is dead. Finalizers call this at any point of their thread's work,
        so it only sets a flag."""
        self._lost = True

    def _remove_dead(self) -> None:
        with self._turning:
            self._lost = False
            gone = []
            for table in (self, self._older):
                for key, entry in tuple(table.items()):
                    if getattr(entry, "is_dead", False):
                        gone.append(table.pop(key, None))
        if gone:
            self._synchronize()

    def _make_older(self) -> None:
        with self._turning:
            if 2 * self.newer_bytes <= self.most:
                return  # another thread has done it
            self.newer_bytes = 0
            gone, self._older = self._older, {}
            while self:  # one by one, since other threads may add entries
                key, entry = self.popitem()
                self._older[key] = entry
        if gone:
            self._synchronize()

    def clear(self) -> None:
        """Drops all entries. The caller has waited for the launches in flight."""
        super().clear()
        self._older.clear()
        self.newer_bytes = 0


class HostTable(Storage):
    """Memory of the default stream that the host fills directly, not through the queue."""

    __slots__ = ()

    def __del__(self) -> None:
        block, stream = self.block, self.stream
        block.pool.allocated -= block.size
        self.backend.tables.retired.append((stream.launched, block))


class SharedTable:
    """A table that launches with equal contents share. It has no finalizer, so a weak reference
    cannot revive it while its block is being freed."""

    __slots__ = ("__weakref__", "table")

    def __init__(self, table: HostTable) -> None:
        self.table = table

    @property
    def handle(self) -> Any:
        """Returns the kernel argument."""
        return self.table.handle

    @property
    def nbytes(self) -> int:
        """Returns the bytes of the contents."""
        return self.table.nbytes


class Tables:
    """Allocates host-filled tables in memory that no command in flight uses, so nothing waits.

    A table's block is free again once the default stream has finished the commands that were
    enqueued when the table was dropped. Code that drops launches of other streams waits for
    those streams first.
    """

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.retired: deque[tuple[int, Block]] = deque()
        self._free = FreeLists()
        self._shared: WeakValueDictionary[bytes, SharedTable] = WeakValueDictionary()

    def sharing(self, array: np.ndarray) -> SharedTable:
        """Returns the shared table with the contents of the array: an existing one, or a new one.
        No kernel writes it."""
        content = array.tobytes()
        shared = self._shared.get(content)
        if shared is None:
            shared = self._shared[content] = SharedTable(self.holding(array))
        return shared

    def holding(self, array: np.ndarray) -> HostTable:
        """Returns a table with the contents of the array, for one launch only."""
        pool, stream, size = (self.backend.pool, self.backend.default_stream, size_class(array.nbytes))
        pool.check_open()
        self._collect(stream.count_finished())
        try:
            block = self._free[size].pop()
        except IndexError:
            block = pool.new_block(size, size)
        pool.allocated += block.size
        assert block.ptr is not None, "a device's own memory is written by its queue"
        ctypes.memmove(block.ptr, array.tobytes(), array.nbytes)
        return HostTable(self.backend, stream, block, array.nbytes)

    def unused(self) -> list[Block]:
        """Returns the blocks that no table holds."""
        free = [block for blocks in list(self._free.values()) for block in list(blocks)]
        return [*free, *(block for _, block in list(self.retired))]

    def release(self) -> None:
        """Frees the memory of unused tables. The caller has waited for the device."""
        self._collect(self.backend.default_stream.count_finished())
        self.backend.pool.drop_free(self._free)

    def _collect(self, finished: int) -> None:
        while self.retired:
            try:
                launched, block = self.retired.popleft()
            except IndexError:  # another thread took the last one
                return
            if launched > finished:
                self.retired.appendleft((launched, block))
                return
            self._free[block.size].append(block)
