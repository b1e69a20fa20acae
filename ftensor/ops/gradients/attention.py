"""Derivatives of softmax, attention and linear layers."""

from __future__ import annotations

from collections.abc import Sequence

from ..._tensor import Tensor
from ...dtypes import dtype
from ...execute.pointwise import pointwise
from ...graph.fused import fused
from ...rows.catalogue import op
from ..bind import write_outputs
from ..linalg.matmul import mm
from ..linalg.product import product
from ..nn.sequences.attention import attention_weights
from .pointwise import LOG_SOFTMAX, SOFTMAX


def _to_compute(*tensors: Tensor) -> list[Tensor]:
    return [x.to(x._dtype.compute) for x in tensors]


@op(method=False)
@fused
def _softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype, *, grad_input: Tensor | None = None
) -> Tensor:
    """Returns the gradient of softmax's input, output * (grad - sum(grad * output)) along `dim`, in
    `input_dtype`."""
    grad, y = _to_compute(grad_output, output)
    result = pointwise(SOFTMAX, (grad, y, (grad * y).sum(dim, keepdim=True))).to(input_dtype)
    result = result.contiguous()
    return result if grad_input is None else write_outputs("_softmax_backward_data", result, grad_input)


@op(method=False)
@fused
def _log_softmax_backward_data(
    grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype, *, out: Tensor | None = None
) -> Tensor:
    """Returns the gradient of log_softmax's input, grad - exp(output) * sum(grad) along `dim`, in
    `input_dtype`."""
    grad, y = _to_compute(grad_output, output)
    result = pointwise(LOG_SOFTMAX, (grad, y, grad.sum(dim, keepdim=True))).to(input_dtype)
    return result if out is None else write_outputs("_log_softmax_backward_data", result, out)


@fused
def attention(
    query: Tensor, key: Tensor, value: Tensor, factor: float, causal: bool, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Returns (weights @ value, weights) with weights = softmax(query @ key^T * factor + mask).

    The shapes of query, key and value are (..., L, E), (..., S, E) and (..., S, V). `causal` masks
    the positions after the query's; a bool `mask` is True where attention is allowed.
    """
    weights = attention_weights(query, key, factor, mask, causal)
    return weights @ value, weights


@fused
def attention_backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, weights: Tensor, factor: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the gradients of query, key and value; `weights` is the softmax that `attention`
    returned."""
    by_weights = grad @ value.mT
    by_scores = _softmax_backward_data(by_weights, weights, -1, weights._dtype)
    return (
        product("matmul", by_scores, key, alpha=factor),
        product("matmul", by_scores.mT, query, alpha=factor),
        weights.mT @ grad,
    )


def linear_backward(
    input: Tensor, grad: Tensor, weight: Tensor, output_mask: Sequence[bool]
) -> tuple[Tensor | None, ...]:
    """Returns the gradients of input (..., k), weight (n, k) and bias from `grad` (..., n). A
    gradient that `output_mask` excludes is None."""
    rows = grad.reshape(-1, weight._shape[0])
    return (
        mm(rows, weight).view(input._shape) if output_mask[0] else None,
        mm(rows.t(), input.reshape(-1, weight._shape[1])) if output_mask[1] else None,
        rows.sum(0) if output_mask[2] else None,
    )
