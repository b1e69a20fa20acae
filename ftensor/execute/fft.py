"""Discrete Fourier transforms along a dim: their launches, and the tables that these read."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import TYPE_CHECKING

from .. import errors
from .._tensor import Tensor
from ..iterator.plan import coalesce
from ..iterator.shape import Ints, numel
from ..kernels.skeletons.fft import FftGeometry, FftKey, fft_key, radices
from . import fft_stream
from .fft_plan import MOST_CHIRP, FftProblem, PlannedStep, plan, smooth
from .fft_stream import stream_key
from .fft_tables import kept_table
from .launch import Launch, Output, Step, asked
from .numbers import values_of
from .run import also_as, run

if TYPE_CHECKING:
    pass

OUT, IN, TABLE, SCRATCH, BETWEEN = range(5)
# Short names of tables, which are looked up at every call.
_numbers: dict[Hashable, int] = {}


def too_long(n: int) -> bool:
    """Whether a length has a large prime factor and is too long for a convolution in one launch."""
    return radices(n) is None and smooth(2 * n - 1) > MOST_CHIRP


def streams(x: Tensor, n: int) -> bool:
    """Whether an image of the device has a kernel through which complex rows of n numbers flow."""
    return stream_key(x._storage.backend, x._dtype.to_complex(), n) is not None


def transform(
    x: Tensor, dim: int, n: int, how: str, inverse: bool, scale: float, order: Ints, also: Hashable = None
) -> Tensor:
    """The transforms of n numbers along `dim`, times `scale`, its dims in memory in this order.

    A forward one is the sum of x[m] exp(-2 pi i k m / n), an inverse one with the other sign.
    `how`: "complex" numbers to such; "forth", from real ones to half a spectrum, n // 2 + 1 numbers
    (with `inverse` their conjugates); "back", from these to n real ones (the sign is an inverse
    transform's unless `inverse`). Zeros follow a complex input that is too short. `also`: a key
    under which `known` is to find the launch.
    """
    backend = x._storage.backend
    args = (x, dim, n, how, inverse, scale, order)
    key = ("fft", x._key, *args[1:])
    (result,) = run(backend, key, prepare, transform, args, (x,))
    if also is not None:
        also_as(backend, key, also)
    return result


def known(key: Hashable, x: Tensor) -> Tensor | None:
    """The result of a call on such a tensor that one transform served before."""
    results = x._storage.backend.launches[key].call((x,), (), None)
    return None if results is None else results[0]


def prepare(x: Tensor, dim: int, n: int, how: str, inverse: bool, scale: float, order: Ints) -> Launch:
    """The launch of a transform, as `fft_plan.plan` has it."""
    backend = x._storage.backend
    of = x._dtype.to_complex()
    if of.name == "complex128" and not backend.properties.has_float64:
        raise errors.no_float64(of, backend.properties.name)
    to = of.to_real() if how == "back" else of
    size = n // 2 + 1 if how == "forth" else n
    shape = x._shape[:dim] + (size,) + x._shape[dim + 1 :]
    strides = _strides(shape, order)
    outputs = asked(backend, Output(to, shape, strides))
    if not numel(shape):
        return Launch((), 2, outputs)
    streamed = stream_key(backend, of, n) if how == "complex" and n == x._shape[dim] else None
    if streamed is not None:
        launch = fft_stream.prepare(streamed, x, dim, inverse, scale, outputs[0])
        if launch is not None:
            return launch
    key = fft_key(of, backend.target)
    parts = (1 if how == "forth" else 2, 1 if how == "back" else 2)
    rest = [d for d in range(x.ndim) if d != dim and shape[d] > 1]
    read, written = (tuple([by * s[d] for d in rest]) for by, s in zip(parts, (x._strides, strides)))
    others = tuple([shape[d] for d in rest])
    others, (read, written) = coalesce(others, (read, written), range(len(others)))
    total = numel(others) * n
    most = backend.units
    if backend.target.grid != "stride":
        share = backend.target.unit_elements
        # Fewer numbers than two units' are one's work, whatever their rows.
        most = max(1, min(most, 2 * total // share)) if total >= 2 * share else 1
    if not others or numel(others) == 1:
        others, read, written = (), (), ()
    problem = FftProblem(
        how,
        n,
        min(n, x._shape[dim]),
        inverse,
        others,
        read,
        written,
        (parts[0] * x._strides[dim], parts[1] * strides[dim]),
        key.lanes,
        most,
        of.itemsize // 2,
    )
    way = plan(problem)
    assert way is not None, f"no way for {n}"
    tables = way.tables
    steps = [_step(key, part, parts, most, total) for part in way.parts]
    scratch = max(step.units * part.work for step, part in zip(steps, way.parts))
    temporaries = (max(scratch, 16) * (of.itemsize // 2), *way.between)
    name = _numbers.setdefault((key.lanes, *tables.names), len(_numbers))
    return Launch(
        tuple(steps),
        3,
        outputs,
        temporaries=temporaries,
        own_numbers=values_of(scale, of.to_real()),
        constants=(partial(kept_table, name=name, make=tables.array),),
    )


def _strides(shape: Ints, order: Ints) -> Ints:
    """Strides without gaps, of dims that lie in this order."""
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
