"""Rows of one input: arithmetic, powers, exponentials, trigonometry, rounding, predicates."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...errors import arithmetic as errors_arithmetic
from ...execute.output import new_like
from ...execute.pointwise import pointwise
from ...rows.catalogue import Entry, enter, op, register
from ...rows.op import BARE, Op, Promote
from ...rows.spelling import named
from ..bind import add_rows


def row(name: str, doc: str, body: str, **fields: Any) -> Op:
    return Op(name, "input", body, doc=doc, **fields)


def floating(name: str, doc: str, body: str, complex_: str | None = None, **fields: Any) -> Op:
    return row(name, doc, body, complex_=complex_, promote=Promote.INT_TO_FLOAT, **fields)


def predicate(name: str, doc: str, body: str, **fields: Any) -> Op:
    return row(name, doc, body, promote=Promote.ALWAYS_BOOL, inplace=False, exact_out=True, **fields)


def rounding(name: str, doc: str, body: str, **fields: Any) -> Op:
    return row(name, doc, body, int_="a", bool_="", exact_out=True, **fields)


_RUNTIME = errors.dtype_not_supported

ABS = row(
    "abs",
    "Returns the absolute value; for a complex number, its magnitude.",
    "ft_abs(a)",
    int_="ft_abs(a)",
    bool_="",
    complex_="ft_cabs(a)",
    promote=Promote.COMPLEX_TO_REAL,
    exact_out=True,
    inplace=False,
    operators=("__abs__",),
    aliases=("absolute",),
    bare="8h",
)
NEG = row(
    "neg",
    "Returns -input.",
    "-a",
    int_="-a",
    bool_="",
    complex_="ft_cneg(a)",
    exact_out=True,
    refusal=errors_arithmetic.bool_negation,
    operators=("__neg__",),
    aliases=("negative",),
    bare="h",
)
SIGN = row(
    "sign",
    "Returns 1 for positive elements, -1 for negative ones, else 0.",
    "a > K(0) ? K(1) : (a < K(0) ? K(-1) : K(0))",
    bool_="a",
    exact_out=True,
)
SGN = row(
    "sgn",
    "Returns the sign; for a complex number, the number of magnitude 1 with its angle.",
    SIGN.body,
    bool_="a",
    complex_="ft_csgn(a)",
    exact_out=True,
    bare="h",
)
ANGLE = row(
    "angle",
    "Returns the angle to the positive real axis, in radians.",
    "a < K(0) ? K(FT_PI) : (a != a ? a : K(0))",
    complex_="ft_carg(a)",
    promote=Promote.FLOAT_REAL,
    inplace=False,
)
CONJ = row(
    "conj_physical", "Returns the complex conjugate.", "a", complex_="ft_cmake(a.re, -a.im)", exact_out=True, bare=BARE
)
SQUARE = row("square", "Returns input * input.", "a * a", complex_="ft_cmul(a, a)")

ARITHMETIC = [
    ABS,
    NEG,
    SIGN,
    SGN,
    floating("reciprocal", "Returns 1 / input.", "K(1) / a", "ft_crecip(a)"),
    floating("sqrt", "Returns the square root.", "sqrt(a)", "ft_csqrt(a)"),
    floating("rsqrt", "Returns 1 / sqrt(input).", "K(1) / sqrt(a)", "ft_crecip(ft_csqrt(a))"),
    floating("deg2rad", "Converts degrees to radians.", "a * K(FT_PI / 180)", refusal=_RUNTIME),
    floating("rad2deg", "Converts radians to degrees.", "a * K(180 / FT_PI)", refusal=_RUNTIME),
]

EXPONENTIAL = [
    floating("exp", "Returns e ** input.", "exp(a)", "ft_cexp(a)"),
    floating("exp2", "Returns 2 ** input.", "exp2(a)", "ft_cexp(ft_cscale(a, K(FT_LN2)))"),
    floating("expm1", "Returns exp(input) - 1, accurate near 0.", "expm1(a)", "ft_cexpm1(a)"),
    floating("log", "Returns the natural logarithm.", "log(a)", "ft_clog(a)"),
    floating("log2", "Returns the logarithm to base 2.", "log2(a)", "ft_cshare(ft_clog(a), K(FT_LN2))"),
    floating(
        "log10", "Returns the logarithm to base 10.", "log10(a)", "ft_cshare(ft_clog(a), K(2.30258509299404568402))"
    ),
    floating("log1p", "Returns log(1 + input), accurate near 0.", "log1p(a)", "ft_clog1p(a)"),
    floating("sigmoid", "Returns 1 / (1 + exp(-input)).", "K(1) / (K(1) + exp(-a))", "ft_csigmoid(a)"),
]

TRIGONOMETRY = [
    floating("sin", "Returns the sine.", "ft_sin(a)", "ft_csin(a)"),
    floating("cos", "Returns the cosine.", "ft_cos(a)", "ft_ccos(a)"),
    floating("tan", "Returns the tangent.", "ft_tan(a)", "ft_ctan(a)"),
    floating("asin", "Returns the arc sine.", "ft_asin(a)", "ft_casin(a)", aliases=("arcsin",)),
    floating("acos", "Returns the arc cosine.", "ft_acos(a)", "ft_cacos(a)", aliases=("arccos",)),
    floating("atan", "Returns the arc tangent.", "ft_atan(a)", "ft_catan(a)", aliases=("arctan",)),
    floating("sinh", "Returns the hyperbolic sine.", "sinh(a)", "ft_csinh(a)"),
    floating("cosh", "Returns the hyperbolic cosine.", "cosh(a)", "ft_ccosh(a)"),
    floating("tanh", "Returns the hyperbolic tangent.", "ft_tanh(a)", "ft_ctanh(a)"),
    floating("asinh", "Returns the inverse hyperbolic sine.", "asinh(a)", "ft_casinh(a)", aliases=("arcsinh",)),
    floating("acosh", "Returns the inverse hyperbolic cosine.", "acosh(a)", "ft_cacosh(a)", aliases=("arccosh",)),
    floating("atanh", "Returns the inverse hyperbolic tangent.", "atanh(a)", "ft_catanh(a)", aliases=("arctanh",)),
    floating(
        "sinc",
        "Returns sin(pi * input) / (pi * input), and 1 at 0.",
        "a == K(0) ? K(1) : ft_sin(K(FT_PI) * a) / (K(FT_PI) * a)",
        "ft_csinc(a)",
    ),
]

ROUND = rounding("round", "Returns the nearest integer, the even one of two equally near.", "rint(a)")
ROUNDING = [
    rounding("ceil", "Returns the smallest integer that is not below the element.", "ceil(a)"),
    rounding("floor", "Returns the largest integer that is not above the element.", "floor(a)"),
    rounding("trunc", "Returns the element rounded towards 0.", "trunc(a)", aliases=("fix",)),
    row(
        "frac",
        "Returns the fraction, `input - trunc(input)`, with the sign of the input.",
        "a - trunc(a)",
        float_only=True,
        exact_out=True,
    ),
]

ISNAN = predicate(
    "isnan",
    "Returns True where the value is not a number.",
    "a != a",
    bare=BARE,
    complex_="a.re != a.re || a.im != a.im",
)
_NO_INFINITY = ("float8_e4m3fn",)
ISINF = predicate(
    "isinf",
    "Returns True where the value is infinite.",
    "ft_isinf(a)",
    int_="a != a",
    complex_="ft_isinf(a.re) || ft_isinf(a.im)",
    bare=BARE,
    refuses=_NO_INFINITY,
)
ISFINITE = predicate(
    "isfinite",
    "Returns True where the value is neither infinite nor NaN.",
    "ft_isfinite(a)",
    int_="a == a",
    bare=BARE,
    refuses=_NO_INFINITY,
    complex_="ft_isfinite(a.re) && ft_isfinite(a.im)",
)
ISREAL = predicate(
    "isreal", "Returns True where the imaginary part is 0.", "a == a || a != a", bare=BARE, complex_="a.im == K(0)"
)
PREDICATES = [
    predicate("isposinf", "Returns True where the value is infinity.", "a == K(INFINITY)", int_="a != a",
              refusal=_RUNTIME),
    predicate("isneginf", "Returns True where the value is minus infinity.", "a == K(-INFINITY)",
              int_="a != a", refusal=_RUNTIME),
    predicate("signbit", "Returns True where the sign bit is set, which includes -0.", "ft_signbit(a)",
              int_="a < K(0)"),
    row("logical_not", "Returns True where the element is 0.", "a == K(0)",
        complex_="a.re == K(0) && a.im == K(0)", promote=Promote.ALWAYS_BOOL),
    row("bitwise_not", "Returns the bits inverted; for bool, logical not.", "", int_="~a",
        bool_="a ^ K(1)", exact_out=True, operators=("__invert__",)),
]  # fmt: skip

enter(__name__, ABS, NEG, SIGN, SGN, ANGLE, CONJ, SQUARE)
add_rows([*ARITHMETIC, *EXPONENTIAL, *TRIGONOMETRY], __name__)
enter(__name__, ROUND)
add_rows(ROUNDING, __name__)
enter(__name__, ISNAN, ISINF, ISFINITE, ISREAL)
add_rows(PREDICATES, __name__)


def tensor_argument(function: str, input: Any) -> Tensor:
    if type(input) is not Tensor:
        raise errors.needs_a_tensor(function, (input,))
    return input


def _no_out(test: Op) -> None:
    """Registers a predicate without `out=`, as in torch."""

    @op(rows=(test,))
    @named(test.name, test.doc)
    def call(input: Tensor) -> Tensor:
        return pointwise(test, (input,))


for _test in (ISNAN, ISINF, ISFINITE, ISREAL):
    _no_out(_test)


@op(name="abs_", aliases=("absolute_",))
def _abs_(input: Tensor) -> Tensor:
    """In-place form of `abs`. Raises RuntimeError for complex tensors, whose result is real."""
    if input.dtype.is_complex:
        raise errors.dtype_not_supported("abs_", input.dtype)
    return pointwise(ABS, (input,), (), input, True)


@op(rows=(ANGLE,))
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the angle to the positive real axis, in radians; 0 or pi for a real number. The
    angles of complex numbers have contiguous memory."""
    dtype = tensor_argument("angle", input).dtype
    if dtype.is_complex and out is None:
        out = new_like(input, input._shape, dtype.to_real())
    return pointwise(ANGLE, (input,), (), out)


@op(rows=(CONJ,))
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the complex conjugate; a real tensor itself."""
    if out is None and not tensor_argument("conj_physical", input).dtype.is_complex:
        return input
    return pointwise(CONJ, (input,), (), out)


@op()
def conj_physical_(input: Tensor) -> Tensor:
    """In-place form of `conj_physical`."""
    return pointwise(CONJ, (input,), (), input, True) if input.dtype.is_complex else input


@op(inplace=True, rows=(SQUARE,))
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Returns the square of each element. A bool input gives int64."""
    if tensor_argument("square", input).dtype is dtypes.bool:
        input = input.to(dtypes.int64)
    return pointwise(SQUARE, (input,), (), out)


@op()
def positive(input: Tensor) -> Tensor:
    """Returns the tensor itself. Raises RuntimeError for bool."""
    if tensor_argument("positive", input).dtype is dtypes.bool:
        raise errors.dtype_not_supported("positive", input.dtype)
    return input


register(Entry("__pos__", positive, function=False))


@op()
def conj(input: Tensor) -> Tensor:
    """Returns the complex conjugate; a real tensor itself."""
    return pointwise(CONJ, (input,)) if tensor_argument("conj", input).dtype.is_complex else input


@op()
def resolve_conj(input: Tensor) -> Tensor:
    """Returns the tensor itself, since `conj` computes at once."""
    return tensor_argument("resolve_conj", input)


@op()
def resolve_neg(input: Tensor) -> Tensor:
    """Returns the tensor itself, since no view is negated lazily."""
    return tensor_argument("resolve_neg", input)
