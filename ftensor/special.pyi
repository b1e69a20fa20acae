"""The functions of ftensor.special, torch's.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from ._device import DeviceLike, device as _device
from ._tensor import Tensor as _Tensor
from .dtypes import dtype as _dtype
from .formats import Size as _Size, layout as _layout, memory_format as _memory_format
from .modules import Module as _Module
from . import return_types as _return_types

_Number = _complex | np.generic

def airy_ai(x: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Airy's function Ai; NaN at the infinities.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bessel_j0(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the Bessel function of the first kind of order 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bessel_j1(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the Bessel function of the first kind of order 1.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bessel_y0(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the Bessel function of the second kind of order 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bessel_y1(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the Bessel function of the second kind of order 1.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def chebyshev_polynomial_t(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Chebyshev's polynomial of the first kind of degree n. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def chebyshev_polynomial_u(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Chebyshev's polynomial of the second kind of degree n. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def chebyshev_polynomial_v(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Chebyshev's polynomial of the third kind of degree n. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def chebyshev_polynomial_w(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Chebyshev's polynomial of the fourth kind of degree n. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def digamma(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithmic derivative of the gamma function.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def entr(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns -input * log(input), a term of the entropy.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def erf(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the error function.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def erfc(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 1 - erf(input), accurate where that is small.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def erfcx(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exp(input * input) * erfc(input).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def erfinv(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of erf on [-1, 1].

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def exp2(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 2 ** input.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def expit(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 1 / (1 + exp(-input)).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `sigmoid`.
    """
def expm1(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exp(input) - 1, accurate near 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def gammainc(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the regularized lower incomplete gamma function of order `input` at `other`; NaN if one is < 0.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `igamma`.
    """
def gammaincc(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the regularized upper incomplete gamma function of order `input` at `other`; NaN if one is < 0.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `igammac`.
    """
def gammaln(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm of the gamma function's magnitude.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `lgamma`.
    """
def hermite_polynomial_h(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Hermite's polynomial H of degree n. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def hermite_polynomial_he(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Hermite's polynomial He of degree n. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def i0(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the modified Bessel function of order 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def i0e(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exp(-|input|) * i0(input).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def i1(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the modified Bessel function of order 1.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def i1e(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exp(-|input|) * i1(input).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def laguerre_polynomial_l(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Laguerre's polynomial of degree n. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def legendre_polynomial_p(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Legendre's polynomial of degree n. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def log1p(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log(1 + input), accurate near 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def log_ndtr(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log(ndtr(input)).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
@overload
def log_softmax(input: _Tensor, dim: _int, *, dtype: _dtype | None=None) -> _Tensor:
    """Returns the logarithm of `softmax`."""
@overload
def log_softmax(input: _Tensor, *, axis: _int | Sequence[_int], dtype: _dtype | None=None) -> _Tensor: ...
def logit(input: _Tensor, eps: _float | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log(x / (1 - x)); with `eps`, x is first clamped to [eps, 1 - eps]."""
@overload
def logsumexp(input: _Tensor, dim: _int, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm of the sum of exponentials over `dim`, computed without overflow."""
@overload
def logsumexp(input: _Tensor, *, axis: _int | Sequence[_int], keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
def modified_bessel_i0(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the modified Bessel function of order 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def modified_bessel_i1(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the modified Bessel function of order 1.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def modified_bessel_k0(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the modified Bessel function of the second kind of order 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def modified_bessel_k1(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the modified Bessel function of the second kind of order 1.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def multigammaln(input: _Tensor, p: _int, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm of the multivariate gamma function of dimension `p`: the sum of
    lgamma(input - i / 2) for i below p, plus p * (p - 1) / 4 * log(pi). Raises RuntimeError for `p`
    below 1.

    Alias of `mvlgamma`.
    """
def ndtr(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the normal distribution function.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def ndtri(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of ndtr.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def polygamma(n: _int, input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the derivative of order n of digamma: (-1) ** (n + 1) * n! * zeta(n + 1, input) for n
    > 0. Raises RuntimeError for a negative n.
    """
def psi(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithmic derivative of the gamma function.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `digamma`.
    """
def round(input: _Tensor, *, decimals: _int=0, out: _Tensor | None=None) -> _Tensor:
    """Returns the nearest number with `decimals` decimals (negative: zeros before the point); of
    two, the one with the even last digit. Raises TypeError for `decimals` that are no int.
    """
def scaled_modified_bessel_k0(x: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exp(x) * modified_bessel_k0(x).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def scaled_modified_bessel_k1(x: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exp(x) * modified_bessel_k1(x).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def shifted_chebyshev_polynomial_t(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Chebyshev's polynomial of the first kind of degree n of 2 x - 1. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def shifted_chebyshev_polynomial_u(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Chebyshev's polynomial of the second kind of degree n of 2 x - 1. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def shifted_chebyshev_polynomial_v(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Chebyshev's polynomial of the third kind of degree n of 2 x - 1. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def shifted_chebyshev_polynomial_w(x: _Tensor, n: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Chebyshev's polynomial of the fourth kind of degree n of 2 x - 1. n is rounded towards 0; for a negative n the result is 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def sinc(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns sin(pi * input) / (pi * input), and 1 at 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
@overload
def softmax(input: _Tensor, dim: _int, dtype: _dtype | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exponentials along a dim, divided by their sum."""
@overload
def softmax(input: _Tensor, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
def spherical_bessel_j0(x: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the spherical Bessel function of order 0: sin(x) / x.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def xlog1py(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input * log1p(other)`; 0 where `input` is 0, unless `other` is NaN.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def xlogy(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input * log(other)`; 0 where `input` is 0, unless `other` is NaN.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def zeta(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Hurwitz' zeta function: the sum of (other + k) ** -input over all k from 0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
