"""Ops that torch asks a backend for under names of their own, beside derivatives: softmax, dropout,
attention's choice, activations that keep a buffer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F

from .. import dtypes
from .._tensor import Tensor
from ..errors import not_implemented_for
from ..execute.pointwise import pointwise
from ..iterator.shape import normalize_dim
from ..ops.compose import f
from ..ops.index.index import put
from ..ops.nn.activation import ELU
from ..ops.reduce.softmax import LOG_SOFTMAX, SOFTMAX, softmaxed
from ..rows.op import Op
from .fallback import run as on_host
from .memory import DEVICE, fresh, is_here, lift, unwrap, wrap
from .private import overload
from .registration import impl


def _wrapped(made: Iterable[Tensor]) -> tuple[torch.Tensor, ...]:
    return tuple(map(wrap, made))


def _softmax(name: str, row: Op) -> None:
    op = overload(name)

    @impl(name)
    def kernel(self: Any, dim: int, half_to_float: bool) -> torch.Tensor:
        try:
            x = lift(self)
            of = dtypes.float32 if half_to_float else x._dtype
            if of.kind != "f":
                raise not_implemented_for(row.name, of)
            return wrap(softmaxed(row, x, normalize_dim(dim, x.ndim), of))
        except NotImplementedError:
            return on_host(op, self, dim, half_to_float)

    @impl(f"{name}.out")
    def into(self: Any, dim: int, half_to_float: bool, *, out: Any) -> torch.Tensor:
        return out.copy_(kernel(self, dim, half_to_float))


_softmax("_softmax", SOFTMAX)
_softmax("_log_softmax", LOG_SOFTMAX)


@impl("elu")
def elu(self: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> torch.Tensor:
    """elu, and what selu and celu are to torch."""
    return wrap(pointwise(ELU, (lift(self),), (alpha * scale, scale, input_scale)))


@impl("elu.out")
def elu_out(
    self: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1, *, out: Any
) -> torch.Tensor:
    """elu into `out`."""
    return out.copy_(elu(self, alpha, scale, input_scale))


@impl("unique_consecutive")
def unique_consecutive(
    self: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[torch.Tensor, ...]:
    """The elements without repetitions; where each one went and how many there were, if asked."""
    made = f.unique_consecutive(lift(self), True, True, dim)
    found = [wrap(one) for one in made]
    empty = self.new_empty(0, dtype=torch.int64)
    return found[0], found[1] if return_inverse else empty, found[2] if return_counts else empty


@impl("log_sigmoid_forward")
def log_sigmoid(self: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The result, and a buffer that the CPU's derivative needs."""
    return wrap(f["nn.functional.logsigmoid"](lift(self))), self.new_empty(0)


@impl("_fused_sdp_choice")
def attention_choice(*args: Any, **kwargs: Any) -> int:
    """0, the mathematical form: products and a softmax."""
    return 0


@impl("native_dropout_backward")
def dropout_backward(grad: Any, mask: Any, scale: float) -> torch.Tensor:
    return wrap(lift(grad) * lift(mask) * scale)


@impl("_native_batch_norm_legit")
def batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """native_batch_norm, whose schema says that it writes the running statistics."""
    written = [None if t is None else unwrap(t) for t in (running_mean, running_var)]
    factors = [None if t is None else lift(t) for t in (weight, bias)]
    made = f.native_batch_norm(lift(input), *factors, *written, training, momentum, eps)
    return _wrapped(made)


@impl("_native_batch_norm_legit.no_stats")
def batch_norm_alone(
    input: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> tuple[torch.Tensor, ...]:
    """native_batch_norm without running statistics."""
    return batch_norm(input, weight, bias, None, None, training, momentum, eps)


@impl("native_layer_norm")
def layer_norm(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[torch.Tensor, ...]:
    """(the result, mean, 1 / deviation): torch would make it of a batch norm."""
    factors = [None if t is None else lift(t) for t in (weight, bias)]
    return _wrapped(f.native_layer_norm(lift(input), normalized_shape, *factors, eps))


@impl("native_group_norm")
def group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[torch.Tensor, ...]:
    """(the result, mean, 1 / deviation): torch would make it of a batch norm, in one format."""
    factors = [None if t is None else lift(t) for t in (weight, bias)]
    return _wrapped(f.native_group_norm(lift(input), *factors, N, C, HxW, group, eps))


@impl("index.Tensor")
def index(self: Any, indices: Any) -> torch.Tensor:
    """self[indices], where a None takes a whole dim."""
    try:
        x, found = lift(self), _positions(self, indices)
        return wrap(fresh(x[found[0] if len(found) == 1 else found], x))
    except NotImplementedError:
        return on_host(overload("index.Tensor"), self, indices)


def _positions(self: Any, indices: Any) -> tuple[Any, ...]:
    """Indices as ftensor's `[]` takes them, those on the host brought here."""
    return tuple([slice(None) if t is None else lift(_brought(t)) for t in indices])


def _brought(t: torch.Tensor) -> torch.Tensor:
    return t if is_here(t) else t.to(DEVICE)


@impl("_index_put_impl_")
def index_put_(
    self: Any, indices: Any, values: Any, accumulate: bool = False, unsafe: bool = False
) -> torch.Tensor:
    """self[indices] = values, or += where `accumulate`."""
    try:
        put(unwrap(self), _positions(self, indices), lift(values), accumulate)
    except NotImplementedError:
        on_host(overload("_index_put_impl_"), self, indices, values, accumulate, unsafe)
    return self


@impl("conj_physical_")
def conj_physical_(self: Any) -> torch.Tensor:
    """The conjugate in place. torch's own composition, which `schema` therefore leaves alone, looks
    for a kernel of its CPU's kind."""
    unwrap(self).conj_physical_()
    return self


@impl("_transformer_encoder_layer_fwd")
def transformer_layer(
    src: Any, embed_dim: int, num_heads: int, qkv_weight: Any, qkv_bias: Any, proj_weight: Any,
    proj_bias: Any, use_gelu: bool, norm_first: bool, eps: float, norm_weight_1: Any,
    norm_bias_1: Any, norm_weight_2: Any, norm_bias_2: Any, ffn_weight_1: Any, ffn_bias_1: Any,
    ffn_weight_2: Any, ffn_bias_2: Any, mask: Any = None, mask_type: int | None = None,
) -> torch.Tensor:  # fmt: skip
    """What torch.nn.TransformerEncoderLayer calls whole when nothing is recorded, of its parts."""
    if mask is not None:
        op = overload("_transformer_encoder_layer_fwd")
        return on_host(
            op, src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu,
            norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1,
            ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type,
        )  # fmt: skip
    batch, length, _ = src.shape
    first = partial(F.layer_norm, weight=norm_weight_1, bias=norm_bias_1, eps=eps)
    second = partial(F.layer_norm, weight=norm_weight_2, bias=norm_bias_2, eps=eps)
    size = (embed_dim,)

    def attend(x: torch.Tensor) -> torch.Tensor:
        parts = F.linear(x, qkv_weight, qkv_bias).view(batch, length, 3, num_heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        made = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        return F.linear(made.reshape(batch, length, embed_dim), proj_weight, proj_bias)

    def feed(x: torch.Tensor) -> torch.Tensor:
        inner = F.linear(x, ffn_weight_1, ffn_bias_1)
        return F.linear(F.gelu(inner) if use_gelu else F.relu(inner), ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = src + attend(first(src, size))
        return x + feed(second(x, size))
    x = first(src + attend(src), size)
    return second(x + feed(x), size)
