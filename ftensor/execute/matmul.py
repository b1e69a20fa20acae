"""Matrix products, factorizations and triangular solves: kernels, packed panels, their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import errors
from .._tensor import Tensor
from ..iterator.shape import COUNTED, Ints, contiguous_strides, numel
from ..kernels.skeletons.dense import dense_key
from ..kernels.skeletons.gemm import (
    DirectGeometry,
    DotProductGeometry,
    GemmKey,
    PackGeometry,
    PackSide,
    ProductGeometry,
    cpu_direct_key,
    direct_key,
    dot_product_key,
    pack_key,
    packed_key,
    supports_dot_product,
)
from ..runtime.launch_cache import in_image, is_available
from .dispatch import cache_result, run, run_uncached
from .launch import Launch, Output, Step
from .pointwise import clone, copy
from .scalars import values_of

if TYPE_CHECKING:
    from ..dtypes import dtype
    from ..runtime.backend import Backend


# A launch's operands, and the panels packed from a and b (from b and a if transposed).
OUT, A, B, ADDED, *PANELS = range(6)
# The most terms of a product that reads b in place, even if element by element.
DIRECT_TERMS_GATHERED = 24**3


def _batch(t: Tensor, shape: Ints) -> Ints:
    return tuple(s if n > 1 else 0 for n, s in zip(t._shape, t._strides))[: len(shape)]


def _merged(shape: Ints, strides: list[Ints]) -> tuple[Ints, list[Ints]]:
    """Returns batch dims without those of size 1, with neighbours merged if every operand allows
    it."""
    kept: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d, n in enumerate(shape):
        if n == 1:
            continue
        if kept and all(merged[-1] == s[d] * n for merged, s in zip(steps, strides)):
            kept[-1] *= n
            for merged, s in zip(steps, strides):
                merged[-1] = s[d]
        else:
            kept.append(n)
            for merged, s in zip(steps, strides):
                merged.append(s[d])
    return tuple(kept), [tuple(merged) for merged in steps]


def _aligned(t: Tensor, whole_dim: int) -> bool:
    """True if all vectors along `whole_dim` are aligned to 64 bytes; always True off boards."""
    size = t._dtype.itemsize
    if not t._storage.backend.target.is_board:
        return True
    rest = [s for d, (n, s) in enumerate(zip(t._shape, t._strides)) if n > 1 and d != whole_dim]
    return not (t._place() or any(s * size % 64 for s in rest))


def _units(backend: Backend, terms: int, items: int) -> int:
    """Returns the number of compute units. A term costs about 1/16 of a streamed element."""
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
    fits_cache: bool = False,
) -> tuple[tuple[Step, ...], Ints]:
    *batch, m, n = out._shape
    shape = tuple(batch)
    row_blocks, vectors = -(-m // key.rows), -(-n // key.lanes)
    right, left = (A, B) if swap else (B, A)
    in_vectors = int(b._strides[-1] == 1 and _aligned(b, b.ndim - 1))
    lines, batches = b._strides[-2:], _batch(b, shape)
    first: tuple[Step, ...] = ()
    panels: Ints = ()
    # Columns of a large matrix are far apart: several of their lines share a place in the cache.
    is_near = n * a._shape[-1] <= FEW_ROWS_FACTOR * backend.target.near_elements or row_blocks == 1
    reads_in_place = in_vectors and n % key.lanes == 0 and is_near
    if fits_cache and terms > DIRECT_TERMS_GATHERED and not reads_in_place:
        # Vectors of all columns, zero-padded, replace b.
        side, b_steps = _side(b, -1, key.lanes)
        nothing = PackSide(0, 0, side.depth, 0, 0, 0)
        first = (_packing(backend, pack_key(key), (nothing, side), (PANELS[0],) * 2, left, right),)
        each = side.panels * key.lanes * side.depth
        panels = (side.matrices * each * out._dtype.compute.itemsize,)
        lines, batches, in_vectors = (key.lanes, side.depth), tuple(s * each for s in b_steps), 2
    batch_strides = [_batch(t, shape) for t in (a, out, added)]
    kept, steps = _merged(shape, [batch_strides[0], batches, *batch_strides[1:]])
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


def depth_is_contiguous(t: Tensor, dim: int) -> bool:
    """True if the tensor has stride 1 and aligned vectors along `dim`, the depth of the product."""
    return t._strides[dim] == 1 and _aligned(t, t.ndim + dim)


def dot_product_step(
    backend: Backend, key: GemmKey, terms: int, a: Tensor, b: Tensor, out: Tensor, added: Tensor, mode: int
) -> tuple[tuple[Step, ...], Ints]:
    """Returns the step of a product of matrices that pass `depth_is_contiguous`."""
    *batch, m, n = out._shape
    kept, steps = _merged(tuple(batch), [_batch(t, tuple(batch)) for t in (a, b, out, added)])
    row_blocks, column_blocks = -(-m // key.rows), -(-n // key.rows)
    items = numel(kept) * row_blocks * column_blocks
    product = _product(items, row_blocks, column_blocks, 0, a, out, added, mode, kept, steps)
    geometry = DotProductGeometry(**vars(product), a=a._strides[-2], b=b._strides[-1]).pack()
    operands = (OUT, A, B, ADDED)
    units = _units(backend, terms, items)
    step = Step(key, units, operands, operands, geometry=geometry, work=terms // 16)
    return (step,), ()


def packed(
    backend: Backend, key: GemmKey, swap: bool, terms: int, a: Tensor, b: Tensor, out: Tensor, added: Tensor, mode: int
) -> tuple[tuple[Step, ...], Ints]:
    shape = out._shape[:-2]
    of_a, of_b = _side(a, -2, key.rows), _side(b, -1, key.columns)
    sides, batch_steps = (of_a[0], of_b[0]), (of_a[1], of_b[1])
    row_panels, column_panels = [s.panels for s in sides]
    kept, steps = _merged(shape, [*batch_steps, _batch(out, shape), _batch(added, shape)])
    # Few tiles: smaller blocks, so that every compute unit has some. CPU units run at uneven
    # speeds; on a board a block's panels alternate in one pipeline.
    tiles = numel(kept) * row_panels * column_panels
    units = _units(backend, terms, tiles)
    each = 4 if not backend.target.is_board else 1
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
    """Returns how to pack `t` into panels of `width` rows (`dim` is -2) or columns (`dim` is -1):
    the matrix as a `PackSide`, and for each batch dim the distance between its matrices, counted in
    packed matrices."""
    sizes, strides, steps = _matrices(t)
    other_dim = -3 - dim
    side = PackSide(
        t._shape[dim],
        -(-t._shape[dim] // width),
        t._shape[other_dim],
        t._strides[dim],
        t._strides[other_dim],
        numel(sizes),
        sizes,
        strides,
    )
    return side, steps


def _packing(
    backend: Backend, key: GemmKey, sides: Sequence[PackSide], panels: Sequence[int], left: int, right: int
) -> Step:
    """Returns the step that packs the operands `left` and `right` into `panels`."""
    elements = sum(s.rows * s.depth * s.matrices for s in sides)
    units = max(1, min(backend.units, elements // backend.target.unit_elements))
    if backend.target.grid == "stride":
        units = backend.units
    return Step(
        key,
        units,
        (*panels, left, right),
        (left, right),
        scalars=False,
        geometry=PackGeometry(*sides).pack(),
        work=elements,
    )


def _matrices(t: Tensor) -> tuple[Ints, Ints, Ints]:
    """Returns the merged batch dims of `t`, their strides, and for each batch dim of `t` the
    distance between its matrices once they are packed one after the other."""
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
    """Returns the fields of a product's geometry that all product kernels share. `items` tiles are
    shared among the compute units; `steps` are the operands' strides in the dims `batch`."""
    assert items <= COUNTED, "more tiles than a launch can count"
    *_, m, n = out._shape
    writes_vectors = int(out._strides[-1] == 1 and _aligned(out, out.ndim - 1))
    return ProductGeometry(
        items, row_blocks, columns, block, m, n, a._shape[-1], mode, writes_vectors, out._strides[-2:],
        added._strides[-2:], batch, tuple(steps),
    )  # fmt: skip


# On CPUs: up to this number of rows, a matrix of four times as many elements stays in the cache.
# Narrower ones leave a vector empty.
FEW_ROWS, FEW_ROWS_FACTOR, NARROWEST = 96, 4, 4
# Terms of a product of panels that take as long as storing a result off a row, not in a vector.
STRIDED_RESULT = 32
# On CPUs, a matrix of up to so many times `near_elements` is packed and stays in the second cache,
# and the other, whose rows are contiguous, is read in place: 5 to 20 % less time.
HALF_PACKED_FACTOR = 32
# Limit of panels in bytes; larger products are computed in parts.
PANEL_BYTES = 1 << 29


def gemm(out: Tensor, a: Tensor, b: Tensor, added: Tensor | None = None, alpha: Any = 1, beta: Any = 1) -> Tensor:
    """Writes `alpha * a @ b + beta * added` to `out`; without `added`, `alpha * a @ b`.

    All operands are batches of matrices of one dtype, on one device, with the same number of dims.
    Batch dims of size 1 of `a` and `b` are broadcast to those of `out`, and `added` has the shape
    of `out`. `out` shares memory with `added` element by element or not at all, and shares no
    memory with `a` and `b`.
    """
    backend = out._storage.backend
    key, mode = _key(out, a, b, added, alpha), _mode(added, alpha)
    if added is None:
        added = out
    operands = (out, a, b, added)
    if backend.target.is_board:
        key += tuple([not x._place() for x in operands])
    inputs, factors = (a, b, added), (alpha, beta)
    if backend.launches[key].call(inputs, factors, out) is None:
        addend = added if mode == 2 else None
        if key in backend.launches or not _gemm_by_halves(out, a, b, addend, alpha, beta):
            args = (out, a, b, addend, alpha, beta)
            run_uncached(backend, key, prepare, gemm, args, inputs, factors, out)
    return out


def cache_matmul(
    call: str, inputs: Sequence[Tensor], result: Tensor, out: Tensor, a: Tensor, b: Tensor, added: Tensor | None = None
) -> None:
    """Caches a call under its `inputs`: a single launch with these operands wrote `out`, and the
    call returned `result`."""
    compute = out._dtype.compute
    cache_result(call, inputs, result, _key(out, a, b, added, 1), (*values_of(1, compute), *values_of(1, compute)))


def _key(out: Tensor, a: Tensor, b: Tensor, added: Tensor | None, alpha: Any) -> tuple[Any, ...]:
    added_key = None if added is None else added._key
    return "gemm", out._key, a._key, b._key, added_key, _mode(added, alpha)


def _mode(added: Tensor | None, alpha: Any) -> int:
    """Returns the epilogue of the product: none (0), scaled (1), scaled and added (2)."""
    return 2 if added is not None else int(not (alpha.__class__ is int and alpha == 1))


def _gemm_by_halves(out: Tensor, a: Tensor, b: Tensor, added: Tensor | None, alpha: Any, beta: Any) -> bool:
    """If the panels are too large, computes the product in halves and returns True; else returns
    False."""
    size = a._dtype.compute.itemsize
    if max(numel(a._shape), numel(b._shape)) * size <= PANEL_BYTES:
        return False
    ndim = len(out._shape)
    # Halves the largest dim that the larger operand shares with the output.
    larger, split_dim = (a, ndim - 2) if numel(a._shape) >= numel(b._shape) else (b, ndim - 1)
    dims = [d for d in (*range(ndim - 2), split_dim) if larger._shape[d] > 1]
    if not dims:
        return False
    dim = max(dims, key=lambda d: larger._shape[d])
    if dim == split_dim and larger._shape[dim] < 64:
        return False  # only the depth is left; splitting sums would change the results
    half = larger._shape[dim] // 2
    if dim == split_dim and half > 64:
        half -= half % 64
    for start, stop in ((0, half), (half, larger._shape[dim])):
        halves = []
        for x, skipped in ((out, -1), (a, ndim - 1), (b, ndim - 2), (added, -1)):
            if x is None or dim == skipped or x._shape[dim] == 1:
                halves.append(x)
                continue
            shape = (*x._shape[:dim], stop - start, *x._shape[dim + 1 :])
            halves.append(x._view(shape, x._strides, x._offset + start * x._strides[dim]))
        new_out, new_a, new_b, new_added = halves
        assert new_out is not None and new_a is not None and new_b is not None
        gemm(new_out, new_a, new_b, new_added, alpha, beta)
    return True


def prepare(out: Tensor, a: Tensor, b: Tensor, added: Tensor | None, alpha: Any, beta: Any) -> Launch:
    """Returns the launch of a product: one step, or two if its operands are packed first."""
    mode = _mode(added, alpha)
    added = out if added is None else added
    steps, panels = _steps(out, a, b, added, mode) if numel(out._shape) else ((), ())
    outputs = (Output(out._dtype, out._shape, out._strides),)
    factors = (out._dtype.compute,) * 2
    return Launch(steps, 4, outputs, factors, panels, fresh=False)


def _steps(out: Tensor, a: Tensor, b: Tensor, added: Tensor, mode: int) -> tuple[tuple[Step, ...], Ints]:
    """Returns the steps, and the bytes of the panels between them."""
    backend, dtype = out._storage.backend, out._dtype
    if dtype.name in ("float64", "complex128") and not backend.properties.has_float64:
        raise errors.no_float64(dtype, backend.properties.name)
    m, n = out._shape[-2:]
    depth = a._shape[-1]
    terms = numel(out._shape) * depth
    each = m * n * depth
    target = backend.target
    panelled = packed_key(dtype, target)
    # An image without the kernel for large matrices may have one that reads them in place.
    is_dense = not is_available(backend, panelled)
    swap = (b._strides[-1] != 1 and a._strides[-2] == 1) or (n < m and n * 4 <= panelled.columns)
    if target.processor and dtype.compute is dtype:
        for turned in (swap, not swap):
            x, y = (transposed(b), transposed(a)) if turned else (a, b)
            if not dtype.is_complex and _fits_cache(x, y):
                key = direct_key(dtype, target, target.unaligned, _fused(out, a, b))
                key = cpu_direct_key(key, y._shape[-1], panelled.rows)
                rest = (turned, terms, x, y, *_results(turned, out, added), mode)
                return direct(backend, key, *rest, fits_cache=True)
    if supports_dot_product(dtype) and in_image(backend, key := dot_product_key(dtype)):
        few_rows = is_dense or min(m, n) <= key.rows
        if few_rows and depth >= key.lanes and depth_is_contiguous(a, -1) and depth_is_contiguous(b, -2):
            return dot_product_step(backend, key, terms, a, b, out, added, mode)
    if each <= target.direct_terms or is_dense:
        # The lanes run along rows of b or, transposed, along columns of a.
        x, y = (transposed(b), transposed(a)) if swap else (a, b)
        if is_dense or y._strides[-1] == 1 or y._shape[-1] == 1 or each <= DIRECT_TERMS_GATHERED:
            key = direct_key(dtype, target, target.unaligned, _fused(out, a, b))
            return direct(backend, key, swap, terms, x, y, *_results(swap, out, added), mode)
    # A board's kernel writes results in rows: a few more full tiles cost less than single elements.
    in_rows = target.is_board and out._strides[-1] == 1
    swap = not in_rows and _cost(panelled, transposed(out), depth) < _cost(panelled, out, depth)
    x, y = (transposed(b), transposed(a)) if swap else (a, b)
    reads_rows = target.processor and dtype.compute is dtype and not dtype.is_complex and x._strides[-1] == 1
    if reads_rows and _fits_cache(x, y, HALF_PACKED_FACTOR):
        key = cpu_direct_key(
            direct_key(dtype, target, target.unaligned, _fused(out, a, b)), y._shape[-1], panelled.rows
        )
        return direct(backend, key, swap, terms, x, y, *_results(swap, out, added), mode, fits_cache=True)
    return packed(backend, panelled, swap, terms, x, y, *_results(swap, out, added), mode)


def _fits_cache(a: Tensor, b: Tensor, factor: int = 1) -> bool:
    depth, columns = b._shape[-2:]
    factor = max(factor, FEW_ROWS_FACTOR if a._shape[-2] <= FEW_ROWS else 1)
    return columns >= NARROWEST and depth * columns <= factor * a._storage.backend.target.near_elements


def _cost(key: GemmKey, out: Tensor, depth: int) -> int:
    """Returns the terms of all tiles, and those that take as long as results off a row."""
    m, n = out._shape[-2:]
    terms = -(-m // key.rows) * key.rows * (-(-n // key.columns) * key.columns) * depth
    return terms + (0 if out._strides[-1] == 1 else STRIDED_RESULT * m * n)


def transposed(t: Tensor) -> Tensor:
    *shape, m, n = t._shape
    *strides, p, q = t._strides
    return t._view((*shape, n, m), (*strides, q, p), t._offset)


def _results(swap: bool, out: Tensor, added: Tensor) -> tuple[Tensor, Tensor]:
    return (transposed(out), transposed(added)) if swap else (out, added)


def _fused(out: Tensor, a: Tensor, b: Tensor) -> bool:
    """True if torch uses fused multiply-add for small products of this shape, so that results match
    its digits.

    torch rounds each product in batches of tiny matrices, and in products of a vector with rows
    that are contiguous along the depth.
    """
    m, n, depth = *out._shape[-2:], a._shape[-1]
    batched = len(out._shape) > 2
    if 1 in (m, n):
        matrix_step = a._strides[-1] if n == 1 else b._strides[-2]
        return not batched and matrix_step != 1
    return not batched or m * n * depth >= 400


PRODUCTS = 4  # elements that take as long as a product of one step


def dense(kind: str, dtype: dtype, tensors: Sequence[Tensor], scalars: Sequence[int], work: int) -> None:
    """Runs a kernel of `kernels/skeletons/dense.py` on its operands, some of which it modifies.

    `scalars` are the kernel's scalar arguments, the item count first. An item costs about `work`
    products.
    """
    if dtype.bare:
        raise errors.not_implemented_for(f"linalg {kind}", dtype)
    if not scalars[0]:
        return
    key, args = ("dense", kind, dtype, tuple(scalars), work), (kind, dtype, tensors, scalars, work)
    backend = tensors[-1]._storage.backend
    results = run(backend, key, _prepare, _on_copies, args, tensors, scalars)
    for to, result in zip(tensors, results):  # only the host's function returns results
        copy(result, to)


def _prepare(kind: str, dtype: dtype, tensors: Sequence[Tensor], scalars: Sequence[int], work: int) -> Launch:
    backend, items = tensors[-1]._storage.backend, scalars[0]
    units = max(1, min(items, backend.units, PRODUCTS * items * work // backend.target.unit_elements))
    key = dense_key(kind, dtype, backend.target, backend.target.unaligned)
    all_, geometry = tuple(range(len(tensors))), (*scalars, work, 1)
    step = Step(key, units, all_, all_, geometry=geometry, work=items * work)
    return Launch((step,), len(all_))


def _on_copies(
    kind: str, dtype: dtype, tensors: Sequence[Tensor], scalars: Sequence[int], work: int
) -> tuple[Tensor, ...]:
    copies = tuple([clone(t) for t in tensors])
    dense(kind, dtype, copies, scalars, work)
    return copies


# The largest matrices that Jacobi's kernels decompose on a device that compiles them when needed. For
# larger ones NumPy's LAPACK is faster: on a CPU both take 0.1 ms for a matrix of 12 rows, and LAPACK
# half as long for 64.
JACOBI_ROWS = 12


def has_jacobi(x: Tensor, size: int) -> bool:
    """Returns True if a kernel decomposes matrices of `size` rows and columns: always on boards and
    their emulators, where the host computes nothing."""
    return size <= JACOBI_ROWS or not x._storage.backend.target.specializes
