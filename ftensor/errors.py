"""Every message a user can meet: one function each, returning the exception torch would raise."""

from __future__ import annotations

from collections.abc import Sequence


class OutOfMemoryError(RuntimeError):
    """The device, or the limit set for its pool, has no room for a buffer."""


class KernelNotBuilt(RuntimeError):
    """The device's image lacks a kernel that the op needs."""


def shape_mismatch(shapes: Sequence[Sequence[int]], dim: int) -> RuntimeError:
    """Operands that don't broadcast; `dim` counts from the last dimension (negative)."""
    sizes = ", ".join(str(tuple(s)) for s in shapes)
    return RuntimeError(
        f"The size of tensors must match at non-singleton dimension {dim}, "
        f"but the shapes are {sizes}; reshape or expand one of them"
    )
