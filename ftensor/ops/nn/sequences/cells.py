"""Recurrent cells: one step of an RNN, LSTM or GRU. What a step adds to its matrix products is one
kernel, or on boards one for each state that it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from .... import errors
from ...._tensor import Tensor
from ....errors import sequence as errors_sequence
from ....execute.choices import specializes
from ....execute.pointwise import pointwise
from ....graph.fused import fused
from ....rows.catalogue import enter, op
from ....rows.op import Op
from ...linalg.addmm import linear

CATEGORY = "sequences"


def _sigmoid(x: str) -> str:
    return f"(K(1) / (K(1) + exp(-({x}))))"


# Gates come before their sigmoid or tanh. The formulas are those of torch.nn.LSTM and GRU.
LSTM_CELL = Op(
    "lstm_cell",
    "lstm_cell(input_gate, forget_gate, cell_gate, cx) -> Tensor",
    f"{_sigmoid('b')} * d + {_sigmoid('a')} * ft_tanh(c)",
    float_only=True,
)
LSTM_HIDDEN = Op(
    "lstm_hidden", "lstm_hidden(output_gate, cy) -> Tensor", f"{_sigmoid('a')} * ft_tanh(b)", float_only=True
)
GRU_CELL = Op(
    "gru_cell",
    "gru_cell(reset_i, reset_h, update_i, update_h, new_i, new_h, hx) -> Tensor",
    "(g - fresh) * update + fresh",
    lets=(("update", _sigmoid("c + d")), ("fresh", f"ft_tanh(e + {_sigmoid('a + b')} * f)")),
    float_only=True,
)
enter(__name__, LSTM_CELL, LSTM_HIDDEN, GRU_CELL)


@dataclass(frozen=True)
class Weights:
    """What a layer multiplies in one direction: (gates, input) and (gates, hidden) with their
    biases, and where hidden states are projected, (projected, hidden). `late` is a bias that steps
    add behind their product; `beside`: a step's product is added where its gates are."""

    ih: Tensor
    hh: Tensor
    b_ih: Tensor | None = None
    b_hh: Tensor | None = None
    hr: Tensor | None = None
    late: Tensor | None = None
    beside: bool = False


# From the input's share of the gates, the states (h first) and the weights to the next states; h
# is written to `out`, where there is one.
Step = Callable[[Tensor, Sequence[Tensor], Weights, Tensor | None], tuple[Tensor, ...]]


@dataclass(frozen=True)
class Kind:
    """A kind of cell: its name, gates and step. `apart`: the hidden state's bias stays with its own
    product, since a gate scales the two."""

    name: str
    gates: int
    step: Step
    apart: bool = False

    def input_gates(self, input: Tensor, w: Weights) -> Tensor:
        """The input's share of the gates, for all rows of an input of any number of dims."""
        bias = w.b_ih
        if w.b_hh is not None and not self.apart:
            bias = w.b_hh if bias is None else bias + w.b_hh
        return linear(input, w.ih, bias)


def _gates(input_gates: Tensor, hx: Tensor, w: Weights) -> tuple[Tensor, Tensor | None]:
    """The input's share of the gates and the state's, `beside` each other; else their sum, and
    None. A sum of what was not rounded has the same bits wherever it is taken."""
    alike = input_gates._dtype is hx._dtype is w.hh._dtype and input_gates._dtype.compute is input_gates._dtype
    if w.beside and alike:
        return input_gates, hx.mm(w.hh.t())
    return input_gates.addmm(hx, w.hh.t()), None


def _tanh(input_gates: Tensor, state: Sequence[Tensor], w: Weights, out: Tensor | None) -> tuple[Tensor, ...]:
    return (_plain(*_gates(input_gates, state[0], w), w.late, out, "tanh"),)


def _relu(input_gates: Tensor, state: Sequence[Tensor], w: Weights, out: Tensor | None) -> tuple[Tensor, ...]:
    return (_plain(*_gates(input_gates, state[0], w), w.late, out, "relu"),)


@fused
def _plain(gates: Tensor, own: Tensor | None, late: Tensor | None, out: Tensor | None, word: str) -> Tensor:
    gates = gates if own is None else gates + own
    gates = gates if late is None else gates + late
    hidden: Tensor = gates.tanh(out=out) if word == "tanh" else gates.clamp_min(0, out=out)
    return hidden


def _lstm(input_gates: Tensor, state: Sequence[Tensor], w: Weights, out: Tensor | None) -> tuple[Tensor, ...]:
    hx, cx = state
    gates, own = _gates(input_gates, hx, w)
    hidden, cy = _lstm_states(gates, own, w.late, cx, out if w.hr is None else None)
    return hidden if w.hr is None else hidden.mm(w.hr.t(), out=out), cy


@fused
def _lstm_states(
    gates: Tensor, own: Tensor | None, late: Tensor | None, cx: Tensor, out: Tensor | None
) -> tuple[Tensor, Tensor]:
    parts = gates.chunk(4, -1)
    for more in (own, late):
        if more is not None:
            parts = tuple([part + other for part, other in zip(parts, more.chunk(4, -1))])
    enter_, forget, cell, leave = parts
    cy = pointwise(LSTM_CELL, (enter_, forget, cell, cx))
    return pointwise(LSTM_HIDDEN, (leave, cy), (), out), cy


def _gru(input_gates: Tensor, state: Sequence[Tensor], w: Weights, out: Tensor | None) -> tuple[Tensor, ...]:
    (hx,) = state
    own = linear(hx, w.hh, w.b_hh)
    reset, update, fresh = zip(input_gates.chunk(3, -1), own.chunk(3, -1))
    return (pointwise(GRU_CELL, (*reset, *update, *fresh, hx), (), out),)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("rnn_tanh", 1, _tanh),
        Kind("rnn_relu", 1, _relu),
        Kind("lstm", 4, _lstm),
        Kind("gru", 3, _gru, apart=True),
    )
}


def _fits(name: str, input: Tensor, states: Sequence[Tensor], w: Weights, gates: int) -> None:
    """RuntimeError where a batch of inputs and its states don't fit the weights."""
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
    """One step of a batch."""
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
    kind, w = KINDS[name], Weights(ih, hh, b_ih, b_hh)
    if specializes(input):
        w = replace(w, beside=True)
        if not kind.apart and b_ih is not None:
            w = replace(w, b_hh=None, late=b_hh)
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
    """The next (h, c) of inputs (batch, input) and states `hx`, (h, c) of (batch, hidden) each.

    The weights' rows are the gates: input, forget, cell, output. RuntimeError for shapes that don't
    fit and for other than two states.
    """
    if len(hx) != 2:
        raise errors_sequence.two_states("lstm_cell", len(hx))
    hy, cy = _cell("lstm_cell", input, tuple(hx), Weights(w_ih, w_hh, b_ih, b_hh))
    return hy, cy


@op(method=False)
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """The next state of inputs (batch, input) and a state (batch, hidden).

    The weights' rows are the gates: reset, update, new. RuntimeError for shapes that don't fit.
    """
    return _cell("gru_cell", input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]


def _enter_plain(name: str, doc: str) -> None:
    def cell(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
    ) -> Tensor:
        return _cell(name, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = f"""The next state of inputs (batch, input) and a state (batch, hidden):
{doc}(w_ih @ input + b_ih + w_hh @ hx + b_hh). RuntimeError for shapes that don't fit.
"""
    op(method=False)(cell)


_enter_plain("rnn_tanh_cell", "tanh")
_enter_plain("rnn_relu_cell", "relu")
