"""Cells of recurrent layers, which torch calls whole on every backend that is not the CPU, and
their derivatives.

Gates stand side by side in the last dim: of an LSTM input, forget, cell and output; of a GRU reset,
update and new. The formulas are those of torch.nn.LSTM and torch.nn.GRU, and their derivatives. A
`workspace` is what the derivative needs of the forward pass.
"""

from __future__ import annotations

from ..._tensor import Tensor
from ...graph.fused import fused
from ...rows.catalogue import aten_op
from ..create.like import zeros_like
from ..rearrange.cat import cat


def _biased(gates: Tensor, bias: Tensor | None) -> Tensor:
    return gates if bias is None else gates + bias


def slope(y: Tensor) -> Tensor:
    """A sigmoid's derivative, from its value."""
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
    """(h, c, workspace)."""
    gates = _biased(input_gates, input_bias) + _biased(hidden_gates, hidden_bias)
    taken, kept, cell, shown = gates.chunk(4, 1)
    taken, kept, cell, shown = taken.sigmoid(), kept.sigmoid(), cell.tanh(), shown.sigmoid()
    cy = kept * cx + taken * cell
    return shown * cy.tanh(), cy, cat([taken, kept, cell, shown], 1)


@aten_op()
@fused
def _thnn_fused_lstm_cell_backward_impl(
    dh: Tensor | None, dc: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor | None, ...]:
    """The gradients of the gates, of c, and of a bias."""
    taken, kept, cell, shown = workspace.chunk(4, 1)
    after = cy.tanh()
    dc = zeros_like(cx) if dc is None else dc
    dshown = zeros_like(cx)
    if dh is not None:
        dshown = dh * after * slope(shown)
        dc = dc + dh * shown * (1 - after * after)
    parts = [dc * cell * slope(taken), dc * cx * slope(kept)]
    gates = cat([*parts, dc * taken * (1 - cell * cell), dshown], 1)
    return gates, dc * kept, gates.sum(0) if has_bias else None


@aten_op()
@fused
def _thnn_fused_gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """(h, workspace)."""
    a, b = _biased(input_gates, input_bias), _biased(hidden_gates, hidden_bias)
    reset_in, update_in, new_in = a.chunk(3, 1)
    reset_on, update_on, new_on = b.chunk(3, 1)
    reset, update = (reset_in + reset_on).sigmoid(), (update_in + update_on).sigmoid()
    new = (new_in + reset * new_on).tanh()
    kept = cat([reset, update, new, hx, new_on], 1)
    return new + update * (hx - new), kept


@aten_op()
@fused
def _thnn_fused_gru_cell_backward(dh: Tensor, workspace: Tensor, has_bias: bool) -> tuple[Tensor | None, ...]:
    """The gradients of the gates from the input and from the state, of h, and of both biases."""
    reset, update, new, before, new_on = workspace.chunk(5, 1)
    dupdate = dh * (before - new) * slope(update)
    dnew = dh * (1 - update) * (1 - new * new)
    dreset = dnew * new_on * slope(reset)
    a, b = cat([dreset, dupdate, dnew], 1), cat([dreset, dupdate, dnew * reset], 1)
    sums = (a.sum(0), b.sum(0)) if has_bias else (None, None)
    return a, b, dh * update, *sums
