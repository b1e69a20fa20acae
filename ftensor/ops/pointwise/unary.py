"""Rows of one input: arithmetic, powers, exponentials, trigonometry, rounding, predicates."""

from __future__ import annotations

from typing import Any

from ... import dtypes, errors
from ..._tensor import Tensor
from ...execute.output import new_like
from ...execute.pointwise import pointwise
from ...rows.catalogue import Entry, enter, op, register
from ...rows.op import BARE, Op, Promote
from ..bind import add_rows


def row(name: str, doc: str, body: str, **fields: Any) -> Op:
    return Op(name, f"{name}(input, *, out=None) -> Tensor", body, doc=doc, **fields)


def floating(name: str, doc: str, body: str, complex_: str | None = None, **fields: Any) -> Op:
    return row(name, doc, body, complex_=complex_, promote=Promote.INT_TO_FLOAT, **fields)


def predicate(name: str, doc: str, body: str, **fields: Any) -> Op:
    return row(name, doc, body, promote=Promote.ALWAYS_BOOL, inplace=False, exact_out=True, **fields)


def rounding(name: str, doc: str, body: str, **fields: Any) -> Op:
    return row(name, doc, body, int_="a", bool_="", exact_out=True, bare="u", **fields)


_RUNTIME = errors.dtype_not_supported

ABS = row(
    "abs",
    "The absolute value; of a complex number, its distance from 0.",
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
    "The value with its sign turned.",
    "-a",
    int_="-a",
    bool_="",
    complex_="ft_cneg(a)",
    exact_out=True,
    refusal=_RUNTIME,
    operators=("__neg__",),
    aliases=("negative",),
    bare="h",
)
SIGN = row(
    "sign",
    "1, 0 or -1, as the value is above, at or below 0.",
    "a > K(0) ? K(1) : (a < K(0) ? K(-1) : K(0))",
    bool_="a",
    exact_out=True,
)
SGN = row(
    "sgn",
    "The sign; of a complex number, the number of magnitude 1 in its direction.",
    SIGN.body,
    bool_="a",
    complex_="ft_csgn(a)",
    exact_out=True,
    bare="h",
)
ANGLE = row(
    "angle",
    "The angle to the positive real axis, in radians.",
    "a < K(0) ? K(FT_PI) : (a != a ? a : K(0))",
    complex_="ft_carg(a)",
    promote=Promote.FLOAT_REAL,
    inplace=False,
)
CONJ = row("conj_physical", "The complex conjugate.", "a", complex_="ft_cmake(a.re, -a.im)", exact_out=True, bare=BARE)
SQUARE = row("square", "The value times itself.", "a * a", complex_="ft_cmul(a, a)")

ARITHMETIC = [
    ABS,
    NEG,
    SIGN,
    SGN,
    floating("reciprocal", "1 divided by the value.", "K(1) / a", "ft_crecip(a)"),
    floating("sqrt", "The square root.", "sqrt(a)", "ft_csqrt(a)"),
    floating("rsqrt", "1 divided by the square root.", "K(1) / sqrt(a)", "ft_crecip(ft_csqrt(a))"),
    floating("deg2rad", "Degrees as radians.", "a * K(FT_PI / 180)", refusal=_RUNTIME),
    floating("rad2deg", "Radians as degrees.", "a * K(180 / FT_PI)", refusal=_RUNTIME),
]

EXPONENTIAL = [
    floating("exp", "e to the power of the value.", "exp(a)", "ft_cexp(a)"),
    floating("exp2", "2 to the power of the value.", "exp2(a)", "ft_cexp(ft_cscale(a, K(FT_LN2)))"),
    floating("expm1", "exp(input) - 1, accurate near 0.", "expm1(a)", "ft_cexpm1(a)"),
    floating("log", "The natural logarithm.", "log(a)", "ft_clog(a)"),
    floating("log2", "The logarithm to base 2.", "log2(a)", "ft_cshare(ft_clog(a), K(FT_LN2))"),
    floating("log10", "The logarithm to base 10.", "log10(a)", "ft_cshare(ft_clog(a), K(2.30258509299404568402))"),
    floating("log1p", "log(1 + input), accurate near 0.", "log1p(a)", "ft_clog1p(a)"),
    floating("sigmoid", "1 / (1 + exp(-input)).", "K(1) / (K(1) + exp(-a))", "ft_csigmoid(a)"),
]

TRIGONOMETRY = [
    floating("sin", "The sine.", "ft_sin(a)", "ft_csin(a)"),
    floating("cos", "The cosine.", "ft_cos(a)", "ft_ccos(a)"),
    floating("tan", "The tangent.", "ft_tan(a)", "ft_ctan(a)"),
    floating("asin", "The arc sine.", "ft_asin(a)", "ft_casin(a)", aliases=("arcsin",)),
    floating("acos", "The arc cosine.", "ft_acos(a)", "ft_cacos(a)", aliases=("arccos",)),
    floating("atan", "The arc tangent.", "ft_atan(a)", "ft_catan(a)", aliases=("arctan",)),
    floating("sinh", "The hyperbolic sine.", "sinh(a)", "ft_csinh(a)"),
    floating("cosh", "The hyperbolic cosine.", "cosh(a)", "ft_ccosh(a)"),
    floating("tanh", "The hyperbolic tangent.", "ft_tanh(a)", "ft_ctanh(a)"),
    floating("asinh", "The inverse hyperbolic sine.", "asinh(a)", "ft_casinh(a)", aliases=("arcsinh",)),
    floating("acosh", "The inverse hyperbolic cosine.", "acosh(a)", "ft_cacosh(a)", aliases=("arccosh",)),
    floating("atanh", "The inverse hyperbolic tangent.", "atanh(a)", "ft_catanh(a)", aliases=("arctanh",)),
    floating(
        "sinc",
        "sin(pi * input) / (pi * input), and 1 at 0.",
        "a == K(0) ? K(1) : ft_sin(K(FT_PI) * a) / (K(FT_PI) * a)",
        "ft_csinc(a)",
    ),
]

ROUND = rounding("round", "The nearest whole number; of two, the even one.", "rint(a)")
ROUNDING = [
    rounding("ceil", "The smallest whole number not below the value.", "ceil(a)"),
    rounding("floor", "The largest whole number not above the value.", "floor(a)"),
    rounding("trunc", "The whole part of the value.", "trunc(a)", aliases=("fix",)),
    row("frac", "What trunc takes away.", "a - trunc(a)", float_only=True, exact_out=True),
]

ISNAN = predicate(
    "isnan", "Whether the value is not a number.", "a != a", bare=BARE, complex_="a.re != a.re || a.im != a.im"
)
_NO_INFINITY = ("float8_e4m3fn",)
ISINF = predicate(
    "isinf",
    "Whether the value is infinite.",
    "ft_isinf(a)",
    int_="a != a",
    complex_="ft_isinf(a.re) || ft_isinf(a.im)",
    bare=BARE,
    refuses=_NO_INFINITY,
)
ISFINITE = predicate(
    "isfinite",
    "Whether the value is neither infinite nor NaN.",
    "ft_isfinite(a)",
    int_="a == a",
    bare=BARE,
    refuses=_NO_INFINITY,
    complex_="ft_isfinite(a.re) && ft_isfinite(a.im)",
)
ISREAL = predicate("isreal", "Whether the imaginary part is 0.", "a == a || a != a", bare=BARE, complex_="a.im == K(0)")
PREDICATES = [
    predicate("isposinf", "Whether the value is infinity.", "a == K(INFINITY)", int_="a != a",
              refusal=_RUNTIME, bare="u"),
    predicate("isneginf", "Whether the value is minus infinity.", "a == K(-INFINITY)",
              int_="a != a", refusal=_RUNTIME, bare="u"),
    predicate("signbit", "Whether the sign bit is set, as it is for -0.", "ft_signbit(a)",
              int_="a < K(0)", bare="u"),
    row("logical_not", "Whether the value is 0.", "a == K(0)",
        complex_="a.re == K(0) && a.im == K(0)", promote=Promote.ALWAYS_BOOL),
    row("bitwise_not", "Every bit turned; for bool, logical not.", "", int_="~a",
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

    def call(input: Tensor) -> Tensor:
        return pointwise(test, (input,))

    call.__name__ = call.__qualname__ = test.name
    call.__doc__ = test.doc
    op(rows=(test,))(call)


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
