"""Scans along a dim, and the positions of a mask's true elements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .. import dtypes, errors
from .._tensor import Tensor
from ..iterator.plan import coalesce_others
from ..iterator.shape import COUNTED, contiguous_strides, numel
from ..kernels.select import compute_units
from ..kernels.skeletons.scan import COLUMNS, SCANS, SIDE, TILE, CompactKey, ScanGeometry, ScanKey, scans_single_rows
from ..rows.copies import COPY
from ..rows.op import Op
from . import output
from .device_traits import spares_double
from .dispatch import MissingKernel, look_up, run
from .fallback import run_on_host
from .indexed import record_bounds
from .launch import Launch, Output, Step, check_memory, enqueue
from .pointwise import pointwise

if TYPE_CHECKING:
    from ..runtime.backend import Backend


def scan_along(op: str, x: Tensor, dim: int) -> tuple[Tensor, ...]:
    """Returns each element of `x`, of at least one dim, combined with all elements before it along
    `dim`: contiguous, and with positions for ops that have them."""
    backend = x._storage.backend
    return run(backend, ("scan", op, x._key, dim), prepare, scan_along, (op, x, dim), (x,))


def prepare(op: str, x: Tensor, dim: int) -> Launch:
    """Returns the launch: one step, or two if few long rows are split among the units."""
    if x._dtype.bare:
        raise errors.not_implemented_for(op, x._dtype)
    backend, key = x._storage.backend, _key(op, x)
    strides = contiguous_strides(x._shape)
    outputs: tuple[Output, ...] = (Output(x._dtype, x._shape, strides),)
    if SCANS[op].place:
        outputs += (Output(dtypes.int64, x._shape, strides),)
    check_memory(backend, *outputs)
    if not numel(x._shape):
        return Launch((), len(outputs) + 1, outputs)
    shape, (read, written) = coalesce_others(x._shape, (x._strides, strides), dim)
    n = x._shape[dim]
    columns, read_column, written_column = 1, 0, 0
    if shape and not (x._strides[dim] == 1 and scans_single_rows(key, n)):
        innermost = min(range(len(shape)), key=lambda d: abs(read[d]))
        columns, read_column, written_column = shape[innermost], read[innermost], written[innermost]
        shape, read, written = (t[:innermost] + t[innermost + 1 :] for t in (shape, read, written))
    side = COLUMNS
    if key.held:
        # Every unit gets a block. Blocks of short rows are limited by the size of a tile.
        most = TILE // n if strides[dim] == 1 else SIDE
        side = max(COLUMNS, min(SIDE, most, -(-columns // backend.units)))
    items = numel(shape) * -(-columns // side)
    geometry = ScanGeometry(
        0, 1, n, n, columns, side, (x._strides[dim], read_column), (strides[dim], written_column), shape, read, written
    )
    units = compute_units(numel(x._shape), backend.units, backend.target, COLUMNS)
    # Parts need an extra pass for totals, which doubles the work: two units gain nothing.
    parts = 1 if SCANS[op].place or units <= 2 else max(1, min(units // items, n))
    if parts == 1:
        return Launch((_step(key, geometry, units),), len(outputs) + 1, outputs)
    # Each part of a GPU sums the totals of all earlier parts, so their number is limited.
    parts = min(parts, max(2, round(n**0.5)))
    part = -(-n // parts)
    cut = replace(geometry, parts=-(-n // part), part=part)
    steps = tuple([_step(key, replace(cut, mode=mode), units) for mode in (1, 0)])
    totals = items * side * cut.parts * (8 if key.wide else x._dtype.compute.itemsize)
    return Launch(steps, 2, outputs, temporaries=(totals,))


def _key(op: str, x: Tensor) -> ScanKey:
    """Returns the kernel key. As in torch, CPUs and GPUs sum float32 and narrower dtypes in
    float64."""
    dtype = x._dtype
    wide = op in ("cumsum", "cumprod") and dtype.kind == "f" and dtype.itemsize < 8
    held = x._storage.backend.target.is_board
    return ScanKey(op, dtype, wide and spares_double(x), held)


def _step(key: ScanKey, g: ScanGeometry, units: int) -> Step:
    units = min(units, g.items)
    place = SCANS[key.op].place
    outputs = 1 + place
    pointers = (0, int(place), outputs, outputs + 1 if g.parts > 1 else 0)
    offsets = (0, int(place), outputs)
    return Step(key, units, pointers, offsets, geometry=g.pack(), work=g.n * g.items)


SHIFTED = Op("shifted", "position", "a + by", params=("by",), only=("int64",))


def positions(mask: Tensor) -> Tensor:
    """Returns the linear positions (int64, ascending) of a bool tensor's true elements. Waits for
    the result.

    Splits a mask beyond 32-bit indexing into halves.
    """
    n = mask.numel()
    mask._storage.backend.pool.check_capacity(n)  # also for an expanded mask, which is made contiguous
    if n > COUNTED:
        return _of_halves(mask)
    mask = mask.contiguous()
    backend = mask._storage.backend
    launch = look_up(backend, ("compact", n), _compact, (backend, n))
    if isinstance(launch, MissingKernel):
        return run_on_host(launch.error, positions, (mask,))
    units = launch.steps[0].units
    counts = output.new_like(mask, (units,), dtypes.int64)
    enqueue(launch, (counts, mask, counts), (n, 1))
    totals = np.empty(units, np.int64)
    backend.download(counts._storage, 0, totals)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(totals)[:-1]])
    backend.upload(counts._storage, 0, starts)
    result = output.new_like(mask, (int(totals.sum()),), dtypes.int64)
    record_bounds(result, 0, n - 1)
    if result.numel():
        enqueue(launch, (result, mask, counts), (n, 0))
    return result


def _of_halves(mask: Tensor) -> Tensor:
    """Returns the positions of a mask that is processed in two halves."""
    dim = next(d for d, size in enumerate(mask._shape) if size > 1)
    size, step = mask._shape[dim], mask._strides[dim]
    halves = []
    for begin, end in ((0, size // 2), (size // 2, size)):
        shape = (*mask._shape[:dim], end - begin, *mask._shape[dim + 1 :])
        part = positions(mask._view(shape, mask._strides, mask._offset + begin * step))
        before = begin * numel(mask._shape[dim + 1 :])
        halves.append(pointwise(SHIFTED, (part,), (before,)) if before else part)
    first, second = [f._shape[0] for f in halves]
    result = output.new_like(mask, (first + second,), dtypes.int64)
    pointwise(COPY, (halves[0],), (), result._view((first,), (1,), 0), True)
    pointwise(COPY, (halves[1],), (), result._view((second,), (1,), first), True)
    return record_bounds(result, 0, mask.numel() - 1)


def _compact(backend: Backend, n: int) -> Launch:
    """Returns the launch that counts the true elements of each compute unit's part, and in a second
    run writes their positions. Operands: output, mask and counts. Numbers: n, and 1 to count or 0
    to write."""
    key = CompactKey()
    units = max(1, min(backend.units, n // backend.target.unit_elements))
    return Launch((Step(key, units, (1, 0, 2), (1, 0), geometry=(n,), work=n),), 3)
