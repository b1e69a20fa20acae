"""What ops ask of a tensor's device, which they don't know: by this alone launches depend on it."""

from __future__ import annotations

from .._tensor import Tensor


def specializes(x: Tensor) -> bool:
    """Whether a kernel that serves one case alone costs nothing where `x` lies."""
    return x._storage.backend.target.specializes


def spares_double(x: Tensor) -> bool:
    """Whether sums may be taken in float64 for the range alone: the device has it, at no great
    cost."""
    backend = x._storage.backend
    return backend.properties.has_float64 and backend.target.spares_double
