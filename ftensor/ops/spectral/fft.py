"""torch's Fourier transforms along one dim, two, or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...errors import spectral as errors_spectral
from ...execute.fft import known
from ...iterator.shape import Ints, numel
from ...rows.catalogue import op
from ..compose import composed, f
from ..view.arguments import int_list
from .arguments import (
    along_one,
    along_one_real,
    along_several,
    as_complex,
    dim_of,
    factor_of,
    numbers,
    real_out,
)
from .transform import complex_to_complex, complex_to_real, one_dim, real_to_complex, resized


def _seen(op: str, input: Any, n: Any, dim: Any, norm: Any) -> tuple[Any, Tensor | None]:
    """A key for such a call, and its result where one like it was served before."""
    if type(input) is not Tensor or type(dim) is not int:
        return None, None
    key = (op, input._key, n, dim, norm)
    try:
        return key, known(key, input)
    except TypeError:  # something that is no number, which is refused elsewhere
        return None, None


def _forth(op: str, input: Any, n: Any, dim: Any, norm: Any, inverse: bool) -> Tensor:
    key, made = _seen(op, input, n, dim, norm)
    if made is not None:
        return made
    x = as_complex(numbers(op, input))
    dim, n = along_one(op, x, n, dim)
    factor = factor_of(op, norm, n, inverse)
    return one_dim(x, dim, n, inverse, factor, None, key if x is input else None)


@composed(namespace="fft", method=False)
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along `dim`, of `n` points: cut, or padded with zeros.

    Element k is the sum of x[m] exp(-2 pi i k m / n), times 1/n for norm "forward" and 1/sqrt(n)
    for "ortho". The result is complex. RuntimeError for 16-bit dtypes, n < 1 and an unknown norm.
    """
    return _forth("fft", input, n, dim, norm, False)


@composed(namespace="fft", method=False)
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`: exponents with the other sign, times 1/n for norm "backward", which is
    the default.
    """
    return _forth("ifft", input, n, dim, norm, True)


@composed(namespace="fft", method=False)
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """`fft` of real numbers: the first n // 2 + 1 of it, which the others mirror. RuntimeError for
    complex inputs.
    """
    return _real("rfft", input, n, dim, norm, False)


def _real(op: str, input: Any, n: Any, dim: Any, norm: Any, inverse: bool) -> Tensor:
    key, made = _seen(op, input, n, dim, norm)
    if made is not None:
        return made
    x = numbers(op, input, True)
    dim, n = along_one(op, x, n, dim)
    x, factor = resized(x, (dim,), (n,)), factor_of(op, norm, n, inverse)
    return real_to_complex(x, (dim,), factor, inverse, key if x is input else None)


@composed(namespace="fft", method=False, check=real_out)
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: `n` real numbers, without `n` twice as many as the input less 2."""
    return _half("irfft", input, n, dim, norm, True)


@composed(namespace="fft", method=False, check=real_out)
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform of what is one half of a Hermitian signal: `n` real numbers."""
    return _half("hfft", input, n, dim, norm, False)


def _half(op: str, input: Any, n: Any, dim: Any, norm: Any, inverse: bool) -> Tensor:
    key, made = _seen(op, input, n, dim, norm)
    if made is not None:
        return made
    x = as_complex(numbers(op, input))
    dim, n = along_one_real(op, x, n, dim)
    x, factor = resized(x, (dim,), (n // 2 + 1,)), factor_of(op, norm, n, inverse)
    return complex_to_real(x, (dim,), n, factor, inverse, key if x is input else None)


@composed(namespace="fft", method=False)
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`: one half of a Hermitian signal from real numbers. RuntimeError for
    complex inputs.
    """
    return _real("ihfft", input, n, dim, norm, True)


def _forth_n(op: str, input: Any, s: Any, dim: Any, norm: Any, inverse: bool) -> Tensor:
    x = numbers(op, input)
    dims, points = along_several(op, x, s, dim)
    x = resized(as_complex(x), dims, points)
    return complex_to_complex(x, dims, inverse, factor_of(op, norm, numel(points), inverse))


@composed(namespace="fft", method=False)
def fftn(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None, norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`fft` along several dims: those of `dim`, else the last ones that `s` has sizes for, else
    all. A size of -1 is the input's. RuntimeError for dims named twice and more sizes than dims.
    """
    return _forth_n("fftn", input, s, dim, norm, False)


@composed(namespace="fft", method=False)
def ifftn(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None, norm: str | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `fftn`."""
    return _forth_n("ifftn", input, s, dim, norm, True)


def _real_n(op: str, input: Any, s: Any, dim: Any, norm: Any, inverse: bool) -> Tensor:
    """rfftn, and ihfftn."""
    x = numbers(op, input, True)
    dims, points = along_several(op, x, s, dim)
    if not dims:
        raise errors_spectral.no_axis(op)
    x = resized(x, dims, points)
    return real_to_complex(x, dims, factor_of(op, norm, numel(points), inverse), inverse)


@composed(namespace="fft", method=False)
def rfftn(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None, norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`fftn` of real numbers: the first half of it along the last of the dims."""
    return _real_n("rfftn", input, s, dim, norm, False)


@composed(namespace="fft", method=False)
def ihfftn(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None, norm: str | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `hfftn`, of real numbers."""
    return _real_n("ihfftn", input, s, dim, norm, True)


def _half_n(op: str, input: Any, s: Any, dim: Any, norm: Any, inverse: bool) -> Tensor:
    x = numbers(op, input)
    dims, points = along_several(op, x, s, dim, True)
    if not dims:
        raise errors_spectral.no_axis(op)
    n = points[-1]
    x = resized(as_complex(x), dims, (*points[:-1], n // 2 + 1))
    return complex_to_real(x, dims, n, factor_of(op, norm, numel(points), inverse), inverse)


@composed(namespace="fft", method=False, check=real_out)
def irfftn(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None, norm: str | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `rfftn`: real numbers, of which the last dim's size is the last of `s`, else
    twice the input's less 2.
    """
    return _half_n("irfftn", input, s, dim, norm, True)


@composed(namespace="fft", method=False, check=real_out)
def hfftn(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None, norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`fftn` of what is one half of a Hermitian signal along the last of the dims: real numbers."""
    return _half_n("hfftn", input, s, dim, norm, False)


@composed(namespace="fft", method=False)
def fft2(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = (-2, -1), norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`fftn` along the last two dims."""
    return _forth_n("fft2", input, s, dim, norm, False)


@composed(namespace="fft", method=False)
def ifft2(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = (-2, -1), norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`ifftn` along the last two dims."""
    return _forth_n("ifft2", input, s, dim, norm, True)


@composed(namespace="fft", method=False)
def rfft2(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = (-2, -1), norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`rfftn` along the last two dims."""
    return _real_n("rfft2", input, s, dim, norm, False)


@composed(namespace="fft", method=False, check=real_out)
def irfft2(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = (-2, -1), norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`irfftn` along the last two dims."""
    return _half_n("irfft2", input, s, dim, norm, True)


@composed(namespace="fft", method=False, check=real_out)
def hfft2(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = (-2, -1), norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`hfftn` along the last two dims."""
    return _half_n("hfft2", input, s, dim, norm, False)


@composed(namespace="fft", method=False)
def ihfft2(
    input: Tensor, s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = (-2, -1), norm: str | None = None,
) -> Tensor:  # fmt: skip
    """`ihfftn` along the last two dims."""
    return _real_n("ihfft2", input, s, dim, norm, True)


def _shifted(op: str, input: Any, dim: Any, back: bool) -> Tensor:
    if not isinstance(input, Tensor):
        raise errors.not_a_tensor(op, "input", input)
    if dim is None:
        dims: Ints = tuple(range(input.ndim))
    else:
        dims = int_list([dim] if isinstance(dim, int) else dim, op, "dim")
        for d in dims:
            dim_of(op, input, d)
    if not input.ndim:
        raise errors_spectral.no_shift(op)
    sizes = [input._shape[d] for d in dims]
    made: Tensor = f.roll(input, tuple([(n + back) // 2 for n in sizes]), dims)
    return made


@op(namespace="fft", method=False)
def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The zero frequency brought from the front to the middle, along `dim` or all dims."""
    return _shifted("fftshift", input, dim, False)


@op(namespace="fft", method=False)
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _shifted("ifftshift", input, dim, True)
