"""Transforms of chosen dims, between complex and real numbers, on the skeleton `fft`.

Results lie in memory as torch's do: the dims that were not transformed first, then the others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..._tensor import Tensor
from ...execute.fft import kept_table, streams, too_long, transform
from ...execute.fft_plan import smooth
from ...execute.fft_tables import chirp, chirp_spectrum
from ...formats import contiguous_format
from ...iterator.shape import Ints
from ..create.sizes import zeros
from ..rearrange.cat import cat
from ..view.complex import real, view_as_complex

# Longer transforms go by rows that are whole, so that zeros are put there first.
PADDED = 256


def _descending(x: Tensor, dims: Any) -> list[int]:
    return sorted(dims, key=lambda d: -x._strides[d])


def _batch(x: Tensor, dims: Any) -> list[int]:
    return _descending(x, [d for d in range(x.ndim) if d not in dims])


def complex_to_complex(x: Tensor, dims: Ints, inverse: bool, scale: float, order: Any = None) -> Tensor:
    """Transforms of complex numbers along all of `dims`, times `scale`; their dims lie in memory in
    this `order`, without it as torch's do."""
    if not dims:
        return x.clone()
    sorted_dims = _descending(x, dims)
    order = order or (*_batch(x, dims), *sorted_dims)
    for d in sorted_dims:
        factor = scale if d == sorted_dims[-1] else 1.0
        x = one_dim(x, d, x._shape[d], inverse, factor, order)
    return x


def one_dim(x: Tensor, dim: int, n: int, inverse: bool, scale: float, order: Any = None, also: Any = None) -> Tensor:
    """The transforms of `n` complex numbers along `dim`: cut, or with zeros after them."""
    if n > x._shape[dim]:  # a copy with zeros would have its dims as they are named
        order = order or (*[d for d in range(x.ndim) if d != dim], dim)
        if n > PADDED:
            x, also = resized(x, (dim,), (n,)), None  # the launch is not one of the input
    order = order or (*_batch(x, (dim,)), dim)
    if too_long(n):
        return _chirped(x.narrow(dim, 0, n), dim, inverse, scale, order)
    return transform(x, dim, n, "complex", inverse, scale, tuple(order), also)


def real_to_complex(x: Tensor, dims: Ints, scale: float, conj: bool = False, also: Any = None) -> Tensor:
    """Forward transforms of real numbers: the first n // 2 + 1 along the last of `dims`, with
    `conj` their conjugates, and the other transforms inverse."""
    *others, last = dims
    first = (last,) if conj else dims  # torch's inverse transforms lay their results out twice
    order: Any = (*_batch(x, first), *_descending(x, [d for d in first if d != last]), last)
    n, factor = x._shape[last], 1.0 if others else scale
    if too_long(n if n % 2 else n // 2) or streams(x, n):
        x = one_dim(x.to(x._dtype.to_complex()), last, n, conj, factor, order)
        x = x.narrow(last, 0, n // 2 + 1)
        if not others:
            x = _laid(x, order)
    else:
        x = transform(x, last, n, "forth", conj, factor, order, also)
    if not others:
        return x
    return complex_to_complex(x, tuple(others), conj, scale, None if conj else order)


def complex_to_real(x: Tensor, dims: Ints, n: int, scale: float, inverse: bool = True, also: Any = None) -> Tensor:
    """Transforms of one half of a spectrum, the last of `dims`, to `n` real numbers there: inverse
    ones, or forward ones."""
    *others, last = dims
    if others:
        x = complex_to_complex(x, tuple(others), inverse, 1.0)
    order = (*_batch(x, (last,)), last)
    if not (too_long(n if n % 2 else n // 2) or streams(x, n)):
        return transform(x, last, n, "back", not inverse, scale, order, also)
    parts = [x]
    if n > 2:
        parts.append(x.narrow(last, 1, (n - 1) // 2).flip(last).conj_physical())
    return _laid(real(one_dim(cat(parts, last), last, n, inverse, scale)), order)


def _laid(x: Tensor, order: Any) -> Tensor:
    """The same, its dims in memory in this order without gaps."""
    laid = x.permute(order).clone(memory_format=contiguous_format)
    return laid.permute([order.index(d) for d in range(len(order))])


def _chirped(x: Tensor, dim: int, inverse: bool, scale: float, order: Any) -> Tensor:
    """Transforms of a length with a large prime factor, as a convolution (`fft_plan._steps`) by
    several launches."""
    n = x._shape[dim]
    size = smooth(2 * n - 1)
    x = x.movedim(dim, -1)
    tables = ((("chirp", n), partial(_parts, chirp, n)), (("spectrum", n), partial(_parts, chirp_spectrum, n, size)))
    wave, spectrum = (view_as_complex(kept_table(x, name, make)) for name, make in tables)
    if inverse:
        wave, spectrum = wave.conj_physical(), spectrum.conj_physical()
    result = one_dim(x * wave, x.ndim - 1, size, inverse, 1.0) * spectrum
    result = one_dim(result, x.ndim - 1, size, not inverse, scale).narrow(-1, 0, n) * wave
    return _laid(result.movedim(-1, dim), order)


def _parts(make: Any, *sizes: int) -> Any:
    """A complex table as pairs."""
    return make(*sizes).view("float64").reshape(-1, 2)


def resized(x: Tensor, dims: Ints, sizes: Ints) -> Tensor:
    """`x` cut, or padded with zeros, at the end of `dims`."""
    for d, n in zip(dims, sizes):
        if n < x._shape[d]:
            x = x.narrow(d, 0, n)
    if any(x._shape[d] < n for d, n in zip(dims, sizes)):
        wanted = dict(zip(dims, sizes))
        shape = [wanted.get(d, n) for d, n in enumerate(x._shape)]
        result = zeros(shape, dtype=x._dtype, device=x.device)
        inside = result
        for d in dims:
            inside = inside.narrow(d, 0, x._shape[d])
        inside.copy_(x)
        return result
    return x
