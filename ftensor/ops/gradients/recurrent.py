"""Recurrent cells, LSTMs and GRUs with their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..._tensor import Tensor
from ...execute.layers import fits_one_launch, run_steps, run_steps_backward
from ...execute.output import new
from ...execute.pointwise import pointwise
from ...graph.fused import fused
from ...rows.catalogue import aten_op
from ..create.sizes import zeros, zeros_like
from ..linalg.matmul import addmm, linear
from ..nn.sequences.all_steps import run_gru, run_lstm
from ..nn.sequences.recurrent import LSTM_CELL, LSTM_HIDDEN, Weights
from ..rearrange.cat import cat, stack


def _biased(gates: Tensor, bias: Tensor | None) -> Tensor:
    return gates if bias is None else gates + bias


def _activated(gates: Tensor) -> list[Tensor]:
    """Returns the input, forget, cell and output gates of an LSTM."""
    return [gate.tanh() if k == 2 else gate.sigmoid() for k, gate in enumerate(gates.chunk(4, -1))]


def slope(y: Tensor) -> Tensor:
    return y * (1 - y)


@aten_op()
@fused
def _thnn_fused_lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (h, c, workspace) of an LSTM step; the workspace holds the gates for the
    derivative."""
    gates = _biased(input_gates, input_bias) + _biased(hidden_gates, hidden_bias)
    input_gate, forget_gate, cell, output_gate = _activated(gates)
    cy = forget_gate * cx + input_gate * cell
    return output_gate * cy.tanh(), cy, cat([input_gate, forget_gate, cell, output_gate], 1)


@aten_op()
@fused
def _thnn_fused_lstm_cell_backward_impl(
    dh: Tensor | None, dc: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor | None, ...]:
    """Returns the gradients of the gates, of c, and of a bias (None without `has_bias`)."""
    input_gate, forget_gate, cell, output_gate = workspace.chunk(4, 1)
    cy_tanh = cy.tanh()
    dc = zeros_like(cx) if dc is None else dc
    dshown = zeros_like(cx)
    if dh is not None:
        dshown = dh * cy_tanh * slope(output_gate)
        dc = dc + dh * output_gate * (1 - cy_tanh * cy_tanh)
    gate_grads = [dc * cell * slope(input_gate), dc * cx * slope(forget_gate)]
    gates = cat([*gate_grads, dc * input_gate * (1 - cell * cell), dshown], 1)
    return gates, dc * forget_gate, gates.sum(0) if has_bias else None


@aten_op()
@fused
def _thnn_fused_gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns (h, workspace) of a GRU step; the workspace holds the gates for the derivative."""
    a, b = _biased(input_gates, input_bias), _biased(hidden_gates, hidden_bias)
    reset_in, update_in, new_in = a.chunk(3, 1)
    reset_on, update_on, new_on = b.chunk(3, 1)
    reset, update = (reset_in + reset_on).sigmoid(), (update_in + update_on).sigmoid()
    candidate = (new_in + reset * new_on).tanh()
    workspace = cat([reset, update, candidate, hx, new_on], 1)
    return candidate + update * (hx - candidate), workspace


@aten_op()
@fused
def _thnn_fused_gru_cell_backward(dh: Tensor, workspace: Tensor, has_bias: bool) -> tuple[Tensor | None, ...]:
    """Returns the gradients of the input's gates, of the state's gates, of h, and of both
    biases."""
    reset, update, candidate, hx, new_on = workspace.chunk(5, 1)
    dupdate = dh * (hx - candidate) * slope(update)
    dnew = dh * (1 - update) * (1 - candidate * candidate)
    dreset = dnew * new_on * slope(reset)
    a, b = cat([dreset, dupdate, dnew], 1), cat([dreset, dupdate, dnew * reset], 1)
    sums = (a.sum(0), b.sum(0)) if has_bias else (None, None)
    return a, b, dh * update, *sums


class Layer(NamedTuple):
    """Saved values of one layer for its derivative: the input (steps, batch, features), the states
    before the first and after each step (1 + steps, batch, hidden), and the gates (steps, batch, 4 *
    hidden). An LSTM's are those before their activations; a GRU's those of `run_steps`, and its
    `cells` are the hidden states."""

    x: Tensor
    gates: Tensor
    hidden: Tensor
    cells: Tensor


@fused
def _step(
    step_gates: Tensor, h: Tensor, cx: Tensor, hh_transposed: Tensor, gates: Tensor, hy: Tensor, cy: Tensor
) -> None:
    """Computes one step from the input's part `step_gates` of the gates: writes the gates to
    `gates`, the new states to `hy` and `cy`."""
    addmm(step_gates, h, hh_transposed, out=gates)
    input_gate, forget_gate, cell, output_gate = gates.chunk(4, -1)
    pointwise(LSTM_CELL, (input_gate, forget_gate, cell, cx), (), cy)
    pointwise(LSTM_HIDDEN, (output_gate, cy), (), hy)


def _input_gates(x: Tensor, w: Weights) -> Tensor:
    steps, batch, features = x._shape
    bias = w.b_ih if w.b_ih is None or w.b_hh is None else w.b_ih + w.b_hh
    return linear(x.reshape(steps * batch, features), w.ih, bias).reshape(steps, batch, -1)


def lstm_layer(x: Tensor, h: Tensor, c: Tensor, w: Weights) -> Layer:
    """Runs one LSTM layer in one direction from the initial states (batch, hidden)."""
    steps, batch, _ = x._shape
    size, device = h._shape[-1], x._storage.device
    input_gates = _input_gates(x, w)
    gates = new(input_gates._shape, x._dtype, device)
    hidden, cells = [new((steps + 1, batch, size), x._dtype, device) for _ in range(2)]
    hidden[0].copy_(h)
    cells[0].copy_(c)
    hh_transposed = w.hh.t().contiguous()  # once for all steps
    if steps > 1 and fits_one_launch("lstm", x, batch, size):
        states = h.contiguous(), c.contiguous()
        out, every = hidden.narrow(0, 1, steps), cells.narrow(0, 1, steps)
        run_steps("lstm", input_gates, *states, hh_transposed, out, saved=gates, cells=every)
        return Layer(x, gates, hidden, cells)
    step_gates, hs, cs = input_gates.unbind(0), hidden.unbind(0), cells.unbind(0)
    for t, gates_out in enumerate(gates.unbind(0)):
        _step(step_gates[t], hs[t], cs[t], hh_transposed, gates_out, hs[t + 1], cs[t + 1])
    return Layer(x, gates, hidden, cells)


@fused
def _step_backward(
    dy: Tensor, dh: Tensor, dc: Tensor, gates: Tensor, cx: Tensor, cy: Tensor, hh: Tensor, out: Tensor
) -> tuple[Tensor, Tensor]:
    """Returns the gradients of h and c before a step, from the gradients of its result and of h and
    c after it. Writes the gradient of the gates to `out`."""
    input_gate, forget_gate, cell, output_gate = _activated(gates)
    dh, cy_tanh, gate_grads = dy + dh, cy.tanh(), out.chunk(4, -1)
    dc = dc + dh * output_gate * (1 - cy_tanh * cy_tanh)
    (dc * cell).mul(slope(input_gate), out=gate_grads[0])
    (dc * cx).mul(slope(forget_gate), out=gate_grads[1])
    (dc * input_gate).mul(1 - cell * cell, out=gate_grads[2])
    (dh * cy_tanh).mul(slope(output_gate), out=gate_grads[3])
    return out.mm(hh), dc * forget_gate


def _gate_gradients(dy: Tensor, dh: Tensor, dc: Tensor, layer: Layer, hh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the gradients of the gates and of the initial h and c."""
    steps, batch, width = dy._shape
    if steps > 1 and fits_one_launch("lstm", dy, batch, width):
        inputs = [x.contiguous() for x in (dy, layer.gates, layer.cells, hh, dh, dc)]
        dgates, dc, dh = run_steps_backward("lstm", *inputs)
        return dgates, dh, dc
    dgates = new(layer.gates._shape, dy._dtype, dy._storage.device)
    step_grads, dys, cs = dgates.unbind(0), dy.unbind(0), layer.cells.unbind(0)
    gates = layer.gates.unbind(0)
    for t in range(steps - 1, -1, -1):
        dh, dc = _step_backward(dys[t], dh, dc, gates[t], cs[t], cs[t + 1], hh, step_grads[t])
    return dgates, dh, dc


def lstm_layer_backward(
    dy: Tensor, dh: Tensor, dc: Tensor, layer: Layer, w: Weights, of_input: bool = True
) -> tuple[Tensor | None, list[Tensor], Tensor, Tensor]:
    """Returns the gradients of the input (None without `of_input`), of the weights in their order,
    and of the initial h and c, from the gradients of the result (steps, batch, hidden) and of the
    last h and c."""
    dgates, dh, dc = _gate_gradients(dy, dh, dc, layer, w.hh)
    return (*_weight_gradients(layer, w, dgates, dgates, of_input), dh, dc)


def _weight_gradients(
    layer: Layer, w: Weights, of_input_part: Tensor, of_hidden_part: Tensor, of_input: bool
) -> tuple[Tensor | None, list[Tensor]]:
    """Returns the gradients of the input (None without `of_input`) and of the weights, from the
    gradients of the input's and the hidden state's part of the gates, which may be one tensor."""
    steps, batch, features = layer.x._shape
    flat = of_input_part.reshape(steps * batch, -1)
    hidden_flat = flat if of_hidden_part is of_input_part else of_hidden_part.reshape(steps * batch, -1)
    previous_hidden = layer.hidden.narrow(0, 0, steps).reshape(steps * batch, -1)
    weights = [flat.t().mm(layer.x.reshape(steps * batch, features)), hidden_flat.t().mm(previous_hidden)]
    if w.b_ih is not None:
        of_bias = flat.sum(0)
        weights += [of_bias, of_bias.clone() if hidden_flat is flat else hidden_flat.sum(0)]
    return flat.mm(w.ih).reshape(layer.x._shape) if of_input else None, weights


def gru_layer(x: Tensor, h: Tensor, w: Weights) -> Layer:
    """Runs one GRU layer in one direction from the initial states (batch, hidden), on a device for
    which `fits_one_launch` is True."""
    steps, batch, _ = x._shape
    size, device = h._shape[-1], x._storage.device
    hidden = new((steps + 1, batch, size), x._dtype, device)
    hidden[0].copy_(h)
    saved = new((steps, batch, 4 * size), x._dtype, device)
    run_gru(linear(x, w.ih, w.b_ih), h, w.hh, w.b_hh, hidden.narrow(0, 1, steps), saved=saved)
    return Layer(x, saved, hidden, hidden)


def gru_layer_backward(
    dy: Tensor, dh: Tensor, layer: Layer, w: Weights, of_input: bool = True
) -> tuple[Tensor | None, list[Tensor], Tensor]:
    """Like `lstm_layer_backward`, without c."""
    inputs = [x.contiguous() for x in (dy, layer.gates, layer.hidden, w.hh, dh)]
    of_hidden_part, of_input_part, dh = run_steps_backward("gru", *inputs)
    return (*_weight_gradients(layer, w, of_input_part, of_hidden_part, of_input), dh)


Parameters = Sequence[tuple[Any, ...]]  # the fields of `Weights` for each layer


def _as_graph(cell: str, x: Tensor, batch: int, width: int) -> bool:
    """True if layers are a few launches each. Between these a graph has no views and copies."""
    return cell == "gru" or len(x) == 1 or fits_one_launch(cell, x, batch, width)


def gru_layers(
    x: Tensor, h: Tensor, weights: Sequence[Weights], saves: bool = True
) -> tuple[Tensor, Tensor, list[Layer]]:
    """Returns (hidden states of the last layer, last h of all layers, saved values for the
    derivative, none without `saves`). See `gru_layer`."""
    return _gru_layers(x, h, _parameters(weights), saves)


def _parameters(weights: Sequence[Weights]) -> list[tuple[Any, ...]]:
    return [(w.ih, w.hh, w.b_ih, w.b_hh) for w in weights]


@fused
def _gru_layers(x: Tensor, h: Tensor, parameters: Parameters, saves: bool) -> tuple[Tensor, Tensor, list[Layer]]:
    layers, hs = [], []
    for k, fields in enumerate(parameters):
        w = Weights(*fields)
        if saves:
            layers.append(gru_layer(x, h[k], w))
            out = layers[-1].hidden.narrow(0, 1, len(x))
        else:
            out = new((*x._shape[:2], h._shape[-1]), x._dtype, x._storage.device)
            run_gru(linear(x, w.ih, w.b_ih), h[k], w.hh, w.b_hh, out)
        hs.append(out[-1])
        x = out
    return x, stack(hs), layers


def lstm_layers(
    x: Tensor, h: Tensor, c: Tensor, weights: Sequence[Weights], saves: bool = True
) -> tuple[Tensor, Tensor, Tensor, list[Layer]]:
    """Returns (hidden states of the last layer, last h of all layers, last c of all layers, saved
    values for the derivative, none without `saves`)."""
    as_graph = _as_graph("lstm", x, x._shape[1], h._shape[-1])
    if len(x) > 1 and as_graph and not saves:
        return (*_lstm_without_derivative(x, h, c, _parameters(weights)), [])
    run: Any = _fused_lstm_layers if as_graph else _lstm_layers
    return run(x, h, c, _parameters(weights))


@fused
def _lstm_without_derivative(x: Tensor, h: Tensor, c: Tensor, parameters: Parameters) -> tuple[Tensor, Tensor, Tensor]:
    hs, cs = [], []
    for k, fields in enumerate(parameters):
        w = Weights(*fields)
        out = new((*x._shape[:2], h._shape[-1]), x._dtype, x._storage.device)
        cs.append(run_lstm(_input_gates(x, w), h[k], c[k], w.hh, out))
        hs.append(out[-1])
        x = out
    return x, stack(hs), stack(cs)


def _lstm_layers(x: Tensor, h: Tensor, c: Tensor, parameters: Parameters) -> tuple[Tensor, Tensor, Tensor, list[Layer]]:
    layers = []
    for k, fields in enumerate(parameters):
        layers.append(lstm_layer(x, h[k], c[k], Weights(*fields)))
        x = layers[-1].hidden.narrow(0, 1, len(x))
    hy, cy = [
        stack([layer_states[-1] for layer_states in direction_states])
        for direction_states in zip(*[l[2:] for l in layers])
    ]
    return x, hy, cy, layers


_fused_lstm_layers = fused(_lstm_layers)


def layers_backward(
    cell: str,
    dy: Tensor,
    last: Sequence[Tensor | None],
    layers: Sequence[Layer],
    weights: Sequence[Weights],
    needed: tuple[bool, ...],
) -> list[Tensor | None]:
    """Returns the gradients of the input, the initial states and all weights in their order, from
    those of the result (steps, batch, hidden) and of the last states (layers, batch, hidden), None
    for zeros.
    `needed`: for the input and each of the states, False if its gradient is None instead."""
    _, batch, width = dy._shape
    run: Any = _fused_backward if _as_graph(cell, dy, batch, width) else _layers_backward
    return run(cell, dy, list(last), list(layers), _parameters(weights), needed)


def _layers_backward(
    cell: str,
    dy: Tensor,
    last: Sequence[Tensor | None],
    layers: Sequence[Layer],
    parameters: Parameters,
    needed: tuple[bool, ...],
) -> list[Tensor | None]:
    states: list[list[Tensor]] = []
    of_weights: list[Tensor] = []
    nothing = zeros(dy._shape[1:], dtype=dy._dtype, device=dy.device) if any(d is None for d in last) else None
    layer_backward: Any = lstm_layer_backward if cell == "lstm" else gru_layer_backward
    for k in range(len(layers) - 1, -1, -1):
        w = Weights(*parameters[k])
        of_last = [nothing if d is None else d[k] for d in last]
        dy, gradients, *initial = layer_backward(dy, *of_last, layers[k], w, k > 0 or needed[0])
        of_weights[:0] = gradients
        states.insert(0, initial)
    of_states = [stack(list(one)) if used else None for one, used in zip(zip(*states), needed[1:])]
    return [dy, *of_states, *of_weights]


_fused_backward = fused(_layers_backward)
