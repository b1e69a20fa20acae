"""Bessel functions, derivatives of gamma, zeta, and numbers taken apart."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ... import errors, return_types
from ..._tensor import Tensor
from ...dtypes import int32
from ...errors import unary as errors_unary
from ...execute.copy import into
from ...execute.pointwise import pointwise
from ...rows.catalogue import ENTRIES, Entry, op, register
from ...rows.op import Op, Promote
from ...rows.spelling import describe
from ..bind import add_rows
from .special import _HALVES, special
from .unary import tensor_argument

CATEGORY = "special"


def _bessel(name: str, doc: str, body: str, of: str = "input") -> Op:
    row = special(name, doc, body, refuses=_HALVES, inplace=False)
    return replace(row, signature=row.signature.replace("input", of))


ZETA = Op(
    "zeta", "zeta(input, other, *, out=None) -> Tensor", "ftx_zeta(a, b)",
    doc="Hurwitz' zeta function: the sum of (other + k) ** -input over all k from 0.",
    promote=Promote.INT_TO_FLOAT, namespace="special", refuses=_HALVES, inplace=False,
)  # fmt: skip
POLYGAMMA = Op(
    "polygamma", "polygamma(input, n, factor, *, out=None) -> Tensor",
    "factor * ftx_zeta(n + K(1), a)", params=("n", "factor"), promote=Promote.INT_TO_FLOAT,
)  # fmt: skip
TRIGAMMA = Op(
    "polygamma", "polygamma(input, *, out=None) -> Tensor", "ftx_trigamma(a)",
    promote=Promote.INT_TO_FLOAT,
)  # fmt: skip
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
        _bessel(
            "modified_bessel_k0", "The modified Bessel function of the second kind of order 0.",
            "ftk_k0(a)",
        ),
        _bessel(
            "modified_bessel_k1", "The modified Bessel function of the second kind of order 1.",
            "ftk_k1(a)",
        ),
        _bessel(
            "scaled_modified_bessel_k0", "exp(x) * modified_bessel_k0(x).", "ftk_k0e(a)", "x"
        ),
        _bessel(
            "scaled_modified_bessel_k1", "exp(x) * modified_bessel_k1(x).", "ftk_k1e(a)", "x"
        ),
        _bessel(
            "spherical_bessel_j0", "The spherical Bessel function of order 0: sin(x) / x.",
            "a == K(0) ? K(1) : (ft_isinf(a) ? K(0) : ft_sin(a) / a)", "x",
        ),
    ],
    __name__,
)  # fmt: skip


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
        made: Tensor = ENTRIES["digamma"].call(input, out=out)
        return made
    if n == 1:
        return pointwise(TRIGAMMA, (input,), (), out)
    try:
        factor = float(math.factorial(n))
    except OverflowError:
        factor = math.inf
    return pointwise(POLYGAMMA, (input,), (float(n), factor if n % 2 else -factor), out)


@op(rows=(MANTISSA, EXPONENT))
def frexp(input: Tensor, *, out: Any = None) -> tuple[Tensor, Tensor]:
    """(mantissa, exponent): mantissa * 2 ** exponent is the input, the mantissa's size in [0.5, 1),
    the exponent int32; 0 and what is not finite have the exponent 0. RuntimeError for integers.
    """
    if not tensor_argument("frexp", input)._dtype.is_floating_point:
        raise errors.floating_only("frexp", input._dtype)
    made = pointwise(MANTISSA, (input,)), pointwise(EXPONENT, (input,)).to(int32)
    if out is not None:
        made = into("frexp", out[0], made[0]), into("frexp", out[1], made[1])
    return return_types.frexp(made)


describe(_inplace, register(Entry("polygamma_", _inplace, function=False)).forms)
register(Entry("polygamma", polygamma, method=False, namespace="special"))
