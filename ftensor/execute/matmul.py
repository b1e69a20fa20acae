"""Matrix products of prepared operands: which kernels run, on which panels, in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import errors
from .._tensor import Tensor
from ..iterator.shape import Ints, numel
from ..kernels.skeletons.gemm import GemmKey, along_key, along_serves, direct_key, near_key, packed_key
from ..runtime.program import built, held
from .known import know
from .launch import Launch, Output, Step
from .matmul_steps import DIRECT_TERMS_GATHERED, along, direct, lies_along, packed
from .numbers import values_of
from .run import launched

# On CPUs: while so few rows meet it, a matrix of four times as many elements stays near.
# Narrower ones leave a vector empty.
FEW_ROWS, NARROWEST = 96, 4
# Panels larger than this many bytes are made piece by piece.
PANEL_BYTES = 1 << 29


def gemm(out: Tensor, a: Tensor, b: Tensor, added: Tensor | None = None, alpha: Any = 1, beta: Any = 1) -> Tensor:
    """Write `alpha * a @ b + beta * added` to `out`; without `added`, `alpha * a @ b`.

    All are batches of matrices of one dtype, on one device, with the same number of dims; batch
    dims of size 1 of `a` and `b` are broadcast to those of `out`, and `added` has the shape of
    `out`. `out` shares memory with `added` element by element or not at all, and with `a` and
    `b` not at all.
    """
    backend = out._storage.backend
    key, mode = _key(out, a, b, added, alpha), _mode(added, alpha)
    if added is None:
        added = out
    operands = (out, a, b, added)
    if not backend.target.unaligned:
        key += tuple([not x._place() for x in operands])
    inputs, factors = (a, b, added), (alpha, beta)
    if backend.launches[key].call(inputs, factors, out) is None:
        addend = added if mode == 2 else None
        if key in backend.launches or not _in_pieces(out, a, b, addend, alpha, beta):
            args = (out, a, b, addend, alpha, beta)
            launched(backend, key, prepare, gemm, args, inputs, factors, out)
    return out


def let_know(
    call: str, inputs: Sequence[Tensor], result: Tensor, out: Tensor, a: Tensor, b: Tensor, added: Tensor | None = None
) -> None:
    """Let a call be known by its `inputs` that has just made `out` of these, by a launch of its
    own, and has given it as `result`. What is not added is not read: the first stands for it."""
    of = out._dtype.compute
    know(call, inputs, result, _key(out, a, b, added, 1), (*values_of(1, of), *values_of(1, of)))


def _key(out: Tensor, a: Tensor, b: Tensor, added: Tensor | None, alpha: Any) -> tuple[Any, ...]:
    others = None if added is None else added._key
    return "gemm", out._key, a._key, b._key, others, _mode(added, alpha)


def _mode(added: Tensor | None, alpha: Any) -> int:
    """What is done with the product: nothing (0), it is scaled (1), and added to (2)."""
    return 2 if added is not None else int(not (alpha.__class__ is int and alpha == 1))


def _in_pieces(out: Tensor, a: Tensor, b: Tensor, added: Tensor | None, alpha: Any, beta: Any) -> bool:
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


def prepare(out: Tensor, a: Tensor, b: Tensor, added: Tensor | None, alpha: Any, beta: Any) -> Launch:
    """The launch of a product: one step, or two where its operands are packed before."""
    mode = _mode(added, alpha)
    added = out if added is None else added
    steps, panels = _steps(out, a, b, added, mode) if numel(out._shape) else ((), ())
    outputs = (Output(out._dtype, out._shape, out._strides),)
    factors = (out._dtype.compute,) * 2
    return Launch(steps, 4, outputs, factors, panels, fresh=False)


def _steps(out: Tensor, a: Tensor, b: Tensor, added: Tensor, mode: int) -> tuple[tuple[Step, ...], Ints]:
    """The kernels, and the bytes of the panels between them."""
    backend, of = out._storage.backend, out._dtype
    if of.name in ("float64", "complex128") and not backend.properties.has_float64:
        raise errors.no_float64(of, backend.properties.name)
    m, n = out._shape[-2:]
    depth = a._shape[-1]
    terms = numel(out._shape) * depth
    each = m * n * depth
    target = backend.target
    panelled = packed_key(of, target)
    # An image without the kernel for large matrices has one that computes them where they lie.
    lie = not built(backend, panelled)
    swap = (b._strides[-1] != 1 and a._strides[-2] == 1) or (n < m and n * 4 <= panelled.columns)
    if target.processor and of.compute is of:
        for turned in (swap, not swap):
            x, y = (_turned(b), _turned(a)) if turned else (a, b)
            if not of.is_complex and _near(x, y):
                key = direct_key(of, target, target.unaligned, _fused(out, a, b))
                key = near_key(key, y._shape[-1], panelled.rows)
                rest = (turned, terms, x, y, *_results(turned, out, added), mode)
                return direct(backend, key, *rest, near=True)
    if along_serves(of) and held(backend, key := along_key(of)):
        few = lie or min(m, n) <= key.rows
        if few and depth >= key.lanes and lies_along(a, -1) and lies_along(b, -2):
            return along(backend, key, terms, a, b, out, added, mode)
    if each <= target.direct_terms or lie:
        # The lanes run along b's rows, or, turned around, along a's columns.
        x, y = (_turned(b), _turned(a)) if swap else (a, b)
        if lie or y._strides[-1] == 1 or y._shape[-1] == 1 or each <= DIRECT_TERMS_GATHERED:
            key = direct_key(of, target, target.unaligned, _fused(out, a, b))
            return direct(backend, key, swap, terms, x, y, *_results(swap, out, added), mode)
    # Results leave a board's kernel in rows: a few full tiles more cost less than single elements.
    in_rows = not target.unaligned and out._strides[-1] == 1
    swap = not in_rows and _waste(panelled, n, m) < _waste(panelled, m, n)
    x, y = (_turned(b), _turned(a)) if swap else (a, b)
    return packed(backend, panelled, swap, terms, x, y, *_results(swap, out, added), mode)


def _near(a: Tensor, b: Tensor) -> bool:
    """Whether a CPU reads a where it lies, and b again and again from its caches."""
    depth, columns = b._shape[-2:]
    most = a._storage.backend.target.near_elements * (4 if a._shape[-2] <= FEW_ROWS else 1)
    return columns >= NARROWEST and depth * columns <= most


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
