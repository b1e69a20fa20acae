"""uint16, uint32 and uint64 in ops without kernels for them: computed in a signed dtype.

uint16 and uint32 fit into a wider dtype. The bits of uint64 are read as int64: sums, differences
and products are right unchanged, and ops that depend on order are right with the highest bit
inverted. NumPy computes all other ops on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from ..dtypes import dtype, int32, int64, uint16, uint32, uint64

_CARRIER = {uint16: int32, uint32: int64, uint64: int64}
_TOP = -(1 << 63)


def is_wide(d: dtype) -> bool:
    return d in _CARRIER


def lifted(x: Any) -> Any:
    """Returns the elements in a signed dtype; their low bits are those of the unsigned ones."""
    return x.to(_CARRIER[x.dtype]) if is_wide(x.dtype) else x


def ordered(x: Any) -> Any:
    """Returns the elements in a signed dtype in which they have the same order."""
    if x.dtype is uint64:
        return x.view(int64).bitwise_xor(_TOP)
    return lifted(x)


def lowered(x: Any, of: dtype) -> Any:
    """Inverts `lifted`."""
    return x.to(of) if x.dtype is not of else x


def unordered(x: Any, of: dtype) -> Any:
    """Inverts `ordered`."""
    if of is uint64:
        return x.bitwise_xor(_TOP).view(uint64)
    return lowered(x, of)


def moved(call: Callable[..., Any], x: Tensor, *more: Any, **named: Any) -> Any:
    """Runs a function that only moves elements on the elements' bits as signed integers."""
    if not is_wide(x.dtype):
        return call(x, *more, **named)
    return call(x.view(x.dtype.bits), *more, **named).view(x.dtype)
