"""PoCL in tests: one of eight kernels is cached as a binary, in ftensor's cache.

PoCL compiles a kernel at its launch, for the launch's local size, and keeps that in its own cache.
When asked for the binary, it compiles the kernel again for any local size. That takes a third to a
half of a kernel's total time, and no launch of a test uses it.
"""

from __future__ import annotations

from typing import Any

SHARE = 8


def keep_few() -> None:
    """Leaves most of this process' kernels to PoCL's own cache from now on."""
    from ftensor.runtime.opencl.backend import OpenCLBackend

    kept = OpenCLBackend._program_from_source

    def program_from_source(self: OpenCLBackend, key: str, source: str, entry: str, options: bytes) -> Any:
        if int(key, 16) % SHARE:
            return self._compiled(source, entry, options)
        return kept(self, key, source, entry, options)

    OpenCLBackend._program_from_source = program_from_source  # type: ignore[method-assign]
