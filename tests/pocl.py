"""PoCL in tests: one of eight kernels is kept as a binary, in ftensor's cache.

PoCL compiles a kernel at its launch, for groups of the launch's size, and keeps that in its own
cache. It compiles it again, for groups of any size, when asked for its binary. That takes a third
to a half of a kernel's total time, and no launch of a test uses it.
"""

from __future__ import annotations

from typing import Any

SHARE = 8


def keep_few() -> None:
    """Leaves most of this process' kernels to PoCL's own cache from here on."""
    from ftensor.runtime.opencl.backend import OpenCLBackend

    kept = OpenCLBackend._program_from_source

    def program_from_source(self: OpenCLBackend, key: str, source: str, entry: str, options: bytes) -> Any:
        if int(key, 16) % SHARE:
            return self._compiled(source, entry, options)
        return kept(self, key, source, entry, options)

    OpenCLBackend._program_from_source = program_from_source  # type: ignore[method-assign]
