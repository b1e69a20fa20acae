"""Matrix products of prepared operands: which kernels run, on which panels, in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides
from ..kernels.select import UNIT_ELEMENTS
from ..kernels.skeletons.gemm import (
    DirectGeometry,
    GemmKey,
    PackedGeometry,
    PackGeometry,
    PackSide,
    ProductGeometry,
    direct_key,
    pack_key,
    packed_key,
)
from ..runtime.program import built, kernel
from .launch import Launch, Output, Step, fitting, geometry_storage
from .run import run

if TYPE_CHECKING:
    from ..runtime.backend import Backend, Kernel

# A launch's operands, and the panels that are made of a and b, or, turned around, of b and a.
OUT, A, B, ADDED, *PANELS = range(6)

# Products of fewer terms than this are computed where they lie, larger ones from packed panels.
DIRECT_TERMS = 96**3
# The same where b must be read element by element.
DIRECT_TERMS_GATHERED = 24**3
# Panels larger than this many bytes are made piece by piece.
PANEL_BYTES = 1 << 29


def gemm(
    out: Tensor, a: Tensor, b: Tensor, added: Tensor | None = None, alpha: Any = 1, beta: Any = 1
) -> Tensor:
    """Write `alpha * a @ b + beta * added` to `out`; without `added`, `alpha * a @ b`.

    All are batches of matrices of one dtype, on one device, with the same number of dims; batch
    dims of size 1 of `a` and `b` are broadcast to those of `out`, and `added` has the shape of
    `out`. `out` shares memory with `added` element by element or not at all, and with `a` and
    `b` not at all.
    """
    backend = out._storage.backend
    mode = _mode(added, alpha)
    key: tuple[Any, ...] = (
        "gemm",
        out._key,
        a._key,
        b._key,
        None if added is None else added._key,
        mode,
    )
    if added is None:
        added = out
    operands = (out, a, b, added)
    if not backend.target.unaligned:
        key += tuple([not x._place() for x in operands])
    launch = backend.launches.get(key)
    if launch is None or launch.call((a, b, added), (alpha, beta), out) is None:
        given = added if mode == 2 else None
        if launch is not None or not _in_pieces(out, a, b, given, alpha, beta):
            args = (out, a, b, given, alpha, beta)
            run(backend, key, prepare, gemm, args, (out,), (a, b, added), (alpha, beta), out)
    return out


def _mode(added: Tensor | None, alpha: Any) -> int:
    """What is done with the product: nothing (0), it is scaled (1), and added to (2)."""
    return 2 if added is not None else int(not (type(alpha) is int and alpha == 1))


def _in_pieces(
    out: Tensor, a: Tensor, b: Tensor, added: Tensor | None, alpha: Any, beta: Any
) -> bool:
    """Whether the panels were too large to be made at once; then the halves have been computed."""
    size = a._dtype.compute.itemsize
    if max(numel(a._shape), numel(b._shape)) * size <= PANEL_BYTES:
        return False
    ndim = len(out._shape)
    # Halving the largest dim that the larger operand shares with the output.
    larger, own = (a, ndim - 2) if numel(a._shape) >= numel(b._shape) else (b, ndim - 1)
    dims = [d for d in (*range(ndim - 2), own) if larger._shape[d] > 1]
    if not dims:
        return False
    dim = max(dims, key=lambda d: larger._shape[d])
    if dim == own and larger._shape[dim] < 64:
        return False  # what is left is depth, and a sum is not cut
    half = larger._shape[dim] // 2
    if dim == own and half > 64:
        half -= half % 64
    for start, stop in ((0, half), (half, larger._shape[dim])):
        parts = []
        for x, skipped in ((out, -1), (a, ndim - 1), (b, ndim - 2), (added, -1)):
            if x is None or dim == skipped or x._shape[dim] == 1:
                parts.append(x)
                continue
            shape = (*x._shape[:dim], stop - start, *x._shape[dim + 1 :])
            parts.append(x._view(shape, x._strides, x._offset + start * x._strides[dim]))
        new_out, new_a, new_b, new_added = parts
        assert new_out is not None and new_a is not None and new_b is not None
        gemm(new_out, new_a, new_b, new_added, alpha, beta)
    return True


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


def _aligned(t: Tensor, dims: int, whole_dim: int) -> bool:
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
    return max(1, min(backend.units, items, terms // (8 * UNIT_ELEMENTS)))


def prepare(
    out: Tensor, a: Tensor, b: Tensor, added: Tensor | None, alpha: Any, beta: Any
) -> Launch:
    """The launch of a product: one step, or two where its operands are packed before."""
    mode = _mode(added, alpha)
    added = out if added is None else added
    steps, panels = _steps(out, a, b, added, mode) if numel(out._shape) else ((), ())
    plan = tuple([(x._shape, x._strides) for x in (out, a, b, added)])
    outputs = (Output(out._dtype, out._shape, out._strides),)
    factors = (out._dtype.compute,) * 2
    return Launch(steps, len(plan), outputs, plan, factors, panels, (False, True, True, True))


def _steps(
    out: Tensor, a: Tensor, b: Tensor, added: Tensor, mode: int
) -> tuple[tuple[Step, ...], Ints]:
    """The kernels, and the bytes of the panels between them."""
    backend, of = out._storage.backend, out._dtype
    if of.name in ("float64", "complex128") and not backend.properties.has_float64:
        raise errors.no_float64(of, backend.properties.name)
    m, n = out._shape[-2:]
    depth = a._shape[-1]
    terms = numel(out._shape) * depth
    each = m * n * depth
    target = backend.target
    packed = packed_key(of, target)
    # An image without the kernel for large matrices has one that computes them where they lie.
    lie = not built(backend, packed)
    if each <= DIRECT_TERMS or lie:
        # The lanes run along b's rows, or, turned around, along a's columns.
        swap = (b._strides[-1] != 1 and a._strides[-2] == 1) or (n < m and n * 4 <= packed.columns)
        x, y = (_turned(b), _turned(a)) if swap else (a, b)
        if lie or y._strides[-1] == 1 or y._shape[-1] == 1 or each <= DIRECT_TERMS_GATHERED:
            key = direct_key(of, target, _fused(out, a, b))
            return _direct(backend, key, swap, terms, x, y, *_results(swap, out, added), mode)
    # Results leave a board's kernel in rows: a few full tiles more cost less than single elements.
    in_rows = not target.unaligned and out._strides[-1] == 1
    swap = not in_rows and _waste(packed, n, m) < _waste(packed, m, n)
    x, y = (_turned(b), _turned(a)) if swap else (a, b)
    return _packed(backend, packed, swap, terms, x, y, *_results(swap, out, added), mode)


def _waste(key: GemmKey, m: int, n: int) -> int:
    return -(-m // key.rows) * key.rows * (-(-n // key.columns) * key.columns)


def _turned(t: Tensor) -> Tensor:
    *shape, m, n = t._shape
    *strides, p, q = t._strides
    return t._view((*shape, n, m), (*strides, q, p), t._offset)


def _results(swap: bool, out: Tensor, added: Tensor) -> tuple[Tensor, Tensor]:
    return (_turned(out), _turned(added)) if swap else (out, added)


def _fused(out: Tensor, a: Tensor, b: Tensor) -> bool:
    """Whether torch fuses small products of this shape with their sum: its digits come out too.

    It rounds the products in batches of tiny matrices, and where a vector is multiplied with
    rows that lie along the depth.
    """
    m, n, depth = *out._shape[-2:], a._shape[-1]
    batched = len(out._shape) > 2
    if 1 in (m, n):
        matrix_step = a._strides[-1] if n == 1 else b._strides[-2]
        return not batched and matrix_step != 1
    return not batched or m * n * depth >= 400


def _direct(
    backend: Backend, key: GemmKey, swap: bool, terms: int, a: Tensor, b: Tensor,
    out: Tensor, added: Tensor, mode: int,
) -> tuple[tuple[Step, ...], Ints]:  # fmt: skip
    *batch, m, n = out._shape
    shape = tuple(batch)
    row_blocks, vectors = -(-m // key.rows), -(-n // key.lanes)
    kept, steps = _merged(shape, [_batch(t, shape) for t in (a, b, out, added)])
    items = numel(kept) * row_blocks * vectors
    in_vectors = int(b._strides[-1] == 1 and _aligned(b, 0, b.ndim - 1))
    product = _product(items, row_blocks, vectors, 0, a, out, added, mode)
    geometry = DirectGeometry(
        product, a._strides[-2:], b._strides[-2:], in_vectors, kept, tuple(steps)
    ).pack()
    units = _units(backend, terms, items)
    run = fitting(kernel(backend, key), units, terms // 16)
    pointers = (OUT, B, A, ADDED) if swap else (OUT, A, B, ADDED)
    return (_step(backend, key, run, units, pointers, pointers, geometry),), ()


def _packed(
    backend: Backend, key: GemmKey, swap: bool, terms: int, a: Tensor, b: Tensor,
    out: Tensor, added: Tensor, mode: int,
) -> tuple[tuple[Step, ...], Ints]:  # fmt: skip
    *batch, m, n = out._shape
    shape = tuple(batch)
    depth = a._shape[-1]
    row_panels, column_panels = -(-m // key.rows), -(-n // key.columns)
    parts = [_matrices(a), _matrices(b)]
    own = [p[2] for p in parts]
    kept, steps = _merged(shape, [*own, _batch(out, shape), _batch(added, shape)])
    # Few tiles: smaller blocks, so that every compute unit has some; a CPU's take turns at uneven
    # speeds, and on a board a block's panels take turns in one pipeline.
    tiles = numel(kept) * row_panels * column_panels
    units = _units(backend, terms, tiles)
    each = 4 if backend.target.unaligned else 1
    block = max(1, min(key.block, tiles // (each * units), row_panels))
    items = numel(kept) * -(-row_panels // block) * column_panels
    product = _product(items, row_panels, column_panels, block, a, out, added, mode)
    geometry = PackedGeometry(product, kept, tuple(steps)).pack()
    sides, panels = [], []
    for t, (sizes, strides, _), across, along, width, count in (
        (a, parts[0], a._strides[-2], a._strides[-1], key.rows, row_panels),
        (b, parts[1], b._strides[-1], b._strides[-2], key.columns, column_panels),
    ):
        rows = m if t is a else n
        matrices = numel(sizes)
        sides.append(PackSide(rows, count, depth, across, along, matrices, sizes, strides))
        panels.append(matrices * count * width * depth * out._dtype.compute.itemsize)
    packing = pack_key(key)
    elements = numel(a._shape) + numel(b._shape)
    pack_units = (
        backend.units
        if backend.target.grid == "stride"
        else max(1, min(backend.units, elements // UNIT_ELEMENTS))
    )
    left, right = (B, A) if swap else (A, B)
    first = _step(
        backend, packing, fitting(kernel(backend, packing), pack_units, elements), pack_units,
        (*PANELS, left, right), (left, right), PackGeometry(*sides).pack(), numbers=False,
    )  # fmt: skip
    units = min(units, items)
    second = _step(
        backend, key, fitting(kernel(backend, key), units, terms // 16), units,
        (OUT, *PANELS, ADDED), (OUT, ADDED), geometry,
    )  # fmt: skip
    return (first, second), tuple(panels)


def _step(
    backend: Backend, key: GemmKey, run: Kernel, units: int, pointers: Ints,
    offsets: Ints, geometry: Ints, numbers: bool = True,
) -> Step:  # fmt: skip
    table = geometry_storage(backend, geometry, np.int64)
    return Step(key, run, units, pointers, offsets, numbers=numbers, geometry=geometry, table=table)


def _matrices(t: Tensor) -> tuple[Ints, Ints, Ints]:
    """(sizes and strides of t's own batch dims, steps from one set of panels to the next)."""
    sizes, strides = t._shape[:-2], t._strides[:-2]
    steps = tuple(s if n > 1 else 0 for n, s in zip(sizes, contiguous_strides(sizes)))
    kept, (merged,) = _merged(sizes, [strides])
    return kept, merged, steps


def _product(
    items: int, row_blocks: int, columns: int, block: int, a: Tensor, out: Tensor, added: Tensor,
    mode: int,
) -> ProductGeometry:  # fmt: skip
    """What both kernels are told of a product."""
    assert items < 1 << 31, "more tiles than a launch can count"
    *_, m, n = out._shape
    whole = int(out._strides[-1] == 1 and _aligned(out, 0, out.ndim - 1))
    return ProductGeometry(
        items, row_blocks, columns, block, m, n, a._shape[-1], mode, whole, out._strides[-2:],
        added._strides[-2:],
    )  # fmt: skip
