"""`torch.nn.LSTM` on the device: one call computes all steps, forward and backward.

For backends other than the CPU torch decomposes each step into several ops and records each op.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from .._tensor import Tensor
from ..ops.gradients.recurrent import Layer, lstm_layer_backward, lstm_layers
from ..ops.nn.sequences.recurrent import Weights
from ..ops.rearrange.cat import stack
from .composites import decomposed_backward
from .internals import decompose, is_batched, is_plain, overload
from .memory import lift, wrap
from .registration import recorded

_LSTM = overload("lstm.input")
_KINDS = {torch.float32, torch.float64}


def _lstm(
    input: torch.Tensor,
    hx: Sequence[torch.Tensor],
    params: Sequence[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    """Kernel of aten::lstm.input.

    Runs torch's decomposition for projections, two directions, dropout, invalid arguments, and for
    calls that are traced, transformed or under autocast.
    """
    per_layer = 4 if has_biases else 2
    tensors = [input, *hx, *params]
    usual = not bidirectional and not (dropout and train) and len(params) == per_layer * num_layers
    if not (usual and _same_plain_dtype(tensors) and _shapes_fit(input, hx, params, per_layer, batch_first)):
        return decompose(_LSTM, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)
    x = input.transpose(0, 1) if batch_first else input
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        results = _Layers.apply(has_biases, x, *hx, *params)
    else:
        results = _forward(has_biases, x, *hx, *params)[0]
    return (results[0].transpose(0, 1) if batch_first else results[0], *results[1:])


def _same_plain_dtype(tensors: Sequence[torch.Tensor]) -> bool:
    """True if all are plain device tensors of one supported dtype, and nothing intercepts ops."""
    dtype = tensors[0].dtype
    if dtype not in _KINDS or torch.is_autocast_enabled("fpga"):
        return False
    return all(t.dtype is dtype and t.device.type == "fpga" for t in tensors) and is_plain(tensors)


def _shapes_fit(
    x: torch.Tensor, hx: Sequence[torch.Tensor], params: Sequence[torch.Tensor], per_layer: int, batch_first: bool
) -> bool:
    """True if all shapes match, no tensor is empty, and hidden states are not projected."""
    if x.dim() != 3 or len(hx) != 2 or not x.numel():
        return False
    size, features, batch = hx[0].shape[-1], x.shape[-1], x.shape[0 if batch_first else 1]
    if not size or any(h.shape != (len(params) // per_layer, batch, size) for h in hx):
        return False
    for k in range(0, len(params), per_layer):
        expected = [(4 * size, size if k else features), (4 * size, size), (4 * size,), (4 * size,)]
        if [tuple(w.shape) for w in params[k : k + per_layer]] != expected[:per_layer]:
            return False
    return True


def _weights(has_biases: bool, params: Sequence[torch.Tensor]) -> list[Weights]:
    per_layer = 4 if has_biases else 2
    tensors = [lift(t) for t in params]
    return [Weights(*tensors[k : k + per_layer]) for k in range(0, len(tensors), per_layer)]


def _forward(
    has_biases: bool, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, *params: torch.Tensor
) -> tuple[tuple[torch.Tensor, ...], list[Layer]]:
    """Returns (results for torch, saved values of each layer for the derivative)."""
    *results, layers = lstm_layers(lift(x), lift(h), lift(c), _weights(has_biases, params))
    return tuple(map(wrap, results)), layers


class _Layers(torch.autograd.Function):
    """Unidirectional LSTM layers as one autograd node."""

    @staticmethod
    def forward(ctx: Any, has_biases: bool, *args: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results, layers = _forward(has_biases, *args)
        # Saves the result, which is the last layer's hidden states: autograd then detects writes.
        ctx.save_for_backward(*args, results[0])
        ctx.has_biases, ctx.layers = has_biases, layers
        ctx.set_materialize_grads(False)
        return results

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        *args, _ = ctx.saved_tensors
        needed = ctx.needs_input_grad[1:]
        # Higher derivatives or a batch of gradients: run the decomposition.
        if torch.is_grad_enabled() or any(is_batched(g) for g in grads if g is not None):
            return None, *decomposed_backward(partial(_decomposed_lstm, ctx.has_biases), args, needed, grads)
        weights = _weights(ctx.has_biases, args[3:])
        zeros = [torch.zeros_like(args[1]) for g in grads[1:] if g is None]
        dh, dc = (lift(zeros.pop() if g is None else g) for g in grads[1:])
        steps, batch, _ = args[0].shape
        size = (steps, batch, args[1].shape[-1])
        dy = lift(args[0].new_zeros(size) if grads[0] is None else grads[0])
        dhs: list[Tensor] = []
        dcs: list[Tensor] = []
        dws: list[Tensor] = []
        for k in range(len(weights) - 1, -1, -1):
            of_input = k > 0 or needed[0]
            dy, *states, weight_gradients = lstm_layer_backward(dy, dh[k], dc[k], ctx.layers[k], weights[k], of_input)
            dhs[:0], dcs[:0], dws[:0] = [states[0]], [states[1]], weight_gradients
        gradients = [dy, stack(dhs), stack(dcs), *dws]
        return None, *[wrap(g) if is_needed else None for g, is_needed in zip(gradients, needed)]


def _decomposed_lstm(has_biases: bool, *args: torch.Tensor) -> Any:
    x, h, c, *params = args
    return decompose(_LSTM, x, (h, c), params, has_biases, h.shape[0], 0.0, True, False, False)


recorded.impl("lstm.input", _lstm)
