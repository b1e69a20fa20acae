"""Launches of discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.plan import coalesce, coalesce_others
from ..iterator.shape import Ints, numel
from ..kernels.skeletons.fft import (
    FACTORS,
    MAX_POINTS,
    SCALE,
    SWAP_IN,
    SWAP_OUT,
    FftGeometry,
    FftKey,
    FftStreamGeometry,
    FftStreamKey,
    fft_key,
    radices,
)
from ..kernels.workload import PORT_BYTES
from ..runtime.launch_cache import in_image
from .device_traits import is_board
from .dispatch import alias_launch, run
from .fft_plan import MAX_CHIRP, FftProblem, PlannedStep, chirp, chirp_spectrum, kept_table, plan, smooth, unit_roots
from .launch import Launch, Output, Step, check_memory
from .scalars import values_of

if TYPE_CHECKING:
    from ..runtime.backend import Backend


Array = np.ndarray[Any, Any]


def stream_key(backend: Backend, dtype: dtype, n: int) -> FftStreamKey | None:
    """Returns the shortest streaming kernel in the device's images for rows of n numbers: n is a
    power of two, or the transform is a chirp convolution. Returns None if there is none, or if the
    device compiles on demand."""
    if n < 2:
        return None
    points = max(_points(n), 8)
    while points <= MAX_POINTS:
        key = FftStreamKey(dtype, points)
        if in_image(backend, key):
            return key
        points *= 2
    return None


def _points(n: int) -> int:
    return n if not n & (n - 1) else 1 << (2 * n - 2).bit_length()


def prepare_stream(
    key: FftStreamKey, x: Tensor, dim: int, inverse: bool, scale: float, output: Output
) -> Launch | None:
    """Returns the launch that transforms along all of `dim`; None if the other dims of input and
    output do not merge into one."""
    backend, n = x._storage.backend, x._shape[dim]
    shape, (read, written) = coalesce_others(x._shape, (x._strides, output.strides), dim)
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

    scalars = values_of(scale, x._dtype.to_real())
    if size == n:
        table = _table(key)
        return Launch((step(geometry, 0, 1, 2),), 3, (output,), fixed_scalars=scalars, constants=(table,))
    # x[j] c[j], convolved with the conjugate of c[k] = exp(-pi i k^2 / n), gives results times
    # c[k]. The inverse transform exchanges real and imaginary parts, which conjugates a factor.
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
        fixed_scalars=scalars,
        constants=tables,
        temporaries=(rows * size * x._dtype.itemsize,),
    )


def _table(
    key: FftStreamKey, name: str = "", factors: Callable[[], tuple[Array, Array]] | None = None
) -> Callable[[Tensor], Tensor]:
    """Returns the function that computes a kernel's table: the roots of unity, then, from the next
    beat on, the factors for the input and for the output."""
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


OUT, IN, TABLE, SCRATCH, BETWEEN = range(5)
# Tables are keyed by small integers, since every call looks one up.
_table_names: dict[Hashable, int] = {}


def too_long(n: int) -> bool:
    """True if a length has a large prime factor and is too long for a chirp convolution in one
    launch."""
    return radices(n) is None and smooth(2 * n - 1) > MAX_CHIRP


def fast_length(x: Tensor, least: int) -> int:
    """Returns the shortest length of at least `least` numbers that the device of `x` transforms
    fast: on a board a power of two, since only these stream; else any with small radices."""
    return 1 << (least - 1).bit_length() if is_board(x) else smooth(least)


def has_stream_kernel(x: Tensor, n: int) -> bool:
    """True if the device's images have a streaming kernel for complex rows of n numbers."""
    return stream_key(x._storage.backend, x._dtype.to_complex(), n) is not None


def transform(
    x: Tensor, dim: int, n: int, how: str, inverse: bool, scale: float, order: Ints, also: Hashable = None
) -> Tensor:
    """Returns the transforms of n numbers along `dim`, times `scale`. `order` is the order of the
    result's dims in memory.

    A forward transform is the sum of x[m] exp(-2 pi i k m / n); an inverse transform has the other
    sign. `how` is "complex": complex to complex; "forth": real to half a spectrum of n // 2 + 1
    numbers (conjugated if `inverse`); or "back": half a spectrum to n real numbers (with the sign
    of an inverse transform unless `inverse`). A complex input that is too short is zero-padded.
    `also`: a cache key for `cached_transform`.
    """
    backend = x._storage.backend
    args = (x, dim, n, how, inverse, scale, order)
    key = ("fft", x._key, *args[1:])
    (result,) = run(backend, key, prepare, transform, args, (x,))
    if also is not None:
        alias_launch(backend, key, also)
    return result


def cached_transform(key: Hashable, x: Tensor) -> Tensor | None:
    """Returns the result of a call whose launch `transform` stored under this key; None on a
    miss."""
    results = x._storage.backend.launches[key].call((x,), (), None)
    return None if results is None else results[0]


def prepare(x: Tensor, dim: int, n: int, how: str, inverse: bool, scale: float, order: Ints) -> Launch:
    """Returns the launch of a transform, as planned by `fft_plan.plan`."""
    backend = x._storage.backend
    dtype = x._dtype.to_complex()
    if dtype.name == "complex128" and not backend.properties.has_float64:
        raise errors.no_float64(dtype, backend.properties.name)
    to = dtype.to_real() if how == "back" else dtype
    size = n // 2 + 1 if how == "forth" else n
    shape = x._shape[:dim] + (size,) + x._shape[dim + 1 :]
    strides = _strides(shape, order)
    outputs = check_memory(backend, Output(to, shape, strides))
    if not numel(shape):
        return Launch((), 2, outputs)
    streamed = stream_key(backend, dtype, n) if how == "complex" and n == x._shape[dim] else None
    if streamed is not None:
        launch = prepare_stream(streamed, x, dim, inverse, scale, outputs[0])
        if launch is not None:
            return launch
    key = fft_key(dtype, backend.target)
    parts_of_ends = (1 if how == "forth" else 2, 1 if how == "back" else 2)
    rest = [d for d in range(x.ndim) if d != dim and shape[d] > 1]
    read, written = (tuple([by * s[d] for d in rest]) for by, s in zip(parts_of_ends, (x._strides, strides)))
    row_sizes = tuple([shape[d] for d in rest])
    row_sizes, (read, written) = coalesce(row_sizes, (read, written), range(len(row_sizes)))
    total = numel(row_sizes) * n
    most = backend.units
    if backend.target.grid != "stride":
        share = backend.target.unit_elements
        # Work below two units' shares is given to one unit, for any number of rows.
        most = max(1, min(most, 2 * total // share)) if total >= 2 * share else 1
    if not row_sizes or numel(row_sizes) == 1:
        row_sizes, read, written = (), (), ()
    problem = FftProblem(
        how,
        n,
        min(n, x._shape[dim]),
        inverse,
        row_sizes,
        read,
        written,
        (parts_of_ends[0] * x._strides[dim], parts_of_ends[1] * strides[dim]),
        key.lanes,
        most,
        dtype.itemsize // 2,
    )
    fft_plan = plan(problem)
    assert fft_plan is not None, f"no way for {n}"
    tables = fft_plan.tables
    steps = [_step(key, part, parts_of_ends, most, total) for part in fft_plan.steps]
    scratch = max(step.units * part.work for step, part in zip(steps, fft_plan.steps))
    temporaries = (max(scratch, 16) * (dtype.itemsize // 2), *fft_plan.intermediate_bytes)
    name = _table_names.setdefault((key.lanes, *tables.names), len(_table_names))
    return Launch(
        tuple(steps),
        3,
        outputs,
        temporaries=temporaries,
        fixed_scalars=values_of(scale, dtype.to_real()),
        constants=(partial(kept_table, name=name, make=tables.array),),
    )


def _strides(shape: Ints, order: Ints) -> Ints:
    """Returns dense strides for dims in this order."""
    strides, step = [0] * len(shape), 1
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


def _step(key: FftKey, part: PlannedStep, parts: tuple[int, int], most: int, total: int) -> Step:
    items = numel(part.shape)
    geometry = FftGeometry(items, part.pieces, part.work, parts, part.shape, part.read, part.written, part.stages)
    units = max(1, min(most, items * part.pieces))
    source, to = (tensor if k < 0 else BETWEEN + k for k, tensor in ((part.source, IN), (part.to, OUT)))
    offsets = tuple([k if k < TABLE else None for k in (to, source)])
    pointers = (to, source, TABLE, SCRATCH)
    return Step(key, units, pointers, offsets, geometry=geometry.pack(), work=4 * total)
