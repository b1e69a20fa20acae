"""The steps of a matrix product: one that reads matrices where they lie, or packed panels first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._tensor import Tensor
from ..iterator.shape import COUNTED, Ints, numel
from ..iterator.stride import contiguous_strides
from ..kernels.skeletons.gemm import (
    AlongGeometry,
    DirectGeometry,
    GemmKey,
    PackGeometry,
    PackSide,
    ProductGeometry,
    pack_key,
)
from .launch import Step

if TYPE_CHECKING:
    from ..runtime.backend import Backend

# A launch's operands, and the panels that are made of a and b, or, turned around, of b and a.
OUT, A, B, ADDED, *PANELS = range(6)
# Products of so many terms are computed where they lie even if b must be read element by element.
DIRECT_TERMS_GATHERED = 24**3


def _batch(t: Tensor, shape: Ints) -> Ints:
    """The strides of t's batch dims, 0 where it is broadcast to `shape`."""
    return tuple(s if n > 1 else 0 for n, s in zip(t._shape, t._strides))[: len(shape)]


def _merged(shape: Ints, strides: list[Ints]) -> tuple[Ints, list[Ints]]:
    """Batch dims without those of size 1, neighbours joined where every operand allows it."""
    kept: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if kept and all(mine[-1] == s[d] * n for mine, s in zip(steps, strides)):
            kept[-1] *= n
            for mine, s in zip(steps, strides):
                mine[-1] = s[d]
        else:
            kept.append(n)
            for mine, s in zip(steps, strides):
                mine.append(s[d])
    return tuple(kept), [tuple(mine) for mine in steps]


def _aligned(t: Tensor, whole_dim: int) -> bool:
    """Whether vectors along `whole_dim` start on 64 bytes wherever they are read or written."""
    size = t._dtype.itemsize
    if t._storage.backend.target.unaligned:
        return True
    rest = [s for d, (n, s) in enumerate(zip(t._shape, t._strides)) if n > 1 and d != whole_dim]
    return not (t._place() or any(s * size % 64 for s in rest))


def _units(backend: Backend, terms: int, items: int) -> int:
    """Compute units: a term costs about as much as a sixteenth of an element streamed."""
    if backend.target.grid == "stride":
        return max(1, min(backend.units, items))
    return max(1, min(backend.units, items, terms // (8 * backend.target.unit_elements)))


def direct(
    backend: Backend,
    key: GemmKey,
    swap: bool,
    terms: int,
    a: Tensor,
    b: Tensor,
    out: Tensor,
    added: Tensor,
    mode: int,
    near: bool = False,
) -> tuple[tuple[Step, ...], Ints]:
    *batch, m, n = out._shape
    shape = tuple(batch)
    row_blocks, vectors = -(-m // key.rows), -(-n // key.lanes)
    right, left = (A, B) if swap else (B, A)
    in_vectors = int(b._strides[-1] == 1 and _aligned(b, b.ndim - 1))
    lines, batches = b._strides[-2:], _batch(b, shape)
    first: tuple[Step, ...] = ()
    panels: Ints = ()
    if near and terms > DIRECT_TERMS_GATHERED and not (in_vectors and n % key.lanes == 0):
        # Vectors of all columns, zeros beyond the edge, in the place of b.
        side, beside = _side(b, -1, key.lanes)
        nothing = PackSide(0, 0, side.depth, 0, 0, 0)
        first = (_packing(backend, pack_key(key), (nothing, side), (PANELS[0],) * 2, left, right),)
        each = side.panels * key.lanes * side.depth
        panels = (side.matrices * each * out._dtype.compute.itemsize,)
        lines, batches, in_vectors = (key.lanes, side.depth), tuple(s * each for s in beside), 2
    own = [_batch(t, shape) for t in (a, out, added)]
    kept, steps = _merged(shape, [own[0], batches, *own[1:]])
    items = numel(kept) * row_blocks * vectors
    product = _product(items, row_blocks, vectors, 0, a, out, added, mode, kept, steps)
    geometry = DirectGeometry(**vars(product), a=a._strides[-2:], b=lines, in_vectors=in_vectors).pack()
    units = _units(backend, terms, items)
    pointers: Ints = (OUT, left, right, ADDED)
    offsets: tuple[int | None, ...] = pointers
    if panels:
        pointers, offsets = (OUT, left, PANELS[0], ADDED), (OUT, left, None, ADDED)
    last = Step(key, units, pointers, offsets, geometry=geometry, work=terms // 16)
    return (*first, last), panels


def lies_along(t: Tensor, dim: int) -> bool:
    """Whether whole vectors of a tensor lie in line along `dim`, its depth, wherever they begin."""
    return t._strides[dim] == 1 and _aligned(t, t.ndim + dim)


def along(
    backend: Backend, key: GemmKey, terms: int, a: Tensor, b: Tensor, out: Tensor, added: Tensor, mode: int
) -> tuple[tuple[Step, ...], Ints]:
    """The step of a product of matrices that `lies_along`."""
    *batch, m, n = out._shape
    kept, steps = _merged(tuple(batch), [_batch(t, tuple(batch)) for t in (a, b, out, added)])
    row_blocks, column_blocks = -(-m // key.rows), -(-n // key.rows)
    items = numel(kept) * row_blocks * column_blocks
    product = _product(items, row_blocks, column_blocks, 0, a, out, added, mode, kept, steps)
    geometry = AlongGeometry(**vars(product), a=a._strides[-2], b=b._strides[-1]).pack()
    operands = (OUT, A, B, ADDED)
    units = _units(backend, terms, items)
    step = Step(key, units, operands, operands, geometry=geometry, work=terms // 16)
    return (step,), ()


def packed(
    backend: Backend, key: GemmKey, swap: bool, terms: int, a: Tensor, b: Tensor, out: Tensor, added: Tensor, mode: int
) -> tuple[tuple[Step, ...], Ints]:
    shape = out._shape[:-2]
    of_a, of_b = _side(a, -2, key.rows), _side(b, -1, key.columns)
    sides, own = (of_a[0], of_b[0]), (of_a[1], of_b[1])
    row_panels, column_panels = [s.panels for s in sides]
    kept, steps = _merged(shape, [*own, _batch(out, shape), _batch(added, shape)])
    # Few tiles: smaller blocks, so that every compute unit has some; a CPU's take turns at uneven
    # speeds, and on a board a block's panels take turns in one pipeline.
    tiles = numel(kept) * row_panels * column_panels
    units = _units(backend, terms, tiles)
    each = 4 if backend.target.unaligned else 1
    block = max(1, min(key.block, tiles // (each * units), row_panels))
    items = numel(kept) * -(-row_panels // block) * column_panels
    geometry = _product(items, row_panels, column_panels, block, a, out, added, mode, kept, steps).pack()
    left, right = (B, A) if swap else (A, B)
    first = _packing(backend, pack_key(key), sides, PANELS, left, right)
    panels = [
        s.matrices * s.panels * width * s.depth * out._dtype.compute.itemsize
        for s, width in zip(sides, (key.rows, key.columns))
    ]
    units = min(units, items)
    pointers = (OUT, *PANELS, ADDED)
    second = Step(key, units, pointers, (OUT, ADDED), geometry=geometry, work=terms // 16)
    return (first, second), tuple(panels)


def _side(t: Tensor, dim: int, width: int) -> tuple[PackSide, Ints]:
    """How panels of so many of a tensor's rows (`dim` -2) or columns (-1) are made, and for each
    batch dim the step from one set of panels to the next."""
    sizes, strides, steps = _matrices(t)
    other = -3 - dim
    side = PackSide(
        t._shape[dim],
        -(-t._shape[dim] // width),
        t._shape[other],
        t._strides[dim],
        t._strides[other],
        numel(sizes),
        sizes,
        strides,
    )
    return side, steps


def _packing(
    backend: Backend, key: GemmKey, sides: Sequence[PackSide], panels: Sequence[int], left: int, right: int
) -> Step:
    """The step that makes panels of a launch's operands."""
    elements = sum(s.rows * s.depth * s.matrices for s in sides)
    units = max(1, min(backend.units, elements // backend.target.unit_elements))
    if backend.target.grid == "stride":
        units = backend.units
    return Step(
        key,
        units,
        (*panels, left, right),
        (left, right),
        numbers=False,
        geometry=PackGeometry(*sides).pack(),
        work=elements,
    )


def _matrices(t: Tensor) -> tuple[Ints, Ints, Ints]:
    """(sizes and strides of t's own batch dims, steps from one set of panels to the next)."""
    sizes, strides = t._shape[:-2], t._strides[:-2]
    steps = tuple(s if n > 1 else 0 for n, s in zip(sizes, contiguous_strides(sizes)))
    kept, (merged,) = _merged(sizes, [strides])
    return kept, merged, steps


def _product(
    items: int,
    row_blocks: int,
    columns: int,
    block: int,
    a: Tensor,
    out: Tensor,
    added: Tensor,
    mode: int,
    batch: Ints,
    steps: Sequence[Ints],
) -> ProductGeometry:
    """What both kernels are told of a product."""
    assert items <= COUNTED, "more tiles than a launch can count"
    *_, m, n = out._shape
    whole = int(out._strides[-1] == 1 and _aligned(out, out.ndim - 1))
    return ProductGeometry(
        items, row_blocks, columns, block, m, n, a._shape[-1], mode, whole, out._strides[-2:],
        added._strides[-2:], batch, tuple(steps),
    )  # fmt: skip
