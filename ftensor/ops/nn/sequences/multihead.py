"""Attention of several heads, with the projections before and after it."""

from __future__ import annotations

import math

from ...._tensor import Tensor
from ....dtypes import bool as bool_
from ....errors import sequence as errors_sequence
from ....rows.catalogue import op
from ...create.sizes import zeros
from ...linalg.addmm import linear
from ...rearrange.cat import cat
from ...rearrange.pad_modes import pad
from ..layers.activation import SPACE
from ..layers.dropout import nn_dropout
from .attention import scaled_dot_product_attention

NAME = "multi_head_attention_forward"


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise errors_sequence.heads(NAME, what)


def _dims(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None) -> bool:
    """Whether there is a batch. AssertionError for dims that don't belong together."""
    _need(query.ndim in (2, 3), f"query has 2 or 3 dims, not {query.ndim}")
    _need(key.ndim == value.ndim == query.ndim, "query, key and value have equally many dims")
    need = query.ndim - 1
    _need(padding is None or padding.ndim == need, f"key_padding_mask has {need} dims")
    return query.ndim == 3


def _added(mask: Tensor | None, word: str, like: Tensor) -> Tensor | None:
    """A mask as what is added to scores: a bool one says what is not attended to."""
    if mask is None or mask._dtype.is_floating_point:
        return mask
    _need(mask._dtype is bool_, f"{word} is of bool or floating point, not {mask._dtype}")
    return zeros(mask._shape, dtype=like._dtype, device=like.device).masked_fill(mask, -math.inf)


def _projected(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    parts: tuple[Tensor | None, ...] | None,
) -> tuple[Tensor, ...]:
    """Query, key and value times their weights, which are `parts`, or lie in one `weight`."""
    biases: tuple[Tensor | None, ...] = (None,) * 3 if bias is None else bias.chunk(3)
    if parts is None:
        assert weight is not None
        if query is key is value:
            return tuple(linear(query, weight, bias).chunk(3, -1))
        parts = weight.chunk(3)
    size = query._shape[-1]
    projections = []
    for word, x, w, b in zip("qkv", (query, key, value), parts, biases):
        _need(w is not None, f"{word}_proj_weight is there where each has its own weight")
        needed = size, x._shape[-1]
        _need(w is not None and w._shape == needed, f"{word}'s weight has shape {needed}")
        assert w is not None
        projections.append((x, w, b))
    return tuple([linear(*one) for one in projections])


def _longer(mask: Tensor | None) -> Tensor | None:
    """A mask with one more key, which is attended to."""
    return None if mask is None else pad(mask, (0, 1))


def _attn_mask(mask: Tensor, queries: int, keys: int, heads: int) -> Tensor:
    """A mask with a dim of heads. RuntimeError for another shape, AssertionError for other dims."""
    _need(mask.ndim in (2, 3), f"attn_mask has 2 or 3 dims, not {mask.ndim}")
    needed = (queries, keys) if mask.ndim == 2 else (heads, queries, keys)
    if mask._shape != needed:
        raise errors_sequence.attention_mask(NAME, (queries, keys), heads, mask._shape)
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
    """(attention's result, its weights), of query (L, N, E), key and value (S, N, E) without or
    with a batch N: (L, N, E), and with `need_weights` (N, L, S), the heads' mean, or, without
    `average_attn_weights`, (N, heads, L, S).

    All three are projected, by the parts of `in_proj_weight` (3 E, E) or, with
    `use_separate_proj_weight`, by weights of their own, and cut into heads. `bias_k` and `bias_v`
    (1, 1, E), and zeros by `add_zero_attn`, are further keys and values; `static_k` and `static_v`
    (N * heads, S, E / heads) stand in place of the projected ones. Masks say what is not attended
    to, or are added: `key_padding_mask` (N, S), `attn_mask` (L, S) or (N * heads, L, S);
    `is_causal` says that it is the causal one. AssertionError and RuntimeError for shapes that
    don't fit.
    """
    batched = _dims(query, key, value, key_padding_mask)
    if not batched:
        same = query is key is value
        query = query.unsqueeze(1)
        key, value = (query, query) if same else (key.unsqueeze(1), value.unsqueeze(1))
        padding = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    else:
        padding = key_padding_mask
    queries, batch, size = query._shape
    keys, heads = key._shape[0], batch * num_heads
    padding = _added(padding, "key_padding_mask", query)
    if is_causal and attn_mask is None:
        raise errors_sequence.causal_mask(NAME)
    if is_causal and padding is None and not need_weights:
        attn_mask = None  # which attention makes itself
    else:
        attn_mask = _added(attn_mask, "attn_mask", query)
        is_causal = is_causal and padding is None
    _need(size == embed_dim_to_check, f"query's last dim is {embed_dim_to_check}, not {size}")
    each = size // num_heads
    _need(each * num_heads == size, f"{size} is a multiple of num_heads")
    together = 2 if use_separate_proj_weight else 3
    _need(key._shape[:together] == value._shape[:together], "key and value have one shape")
    own = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    _need(own is not None or in_proj_weight is not None, "in_proj_weight is there")
    q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias, own)
    if attn_mask is not None:
        attn_mask = _attn_mask(attn_mask, queries, keys, heads)
    _need((bias_k is None) == (bias_v is None), "bias_k and bias_v are there both or not")
    if bias_k is not None and bias_v is not None:
        _need(static_k is static_v is None, "static keys and values have no bias")
        k = cat((k, bias_k.expand(1, batch, size)))
        v = cat((v, bias_v.expand(1, batch, size)))
        attn_mask, padding = _longer(attn_mask), _longer(padding)
    q, k, v = (
        x.reshape(x._shape[0], heads, each).transpose(0, 1) if static is None else static
        for x, static in ((q, None), (k, static_k), (v, static_v))
    )
    for x in (k, v):
        _need(x._shape[::2] == (heads, each), f"static keys have shape ({heads}, S, {each})")
    if add_zero_attn:
        nothing = zeros((heads, 1, each), dtype=k._dtype, device=k.device)
        k, v = cat((k, nothing), 1), cat((v, nothing), 1)
        attn_mask, padding = _longer(attn_mask), _longer(padding)
    keys = k._shape[1]
    if padding is not None:
        _need(padding._shape == (batch, keys), f"key_padding_mask has shape ({batch}, {keys})")
        padding = padding.reshape(batch, 1, 1, keys).expand(batch, num_heads, 1, keys)
        padding = padding.reshape(heads, 1, keys)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    dropout = dropout_p if training else 0.0
    if need_weights:
        _need(not (is_causal and attn_mask is None), "attn_mask is there for causal weights")
        scaled = q * math.sqrt(1.0 / each)
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
        shape = (batch, num_heads, -1, each)
        if attn_mask is not None and attn_mask._shape[0] > 1:
            attn_mask = attn_mask.reshape(batch, num_heads, -1, keys)
        attn_output = scaled_dot_product_attention(
            q.reshape(shape), k.reshape(shape), v.reshape(shape), attn_mask, dropout, is_causal
        ).reshape(heads, queries, each)
    attn_output = attn_output.transpose(0, 1).reshape(queries * batch, size)
    attn_output = linear(attn_output, out_proj_weight, out_proj_bias)
    attn_output = attn_output.reshape(queries, batch, attn_output._shape[-1])
    if weights is not None:
        weights = weights.reshape(batch, num_heads, queries, keys)
        weights = weights.mean(1) if average_attn_weights else weights
        weights = weights if batched else weights.squeeze(0)
    return attn_output if batched else attn_output.squeeze(1), weights
