"""Recurrent layers over whole sequences, also packed ones: RNN, LSTM and GRU.

The input's products of all steps are one product of matrices; a step then has the hidden state's
product and the kernels of its cell, which write into the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from .... import errors
from ...._tensor import Tensor
from ....dtypes import int64
from ....errors import sequence as errors_sequence
from ....execute.memory import new
from ....rows.catalogue import op
from ...rearrange.cat import cat, stack
from ..layers.dropout import nn_dropout
from .cells import KINDS, Kind, Weights


def _direction(
    kind: Kind, gates: Tensor, sizes: Sequence[int], state: Sequence[Tensor], w: Weights, out: Tensor, reverse: bool
) -> list[Tensor]:
    """Walk all steps and write the hidden states to the rows of `out`; the last states.

    Step t has the next sizes[t] rows of `gates` (the input's share of them) and of `out`.
    Sizes never rise: forward, the sequences at the end stop first; in reverse, they join last.
    """
    starts = list(accumulate(sizes, initial=0))
    steps = range(len(sizes))[::-1] if reverse else range(len(sizes))
    now = [s.narrow(0, 0, sizes[steps[0]]) for s in state]
    ended: list[list[Tensor]] = []
    for t in steps:
        n, before = sizes[t], len(now[0])
        if n < before:
            ended.append([s.narrow(0, n, before - n) for s in now])
            now = [s.narrow(0, 0, n) for s in now]
        elif n > before:
            now = [cat((s, x.narrow(0, before, n - before))) for s, x in zip(now, state)]
        rows = starts[t], n
        now = list(kind.step(gates.narrow(0, *rows), now, w, out.narrow(0, *rows)))
    if not ended:
        return now
    return [cat((s, *parts)) for s, *parts in zip(now, *ended[::-1])]


def _listed(name: str, params: Sequence[Tensor], layers: int, biases: bool, projected: bool) -> list[Weights]:
    """The weights of each layer and direction. RuntimeError where there are not as many."""
    each = 2 + 2 * biases + projected
    if len(params) != each * layers:
        raise errors_sequence.weight_count(name, each * layers, len(params))
    weights = []
    for k in range(0, len(params), each):
        tensors: list[Tensor | None] = list(params[k : k + each])
        if not biases:
            tensors[2:2] = [None, None]
        weights.append(Weights(*tensors))  # type: ignore[arg-type]
    return weights


def _walk(
    kind: Kind,
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
    """(the last layer's hidden states, all layers' last states) of rows in the order of steps."""
    directions = 1 + bool(bidirectional)
    projected = len(states) > 1 and states[0]._shape[-1] != states[1]._shape[-1]
    weights = _listed(kind.name, params, num_layers * directions, bool(has_biases), projected)
    hidden = states[0]._shape[-1]
    for k, state in enumerate(states):
        wanted = hidden if k == 0 else weights[0].ih._shape[0] // kind.gates
        needed = (num_layers * directions, sizes[0], wanted)
        if state._shape != needed:
            raise errors_sequence.state_shape(kind.name, needed, state._shape)
    finals: list[list[Tensor]] = []
    for layer in range(num_layers):
        out = new((x._shape[0], directions * hidden), x._dtype, x._storage.device)
        for d in range(directions):
            at = layer * directions + d
            w = weights[at]
            if w.ih._shape[-1] != x._shape[-1]:
                raise errors_sequence.sizes(kind.name, "input", x._shape, w.ih._shape)
            if w.hh._shape[-1] != hidden:
                raise errors_sequence.sizes(kind.name, "hx", states[0]._shape, w.hh._shape)
            part = out.narrow(1, d * hidden, hidden)
            own = [s[at] for s in states]
            finals.append(_direction(kind, kind.input_gates(x, w), sizes, own, w, part, d == 1))
        x = out
        if dropout and train and layer < num_layers - 1:
            x = nn_dropout(x, dropout)
    return (x, *[stack(parts) for parts in zip(*finals)])


def _states(name: str, hx: Any) -> list[Tensor]:
    """A layer's states, one or, of an LSTM, two; and they are tensors."""
    states = list(hx) if name == "lstm" else [hx]
    if name == "lstm" and len(states) != 2:
        raise errors_sequence.two_states(name, len(states))
    for state in states:
        if not isinstance(state, Tensor):
            raise errors.not_a_tensor(name, "hx", state)
    return states


def _sequences(
    kind: Kind,
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
    """A layer on sequences of one length, (steps, batch, features)."""
    states = _states(kind.name, hx)
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(kind.name, "input", input)
    if input.ndim != 3 or not input._shape[1 if batch_first else 0]:
        needed = "(batch, steps, features)" if batch_first else "(steps, batch, features)"
        raise errors_sequence.layer_input(kind.name, needed, input._shape)
    x = input.transpose(0, 1) if batch_first else input
    steps, batch, features = x._shape
    out, *last = _walk(
        kind,
        x.reshape(steps * batch, features),
        [batch] * steps,
        states,
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
    )
    out = out.reshape(steps, batch, out._shape[-1])
    return (out.transpose(0, 1) if batch_first else out, *last)


def _packed(
    kind: Kind,
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
    """A layer on sequences of falling lengths, the rows of each step behind those of the last."""
    states = _states(kind.name, hx)
    for word, x in (("data", data), ("batch_sizes", batch_sizes)):
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor(kind.name, word, x)
    if data.ndim != 2:
        raise errors_sequence.layer_input(kind.name, "(rows, features)", data._shape)
    if batch_sizes.ndim != 1 or batch_sizes._dtype is not int64:
        raise errors_sequence.batch_sizes(kind.name, batch_sizes, len(data))
    sizes = batch_sizes.tolist()
    falling = sizes == sorted(sizes, reverse=True)
    if not (sizes and falling and sizes[-1] > 0 and sum(sizes) == len(data)):
        raise errors_sequence.batch_sizes(kind.name, sizes, len(data))
    return _walk(kind, data, sizes, states, params, has_biases, num_layers, dropout, train, bidirectional)


_REST = "params, has_biases, num_layers, dropout, train, bidirectional"
_DOC = """{layer} over sequences: (the last layer's hidden states, {last}).

`input` is (steps, batch, features), with `batch_first` (batch, steps, features). `hx` {hx}, of
(layers * directions, batch, hidden). `params` has, for each layer and direction, the weights
(gates * hidden, features) and (gates * hidden, hidden){projected}, with `has_biases` and their
two biases. `dropout` is that between layers, while `train`.

`data` and `batch_sizes` are those of a `torch.nn.utils.rnn.PackedSequence`: the rows of all steps,
of each step those of the sequences that have it, the longest first.

RuntimeError for shapes that don't fit and for another number of weights.
"""


def _enter(kind: Kind, layer: str, last: str, hx: str, projected: str = "") -> None:
    name = kind.name
    returned = "tuple[Tensor, Tensor, Tensor]" if name == "lstm" else "tuple[Tensor, Tensor]"

    def run(*args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        packed = "batch_sizes" in kwargs or (len(args) > 3 and isinstance(args[3], (list, tuple)))
        form: Callable[..., tuple[Tensor, ...]] = _packed if packed else _sequences
        return form(kind, *args, **kwargs)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = _DOC.format(layer=layer, last=last, hx=hx, projected=projected)
    op(
        method=False,
        forms=(
            f"{name}(input, hx, {_REST}, batch_first) -> {returned}",
            f"{name}(data, batch_sizes, hx, {_REST}) -> {returned}",
        ),
    )(run)


_ONE = "is the state before the first step"
_enter(KINDS["rnn_tanh"], "An RNN with tanh", "the last states", _ONE)
_enter(KINDS["rnn_relu"], "An RNN with relu", "the last states", _ONE)
_enter(KINDS["gru"], "A GRU", "the last states", _ONE)
_enter(
    KINDS["lstm"],
    "An LSTM",
    "the last hidden states, the last cell states",
    "is the pair of states before the first step, the hidden and the cell one",
    ", where hidden states are projected also (projected, hidden), behind the biases",
)
