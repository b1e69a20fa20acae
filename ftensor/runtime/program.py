"""Gets the kernel of a key: compiles it, or loads it from the disk cache or an image."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

from .. import errors
from ..kernels.key import Key
from ..kernels.skeleton import board_skeleton_of, skeleton_of
from . import lifetime

if TYPE_CHECKING:
    from .backend import Backend
    from .interfaces import CompiledKernel, KernelSource


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
        if not self.is_printed and sys.stderr is not None and sys.stderr.isatty():
            timer = self.timer(max(0.0, PATIENCE - self.spent), self._say, (device,))
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
            self.spent += self.clock() - began

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
JOINT = b"ftensor: compiled together, in "
# Start of a source's own part, its macros and the kernel.
OWN = "\n#define FT_NAME "
DEFINED = re.compile(r"^#define (\w+)", re.M)


def batches(programs: Iterable[KernelSource]) -> list[list[KernelSource]]:
    """Groups programs to be compiled together: those of one group have the same dialect and
    helpers, and differ only after them."""
    by_head: dict[str, list[list[KernelSource]]] = {}
    for program in programs:
        head, _, body = program.source.partition(OWN)
        one = OWN not in body and "#define FT_KERNEL" in head  # others have kernels as parts
        shared = head if body and one else program.source
        among = by_head.setdefault(shared, [[]])
        if len(among[-1]) == MAX_BATCH:
            among.append([])
        among[-1].append(program)
    return [group for among in by_head.values() for group in among]


def batch_source(programs: list[KernelSource]) -> str:
    """Returns the source of a group: the shared part, then each program's own part, whose macros
    are undefined after it."""
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
            raise errors.kernel_not_built(**words._asdict(), nearest=images.nearest(name), options=images.build_options)
        kernel = looked_up
    backend.kernels[key] = kernel
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
