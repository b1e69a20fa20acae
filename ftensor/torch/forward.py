"""Kernels written by hand: positions, attention's choice, a transformer's layer."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from ..ops.index.index import put
from .hand_over import kernel
from .memory import DEVICE, fresh, is_here, lift, unwrap, wrap
from .registration import impl


@impl("_fused_sdp_choice")
def attention_choice(*args: Any, **kwargs: Any) -> int:
    """0, the mathematical form: products and a softmax."""
    return 0


@kernel("index.Tensor")
def index(self: Any, indices: Any) -> torch.Tensor:
    """self[indices], where a None takes a whole dim."""
    x, positions = lift(self), _positions(indices)
    return wrap(fresh(x[positions[0] if len(positions) == 1 else positions], x))


def _positions(indices: Any) -> tuple[Any, ...]:
    """Indices as ftensor's `[]` takes them, those on the host brought here."""
    return tuple([slice(None) if t is None else lift(_brought(t)) for t in indices])


def _brought(t: torch.Tensor) -> torch.Tensor:
    return t if is_here(t) else t.to(DEVICE)


@kernel("_index_put_impl_")
def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False, unsafe: bool = False) -> torch.Tensor:
    """self[indices] = values, or += where `accumulate`."""
    put(unwrap(self), _positions(indices), lift(values), accumulate)
    return self


@kernel("_transformer_encoder_layer_fwd")
def transformer_layer(
    src: Any, embed_dim: int, num_heads: int, qkv_weight: Any, qkv_bias: Any, proj_weight: Any,
    proj_bias: Any, use_gelu: bool, norm_first: bool, eps: float, norm_weight_1: Any,
    norm_bias_1: Any, norm_weight_2: Any, norm_bias_2: Any, ffn_weight_1: Any, ffn_bias_1: Any,
    ffn_weight_2: Any, ffn_bias_2: Any, mask: Any = None, mask_type: int | None = None,
) -> torch.Tensor:  # fmt: skip
    """What torch.nn.TransformerEncoderLayer calls whole when nothing is recorded, of its parts."""
    if mask is not None:
        raise NotImplementedError
    batch, length, _ = src.shape
    first = partial(F.layer_norm, weight=norm_weight_1, bias=norm_bias_1, eps=eps)
    second = partial(F.layer_norm, weight=norm_weight_2, bias=norm_bias_2, eps=eps)
    size = (embed_dim,)

    def attend(x: torch.Tensor) -> torch.Tensor:
        parts = F.linear(x, qkv_weight, qkv_bias).view(batch, length, 3, num_heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        context = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        return F.linear(context.reshape(batch, length, embed_dim), proj_weight, proj_bias)

    def feed(x: torch.Tensor) -> torch.Tensor:
        inner = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(inner) if use_gelu else F.relu(inner), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attend(first(src, size))
        return x + feed(second(x, size))
    x = first(src + attend(src), size)
    return second(x + feed(x), size)
