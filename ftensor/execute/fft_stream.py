"""Fourier transforms on an image's kernel for rows that flow through a chain of stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.plan import coalesce
from ..iterator.shape import numel
from ..kernels.ports import PORT_BYTES
from ..kernels.skeletons.fft import SCALE, SWAP_IN, SWAP_OUT
from ..kernels.skeletons.fft_stream import FACTORS, MOST_POINTS, FftStreamGeometry, FftStreamKey
from ..runtime.program import held
from .fft_tables import chirp, chirp_spectrum, kept_table, unit_roots
from .launch import Launch, Output, Step
from .numbers import values_of

if TYPE_CHECKING:
    from ..runtime.backend import Backend

Array = np.ndarray[Any, Any]


def stream_key(backend: Backend, of: dtype, n: int) -> FftStreamKey | None:
    """The shortest kernel of the device's images for rows of n numbers, of a power of two or by a
    chirp; None where there is none, and on devices that compile what they need."""
    if n < 2:
        return None
    points = max(_points(n), 8)
    while points <= MOST_POINTS:
        key = FftStreamKey(of, points)
        if held(backend, key):
            return key
        points *= 2
    return None


def _points(n: int) -> int:
    """The length of what a row of n numbers is transformed by."""
    return n if not n & (n - 1) else 1 << (2 * n - 2).bit_length()


def prepare(key: FftStreamKey, x: Tensor, dim: int, inverse: bool, scale: float, output: Output) -> Launch | None:
    """The launch for transforms of all of `dim`; None where the other dims are not one in memory,
    on both sides."""
    backend, n = x._storage.backend, x._shape[dim]
    rest = [d for d in range(x.ndim) if d != dim and x._shape[d] > 1]
    read, written = (tuple([s[d] for d in rest]) for s in (x._strides, output.strides))
    shape = tuple([x._shape[d] for d in rest])
    shape, (read, written) = coalesce(shape, (read, written), range(len(shape)))
    if len(shape) > 1:
        return None
    rows, size = numel(shape), _points(n)
    turned = SCALE | (SWAP_IN | SWAP_OUT if inverse else 0)
    geometry = FftStreamGeometry(
        rows,
        size.bit_length() - 1,
        turned,
        n,
        n,
        (x._strides[dim], read[0] if rows > 1 else 0),
        (output.strides[dim], written[0] if rows > 1 else 0),
    )

    def step(g: FftStreamGeometry, out: int, source: int, table: int) -> Step:
        # No two units write one beat.
        apart = g.leave * x._dtype.itemsize % PORT_BYTES == 0
        units = max(1, min(backend.units, rows)) if apart else 1
        offsets = tuple([k if k < 2 else None for k in (out, source)])
        return Step(key, units, (out, source, table), offsets, geometry=g.pack())

    numbers = values_of(scale, x._dtype.to_real())
    if size == n:
        table = _table(key)
        return Launch((step(geometry, 0, 1, 2),), 3, (output,), own_numbers=numbers, constants=(table,))
    # x[j] c[j], convolved with the conjugate of c[k] = exp(-pi i k^2 / n): results are that times
    # c[k]. What is transformed back leaves with its parts exchanged, which conjugates a factor.
    factors = chirp(n)
    line = (1, size if rows > 1 else 0)
    forth = replace(geometry, ends=FACTORS | (SWAP_IN if inverse else 0), leave=size, written=line)
    back = replace(geometry, ends=FACTORS | SCALE | SWAP_IN | (0 if inverse else SWAP_OUT), come=size, read=line)
    tables = (
        _table(key, f"forth {n}", lambda: (factors, chirp_spectrum(n, size))),
        _table(key, f"back {n}", lambda: (np.ones(size), factors.conj())),
    )
    return Launch(
        (step(forth, 4, 1, 2), step(back, 0, 4, 3)),
        4,
        (output,),
        own_numbers=numbers,
        constants=tables,
        temporaries=(rows * size * x._dtype.itemsize,),
    )


def _table(
    key: FftStreamKey, name: str = "", factors: Callable[[], tuple[Array, Array]] | None = None
) -> Callable[[Tensor], Tensor]:
    """The roots that a kernel reads, and from the next beat on factors of a row's numbers, of those
    that come and of those that leave."""
    points = key.points

    def make() -> Array:
        behind = max(points // 2, key.lanes // 2)
        table = np.zeros(behind + (2 * points if factors else 0), np.complex128)
        table[: points // 2] = unit_roots(np.arange(points // 2), points)
        for k, own in enumerate(factors() if factors else ()):
            first = behind + k * points
            table[first : first + len(own)] = own
        return table.view(np.float64)

    return partial(kept_table, name=f"stream {points} {name}", make=make)
