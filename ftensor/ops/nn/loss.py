"""Losses: what each element costs, as rows, and its mean, sum or none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import bfloat16, float16
from ...errors import nn as errors_nn
from ...execute.numbers import rounded
from ...execute.pointwise import pointwise
from ...execute.prepare import common_dtype
from ...rows.catalogue import op
from ...rows.op import Op
from ..compose import f
from ..user_values import storable
from .activation import SPACE
from .stepwise import narrow

CATEGORY = "losses"


def _row(name: str, body: str, params: str = "", lets: Sequence[tuple[str, str]] = ()) -> Op:
    """A loss of floating-point elements `a` and their targets `b`."""
    names = tuple(params.split())
    signature = f"{name}({', '.join(('input', 'target', *names))}, *, out=None) -> Tensor"
    return Op(name, signature, body, params=names, lets=tuple(lets), float_only=True)


# In half precision every step is rounded, as torch does.
_GAP = (("gap", "fabs(ftb_narrow(a - b))"),)
_SQUARE = "ftb_narrow(ftb_narrow(K(0.5) * gap) * gap)"
MSE = _row("mse_loss", "gap * gap", "", _GAP)
SMOOTH_L1 = _row(
    "smooth_l1_loss", f"gap < beta ? {_SQUARE} / beta : gap - K(0.5) * beta", "beta", _GAP
)
HUBER = _row(
    "huber_loss",
    f"gap < delta ? {_SQUARE} : delta * ftb_narrow(gap - ftb_narrow(K(0.5) * delta))",
    "delta",
    _GAP,
)
# Of float16, torch rounds the loss alone.
HUBER_WHOLE = _row(
    "huber_loss",
    "gap < delta ? K(0.5) * gap * gap : delta * (gap - K(0.5) * delta)",
    "delta",
    (("gap", "fabs(a - b)"),),
)
# Both logarithms end at -100, so that the loss of a certain mistake is finite.
BCE = _row(
    "binary_cross_entropy",
    "ftb_narrow(ftb_narrow(b - K(1)) * ft_max(ftb_narrow(log1p(-a)), K(-100))) "
    "- ftb_narrow(b * ft_max(ftb_narrow(log(a)), K(-100)))",
)


REDUCTIONS = ("none", "mean", "sum")


def reduced(name: str, loss: Tensor, reduction: str) -> Tensor:
    """Each element's loss, or their mean or sum. ValueError for another word."""
    if reduction not in REDUCTIONS:
        raise errors_nn.reduction(name, reduction)
    made: Tensor = loss if reduction == "none" else getattr(loss, reduction)()
    return made


def word_of(name: str, size_average: Any, reduce: Any, reduction: str) -> str:
    """`reduction`, unless one of the two old arguments is there: torch's reading of them.
    ValueError for another word."""
    if size_average is None and reduce is None:
        if reduction not in REDUCTIONS and (name != "kl_div" or reduction != "batchmean"):
            raise errors_nn.reduction(name, reduction)
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def tensors(name: str, **given: Any) -> None:
    for argument, x in given.items():
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor(name, argument, x)


def _of_pairs(row: Op, input: Tensor, target: Tensor, *params: float) -> Tensor:
    """Each element's loss; a warning for shapes that have to be broadcast."""
    tensors(row.name, input=input, target=target)
    if input._shape != target._shape:
        errors_nn.warn_target_size(row.name, input._shape, target._shape)
    return pointwise(row, (input, target), params)


def _mean_by_weight(name: str, loss: Tensor, weight: Tensor | None, reduction: str) -> Tensor:
    """As `reduced`; with weights, the mean is the weighted one."""
    if weight is None:
        return reduced(name, loss, reduction)
    loss = loss * weight
    if reduction == "mean":
        return loss.sum() / weight.expand(loss._shape).sum()
    return reduced(name, loss, reduction)


@op(namespace=SPACE)
def l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The distance of each element from its target; their mean, "sum", or "none" of both."""
    name = "l1_loss"
    tensors(name, input=input, target=target)
    if input._shape != target._shape:
        errors_nn.warn_target_size(name, input._shape, target._shape)
    loss = (input - target).abs()
    word = word_of(name, size_average, reduce, reduction)
    return _mean_by_weight(name, loss, weight, word)


@op(namespace=SPACE, rows=(MSE,))
def mse_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The square of each distance from the target; their mean, "sum", or "none" of both."""
    name = "mse_loss"
    loss = _of_pairs(MSE, input, target)
    return _mean_by_weight(name, loss, weight, word_of(name, size_average, reduce, reduction))


@op(namespace=SPACE, rows=(SMOOTH_L1,))
def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """Half the square over `beta` where a distance is below `beta`, else the distance - beta / 2.
    RuntimeError for a negative `beta`.
    """
    name = "smooth_l1_loss"
    word = word_of(name, size_average, reduce, reduction)
    if beta < 0:
        raise errors_nn.negative(name, "beta", beta)
    if beta == 0:
        return reduced(name, (input - target).abs(), word)
    return reduced(name, _of_pairs(SMOOTH_L1, input, target, beta), word)


@op(namespace=SPACE, rows=(HUBER, HUBER_WHOLE))
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Half the square up to a distance of `delta`, then the line that touches it, in the input's
    dtype. RuntimeError unless `delta` is positive, or for a target that this dtype can't hold.
    """
    if not delta > 0:
        raise errors_nn.not_positive("huber_loss", "delta", delta)
    name = "huber_loss"
    tensors(name, input=input, target=target)
    if input._shape != target._shape:
        errors_nn.warn_target_size(name, input._shape, target._shape)
        input, target = f.broadcast_tensors(input, target)
    common = common_dtype(HUBER, (input, target))
    row = HUBER_WHOLE if common is float16 else HUBER
    delta = rounded(delta, bfloat16) if common is bfloat16 else delta
    loss = pointwise(row, (input, target), (delta,), f.empty_like(input))
    return _mean_by_weight(name, loss, weight, reduction)


@op(namespace=SPACE, rows=(BCE,))
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """-(target * log(input) + (1 - target) * log(1 - input)), no logarithm below -100. ValueError
    for other shapes, RuntimeError for an input outside [0, 1], and for targets of another dtype.
    """
    name = "binary_cross_entropy"
    word = word_of(name, size_average, reduce, reduction)
    tensors(name, input=input, target=target)
    if input._shape != target._shape:
        raise errors_nn.target_shape(name, input._shape, target._shape)
    if input._dtype is not target._dtype:
        raise errors_nn.same_dtype(name, "target", input._dtype, target._dtype)
    if input.numel() and not bool(((input >= 0) & (input <= 1)).all()):
        raise errors_nn.no_probability(name)
    loss = pointwise(BCE, (input, target))
    return reduced(name, loss if weight is None else loss.mul_(weight), word)


@op(namespace=SPACE)
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean", pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`binary_cross_entropy` of sigmoid(input), without overflow; `pos_weight` multiplies what true
    targets cost. ValueError for other shapes, RuntimeError for dtypes that the target's can't hold.
    """
    name = "binary_cross_entropy_with_logits"
    tensors(name, input=input, target=target)
    if input._shape != target._shape:
        raise errors_nn.target_shape(name, input._shape, target._shape)
    log_true = f["nn.functional.logsigmoid"](input)
    if pos_weight is not None:
        log_true.mul_((pos_weight - 1) * target + 1)
    # In place as in torch, where the loss has the target's dtype and refuses what that can't hold.
    loss = (1 - target).mul_(input).sub_(log_true)
    loss = loss if weight is None else loss.mul_(weight)
    return reduced(name, loss, word_of(name, size_average, reduce, reduction))


@op(namespace=SPACE)
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Log(1 + exp(-target * input)) for targets 1 and -1, in the input's dtype and shape;
    RuntimeError for targets that don't fit into these.
    """
    name = "soft_margin_loss"
    tensors(name, input=input, target=target)
    loss = (-input).mul_(target).exp_().log1p_()
    return reduced(name, loss, word_of(name, size_average, reduce, reduction))


@op(namespace=SPACE)
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: Any = None,
    reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The input where the target is 1, and max(0, margin - input) where it is -1. RuntimeError for
    a margin that the input's dtype can't hold; an integer dtype drops its fraction.
    """
    name = "hinge_embedding_loss"
    tensors(name, input=input, target=target)
    margin = storable(name, margin, input._dtype)
    margin = rounded(margin, input._dtype) if narrow(input._dtype) else margin
    near, zero = (margin - input).clamp_(min=0), f.zeros_like(input)
    loss = near.where(target != 1, zero) + input.where(target != -1, zero)
    return reduced(name, loss, word_of(name, size_average, reduce, reduction))


@op(namespace=SPACE)
def kl_div(
    input: Tensor, target: Tensor, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean", log_target: bool = False,
) -> Tensor:  # fmt: skip
    """target * (log(target) - input), the Kullback-Leibler divergence of a distribution whose
    logarithm is `input`; "batchmean" divides the sum by the first dim. RuntimeError for tensors
    that are not of floating point.
    """
    name = "kl_div"
    word = word_of(name, size_average, reduce, reduction)
    tensors(name, input=input, target=target)
    for x in (input, target):
        if not x._dtype.is_floating_point:
            raise errors_nn.floating_inputs(name, x._dtype)
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = target.xlogy(target) - target * input
    if word == "batchmean":
        total = loss.sum()
        return total / input._shape[0] if input._shape else total
    return reduced(name, loss, word)


@op(namespace=SPACE)
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,
    size_average: Any = None, eps: float = 1e-8, reduce: Any = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """exp(input) - target * input, or input - target * log(input + eps) unless `log_input`; `full`
    adds Stirling's approximation of log(target!).
    """
    name = "poisson_nll_loss"
    word = word_of(name, size_average, reduce, reduction)
    tensors(name, input=input, target=target)
    if log_input:
        loss = input.exp() - target * input
    else:
        loss = input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss += stirling.masked_fill(target <= 1, 0)
    return reduced(name, loss, word)


@op(namespace=SPACE)
def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Any, full: bool = False, eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """(log(var) + (input - target)^2 / var) / 2 with `var` at least `eps`; `full` adds
    log(2 pi) / 2. ValueError for a `var` of another shape or with negative elements.
    """
    tensors("gaussian_nll_loss", input=input, target=target)
    if not isinstance(var, Tensor):
        var = f.full_like(input, var)
    elif var._shape != input._shape:
        if input._shape[:-1] == var._shape:
            var = var.unsqueeze(-1)
        elif not (input._shape[:-1] == var._shape[:-1] and var._shape[-1:] == (1,)):
            raise errors_nn.variance_shape(input._shape, var._shape)
    if reduction not in ("none", "mean", "sum"):
        raise errors_nn.reduction("gaussian_nll_loss", reduction)
    if bool((var < 0).any()):
        raise errors_nn.negative_variance()
    var = var.clone().clamp_(min=eps)
    loss = (var.log() + (input - target) ** 2 / var) * 0.5
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced("gaussian_nll_loss", loss, reduction)
