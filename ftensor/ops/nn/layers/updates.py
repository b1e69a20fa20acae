"""Updates of parameters in one optimizer step, equal to those of torch's fused optimizers.

Formulas are those of torch.optim. A step's number is a 0-d tensor on the device, so that nothing
waits for it. 1 - beta**step is -expm1(step * log(beta)), which is accurate in single precision for
a beta near 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

from ...._tensor import Tensor
from ....execute.pointwise import pointwise
from ....graph.fused import fused_foreach
from ....rows.catalogue import enter
from ....rows.op import Op
from ...pointwise.ternary import LERP

CATEGORY = "optimizer"


def _row(name: str, inputs: str, body: str, params: str, **fields: Any) -> Op:
    numbers = tuple(params.split())
    return Op(name, ", ".join((*inputs.split(), *numbers)), body, params=numbers, float_only=True, bool_="", **fields)


MOVING_SQUARE = _row("moving_square", "input grad", "a * beta + rest * b * b", "beta rest")
ADAM = _row(
    "adam_step",
    "input mean square step",
    "a - a * decay - rate / first * b / (sqrt(c) / sqrt(second) + eps)",
    "rate decay eps log1 log2",
    lets=(("first", "-expm1(d * log1)"), ("second", "-expm1(d * log2)")),
)
DESCENT = _row("descent_step", "input direction", "a - rate * b", "rate")
DECAYED = _row("decayed_gradient", "grad input", "sign * a + decay * b", "sign decay")
MOMENTUM = _row("momentum", "input grad", "a * momentum + rest * b", "momentum rest")
enter(__name__, MOVING_SQUARE, ADAM, DESCENT, DECAYED, MOMENTUM)


class Adam(NamedTuple):
    """The hyperparameters of Adam, and of AdamW if weight decay is `decoupled` from the
    gradient."""

    rate: float
    beta1: float
    beta2: float
    decay: float
    eps: float
    maximize: bool
    decoupled: bool


def _log(beta: float) -> float:
    return log(beta) if beta > 0 else -1e4


def _directed(grad: Tensor, param: Tensor, maximize: bool, decay: float) -> Tensor:
    if not decay:
        return -grad if maximize else grad
    return pointwise(DECAYED, (grad, param), (-1.0 if maximize else 1.0, decay))


def adam(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    means: Sequence[Tensor],
    squares: Sequence[Tensor],
    largest: Sequence[Tensor],
    steps: Sequence[Tensor],
    settings: Adam,
) -> None:
    """Performs one Adam step on all parameters, in place. `largest` holds the running maxima of
    `squares` for amsgrad and is empty without it."""
    decays = (0.0, settings.rate * settings.decay) if settings.decoupled else (settings.decay, 0.0)
    _adam(
        params, grads, means, squares, largest, steps, settings.maximize, *decays, settings.rate, settings.eps,
        _log(settings.beta1), _log(settings.beta2), 1 - settings.beta1, settings.beta2, 1 - settings.beta2,
    )  # fmt: skip


@fused_foreach
def _adam(
    params: Sequence[Tensor], grads: Sequence[Tensor], means: Sequence[Tensor],
    squares: Sequence[Tensor], largest: Sequence[Tensor], steps: Sequence[Tensor],
    maximize: bool, coupled: float, decay: float, rate: float, eps: float, log1: float,
    log2: float, one_minus_beta1: float, beta2: float, one_minus_beta2: float,
) -> None:  # fmt: skip
    for k, (param, grad, mean, square, step) in enumerate(zip(params, grads, means, squares, steps)):
        grad = _directed(grad, param, maximize, coupled)
        pointwise(LERP, (mean, grad, one_minus_beta1), (), mean, True)
        pointwise(MOVING_SQUARE, (square, grad), (beta2, one_minus_beta2), square, True)
        if largest:
            square = largest[k].copy_(largest[k].maximum(square))
        pointwise(ADAM, (param, mean, square, step), (rate, decay, eps, log1, log2), param, True)


def descend(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    buffers: Sequence[Tensor],
    rate: float,
    decay: float,
    momentum: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    first: bool,
) -> None:
    """Performs one step of gradient descent on all parameters, in place. `buffers` hold the
    momentum; the `first` step initializes them."""
    gradient_factor = 1 - dampening
    _descend(params, grads, buffers, nesterov, maximize, first, decay, rate, momentum, gradient_factor)


@fused_foreach
def _descend(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    buffers: Sequence[Tensor],
    nesterov: bool,
    maximize: bool,
    first: bool,
    decay: float,
    rate: float,
    momentum: float,
    gradient_factor: float,
) -> None:
    for k, (param, grad) in enumerate(zip(params, grads)):
        grad = _directed(grad, param, maximize, decay)
        if buffers:
            buffer = buffers[k]
            if first:
                buffer.copy_(grad)
            else:
                pointwise(MOMENTUM, (buffer, grad), (momentum, gradient_factor), buffer, True)
            grad = pointwise(MOMENTUM, (buffer, grad), (momentum, 1.0)) if nesterov else buffer
        pointwise(DESCENT, (param, grad), (rate,), param, True)


@fused_foreach
def adagrad(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    totals: Sequence[Tensor],
    steps: Sequence[Tensor],
    rate: float,
    rate_decay: float,
    decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """Performs one Adagrad step on all parameters, in place. `totals` hold the sums of all squared
    gradients."""
    for param, grad, total, step in zip(params, grads, totals, steps):
        grad = _directed(grad, param, maximize, decay)
        total.addcmul_(grad, grad)
        direction = grad / total.sqrt().add_(eps)
        if rate_decay:
            direction /= (step - 1) * rate_decay + 1
        pointwise(DESCENT, (param, direction), (rate,), param, True)
