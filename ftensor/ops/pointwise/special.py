"""Special functions of one input, rows with parameters, and the names under ft.special."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from ...dtypes.limits import finfo
from ...execute.pointwise import pointwise
from ...rows.catalogue import also_in, enter, op
from ...rows.op import Op, Promote
from ..bind import add_rows
from ..user_values import as_float
from ..view.arguments import as_int
from .unary import ROUND, floating, tensor_argument

_HALVES = ("float16", "bfloat16")
_Z = "a * K(0.70710678118654752440)"


def special(name: str, doc: str, body: str, **more: Any) -> Op:
    """A row under ft.special."""
    return floating(name, doc, body, namespace="special", **more)


DIGAMMA = floating("digamma", "The logarithmic derivative of the gamma function.", "ftx_digamma(a)")
LOGIT = floating("logit", "", "log(ftb_narrow(a / ftb_narrow(K(1) - a)))")
LOGIT_EPS = Op(
    "logit",
    "logit(input, eps, *, out=None) -> Tensor",
    "log(ftb_narrow(x / ftb_narrow(K(1) - x)))",
    promote=Promote.INT_TO_FLOAT,
    params=("eps",),
    lets=(("x", "ft_within(a, eps, K(1) - eps)"),),
)
ROUND_RIGHT = Op(
    "round",
    "round(input, scale, *, out=None) -> Tensor",
    "rint(a * scale) / scale",
    float_only=True,
    params=("scale",),
    exact_out=True,
)
ROUND_LEFT = Op(
    "round",
    "round(input, scale, *, out=None) -> Tensor",
    "rint(a / scale) * scale",
    float_only=True,
    params=("scale",),
    exact_out=True,
)
_NUMBER = "{0} != {0} ? {1} : ({0} == K(INFINITY) ? {2} : ({0} == K(-INFINITY) ? {3} : {0}))"
NAN_TO_NUM = Op(
    "nan_to_num",
    "nan_to_num(input, nan, posinf, neginf, *, out=None) -> Tensor",
    _NUMBER.format("a", "nan", "posinf", "neginf"),
    int_="a",
    bare="u",
    complex_=(
        f"ft_cmake({_NUMBER.format('a.re', 'nan.re', 'posinf.re', 'neginf.re')}, "
        f"{_NUMBER.format('a.im', 'nan.re', 'posinf.re', 'neginf.re')})"
    ),
    params=("nan", "posinf", "neginf"),
)
enter(__name__, LOGIT, LOGIT_EPS, ROUND_RIGHT, ROUND_LEFT, NAN_TO_NUM)
add_rows(
    [
        floating("erf", "The error function.", "ft_erf(a)"),
        floating("erfc", "1 - erf(input), accurate where that is small.", "erfc(a)"),
        floating("erfinv", "The inverse of erf on [-1, 1].", "ftx_erfinv(a)"),
        floating("lgamma", "The logarithm of the gamma function's magnitude.", "lgamma(a)"),
        DIGAMMA,
        floating("i0", "The modified Bessel function of order 0.", "ftx_i0(a)"),
        special("i0e", "exp(-|input|) * i0(input).", "ftx_i0e(a)"),
        special("i1", "The modified Bessel function of order 1.", "ftx_i1(a)"),
        special("i1e", "exp(-|input|) * i1(input).", "ftx_i1e(a)"),
        special("entr", "-input * log(input), the summand of entropy.", "ftx_entr(a)"),
        special(
            "ndtr",
            "The normal distribution function.",
            # In halves as torch rounds it, step by step; elsewhere with an accurate left tail.
            f"FT_DROPPED_BITS ? K(0.5) * ftb_narrow(K(1) + ftb_narrow(ft_erf(ftb_narrow({_Z})))) "
            f": K(0.5) * erfc(-{_Z})",
        ),
        special("log_ndtr", "log(ndtr(input)).", "ftx_log_ndtr(a)", refuses=_HALVES),
        special("ndtri", "The inverse of ndtr.", "ftx_ndtri(a)", refuses=_HALVES),
        special("erfcx", "exp(input * input) * erfc(input).", "ftx_erfcx(a)", refuses=_HALVES),
    ],
    __name__,
)


@op(inplace=True, rows=(LOGIT, LOGIT_EPS))
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Log(x / (1 - x)); with `eps`, x is first brought into [eps, 1 - eps]."""
    if eps is None:
        return pointwise(LOGIT, (input,), (), out)
    return pointwise(LOGIT_EPS, (input,), (eps,), out)


@op(inplace=True, rows=(ROUND, ROUND_RIGHT, ROUND_LEFT))
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest number with so many decimals (negative: so many zeros before the point); of two,
    the one with the even last digit. TypeError for `decimals` that are no int.
    """
    decimals = as_int(decimals, "round", "decimals")
    if decimals == 0:
        return pointwise(ROUND, (input,), (), out)
    scale = 10.0 ** abs(decimals) if abs(decimals) <= 308 else float("inf")
    return pointwise(ROUND_RIGHT if decimals > 0 else ROUND_LEFT, (input,), (scale,), out)


@op(inplace=True, rows=(NAN_TO_NUM,))
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """NaN and the infinities replaced, by 0 and the dtype's largest and smallest number unless
    told otherwise.
    """
    dtype = tensor_argument("nan_to_num", input).dtype
    nan, posinf, neginf = (
        as_float("nan_to_num", word, value) for word, value in (("nan", nan), ("posinf", posinf), ("neginf", neginf))
    )
    if dtype.is_floating_point or dtype.is_complex:
        limits = finfo(dtype.to_real())
        posinf = limits.max if posinf is None else posinf
        neginf = limits.min if neginf is None else neginf
        params = (0.0 if nan is None else nan, posinf, neginf)
    elif out is input:
        return input
    else:
        params = (0, 0, 0)
    return pointwise(NAN_TO_NUM, (input,), params, out)


# ft.special's names for functions that have one of their own.
_ALSO_SPECIAL = "erf erfc erfinv exp2 expm1 log1p sinc round logit i0 digamma"
also_in("special", *_ALSO_SPECIAL.split(), psi="digamma", gammaln="lgamma", expit="sigmoid")
also_in("nn.functional", "sigmoid", "tanh")
