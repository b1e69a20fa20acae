"""Activations: pointwise functions of ft.nn.functional, some of which are also methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import errors
from ...._tensor import Tensor
from ....dtypes import bool as bool_
from ....errors import arithmetic as errors_arithmetic
from ....errors.message import call_named
from ....execute.output import new_like
from ....execute.pointwise import pointwise, without_expanded_dims
from ....execute.scalars import fitted
from ....rows.catalogue import Entry, op, register
from ....rows.op import Op, Promote
from ....rows.spelling import describe, show_types, signature_text, signature_without, written
from ...pointwise.unary import tensor_argument

SPACE = "nn.functional"
# The constants of selu, from its paper's equations (14).
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946

Numbers = Callable[..., tuple[float, ...]]
# The ending of an activation's parameter list, and the tensor for the result with it.
INPLACE = "inplace: bool = False"
OUT = "*, out: Tensor | None = None"
_RESULT = {INPLACE: ", input if inplace else None, inplace", OUT: ", out", "": ""}


def row(name: str, params: str, body: str, **fields: Any) -> Op:
    """Returns a row of one input; `params` are names separated by spaces."""
    names = tuple(params.split())
    return Op(name, ", ".join(("input", *names)), body, params=names, **{"float_only": True, **fields})


def activation(
    row: Op, parameters: str, numbers: Numbers | None, doc: str, ending: str = INPLACE, name: str = "", **entry: Any
) -> Callable[..., Tensor]:
    """Registers the function of an activation row, or with `name` a further function of the same
    row.

    The function's parameters are the input, `parameters` (source text, as in a definition) and
    `ending`. `numbers(name, input, ...)` computes the row's params; `entry` holds arguments of
    `op`.
    """
    entry = {"namespace": SPACE, "rows": () if name else (row,), **entry}
    name = name or row.name
    declared = ", ".join(filter(None, ("input: Tensor", parameters, ending)))
    handed = ["NAME", "input", *(word.partition(":")[0] for word in parameters.split(", ") if word)]
    params = f"numbers({', '.join(handed)})" if numbers else "()"
    body = f"return pointwise(row, (input,), {params}{_RESULT[ending]})"
    scope: dict[str, Any] = {"__name__": __name__, "row": row, "numbers": numbers, "pointwise": pointwise}
    return op(**entry)(written(name, declared, body, doc, **scope))


def _check_scalars(name: str, input: Tensor, *numbers: float) -> tuple[float, ...]:
    input_dtype = tensor_argument(name, input)._dtype
    return tuple([fitted(name, x, input_dtype) for x in numbers])


def _as_compute_scalars(name: str, input: Tensor, *numbers: float) -> tuple[float, ...]:
    input_dtype = tensor_argument(name, input)._dtype
    return tuple([fitted(name, x, input_dtype.compute if input_dtype.kind == "f" else input_dtype) for x in numbers])


def _check_limits(name: str, input: Tensor, low: float, high: float) -> tuple[float, ...]:
    if low > high:
        raise errors_arithmetic.limits_swapped(name, low, high)
    if input.dtype.kind in "ui":  # limits lose their fractions before the check
        low, high = int(low), int(high)
    if input.dtype.kind == "u" and low < 0:
        raise errors_arithmetic.negative_limit(name, low, input.dtype)
    return _check_scalars(name, input, low, high)


def _elu(name: str, input: Tensor, alpha: float) -> tuple[float, ...]:
    return *_as_compute_scalars(name, input, alpha), 1.0, 1.0


def _celu(name: str, input: Tensor, alpha: float) -> tuple[float, ...]:
    if alpha == 0:
        raise errors_arithmetic.zero_alpha(name)
    (alpha,) = _as_compute_scalars(name, input, alpha)
    return alpha, 1.0, 1.0 / alpha


def _limit(name: str, input: Tensor, threshold: float, value: float) -> tuple[float, ...]:
    return _as_compute_scalars(name, input, threshold) + _check_scalars(name, input, value)


def _shrink(name: str, input: Tensor, lambd: float) -> tuple[float, ...]:
    if not lambd >= 0:
        raise errors_arithmetic.negative_lambda(name, lambd)
    return _check_scalars(name, input, lambd)


_CLAMPS: dict[str, Any] = {"float_only": False, "bool_": "", "refusal": errors_arithmetic.no_clamp}

RELU = row("relu", "", "a < K(0) ? K(0) : a", **_CLAMPS)
relu = activation(RELU, "", None, "Returns max(input, 0).")

HARDTANH = row("hardtanh", "low high", "a < low ? low : (a > high ? high : a)", **_CLAMPS)
hardtanh = activation(
    HARDTANH,
    "min_val: float = -1.0, max_val: float = 1.0",
    _check_limits,
    """The value brought into [min_val, max_val]; RuntimeError where min_val is the larger, or is
    negative for uint8.
    """,
)
relu6 = activation(
    HARDTANH,
    "",
    lambda name, input: _check_limits("hardtanh", input, 0.0, 6.0),
    "Limits the elements to [0, 6].",
    name="relu6",
)

LEAKY_RELU = row("leaky_relu", "slope", "a > K(0) ? a : a * slope")
leaky_relu = activation(
    LEAKY_RELU, "negative_slope: float = 0.01", _as_compute_scalars, "Multiplies negative elements by `negative_slope`."
)

SILU = row("silu", "", "a / (K(1) + exp(-a))", complex_="ft_cmul(a, ft_csigmoid(a))")
silu = activation(SILU, "", None, "Returns input * sigmoid(input).")

HARDSWISH = row("hardswish", "", "a * ft_within(a + K(3), K(0), K(6)) / K(6)")
hardswish = activation(HARDSWISH, "", None, "Returns input * hardsigmoid(input).")

HARDSIGMOID = row("hardsigmoid", "", "ft_within(a + K(3), K(0), K(6)) / K(6)")
hardsigmoid = activation(HARDSIGMOID, "", None, "Returns (input + 3) / 6, limited to [0, 1].")

ELU = row("elu", "negative scale input_scale", "a > K(0) ? a * scale : expm1(a * input_scale) * negative")
elu = activation(ELU, "alpha: float = 1.0", _elu, "Returns the element if it is positive, else alpha * expm1(element).")

MISH = row("mish", "", "a * ft_tanh(a > K(30) ? a : log1p(exp(a)))")
mish = activation(MISH, "", None, "Returns input * tanh(softplus(input)).")

selu = activation(
    ELU,
    "",
    lambda name, input: (SELU_ALPHA * SELU_SCALE, SELU_SCALE, 1.0),
    "Returns a scaled elu, whose scale keeps mean 0 and variance 1 of its input.",
    name="selu",
)
celu = activation(
    ELU,
    "alpha: float = 1.0",
    _celu,
    "Returns the element if it is positive, else alpha * expm1(element / alpha). RuntimeError for alpha 0.",
    name="celu",
)

THRESHOLD = row("threshold", "limit value", "a <= limit ? value : a", float_only=False, bool_="")


@op(namespace=SPACE, rows=(THRESHOLD,))
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Returns `value` where the input is not above `threshold`, else the input."""
    limits = _limit("threshold", input, threshold, value)
    if not inplace:
        return pointwise(THRESHOLD, (input,), limits)
    x = without_expanded_dims(input)  # torch accepts expanded tensors here
    pointwise(THRESHOLD, (x,), limits, x, True)
    return input


activation(
    THRESHOLD,
    "threshold: float, value: float",
    _limit,
    "In-place form of `threshold`.",
    OUT,
    "threshold",
    namespace="",
    method=False,
)

# The error of a runtime's erf is small compared with 1, and it is faster than ft_erf.
GELU = row("gelu", "", "K(0.5) * a * (K(1) + erf(a * K(0.70710678118654752440)))")
GELU_TANH = row("gelu", "", "K(0.5) * a * (K(1) + ft_tanh(K(0.79788456080286535588) * (a + K(0.044715) * a * a * a)))")


@op(namespace=SPACE, rows=(GELU, GELU_TANH))
def gelu(input: Tensor, *, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """Returns the input times the normal distribution function, or times its approximation by
    "tanh"."""
    if approximate not in ("none", "tanh"):
        raise errors_arithmetic.gelu_approximation(approximate)
    return pointwise(GELU if approximate == "none" else GELU_TANH, (input,), (), out)


SOFTPLUS = row("softplus", "beta limit", "a * beta > limit ? a : log1p(exp(a * beta)) / beta")
softplus = activation(
    SOFTPLUS,
    "beta: float = 1, threshold: float = 20",
    _as_compute_scalars,
    "Returns log(1 + exp(beta * input)) / beta; the input where beta * input > threshold.",
    OUT,
)

LOGSIGMOID = row("logsigmoid", "", "(a > K(0) ? K(0) : a) - log1p(exp(-fabs(a)))")


@op(namespace=SPACE, rows=(LOGSIGMOID,))
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns log(sigmoid(input)) in contiguous memory."""
    out = new_like(input, input._shape) if out is None else out
    return pointwise(LOGSIGMOID, (input,), (), out)


HARDSHRINK = row("hardshrink", "limit", "a >= -limit && a <= limit ? K(0) : a")
hardshrink = activation(
    HARDSHRINK,
    "lambd: float = 0.5",
    _check_scalars,
    "Replaces the elements in [-lambd, lambd] by 0.",
    OUT,
    namespace="",
)

SOFTSHRINK = row("softshrink", "limit", "a > limit ? a - limit : (a < -limit ? a + limit : a * K(0))")
softshrink = activation(
    SOFTSHRINK,
    "lambd: float = 0.5",
    _shrink,
    "Moves each element towards 0 by `lambd`, at most to 0. RuntimeError for a negative `lambd`.",
    OUT,
)

DIFFERENCE = Op("tanhshrink", "input, other", "a - b", complex_="ft_csub(a, b)")


@op(namespace=SPACE, rows=(DIFFERENCE,))
def tanhshrink(input: Tensor) -> Tensor:
    """Returns input - tanh(input)."""
    if tensor_argument("tanhshrink", input).dtype is bool_:
        raise errors.dtype_not_supported("tanhshrink", input.dtype)
    return pointwise(DIFFERENCE, (input, input.tanh()))


SOFTSIGN = row(
    "softsign",
    "",
    "a / (fabs(a) + K(1))",
    promote=Promote.INT_TO_FLOAT,
    refuses=("bool",),
    complex_="ft_cscale(a, K(1) / (ft_cabs(a) + K(1)))",
)
softsign = activation(SOFTSIGN, "", None, "Returns input / (1 + abs(input)).", "")


def _inplace_form(call: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def form(input: Tensor, *args: float, **kwargs: float) -> Tensor:
        return call_named(call, input, *args, inplace=True, **kwargs)

    form.__name__ = form.__qualname__ = call.__name__ + "_"
    show_types(call)
    form.__signature__ = signature_without(call, "inplace")  # type: ignore[attr-defined]
    form.__doc__ = f"In-place form of `{call.__name__}`."
    return form


def _parameter_names(call: Callable[..., Tensor], name: str) -> tuple[str, ...]:
    return (signature_text(name, call, without="inplace"),)


# torch has these under further names: at the top level, as methods (relu and hardshrink), in place.
register(Entry("hardshrink", hardshrink, method=False, namespace=SPACE))
for _call in (relu, hardtanh, leaky_relu, elu, selu, celu, threshold):
    _form = _inplace_form(_call)
    _word = _form.__name__
    _forms = _parameter_names(_call, f"{SPACE}.{_word}")
    register(Entry(_word, _form, method=False, forms=_forms, namespace=SPACE))
    describe(_form, _forms)
    if _call in (relu, selu, celu, threshold):
        if _call is not threshold:  # threshold has no `out` there
            register(Entry(_call.__name__, _call, method=_call is relu))
        register(Entry(_word, _form, method=_call is relu, forms=_parameter_names(_call, _word)))
