"""Layer normalization and its derivatives in one launch each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .._tensor import Tensor
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides, is_contiguous
from ..kernels.select import units_for
from ..kernels.skeletons.cpu.norm_rows import NormGeometry, norm_key
from .launch import Launch, Output, Step
from .run import served

if TYPE_CHECKING:
    from ..runtime.backend import Backend

# Elements of which one unit sums columns, where these fill too few cache lines for all units.
FEW_ELEMENTS, LINE = 1 << 18, 16


def norm_rows(
    x: Tensor, ndim: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, ...] | None:
    """(x normalized over its last dims, the means, 1 / the deviations), the latter with these dims
    kept; None where several launches are better, or images have these alone."""
    given = [y for y in (weight, bias) if y is not None]
    key = ("norm_rows", ndim, x._key, *[None if y is None else y._key for y in (weight, bias)])
    args = x, ndim, weight, bias, eps
    inputs = (x, *given)
    return served(x._storage.backend, key, _forward, norm_rows, args, inputs, (float(eps),))


def norm_rows_back(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, ndim: int
) -> Tensor | None:
    """The gradient of `norm_rows`' x; None as there."""
    inputs = (grad, x, mean, rstd) if weight is None else (grad, x, mean, rstd, weight)
    key = ("norm_rows_back", ndim, *[y._key for y in inputs])
    args = (*inputs[:4], weight, ndim)
    made = served(x._storage.backend, key, _back, norm_rows_back, args, inputs)
    return None if made is None else made[0]


def norm_rows_factors(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, ndim: int
) -> tuple[Tensor, ...] | None:
    """The gradients of `norm_rows`' weight and bias; None as there."""
    n, backend = numel(x._shape[x.ndim - ndim :]), x._storage.backend
    if n < LINE * backend.units and numel(x._shape) > FEW_ELEMENTS:
        return None
    inputs = grad, x, mean, rstd
    key = ("norm_rows_factors", ndim, *[y._key for y in inputs])
    return served(backend, key, _factors, norm_rows_factors, (*inputs, ndim), inputs)


def _serves(backend: Backend, inputs: Sequence[Tensor]) -> bool:
    x, of = inputs[0], inputs[0]._dtype
    if not backend.target.revisits_rows:
        return False
    if of.kind != "f" or of.compute is not of or not 0 < numel(x._shape) < 2**31:
        return False
    return all(y._dtype is of and is_contiguous(y._shape, y._strides) for y in inputs)


def _rows(x: Tensor, ndim: int) -> tuple[int, int, Ints]:
    """(rows, elements of one, the shape of statistics)."""
    lead, last = x._shape[: x.ndim - ndim], x._shape[x.ndim - ndim :]
    return numel(lead), numel(last), (*lead, *(1,) * ndim)


def _launch(
    name: str, x: Tensor, n: int, g: NormGeometry, pointers: Ints, shapes: Sequence[Ints],
    inputs: Sequence[Tensor],
) -> Launch | None:  # fmt: skip
    backend, of = x._storage.backend, x._dtype
    if not _serves(backend, inputs):
        return None
    key, count = norm_key(name, of, backend.target, n), numel(x._shape)
    if name == "norm_rows_factors":
        g = replace(g, items=-(-n // key.lanes))
    units = min(g.items, units_for(count, backend.units, backend.target, key.lanes))
    step = Step(
        key, units, pointers, pointers, numbers=name == "norm_rows", geometry=g.pack(), work=count
    )
    outs = tuple([Output(of, shape, contiguous_strides(shape)) for shape in shapes])
    return Launch((step,), len(outs) + len(inputs), outs)


def _forward(
    x: Tensor, ndim: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Launch | None:
    rows, n, kept = _rows(x, ndim)
    inputs = [y for y in (x, weight, bias) if y is not None]
    w, b = weight is not None, bias is not None
    g = NormGeometry(rows, n, w, b)
    pointers = (0, 1, 2, 3, 4 if w else 3, 4 + w if b else 3)
    return _launch("norm_rows", x, n, g, pointers, (x._shape, kept, kept), inputs)


def _back(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, ndim: int
) -> Launch | None:
    rows, n, _ = _rows(x, ndim)
    w = weight is not None
    pointers = (0, 1, 2, 3, 4, 5 if w else 1)
    g, inputs = NormGeometry(rows, n, w), [grad, x, mean, rstd]
    inputs += [] if weight is None else [weight]
    return _launch("norm_rows_back", x, n, g, pointers, (x._shape,), inputs)


def _factors(grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, ndim: int) -> Launch | None:
    rows, n, _ = _rows(x, ndim)
    shape = x._shape[x.ndim - ndim :]
    g = NormGeometry(0, n, rows=rows)
    inputs = grad, x, mean, rstd
    return _launch("norm_rows_factors", x, n, g, tuple(range(6)), (shape, shape), inputs)
