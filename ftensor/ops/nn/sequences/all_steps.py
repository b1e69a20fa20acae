"""All steps of an LSTM or GRU in one launch, where `fits_one_launch` is True (execute/layers.py)."""

from __future__ import annotations

from ...._tensor import Tensor
from ....execute.layers import run_steps
from ...create.sizes import zeros


def run_lstm(gates: Tensor, h: Tensor, c: Tensor, hh: Tensor, out: Tensor, reverse: bool = False) -> Tensor:
    """Writes the hidden states (steps, batch, hidden) to `out`, and returns the last cell states.

    `gates` (steps, batch, 4 * hidden) are the input's part with both biases, `hh` the weight (4 *
    hidden, hidden), `h` and `c` the initial states (batch, hidden). With `reverse`, the last step is
    the first.
    """
    weight = hh.t().contiguous()  # once for all steps
    last = run_steps("lstm", gates.contiguous(), h.contiguous(), c.contiguous(), weight, out, reverse)
    assert last is not None
    return last


def run_gru(
    gates: Tensor,
    h: Tensor,
    hh: Tensor,
    bias: Tensor | None,
    out: Tensor,
    reverse: bool = False,
    saved: Tensor | None = None,
) -> None:
    """Writes the hidden states of a GRU like `run_lstm`. `gates` are without the `bias` of the hidden
    state's part. `saved` is that of `run_steps`."""
    bias = zeros(hh._shape[0], dtype=h._dtype, device=h.device) if bias is None else bias.contiguous()
    run_steps("gru", gates.contiguous(), h.contiguous(), bias, hh.t().contiguous(), out, reverse, saved)
