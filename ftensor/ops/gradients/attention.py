"""Attention with what its derivative needs, the weights, and the derivative."""

from __future__ import annotations

import math

from ..._tensor import Tensor
from ...graph.fused import fused
from ..create.sizes import full
from ..linalg.product import product
from ..nn.sequences.attention import scores
from .softmax import _softmax_backward_data


@fused
def attention(query: Tensor, key: Tensor, value: Tensor, factor: float, causal: bool) -> tuple[Tensor, Tensor]:
    """(softmax(query @ key^T * factor) @ value, the softmax), for (..., L, E), (..., S, E) and
    (..., S, V), with positions after the query's left out where `causal`."""
    hidden = None
    if causal:
        sizes = query._shape[-2], key._shape[-2]
        hidden = full(sizes, -math.inf, dtype=query._dtype, device=query.device).triu(1)
    weights = scores(query, key.mT, factor, hidden).softmax(-1)
    return weights @ value, weights


@fused
def attention_backward(
    grad: Tensor, query: Tensor, key: Tensor, value: Tensor, weights: Tensor, factor: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of query, key and value."""
    by_weights = grad @ value.mT
    by_scores = _softmax_backward_data(by_weights, weights, -1, weights._dtype)
    return (
        product("matmul", by_scores, key, alpha=factor),
        product("matmul", by_scores.mT, query, alpha=factor),
        weights.mT @ grad,
    )
