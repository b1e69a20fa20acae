"""Cells of recurrent layers, which torch calls whole on every backend that is not the CPU.

Gates stand side by side in the last dim: of an LSTM input, forget, cell and output; of a GRU reset,
update and new. The formulas are those of torch.nn.LSTM and torch.nn.GRU, and their derivatives. A
`workspace` is what the derivative needs of the forward pass.
"""

from __future__ import annotations

from typing import Any

import torch

from .._tensor import Tensor
from ..ops.compose import f
from .memory import lift, wrap
from .registration import impl


def _gates(gates: Any, bias: Any) -> Tensor:
    found: Tensor = lift(gates)
    return found if bias is None else found + lift(bias)


def _wrapped(*found: Tensor | None) -> tuple[torch.Tensor | None, ...]:
    return tuple([None if one is None else wrap(one) for one in found])


def _slope(y: Tensor) -> Tensor:
    """A sigmoid's derivative, from its value."""
    return y * (1 - y)


@impl("_thnn_fused_lstm_cell")
def lstm(
    input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any = None, hidden_bias: Any = None
) -> tuple[torch.Tensor | None, ...]:
    """(h, c, workspace)."""
    gates = _gates(input_gates, input_bias) + _gates(hidden_gates, hidden_bias)
    taken, kept, cell, shown = gates.chunk(4, 1)
    taken, kept, cell, shown = taken.sigmoid(), kept.sigmoid(), cell.tanh(), shown.sigmoid()
    cy = kept * lift(cx) + taken * cell
    return _wrapped(shown * cy.tanh(), cy, f.cat([taken, kept, cell, shown], 1))


@impl("_thnn_fused_lstm_cell_backward_impl")
def lstm_backward(
    grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool
) -> tuple[torch.Tensor | None, ...]:
    """The gradients of the gates, of c, and of a bias."""
    taken, kept, cell, shown = lift(workspace).chunk(4, 1)
    before, after = lift(cx), lift(cy).tanh()
    dc = f.zeros_like(before) if grad_cy is None else lift(grad_cy)
    dshown = f.zeros_like(before)
    if grad_hy is not None:
        dh = lift(grad_hy)
        dshown = dh * after * _slope(shown)
        dc = dc + dh * shown * (1 - after * after)
    parts = [dc * cell * _slope(taken), dc * before * _slope(kept)]
    gates = f.cat([*parts, dc * taken * (1 - cell * cell), dshown], 1)
    return _wrapped(gates, dc * kept, gates.sum(0) if has_bias else None)


@impl("_thnn_fused_gru_cell")
def gru(
    input_gates: Any, hidden_gates: Any, hx: Any, input_bias: Any = None, hidden_bias: Any = None
) -> tuple[torch.Tensor | None, ...]:
    """(h, workspace)."""
    a, b = _gates(input_gates, input_bias), _gates(hidden_gates, hidden_bias)
    before = lift(hx)
    reset_in, update_in, new_in = a.chunk(3, 1)
    reset_on, update_on, new_on = b.chunk(3, 1)
    reset, update = (reset_in + reset_on).sigmoid(), (update_in + update_on).sigmoid()
    new = (new_in + reset * new_on).tanh()
    kept = f.cat([reset, update, new, before, new_on], 1)
    return _wrapped(new + update * (before - new), kept)


@impl("_thnn_fused_gru_cell_backward")
def gru_backward(grad_hy: Any, workspace: Any, has_bias: bool) -> tuple[torch.Tensor | None, ...]:
    """The gradients of the gates from the input and from the state, of h, and of both biases."""
    dh = lift(grad_hy)
    reset, update, new, before, new_on = lift(workspace).chunk(5, 1)
    dupdate = dh * (before - new) * _slope(update)
    dnew = dh * (1 - update) * (1 - new * new)
    dreset = dnew * new_on * _slope(reset)
    a, b = f.cat([dreset, dupdate, dnew], 1), f.cat([dreset, dupdate, dnew * reset], 1)
    sums = (a.sum(0), b.sum(0)) if has_bias else (None, None)
    return _wrapped(a, b, dh * update, *sums)
