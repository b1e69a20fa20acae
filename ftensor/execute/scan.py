"""Scans along a dim: parallel columns, and the split of long rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import dtypes, errors
from .._tensor import Tensor
from ..iterator.plan import coalesce
from ..iterator.shape import contiguous_strides, numel
from ..kernels.select import units_for
from ..kernels.skeletons.scan import COLUMNS, SCANS, SIDE, TILE, ScanGeometry, ScanKey, alone
from .device_traits import spares_double
from .dispatch import run
from .launch import Launch, Output, Step, check_memory

if TYPE_CHECKING:
    pass


def scan(op: str, x: Tensor, dim: int) -> tuple[Tensor, ...]:
    """Returns each element of `x`, of at least one dim, combined with all elements before it along
    `dim`: contiguous, and with positions for ops that have them."""
    backend = x._storage.backend
    return run(backend, ("scan", op, x._key, dim), prepare, scan, (op, x, dim), (x,))


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
    rest = [d for d in range(x.ndim) if d != dim and x._shape[d] > 1]
    shape = tuple([x._shape[d] for d in rest])
    read, written = (tuple([s[d] for d in rest]) for s in (x._strides, strides))
    shape, (read, written) = coalesce(shape, (read, written), range(len(shape)))
    n = x._shape[dim]
    columns, read_column, written_column = 1, 0, 0
    if shape and not (x._strides[dim] == 1 and alone(key, n)):
        near = min(range(len(shape)), key=lambda d: abs(read[d]))
        columns, read_column, written_column = shape[near], read[near], written[near]
        shape, read, written = (t[:near] + t[near + 1 :] for t in (shape, read, written))
    side = COLUMNS
    if key.held:
        # Every unit gets a block; a block of short rows has as many as fit a tile.
        most = TILE // n if strides[dim] == 1 else SIDE
        side = max(COLUMNS, min(SIDE, most, -(-columns // backend.units)))
    items = numel(shape) * -(-columns // side)
    whole = ScanGeometry(
        0, 1, n, n, columns, side, (x._strides[dim], read_column), (strides[dim], written_column), shape, read, written
    )
    units = units_for(numel(x._shape), backend.units, backend.target, COLUMNS)
    # Parts need a first pass for totals, so the work doubles and two units gain nothing.
    parts = 1 if SCANS[op].place or units <= 2 else max(1, min(units // items, n))
    if parts == 1:
        return Launch((_step(key, whole, units),), len(outputs) + 1, outputs)
    # A GPU's unit sums the totals before its part, so the number of parts is limited.
    parts = min(parts, max(2, round(n**0.5)))
    part = -(-n // parts)
    cut = replace(whole, parts=-(-n // part), part=part)
    steps = tuple([_step(key, replace(cut, mode=mode), units) for mode in (1, 0)])
    totals = items * side * cut.parts * (8 if key.wide else x._dtype.compute.itemsize)
    return Launch(steps, 2, outputs, temporaries=(totals,))


def _key(op: str, x: Tensor) -> ScanKey:
    """Returns the kernel key. As in torch, CPUs and GPUs sum float32 and narrower dtypes in
    float64."""
    of = x._dtype
    wide = op in ("cumsum", "cumprod") and of.kind == "f" and of.itemsize < 8
    held = x._storage.backend.target.is_board
    return ScanKey(op, of, wide and spares_double(x), held)


def _step(key: ScanKey, g: ScanGeometry, units: int) -> Step:
    units = min(units, g.items)
    place = SCANS[key.op].place
    of = 1 + place
    pointers = (0, int(place), of, of + 1 if g.parts > 1 else 0)
    offsets = (0, int(place), of)
    return Step(key, units, pointers, offsets, geometry=g.pack(), work=g.n * g.items)
