"""Derivatives of activations and elementwise losses, one row each: from the gradient of a result to
the gradient of an input.

Formulas are those of torch's derivatives.yaml and its native backward functions.
"""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from ...execute.pointwise import pointwise
from ...rows.catalogue import aten_op, enter
from ...rows.op import Op
from ..bind import make_function


def _row(name: str, inputs: str, body: str, params: str = "", **fields: Any) -> Op:
    numbers = tuple(params.split())
    return Op(
        f"{name}_backward",
        ", ".join((*inputs.split(), *numbers)),
        body,
        params=numbers,
        **{"float_only": True, **fields},
    )


AT = "grad input"
THRESHOLD = _row("threshold", AT, "b <= limit ? K(0) : a", "limit", float_only=False, bool_="")
TANH = _row("tanh", "grad result", "a * (K(1) - b * b)")
SIGMOID = _row("sigmoid", "grad result", "a * (K(1) - b) * b")
GELU = _row(
    "gelu",
    AT,
    "a * (K(0.5) * (K(1) + erf(b * K(0.70710678118654752440))) + b * exp(K(-0.5) * b * b) * K(0.39894228040143267794))",
)
GELU_TANH = _row(
    "gelu",
    AT,
    "a * (K(0.5) * (K(1) + t) + K(0.5) * b * (K(1) - t * t)"
    " * K(0.79788456080286535588) * (K(1) + K(0.134145) * b * b))",
    lets=(("t", "ft_tanh(K(0.79788456080286535588) * (b + K(0.044715) * b * b * b))"),),
)
SILU = _row("silu", AT, "a * s * (K(1) + b * (K(1) - s))", lets=(("s", "K(1) / (K(1) + exp(-b))"),))
MISH = _row(
    "mish",
    AT,
    "a * (t + b * (K(1) - t * t) / (K(1) + exp(-b)))",
    lets=(("t", "ft_tanh(b > K(30) ? b : log1p(exp(b)))"),),
)
HARDTANH = _row("hardtanh", AT, "b <= low || b >= high ? K(0) : a", "low high")
HARDSWISH = _row("hardswish", AT, "b < K(-3) ? K(0) : (b <= K(3) ? a * (b / K(3) + K(0.5)) : a)")
HARDSIGMOID = _row("hardsigmoid", AT, "b > K(-3) && b < K(3) ? a / K(6) : K(0)")
LEAKY_RELU = _row("leaky_relu", AT, "b > K(0) ? a : a * slope", "slope")
ELU = _row(
    "elu", AT, "b > K(0) ? a * scale : a * input_scale * negative * exp(b * input_scale)", "negative scale input_scale"
)
ELU_RESULT = _row(
    "elu", "grad result", "b > K(0) ? a * scale : a * input_scale * (b + negative)", "negative scale input_scale"
)
SOFTPLUS = _row("softplus", AT, "b * beta > limit ? a : a / (K(1) + exp(-b * beta))", "beta limit")
LOGSIGMOID = _row("logsigmoid", AT, "a / (K(1) + exp(b))")
SHRINK = _row("shrink", AT, "b >= -limit && b <= limit ? K(0) : a", "limit")
SOFTMAX = _row("softmax", "grad result total", "b * (a - c)")
LOG_SOFTMAX = _row("log_softmax", "grad result total", "a - exp(b) * c")
MSE = _row("mse_loss", "grad input target", "K(2) * (b - c) * a * share", "share")
SMOOTH_L1 = _row(
    "smooth_l1_loss",
    "grad input target",
    "x <= -beta ? -share * a : (x >= beta ? share * a : share * x * a / beta)",
    "share beta",
    lets=(("x", "b - c"),),
)
HUBER = _row(
    "huber_loss",
    "grad input target",
    "x <= -delta ? -share * a * delta : (x >= delta ? share * a * delta : share * x * a)",
    "share delta",
    lets=(("x", "b - c"),),
)
# `whole` is the mean of the gradient, `along` the mean of the gradient times the result.
NORMALIZED = _row("norm", "grad input whole along rstd", "(a - c - b * d) * e")
_ALL = [value for value in list(vars().values()) if isinstance(value, Op)]
enter(__name__, *_ALL)


# Rows that take torch's arguments in torch's order.
for _of in (
    THRESHOLD, TANH, SIGMOID, SILU, MISH, HARDTANH, HARDSWISH, HARDSIGMOID, LEAKY_RELU, SOFTPLUS,
):  # fmt: skip
    aten_op(_of.name, row=_of)(make_function(_of))
aten_op("log_sigmoid_backward", row=LOGSIGMOID)(make_function(LOGSIGMOID))
aten_op("hardshrink_backward", "softshrink_backward", row=SHRINK)(make_function(SHRINK))


@aten_op()
def gelu_backward(grad: Tensor, input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    return pointwise(GELU_TANH if approximate == "tanh" else GELU, (grad, input), (), out)


@aten_op()
def elu_backward(
    grad: Tensor,
    alpha: float,
    scale: float,
    input_scale: float,
    is_result: bool,
    at: Tensor,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Returns the gradient of elu, selu or celu; `at` is the result if `is_result`, else the
    input.
    """
    numbers = alpha * scale, scale, input_scale
    return pointwise(ELU_RESULT if is_result else ELU, (grad, at), numbers, out)


def _reduction_factor(input: Tensor, reduction: str) -> float:
    return 1 / max(input.numel(), 1) if reduction == "mean" else 1.0


@aten_op()
def mse_loss_backward(
    grad: Tensor, input: Tensor, target: Tensor, reduction: str, *, out: Tensor | None = None
) -> Tensor:
    return pointwise(MSE, (grad, input, target), (_reduction_factor(input, reduction),), out)


@aten_op()
def smooth_l1_loss_backward(
    grad: Tensor, input: Tensor, target: Tensor, reduction: str, beta: float, *, out: Tensor | None = None
) -> Tensor:
    return pointwise(SMOOTH_L1, (grad, input, target), (_reduction_factor(input, reduction), beta), out)


@aten_op()
def huber_loss_backward(
    grad: Tensor, input: Tensor, target: Tensor, reduction: str, delta: float, *, out: Tensor | None = None
) -> Tensor:
    return pointwise(HUBER, (grad, input, target), (_reduction_factor(input, reduction), delta), out)


@aten_op()
def native_dropout_backward(grad: Tensor, mask: Tensor, scale: float) -> Tensor:
    return grad * mask * scale
