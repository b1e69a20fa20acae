"""Operators of tensors: dunder methods of functions of two and of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from ..errors import arith as errors_arith
from ..execute.pointwise import pointwise
from ..rows.op import Op


def _numeric(other: Any) -> bool:
    return isinstance(other, (Tensor, bool, int, float, complex)) or hasattr(other, "dtype")


def _is_tensor(other: Any) -> bool:
    return isinstance(other, Tensor)


def operator(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A dunder method of a function of two; NotImplemented for what is no tensor or number."""
    accepted = _is_tensor if "matmul" in name else _numeric
    if name.startswith("__i"):

        def inplace(self: Tensor, other: Any) -> Any:
            return call(self, other, out=self) if accepted(other) else NotImplemented

        return inplace
    if name.startswith("__r") and name != "__rshift__":

        def reflected(self: Tensor, other: Any) -> Any:
            return call(other, self) if accepted(other) else NotImplemented

        return reflected

    def forward(self: Tensor, other: Any) -> Any:
        return call(self, other) if accepted(other) else NotImplemented

    return forward


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
            if not _numeric(other):
                return NotImplemented
            return pointwise(op, (self, other), (), self, True)

        return inplace
    # These commute; as torch's they go by the layout of the tensor whose method they are.
    if name in ("__radd__", "__rmul__", "__rand__", "__ror__", "__rxor__"):
        name = name.replace("__r", "__", 1)
    if name.startswith("__r") and name != "__rshift__":

        def reflected(self: Tensor, other: Any) -> Any:
            return pointwise(op, (other, self)) if _numeric(other) else NotImplemented

        return reflected

    def forward(self: Tensor, other: Any) -> Any:
        if type(other) is Tensor or _numeric(other):
            return pointwise(op, (self, other))
        return NotImplemented

    return forward
