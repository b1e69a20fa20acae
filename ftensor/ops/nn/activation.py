"""Activations: ft.nn.functional's pointwise functions, and those that are methods too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import bool as bool_
from ...errors import unary as errors_unary
from ...execute.copy import each_once
from ...execute.memory import new_like
from ...execute.numbers import fitted
from ...execute.pointwise import pointwise
from ...rows.catalogue import ENTRIES, Entry, op, register
from ...rows.op import Op, Promote
from ...rows.spelling import describe, signature_text
from ..pointwise.unary import tensor_argument

SPACE = "nn.functional"
# The fixed numbers of selu, from its paper's equations (14).
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def activation(name: str, params: str, body: str, **more: Any) -> Op:
    """A row of one input and comma-separated parameters."""
    names = tuple(filter(None, params.split()))
    signature = f"{name}({', '.join(('input', *names))}, *, out=None) -> Tensor"
    return Op(name, signature, body, params=names, **{"float_only": True, **more})


RELU = activation("relu", "", "a < K(0) ? K(0) : a", float_only=False, bool_="",
                  refusal=errors_unary.no_clamp)  # fmt: skip
HARDTANH = activation("hardtanh", "low high", "a < low ? low : (a > high ? high : a)",
                      float_only=False, bool_="", refusal=errors_unary.no_clamp)  # fmt: skip
LEAKY_RELU = activation("leaky_relu", "slope", "a > K(0) ? a : a * slope")
SILU = activation("silu", "", "a / (K(1) + exp(-a))", complex_="ft_cmul(a, ft_csigmoid(a))")
HARDSWISH = activation("hardswish", "", "a * ft_within(a + K(3), K(0), K(6)) / K(6)")
HARDSIGMOID = activation("hardsigmoid", "", "ft_within(a + K(3), K(0), K(6)) / K(6)")
ELU = activation("elu", "negative scale input_scale",
                 "a > K(0) ? a * scale : expm1(a * input_scale) * negative")  # fmt: skip
MISH = activation("mish", "", "a * tanh(a > K(30) ? a : log1p(exp(a)))")
THRESHOLD = activation("threshold", "limit value", "a <= limit ? value : a",
                       float_only=False, bool_="")  # fmt: skip
GELU = activation("gelu", "", "K(0.5) * a * (K(1) + erf(a * K(0.70710678118654752440)))")
GELU_TANH = activation(
    "gelu", "",
    "K(0.5) * a * (K(1) + tanh(K(0.79788456080286535588) * (a + K(0.044715) * a * a * a)))",
)  # fmt: skip
SOFTPLUS = activation("softplus", "beta limit",
                      "a * beta > limit ? a : log1p(exp(a * beta)) / beta")  # fmt: skip
LOGSIGMOID = activation("logsigmoid", "", "(a > K(0) ? K(0) : a) - log1p(exp(-fabs(a)))")
HARDSHRINK = activation("hardshrink", "limit", "a >= -limit && a <= limit ? K(0) : a")
SOFTSHRINK = activation(
    "softshrink", "limit", "a > limit ? a - limit : (a < -limit ? a + limit : a * K(0))"
)
DIFFERENCE = Op("tanhshrink", "tanhshrink(input, other, *, out=None) -> Tensor", "a - b",
                complex_="ft_csub(a, b)")  # fmt: skip
SOFTSIGN = activation("softsign", "", "a / (fabs(a) + K(1))", promote=Promote.INT_TO_FLOAT,
                      complex_="ft_cscale(a, K(1) / (ft_cabs(a) + K(1)))",
                      refuses=("bool",))  # fmt: skip


def _run(row: Op, input: Tensor, params: tuple[float, ...], inplace: bool) -> Tensor:
    return pointwise(row, (input,), params, input if inplace else None, inplace)


def _held(name: str, input: Tensor, *numbers: float, computed: bool = False) -> tuple[float, ...]:
    """The numbers; RuntimeError where the dtype (or the one `computed` in) can't hold them."""
    d = tensor_argument(name, input)._dtype
    return tuple([fitted(name, x, d.compute if computed and d.kind == "f" else d) for x in numbers])


@op(namespace=SPACE, rows=(RELU,))
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The value, and 0 for negative ones."""
    return _run(RELU, input, (), inplace)


@op(namespace=SPACE, rows=(HARDTANH,))
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """The value brought into [min_val, max_val]; RuntimeError where min_val is the larger, or is
    negative for uint8.
    """
    if min_val > max_val:
        raise errors_unary.limits_swapped("hardtanh", min_val, max_val)
    if input.dtype.kind in "ui":  # before they are looked at, limits lose their fractions
        min_val, max_val = int(min_val), int(max_val)
    if input.dtype.kind == "u" and min_val < 0:
        raise errors_unary.negative_limit("hardtanh", min_val, input.dtype)
    return _run(HARDTANH, input, _held("hardtanh", input, min_val, max_val), inplace)


@op(namespace=SPACE)
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The value brought into [0, 6]."""
    return hardtanh(input, 0.0, 6.0, inplace)


@op(namespace=SPACE, rows=(LEAKY_RELU,))
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """The value, negative ones times `negative_slope`."""
    slope = _held("leaky_relu", input, negative_slope, computed=True)
    return _run(LEAKY_RELU, input, slope, inplace)


@op(namespace=SPACE, rows=(SILU,))
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Input * sigmoid(input)."""
    return _run(SILU, input, (), inplace)


@op(namespace=SPACE, rows=(HARDSWISH,))
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Input * hardsigmoid(input)."""
    return _run(HARDSWISH, input, (), inplace)


@op(namespace=SPACE, rows=(HARDSIGMOID,))
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """(input + 3) / 6, brought into [0, 1]."""
    return _run(HARDSIGMOID, input, (), inplace)


@op(namespace=SPACE, rows=(ELU,))
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The value; for negative ones alpha * expm1(value)."""
    (alpha,) = _held("elu", input, alpha, computed=True)
    return _run(ELU, input, (alpha, 1.0, 1.0), inplace)


@op(namespace=SPACE, rows=(MISH,))
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Input * tanh(softplus(input))."""
    return _run(MISH, input, (), inplace)


@op(namespace=SPACE)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """A scaled elu that keeps mean and variance."""
    return _run(ELU, input, (SELU_ALPHA * SELU_SCALE, SELU_SCALE, 1.0), inplace)


@op(namespace=SPACE)
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """The value; for negative ones alpha * expm1(value / alpha). RuntimeError for alpha 0."""
    if alpha == 0:
        raise errors_unary.zero_alpha("celu")
    (alpha,) = _held("celu", input, alpha, computed=True)
    return _run(ELU, input, (alpha, 1.0, 1.0 / alpha), inplace)


@op(namespace=SPACE, rows=(THRESHOLD,))
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`value` wherever the input is not above `threshold`."""
    limits = _limit(input, threshold, value)
    if not inplace:
        return _run(THRESHOLD, input, limits, False)
    _run(THRESHOLD, each_once(input), limits, True)  # as torch, which takes expanded tensors here
    return input


def _limit(input: Tensor, threshold: float, value: float) -> tuple[float, ...]:
    found = _held("threshold", input, threshold, computed=True)
    return found + _held("threshold", input, value)


@op(name="threshold", method=False)
def _threshold(
    input: Tensor, threshold: float, value: float, *, out: Tensor | None = None
) -> Tensor:
    """`value` wherever the input is not above `threshold`."""
    return pointwise(THRESHOLD, (input,), _limit(input, threshold, value), out)


@op(namespace=SPACE, rows=(GELU, GELU_TANH))
def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """The value times the normal distribution function, or its approximation by "tanh"."""
    if approximate not in ("none", "tanh"):
        raise errors_unary.gelu_approximation(approximate)
    return pointwise(GELU if approximate == "none" else GELU_TANH, (input,), (), out)


@op(namespace=SPACE, rows=(SOFTPLUS,))
def softplus(
    input: Tensor, beta: float = 1, threshold: float = 20, *, out: Tensor | None = None
) -> Tensor:
    """Log(1 + exp(beta * input)) / beta, and the value itself where beta * input > threshold."""
    numbers = _held("softplus", input, beta, threshold, computed=True)
    return pointwise(SOFTPLUS, (input,), numbers, out)


@op(namespace=SPACE, rows=(LOGSIGMOID,))
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Log(sigmoid(input)), in contiguous memory."""
    out = new_like(input, input._shape) if out is None else out
    return pointwise(LOGSIGMOID, (input,), (), out)


@op(rows=(HARDSHRINK,))
def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """0 within [-lambd, lambd]."""
    return pointwise(HARDSHRINK, (input,), _held("hardshrink", input, lambd), out)


@op(namespace=SPACE, rows=(SOFTSHRINK,))
def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """The value moved towards 0 by `lambd`, at most to 0. RuntimeError for a negative `lambd`."""
    if not lambd >= 0:
        raise errors_unary.negative_lambda("softshrink", lambd)
    return pointwise(SOFTSHRINK, (input,), _held("softshrink", input, lambd), out)


@op(namespace=SPACE, rows=(DIFFERENCE,))
def tanhshrink(input: Tensor) -> Tensor:
    """Input - tanh(input)."""
    if input.dtype is bool_:
        raise errors.dtype_not_supported("tanhshrink", input.dtype)
    return pointwise(DIFFERENCE, (input, ENTRIES["tanh"].call(input)))


@op(namespace=SPACE, rows=(SOFTSIGN,))
def softsign(input: Tensor) -> Tensor:
    """Input / (1 + abs(input))."""
    return pointwise(SOFTSIGN, (input,))


def _inplace_form(call: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def form(input: Tensor, *args: float, **kwargs: float) -> Tensor:
        return call(input, *args, inplace=True, **kwargs)

    form.__name__ = form.__qualname__ = call.__name__ + "_"
    form.__doc__ = f"In-place form of `{call.__name__}`."
    return form


def _named(call: Callable[..., Tensor], name: str) -> tuple[str, ...]:
    """How the in-place form of a function is called under a name."""
    return (signature_text(name, call, without="inplace"),)


# torch has these under more names: at the top, as methods (relu and hardshrink), in place.
register(Entry("hardshrink", hardshrink, method=False, namespace=SPACE))
for _call in (relu, hardtanh, leaky_relu, elu, selu, celu, threshold):
    _form = _inplace_form(_call)
    _word = _form.__name__
    _forms = _named(_call, f"{SPACE}.{_word}")
    register(Entry(_word, _form, method=False, forms=_forms, namespace=SPACE))
    describe(_form, _forms)
    if _call in (relu, selu, celu, threshold):
        if _call is not threshold:  # which takes `out` there
            register(Entry(_call.__name__, _call, method=_call is relu))
        register(Entry(_word, _form, method=_call is relu, forms=_named(_call, _word)))
