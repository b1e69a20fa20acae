"""Bessel functions, what is akin to gamma and zeta, polynomials, and numbers taken apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ... import errors, return_types
from ..._tensor import Tensor
from ...dtypes import int32
from ...errors import unary as errors_unary
from ...execute.copy import into
from ...execute.pointwise import pointwise
from ...rows.catalogue import Entry, also_in, op, register
from ...rows.op import Op, Promote
from ...rows.spelling import describe
from ..bind import add_rows
from .special import _HALVES, DIGAMMA, special
from .unary import tensor_argument

CATEGORY = "special"


def _bessel(name: str, doc: str, body: str, of: str = "input") -> Op:
    row = special(name, doc, body, refuses=_HALVES, inplace=False)
    return replace(row, signature=row.signature.replace("input", of))


def _polynomials() -> Iterator[Op]:
    """Orthogonal polynomials of x whose degree is the second input."""
    polynomials = {}
    for kind, word in zip("tuvw", ("first", "second", "third", "fourth")):
        doc = f"Chebyshev's polynomial of the {word} kind of degree n"
        call = f"fto_chebyshev_{kind}({{}}, b)"
        polynomials[f"chebyshev_polynomial_{kind}"] = (f"{doc}.", call.format("a"))
        shifted = f"{doc} of 2 x - 1."
        polynomials[f"shifted_chebyshev_polynomial_{kind}"] = (shifted, call.format("a + a - K(1)"))
    polynomials |= {
        "hermite_polynomial_h": ("Hermite's polynomial H of degree n.", "fto_hermite_h(a, b)"),
        "hermite_polynomial_he": ("Hermite's polynomial He of degree n.", "fto_hermite_he(a, b)"),
        "laguerre_polynomial_l": ("Laguerre's polynomial of degree n.", "fto_laguerre(a, b)"),
        "legendre_polynomial_p": ("Legendre's polynomial of degree n.", "fto_legendre(a, b)"),
    }
    for name, (doc, body) in polynomials.items():
        signature = f"{name}(x, n, *, out=None) -> Tensor"
        doc += " A fraction of n is dropped; of a negative degree all are 0."
        yield Op(
            name,
            signature,
            body,
            doc=doc,
            promote=Promote.INT_TO_FLOAT,
            namespace="special",
            refuses=_HALVES,
            inplace=False,
        )


_INCOMPLETE = [
    Op(
        name,
        f"{name}(input, other, *, out=None) -> Tensor",
        f"ftg_{side}(a, b)",
        doc=f"The regularized {side} incomplete gamma function of order `input` at `other`; NaN for negative ones.",
        float_only=True,
        tensors=(0, 1),
    )
    for name, side in (("igamma", "lower"), ("igammac", "upper"))
]
ZETA = Op(
    "zeta",
    "zeta(input, other, *, out=None) -> Tensor",
    "ftx_zeta(a, b)",
    doc="Hurwitz' zeta function: the sum of (other + k) ** -input over all k from 0.",
    promote=Promote.INT_TO_FLOAT,
    namespace="special",
    refuses=_HALVES,
    inplace=False,
)
POLYGAMMA = Op(
    "polygamma",
    "polygamma(input, n, factor, *, out=None) -> Tensor",
    "factor * ftx_zeta(n + K(1), a)",
    params=("n", "factor"),
    promote=Promote.INT_TO_FLOAT,
)
TRIGAMMA = Op("polygamma", "polygamma(input, *, out=None) -> Tensor", "ftx_trigamma(a)", promote=Promote.INT_TO_FLOAT)
MANTISSA = Op("frexp", "frexp(input) -> Tensor", "ftx_mantissa(a)", float_only=True)
EXPONENT = Op("frexp", "frexp(input) -> Tensor", "ftx_exponent(a)", float_only=True)
add_rows(
    [
        ZETA,
        _bessel("bessel_j0", "The Bessel function of the first kind of order 0.", "ftk_j0(a)"),
        _bessel("bessel_j1", "The Bessel function of the first kind of order 1.", "ftk_j1(a)"),
        _bessel("bessel_y0", "The Bessel function of the second kind of order 0.", "ftk_y0(a)"),
        _bessel("bessel_y1", "The Bessel function of the second kind of order 1.", "ftk_y1(a)"),
        _bessel("modified_bessel_i0", "The modified Bessel function of order 0.", "ftx_i0(a)"),
        _bessel("modified_bessel_i1", "The modified Bessel function of order 1.", "ftx_i1(a)"),
        _bessel("modified_bessel_k0", "The modified Bessel function of the second kind of order 0.", "ftk_k0(a)"),
        _bessel("modified_bessel_k1", "The modified Bessel function of the second kind of order 1.", "ftk_k1(a)"),
        _bessel("scaled_modified_bessel_k0", "exp(x) * modified_bessel_k0(x).", "ftk_k0e(a)", "x"),
        _bessel("scaled_modified_bessel_k1", "exp(x) * modified_bessel_k1(x).", "ftk_k1e(a)", "x"),
        _bessel(
            "spherical_bessel_j0",
            "The spherical Bessel function of order 0: sin(x) / x.",
            "a == K(0) ? K(1) : (ft_isinf(a) ? K(0) : ft_sin(a) / a)",
            "x",
        ),
        _bessel("airy_ai", "Airy's function Ai; NaN at the infinities.", "ftk_airy(a)", "x"),
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
    """The derivative of order n of digamma: (-1) ** (n + 1) * n! * zeta(n + 1, input) for n > 0.
    RuntimeError for a negative n.
    """
    if not isinstance(n, int):
        raise errors.argument_type("polygamma", "n", "an int", n)
    if n < 0:
        raise errors_unary.negative_order("polygamma", n)
    if n == 0:
        return pointwise(DIGAMMA, (input,), (), out)
    if n == 1:
        return pointwise(TRIGAMMA, (input,), (), out)
    factor = float(math.factorial(n)) if n <= 170 else math.inf  # the largest that a float64 holds
    return pointwise(POLYGAMMA, (input,), (float(n), factor if n % 2 else -factor), out)


@op(rows=(MANTISSA, EXPONENT))
def frexp(input: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(mantissa, exponent): mantissa * 2 ** exponent is the input, the mantissa's size in [0.5, 1),
    the exponent int32; 0 and what is not finite have the exponent 0. RuntimeError for integers.
    """
    if not tensor_argument("frexp", input)._dtype.is_floating_point:
        raise errors.floating_only("frexp", input._dtype)
    results = pointwise(MANTISSA, (input,)), pointwise(EXPONENT, (input,)).to(int32)
    if out is not None:
        results = into("frexp", out[0], results[0]), into("frexp", out[1], results[1])
    return return_types.frexp(results)


describe(_inplace, register(Entry("polygamma_", _inplace, function=False)).forms)
also_in("special", "polygamma", gammainc="igamma", gammaincc="igammac")
