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


def storable(op: str, value: Any, target_dtype: dtype, is_single: bool = False) -> Any:
    """Returns a Python number converted to `target_dtype`. Raises RuntimeError if that would
    overflow (torch's rule).

    A fraction is dropped silently, an imaginary part is not. Negative integers wrap in an unsigned
    dtype down to minus its maximum. Infinities and NaN fit floating-point dtypes only. `is_single`
    applies to a tensor of one element: a number too large for a floating-point dtype of fewer than
    32 bits becomes infinite or its largest number. In other tensors this applies to the parts of
    complex32.
    """
    if target_dtype.is_complex:
        z = complex(value)
        if target_dtype.bare and not is_single:
            return value
        check_fits(op, z.real, target_dtype.to_real())
        check_fits(op, z.imag, target_dtype.to_real())
        return value
    is_half = is_single and target_dtype.kind == "f" and target_dtype.compute is not target_dtype
    check_fits(op, complex(0, value.imag) if is_half else value, target_dtype)
    if isinstance(value, complex):
        value = value if target_dtype.kind == "b" else value.real
    return int(value) if target_dtype.kind in "ui" else value
