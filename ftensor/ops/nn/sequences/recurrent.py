"""Recurrent cells and layers: RNN, LSTM, GRU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from .... import errors
from ...._tensor import Tensor
from ....dtypes import int64
from ....errors import nn as errors_sequence
from ....execute.device_traits import specializes
from ....execute.layers import fits_one_launch
from ....execute.output import new
from ....execute.pointwise import pointwise
from ....graph.fused import fused
from ....rows.catalogue import enter, op
from ....rows.op import Op
from ....rows.spelling import named
from ...arguments import check_tensors
from ...linalg.matmul import linear
from ...rearrange.cat import cat, stack
from ..layers.dropout import nn_dropout
from .all_steps import run_gru, run_lstm

CATEGORY = "sequences"


def _sigmoid(x: str) -> str:
    return f"(K(1) / (K(1) + exp(-({x}))))"


# Gates are given before their sigmoid or tanh. The formulas are those of torch.nn.LSTM and GRU.
LSTM_CELL = Op(
    "lstm_cell",
    "input_gate, forget_gate, cell_gate, cx",
    f"{_sigmoid('b')} * d + {_sigmoid('a')} * ft_tanh(c)",
    float_only=True,
)
LSTM_HIDDEN = Op("lstm_hidden", "output_gate, cy", f"{_sigmoid('a')} * ft_tanh(b)", float_only=True)
# Each gate in two parts, the input's and the hidden state's.
LSTM_CELL_OF_PARTS = Op(
    "lstm_cell_of_parts",
    "input_i, input_h, forget_i, forget_h, cell_i, cell_h, cx",
    f"{_sigmoid('c + d')} * g + {_sigmoid('a + b')} * ft_tanh(e + f)",
    float_only=True,
)
LSTM_HIDDEN_OF_PARTS = Op(
    "lstm_hidden_of_parts", "output_i, output_h, cy", f"{_sigmoid('a + b')} * ft_tanh(c)", float_only=True
)
GRU_CELL = Op(
    "gru_cell",
    "reset_i, reset_h, update_i, update_h, new_i, new_h, hx",
    "(g - fresh) * update + fresh",
    lets=(("update", _sigmoid("c + d")), ("fresh", f"ft_tanh(e + {_sigmoid('a + b')} * f)")),
    float_only=True,
)
enter(__name__, LSTM_CELL, LSTM_HIDDEN, LSTM_CELL_OF_PARTS, LSTM_HIDDEN_OF_PARTS, GRU_CELL)


@dataclass(frozen=True)
class Weights:
    """The weights of a layer in one direction: `ih` (gates, input) and `hh` (gates, hidden) with
    their biases, and `hr` (projected, hidden) for projected states. With `separate_hidden` the
    hidden state's product and bias stay apart from the input's: the kernel of the gates adds
    them."""

    ih: Tensor
    hh: Tensor
    b_ih: Tensor | None = None
    b_hh: Tensor | None = None
    hr: Tensor | None = None
    separate_hidden: bool = False


# (the input's part of the gates, states with h first, weights, output or None) -> the next states;
# h is also written to the output.
Step = Callable[[Tensor, Sequence[Tensor], Weights, Tensor | None], tuple[Tensor, ...]]


@dataclass(frozen=True)
class CellKind:
    """A kind of recurrent cell: its name, number of gates and step function. With `separate_bias`
    the hidden state's bias stays with its own product, because a gate scales both."""

    name: str
    gates: int
    step: Step
    separate_bias: bool = False

    def input_gates(self, input: Tensor, w: Weights) -> Tensor:
        """Returns the input's part of the gates, for all rows of an input of any number of dims."""
        bias = w.b_ih
        if w.b_hh is not None and not (self.separate_bias or w.separate_hidden):
            bias = w.b_hh if bias is None else bias + w.b_hh
        return linear(input, w.ih, bias)


def _gates(input_gates: Tensor, hx: Tensor, w: Weights) -> tuple[Tensor, Tensor | None]:
    if w.separate_hidden:
        return input_gates, linear(hx, w.hh, w.b_hh)
    return input_gates.addmm(hx, w.hh.t()), None


def _plain_step(word: str) -> Step:
    return lambda input_gates, state, w, out: (_plain(*_gates(input_gates, state[0], w), out, word),)


@fused
def _plain(gates: Tensor, hidden_gates: Tensor | None, out: Tensor | None, word: str) -> Tensor:
    gates = gates if hidden_gates is None else gates + hidden_gates
    return gates.tanh(out=out) if word == "tanh" else gates.clamp_min(0, out=out)


def _lstm(input_gates: Tensor, state: Sequence[Tensor], w: Weights, out: Tensor | None) -> tuple[Tensor, ...]:
    hx, cx = state
    gates, hidden_gates = _gates(input_gates, hx, w)
    hidden, cy = _lstm_states(gates, hidden_gates, cx, out if w.hr is None else None)
    return hidden if w.hr is None else hidden.mm(w.hr.t(), out=out), cy


@fused
def _lstm_states(gates: Tensor, hidden_gates: Tensor | None, cx: Tensor, out: Tensor | None) -> tuple[Tensor, Tensor]:
    *first, leave = gates.chunk(4, -1)
    if hidden_gates is None:
        cy = pointwise(LSTM_CELL, (*first, cx))
        return pointwise(LSTM_HIDDEN, (leave, cy), (), out), cy
    *hidden_parts, hidden_output = hidden_gates.chunk(4, -1)
    cy = pointwise(LSTM_CELL_OF_PARTS, (*[part for pair in zip(first, hidden_parts) for part in pair], cx))
    return pointwise(LSTM_HIDDEN_OF_PARTS, (leave, hidden_output, cy), (), out), cy


def _gru(input_gates: Tensor, state: Sequence[Tensor], w: Weights, out: Tensor | None) -> tuple[Tensor, ...]:
    (hx,) = state
    hidden_gates = linear(hx, w.hh, w.b_hh)
    reset, update, candidate = zip(input_gates.chunk(3, -1), hidden_gates.chunk(3, -1))
    return (pointwise(GRU_CELL, (*reset, *update, *candidate, hx), (), out),)


KINDS = {
    kind.name: kind
    for kind in (
        CellKind("rnn_tanh", 1, _plain_step("tanh")),
        CellKind("rnn_relu", 1, _plain_step("relu")),
        CellKind("lstm", 4, _lstm),
        CellKind("gru", 3, _gru, separate_bias=True),
    )
}


def _fits(name: str, input: Tensor, states: Sequence[Tensor], w: Weights, gates: int) -> None:
    """Raises RuntimeError if a batch of inputs and its states don't fit the weights."""
    if input.ndim != 2:
        raise errors_sequence.cell_input(name, input._shape)
    if input._shape[1] != w.ih._shape[1]:
        raise errors_sequence.sizes(name, "input", input._shape, w.ih._shape)
    hidden = w.hh._shape[1]
    for state in states:
        if state._shape != (input._shape[0], hidden):
            raise errors_sequence.state_shape(name, (input._shape[0], hidden), state._shape)
    if w.ih._shape[0] != gates * hidden:
        raise errors_sequence.gates(name, gates, hidden, w.ih._shape)


def _cell(name: str, input: Tensor, states: Sequence[Tensor], w: Weights) -> tuple[Tensor, ...]:
    """Runs one step on a batch."""
    kind = KINDS[name.removesuffix("_cell")]
    for word, x in (("input", input), ("w_ih", w.ih), ("w_hh", w.hh), *zip(["hx"] * 2, states)):
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor(name, word, x)
    _fits(name, input, states, w, kind.gates)
    return _stepped(kind.name, input, tuple(states), w.ih, w.hh, w.b_ih, w.b_hh)


@fused
def _stepped(
    name: str,
    input: Tensor,
    states: tuple[Tensor, ...],
    ih: Tensor,
    hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> tuple[Tensor, ...]:
    # A product, not a sum with one: the kernel of the gates adds, and the biases need no launch.
    kind, w = KINDS[name], Weights(ih, hh, b_ih, b_hh, separate_hidden=b_hh is not None or specializes(input))
    return kind.step(kind.input_gates(input, w), states, w, None)


@op(method=False)
def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Returns the next (h, c) of inputs (batch, input) and states `hx`, (h, c) of (batch, hidden)
    each.

    The weights' rows are the gates: input, forget, cell, output. Raises RuntimeError for shapes
    that don't fit and for a number of states other than two.
    """
    if len(hx) != 2:
        raise errors_sequence.two_states("lstm_cell", len(hx))
    hy, cy = _cell("lstm_cell", input, tuple(hx), Weights(w_ih, w_hh, b_ih, b_hh))
    return hy, cy


def _enter_cell(name: str, doc: str) -> None:
    """Registers a cell of one state; `doc` follows the first words of its docstring."""

    @op(method=False)
    @named(name, f"Returns the next state of inputs (batch, input) and a state (batch, hidden){doc}")
    def cell(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
    ) -> Tensor:
        return _cell(name, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]


_enter_cell("gru_cell", """.

    The weights' rows are the gates: reset, update, new. Raises RuntimeError for shapes that don't
    fit.
""")  # fmt: skip
for _word in ("tanh", "relu"):
    _enter_cell(f"rnn_{_word}_cell", f""":
    {_word}(w_ih @ input + b_ih + w_hh @ hx + b_hh). RuntimeError for shapes that don't fit.
""")  # fmt: skip


def _direction(
    kind: CellKind, gates: Tensor, sizes: Sequence[int], state: Sequence[Tensor], w: Weights, out: Tensor, reverse: bool
) -> list[Tensor]:
    """Runs all steps, writes the hidden states to the rows of `out`, and returns the last states.

    Step t takes the next sizes[t] rows of `gates` (the input's part) and of `out`. Sizes never
    increase: forward, the last sequences end first; in reverse, they start last.
    """
    at_once = _all_steps(kind, gates, sizes, state, w, out, reverse)
    if at_once is not None:
        return at_once
    starts = list(accumulate(sizes, initial=0))
    steps = range(len(sizes))[::-1] if reverse else range(len(sizes))
    current = [s.narrow(0, 0, sizes[steps[0]]) for s in state]
    finished: list[list[Tensor]] = []
    for t in steps:
        n, active_before = sizes[t], len(current[0])
        if n < active_before:
            finished.append([s.narrow(0, n, active_before - n) for s in current])
            current = [s.narrow(0, 0, n) for s in current]
        elif n > active_before:
            current = [cat((s, x.narrow(0, active_before, n - active_before))) for s, x in zip(current, state)]
        rows = starts[t], n
        current = list(kind.step(gates.narrow(0, *rows), current, w, out.narrow(0, *rows)))
    if not finished:
        return current
    return [cat((s, *finished_parts)) for s, *finished_parts in zip(current, *finished[::-1])]


def _all_steps(
    kind: CellKind, gates: Tensor, sizes: Sequence[int], state: Sequence[Tensor], w: Weights, out: Tensor, reverse: bool
) -> list[Tensor] | None:
    """Like `_direction`, in one launch; None if there is none for the cell, the device or the
    lengths."""
    steps, batch = len(sizes), sizes[0]
    if steps < 2 or w.hr is not None or sizes[-1] != batch:
        return None
    width = w.hh._shape[1]
    if not fits_one_launch(kind.name, gates, batch, width) or any(x._dtype is not gates._dtype for x in (*state, w.hh)):
        return None
    by_step = out.view(steps, batch, width)
    gates = gates.view(steps, batch, gates._shape[1])
    last = [by_step[0 if reverse else -1]]
    if kind.name == "lstm":
        return [*last, run_lstm(gates, state[0], state[1], w.hh, by_step, reverse)]
    run_gru(gates, state[0], w.hh, w.b_hh, by_step, reverse)
    return last


def _weights_by_layer(name: str, params: Sequence[Tensor], layers: int, biases: bool, projected: bool) -> list[Weights]:
    """Returns the weights of each layer and direction. Raises RuntimeError for a wrong number of
    tensors."""
    per_layer = 2 + 2 * biases + projected
    if len(params) != per_layer * layers:
        raise errors_sequence.weight_count(name, per_layer * layers, len(params))
    weights = []
    for k in range(0, len(params), per_layer):
        tensors: list[Tensor | None] = list(params[k : k + per_layer])
        if not biases:
            tensors[2:2] = [None, None]
        weights.append(Weights(*tensors))  # type: ignore[arg-type]
    return weights


def _run_layers(
    kind: CellKind,
    x: Tensor,
    sizes: Sequence[int],
    states: Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, ...]:
    """Returns (hidden states of the last layer, last states of all layers) for rows ordered by
    step."""
    directions = 1 + bool(bidirectional)
    projected = len(states) > 1 and states[0]._shape[-1] != states[1]._shape[-1]
    weights = _weights_by_layer(kind.name, params, num_layers * directions, bool(has_biases), projected)
    hidden = states[0]._shape[-1]
    for k, state in enumerate(states):
        state_size = hidden if k == 0 else weights[0].ih._shape[0] // kind.gates
        expected = (num_layers * directions, sizes[0], state_size)
        if state._shape != expected:
            raise errors_sequence.state_shape(kind.name, expected, state._shape)
    finals: list[list[Tensor]] = []
    for layer in range(num_layers):
        out = new((x._shape[0], directions * hidden), x._dtype, x._storage.device)
        for d in range(directions):
            state_index = layer * directions + d
            w = weights[state_index]
            if w.ih._shape[-1] != x._shape[-1]:
                raise errors_sequence.sizes(kind.name, "input", x._shape, w.ih._shape)
            if w.hh._shape[-1] != hidden:
                raise errors_sequence.sizes(kind.name, "hx", states[0]._shape, w.hh._shape)
            direction_out = out.narrow(1, d * hidden, hidden)
            initial_state = [s[state_index] for s in states]
            finals.append(_direction(kind, kind.input_gates(x, w), sizes, initial_state, w, direction_out, d == 1))
        x = out
        if dropout and train and layer < num_layers - 1:
            x = nn_dropout(x, dropout)
    return (x, *[stack(layer_states) for layer_states in zip(*finals)])


def _states(name: str, hx: Any) -> list[Tensor]:
    """Returns a layer's states as a list: one, or two of an LSTM. Raises TypeError if one is no
    tensor."""
    states = list(hx) if name == "lstm" else [hx]
    if name == "lstm" and len(states) != 2:
        raise errors_sequence.two_states(name, len(states))
    for state in states:
        check_tensors(name, hx=state)
    return states


def _sequences(
    kind: CellKind,
    input: Tensor,
    hx: Any,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Tensor, ...]:
    """Runs a layer on sequences of equal length, (steps, batch, features)."""
    states = _states(kind.name, hx)
    if input.ndim != 3 or not input._shape[1 if batch_first else 0]:
        expected = "(batch, steps, features)" if batch_first else "(steps, batch, features)"
        raise errors_sequence.layer_input(kind.name, expected, input._shape)
    x = input.transpose(0, 1) if batch_first else input
    steps, batch, features = x._shape
    layers = (params, has_biases, num_layers, dropout, train, bidirectional)
    out, *last = _run_layers(kind, x.reshape(steps * batch, features), [batch] * steps, states, *layers)
    out = out.reshape(steps, batch, out._shape[-1])
    return (out.transpose(0, 1) if batch_first else out, *last)


def _packed(
    kind: CellKind,
    data: Tensor,
    batch_sizes: Tensor,
    hx: Any,
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Tensor, ...]:
    """Runs a layer on packed sequences: the rows of each step follow those of the step before, with
    sizes `batch_sizes`, which never increase."""
    states = _states(kind.name, hx)
    check_tensors(kind.name, data=data, batch_sizes=batch_sizes)
    if data.ndim != 2:
        raise errors_sequence.layer_input(kind.name, "(rows, features)", data._shape)
    if batch_sizes.ndim != 1 or batch_sizes._dtype is not int64:
        raise errors_sequence.batch_sizes(kind.name, batch_sizes, len(data))
    sizes = batch_sizes.tolist()
    falling = sizes == sorted(sizes, reverse=True)
    if not (sizes and falling and sizes[-1] > 0 and sum(sizes) == len(data)):
        raise errors_sequence.batch_sizes(kind.name, sizes, len(data))
    return _run_layers(kind, data, sizes, states, params, has_biases, num_layers, dropout, train, bidirectional)


_REST = "params, has_biases, num_layers, dropout, train, bidirectional"
_DOC = """Runs {layer} over sequences. Returns (the last layer's hidden states, {last}).

`input` is (steps, batch, features), with `batch_first` (batch, steps, features). `hx` {hx}, of
(layers * directions, batch, hidden). `params` has, for each layer and direction, the weights
(gates * hidden, features) and (gates * hidden, hidden){projected}, with `has_biases` and their
two biases. `dropout` is the probability of dropout between layers if `train`.

`data` and `batch_sizes` are the fields of a `torch.nn.utils.rnn.PackedSequence`: the rows step by
step, for each step one row for each sequence that is long enough, the longest sequence first.

RuntimeError for shapes that don't fit and for another number of weights.
"""


def _enter(kind: CellKind, layer: str, last: str, hx: str, projected: str = "") -> None:
    name = kind.name
    returned = "tuple[Tensor, Tensor, Tensor]" if name == "lstm" else "tuple[Tensor, Tensor]"
    forms = (
        f"{name}(input, hx, {_REST}, batch_first) -> {returned}",
        f"{name}(data, batch_sizes, hx, {_REST}) -> {returned}",
    )

    @op(method=False, forms=forms)
    @named(name, _DOC.format(layer=layer, last=last, hx=hx, projected=projected))
    def run(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        packed = "batch_sizes" in kwargs or (len(args) > 3 and isinstance(args[3], (list, tuple)))
        function: Callable[..., tuple[Tensor, ...]] = _packed if packed else _sequences
        return function(kind, *args, **kwargs)


_ONE = "is the state before the first step"
_enter(KINDS["rnn_tanh"], "an RNN with tanh", "the last states", _ONE)
_enter(KINDS["rnn_relu"], "an RNN with relu", "the last states", _ONE)
_enter(KINDS["gru"], "a GRU", "the last states", _ONE)
_enter(
    KINDS["lstm"],
    "an LSTM",
    "the last hidden states, the last cell states",
    "is the pair of states before the first step, the hidden and the cell one",
    "; a projection adds (projected, hidden) after the biases",
)
