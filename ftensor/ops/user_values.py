"""Numbers given by users, and their conversion to a dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..execute.scalars import check_fits


def number(value: Any) -> Any:
    """Returns the Python number of a number or a 0-d tensor; None for anything else."""
    if value.__class__ in (int, float, bool, complex):
        return value
    if isinstance(value, Tensor):
        return value.item() if not value._shape else None
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        return value.item()
    return value if isinstance(value, (int, float, complex)) else None


def as_float(op: str, argument: str, value: Any) -> Any:
    scalar = number(value)
    if value is not None and (scalar is None or isinstance(scalar, complex)):
        raise errors.argument_type(op, argument, "a float", value)
    return None if value is None else float(scalar)


def storable(op: str, value: Any, of: dtype, alone: bool = False) -> Any:
    """Returns a Python number converted to `of`. Raises RuntimeError if that would overflow
    (torch's rule).

    A fraction is dropped silently, an imaginary part is not. Negative integers wrap in an unsigned
    dtype down to minus its maximum. Infinities and NaN fit floating-point dtypes only. `alone`
    applies to a tensor of one element: a number too large for a floating-point dtype of fewer than
    32 bits becomes infinite or its largest number. In other tensors this applies to the parts of
    complex32.
    """
    if of.is_complex:
        z = complex(value)
        if of.bare and not alone:
            return value
        check_fits(op, z.real, of.to_real())
        check_fits(op, z.imag, of.to_real())
        return value
    narrow = alone and of.kind == "f" and of.compute is not of
    check_fits(op, complex(0, value.imag) if narrow else value, of)
    if isinstance(value, complex):
        value = value if of.kind == "b" else value.real
    return int(value) if of.kind in "ui" else value
