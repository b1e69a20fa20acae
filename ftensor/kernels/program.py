"""From a key to a launchable kernel: compiled from source, once per backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import source
from .key import KernelKey

if TYPE_CHECKING:
    from ..runtime.backend import Backend, Kernel


def kernel(backend: Backend, key: KernelKey) -> Kernel:
    """The kernel `key` on this backend."""
    found = backend.kernels.get(key)
    if found is None:
        text = source.program(
            key,
            backend.dialect,
            float64=backend.properties.has_float64,
            grid=backend.target.grid,
        )
        found = backend.build(text, key.entry, source.kernel_types(key))
        backend.kernels[key] = found
    return found
