"""The derivative of a linear layer."""

from __future__ import annotations

from collections.abc import Sequence

from ..._tensor import Tensor
from ..linalg.matmul import mm


def linear_backward(input: Tensor, grad: Tensor, weight: Tensor, wanted: Sequence[bool]) -> tuple[Tensor | None, ...]:
    """The gradients of input, weight and bias that are wanted, for (..., k), (..., n), (n, k)."""
    rows = grad.reshape(-1, weight._shape[0])
    return (
        mm(rows, weight).view(input._shape) if wanted[0] else None,
        mm(rows.t(), input.reshape(-1, weight._shape[1])) if wanted[1] else None,
        rows.sum(0) if wanted[2] else None,
    )
