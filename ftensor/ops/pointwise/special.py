"""Special functions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ... import errors, return_types
from ..._tensor import Tensor
from ...dtypes import int32
from ...dtypes.limits import finfo
from ...errors import arithmetic as errors_arithmetic
from ...execute.pointwise import pointwise, write_result
from ...execute.scalars import as_float
from ...rows.catalogue import Entry, add_to_namespace, enter, op, register
from ...rows.op import Op, Promote
from ...rows.spelling import describe
from ..bind import add_rows
from ..view.layout import as_int
from .unary import ROUND, floating, tensor_argument

_HALVES = ("float16", "bfloat16")
_Z = "a * K(0.70710678118654752440)"


def special(name: str, doc: str, body: str, **fields: Any) -> Op:
    return floating(name, doc, body, namespace="special", **fields)


DIGAMMA = floating("digamma", "Returns the logarithmic derivative of the gamma function.", "ftx_digamma(a)")
LOGIT = floating("logit", "", "log(ftb_narrow(a / ftb_narrow(K(1) - a)))")
LOGIT_EPS = Op(
    "logit",
    "input, eps",
    "log(ftb_narrow(x / ftb_narrow(K(1) - x)))",
    promote=Promote.INT_TO_FLOAT,
    params=("eps",),
    lets=(("x", "ft_within(a, eps, K(1) - eps)"),),
)
ROUND_RIGHT = Op("round", "input, scale", "rint(a * scale) / scale", float_only=True, params=("scale",), exact_out=True)
ROUND_LEFT = Op("round", "input, scale", "rint(a / scale) * scale", float_only=True, params=("scale",), exact_out=True)
_NUMBER = "{0} != {0} ? {1} : ({0} == K(INFINITY) ? {2} : ({0} == K(-INFINITY) ? {3} : {0}))"
NAN_TO_NUM = Op(
    "nan_to_num",
    "input, nan, posinf, neginf",
    _NUMBER.format("a", "nan", "posinf", "neginf"),
    int_="a",
    complex_=(
        f"ft_cmake({_NUMBER.format('a.re', 'nan.re', 'posinf.re', 'neginf.re')}, "
        f"{_NUMBER.format('a.im', 'nan.re', 'posinf.re', 'neginf.re')})"
    ),
    params=("nan", "posinf", "neginf"),
)
enter(__name__, LOGIT, LOGIT_EPS, ROUND_RIGHT, ROUND_LEFT, NAN_TO_NUM)
add_rows(
    [
        floating("erf", "Returns the error function.", "ft_erf(a)"),
        floating("erfc", "Returns 1 - erf(input), accurate where that is small.", "erfc(a)"),
        floating("erfinv", "Returns the inverse of erf on [-1, 1].", "ftx_erfinv(a)"),
        floating("lgamma", "Returns the logarithm of the gamma function's magnitude.", "lgamma(a)"),
        DIGAMMA,
        floating("i0", "Returns the modified Bessel function of order 0.", "ftx_i0(a)"),
        special("i0e", "Returns exp(-|input|) * i0(input).", "ftx_i0e(a)"),
        special("i1", "Returns the modified Bessel function of order 1.", "ftx_i1(a)"),
        special("i1e", "Returns exp(-|input|) * i1(input).", "ftx_i1e(a)"),
        special("entr", "Returns -input * log(input), a term of the entropy.", "ftx_entr(a)"),
        special(
            "ndtr",
            "Returns the normal distribution function.",
            # Half precision is rounded step by step, as in torch; other dtypes have an accurate
            # left tail.
            f"FT_DROPPED_BITS ? K(0.5) * ftb_narrow(K(1) + ftb_narrow(ft_erf(ftb_narrow({_Z})))) "
            f": K(0.5) * erfc(-{_Z})",
        ),
        special("log_ndtr", "Returns log(ndtr(input)).", "ftx_log_ndtr(a)", refuses=_HALVES),
        special("ndtri", "Returns the inverse of ndtr.", "ftx_ndtri(a)", refuses=_HALVES),
        special("erfcx", "Returns exp(input * input) * erfc(input).", "ftx_erfcx(a)", refuses=_HALVES),
    ],
    __name__,
)


@op(inplace=True, rows=(LOGIT, LOGIT_EPS))
def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns log(x / (1 - x)); with `eps`, x is first clamped to [eps, 1 - eps]."""
    if eps is None:
        return pointwise(LOGIT, (input,), (), out)
    return pointwise(LOGIT_EPS, (input,), (eps,), out)


@op(inplace=True, rows=(ROUND, ROUND_RIGHT, ROUND_LEFT))
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Returns the nearest number with `decimals` decimals (negative: zeros before the point); of
    two, the one with the even last digit. Raises TypeError for `decimals` that are no int."""
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
    """Replaces NaN by `nan` (0) and the infinities by `posinf` and `neginf` (the dtype's largest
    and smallest number)."""
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


# Further names in ft.special of functions that have their own.
_ALSO_SPECIAL = "erf erfc erfinv exp2 expm1 log1p sinc round logit i0 digamma"
add_to_namespace("special", *_ALSO_SPECIAL.split(), psi="digamma", gammaln="lgamma", expit="sigmoid")
add_to_namespace("nn.functional", "sigmoid", "tanh")


CATEGORY = "special"


def _wide(name: str, doc: str, body: str, parameters: str = "input") -> Op:
    """Returns the row of a function that torch lacks in 16 bits and in place."""
    return replace(special(name, doc, body, refuses=_HALVES, inplace=False), parameters=parameters)


def _polynomial(name: str, doc: str, body: str) -> Op:
    """Returns the row of orthogonal polynomials of x, whose degree is the second input."""
    doc = f"Returns {doc} n is rounded towards 0; for a negative n the result is 0."
    return _wide(name, doc, body, "x, n")


def _polynomials() -> Iterator[Op]:
    for kind, word in zip("tuvw", ("first", "second", "third", "fourth")):
        name, doc = f"chebyshev_polynomial_{kind}", f"Chebyshev's polynomial of the {word} kind of degree n"
        yield _polynomial(name, f"{doc}.", f"fto_chebyshev_{kind}(a, b)")
        yield _polynomial(f"shifted_{name}", f"{doc} of 2 x - 1.", f"fto_chebyshev_{kind}(a + a - K(1), b)")
    yield _polynomial("hermite_polynomial_h", "Hermite's polynomial H of degree n.", "fto_hermite_h(a, b)")
    yield _polynomial("hermite_polynomial_he", "Hermite's polynomial He of degree n.", "fto_hermite_he(a, b)")
    yield _polynomial("laguerre_polynomial_l", "Laguerre's polynomial of degree n.", "fto_laguerre(a, b)")
    yield _polynomial("legendre_polynomial_p", "Legendre's polynomial of degree n.", "fto_legendre(a, b)")


_INCOMPLETE = [
    Op(
        name,
        "input, other",
        f"ftg_{side}(a, b)",
        doc=f"Returns the regularized {side} incomplete gamma function of order `input` at `other`; NaN if one is < 0.",
        float_only=True,
        tensors=(0, 1),
    )
    for name, side in (("igamma", "lower"), ("igammac", "upper"))
]
ZETA = _wide(
    "zeta",
    "Returns Hurwitz' zeta function: the sum of (other + k) ** -input over all k from 0.",
    "ftx_zeta(a, b)",
    "input, other",
)
POLYGAMMA = Op(
    "polygamma",
    "input, n, factor",
    "factor * ftx_zeta(n + K(1), a)",
    params=("n", "factor"),
    promote=Promote.INT_TO_FLOAT,
)
TRIGAMMA = Op("polygamma", "input", "ftx_trigamma(a)", promote=Promote.INT_TO_FLOAT)
MANTISSA = Op("frexp", "input", "ftx_mantissa(a)", float_only=True)
EXPONENT = Op("frexp", "input", "ftx_exponent(a)", float_only=True)
add_rows(
    [
        ZETA,
        _wide("bessel_j0", "Returns the Bessel function of the first kind of order 0.", "ftk_j0(a)"),
        _wide("bessel_j1", "Returns the Bessel function of the first kind of order 1.", "ftk_j1(a)"),
        _wide("bessel_y0", "Returns the Bessel function of the second kind of order 0.", "ftk_y0(a)"),
        _wide("bessel_y1", "Returns the Bessel function of the second kind of order 1.", "ftk_y1(a)"),
        _wide("modified_bessel_i0", "Returns the modified Bessel function of order 0.", "ftx_i0(a)"),
        _wide("modified_bessel_i1", "Returns the modified Bessel function of order 1.", "ftx_i1(a)"),
        _wide("modified_bessel_k0", "Returns the modified Bessel function of the second kind of order 0.", "ftk_k0(a)"),
        _wide("modified_bessel_k1", "Returns the modified Bessel function of the second kind of order 1.", "ftk_k1(a)"),
        _wide("scaled_modified_bessel_k0", "Returns exp(x) * modified_bessel_k0(x).", "ftk_k0e(a)", "x"),
        _wide("scaled_modified_bessel_k1", "Returns exp(x) * modified_bessel_k1(x).", "ftk_k1e(a)", "x"),
        _wide(
            "spherical_bessel_j0",
            "Returns the spherical Bessel function of order 0: sin(x) / x.",
            "a == K(0) ? K(1) : (ft_isinf(a) ? K(0) : ft_sin(a) / a)",
            "x",
        ),
        _wide("airy_ai", "Returns Airy's function Ai; NaN at the infinities.", "ftk_airy(a)", "x"),
        *_INCOMPLETE,
        *_polynomials(),
    ],
    __name__,
)


def _method(input: Tensor, n: int) -> Tensor:
    return polygamma(n, input)


def _inplace(input: Tensor, n: int) -> Tensor:
    """In-place form of `polygamma`."""
    return polygamma(n, input, out=input)


@op(rows=(POLYGAMMA, TRIGAMMA), method=_method)
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the derivative of order n of digamma: (-1) ** (n + 1) * n! * zeta(n + 1, input) for n
    > 0. Raises RuntimeError for a negative n."""
    if not isinstance(n, int):
        raise errors.argument_type("polygamma", "n", "an int", n)
    if n < 0:
        raise errors_arithmetic.negative_order("polygamma", n)
    if n == 0:
        return pointwise(DIGAMMA, (input,), (), out)
    if n == 1:
        return pointwise(TRIGAMMA, (input,), (), out)
    # beyond 170 the factorial exceeds float64
    factor = float(math.factorial(n)) if n <= 170 else math.inf
    return pointwise(POLYGAMMA, (input,), (float(n), factor if n % 2 else -factor), out)


@op(rows=(MANTISSA, EXPONENT))
def frexp(input: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """Returns (mantissa, exponent) with mantissa * 2 ** exponent equal to the input, the mantissa's
    absolute value in [0.5, 1), the exponent int32. 0 and non-finite numbers have the exponent 0.
    Raises RuntimeError for integers."""
    if not tensor_argument("frexp", input)._dtype.is_floating_point:
        raise errors.floating_only("frexp", input._dtype)
    results = pointwise(MANTISSA, (input,)), pointwise(EXPONENT, (input,)).to(int32)
    if out is not None:
        results = write_result("frexp", out[0], results[0]), write_result("frexp", out[1], results[1])
    return return_types.frexp(results)


describe(_inplace, register(Entry("polygamma_", _inplace, function=False)).forms)
add_to_namespace("special", "polygamma", gammainc="igamma", gammaincc="igammac")
