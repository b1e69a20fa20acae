"""Transforms of chosen dims, between complex and real numbers, on the skeleton `fft`.

Results lie in memory as torch's do: the dims that were not transformed first, then the others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...execute.fft import kept_table, transform, unit_roots
from ...formats import contiguous_format
from ...iterator.shape import Ints
from ...kernels.skeletons.fft import radices
from ..compose import f


def _descending(x: Tensor, dims: Any) -> list[int]:
    return sorted(dims, key=lambda d: -x._strides[d])


def _ordered(x: Tensor, order: list[int]) -> Tensor:
    """The dims in this order, without gaps."""
    return x.permute(order).contiguous()


def _back(x: Tensor, order: list[int]) -> Tensor:
    """A view in which the dims stand where they were before `permute(order)`."""
    return x.permute([order.index(d) for d in range(len(order))])


def _batch(x: Tensor, dims: Any) -> list[int]:
    return _descending(x, [d for d in range(x.ndim) if d not in dims])


def complex_to_complex(x: Tensor, dims: Ints, inverse: bool, scale: float) -> Tensor:
    """Transforms of complex numbers along all of `dims`, times `scale`."""
    if not dims:
        return x.clone()
    batch, sorted_dims = _batch(x, dims), _descending(x, dims)
    for d in sorted_dims:
        order = [*batch, *[e for e in sorted_dims if e != d], d]
        rows = _ordered(x, order)
        factor = scale if d == sorted_dims[-1] else 1.0
        made = complex_rows(rows.reshape(-1, rows._shape[-1]), inverse, factor)
        x = _back(made.reshape(rows._shape), order)
    return x


def real_to_complex(x: Tensor, dims: Ints, scale: float) -> Tensor:
    """Forward transforms of real numbers: the first n // 2 + 1 along the last of `dims`."""
    *others, last = dims
    order = [*_batch(x, dims), *_descending(x, others), last]
    rows = _ordered(x, order)
    n = rows._shape[-1]
    made = real_rows(rows.reshape(-1, n), 1.0 if others else scale)
    x = _back(made.reshape(*rows._shape[:-1], n // 2 + 1), order)
    if others:
        x = _ordered(complex_to_complex(x, tuple(others), False, scale), order)
        x = _back(x, order)
    return x


def complex_to_real(x: Tensor, dims: Ints, n: int, scale: float, inverse: bool = True) -> Tensor:
    """Transforms of one half of a spectrum, the last of `dims`, to `n` real numbers there.

    That one is inverse, the others are as `inverse` says.
    """
    *others, last = dims
    if others:
        x = complex_to_complex(x, tuple(others), inverse, 1.0)
        if not inverse:
            x = x.conj_physical()
    order = [*_batch(x, (last,)), last]
    rows = _ordered(x, order)
    made = half_rows(rows.reshape(-1, rows._shape[-1]), n, scale)
    return _back(made.reshape(*rows._shape[:-1], n), order)


def complex_rows(x: Tensor, inverse: bool, scale: float) -> Tensor:
    """Transforms of a (rows, n) tensor of complex numbers."""
    n = x._shape[1]
    if n == 1 or not x.numel():
        return x * scale if scale != 1 else x.clone()
    if radices(n) is None:
        return _chirped(x, inverse, scale)
    return transform(x, inverse, scale)


def real_rows(x: Tensor, scale: float) -> Tensor:
    """The first n // 2 + 1 numbers of the transforms of a (rows, n) tensor of real numbers."""
    made = complex_rows(x.to(x._dtype.to_complex()), False, scale)
    half: Tensor = made.narrow(1, 0, x._shape[1] // 2 + 1).contiguous()
    return half


def half_rows(x: Tensor, n: int, scale: float) -> Tensor:
    """The inverse transforms to `n` real numbers of (rows, n // 2 + 1) complex ones."""
    parts = [x]
    if n > 2:
        parts.append(x.narrow(1, 1, (n - 1) // 2).flip(1).conj_physical())
    made = complex_rows(f.cat(parts, 1), True, scale)
    real: Tensor = f.real(made).clone(memory_format=contiguous_format)
    return real


def _chirped(x: Tensor, inverse: bool, scale: float) -> Tensor:
    """Transforms of a length with a large prime factor, as a convolution (L. Bluestein, 1970).

    k m = (k^2 + m^2 - (k - m)^2) / 2 makes the sum one of x[m] w[m] with conj(w[k - m]), times
    w[k], where w[k] = exp(-pi i k^2 / n).
    """
    rows, n = x._shape
    size = smooth(2 * n - 1)
    chirp = kept_table(x, ("chirp", n, inverse), partial(_chirp, n, inverse))
    spectrum = kept_table(x, ("chirps", n, inverse), partial(_chirp_spectrum, n, size, inverse))
    padded = f.zeros((rows, size), dtype=x._dtype, device=x.device)
    padded.narrow(1, 0, n).copy_(x * chirp)
    made = complex_rows(complex_rows(padded, False, 1.0) * spectrum, True, 1.0 / size)
    result = made.narrow(1, 0, n) * chirp
    return result * scale if scale != 1 else result


def smooth(least: int) -> int:
    """The smallest length of at least so many points whose passes are all of small radices."""
    power = 1 << (least - 1).bit_length()
    return min(m for m in (power, power // 8 * 5, power // 4 * 3) if m >= least)


def _chirp(n: int, inverse: bool) -> np.ndarray[Any, Any]:
    k = np.arange(n, dtype=object if n > 3_000_000_000 else np.int64)
    made = unit_roots(k * k % (2 * n), 2 * n)
    return made.conj() if inverse else made


def _chirp_spectrum(n: int, size: int, inverse: bool) -> np.ndarray[Any, Any]:
    chirp = _chirp(n, inverse).conj()
    around = np.zeros(size, np.complex128)
    around[:n] = chirp
    around[size - n + 1 :] = chirp[:0:-1]
    return np.fft.fft(around)


def resized(x: Tensor, dims: Ints, sizes: Ints) -> Tensor:
    """`x` cut, or padded with zeros, at the end of `dims`."""
    for d, n in zip(dims, sizes):
        if n < x._shape[d]:
            x = x.narrow(d, 0, n)
    if any(x._shape[d] < n for d, n in zip(dims, sizes)):
        wanted = dict(zip(dims, sizes))
        shape = [wanted.get(d, n) for d, n in enumerate(x._shape)]
        made: Tensor = f.zeros(shape, dtype=x._dtype, device=x.device)
        inside = made
        for d in dims:
            inside = inside.narrow(d, 0, x._shape[d])
        inside.copy_(x)
        return made
    return x
