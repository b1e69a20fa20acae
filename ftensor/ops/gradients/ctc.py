"""The derivative of CTC's loss."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..._tensor import Tensor
from ...rows.catalogue import aten_op
from ..create.data import tensor
from ..create.like import zeros_like
from ..create.ranges import arange
from ..nn.losses.ctc import BEFORE, prefixes, states_of
from ..pointwise.ternary import where


@aten_op()
def _ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int] | Tensor,
    target_lengths: Sequence[int] | Tensor,
    loss: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool = False,
) -> Tensor:
    """The gradient of log_probs, (steps, batch, classes), for that of each sample's loss, (batch,);
    `loss` and `log_alpha` are what `_ctc_loss` returned. It raises what `states_of` does.

    Graves et al. (2006), equation (16): the probability of a class, without that of all paths that
    are in one of its states then. torch's, too, is that of log_probs which `log_softmax` made.
    """
    name = "_ctc_loss_backward"
    lengths = input_lengths, target_lengths
    states, ends, counts = states_of(name, log_probs, targets, *lengths, blank)
    steps, batch, _ = log_probs._shape
    device, width = log_probs.device, states._shape[1]
    # Who comes from a state to the end goes the way of the reversed sample to that state.
    end = tensor(ends, device=device)
    last = tensor([2 * n for n in counts], device=device).unsqueeze(1)
    t, s = arange(steps, device=device).unsqueeze(1), arange(width, device=device)
    sample = arange(batch, device=device)
    other_t, other_s = (end - 1 - t).clamp(min=0), (last - s).clamp(min=0)
    turned = prefixes(log_probs[other_t, sample], states.gather(1, other_s), max(ends))
    sample = sample.unsqueeze(1)
    beta = turned[other_t.unsqueeze(2), sample, other_s + BEFORE]
    index = states.expand(steps, batch, width)
    # Both alpha and beta have the state's own probability.
    path = log_alpha.transpose(0, 1) + beta - log_probs.gather(2, index) + loss.unsqueeze(1)
    there = (t < end).unsqueeze(2)
    share = where(there & (s <= last), path.exp(), 0)
    paths = zeros_like(log_probs).scatter_add_(2, index, share)
    # NaN where no path leads to the end, and for classes of no probability: as in torch.
    unknown = (loss.unsqueeze(1) - log_probs) * 0
    grad_input = where(there, (log_probs.exp() - paths + unknown) * grad.unsqueeze(1), 0)
    if zero_infinity:
        grad_input = grad_input.masked_fill((loss == math.inf).unsqueeze(1), 0)
    return grad_input
