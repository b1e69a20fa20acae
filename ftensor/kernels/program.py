"""From a key to a launchable kernel: compiled from source, or looked up in the device's images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import errors
from . import source
from .key import KernelKey

if TYPE_CHECKING:
    from ..runtime.backend import Backend, Kernel
    from .gemm import GemmKey


# While an inventory stands for an image (ftensor/estimate/trace.py): whether it holds a key.
offered: Callable[[KernelKey | GemmKey], bool] | None = None


def kernel(backend: Backend, key: KernelKey) -> Kernel:
    """The kernel `key` on this backend; KernelNotBuilt where its images lack it."""
    found: Kernel | None = backend.kernels.get(key)
    if found is None:
        found = obtain(
            backend,
            key,
            source.kernel_types(key),
            lambda: source.program(
                key,
                backend.dialect,
                float64=backend.properties.has_float64,
                grid=backend.target.grid,
            ),
        )
    return found


def obtain(backend: Backend, key: Any, types: Sequence[str], text: Callable[[], str]) -> Kernel:
    """A kernel that the backend does not have yet, kept under `key`: an entry, or what has one.

    `types` are its parameters as `Backend.build` wants to know them, `text()` is its program.
    """
    name = key if isinstance(key, str) else key.entry
    if backend.images is None:
        found = backend.build(text(), name, types)
    else:
        looked_up = backend.images.kernel(name, types)
        if looked_up is None:
            from .wanted import wanted

            images = backend.images
            raise errors.kernel_not_built(wanted(key), images.nearest(name), images.build_options)
        found = looked_up
    backend.kernels[key] = found
    return found


def built(backend: Backend, key: KernelKey | GemmKey) -> bool:
    """Whether a launch may ask for `key`: always, unless kernels come from images that lack it."""
    if offered is not None:
        return offered(key)
    return backend.images is None or backend.images.has(key.entry)
