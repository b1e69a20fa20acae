"""torch's Fourier transforms and their frequencies."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from ..._tensor import Tensor
from ...dtypes import get_default_dtype
from ...errors import creation as errors_creation
from ...errors import spectral as errors_spectral
from ...execute.fft import cached_transform, has_stream_kernel, kept_table, too_long, transform
from ...execute.fft_plan import chirp, chirp_spectrum, smooth
from ...execute.reduce import are_single_ops
from ...formats import contiguous_format
from ...iterator.shape import Ints, normalize_dim, numel
from ...kernels.signal_stages import MIN_LANES, transform_refusal
from ...rows.catalogue import op
from ...rows.spelling import named
from ..arguments import check_kind
from ..bind import composed
from ..create.factory import Options, factory
from ..create.ranges import arange
from ..create.sizes import zeros
from ..rearrange.cat import cat
from ..rearrange.flip import roll
from ..view.dims import real, view_as_complex
from ..view.layout import as_int, int_list

NORMS = (None, "backward", "forward", "ortho")


def as_transformable(op: str, input: Any, real: bool = False) -> Tensor:
    """Returns the input in a floating-point dtype. Raises RuntimeError for a dtype that has no
    transform."""
    input_dtype = input._dtype
    if real and input_dtype.is_complex:
        raise errors_spectral.real_needed(op, input_dtype)
    if input_dtype.kind not in "fc":
        input_dtype = get_default_dtype()
    if input_dtype.compute is not input_dtype:
        raise errors_spectral.dtype(op, input_dtype)
    return input.to(input_dtype)


def real_out(op: str, out: Any) -> None:
    if isinstance(out, Tensor) and out._dtype.is_complex:
        raise errors_spectral.real_output(op, out._dtype)


def factor_of(op: str, norm: Any, n: int, inverse: bool) -> float:
    """Returns the factor of the results. Raises RuntimeError for an unknown `norm`, TypeError for a
    `norm` that is no string."""
    if norm is not None and not isinstance(norm, str):
        raise errors_spectral.norm_type(op, norm)
    if norm not in NORMS:
        raise errors_spectral.norm(op, norm)
    if norm == "ortho":
        return 1.0 / math.sqrt(n)
    return 1.0 / n if (norm == "forward") != inverse else 1.0


def dim_of(op: str, x: Tensor, dim: Any) -> int:
    dim = as_int(dim, op, "dim")
    if not x.ndim:
        raise errors_spectral.no_dims(op, dim)
    return normalize_dim(dim, x.ndim)


def points_of(op: str, n: int) -> int:
    if n < 1:
        raise errors_spectral.points(op, n)
    return n


def along_one(op: str, x: Tensor, n: Any, dim: Any, real_output: bool = False) -> tuple[int, int]:
    """Returns (dim, points) of a transform along one dim. With `real_output`, half a spectrum of m
    numbers has 2 * (m - 1) points by default."""
    dim = dim_of(op, x, dim)
    if n is not None:
        return dim, points_of(op, as_int(n, op, "n"))
    size = x._shape[dim]
    return dim, points_of(op, 2 * (size - 1) if real_output else size)


def along_several(op: str, x: Tensor, s: Any, dim: Any, real_output: bool = False) -> tuple[Ints, Ints]:
    """Returns (dims, points) of a transform along several dims."""
    lengths = None if s is None else int_list([s] if isinstance(s, int) else s, op, "s")
    if dim is not None:
        dims = int_list([dim] if isinstance(dim, int) else dim, op, "dim")
        dims = tuple([dim_of(op, x, d) for d in dims])
        if lengths is not None and len(lengths) != len(dims):
            raise errors_spectral.lengths(op, lengths, dims)
    else:
        if lengths is not None and len(lengths) > x.ndim:
            raise errors_spectral.too_many(op, lengths, x.ndim)
        dims = tuple(range(x.ndim - (x.ndim if lengths is None else len(lengths)), x.ndim))
    if len(set(dims)) < len(dims):
        raise errors_spectral.repeated(op, dims)
    lengths_used = [x._shape[d] if lengths is None or lengths[i] == -1 else lengths[i] for i, d in enumerate(dims)]
    if real_output and dims and (lengths is None or lengths[-1] == -1):
        lengths_used[-1] = 2 * (lengths_used[-1] - 1)
    return dims, tuple([points_of(op, n) for n in lengths_used])


# Longer transforms require complete rows, so the input is padded first.
PADDED = 256


def _descending(x: Tensor, dims: Any) -> list[int]:
    return sorted(dims, key=lambda d: -x._strides[d])


def _batch(x: Tensor, dims: Any) -> list[int]:
    return _descending(x, [d for d in range(x.ndim) if d not in dims])


def complex_to_complex(x: Tensor, dims: Ints, inverse: bool, scale: float, order: Any = None) -> Tensor:
    """Returns the transforms of complex numbers along all of `dims`, times `scale`. The result's
    dims have the memory order `order`, or torch's."""
    if not dims:
        return x.clone()
    sorted_dims = _descending(x, dims)
    order = order or (*_batch(x, dims), *sorted_dims)
    for d in sorted_dims:
        factor = scale if d == sorted_dims[-1] else 1.0
        x = one_dim(x, d, x._shape[d], inverse, factor, order)
    return x


def one_dim(
    x: Tensor, dim: int, n: int, inverse: bool, scale: float, order: Any = None, cache_key: Any = None
) -> Tensor:
    """Returns the transforms of `n` complex numbers along `dim`; the input is cut or padded with
    zeros."""
    if n > x._shape[dim]:  # a padded copy would have the default dim order
        order = order or (*[d for d in range(x.ndim) if d != dim], dim)
        if n > PADDED:
            # this launch reads the padded copy: not cached for the input
            x, cache_key = resized(x, (dim,), (n,)), None
    order = order or (*_batch(x, (dim,)), dim)
    if too_long(n):
        return _chirped(x.narrow(dim, 0, n), dim, inverse, scale, order)
    return transform(x, dim, n, "complex", inverse, scale, tuple(order), cache_key)


def real_to_complex(x: Tensor, dims: Ints, scale: float, conj: bool = False, cache_key: Any = None) -> Tensor:
    """Returns forward transforms of real numbers: the first n // 2 + 1 along the last of `dims`.
    With `conj` these are conjugated and the other transforms are inverse."""
    *leading_dims, last = dims
    first = (last,) if conj else dims  # torch's inverse transforms arrange their results twice
    order: Any = (*_batch(x, first), *_descending(x, [d for d in first if d != last]), last)
    n, factor = x._shape[last], 1.0 if leading_dims else scale
    is_stage = are_single_ops() and not transform_refusal(n, MIN_LANES)
    if too_long(n if n % 2 else n // 2) or (has_stream_kernel(x, n) and not is_stage):
        x = one_dim(x.to(x._dtype.to_complex()), last, n, conj, factor, order)
        x = x.narrow(last, 0, n // 2 + 1)
        if not leading_dims:
            x = _in_order(x, order)
    else:
        x = transform(x, last, n, "forth", conj, factor, order, cache_key)
    if not leading_dims:
        return x
    return complex_to_complex(x, tuple(leading_dims), conj, scale, None if conj else order)


def complex_to_real(x: Tensor, dims: Ints, n: int, scale: float, inverse: bool = True, cache_key: Any = None) -> Tensor:
    """Transforms half a spectrum along the last of `dims` to `n` real numbers, by inverse
    transforms or, with `inverse=False`, forward ones."""
    *leading_dims, last = dims
    if leading_dims:
        x = complex_to_complex(x, tuple(leading_dims), inverse, 1.0)
    order = (*_batch(x, (last,)), last)
    if not (too_long(n if n % 2 else n // 2) or has_stream_kernel(x, n)):
        return transform(x, last, n, "back", not inverse, scale, order, cache_key)
    halves = [x]
    if n > 2:
        halves.append(x.narrow(last, 1, (n - 1) // 2).flip(last).conj_physical())
    return _in_order(real(one_dim(cat(halves, last), last, n, inverse, scale)), order)


def _in_order(x: Tensor, order: Any) -> Tensor:
    result = x.permute(order).clone(memory_format=contiguous_format)
    return result.permute([order.index(d) for d in range(len(order))])


def _chirped(x: Tensor, dim: int, inverse: bool, scale: float, order: Any) -> Tensor:
    """Returns transforms of a length with a large prime factor, as a convolution
    (`fft_plan._steps`) in several launches."""
    n = x._shape[dim]
    size = smooth(2 * n - 1)
    x = x.movedim(dim, -1)
    tables = ((("chirp", n), partial(_parts, chirp, n)), (("spectrum", n), partial(_parts, chirp_spectrum, n, size)))
    wave, spectrum = (view_as_complex(kept_table(x, name, make)) for name, make in tables)
    if inverse:
        wave, spectrum = wave.conj_physical(), spectrum.conj_physical()
    result = one_dim(x * wave, x.ndim - 1, size, inverse, 1.0) * spectrum
    result = one_dim(result, x.ndim - 1, size, not inverse, scale).narrow(-1, 0, n) * wave
    return _in_order(result.movedim(-1, dim), order)


def _parts(make: Any, *sizes: int) -> Any:
    return make(*sizes).view("float64").reshape(-1, 2)


def resized(x: Tensor, dims: Ints, sizes: Ints) -> Tensor:
    """Returns `x` cut, or padded with zeros, at the end of `dims`."""
    for d, n in zip(dims, sizes):
        if n < x._shape[d]:
            x = x.narrow(d, 0, n)
    if any(x._shape[d] < n for d, n in zip(dims, sizes)):
        size_of_dim = dict(zip(dims, sizes))
        shape = [size_of_dim.get(d, n) for d, n in enumerate(x._shape)]
        result = zeros(shape, dtype=x._dtype, device=x.device)
        target = result
        for d in dims:
            target = target.narrow(d, 0, x._shape[d])
        target.copy_(x)
        return result
    return x


class TransformKind(Enum):
    """Types of a transform's input and output: complex to complex, real to half a spectrum, and
    back."""

    COMPLEX = "complex numbers of as many"
    HALF = "of real numbers the first half of a spectrum, which the rest mirrors"
    REAL = "real numbers of such a half"


COMPLEX, HALF, REAL = TransformKind
FORWARD, INVERSE = False, True


@dataclass(frozen=True)
class FourierTransform:
    """The definition of a transform; its methods create the functions along one, two or several
    dims."""

    name: str
    kind: TransformKind
    inverse: bool

    def along_one(self, doc: str) -> Callable[..., Tensor]:
        """Returns the op along one dim."""
        name, inverse = self.name, self.inverse

        def run(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
            key, result = _cached_call(name, input, n, dim, norm)
            if result is not None:
                return result
            x = self._operand(input)
            axis, points = along_one(name, x, n, dim, self.kind is REAL)
            if self.kind is COMPLEX:  # these kernels cut or pad the input themselves
                factor = factor_of(name, norm, points, inverse)
                return one_dim(x, axis, points, inverse, factor, None, key if x is input else None)
            x = self._resized(x, (axis,), (points,))
            return self._run(x, (axis,), (points,), norm, key if x is input else None)

        return self._entered(run, doc)

    def along_several(self, doc: str, dims: Ints | None = None) -> Callable[..., Tensor]:
        """Returns the op along several dims; `dims` are its default."""

        def run(
            input: Tensor,
            s: int | Sequence[int] | None = None,
            dim: int | Sequence[int] | None = dims,
            norm: str | None = None,
        ) -> Tensor:
            x = self._operand(input)
            axes, points = along_several(self.name, x, s, dim, self.kind is REAL)
            if not axes and self.kind is not COMPLEX:
                raise errors_spectral.no_axis(self.name)
            return self._run(self._resized(x, axes, points), axes, points, norm)

        return self._entered(run, doc)

    def along_two(self) -> Callable[..., Tensor]:
        doc = f"`{self.name.removesuffix('2')}n` along the last two dims."
        return self.along_several(doc, (-2, -1))

    def _operand(self, input: Any) -> Tensor:
        x = as_transformable(self.name, input, self.kind is HALF)
        return x if self.kind is HALF else x.to(x._dtype.to_complex())

    def _resized(self, x: Tensor, dims: Ints, points: Ints) -> Tensor:
        if self.kind is REAL:
            points = (*points[:-1], points[-1] // 2 + 1)
        return resized(x, dims, points)

    def _run(self, x: Tensor, dims: Ints, points: Ints, norm: Any, cache_key: Any = None) -> Tensor:
        """Runs the transforms; `cache_key` is a key under which `cached_transform` finds the launch
        again."""
        factor = factor_of(self.name, norm, numel(points), self.inverse)
        if self.kind is COMPLEX:
            return complex_to_complex(x, dims, self.inverse, factor)
        if self.kind is HALF:
            return real_to_complex(x, dims, factor, self.inverse, cache_key)
        return complex_to_real(x, dims, points[-1], factor, self.inverse, cache_key)

    def _entered(self, run: Callable[..., Tensor], doc: str) -> Callable[..., Tensor]:
        check = real_out if self.kind is REAL else None
        return composed(namespace="fft", method=False, check=check)(named(self.name, doc)(run))


def _cached_call(op: str, input: Any, n: Any, dim: Any, norm: Any) -> tuple[Any, Tensor | None]:
    """Returns (the key of this call, the result of the cached launch of an equal call or None)."""
    if type(input) is not Tensor or type(dim) is not int:
        return None, None
    key = (op, input._key, n, dim, norm)
    try:
        return key, cached_transform(key, input)
    except TypeError:  # an argument that is no number: the op raises the error later
        return None, None


fft = FourierTransform("fft", COMPLEX, FORWARD).along_one("""
    Returns the discrete Fourier transform of `n` points along `dim`. The input is cut or padded with
    zeros to `n`.

    Element k is the sum of x[m] exp(-2 pi i k m / n), times 1/n for norm "forward" and 1/sqrt(n)
    for "ortho". The result is complex. RuntimeError for 16-bit dtypes, n < 1 and an unknown norm.
""")
ifft = FourierTransform("ifft", COMPLEX, INVERSE).along_one("""
    Returns the inverse of `fft`: its exponents are positive, and norm "backward", the default,
    multiplies by 1/n.
""")
rfft = FourierTransform("rfft", HALF, FORWARD).along_one("""
    Returns the first n // 2 + 1 elements of `fft` of real numbers; the others are their conjugates
    in reverse order. RuntimeError for complex inputs.
""")
irfft = FourierTransform("irfft", REAL, INVERSE).along_one("""
    Returns the inverse of `rfft`: `n` real numbers. `n` defaults to 2 * (size - 1).
""")
hfft = FourierTransform("hfft", REAL, FORWARD).along_one("""
    Returns the transform of a Hermitian signal, given its first half: `n` real numbers.
""")
ihfft = FourierTransform("ihfft", HALF, INVERSE).along_one("""
    Returns the inverse of `hfft`: the first half of a Hermitian signal, from real numbers.
    RuntimeError for complex inputs.
""")

fftn = FourierTransform("fftn", COMPLEX, FORWARD).along_several("""
    Returns `fft` along the dims `dim`; by default the last len(s) dims, or all without `s`. A size
    of -1 in `s` keeps the input's. RuntimeError for repeated dims and for more sizes than dims.
""")
ifftn = FourierTransform("ifftn", COMPLEX, INVERSE).along_several("Returns the inverse of `fftn`.")
rfftn = FourierTransform("rfftn", HALF, FORWARD).along_several("""
    Returns `fftn` of real numbers, of which only the first half along the last of the dims.
""")
irfftn = FourierTransform("irfftn", REAL, INVERSE).along_several("""
    Returns the inverse of `rfftn`: real numbers. The last dim has the last size in `s`, by default
    2 * (size - 1).
""")
hfftn = FourierTransform("hfftn", REAL, FORWARD).along_several("""
    Returns `fftn` of a signal that is Hermitian along the last of the dims, given its first half
    there: real numbers.
""")
ihfftn = FourierTransform("ihfftn", HALF, INVERSE).along_several("""
    Returns the inverse of `hfftn`, from real numbers.
""")

fft2 = FourierTransform("fft2", COMPLEX, FORWARD).along_two()
ifft2 = FourierTransform("ifft2", COMPLEX, INVERSE).along_two()
rfft2 = FourierTransform("rfft2", HALF, FORWARD).along_two()
irfft2 = FourierTransform("irfft2", REAL, INVERSE).along_two()
hfft2 = FourierTransform("hfft2", REAL, FORWARD).along_two()
ihfft2 = FourierTransform("ihfft2", HALF, INVERSE).along_two()


def _shifted(op: str, input: Any, dim: Any, back: bool) -> Tensor:
    if dim is None:
        dims: Ints = tuple(range(input.ndim))
    else:
        dims = int_list([dim] if isinstance(dim, int) else dim, op, "dim")
        for d in dims:
            dim_of(op, input, d)
    if not input.ndim:
        raise errors_spectral.no_shift(op)
    sizes = [input._shape[d] for d in dims]
    return roll(input, tuple([(n + back) // 2 for n in sizes]), dims)


@op(namespace="fft", method=False)
def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Moves the zero frequency from the front to the middle, along `dim` or all dims."""
    return _shifted("fftshift", input, dim, False)


@op(namespace="fft", method=False)
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Inverts `fftshift`."""
    return _shifted("ifftshift", input, dim, True)


def _frequencies(options: Options, n: Any, d: float, half: bool, out: Tensor | None) -> Tensor:
    """Returns 0, 1, ... and then, without `half`, the negative frequencies, all divided by n * d."""
    op = options.function
    n = as_int(n, op, "n")
    count = int(n / 2) + 1 if half else n  # rounded towards 0, as in torch
    if count < 0:
        raise errors_creation.negative_dimension((count,))
    if options.dtype is not None and options.dtype.kind not in "fc":
        raise errors_spectral.frequencies(op, options.dtype)
    frequencies = options.destination((count,), out)
    check_kind(op, frequencies._dtype, "buif")
    if frequencies.numel():
        step = 1.0 / (n * float(d)) if n * float(d) else float("inf")
        middle = frequencies._shape[0] if half else (n + 1) // 2
        options_: dict[str, Any] = {"dtype": frequencies._dtype, "device": frequencies.device}
        frequencies.narrow(0, 0, middle).copy_(arange(middle, **options_))
        if middle < frequencies._shape[0]:
            frequencies.narrow(0, middle, n - middle).copy_(arange(-(n // 2), 0, **options_))
        frequencies.mul_(step)
    return frequencies


@factory(namespace="fft", method=False)
def fftfreq(options: Options, n: int, d: float = 1.0, *, out: Tensor | None = None) -> Tensor:
    """Returns the frequencies of `n` points that are `d` apart, in the order of `fft`: 0, 1, ...
    and then the negative ones, divided by n * d. Raises RuntimeError for a dtype that is not
    floating-point."""
    return _frequencies(options, n, d, False, out)


@factory(namespace="fft", method=False)
def rfftfreq(options: Options, n: int, d: float = 1.0, *, out: Tensor | None = None) -> Tensor:
    """Returns the frequencies of `rfft`: 0 to n // 2, divided by n * d."""
    return _frequencies(options, n, d, True, out)
