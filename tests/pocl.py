"""PoCL in tests: of eight kernels one is kept as a binary, in ftensor's cache.

PoCL compiles a kernel when it is launched, for groups of as many items as the launch has, and keeps
that in a cache of its own; and once more, for groups of any size, when it is asked for its binary.
That is a third to a half of all that a kernel takes, and no launch of a test uses it.
"""

from __future__ import annotations

from typing import Any

SHARE = 8


def keep_few() -> None:
    """From here on most of this process' kernels are left to PoCL's own cache."""
    from ftensor.runtime.opencl.backend import OpenCLBackend

    kept = OpenCLBackend._program_from_source

    def program_from_source(self: OpenCLBackend, key: str, source: str, entry: str, options: bytes) -> Any:
        if int(key, 16) % SHARE:
            return self._compiled(source, entry, options)
        return kept(self, key, source, entry, options)

    OpenCLBackend._program_from_source = program_from_source  # type: ignore[method-assign]
