"""Attention, and the layers around it: linear forms, gated units."""

from __future__ import annotations

import math
from typing import Any

from ...._tensor import Tensor
from ....dtypes import bool as bool_
from ....errors import matmul as errors_matmul
from ....errors import nn as errors_nn
from ....execute.pointwise import pointwise
from ....graph.fused import fused
from ....iterator.shape import broadcast_shapes
from ....rows.catalogue import Entry, op, register
from ....rows.op import Op
from ...compose import composed
from ...create.sizes import full, zeros
from ...linalg.product import check, product
from ...pointwise.ternary import where
from ...reduce.softmax import nn_softmax
from ..layers.activation import SPACE
from ..layers.dropout import nn_dropout

CATEGORY = "activation"

PRELU = Op("prelu", "prelu(input, weight) -> Tensor", "a > K(0) ? a : a * b", float_only=True)


@op(namespace=SPACE)
@fused
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(query @ key^T * scale + mask) @ value, for (..., L, E), (..., S, E), (..., S, V).

    `scale` is 1 / sqrt(E) where it is not given. A bool mask says what is attended, another is
    added; `is_causal` attends to positions up to the query's. With `enable_gqa`, heads of key and
    value (dim -3) serve several of the query's. RuntimeError for shapes that don't fit and for a
    mask beside `is_causal`.
    """
    name = "scaled_dot_product_attention"
    if not query._dtype is key._dtype is value._dtype:
        raise errors_nn.attention_dtypes(query._dtype, key._dtype, value._dtype)
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise errors_nn.attention_dims(query._shape, key._shape, value._shape)
    if not (query._dtype.is_floating_point or query._dtype.is_complex):
        raise errors_nn.floating_inputs(name, query._dtype)
    if is_causal and attn_mask is not None:
        raise errors_nn.two_masks(name)
    if not key.numel() and not value.numel():  # nothing to attend to, whatever the heads
        shape = (*query._shape[:-1], value._shape[-1])
        return zeros(shape, dtype=query._dtype, device=query.device)
    if enable_gqa:
        heads = query._shape[-3]
        key = key.repeat_interleave(heads // max(1, key._shape[-3]), -3)
        value = value.repeat_interleave(heads // max(1, value._shape[-3]), -3)
    if attn_mask is not None and attn_mask._dtype not in (bool_, query._dtype):
        raise errors_nn.attention_mask(attn_mask._dtype, query._dtype)
    dtype, compute = query._dtype, query._dtype.compute
    query, key, value = query.to(compute), key.to(compute), value.to(compute)
    factor = 1 / math.sqrt(query._shape[-1] or 1) if scale is None else scale
    added = attn_mask
    if is_causal:
        sizes = query._shape[-2], key._shape[-2]
        added = full(sizes, -math.inf, dtype=compute, device=query.device).triu(1)
    elif attn_mask is not None and attn_mask._dtype is bool_:
        added = where(attn_mask, 0.0, -math.inf).to(compute)
    # The product takes the scale and the mask with it.
    weights = scores(query, key.transpose(-2, -1), factor, added).softmax(-1)
    if attn_mask is not None and attn_mask._dtype is bool_:
        # A query that attends to nothing gets zeros and no NaN.
        weights = where(attn_mask.any(-1, keepdim=True), weights, 0.0)
    if dropout_p > 0:
        weights = nn_dropout(weights, dropout_p)
    return (weights @ value).to(dtype)


def scores(query: Tensor, keys: Tensor, factor: float, added: Tensor | None) -> Tensor:
    """query @ keys * factor + added, in one launch where the summand has no larger shape."""
    of = check("matmul", input=query, other=keys)
    if query._shape[-1] != keys._shape[-2]:
        raise errors_matmul.shapes_differ("matmul", query._shape, keys._shape)
    batch = broadcast_shapes(query._shape[:-2], keys._shape[:-2])
    shape = (*batch, query._shape[-2], keys._shape[-1])
    if added is None or broadcast_shapes(added._shape, shape) != shape:
        result = product("matmul", query, keys, None, None, 1, factor)
        return result if added is None else result + added
    return product("matmul", query, keys, None, added.to(of), 1, factor)


@op(namespace=SPACE)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input1^T @ weight[k] @ input2 + bias[k] for each k: (..., m), (..., n), (k, m, n) give
    (..., k). RuntimeError for shapes that don't fit.
    """
    k, m, n = weight._shape if weight.ndim == 3 else (0, -1, -1)
    if input1._shape[:-1] != input2._shape[:-1] or (input1._shape[-1], input2._shape[-1]) != (m, n):
        raise errors_nn.bilinear_shapes(input1._shape, input2._shape, weight._shape)
    if bias is not None and bias._shape != (k,):
        raise errors_nn.factor_shape("bilinear", "bias", (k,), bias._shape)
    first, second = input1.reshape(-1, m), input2.reshape(-1, n)
    left = (first @ weight.transpose(0, 1).reshape(m, k * n)).reshape(-1, k, n)
    result = (left @ second.unsqueeze(-1)).reshape(*input1._shape[:-1], k)
    return result if bias is None else result + bias


@composed(namespace=SPACE)
@fused
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times sigmoid of the second. RuntimeError for an odd size."""
    if not input.ndim:
        raise errors_nn.few_dims("glu", 1, input._shape)
    size = input._shape[dim] if -input.ndim <= dim < input.ndim else 0
    if size % 2:
        raise errors_nn.odd_size("glu", dim, size)
    first, second = input.chunk(2, dim) if size else (input, input)
    if not size:
        input.size(dim)  # IndexError for a dim that is not there
    return first * second.sigmoid()


@op(rows=(PRELU,))
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The value, negative ones times `weight`, which holds one number or one for each channel
    (dim 1). RuntimeError for another size or dtype.
    """
    if weight.ndim > 1:
        raise errors_nn.prelu_weight_dims(weight._shape)
    if weight._dtype is not input._dtype:
        raise errors_nn.same_dtype("prelu", "weight", input._dtype, weight._dtype)
    channels = input._shape[1] if input.ndim > 1 else 1
    if weight.numel() != 1:
        if not input.ndim:
            raise errors_nn.few_dims("prelu", 1, input._shape)
        if weight.numel() != channels:
            raise errors_nn.prelu_weights(channels, weight.numel())
        weight = weight.reshape([-1 if d == 1 else 1 for d in range(max(2, input.ndim))])
        weight = weight if input.ndim > 1 else weight.reshape(-1)
    else:
        weight = weight.reshape([1] * input.ndim)
    return pointwise(PRELU, (input, weight))


@op(namespace=SPACE)
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """`softmax` of the negative input."""
    return nn_softmax(-input, dim, _stacklevel, dtype)


register(Entry("prelu", prelu, method=False, namespace=SPACE))
register(Entry("bilinear", bilinear, method=False))
