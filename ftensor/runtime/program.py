"""From a key to a launchable kernel: compiled from source, or looked up in the device's images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .. import errors
from ..kernels.board_skeleton import board_skeleton_of
from ..kernels.key import Key
from ..kernels.skeleton import skeleton_of
from . import lifetime

if TYPE_CHECKING:
    from .backend import Backend
    from .parts import CompiledKernel


# While something stands for an image (ftensor/toolchain/trace.py): whether that holds a key.
offered: Callable[[Key], bool] | None = None


def kernel(backend: Backend, key: Key) -> CompiledKernel:
    """The kernel `key` on this backend; KernelNotBuilt where its images lack it."""
    kernel: CompiledKernel | None = backend.kernels.get(key) or backend.own.get(key)
    if kernel is None:
        skeleton = skeleton_of(key)
        kernel = obtain(
            backend,
            key,
            tuple(what for what, _, _ in skeleton.parameters(key)),
            lambda: skeleton.program(
                key, backend.dialect, float64=backend.properties.has_float64, grid=backend.target.grid
            ),
        )
    return kernel


def obtain(backend: Backend, key: Key, types: Sequence[str], text: Callable[[], str]) -> CompiledKernel:
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


def held(backend: Backend, key: Key) -> bool:
    """Whether `key` was built ahead: for kernels that serve an image alone. No to those that are
    compiled when they are needed, or built on request."""
    if offered is not None:
        return offered(key)
    return backend.images is not None and backend.images.holds(key.entry)
