"""uint16, uint32, uint64 in ops that have no kernels for them: computed in a signed dtype.

uint16 and uint32 fit into a wider one. Of uint64 the same bits are taken as int64: sums,
differences and products are right as they are, and what goes by order is right with the highest
bit turned over. What is neither, NumPy computes on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from ..dtypes import dtype, int32, int64, uint16, uint32, uint64

_CARRIER = {uint16: int32, uint32: int64, uint64: int64}
_TOP = -(1 << 63)


def is_wide(d: dtype) -> bool:
    """Whether few ops have kernels for the dtype."""
    return d in _CARRIER


def lifted(x: Any) -> Any:
    """In the signed dtype, of which the low bits count."""
    return x.to(_CARRIER[x.dtype]) if is_wide(x.dtype) else x


def ordered(x: Any) -> Any:
    """In a signed dtype in which the elements stand in the same order."""
    if x.dtype is uint64:
        return x.view(int64).bitwise_xor(_TOP)
    return lifted(x)


def lowered(x: Any, of: dtype) -> Any:
    """What was lifted, in the unsigned dtype."""
    return x.to(of) if x.dtype is not of else x


def unordered(x: Any, of: dtype) -> Any:
    """What `ordered` gave, or elements of it, in the unsigned dtype."""
    if of is uint64:
        return x.bitwise_xor(_TOP).view(uint64)
    return lowered(x, of)


def moved(call: Callable[..., Any], x: Tensor, *more: Any, **named: Any) -> Any:
    """The result of a function that only moves elements, which may be integers of their bits."""
    if not is_wide(x.dtype):
        return call(x, *more, **named)
    return call(x.view(x.dtype.bits), *more, **named).view(x.dtype)
