"""Composite ops with one kernel instead of a decomposition: linear, attention, norms, embedding; and
`torch.nn.LSTM` and `torch.nn.GRU`: one call computes all steps, forward and backward.

For backends other than the CPU torch decomposes each step into several ops and records each op.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch.library import get_kernel

from ..dtypes import bfloat16, float16, float32, float64
from ..execute.layers import fits_one_launch
from ..ops.gradients.attention import attention, attention_backward
from ..ops.gradients.attention import linear_backward as ft_linear_backward
from ..ops.gradients.recurrent import Layer, gru_layers, layers_backward, lstm_layers
from ..ops.index.index import put
from ..ops.linalg.matmul import linear as ft_linear
from ..ops.nn.layers.norm import layer_norm
from ..ops.nn.sequences.attention import scaled_dot_product_attention
from ..ops.nn.sequences.recurrent import Weights
from . import calls
from .fallback import kernel
from .internals import RECORDED_KEYS, decompose, is_batched, is_plain, overload
from .kernels import wrap_all
from .memory import DEVICE, FROM_FT, TO_FT, is_here, lift, unaliased, unwrap, wrap
from .prepared_kernels import impl_prepared, prepared_function
from .registration import impl, recorded
from .structure import check, filled


@impl("_fused_sdp_choice")
def attention_choice(*args: Any, **kwargs: Any) -> int:
    """Returns 0, torch's number for the math backend (products and a softmax)."""
    return 0


@kernel("index.Tensor")
def index(self: Any, indices: Any) -> torch.Tensor:
    """Returns self[indices]; None selects a whole dim."""
    x, positions = lift(self), _positions(indices)
    return wrap(unaliased(x[positions[0] if len(positions) == 1 else positions], x))


def _positions(indices: Any) -> tuple[Any, ...]:
    """Returns indices for ftensor's `[]`; copies those on the host to the device."""
    return tuple([slice(None) if t is None else lift(_on_device(t)) for t in indices])


def _on_device(t: torch.Tensor) -> torch.Tensor:
    return t if is_here(t) else t.to(DEVICE)


@kernel("_index_put_impl_")
def index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False, unsafe: bool = False) -> torch.Tensor:
    """Computes self[indices] = values, or += if `accumulate`."""
    put(unwrap(self), _positions(indices), lift(values), accumulate)
    return self


@kernel("_transformer_encoder_layer_fwd")
def transformer_layer(
    src: Any, embed_dim: int, num_heads: int, qkv_weight: Any, qkv_bias: Any, proj_weight: Any,
    proj_bias: Any, use_gelu: bool, norm_first: bool, eps: float, norm_weight_1: Any,
    norm_bias_1: Any, norm_weight_2: Any, norm_bias_2: Any, ffn_weight_1: Any, ffn_bias_1: Any,
    ffn_weight_2: Any, ffn_bias_2: Any, mask: Any = None, mask_type: int | None = None,
) -> torch.Tensor:  # fmt: skip
    """Computes the fast path of torch.nn.TransformerEncoderLayer without autograd.

    Raises NotImplementedError for a mask.
    """
    if mask is not None:
        raise NotImplementedError
    batch, length, _ = src.shape
    first = partial(F.layer_norm, weight=norm_weight_1, bias=norm_bias_1, eps=eps)
    second = partial(F.layer_norm, weight=norm_weight_2, bias=norm_bias_2, eps=eps)
    size = (embed_dim,)

    def attend(x: torch.Tensor) -> torch.Tensor:
        projected = F.linear(x, qkv_weight, qkv_bias).view(batch, length, 3, num_heads, -1)
        q, k, v = projected.permute(2, 0, 3, 1, 4)
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


WIDE = {float64, float32}
FLOATS = {*WIDE, float16, bfloat16}
TORCH_FLOATS = {FROM_FT[d] for d in FLOATS}
_ATTENTION = overload("scaled_dot_product_attention")
# Records linear as one autograd node; torch by default uses this kernel for nested tensors only.
_record_linear = get_kernel("aten::linear", "AutogradNestedTensor").call_boxed


def register_composite(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function for a composite op, above autograd.

    If the function returns None or raises NotImplementedError, torch's decomposition runs.
    """
    op = overload(name)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                result = function(*args, **kwargs)
            except NotImplementedError:  # raised for an unsupported dtype
                result = None
            return decompose(op, *args, **kwargs) if result is None else result

        recorded.impl(name, call)
        return function

    return register


def needs_gradient(tensors: Sequence[torch.Tensor]) -> bool:
    """True if autograd records ops on these tensors."""
    if torch.is_grad_enabled():
        for t in tensors:  # any() over a generator takes three times as long
            if t.requires_grad:
                return True
    return False


def decomposed_backward(
    decomposition: Callable[..., Sequence[torch.Tensor]],
    args: Sequence[torch.Tensor],
    needed: Sequence[bool],
    grads: Sequence[torch.Tensor | None],
) -> list[torch.Tensor | None]:
    """Returns the gradients of an op's `needed` arguments, None for the others.

    Runs the op's decomposition `decomposition` with autograd, so the gradients can be
    differentiated again. `grads` holds the gradients of the results.
    """
    with torch.enable_grad():
        args = [t.view_as(t) for t in args]  # distinct tensor objects, if an argument occurs twice
        results = decomposition(*args)
    differentiable = [t for t, is_needed in zip(args, needed) if is_needed]
    pairs = [(y, g) for y, g in zip(results, grads) if g is not None]
    gradients = iter(
        torch.autograd.grad(
            [y for y, _ in pairs],
            differentiable,
            [g for _, g in pairs],
            create_graph=torch.is_grad_enabled(),
            allow_unused=True,
        )
    )
    return [next(gradients) if is_needed else None for is_needed in needed]


@register_composite("linear")
def _linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor | None:
    tensors = (input, weight) if bias is None else (input, weight, bias)
    if not is_plain(tensors):
        return None
    if not needs_gradient(tensors):
        return _inferred_linear(input, weight, bias)
    if not _is_one_product(input, weight, bias):
        return None
    return _record_linear(RECORDED_KEYS, input, weight, bias)


def _is_one_product(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> bool:
    """True if one call computes linear: of tensors with elements, of one floating point dtype."""
    dtype, size = input.dtype, weight.shape
    if dtype not in TORCH_FLOATS or weight.dtype is not dtype or len(size) != 2 or input.shape[-1:] != size[1:]:
        return False
    has_elements = input.numel() and weight.numel()
    return bool(has_elements) and (bias is None or (bias.dtype, bias.shape) == (dtype, size[:1]))


@prepared_function("linear(Tensor input, Tensor weight, Tensor? bias) -> Tensor")
def _inferred_linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor | None:
    return linear(input, weight, bias) if _is_one_product(input, weight, bias) else None


@impl_prepared("linear")
def linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return wrap(ft_linear(lift(input), lift(weight), None if bias is None else lift(bias)))


@impl_prepared("linear_backward")
def linear_backward(
    self: torch.Tensor, grad_output: torch.Tensor, weight: torch.Tensor, output_mask: Sequence[bool]
) -> Any:
    tensors = lift(self), lift(grad_output), lift(weight)
    return wrap_all(ft_linear_backward(*tensors, tuple(output_mask)), *tensors)


@kernel("embedding")
def embedding(weight: torch.Tensor, indices: torch.Tensor, *args: Any) -> torch.Tensor:
    """Kernel of aten::embedding; other ranks and index dtypes fall back to the host."""
    if weight.dim() != 2 or indices.dtype not in (torch.int64, torch.int32):
        raise NotImplementedError
    return wrap(calls.embedding(lift(weight), lift(indices)))


@kernel("arange", "arange.start", "arange.start_step")
def arange(
    *bounds: Any, dtype: torch.dtype | None = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> torch.Tensor:
    """Kernel of aten::arange; torch's own takes two ops, an allocation and a fill."""
    check(device, pin_memory)
    return wrap(calls.arange_of_call(*bounds, dtype=dtype))


# torch decomposes these to two ops each.
kernel("zeros")(partial(filled, 0))
kernel("ones")(partial(filled, 1))


@register_composite("layer_norm")
def _layer_norm(
    input: torch.Tensor,
    normalized_shape: Sequence[int],
    weight: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> torch.Tensor | None:
    tensors = [t for t in (input, weight, bias) if t is not None]
    if not is_plain(tensors) or needs_gradient(tensors):
        return None
    return _normalized(input, normalized_shape, weight, bias, eps)


@prepared_function("layer_norm(Tensor input, int[] shape, Tensor? weight, Tensor? bias, float eps) -> Tensor")
def _normalized(
    input: torch.Tensor, shape: Sequence[int], weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float
) -> torch.Tensor:
    w, b = (None if t is None else lift(t) for t in (weight, bias))
    return wrap(layer_norm(lift(input), tuple(shape), w, b, eps))


@register_composite("scaled_dot_product_attention")
def _attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: torch.Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> torch.Tensor | None:
    tensors = query, key, value
    if dropout_p or enable_gqa or (attn_mask is not None and (is_causal or not _fits(attn_mask, query, key))):
        return None
    if not is_plain(tensors):
        return None
    dtype, q, k = query.dtype, query.shape, key.shape
    if dtype not in TORCH_FLOATS or key.dtype is not dtype or value.dtype is not dtype:
        return None
    if (q[:-2], q[-1:]) != (k[:-2], k[-1:]) or k[:-1] != value.shape[:-1] or 0 in q or 0 in k or 0 in value.shape:
        return None
    if not needs_gradient(tensors):
        return _attended(query, key, value, attn_mask, is_causal, scale)
    if TO_FT[dtype] not in WIDE:
        return None
    return _Attention.apply(*tensors, attn_mask, is_causal, scale)


@prepared_function(
    "attended(Tensor query, Tensor key, Tensor value, Tensor? mask, bool is_causal, float? scale) -> Tensor"
)
def _attended(query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: float | None) -> torch.Tensor:
    operands = lift(query), lift(key), lift(value), lift(mask)
    return wrap(scaled_dot_product_attention(*operands, is_causal=is_causal, scale=scale))


@prepared_function(
    "attention(Tensor query, Tensor key, Tensor value, float factor, bool causal, Tensor? mask) -> (Tensor, Tensor)"
)
def _attention_forward(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, factor: float, causal: bool, mask: torch.Tensor | None
) -> tuple[torch.Tensor, ...]:
    lifted_mask = None if mask is None else lift(mask)
    return wrap_all(attention(lift(query), lift(key), lift(value), factor, causal, lifted_mask))


@prepared_function(
    "attention_backward(Tensor grad, Tensor query, Tensor key, Tensor value, Tensor weights, float factor)"
    " -> (Tensor, Tensor, Tensor)"
)
def _attention_backward(
    grad: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    weights: torch.Tensor,
    factor: float,
) -> tuple[torch.Tensor, ...]:
    return wrap_all(attention_backward(lift(grad), lift(query), lift(key), lift(value), lift(weights), factor))


def _fits(mask: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> bool:
    """True if one call computes attention with the mask: the mask needs no gradient, and in each
    dim it has size 1 or the size of the scores."""
    if not is_here(mask) or not is_plain((mask,)) or needs_gradient((mask,)):
        return False
    if mask.dtype not in (torch.bool, query.dtype) or mask.dim() > query.dim() or query.dim() < 2:
        return False
    shape = (*query.shape[:-1], key.shape[-2])
    return all(n in (1, size) for n, size in zip(mask.shape[::-1], shape[::-1]))


class _Attention(torch.autograd.Function):
    """Attention as one autograd node."""

    @staticmethod
    def forward(
        ctx: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
        causal: bool,
        scale: float | None,
    ) -> torch.Tensor:
        ctx.causal, ctx.scale = causal, scale
        ctx.factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        result, weights = _attention_forward(query, key, value, ctx.factor, causal, mask)
        ctx.save_for_backward(query, key, value, mask, weights)
        return result

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        *inputs, mask, weights = ctx.saved_tensors
        needed = ctx.needs_input_grad[:3]
        if torch.is_grad_enabled() or is_batched(grad):
            decomposition = partial(decompose, _ATTENTION, attn_mask=mask, is_causal=ctx.causal, scale=ctx.scale)
            second = decomposed_backward(lambda *a: (decomposition(*a),), inputs, needed, (grad,))
            return (*second, None, None, None)
        gradients = _attention_backward(grad, *inputs, weights, ctx.factor)
        return (*[g if n else None for g, n in zip(gradients, needed)], None, None, None)


_OVERLOADS = {"lstm": overload("lstm.input"), "gru": overload("gru.input")}
_GATES = {"lstm": 4, "gru": 3}
_KINDS = {torch.float32, torch.float64}


def _run(
    cell: str,
    input: torch.Tensor,
    hx: Any,
    params: Sequence[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    """Kernel of aten::lstm.input and aten::gru.input: runs a layer in one call.

    Runs torch's decomposition for projections, two directions, dropout, invalid arguments, and for
    calls that are traced, transformed or under autocast; also for GRUs that would need a launch for
    each step.
    """
    per_layer = 4 if has_biases else 2
    states = hx if cell == "lstm" else (hx,)
    tensors = [input, *states, *params]
    usual = not bidirectional and not (dropout and train) and len(params) == per_layer * num_layers
    usual = usual and _same_plain_dtype(tensors) and _shapes_fit(cell, input, states, params, per_layer, batch_first)
    if not usual or (cell == "gru" and not _runs_steps(input, hx, batch_first)):
        settings = has_biases, num_layers, dropout, train, bidirectional, batch_first
        return decompose(_OVERLOADS[cell], input, hx, params, *settings)
    x = input.transpose(0, 1) if batch_first else input
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        results = _Layers.apply(cell, has_biases, x, *states, *params)
    else:
        results = _forward(cell, _weights(has_biases, params), False, x, *states)[0]
    return (results[0].transpose(0, 1) if batch_first else results[0], *results[1:])


def _runs_steps(input: torch.Tensor, hx: torch.Tensor, batch_first: bool) -> bool:
    batch, steps = input.shape[:2] if batch_first else input.shape[1::-1]
    return steps > 1 and fits_one_launch("gru", lift(input), batch, hx.shape[-1])


def _same_plain_dtype(tensors: Sequence[torch.Tensor]) -> bool:
    """True if all are plain device tensors of one supported dtype, and nothing intercepts ops."""
    dtype = tensors[0].dtype
    if dtype not in _KINDS or torch.is_autocast_enabled("fpga"):
        return False
    return all(t.dtype is dtype and t.device.type == "fpga" for t in tensors) and is_plain(tensors)


def _shapes_fit(
    cell: str,
    x: torch.Tensor,
    hx: Sequence[torch.Tensor],
    params: Sequence[torch.Tensor],
    per_layer: int,
    batch_first: bool,
) -> bool:
    """True if all shapes match, no tensor is empty, and hidden states are not projected."""
    if x.dim() != 3 or len(hx) != (2 if cell == "lstm" else 1) or hx[0].dim() != 3 or not x.numel():
        return False
    size, features, batch = hx[0].shape[-1], x.shape[-1], x.shape[0 if batch_first else 1]
    gates = _GATES[cell] * size
    if not size or any(h.shape != (len(params) // per_layer, batch, size) for h in hx):
        return False
    for k in range(0, len(params), per_layer):
        expected = [(gates, size if k else features), (gates, size), (gates,), (gates,)]
        if [tuple(w.shape) for w in params[k : k + per_layer]] != expected[:per_layer]:
            return False
    return True


def _weights(has_biases: bool, params: Sequence[torch.Tensor]) -> list[Weights]:
    per_layer = 4 if has_biases else 2
    tensors = [lift(t) for t in params]
    return [Weights(*tensors[k : k + per_layer]) for k in range(0, len(tensors), per_layer)]


def _forward(
    cell: str, weights: Sequence[Weights], saves: bool, x: torch.Tensor, h: torch.Tensor, *rest: torch.Tensor
) -> tuple[tuple[torch.Tensor, ...], list[Layer]]:
    """Returns (results for torch, saved values of each layer for the derivative). `rest` begins with
    an LSTM's cell states."""
    if cell == "lstm":
        *results, layers = lstm_layers(lift(x), lift(h), lift(rest[0]), weights, saves)
    else:
        *results, layers = gru_layers(lift(x), lift(h), weights, saves)
    return tuple(map(wrap, results)), layers


class _Layers(torch.autograd.Function):
    """Unidirectional layers as one autograd node."""

    @staticmethod
    def forward(ctx: Any, cell: str, has_biases: bool, *args: torch.Tensor) -> tuple[torch.Tensor, ...]:
        weights = _weights(has_biases, args[3 if cell == "lstm" else 2 :])
        results, layers = _forward(cell, weights, True, *args)
        # Saves the result, which is the last layer's hidden states: autograd then detects writes.
        ctx.save_for_backward(*args, results[0])
        ctx.cell, ctx.has_biases, ctx.weights, ctx.layers = cell, has_biases, weights, layers
        ctx.set_materialize_grads(False)
        return results

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        *args, _ = ctx.saved_tensors
        needed = ctx.needs_input_grad[2:]
        # Higher derivatives or a batch of gradients: run the decomposition.
        if torch.is_grad_enabled() or any(is_batched(g) for g in grads if g is not None):
            decomposed = partial(_decomposed, ctx.cell, ctx.has_biases)
            return None, None, *decomposed_backward(decomposed, args, needed, grads)
        kinds = len(grads) - 1  # number of states
        last = [None if g is None else lift(g) for g in grads[1:]]
        steps, batch, _ = args[0].shape
        size = (steps, batch, args[1].shape[-1])
        dy = lift(args[0].new_zeros(size) if grads[0] is None else grads[0])
        every = layers_backward(ctx.cell, dy, last, ctx.layers, ctx.weights, tuple(needed[: 1 + kinds]))
        wrapped = [None if g is None or not is_needed else wrap(g) for g, is_needed in zip(every, needed)]
        return None, None, *wrapped


def _decomposed(cell: str, has_biases: bool, x: torch.Tensor, *args: torch.Tensor) -> Any:
    kinds = 2 if cell == "lstm" else 1
    hx = args[:2] if cell == "lstm" else args[0]
    return decompose(_OVERLOADS[cell], x, hx, args[kinds:], has_biases, args[0].shape[0], 0.0, True, False, False)


for _cell in _OVERLOADS:
    recorded.impl(f"{_cell}.input", partial(_run, _cell))
