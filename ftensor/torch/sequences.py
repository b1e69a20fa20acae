"""`torch.nn.LSTM` and `torch.nn.GRU` on the device: one call computes all steps, forward and
backward.

For backends other than the CPU torch decomposes each step into several ops and records each op.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from .._tensor import Tensor
from ..execute.layers import fits_one_launch
from ..ops.gradients.recurrent import Layer, gru_layer_backward, gru_layers, lstm_layer_backward, lstm_layers
from ..ops.nn.sequences.recurrent import Weights
from ..ops.rearrange.cat import stack
from .composites import decomposed_backward
from .internals import decompose, is_batched, is_plain, overload
from .memory import lift, wrap
from .registration import recorded

_OVERLOADS = {"lstm": overload("lstm.input"), "gru": overload("gru.input")}
_GATES = {"lstm": 4, "gru": 3}
_KINDS = {torch.float32, torch.float64}


def _lstm(input: torch.Tensor, hx: Sequence[torch.Tensor], *args: Any) -> Any:
    """Kernel of aten::lstm.input."""
    return _run("lstm", input, hx, *args)


def _gru(input: torch.Tensor, hx: torch.Tensor, *args: Any) -> Any:
    """Kernel of aten::gru.input."""
    return _run("gru", input, hx, *args)


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
    """Runs a layer in one call.

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
        results = _forward(cell, has_biases, False, x, *states, *params)[0]
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
    cell: str, has_biases: bool, saves: bool, x: torch.Tensor, *args: torch.Tensor
) -> tuple[tuple[torch.Tensor, ...], list[Layer]]:
    """Returns (results for torch, saved values of each layer for the derivative)."""
    if cell == "lstm":
        h, c, *params = args
        *results, layers = lstm_layers(lift(x), lift(h), lift(c), _weights(has_biases, params), saves)
    else:
        h, *params = args
        *results, layers = gru_layers(lift(x), lift(h), _weights(has_biases, params), saves)
    return tuple(map(wrap, results)), layers


class _Layers(torch.autograd.Function):
    """Unidirectional layers as one autograd node."""

    @staticmethod
    def forward(ctx: Any, cell: str, has_biases: bool, *args: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results, layers = _forward(cell, has_biases, True, *args)
        # Saves the result, which is the last layer's hidden states: autograd then detects writes.
        ctx.save_for_backward(*args, results[0])
        ctx.cell, ctx.has_biases, ctx.layers = cell, has_biases, layers
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
        weights = _weights(ctx.has_biases, args[1 + kinds :])
        last = [lift(torch.zeros_like(args[1]) if g is None else g) for g in grads[1:]]
        steps, batch, _ = args[0].shape
        size = (steps, batch, args[1].shape[-1])
        dy = lift(args[0].new_zeros(size) if grads[0] is None else grads[0])
        states: list[list[Tensor]] = [[] for _ in last]
        dws: list[Tensor] = []
        layer_backward: Any = lstm_layer_backward if ctx.cell == "lstm" else gru_layer_backward
        for k in range(len(weights) - 1, -1, -1):
            of_last, of_input = [d[k] for d in last], k > 0 or needed[0]
            dy, weight_gradients, *initial = layer_backward(dy, *of_last, ctx.layers[k], weights[k], of_input)
            dws[:0] = weight_gradients
            for gradients, d in zip(states, initial):
                gradients.insert(0, d)
        every = [dy, *map(stack, states), *dws]
        return None, None, *[wrap(g) if is_needed else None for g, is_needed in zip(every, needed)]


def _decomposed(cell: str, has_biases: bool, x: torch.Tensor, *args: torch.Tensor) -> Any:
    kinds = 2 if cell == "lstm" else 1
    hx = args[:2] if cell == "lstm" else args[0]
    return decompose(_OVERLOADS[cell], x, hx, args[kinds:], has_biases, args[0].shape[0], 0.0, True, False, False)


recorded.impl("lstm.input", _lstm)
recorded.impl("gru.input", _gru)
