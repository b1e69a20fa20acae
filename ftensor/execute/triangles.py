"""Triangles of matrices on CPUs: the indices of their elements, and the distances of all pairs of points."""

from __future__ import annotations

from .._tensor import Tensor
from ..iterator.shape import COUNTED
from ..kernels.select import compute_units
from ..kernels.skeletons.cpu.pairs import PairsGeometry, pairs_key
from ..kernels.skeletons.cpu.take import TriangleGeometry, triangle_key
from .dispatch import never_on_host, run
from .launch import Launch, Output, Step

# Elements of a vector in a distance that cost as much as one of another op.
_PARTS = 4


def fill_triangle(sizes: tuple[int, int, int, int, int, int], flip: bool, out: Tensor) -> bool:
    """Writes the indices of a triangle's elements to `out` (2, count), int64 and contiguous.

    `sizes` are those of the lower triangle: count, first row with elements, first row with all
    columns, elements of the first row, rows, columns; `flip` turns it by 180 degrees. Returns False
    on devices without the kernel, which leaves `out` as it is.
    """
    backend = out._storage.backend
    if not backend.target.processor:
        return False
    run(backend, ("triangle", sizes, flip), _prepare_triangle, never_on_host, (sizes, flip, out), (), out=out)
    return True


def _prepare_triangle(sizes: tuple[int, int, int, int, int, int], flip: bool, out: Tensor) -> Launch:
    backend, work = out._storage.backend, 2 * sizes[0]
    units = compute_units(work, backend.units, backend.target, 1)
    g = TriangleGeometry(units, *sizes, int(flip))
    key = triangle_key(backend.target.lanes_bytes)
    step = Step(key, units, (0,), (0,), geometry=g.pack(), work=work if work <= COUNTED else None)
    return Launch((step,), 1, (Output(out._dtype, out._shape, out._strides),), fresh=False)


def distances(points: Tensor, p: float) -> Tensor | None:
    """Returns the p-norm distances of all pairs of `points` (n, d), each pair once; None on devices
    and for dtypes without the kernel."""
    backend, (n, d) = points._storage.backend, points._shape
    computable = points._dtype.name in ("float32", "float64") and n * max(d, n) <= COUNTED
    if not backend.target.processor or not computable or not d:
        return None
    x = points.t().contiguous()
    key = ("pairs", p, x._key)
    return run(backend, key, _prepare_pairs, never_on_host, (x, p), (x,), (p,))[0]


def _prepare_pairs(x: Tensor, p: float) -> Launch:
    backend, (d, n) = x._storage.backend, x._shape
    key, pairs = pairs_key(x._dtype, n, p, backend.target.lanes_bytes), n * (n - 1) // 2
    work = pairs * d // _PARTS
    units = min(compute_units(work, backend.units, backend.target, 1), n - 1)
    step = Step(key, units, (0, 1), (0, 1), geometry=PairsGeometry(n, d).pack(), work=work)
    return Launch((step,), 2, (Output(x._dtype, (pairs,), (1,)),))
