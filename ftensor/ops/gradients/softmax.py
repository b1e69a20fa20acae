"""Gradients of softmax by the names that torch has for them."""

from __future__ import annotations

from ..._tensor import Tensor
from ...dtypes import dtype
from ...execute.pointwise import pointwise
from ...graph.fused import fused
from ...rows.catalogue import op
from ..compose import deliver
from .pointwise import LOG_SOFTMAX, SOFTMAX


def _wide(*tensors: Tensor) -> list[Tensor]:
    """In the precision that is computed in: the sums are not rounded on the way."""
    return [x.to(x._dtype.compute) for x in tensors]


@op(method=False)
@fused
def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype, *, grad_input: Tensor | None = None
) -> Tensor:
    """The gradient of softmax's input: output * (grad - sum(grad * output)) along `dim`, in
    `input_dtype`.
    """
    grad, y = _wide(grad_output, output)
    result = pointwise(SOFTMAX, (grad, y, (grad * y).sum(dim, keepdim=True))).to(input_dtype)
    result = result.contiguous()
    return result if grad_input is None else deliver("_softmax_backward_data", result, grad_input)


@op(method=False)
@fused
def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype, *, out: Tensor | None = None
) -> Tensor:
    """The gradient of log_softmax's input: grad - exp(output) * sum(grad) along `dim`, in
    `input_dtype`.
    """
    grad, y = _wide(grad_output, output)
    result = pointwise(LOG_SOFTMAX, (grad, y, grad.sum(dim, keepdim=True))).to(input_dtype)
    return result if out is None else deliver("_log_softmax_backward_data", result, out)
