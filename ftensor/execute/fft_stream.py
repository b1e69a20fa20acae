"""Fourier transforms on an image's kernel for rows of powers of two."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.plan import coalesce
from ..iterator.shape import numel
from ..kernels.ports import PORT_BYTES
from ..kernels.skeletons.fft import SCALE, SWAP_IN, SWAP_OUT
from ..kernels.skeletons.fft_stream import MOST_POINTS, FftStreamGeometry, FftStreamKey
from ..runtime.program import held
from .fft_tables import kept_table, unit_roots
from .launch import Launch, Output, Step
from .numbers import values_of

if TYPE_CHECKING:
    from ..runtime.backend import Backend


def stream_key(backend: Backend, of: dtype, n: int) -> FftStreamKey | None:
    """The shortest kernel of the device's images for rows of n numbers; None where there is none,
    and on devices that compile what they need."""
    if n < 2 or n & (n - 1):
        return None
    while n <= MOST_POINTS:
        key = FftStreamKey(of, max(n, 8))
        if held(backend, key):
            return key
        n *= 2
    return None


def prepare(
    key: FftStreamKey, x: Tensor, dim: int, inverse: bool, scale: float, output: Output
) -> Launch | None:
    """The launch for transforms of all of `dim`; None where the other dims are not one in memory,
    on both sides."""
    backend, n = x._storage.backend, x._shape[dim]
    rest = [d for d in range(x.ndim) if d != dim and x._shape[d] > 1]
    read, written = (tuple([s[d] for d in rest]) for s in (x._strides, output.strides))
    shape = tuple([x._shape[d] for d in rest])
    shape, (read, written) = coalesce(shape, (read, written), range(len(shape)))
    if len(shape) > 1:
        return None
    rows = numel(shape)
    geometry = FftStreamGeometry(
        rows, n.bit_length() - 1, SCALE | (SWAP_IN | SWAP_OUT if inverse else 0),
        (x._strides[dim], read[0] if rows > 1 else 0),
        (output.strides[dim], written[0] if rows > 1 else 0),
    ).pack()  # fmt: skip
    # No two units write one beat.
    units = max(1, min(backend.units, rows)) if n * x._dtype.itemsize >= PORT_BYTES else 1
    step = Step(key, units, (0, 1, 2), (0, 1), geometry=geometry)
    points = key.points

    def roots() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return unit_roots(np.arange(points // 2), points).view(np.float64)

    table_of = partial(kept_table, name=f"stream {points}", make=roots)
    numbers = values_of(scale, x._dtype.to_real())
    return Launch((step,), 3, (output,), own_numbers=numbers, constants=(table_of,))
