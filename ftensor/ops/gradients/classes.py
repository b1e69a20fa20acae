"""Losses of classes as torch's device asks for them, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import int64
from ...execute.choices import specializes
from ...execute.constants import constant
from ...execute.index_check import known_bounds
from ...execute.memory import new
from ...execute.nll import nll, nll_input
from ...execute.pointwise import pointwise
from ...rows.catalogue import aten_op
from ..create.sizes import full, zeros
from ..index.gather import of_classes
from ..nn.losses.class_loss import KNOWN_CLASS, NLL_INPUT, NLL_LOSS
from ..nn.losses.margin_loss import listed_classes


def _weights(target: Tensor, weight: Tensor | None, ignore_index: int, like: Tensor) -> tuple[Tensor, Tensor]:
    """(the class of each target, 0 for ignored ones; its weight, 0 for those)."""
    used = target != ignore_index
    index = target.where(used, 0).to(int64)
    if weight is None:
        return index, used.to(like._dtype)
    return index, weight.take(index) * used


@aten_op("nll_loss_forward", "nll_loss2d_forward")
def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """nll_loss, and the sum of the weights, which its derivative needs."""
    target = target if target._dtype is int64 else target.to(int64)
    result = nll(input, target, weight, reduction, ignore_index)
    if result is not None:
        return result
    dim = 0 if input.ndim == 1 else 1
    if weight is None and specializes(input):
        return _unweighted(input, target, reduction, ignore_index, dim)
    index, weights = _weights(target, weight, ignore_index, input)
    unweighted = -of_classes(input, dim, index)
    loss = (unweighted * weights).where(weights != 0, 0)  # what is ignored may be infinite
    if reduction == "none":
        return loss, zeros((), dtype=input._dtype, device=input.device)
    total = weights.sum()
    return (loss.sum() / total if reduction == "mean" else loss.sum()), total


def _unweighted(input: Tensor, target: Tensor, reduction: str, ignore_index: int, dim: int) -> tuple[Tensor, Tensor]:
    """nll_loss without weights, in few launches."""
    of, device = input._dtype, input.device
    known = known_bounds(target._storage)
    if known is not None and known[0] is int64 and not known[1] <= ignore_index <= known[2]:
        # Nothing is ignored, and how much counts is known beforehand.
        log_probs = of_classes(input, dim, target)
        if reduction == "none":
            return -log_probs, zeros((), dtype=of, device=device)
        total = full((), float(target.numel()), dtype=of, device=device)
        return -(log_probs.mean() if reduction == "mean" else log_probs.sum()), total
    index = pointwise(KNOWN_CLASS, (target,), (ignore_index,))
    log_probs = of_classes(input, dim, index)
    loss = pointwise(NLL_LOSS, (log_probs, target), (float(ignore_index),))
    if reduction == "none":
        return loss, zeros((), dtype=of, device=device)
    total = (target != ignore_index).sum(dtype=of)
    return (loss.sum() / total if reduction == "mean" else loss.sum()), total


@aten_op("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_backward(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int, total: Tensor
) -> Tensor:
    """The gradient of nll_loss's input."""
    target = target if target._dtype is int64 else target.to(int64)
    grad_input = nll_input(grad, input, target, weight, reduction, ignore_index, total)
    if grad_input is not None:
        return grad_input
    dim = 0 if input.ndim == 1 else 1
    if specializes(input):
        across, count = (-1, *[1] * (input.ndim - dim - 1)), input._shape[dim]
        classes = constant(("classes", count), input, lambda: np.arange(count)).reshape(across)
        factor: Any = 1.0 if weight is None else weight.reshape(across)
        share = grad.unsqueeze(dim) if grad.ndim else grad
        divisor: Any = total if reduction == "mean" else 1.0
        inputs = share, classes, target.unsqueeze(dim), factor, divisor
        grad_input = new(input._shape, input._dtype, input._storage.device)
        return pointwise(NLL_INPUT, inputs, (float(ignore_index),), grad_input)
    index, weights = _weights(target, weight, ignore_index, input)
    share = -weights * (grad / total if reduction == "mean" else grad)
    if reduction == "mean":  # where all are ignored, a share is 0 / 0
        share = share.where(target != ignore_index, 0)
    grad_input = zeros(input._shape, dtype=input._dtype, device=input.device)
    return grad_input.scatter_(dim, index.unsqueeze(dim), share.unsqueeze(dim))


@aten_op()
def multilabel_margin_loss_backward(
    grad: Tensor, input: Tensor, target: Tensor, reduction: str, is_target: Tensor
) -> Tensor:
    """Each pair whose cost is above 0 raises the wrong class and lowers the right one."""
    x = input if input._shape else input.reshape(1)
    valid, index, is_right = listed_classes(x, target)
    classes = x._shape[-1]
    right = x.gather(-1, index).unsqueeze(-1)
    counts = valid.unsqueeze(-1) & ~is_right.unsqueeze(-2) & (1 - right + x.unsqueeze(-2) > 0)
    pairs = counts.to(x._dtype)
    wrong = pairs.sum(-2)
    slopes = wrong.scatter_add(-1, index, -pairs.sum(-1))
    frames = x.numel() // classes if reduction == "mean" else 1
    share = grad.unsqueeze(-1) if grad._shape else grad
    return (slopes * share / (classes * frames)).reshape(input._shape)
