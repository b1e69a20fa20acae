"""Elementwise losses of an input and its target, as rows and as formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...._tensor import Tensor
from ....dtypes import bfloat16, float16
from ....errors import nn as errors_nn
from ....execute.pointwise import common_dtype, pointwise
from ....execute.scalars import rounded, storable
from ....graph.fused import fused
from ....rows.op import Op
from ...create.sizes import empty_like, full_like, zeros_like
from ...view.shape import broadcast_tensors
from ..layers.activation import logsigmoid
from ..layers.stepwise import is_half
from .reduction import Shapes, loss, reduced

CATEGORY = "losses"


def _row(name: str, body: str, params: str = "", lets: Sequence[tuple[str, str]] = ()) -> Op:
    names = tuple(params.split())
    return Op(name, ", ".join(("input", "target", *names)), body, params=names, lets=tuple(lets), float_only=True)


# In half precision every step is rounded, as in torch.
_GAP = (("gap", "fabs(ftb_narrow(a - b))"),)
_SQUARE = "ftb_narrow(ftb_narrow(K(0.5) * gap) * gap)"
MSE = _row("mse_loss", "gap * gap", "", _GAP)
SMOOTH_L1 = _row("smooth_l1_loss", f"gap < beta ? {_SQUARE} / beta : gap - K(0.5) * beta", "beta", _GAP)
HUBER = _row(
    "huber_loss", f"gap < delta ? {_SQUARE} : delta * ftb_narrow(gap - ftb_narrow(K(0.5) * delta))", "delta", _GAP
)
# For float16 torch rounds only the loss.
HUBER_WHOLE = _row(
    "huber_loss",
    "gap < delta ? K(0.5) * gap * gap : delta * (gap - K(0.5) * delta)",
    "delta",
    (("gap", "fabs(a - b)"),),
)
# Both logarithms are clamped at -100, so the loss of a certain mistake is finite.
BCE = _row(
    "binary_cross_entropy",
    "ftb_narrow(ftb_narrow(b - K(1)) * ft_max(ftb_narrow(log1p(-a)), K(-100))) "
    "- ftb_narrow(b * ft_max(ftb_narrow(log(a)), K(-100)))",
)


@loss("input target size_average reduce reduction weight", shapes=Shapes.WARNED)
def l1_loss(input: Tensor, target: Tensor) -> Tensor:
    """Returns the absolute difference of input and target: the mean, the "sum", or with "none" that
    of each element."""
    return (input - target).abs()


@loss("input target size_average reduce reduction weight", shapes=Shapes.WARNED, rows=(MSE,))
def mse_loss(input: Tensor, target: Tensor) -> Tensor:
    """Returns the squared difference of input and target: the mean, the "sum", or with "none" that
    of each element."""
    return pointwise(MSE, (input, target))


@loss("input target size_average reduce reduction beta", shapes=Shapes.WARNED, positional=True, rows=(SMOOTH_L1,))
def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0) -> Tensor:
    """Returns half the squared difference over `beta` where the difference is below `beta`, else
    the difference - beta / 2. Raises RuntimeError for a negative `beta`."""
    if beta < 0:
        raise errors_nn.negative("smooth_l1_loss", "beta", beta)
    return pointwise(SMOOTH_L1, (input, target), (beta,)) if beta else (input - target).abs()


@loss("input target reduction delta weight", shapes=Shapes.WARNED, rows=(HUBER, HUBER_WHOLE))
def huber_loss(input: Tensor, target: Tensor, delta: float = 1.0) -> Tensor:
    """Returns half the square up to a distance of `delta`, and beyond it the tangent line, in the
    input's dtype. Raises RuntimeError unless `delta` is positive, or for a target that this dtype
    can't hold."""
    if not delta > 0:
        raise errors_nn.not_positive("huber_loss", "delta", delta)
    if input._shape != target._shape:
        input, target = broadcast_tensors(input, target)
    compute = common_dtype(HUBER, (input, target))
    row = HUBER_WHOLE if compute is float16 else HUBER
    delta = rounded(delta, bfloat16) if compute is bfloat16 else delta
    return pointwise(row, (input, target), (delta,), empty_like(input))


@loss(
    "input target weight size_average reduce reduction",
    shapes=Shapes.EQUAL,
    positional=True,
    has_mean=False,
    rows=(BCE,),
)
def binary_cross_entropy(input: Tensor, target: Tensor, word: str, weight: Tensor | None = None) -> Tensor:
    """Returns -(target * log(input) + (1 - target) * log(1 - input)), with logarithms clamped at
    -100. Raises ValueError for other shapes, RuntimeError for an input outside [0, 1] and for
    targets of another dtype."""
    name = "binary_cross_entropy"
    if input._dtype is not target._dtype:
        raise errors_nn.same_dtype(name, "target", input._dtype, target._dtype)
    if input.numel() and not bool(((input >= 0) & (input <= 1)).all()):
        raise errors_nn.no_probability(name)
    return _binary_cross_entropy(input, target, word, weight)


@fused
def _binary_cross_entropy(input: Tensor, target: Tensor, word: str, weight: Tensor | None) -> Tensor:
    losses = pointwise(BCE, (input, target))
    return reduced(losses if weight is None else losses.mul_(weight), word)


@loss("input target weight size_average reduce reduction pos_weight", shapes=Shapes.EQUAL)
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None
) -> Tensor:
    """Returns `binary_cross_entropy` of sigmoid(input), without overflow; `pos_weight` multiplies
    the cost of true targets. Raises ValueError for other shapes, RuntimeError for dtypes that the
    target's can't hold."""
    log_true = logsigmoid(input)
    if pos_weight is not None:
        log_true.mul_((pos_weight - 1) * target + 1)
    # In place as in torch: the loss has the target's dtype and refuses values that it can't hold.
    losses: Tensor = (1 - target).mul_(input).sub_(log_true)
    return losses if weight is None else losses.mul_(weight)


@loss()
def soft_margin_loss(input: Tensor, target: Tensor) -> Tensor:
    """Returns log(1 + exp(-target * input)) for targets 1 and -1, in the input's dtype and shape.
    Raises RuntimeError for targets that don't fit the input."""
    return (-input).mul_(target).exp_().log1p_()


@loss()
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0) -> Tensor:
    """Returns the input where the target is 1, and max(0, margin - input) where it is -1. Raises
    RuntimeError for a margin that the input's dtype can't hold; an integer dtype drops its
    fraction."""
    margin = storable("hinge_embedding_loss", margin, input._dtype)
    margin = rounded(margin, input._dtype) if is_half(input._dtype) else margin
    margin_loss, zero = (margin - input).clamp_(min=0), zeros_like(input)
    return margin_loss.where(target != 1, zero) + input.where(target != -1, zero)


@loss("input target size_average reduce reduction log_target", positional=True)
def kl_div(input: Tensor, target: Tensor, word: str, log_target: bool = False) -> Tensor:
    """Returns target * (log(target) - input), the Kullback-Leibler divergence from a distribution
    whose logarithm is `input`; "batchmean" divides the sum by the first dim. Raises RuntimeError
    for tensors that are not floating-point."""
    for x in (input, target):
        if not x._dtype.is_floating_point:
            raise errors_nn.floating_inputs("kl_div", x._dtype)
    if log_target:
        losses = target.exp() * (target - input)
    else:
        losses = target.xlogy(target) - target * input
    if word == "batchmean":
        return losses.sum() / input._shape[0] if input._shape else losses.sum()
    return reduced(losses, word)


@loss("input target log_input full size_average eps reduce reduction", positional=True)
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, eps: float = 1e-8
) -> Tensor:
    """Returns exp(input) - target * input, or input - target * log(input + eps) without
    `log_input`; `full` adds Stirling's approximation of log(target!)."""
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        losses += stirling.masked_fill(target <= 1, 0)
    return losses


@loss("input target var full eps reduction", has_mean=False)
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6, word: str = "mean"
) -> Tensor:
    """Returns (log(var) + (input - target)^2 / var) / 2 with `var` at least `eps`; `full` adds
    log(2 pi) / 2. Raises ValueError for a `var` of another shape or with negative elements."""
    if not isinstance(var, Tensor):
        var = full_like(input, var)
    elif var._shape != input._shape:
        if input._shape[:-1] == var._shape:
            var = var.unsqueeze(-1)
        elif not (input._shape[:-1] == var._shape[:-1] and var._shape[-1:] == (1,)):
            raise errors_nn.variance_shape(input._shape, var._shape)
    if bool((var < 0).any()):
        raise errors_nn.negative_variance()
    return _gaussian(input, target, var, full, eps, word)


@fused
def _gaussian(input: Tensor, target: Tensor, var: Tensor, full: bool, eps: float, word: str) -> Tensor:
    var = var.clone().clamp_(min=eps)
    losses: Tensor = (var.log() + (input - target) ** 2 / var) * 0.5
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, word)
