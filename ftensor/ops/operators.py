"""Operators of tensors: dunder methods of functions of two and of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..errors import arith as errors_arith
from ..execute.pointwise import pointwise
from ..interop.numpy import beside
from ..rows.op import Op


def _operand(self: Tensor, other: Any) -> Any:
    """The other operand as an op takes it; NotImplemented where its own class has to say.

    An array is a tensor of its dtype on the tensor's device, as everywhere beside NumPy's functions
    (docs/numpy.md); masked arrays and others' arrays have rules of their own.
    """
    if isinstance(other, (Tensor, bool, int, float, complex, np.generic)):
        return other
    if isinstance(other, np.ndarray):
        return NotImplemented if isinstance(other, np.ma.MaskedArray) else beside(other, self)
    known = hasattr(other, "dtype") and not hasattr(other, "__array_ufunc__")
    return other if known else NotImplemented  # which the op refuses, saying why


def operator(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A dunder method of a function of two; NotImplemented for what is no tensor or number."""
    matrices = "matmul" in name
    turned = name.startswith("__r") and name != "__rshift__"
    inplace = name.startswith("__i")

    def run(self: Tensor, other: Any) -> Any:
        if type(other) is not Tensor:
            other = _operand(self, other)
            if other is NotImplemented or (matrices and not isinstance(other, Tensor)):
                return NotImplemented
        if inplace:
            return call(self, other, out=self)
        return call(other, self) if turned else call(self, other)

    return run


def row_operator(name: str, op: Op) -> Callable[..., Any]:
    """A dunder method that runs a row."""
    if name == "__invert__":

        def invert(self: Tensor) -> Any:
            if self._dtype.kind in "fc":
                raise errors_arith.invert_dtype(self._dtype)
            return pointwise(op, (self,))

        return invert
    if op.arity == 1:
        return lambda self: pointwise(op, (self,))
    if name.startswith("__i"):

        def inplace(self: Tensor, other: Any) -> Any:
            if type(other) is not Tensor and (other := _operand(self, other)) is NotImplemented:
                return NotImplemented
            return pointwise(op, (self, other), (), self, True)

        return inplace
    # These commute; as torch's they go by the layout of the tensor whose method they are.
    if name in ("__radd__", "__rmul__", "__rand__", "__ror__", "__rxor__"):
        name = name.replace("__r", "__", 1)
    if name.startswith("__r") and name != "__rshift__":

        def reflected(self: Tensor, other: Any) -> Any:
            if (other := _operand(self, other)) is NotImplemented:
                return NotImplemented
            return pointwise(op, (other, self))

        return reflected

    def forward(self: Tensor, other: Any) -> Any:
        if type(other) is not Tensor and (other := _operand(self, other)) is NotImplemented:
            return NotImplemented
        return pointwise(op, (self, other))

    return forward
