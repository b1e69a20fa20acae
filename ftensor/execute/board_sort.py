"""Rows in order in a board's local memory, and their first elements in its registers."""

from __future__ import annotations

from .. import dtypes
from .._tensor import Tensor
from ..iterator.plan import coalesce
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides, like_strides
from ..kernels.select import units_for
from ..kernels.skeletons.sort import RUN, TILE, WAYS, SortGeometry, SortKey
from ..kernels.skeletons.topk import FIRST, TopkGeometry, TopkKey
from ..runtime.program import held
from .launch import Launch, Output, Step, asked
from .run import never_on_host, run

LAST = 64  # bytes of a temporary that nobody uses
VALUES, INDICES, X, A, A_ORDER, B, B_ORDER = range(7)


def serves(x: Tensor) -> bool:
    """Whether `x` lies on a board or on what stands for one, or where kernels are an image's."""
    backend = x._storage.backend
    return not backend.target.unaligned or backend.images is not None


def first_key(x: Tensor, many: int) -> TopkKey | None:
    """The kernel of the device's images for so many first elements of rows; None where there is
    none, and on devices that compile what they need."""
    key = TopkKey(x._dtype)
    fits = 1 <= many <= FIRST and x._dtype.bare == "" and not x._dtype.is_complex
    return key if fits and held(x._storage.backend, key) else None


def first(x: Tensor, dim: int, many: int, descending: bool) -> tuple[Tensor, ...] | None:
    """The first `many` elements along `dim` of the order that `sort` gives, and their int64 places;
    None where there is no kernel for them."""
    key = first_key(x, many)
    if key is None or not numel(x._shape):
        return None
    call_key, args = ("topk", x._key, dim, many, descending), (key, x, dim, many, descending)
    return run(x._storage.backend, call_key, prepare_first, never_on_host, args, (x,))


def prepare_first(key: TopkKey, x: Tensor, dim: int, many: int, descending: bool) -> Launch:
    """The launch: a row is one unit's."""
    backend, sizes = x._storage.backend, list(x._shape)
    sizes[dim] = many
    strides = contiguous_strides(tuple(sizes))
    outputs = asked(backend, Output(x._dtype, tuple(sizes), strides), Output(dtypes.int64, tuple(sizes), strides))
    shape, read, written = rows_along(x, dim, strides)
    g = TopkGeometry(x._shape[dim], many, descending, x._strides[dim], strides[dim], shape, read, written)
    units = units_for(numel(x._shape), backend.units, backend.target, 1)
    operands = (VALUES, INDICES, X)
    step = Step(key, min(units, g.items), operands, operands, numbers=False, geometry=g.pack())
    return Launch((step,), 3, outputs)


def rows_along(x: Tensor, dim: int, strides: Ints) -> tuple[Ints, Ints, Ints]:
    """The other dims of rows along `dim`, merged where they can be: sizes, strides, and those of
    results with `strides`."""
    rest = [d for d in range(x.ndim) if d != dim and x._shape[d] > 1]
    shape = tuple([x._shape[d] for d in rest])
    read, written = (tuple([s[d] for d in rest]) for s in (x._strides, strides))
    shape, (read, written) = coalesce(shape, (read, written), range(len(shape)))
    return shape, read, written


def prepare(x: Tensor, dim: int, descending: bool) -> Launch:
    """The launch: tiles of rows, and merges of them until a row is one."""
    backend, key = x._storage.backend, SortKey(x._dtype)
    strides = like_strides(x._shape, x._strides)
    outputs = asked(backend, Output(x._dtype, x._shape, strides), Output(dtypes.int64, x._shape, strides))
    if not numel(x._shape):
        return Launch((), 3, outputs)
    shape, read, written = rows_along(x, dim, strides)
    n, rows = x._shape[dim], numel(shape)
    tile, run = min(TILE, n), RUN
    steps: list[Step] = []
    while True:
        last, merges = tile >= n, bool(steps)
        g = SortGeometry(
            merges, last, -(-n // tile), tile, n, run, descending, x._strides[dim], strides[dim], shape, read, written
        )
        a, b = ((A, A_ORDER), (B, B_ORDER))[:: 1 if len(steps) % 2 else -1]
        units = units_for(g.passes * n * rows, backend.units, backend.target, 1)
        steps.append(
            Step(
                key,
                min(units, g.items),
                (VALUES, INDICES, X, *a, *b),
                (VALUES, INDICES, X),
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
