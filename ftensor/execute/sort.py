"""Rows in order, and where values belong in them: launches of sort and search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import dtypes
from .._tensor import Tensor
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides, like_strides
from ..kernels.select import units_for
from ..kernels.skeletons.cpu.sort_rows import (
    FIRST,
    MERGE,
    RESULTS,
    TILE,
    TILES,
    WHOLE,
    SortRowsGeometry,
    SortRowsKey,
    first_run,
)
from ..kernels.skeletons.search import SearchGeometry, SearchKey
from ..kernels.skeletons.sort import compared
from . import board_sort, radix_sort
from .launch import Launch, Output, Step, asked
from .run import never_on_host, run

if TYPE_CHECKING:
    from ..runtime.backend import Backend

VALUES, INDICES, X, A_KEYS, A_ORDER, B_KEYS, B_ORDER = range(7)


def sort(x: Tensor, dim: int, descending: bool) -> tuple[Tensor, ...]:
    """The elements of `x`, of at least one dim and no complex dtype, in order along `dim`, equal
    ones as they stood, NaN as the largest; and the int64 places they come from. The results lie
    as `x` does."""
    backend = x._storage.backend
    key = ("sort", x._key, dim, descending)
    return run(backend, key, prepare, sort, (x, dim, descending), (x,))


def values_in_order(x: Tensor, dim: int) -> Tensor:
    """The values alone that `sort` gives."""
    if not radix_sort.serves(x, dim):
        return sort(x, dim, False)[0]
    key = ("values in order", x._key, dim)
    args = (x, dim, False, False)
    backend = x._storage.backend
    return run(backend, key, radix_sort.prepare, never_on_host, args, (x,))[0]


def prepare(x: Tensor, dim: int, descending: bool) -> Launch:
    """The launch: in local memory on boards, by digits where that serves, else by merges: one step,
    or, where a few long rows are for all units, tiles of them and then merges."""
    if board_sort.serves(x):
        return board_sort.prepare(x, dim, descending)
    if radix_sort.serves(x, dim):
        return radix_sort.prepare(x, dim, descending, places=True)
    backend, key = x._storage.backend, SortRowsKey(x._dtype)
    strides = like_strides(x._shape, x._strides)
    outputs = asked(backend, Output(x._dtype, x._shape, strides), Output(dtypes.int64, x._shape, strides))
    if not numel(x._shape):
        return Launch((), 3, outputs)
    shape, read, written = board_sort.rows_along(x, dim, strides)
    n, rows = x._shape[dim], numel(shape)
    passes = max(1, n.bit_length())
    # A pass over an element costs about as much as a few that are streamed.
    units = units_for(2 * passes * numel(x._shape), backend.units, backend.target, 1)
    tile = n if rows >= units or n <= TILE else _tile(backend, n, rows, units)
    whole = SortRowsGeometry(
        WHOLE, 1, n, n, first_run(n), descending, x._strides[dim], strides[dim], shape, read, written
    )
    if tile == n:
        units = min(units, rows)
        return _launch(key, [(whole, units, False)], outputs, units * n)
    tiles = -(-n // tile)
    cut = replace(whole, tiles=tiles, tile=tile, run=first_run(tile))
    units = min(units, rows * tiles)
    steps = [(replace(cut, mode=TILES), units, False)]
    size, turned = tile, False
    while size < n:
        steps.append((replace(cut, mode=MERGE, run=size), units, turned))
        size, turned = 2 * size, not turned
    steps.append((replace(cut, mode=RESULTS), units, turned))
    return _launch(key, steps, outputs, rows * n)


def selects(x: Tensor) -> bool:
    """Whether elements of a rank are found without a sort: on processors, where loops may turn as
    often as the data want."""
    return x._storage.backend.target.processor


def select(x: Tensor, dim: int, mode: int, rank: int, descending: bool = False) -> tuple[Tensor, ...]:
    """Values and int64 places along `dim`: with FIRST the `rank` first elements of the order that
    `sort` gives, as they stand in `x`; with RANK the one element of a rank, counted from 1, or that
    of MEDIAN or NANMEDIAN. A dim of at least one element, where `selects(x)`."""
    key = ("select", x._key, dim, mode, rank, descending)
    args = (x, dim, mode, rank, descending)
    return run(x._storage.backend, key, prepare_select, select, args, (x,))


def prepare_select(x: Tensor, dim: int, mode: int, rank: int, descending: bool) -> Launch:
    """The launch: a row is one unit's."""
    backend, key = x._storage.backend, SortRowsKey(x._dtype, selects=True)
    sizes = tuple([(rank if mode == FIRST else 1) if d == dim else n for d, n in enumerate(x._shape)])
    strides = contiguous_strides(sizes)
    outputs = asked(backend, Output(x._dtype, sizes, strides), Output(dtypes.int64, sizes, strides))
    if not numel(sizes):
        return Launch((), 3, outputs)
    shape, read, written = board_sort.rows_along(x, dim, strides)
    n, rows = x._shape[dim], numel(shape)
    units = min(rows, units_for(4 * numel(x._shape), backend.units, backend.target, 1))
    g = SortRowsGeometry(mode, 1, n, n, rank, descending, x._strides[dim], strides[dim], shape, read, written)
    return _launch(key, [(g, units, False)], outputs, units * n)


def _tile(backend: Backend, n: int, rows: int, units: int) -> int:
    """How many elements a unit sorts by itself: the same for all, and fitting a cache."""
    if backend.target.grid == "stride":
        return max(256, min(TILE, 1 << (n * rows // units).bit_length()))
    return TILE


def _launch(
    key: SortRowsKey, steps: list[tuple[SortRowsGeometry, int, bool]], outputs: tuple[Output, ...], kept: int
) -> Launch:
    """Steps, each from a to b or, where it is turned, from b to a."""
    launch_steps = []
    for g, units, turned in steps:
        a, b = ((A_KEYS, A_ORDER), (B_KEYS, B_ORDER))[:: -1 if turned else 1]
        pointers = (VALUES, INDICES, X, *a, *b)
        offsets = (VALUES, INDICES, X)
        work = g.n * numel(g.shape)
        launch_steps.append(Step(key, units, pointers, offsets, geometry=g.pack(), work=work))
    wide = compared(key.dtype).itemsize
    temporaries: Ints = (kept * wide, kept * 4, kept * wide, kept * 4)
    return Launch(tuple(launch_steps), 3, outputs, temporaries=temporaries)


def search(row: Tensor, values: Tensor, sorter: Tensor | None, right: bool) -> Tensor:
    """Where `values` belong in sorted rows: in the one of a `row` of one dim, or each in that of
    its own outer dims. All are contiguous, of one dtype, `sorter` int64; so is the result."""
    backend = values._storage.backend
    key = ("search", row._key, values._key, sorter is None, right)
    inputs = (row, values) if sorter is None else (row, values, sorter)
    args = (row, values, sorter, right)
    return run(backend, key, prepare_search, search, args, inputs)[0]


def prepare_search(row: Tensor, values: Tensor, sorter: Tensor | None, right: bool) -> Launch:
    """The launch of one step."""
    backend, key = values._storage.backend, SearchKey(values._dtype)
    inputs = 2 + (sorter is not None)
    outputs = asked(backend, Output(dtypes.int64, values._shape, contiguous_strides(values._shape)))
    n = numel(values._shape)
    if not n:
        return Launch((), 1 + inputs, outputs)
    size, shared = row._shape[-1], row.ndim == 1
    each = n if shared else values._shape[-1]
    geometry = SearchGeometry(n, each, size, 0 if shared else size, right, sorter is not None, size.bit_length()).pack()
    units = units_for(n * max(1, size.bit_length()), backend.units, backend.target, 1)
    units = min(units, n)
    pointers = (0, 1, 2, 3 if sorter is not None else 0)
    offsets = (0, 1, 2, 3 if sorter is not None else None)
    step = Step(key, units, pointers, offsets, geometry=geometry, work=n)
    return Launch((step,), 1 + inputs, outputs)
