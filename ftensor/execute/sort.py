"""Launches of sort, topk and search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import dtypes
from .._tensor import Tensor
from ..iterator.plan import coalesce_others, like_strides
from ..iterator.shape import COUNTED, Ints, contiguous_strides, numel
from ..kernels.select import compute_units
from ..kernels.skeletons.cpu.sort import (
    COUNT,
    FIRST,
    MERGE,
    MOVE,
    NARROW,
    PLACE,
    RADIX_WHOLE,
    RESULTS,
    TILE,
    TILES,
    WHOLE,
    WIDE,
    RadixGeometry,
    RadixKey,
    SortRowsGeometry,
    SortRowsKey,
    first_run,
    radix_key,
)
from ..kernels.skeletons.cpu.take import BUCKETS, ORDER, ShuffleGeometry, ShuffleKey
from ..kernels.skeletons.sort import (
    LOCAL_TILE,
    RUN,
    TOPK_FIRST,
    WAYS,
    SearchGeometry,
    SearchKey,
    SortGeometry,
    SortKey,
    TopkGeometry,
    TopkKey,
    comparison_dtype,
)
from ..runtime.launch_cache import in_image
from .device_traits import is_board
from .dispatch import never_on_host, run
from .launch import Launch, Output, Step, check_memory

if TYPE_CHECKING:
    from ..runtime.backend import Backend


LAST = 64  # bytes of the unused temporary
BOARD_VALUES, BOARD_INDICES, BOARD_X, A, BOARD_A_ORDER, B, BOARD_B_ORDER = range(7)


def topk_key(x: Tensor, k: int) -> TopkKey | None:
    """Returns the top-k kernel in the device's images for `k` elements per row; None if there is
    none, or if the device compiles on demand."""
    key = TopkKey(x._dtype)
    fits = 1 <= k <= TOPK_FIRST and x._dtype.bare == "" and not x._dtype.is_complex
    return key if fits and in_image(x._storage.backend, key) else None


def topk(x: Tensor, dim: int, k: int, descending: bool) -> tuple[Tensor, ...] | None:
    """Returns the first `k` elements along `dim` in the order of `sort`, and their int64
    positions; None if no kernel fits."""
    key = topk_key(x, k)
    if key is None or not numel(x._shape):
        return None
    call_key, args = ("topk", x._key, dim, k, descending), (key, x, dim, k, descending)
    return run(x._storage.backend, call_key, prepare_topk, never_on_host, args, (x,))


def prepare_topk(key: TopkKey, x: Tensor, dim: int, k: int, descending: bool) -> Launch:
    """Returns the launch. One unit processes a row."""
    backend, sizes = x._storage.backend, list(x._shape)
    sizes[dim] = k
    strides = contiguous_strides(tuple(sizes))
    outputs = check_memory(
        backend, Output(x._dtype, tuple(sizes), strides), Output(dtypes.int64, tuple(sizes), strides)
    )
    g = TopkGeometry(x._shape[dim], k, descending, *rows_along(x, dim, strides))
    units = compute_units(numel(x._shape), backend.units, backend.target, 1)
    operands = (BOARD_VALUES, BOARD_INDICES, BOARD_X)
    step = Step(key, min(units, g.items), operands, operands, scalars=False, geometry=g.pack())
    return Launch((step,), 3, outputs)


def rows_along(x: Tensor, dim: int, strides: Ints) -> tuple[int, int, Ints, Ints, Ints]:
    """Returns how to walk along `dim` of `x` and of results with `strides`: both strides along a
    row, and of the other dims, merged where possible, the sizes and both strides."""
    shape, (read, written) = coalesce_others(x._shape, (x._strides, strides), dim)
    return x._strides[dim], strides[dim], shape, read, written


def prepare_on_board(x: Tensor, dim: int, descending: bool) -> Launch:
    """Returns the launch: sorts tiles of rows, then merges tiles until each row is one tile."""
    backend, key = x._storage.backend, SortKey(x._dtype)
    strides = like_strides(x._shape, x._strides)
    outputs = check_memory(backend, Output(x._dtype, x._shape, strides), Output(dtypes.int64, x._shape, strides))
    if not numel(x._shape):
        return Launch((), 3, outputs)
    walk = rows_along(x, dim, strides)
    n, rows = x._shape[dim], numel(walk[2])
    tile, run = min(LOCAL_TILE, n), RUN
    steps: list[Step] = []
    while True:
        last, merges = tile >= n, bool(steps)
        g = SortGeometry(merges, last, -(-n // tile), tile, n, run, descending, *walk)
        a, b = ((A, BOARD_A_ORDER), (B, BOARD_B_ORDER))[:: 1 if len(steps) % 2 else -1]
        units = compute_units(g.passes * n * rows, backend.units, backend.target, 1)
        steps.append(
            Step(
                key,
                min(units, g.items),
                (BOARD_VALUES, BOARD_INDICES, BOARD_X, *a, *b),
                (BOARD_VALUES, BOARD_INDICES, BOARD_X),
                geometry=g.pack(),
                work=n * rows,
            )
        )
        if last:
            break
        tile, run = min(WAYS * tile, n), tile
    kept = n * rows if len(steps) > 1 else 0
    size = max(LAST, kept * x._dtype.itemsize), max(LAST, kept * 4)
    return Launch(tuple(steps), 3, outputs, temporaries=(*size, *size))


# Thresholds of radix sort: from LEAST_BYTES a row is faster by digits than by merges; from MANY
# elements digits are wide; from LINED elements a row is cut into parts and written in lines.
LEAST_BYTES, MANY, LINED = 512, 1 << 13, 1 << 17


def sorts_by_digits(x: Tensor, dim: int) -> bool:
    """True if rows along `dim` are sorted by radix: on CPUs, where loops may have data-dependent
    bounds."""
    size = x._shape[dim] * max(4, x._dtype.itemsize)
    return x._storage.backend.target.processor and size >= LEAST_BYTES


def prepare_radix_sort(x: Tensor, dim: int, descending: bool, with_indices: bool) -> Launch:
    """Returns the launch of a radix sort: one step, or three per digit of long rows. Its outputs
    are the values, and with `with_indices` their positions.

    The temporaries take twice the memory of the rows that are sorted at the same time: with
    positions 8 bytes per element, or 12 for 8-byte elements.
    """
    backend, n = x._storage.backend, x._shape[dim]
    key = radix_key(x._dtype, backend.target, with_indices)
    strides = like_strides(x._shape, x._strides)
    dtypes_ = (x._dtype, dtypes.int64) if with_indices else (x._dtype,)
    outputs = check_memory(backend, *[Output(d, x._shape, strides) for d in dtypes_])
    if not numel(x._shape):
        return Launch((), len(dtypes_) + 1, outputs)
    walk = rows_along(x, dim, strides)
    bits, rows = 8 * x._dtype.itemsize, numel(walk[2])
    width = WIDE if bits > 16 and n >= MANY else NARROW
    passes = -(-bits // width)
    units = compute_units(2 * passes * numel(x._shape), backend.units, backend.target, 1)
    parts = max(1, units // rows)
    geometry = RadixGeometry(RADIX_WHOLE, 1, n, width, passes, 0, 0, False, descending, *walk)
    if n < LINED:
        units = min(units, rows)
        return _radix_launch(key, [(geometry, units)], outputs, units * n, 0)
    cut = replace(geometry, parts=parts, lined=True)
    steps = []
    for turn in range(passes):
        for mode in (COUNT, PLACE, MOVE):
            step = replace(cut, mode=mode, turn=turn)
            steps.append((step, min(units, step.items)))
    return _radix_launch(key, steps, outputs, rows * n, rows * parts)


def _radix_launch(
    key: RadixKey, steps: list[tuple[RadixGeometry, int]], outputs: tuple[Output, ...], kept: int, parts: int
) -> Launch:
    """Returns the launch of these radix sort steps. Its temporaries hold `kept` elements, and the
    counts of `parts` parts."""
    g, operands = steps[0][0], len(outputs) + 1
    size = 8 if key.packed else key.dtype.itemsize
    separate_indices = key.places and not key.packed
    digits = parts << g.width
    lines = digits * key.lanes
    launch_steps = tuple(
        [
            Step(
                key,
                units,
                tuple(range(operands + 5)),
                tuple(range(operands)),
                geometry=g.pack(),
                work=g.n * numel(g.shape),
            )
            for g, units in ((replace(g, kept=kept), units) for g, units in steps)
        ]
    )
    temporaries = (
        kept * size,
        kept * size,
        lines * size or LAST,
        (2 * kept + lines) * 4 if separate_indices else LAST,
        (digits + 2 * parts) * 4 or LAST,
    )
    return Launch(launch_steps, operands, outputs, temporaries=temporaries)


BUCKET_BITS = 3  # of the number of keys in a bucket


def shuffled(keys: Tensor) -> Tensor | None:
    """Returns the positions (int64) of contiguous random int64 keys in ascending order, as a stable
    `sort` gives them; None on devices other than CPUs. Keys that are not spread evenly take long."""
    backend, n = keys._storage.backend, keys._shape[0]
    if not backend.target.processor or not 1 < n <= COUNTED:
        return None
    return run(backend, ("shuffle", keys._key), _prepare_shuffle, never_on_host, (keys,), (keys,))[0]


def _prepare_shuffle(keys: Tensor) -> Launch:
    backend, n = keys._storage.backend, keys._shape[0]
    bits = max(1, n.bit_length() - 1 - BUCKET_BITS)
    units = compute_units(4 * n, backend.units, backend.target, 1)
    output = check_memory(backend, Output(dtypes.int64, (n,), (1,)))
    steps = tuple(
        [
            Step(
                ShuffleKey(), 1 if mode == BUCKETS else min(units, 1 << bits), (0, 1, 2, 3), (0, 1),
                geometry=ShuffleGeometry(mode, n, bits).pack(), work=n,
            )
            for mode in (BUCKETS, ORDER)
        ]
    )  # fmt: skip
    return Launch(steps, 2, output, temporaries=(4 * n, 4 << bits))


VALUES, INDICES, X, A_KEYS, A_ORDER, B_KEYS, B_ORDER = range(7)


def sort(x: Tensor, dim: int, descending: bool) -> tuple[Tensor, ...]:
    """Returns the elements of `x` sorted along `dim`, stable, with NaN as the largest, and their
    int64 positions. `x` has at least one dim and no complex dtype. The results have the layout of
    `x`."""
    backend = x._storage.backend
    key = ("sort", x._key, dim, descending)
    return run(backend, key, prepare, sort, (x, dim, descending), (x,))


def values_in_order(x: Tensor, dim: int) -> Tensor:
    """Returns the values of `sort` without positions."""
    if not sorts_by_digits(x, dim):
        return sort(x, dim, False)[0]
    key = ("values in order", x._key, dim)
    args = (x, dim, False, False)
    backend = x._storage.backend
    return run(backend, key, prepare_radix_sort, never_on_host, args, (x,))[0]


def prepare(x: Tensor, dim: int, descending: bool) -> Launch:
    """Returns the launch: in local memory on boards, by radix if `sorts_by_digits`, else by merges.
    Merges take one step; if units share a few long rows, several steps sort and merge tiles."""
    if is_board(x):
        return prepare_on_board(x, dim, descending)
    if sorts_by_digits(x, dim):
        return prepare_radix_sort(x, dim, descending, with_indices=True)
    backend, key = x._storage.backend, SortRowsKey(x._dtype)
    strides = like_strides(x._shape, x._strides)
    outputs = check_memory(backend, Output(x._dtype, x._shape, strides), Output(dtypes.int64, x._shape, strides))
    if not numel(x._shape):
        return Launch((), 3, outputs)
    walk = rows_along(x, dim, strides)
    n, rows = x._shape[dim], numel(walk[2])
    passes = max(1, n.bit_length())
    # A pass over an element costs about as much as streaming a few elements.
    units = compute_units(2 * passes * numel(x._shape), backend.units, backend.target, 1)
    tile = n if rows >= units or n <= TILE else _tile(backend, n, rows, units)
    geometry = SortRowsGeometry(WHOLE, 1, n, n, first_run(n), descending, *walk)
    if tile == n:
        units = min(units, rows)
        return _launch(key, [(geometry, units, False)], outputs, units * n)
    tiles = -(-n // tile)
    cut = replace(geometry, tiles=tiles, tile=tile, run=first_run(tile))
    units = min(units, rows * tiles)
    steps = [(replace(cut, mode=TILES), units, False)]
    size, turned = tile, False
    while size < n:
        steps.append((replace(cut, mode=MERGE, run=size), units, turned))
        size, turned = 2 * size, not turned
    steps.append((replace(cut, mode=RESULTS), units, turned))
    return _launch(key, steps, outputs, rows * n)


def selects(x: Tensor) -> bool:
    """True if `select` finds elements by rank without sorting: on CPUs, where loops may have
    data-dependent bounds."""
    return x._storage.backend.target.processor


def select(x: Tensor, dim: int, mode: int, rank: int, descending: bool = False) -> tuple[Tensor, ...]:
    """Returns values and int64 positions along `dim`. FIRST: the first `rank` elements in the order
    of `sort`, in their order in `x`. RANK: the element of a rank, counted from 1. MEDIAN and
    NANMEDIAN: the median. `dim` has at least one element, and `selects(x)` holds."""
    key = ("select", x._key, dim, mode, rank, descending)
    args = (x, dim, mode, rank, descending)
    return run(x._storage.backend, key, prepare_select, select, args, (x,))


def prepare_select(x: Tensor, dim: int, mode: int, rank: int, descending: bool) -> Launch:
    """Returns the launch. One unit processes a row."""
    backend, key = x._storage.backend, SortRowsKey(x._dtype, selects=True)
    sizes = tuple([(rank if mode == FIRST else 1) if d == dim else n for d, n in enumerate(x._shape)])
    strides = contiguous_strides(sizes)
    outputs = check_memory(backend, Output(x._dtype, sizes, strides), Output(dtypes.int64, sizes, strides))
    if not numel(sizes):
        return Launch((), 3, outputs)
    walk = rows_along(x, dim, strides)
    n, rows = x._shape[dim], numel(walk[2])
    units = min(rows, compute_units(4 * numel(x._shape), backend.units, backend.target, 1))
    g = SortRowsGeometry(mode, 1, n, n, rank, descending, *walk)
    return _launch(key, [(g, units, False)], outputs, units * n)


def _tile(backend: Backend, n: int, rows: int, units: int) -> int:
    """Returns the number of elements that one compute unit sorts at a time: equal for all units,
    and small enough for a cache."""
    if backend.target.grid == "stride":
        return max(256, min(TILE, 1 << (n * rows // units).bit_length()))
    return TILE


def _launch(
    key: SortRowsKey, steps: list[tuple[SortRowsGeometry, int, bool]], outputs: tuple[Output, ...], kept: int
) -> Launch:
    """Returns the launch of a sort. Each step is (geometry, units, turned): it reads buffer a and
    writes buffer b, or the reverse if `turned`."""
    launch_steps = []
    for g, units, turned in steps:
        a, b = ((A_KEYS, A_ORDER), (B_KEYS, B_ORDER))[:: -1 if turned else 1]
        pointers = (VALUES, INDICES, X, *a, *b)
        offsets = (VALUES, INDICES, X)
        work = g.n * numel(g.shape)
        launch_steps.append(Step(key, units, pointers, offsets, geometry=g.pack(), work=work))
    wide = comparison_dtype(key.dtype).itemsize
    temporaries: Ints = (kept * wide, kept * 4, kept * wide, kept * 4)
    return Launch(tuple(launch_steps), 3, outputs, temporaries=temporaries)


def search(row: Tensor, values: Tensor, sorter: Tensor | None, right: bool) -> Tensor:
    """Returns the positions where `values` belong in sorted rows: in `row` if it has one dim, else
    in the row at the same outer indices. All operands are contiguous and of one dtype, except the
    int64 `sorter`. The result is contiguous and int64."""
    backend = values._storage.backend
    key = ("search", row._key, values._key, sorter is None, right)
    inputs = (row, values) if sorter is None else (row, values, sorter)
    args = (row, values, sorter, right)
    return run(backend, key, prepare_search, search, args, inputs)[0]


def prepare_search(row: Tensor, values: Tensor, sorter: Tensor | None, right: bool) -> Launch:
    """Returns the launch of one step."""
    backend, key = values._storage.backend, SearchKey(values._dtype)
    inputs = 2 + (sorter is not None)
    outputs = check_memory(backend, Output(dtypes.int64, values._shape, contiguous_strides(values._shape)))
    n = numel(values._shape)
    if not n:
        return Launch((), 1 + inputs, outputs)
    size, shared = row._shape[-1], row.ndim == 1
    each = n if shared else values._shape[-1]
    geometry = SearchGeometry(n, each, size, 0 if shared else size, right, sorter is not None, size.bit_length()).pack()
    units = compute_units(n * max(1, size.bit_length()), backend.units, backend.target, 1)
    units = min(units, n)
    pointers = (0, 1, 2, 3 if sorter is not None else 0)
    offsets = (0, 1, 2, 3 if sorter is not None else None)
    step = Step(key, units, pointers, offsets, geometry=geometry, work=n)
    return Launch((step,), 1 + inputs, outputs)
