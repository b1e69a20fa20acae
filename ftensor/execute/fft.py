"""Discrete Fourier transforms of rows: which passes run, over which units, with which roots."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype
from ..iterator.shape import Ints
from ..kernels.select import UNIT_ELEMENTS
from ..kernels.skeletons.fft import RADICES, FftGeometry, FftKey, Pass, fft_key, passes_of
from ..runtime.program import kernel
from .fallback import on_host
from .launch import (
    Launch,
    Missing,
    Output,
    Step,
    enqueue,
    fitting,
    geometry_storage,
    look_up,
)
from .memory import new

if TYPE_CHECKING:
    from ..runtime.backend import Backend

OUT, IN, ROOTS, *SCRATCH = range(5)
# Fewer numbers than this are one unit's work, whatever their rows.
ALONE = 2 * UNIT_ELEMENTS
# Bytes of tables that a device keeps.
KEPT_BYTES = 1 << 28

_tables: WeakKeyDictionary[Backend, OrderedDict[tuple[Hashable, dtype], Tensor]]
_tables = WeakKeyDictionary()


def transform(x: Tensor, inverse: bool, scale: float) -> Tensor:
    """The transforms of a contiguous (rows, n) tensor of complex numbers, times `scale`.

    A forward one is the sum of x[m] exp(-2 pi i k m / n), an inverse one with the other sign. No
    prime factor of n may be above `kernels.skeletons.fft.MOST_RADIX`, and n is at least 2.
    """
    backend = x._storage.backend
    key = ("fft", x._key, inverse, scale, x._place())
    launch = look_up(backend, key, prepare, (x, inverse, scale))
    if isinstance(launch, Missing):
        made: Tensor = on_host(launch.error, transform, (x, inverse, scale))
        return made
    out = launch.outputs[0].make(backend, x._storage.device)
    if x.numel():
        passes = launch.plan
        roots = kept_table(x, ("roots", x._shape[1]), lambda: root_table(passes))
        enqueue(launch, (out, x, roots), (scale,))
    return out


def prepare(x: Tensor, inverse: bool, scale: float) -> Launch:
    """All passes in one step where each unit has rows of its own, else a step for each pass."""
    backend, of = x._storage.backend, x._dtype
    if of.name == "complex128" and not backend.properties.has_float64:
        raise errors.no_float64(of, backend.properties.name)
    rows, n = x._shape
    key = fft_key(of, backend.target)
    passes = passes_of(n, key.lanes)
    assert passes, f"no passes for {n}"
    most = backend.units
    if backend.target.grid != "stride":
        most = max(1, min(most, rows * n // UNIT_ELEMENTS))
    ends = (3 if inverse else 0) | (0 if scale == 1 else 4)
    size = of.itemsize * n
    if rows >= most or rows * n < ALONE or len(passes) == 1:
        units = max(1, min(most, rows))
        geometry = FftGeometry(rows, 1, n, ends, passes)
        scratch: Ints = (2 * units * size,) if len(passes) > 1 else ()
        between = SCRATCH[0] if scratch else OUT
        steps = [_step(backend, key, units, geometry, (OUT, IN, ROOTS, between), rows * n)]
    else:
        scratch = (rows * size,) * min(2, len(passes) - 1)
        steps = []
        for i, one in enumerate(passes):
            first, last = i == 0, i == len(passes) - 1
            mine = (ends & 1 if first else 0) | (ends & 6 if last else 0)
            pieces = min(
                one.vectors, -(-most // rows) * (1 if backend.target.grid == "stride" else 4)
            )
            geometry = FftGeometry(rows, pieces, n, mine, (one,))
            source = IN if first else SCRATCH[(i - 1) % 2]
            to = OUT if last else SCRATCH[i % 2]
            units = min(most, rows * pieces)
            steps.append(_step(backend, key, units, geometry, (to, source, ROOTS, to), rows * n))
    outputs = (Output(of, x._shape, x._strides),)
    return Launch(tuple(steps), 3, outputs, passes, (of.to_real(),), scratch)


def _step(
    backend: Backend, key: FftKey, units: int, geometry: FftGeometry, pointers: Ints, elements: int
) -> Step:
    run = fitting(kernel(backend, key), units, 4 * elements)
    numbers = geometry.pack()
    table = geometry_storage(backend, numbers)
    offsets = tuple([k if k <= ROOTS else None for k in pointers[:3]])
    return Step(key, run, units, pointers, offsets, geometry=numbers, table=table)


def kept_table(x: Tensor, name: Hashable, make: Callable[[], np.ndarray[Any, Any]]) -> Tensor:
    """The table of this name, in the dtype and on the device of `x`: kept from an earlier call, or
    what `make` gives, in double precision."""
    backend, of = x._storage.backend, x._dtype
    kept = _tables.setdefault(backend, OrderedDict())
    found = kept.pop((name, of), None)
    if found is None:
        array = make().astype(of.numpy)
        found = new(array.shape, of, x._storage.device)
        backend.upload(found._storage, 0, array)
        if len(backend.streams) > 1:
            backend.current_stream().finish()  # others will read it, too
        while kept and sum([t.nbytes for t in kept.values()]) + found.nbytes > KEPT_BYTES:
            kept.popitem(last=False)
    kept[name, of] = found
    return found


def root_table(passes: tuple[Pass, ...]) -> np.ndarray[Any, Any]:
    """The roots of all passes, one after the other, in double precision."""
    parts = [np.ones(1, np.complex128)]  # never read; no table is empty
    del parts[: any(p.length > 1 or p.radix not in RADICES for p in passes)]
    for p in passes:
        if p.length > 1:
            powers = np.arange(1, p.radix)[:, None] * np.arange(p.length)
            parts.append(unit_roots(powers.reshape(-1), p.radix * p.length))
        if p.radix not in RADICES:
            parts.append(unit_roots(np.arange(p.radix), p.radix))
    return np.concatenate(parts)


def unit_roots(powers: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
    """exp(-2 pi i k / n) for integers k, to about 2e-16.

    Angles are brought into an eighth of the circle as integers, so that no rounded angle is large.
    """
    eighths = powers.astype(np.int64) % n * 8
    octant, rest = eighths // n, eighths % n
    odd = octant % 2 == 1
    angle = np.where(odd, n - rest, rest) * (np.pi / 4 / n)
    c, s = np.cos(angle), np.sin(angle)
    c, s = np.where(odd, s, c), np.where(odd, c, s)  # within a quarter
    quarter = octant // 2
    re = np.choose(quarter, (c, -s, -c, s))
    im = np.choose(quarter, (s, c, -s, -c))
    made: np.ndarray[Any, Any] = re - 1j * im
    return made
