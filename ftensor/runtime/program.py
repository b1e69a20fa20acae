"""From a key to a launchable kernel: compiled, loaded from the disk cache, or found in an image."""

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


PATIENCE = 2.0  # seconds of compiling before a word is said


class Notice:
    """Says once in a process that kernels are compiled, when that has taken long."""

    def __init__(self, timer: Callable[..., Any] = Timer, clock: Callable[[], float] = monotonic) -> None:
        self.timer, self.clock = timer, clock
        self.spent, self.said = 0.0, False

    @contextmanager
    def compiling(self, device: str) -> Iterator[None]:
        """Around a compilation, whose time is added to that of those before."""
        began, timer = self.clock(), None
        if not self.said and sys.stderr is not None and sys.stderr.isatty():
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
        if not self.said:
            self.said = True
            text = f"ftensor: kernels are being compiled for {device}, and kept for the next time"
            print(f"{text} (ftensor docs compile-times)", file=sys.stderr, flush=True)


notice = Notice()


# Intel's CPU runtime takes 0.064 s of CPU for a simple kernel alone and 0.021 s in ten; what a
# process loads for one of them holds all.
MOST_TOGETHER = 10
# What the cache holds for a kernel that was compiled together with others: where they are.
JOINT = b"ftensor: compiled together, in "
# Where a text's own part begins: its holes and its skeleton, all of them macros and a kernel.
OWN = "\n#define FT_NAME "
DEFINED = re.compile(r"^#define (\w+)", re.M)


def batches(programs: Iterable[KernelSource]) -> list[list[KernelSource]]:
    """Programs that may be one: alike up to their own part, with dialect and helpers."""
    by_head: dict[str, list[list[KernelSource]]] = {}
    for program in programs:
        head, _, own = program.source.partition(OWN)
        one = OWN not in own and "#define FT_KERNEL" in head  # others have kernels as parts
        shared = head if own and one else program.source
        among = by_head.setdefault(shared, [[]])
        if len(among[-1]) == MOST_TOGETHER:
            among.append([])
        among[-1].append(program)
    return [group for among in by_head.values() for group in among]


def batch_source(programs: list[KernelSource]) -> str:
    """The text of a group: what they share, then each one's own part, whose words it takes back."""
    if len(programs) == 1:
        return programs[0].source
    parts = [programs[0].source.partition(OWN)[0]]
    for program in programs:
        own = OWN + program.source.partition(OWN)[2]
        parts += [own, *(f"#undef {name}" for name in dict.fromkeys(DEFINED.findall(own)))]
    return "\n".join(parts)


# While something stands for an image (ftensor/toolchain/trace.py): whether that holds a key.
offered: Callable[[Key], bool] | None = None


def kernel(backend: Backend, key: Key) -> CompiledKernel:
    """The kernel `key` on this backend; KernelNotBuilt where its images lack it."""
    kernel: CompiledKernel | None = backend.kernels.get(key) or backend.own.get(key)
    if kernel is None:
        skeleton = skeleton_of(key)
        kernel = build_kernel(
            backend,
            key,
            tuple(what for what, _, _ in skeleton.parameters(key)),
            lambda: skeleton.program(
                key, backend.dialect, float64=backend.properties.has_float64, grid=backend.target.grid
            ),
        )
    return kernel


def build_kernel(backend: Backend, key: Key, types: Sequence[str], text: Callable[[], str]) -> CompiledKernel:
    """A kernel that the backend does not have yet, kept under `key`.

    `types` are its parameters as `Backend.build` wants to know them, `text()` is its program.
    """
    with lifetime.gate.inside(), backend.making.one(key):
        kernel: CompiledKernel | None = backend.kernels.get(key)
        return kernel or _make(backend, key, types, text)


def _make(backend: Backend, key: Key, types: Sequence[str], text: Callable[[], str]) -> CompiledKernel:
    name = key.entry
    if backend.images is None:
        make = backend.build if backend.noted is None else backend.note
        kernel = make(text(), name, types)
    else:
        backend.images.want(key)
        looked_up = backend.images.kernel(name, types)
        if looked_up is None:
            images = backend.images
            words = board_skeleton_of(key).in_words(key)
            raise errors.kernel_not_built(**words._asdict(), nearest=images.nearest(name), options=images.build_options)
        kernel = looked_up
    backend.kernels[key] = kernel
    return kernel


def built(backend: Backend, key: Key) -> bool:
    """Whether a launch may ask for `key`: always, unless kernels come from images that lack it."""
    if offered is not None:
        return offered(key)
    return backend.images is None or backend.images.has(key.entry)


def in_image(backend: Backend, key: Key) -> bool:
    """Whether `key` was built ahead: for kernels that serve an image alone. No to those that are
    compiled when they are needed, or built on request."""
    if offered is not None:
        return offered(key)
    return backend.images is not None and backend.images.holds(key.entry)
