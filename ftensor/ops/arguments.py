"""Checks of arguments that many ops share."""

from __future__ import annotations

from typing import Any

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype


def check_tensors(op: str, /, **arguments: Any) -> None:
    """Raises TypeError, which names the argument, unless all are tensors."""
    for name, value in arguments.items():
        if not isinstance(value, Tensor):
            raise errors.not_a_tensor(op, name, value)


def check_operands(op: str, *operands: Any) -> None:
    """Raises TypeError, which gives the operand's place, unless all are tensors."""
    for k, value in enumerate(operands):
        if type(value) is not Tensor:
            raise errors.not_a_tensor(op, k + 1, value)


def check_kind(op: str, element: dtype, kinds: str) -> None:
    """Raises NotImplementedError unless the dtype's kind is one of the letters `kinds`."""
    if element.kind not in kinds:
        raise errors.not_implemented_for(op, element)
