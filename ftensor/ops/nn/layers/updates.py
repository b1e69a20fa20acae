"""What an optimizer does to a parameter in one step: what torch's fused optimizers compute.

Formulas are those of torch.optim. A step's number is a tensor of no dims on the device, so that
nothing waits for it; 1 - beta**step is -expm1(step * log(beta)), which is right in single precision
for a beta near 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log
from typing import Any, NamedTuple

from ...._tensor import Tensor
from ....execute.choices import specializes
from ....execute.pointwise import pointwise
from ....execute.several import Several, several
from ....kernels.holes import NAMES
from ....rows.catalogue import enter
from ....rows.op import Op
from ...pointwise.ternary import LERP

CATEGORY = "optimizer"


def _row(name: str, inputs: str, body: str, params: str, **more: Any) -> Op:
    numbers = tuple(params.split())
    signature = f"{name}({', '.join((*inputs.split(), *numbers))}, *, out=None) -> Tensor"
    return Op(name, signature, body, params=numbers, float_only=True, bool_="", **more)


MOVING_SQUARE = _row("moving_square", "input grad", "a * beta + rest * b * b", "beta rest")
ADAM = _row(
    "adam_step", "input mean square step",
    "a - a * decay - rate / first * b / (sqrt(c) / sqrt(second) + eps)",
    "rate decay eps log1 log2",
    lets=(("first", "-expm1(d * log1)"), ("second", "-expm1(d * log2)")),
)  # fmt: skip
# All three, on devices that compile any kernel: parameter, mean, square of a parameter (a), its
# gradient (b), mean (c), square (d) and step (e).
ADAM_WHOLE = Several(
    "adam_whole",
    ("a - a * decay - rate / first * mean / (sqrt(square) / sqrt(second) + eps)", "mean", "square"),
    ("rate", "decay", "eps", "log1", "log2", "near", "beta", "rest"),
    (("mean", "ftb_lerp(c, b, near)"), ("square", "d * beta + rest * b * b"),
     ("first", "-expm1(e * log1)"), ("second", "-expm1(e * log2)")),
)  # fmt: skip
DESCENT = _row("descent_step", "input direction", "a - rate * b", "rate")
DECAYED = _row("decayed_gradient", "grad input", "sign * a + decay * b", "sign decay")
MOMENTUM = _row("momentum", "input grad", "a * momentum + rest * b", "momentum rest")
enter(__name__, MOVING_SQUARE, ADAM, DESCENT, DECAYED, MOMENTUM)


class Adam(NamedTuple):
    """The numbers of Adam, and of AdamW where weight decay is `decoupled` from the gradient."""

    rate: float
    beta1: float
    beta2: float
    decay: float
    eps: float
    maximize: bool
    decoupled: bool


def _log(beta: float) -> float:
    """log(beta), where 0 keeps nothing: 1 - beta**step is 1."""
    return log(beta) if beta > 0 else -1e4


def _directed(grad: Tensor, param: Tensor, maximize: bool, decay: float) -> Tensor:
    """The gradient downwards, with the decay of weights in it."""
    if not decay:
        return -grad if maximize else grad
    return pointwise(DECAYED, (grad, param), (-1.0 if maximize else 1.0, decay))


def _alike(first: Tensor, *others: Tensor) -> bool:
    """Whether tensors are of the dtype that is computed in and one shape, each in memory of its
    own, on a device that compiles any kernel."""
    return (
        first._dtype is first._dtype.compute
        and first._dtype.kind == "f"
        and all(x._dtype is first._dtype and x._shape == first._shape for x in others)
        and len({id(x._storage) for x in (first, *others)}) == 1 + len(others)
        and specializes(first)
    )


def count(steps: Sequence[Tensor], by: float) -> None:
    """Add a number to each tensor, in place."""
    for k in range(0, len(steps), len(NAMES)):
        some = steps[k : k + len(NAMES)]
        if len(some) > 1 and _alike(*some):
            several(_counted(len(some)), some, (by,), some, some[0]._dtype)
        else:
            for one in some:
                one.add_(by)


@cache
def _counted(size: int) -> Several:
    return Several(f"add_to_{size}", tuple(f"{name} + by" for name in NAMES[:size]), ("by",))


def adam(
    param: Tensor, grad: Tensor, mean: Tensor, square: Tensor, largest: Tensor | None,
    step: Tensor, of: Adam,
) -> None:  # fmt: skip
    """One step of a parameter, in place; `largest` is what amsgrad keeps of `square`."""
    grad = _directed(grad, param, of.maximize, 0 if of.decoupled else of.decay)
    decay = of.rate * of.decay if of.decoupled else 0.0
    numbers = of.rate, decay, of.eps, _log(of.beta1), _log(of.beta2)
    if largest is None and _alike(param, grad, mean, square):
        more = 1 - of.beta1, of.beta2, 1 - of.beta2
        read, results = (param, grad, mean, square, step), (param, mean, square)
        several(ADAM_WHOLE, read, (*numbers, *more), results, param._dtype)
        return
    pointwise(LERP, (mean, grad, 1 - of.beta1), (), mean, True)
    pointwise(MOVING_SQUARE, (square, grad), (of.beta2, 1 - of.beta2), square, True)
    if largest is not None:
        square = largest.copy_(largest.maximum(square))
    pointwise(ADAM, (param, mean, square, step), numbers, param, True)


def descend(
    param: Tensor, grad: Tensor, buffer: Tensor | None, rate: float, decay: float,
    momentum: float, dampening: float, nesterov: bool, maximize: bool, first: bool,
) -> None:  # fmt: skip
    """One step of gradient descent, in place; `buffer` has the momentum, none at the `first`."""
    grad = _directed(grad, param, maximize, decay)
    if buffer is not None:
        if first:
            buffer.copy_(grad)
        else:
            pointwise(MOMENTUM, (buffer, grad), (momentum, 1 - dampening), buffer, True)
        grad = pointwise(MOMENTUM, (buffer, grad), (momentum, 1.0)) if nesterov else buffer
    pointwise(DESCENT, (param, grad), (rate,), param, True)


def adagrad(
    param: Tensor, grad: Tensor, total: Tensor, step: Tensor, rate: float, rate_decay: float,
    decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    """One step of Adagrad, in place; `total` has the sum of all squared gradients."""
    grad = _directed(grad, param, maximize, decay)
    total.addcmul_(grad, grad)
    direction = grad / total.sqrt().add_(eps)
    if rate_decay:
        direction /= (step - 1) * rate_decay + 1
    pointwise(DESCENT, (param, direction), (rate,), param, True)
