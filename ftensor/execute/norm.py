"""Layer normalization and its derivatives in one launch each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor
from ..iterator.shape import Ints, numel
from ..iterator.stride import contiguous_strides, is_contiguous
from ..kernels.select import units_for
from ..kernels.skeletons.norm_rows import NormGeometry, norm_key
from ..runtime.program import kernel
from .launch import Launch, Output, Step, fitting, geometry_storage
from .run import run

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
    return _launched(norm_rows, key, _forward, args, (x, *given), 3, (float(eps),))


def norm_rows_back(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, ndim: int
) -> Tensor | None:
    """The gradient of `norm_rows`' x; None as there."""
    inputs = (grad, x, mean, rstd) if weight is None else (grad, x, mean, rstd, weight)
    key = ("norm_rows_back", ndim, *[y._key for y in inputs])
    made = _launched(norm_rows_back, key, _back, (*inputs[:4], weight, ndim), inputs, 1)
    return None if made is None else made[0]


def norm_rows_factors(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, ndim: int
) -> tuple[Tensor, ...] | None:
    """The gradients of `norm_rows`' weight and bias; None as there."""
    n, units = numel(x._shape[x.ndim - ndim :]), x._storage.backend.units
    if n < LINE * units and numel(x._shape) > FEW_ELEMENTS:
        return None
    inputs = grad, x, mean, rstd
    key = ("norm_rows_factors", ndim, *[y._key for y in inputs])
    return _launched(norm_rows_factors, key, _factors, (*inputs, ndim), inputs, 2)


def _launched(
    entry: Any, key: Any, prepare: Any, args: tuple[Any, ...], inputs: Sequence[Tensor],
    outputs: int, numbers: tuple[float, ...] = (),
) -> tuple[Tensor, ...] | None:  # fmt: skip
    backend = inputs[0]._storage.backend
    launch = backend.launches.get(key)
    if launch is not None:
        made: tuple[Tensor, ...] | None = launch.call(inputs, numbers, None)
        if made is not None:
            return made
    if not _serves(backend, inputs):
        return None
    return run(backend, key, prepare, entry, args, (None,) * outputs, inputs, numbers)


def _serves(backend: Backend, inputs: Sequence[Tensor]) -> bool:
    x = inputs[0]
    of, device = x._dtype, x._storage.device
    if not backend.target.revisits_rows:
        return False
    if of.kind != "f" or of.compute is not of or not 0 < numel(x._shape) < 2**31:
        return False
    return all(
        y._dtype is of and y._storage.device is device and is_contiguous(y._shape, y._strides)
        for y in inputs
    )


def _rows(x: Tensor, ndim: int) -> tuple[int, int, Ints]:
    """(rows, elements of one, the shape of statistics)."""
    lead, last = x._shape[: x.ndim - ndim], x._shape[x.ndim - ndim :]
    return numel(lead), numel(last), (*lead, *(1,) * ndim)


def _launch(
    name: str, x: Tensor, n: int, g: NormGeometry, pointers: Ints, shapes: Sequence[Ints],
    inputs: int,
) -> Launch:  # fmt: skip
    backend, of = x._storage.backend, x._dtype
    key, count = norm_key(name, of, backend.target, n), numel(x._shape)
    if name == "norm_rows_factors":
        g = g._replace(items=-(-n // key.lanes))
    units = min(g.items, units_for(count, backend.units, backend.target.grid, key.lanes))
    step = Step(
        key, fitting(kernel(backend, key), units, count), units, pointers, pointers,
        numbers=name == "norm_rows", geometry=g.pack(),
        table=geometry_storage(backend, g.pack(), "int64"),
    )  # fmt: skip
    outs = tuple([Output(of, shape, contiguous_strides(shape)) for shape in shapes])
    return Launch((step,), len(outs) + inputs, outs, form=(True,) * (1 + inputs))


def _forward(
    x: Tensor, ndim: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Launch:
    rows, n, kept = _rows(x, ndim)
    w, b = int(weight is not None), int(bias is not None)
    g = NormGeometry(rows, n, w, b)
    pointers = (0, 1, 2, 3, 4 if w else 3, 4 + w if b else 3)
    return _launch("norm_rows", x, n, g, pointers, (x._shape, kept, kept), 1 + w + b)


def _back(
    grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, ndim: int
) -> Launch:
    rows, n, _ = _rows(x, ndim)
    w = int(weight is not None)
    pointers = (0, 1, 2, 3, 4, 5 if w else 1)
    return _launch("norm_rows_back", x, n, NormGeometry(rows, n, w), pointers, (x._shape,), 4 + w)


def _factors(grad: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, ndim: int) -> Launch:
    rows, n, _ = _rows(x, ndim)
    shape = x._shape[x.ndim - ndim :]
    g = NormGeometry(0, n, rows)
    return _launch("norm_rows_factors", x, n, g, tuple(range(6)), (shape, shape), 4)
