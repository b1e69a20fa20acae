"""Attention and its projections."""

from __future__ import annotations

import math
from typing import Any

from ...._tensor import Tensor
from ....dtypes import bool as bool_
from ....dtypes import float32
from ....errors import linalg as errors_matmul
from ....errors import nn as errors_nn
from ....execute.pointwise import pointwise
from ....graph.fused import fused
from ....iterator.shape import broadcast_shapes
from ....rows.catalogue import Entry, op, register
from ....rows.op import Op
from ...arguments import check_tensors
from ...bind import composed
from ...create.sizes import full, zeros
from ...linalg.matmul import linear
from ...linalg.product import check, product
from ...pointwise.ternary import where
from ...rearrange.cat import cat
from ...rearrange.pad import pad
from ...reduce.softmax import nn_softmax
from ..layers.activation import SPACE
from ..layers.dropout import nn_dropout

CATEGORY = "activation"

PRELU = Op("prelu", "input, weight", "a > K(0) ? a : a * b", float_only=True)


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
    """Returns softmax(query @ key^T * scale + mask) @ value, for (..., L, E), (..., S, E), (..., S,
    V).

    `scale` defaults to 1 / sqrt(E). A bool mask is True where attention is allowed; another mask, of
    float32 or the query's dtype, is added. `is_causal` attends to positions up to the query's. With
    `enable_gqa`, each head of key and value (dim -3) is shared by several heads of the query.
    Raises RuntimeError for shapes that don't fit and for a mask together with `is_causal`.
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
    if not key.numel() and not value.numel():  # no keys to attend to, for any number of heads
        shape = (*query._shape[:-1], value._shape[-1])
        return zeros(shape, dtype=query._dtype, device=query.device)
    if enable_gqa:
        heads = query._shape[-3]
        key = key.repeat_interleave(heads // max(1, key._shape[-3]), -3)
        value = value.repeat_interleave(heads // max(1, value._shape[-3]), -3)
    if attn_mask is not None and attn_mask._dtype not in (bool_, float32, query._dtype):
        raise errors_nn.attention_mask(attn_mask._dtype, query._dtype)
    dtype, compute = query._dtype, query._dtype.compute
    query, key, value = query.to(compute), key.to(compute), value.to(compute)
    factor = 1 / math.sqrt(query._shape[-1] or 1) if scale is None else scale
    weights = attention_weights(query, key, factor, attn_mask, is_causal)
    if dropout_p > 0:
        weights = nn_dropout(weights, dropout_p)
    return (weights @ value).to(dtype)


def attention_weights(query: Tensor, key: Tensor, factor: float, mask: Tensor | None, is_causal: bool) -> Tensor:
    """Returns softmax(query @ key^T * factor + mask); `mask` and `is_causal` as in
    `scaled_dot_product_attention`."""
    added = mask
    if is_causal:
        sizes = query._shape[-2], key._shape[-2]
        added = full(sizes, -math.inf, dtype=query._dtype, device=query.device).triu(1)
    elif mask is not None and mask._dtype is bool_:
        added = where(mask, 0.0, -math.inf).to(query._dtype)
    # The matrix product applies the scale and the mask too.
    weights = scores(query, key.transpose(-2, -1), factor, added).softmax(-1)
    if mask is None:
        return weights
    # A query that attends to nothing gets zeros instead of NaN.
    allowed = mask if mask._dtype is bool_ else mask != -math.inf
    return where(allowed.any(-1, keepdim=True), weights, 0.0)


def scores(query: Tensor, keys: Tensor, factor: float, bias: Tensor | None) -> Tensor:
    """Returns query @ keys * factor + added, in one launch if the summand's shape isn't larger."""
    compute = check("matmul", input=query, other=keys)
    if query._shape[-1] != keys._shape[-2]:
        raise errors_matmul.shapes_differ("matmul", query._shape, keys._shape)
    batch = broadcast_shapes(query._shape[:-2], keys._shape[:-2])
    shape = (*batch, query._shape[-2], keys._shape[-1])
    if bias is None or broadcast_shapes(bias._shape, shape) != shape:
        result = product("matmul", query, keys, None, None, 1, factor)
        return result if bias is None else result + bias
    return product("matmul", query, keys, None, bias.to(compute), 1, factor)


@op(namespace=SPACE)
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Returns input1^T @ weight[k] @ input2 + bias[k] for each k: (..., m), (..., n), (k, m, n)
    give (..., k). Raises RuntimeError for shapes that don't fit."""
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
    """Returns the first half along `dim` times sigmoid of the second. Raises RuntimeError for an
    odd size."""
    if not input.ndim:
        raise errors_nn.few_dims("glu", 1, input._shape)
    size = input._shape[dim] if -input.ndim <= dim < input.ndim else 0
    if size % 2:
        raise errors_nn.odd_size("glu", dim, size)
    first, second = input.chunk(2, dim) if size else (input, input)
    if not size:
        input.size(dim)  # raises IndexError for a dim out of range
    return first * second.sigmoid()


@op(rows=(PRELU,))
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Returns the input with negative elements multiplied by `weight`, which holds one number or
    one for each channel (dim 1). Raises RuntimeError for another size or dtype."""
    check_tensors("prelu", weight=weight)
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
    """Returns `softmax` of the negated input."""
    return nn_softmax(-input, dim, _stacklevel, dtype)


register(Entry("prelu", prelu, method=False, namespace=SPACE))
register(Entry("bilinear", bilinear, method=False))


NAME = "multi_head_attention_forward"


def _require(condition: bool, requirement: str) -> None:
    if not condition:
        raise errors_nn.heads(NAME, requirement)


def _dims(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None) -> bool:
    """True if there is a batch dim. Raises AssertionError for numbers of dims that don't fit."""
    _require(query.ndim in (2, 3), f"query has 2 or 3 dims, not {query.ndim}")
    _require(key.ndim == value.ndim == query.ndim, "query, key and value have equally many dims")
    need = query.ndim - 1
    _require(padding is None or padding.ndim == need, f"key_padding_mask has {need} dims")
    return query.ndim == 3


def _additive_mask(mask: Tensor | None, word: str, like: Tensor) -> Tensor | None:
    if mask is None or mask._dtype.is_floating_point:
        return mask
    _require(mask._dtype is bool_, f"{word} is of bool or floating point, not {mask._dtype}")
    return zeros(mask._shape, dtype=like._dtype, device=like.device).masked_fill(mask, -math.inf)


def _projected(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    separate_weights: tuple[Tensor | None, ...] | None,
) -> tuple[Tensor, ...]:
    """Returns query, key and value times their weights: `separate_weights`, or the thirds of one
    `weight`."""
    biases: tuple[Tensor | None, ...] = (None,) * 3 if bias is None else bias.chunk(3)
    if separate_weights is None:
        assert weight is not None
        if query is key is value:
            return tuple(linear(query, weight, bias).chunk(3, -1))
        separate_weights = weight.chunk(3)
    size = query._shape[-1]
    projections = []
    for word, x, w, b in zip("qkv", (query, key, value), separate_weights, biases):
        _require(w is not None, f"{word}_proj_weight is there where each has its own weight")
        expected = size, x._shape[-1]
        _require(w is not None and w._shape == expected, f"{word}'s weight has shape {expected}")
        assert w is not None
        projections.append((x, w, b))
    return tuple([linear(*projection) for projection in projections])


def _append_source(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else pad(mask, (0, 1))


def _attn_mask(mask: Tensor, queries: int, keys: int, heads: int) -> Tensor:
    """Returns a mask with a dim of heads. Raises RuntimeError for another shape, AssertionError for
    other numbers of dims."""
    _require(mask.ndim in (2, 3), f"attn_mask has 2 or 3 dims, not {mask.ndim}")
    expected = (queries, keys) if mask.ndim == 2 else (heads, queries, keys)
    if mask._shape != expected:
        raise errors_nn.attention_mask_shape(NAME, (queries, keys), heads, mask._shape)
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


@op(namespace=SPACE)
def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
    bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
    out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None,
    need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Returns (result of attention, its weights), of query (L, N, E), key and value (S, N, E), with
    or without a batch N. The result is (L, N, E). With `need_weights` the weights are (N, L, S),
    the mean over the heads, or (N, heads, L, S) without `average_attn_weights`.

    Query, key and value are projected by the parts of `in_proj_weight` (3 E, E) or, with
    `use_separate_proj_weight`, by separate weights, and split into heads. `bias_k` and `bias_v` (1,
    1, E), and zeros with `add_zero_attn`, are additional keys and values. `static_k` and `static_v`
    (N * heads, S, E / heads) replace the projected ones. A bool mask is True where attention is not
    allowed; another mask is added. `key_padding_mask` is (N, S), `attn_mask` (L, S) or (N * heads,
    L, S); `is_causal` declares `attn_mask` causal. Raises AssertionError and RuntimeError for
    shapes that don't fit.
    """
    batched = _dims(query, key, value, key_padding_mask)
    if not batched:
        is_self_attention = query is key is value
        query = query.unsqueeze(1)
        key, value = (query, query) if is_self_attention else (key.unsqueeze(1), value.unsqueeze(1))
        padding = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    else:
        padding = key_padding_mask
    queries, batch, size = query._shape
    keys, heads = key._shape[0], batch * num_heads
    padding = _additive_mask(padding, "key_padding_mask", query)
    if is_causal and attn_mask is None:
        raise errors_nn.causal_mask(NAME)
    if is_causal and padding is None and not need_weights:
        attn_mask = None  # attention creates the mask itself
    else:
        attn_mask = _additive_mask(attn_mask, "attn_mask", query)
        is_causal = is_causal and padding is None
    _require(size == embed_dim_to_check, f"query's last dim is {embed_dim_to_check}, not {size}")
    head_size = size // num_heads
    _require(head_size * num_heads == size, f"{size} is a multiple of num_heads")
    shared_inputs = 2 if use_separate_proj_weight else 3
    _require(key._shape[:shared_inputs] == value._shape[:shared_inputs], "key and value have one shape")
    separate_weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    _require(separate_weights is not None or in_proj_weight is not None, "in_proj_weight is there")
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, separate_weights)
    if attn_mask is not None:
        attn_mask = _attn_mask(attn_mask, queries, keys, heads)
    _require((bias_k is None) == (bias_v is None), "bias_k and bias_v are there both or not")
    if bias_k is not None and bias_v is not None:
        _require(static_k is static_v is None, "static keys and values have no bias")
        k = cat((k, bias_k.expand(1, batch, size)))
        v = cat((v, bias_v.expand(1, batch, size)))
        attn_mask, padding = _append_source(attn_mask), _append_source(padding)
    q, k, v = (
        x.reshape(x._shape[0], heads, head_size).transpose(0, 1) if static is None else static
        for x, static in ((q, None), (k, static_k), (v, static_v))
    )
    for x in (k, v):
        _require(x._shape[::2] == (heads, head_size), f"static keys have shape ({heads}, S, {head_size})")
    if add_zero_attn:
        nothing = zeros((heads, 1, head_size), dtype=k._dtype, device=k.device)
        k, v = cat((k, nothing), 1), cat((v, nothing), 1)
        attn_mask, padding = _append_source(attn_mask), _append_source(padding)
    keys = k._shape[1]
    if padding is not None:
        _require(padding._shape == (batch, keys), f"key_padding_mask has shape ({batch}, {keys})")
        padding = padding.reshape(batch, 1, 1, keys).expand(batch, num_heads, 1, keys)
        padding = padding.reshape(heads, 1, keys)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    dropout = dropout_p if training else 0.0
    if need_weights:
        _require(not (is_causal and attn_mask is None), "attn_mask is there for causal weights")
        scaled = q * math.sqrt(1.0 / head_size)
        if attn_mask is None:
            scores = scaled.bmm(k.transpose(-2, -1))
        else:
            scores = attn_mask.baddbmm(scaled, k.transpose(-2, -1))
        weights = scores.softmax(-1)
        if dropout > 0:
            weights = nn_dropout(weights, dropout)
        attn_output = weights.bmm(v)
    else:
        weights = None
        shape = (batch, num_heads, -1, head_size)
        if attn_mask is not None and attn_mask._shape[0] > 1:
            attn_mask = attn_mask.reshape(batch, num_heads, -1, keys)
        attn_output = scaled_dot_product_attention(
            q.reshape(shape), k.reshape(shape), v.reshape(shape), attn_mask, dropout, is_causal
        ).reshape(heads, queries, head_size)
    attn_output = attn_output.transpose(0, 1).reshape(queries * batch, size)
    attn_output = linear(attn_output, out_proj_weight, out_proj_bias)
    attn_output = attn_output.reshape(queries, batch, attn_output._shape[-1])
    if weights is not None:
        weights = weights.reshape(batch, num_heads, queries, keys)
        weights = weights.mean(1) if average_attn_weights else weights
        weights = weights if batched else weights.squeeze(0)
    return attn_output if batched else attn_output.squeeze(1), weights
