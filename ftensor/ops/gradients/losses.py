"""Losses of classes, CTC and distances, and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import int64
from ...execute.device_traits import specializes
from ...execute.indexed import known_bounds
from ...execute.layers import nll, nll_input
from ...execute.output import new
from ...execute.packed_weights import constant
from ...execute.pointwise import pointwise
from ...iterator.shape import broadcast_shapes, numel
from ...rows.catalogue import aten_op
from ..create.data import tensor
from ..create.ranges import arange, triu_indices
from ..create.sizes import full, zeros, zeros_like
from ..index.gather import of_classes
from ..nn.losses.class_loss import BEFORE, KNOWN_CLASS, NLL_INPUT, NLL_LOSS, forward_variables, states_of
from ..nn.losses.margin_loss import listed_classes
from ..pointwise.ternary import where


def _weights(target: Tensor, weight: Tensor | None, ignore_index: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """Returns (class of each target, weight of each target); both are 0 for an ignored target."""
    is_counted = target != ignore_index
    index = target.where(is_counted, 0).to(int64)
    if weight is None:
        return index, is_counted.to(like._dtype)
    return index, weight.take(index) * is_counted


@aten_op("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Returns (nll_loss, sum of the weights); the gradient needs the sum."""
    target = target if target._dtype is int64 else target.to(int64)
    result = nll(input, target, weight, reduction, ignore_index)
    if result is not None:
        return result
    dim = 0 if input.ndim == 1 else 1
    if weight is None and specializes(input):
        return _unweighted(input, target, reduction, ignore_index, dim)
    index, weights = _weights(target, weight, ignore_index, input)
    unweighted = -of_classes(input, dim, index)
    # the loss of an ignored class may be infinite
    loss = (unweighted * weights).where(weights != 0, 0)
    if reduction == "none":
        return loss, zeros((), dtype=input._dtype, device=input.device)
    total = weights.sum()
    return (loss.sum() / total if reduction == "mean" else loss.sum()), total


def _unweighted(input: Tensor, target: Tensor, reduction: str, ignore_index: int, dim: int) -> tuple[Tensor, Tensor]:
    """Returns `nll_loss` without weights, computed in fewer launches."""
    result_dtype, device = input._dtype, input.device
    bounds = known_bounds(target._storage)
    if bounds is not None and bounds[0] is int64 and not bounds[1] <= ignore_index <= bounds[2]:
        # Without weights and ignored classes the divisor is known in advance.
        log_probs = of_classes(input, dim, target)
        if reduction == "none":
            return -log_probs, zeros((), dtype=result_dtype, device=device)
        total = full((), float(target.numel()), dtype=result_dtype, device=device)
        return -(log_probs.mean() if reduction == "mean" else log_probs.sum()), total
    index = pointwise(KNOWN_CLASS, (target,), (ignore_index,))
    log_probs = of_classes(input, dim, index)
    loss = pointwise(NLL_LOSS, (log_probs, target), (float(ignore_index),))
    if reduction == "none":
        return loss, zeros((), dtype=result_dtype, device=device)
    total = (target != ignore_index).sum(dtype=result_dtype)
    return (loss.sum() / total if reduction == "mean" else loss.sum()), total


@aten_op("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_backward(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int, total: Tensor
) -> Tensor:
    """Returns the gradient of nll_loss's input; `total` is the sum of the weights that `nll_loss`
    returned."""
    target = target if target._dtype is int64 else target.to(int64)
    grad_input = nll_input(grad, input, target, weight, reduction, ignore_index, total)
    if grad_input is not None:
        return grad_input
    dim = 0 if input.ndim == 1 else 1
    if specializes(input):
        broadcast_shape, count = (-1, *[1] * (input.ndim - dim - 1)), input._shape[dim]
        classes = constant(("classes", count), input, lambda: np.arange(count)).reshape(broadcast_shape)
        factor: Any = 1.0 if weight is None else weight.reshape(broadcast_shape)
        element_grad = grad.unsqueeze(dim) if grad.ndim else grad
        divisor: Any = total if reduction == "mean" else 1.0
        inputs = element_grad, classes, target.unsqueeze(dim), factor, divisor
        grad_input = new(input._shape, input._dtype, input._storage.device)
        return pointwise(NLL_INPUT, inputs, (float(ignore_index),), grad_input)
    index, weights = _weights(target, weight, ignore_index, input)
    element_grad = -weights * (grad / total if reduction == "mean" else grad)
    if reduction == "mean":  # 0 / 0 if all targets are ignored
        element_grad = element_grad.where(target != ignore_index, 0)
    grad_input = zeros(input._shape, dtype=input._dtype, device=input.device)
    return grad_input.scatter_(dim, index.unsqueeze(dim), element_grad.unsqueeze(dim))


@aten_op()
def multilabel_margin_loss_backward(
    grad: Tensor, input: Tensor, target: Tensor, reduction: str, is_target: Tensor
) -> Tensor:
    """Returns the gradient of multilabel_margin_loss's input: each pair with a positive cost adds
    to the wrong class and subtracts from the right one."""
    x = input if input._shape else input.reshape(1)
    valid, index, is_right = listed_classes(x, target)
    classes = x._shape[-1]
    right = x.gather(-1, index).unsqueeze(-1)
    counts = valid.unsqueeze(-1) & ~is_right.unsqueeze(-2) & (1 - right + x.unsqueeze(-2) > 0)
    pairs = counts.to(x._dtype)
    wrong = pairs.sum(-2)
    slopes = wrong.scatter_add(-1, index, -pairs.sum(-1))
    frames = x.numel() // classes if reduction == "mean" else 1
    element_grad = grad.unsqueeze(-1) if grad._shape else grad
    return (slopes * element_grad / (classes * frames)).reshape(input._shape)


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
    """Returns the gradient of log_probs (steps, batch, classes) from `grad` (batch,), the gradient
    of each sample's loss; `loss` and `log_alpha` are the results of `_ctc_loss`. Raises what
    `states_of` raises.

    Graves et al. (2006), equation (16): the probability of a class minus that of all paths that are
    in one of its states at that step. Like torch, this assumes that `log_softmax` computed
    log_probs.
    """
    name = "_ctc_loss_backward"
    lengths = input_lengths, target_lengths
    states, time_steps, counts = states_of(name, log_probs, targets, *lengths, blank)
    steps, batch, _ = log_probs._shape
    device, width = log_probs.device, states._shape[1]
    # The paths from a state to the end are those of the reversed sample from its start to that
    # state.
    end = tensor(time_steps, device=device)
    last = tensor([2 * n for n in counts], device=device).unsqueeze(1)
    t, s = arange(steps, device=device).unsqueeze(1), arange(width, device=device)
    sample = arange(batch, device=device)
    other_t, other_s = (end - 1 - t).clamp(min=0), (last - s).clamp(min=0)
    reversed_alpha = forward_variables(log_probs[other_t, sample], states.gather(1, other_s), max(time_steps))
    sample = sample.unsqueeze(1)
    beta = reversed_alpha[other_t.unsqueeze(2), sample, other_s + BEFORE]
    index = states.expand(steps, batch, width)
    # Both alpha and beta include the probability of the state itself.
    path = log_alpha.transpose(0, 1) + beta - log_probs.gather(2, index) + loss.unsqueeze(1)
    is_valid = (t < end).unsqueeze(2)
    posterior = where(is_valid & (s <= last), path.exp(), 0)
    paths = zeros_like(log_probs).scatter_add_(2, index, posterior)
    # NaN if no path leads to the end, and for classes with probability 0, as in torch.
    unknown = (loss.unsqueeze(1) - log_probs) * 0
    grad_input = where(is_valid, (log_probs.exp() - paths + unknown) * grad.unsqueeze(1), 0)
    if zero_infinity:
        grad_input = grad_input.masked_fill((loss == math.inf).unsqueeze(1), 0)
    return grad_input


# With more differences the fallback on the host works pair by pair.
MAX_DIFFERENCES = 1 << 26


@aten_op()
def _cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, dist: Tensor) -> Tensor:
    """Returns the gradient of cdist's first argument (*, n, m), from `grad` and distances `dist`
    (*, n, k). Pairs with a distance of 0, and differences of 0, contribute nothing, as in torch.

    Raises NotImplementedError if the differences of all pairs would take too much memory.
    """
    batch = broadcast_shapes(x1._shape[:-2], x2._shape[:-2])
    shape = (*batch, *x1._shape[-2:])
    if not p or not numel(dist._shape) or not numel(shape):
        return zeros(shape, dtype=x1._dtype, device=x1.device)
    if numel(dist._shape) * x1._shape[-1] > MAX_DIFFERENCES:
        raise NotImplementedError("cdist: a difference for each pair and dim is too much memory")
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    g, distance = grad.unsqueeze(-1), dist.unsqueeze(-1)
    if p == 1:
        terms = g * difference.sign()
    elif p == float("inf"):
        terms = g * difference.sign() * (difference.abs() == distance)
    elif p == 2:
        terms = (g * difference / distance).where(distance != 0, 0)
    else:
        terms = g * difference.sign() * difference.abs().pow(p - 1) / distance.pow(p - 1)
        terms = terms.where((distance != 0) & (difference != 0), 0)
    return terms.sum(-2)


@aten_op()
def _pdist_backward(grad: Tensor, input: Tensor, p: float, dist: Tensor) -> Tensor:
    """Returns the gradient of pdist's input, by `_cdist_backward` over all pairs in both orders."""
    n = input._shape[0]
    if n < 2:
        return zeros(input._shape, dtype=input._dtype, device=input.device)
    i, j = triu_indices(n, n, 1, device=input.device)
    matrices = []
    for condensed in (grad, dist):
        matrix = zeros((n, n), dtype=condensed._dtype, device=condensed.device)
        matrix[i, j] = matrix[j, i] = condensed
        matrices.append(matrix)
    return _cdist_backward(matrices[0], input, input, p, matrices[1])
