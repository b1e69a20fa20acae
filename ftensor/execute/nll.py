"""nll_loss and its derivative in one launch each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._tensor import Tensor
from ..dtypes import int64
from ..errors import view as errors_index
from ..iterator.shape import COUNTED, contiguous_strides, is_contiguous, numel
from ..kernels.key import lanes_for
from ..kernels.select import compute_units
from ..kernels.skeletons.nll import NllGeometry, NllKey
from .device_traits import spares_double
from .dispatch import try_run
from .indexed import Check, in_range
from .launch import Launch, Output, Step

if TYPE_CHECKING:
    from ..runtime.backend import Backend

KINDS = {"none": 0, "mean": 1, "sum": 2}
# The most targets that one unit sums: for more, several launches on all units are faster.
MAX_SUMMED = 1 << 16


def nll(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignored: int) -> tuple[Tensor, Tensor] | None:
    """Returns (nll_loss of log-probabilities, the sum of the weights or 0 for "none").

    `target` is int64. Raises IndexError for a target that is no class. Returns None if several
    launches are faster, or if the images have no such kernel.
    """
    backend = x._storage.backend
    operands = (x, target) if weight is None else (x, target, weight)
    key = ("nll", reduction, *[y._key for y in operands])
    if key not in backend.launches:
        if not _supports(backend, x, operands, target, weight):
            return None
        if reduction != "none" and target.numel() > MAX_SUMMED:
            return None
    dim = int(x.ndim > 1)
    certain = in_range(target, x._shape[dim], True)
    check = Check(x._storage, (dim,), errors_index.class_bounds, certain)
    args, inputs = (x, target, weight, reduction, ignored), (*operands, check.flag.tensor)
    results = try_run(backend, key, _loss, nll, args, inputs, (ignored,))
    if results is None:
        return None
    check.finish()
    return results[0], results[1]


def nll_input(
    grad: Tensor, x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignored: int, total: Tensor
) -> Tensor | None:
    """Returns the gradient of the `x` of `nll`, without reading the values of `x`; None as in
    `nll`."""
    backend = x._storage.backend
    operands = (grad, target, total) if weight is None else (grad, target, total, weight)
    key = ("nll_input", reduction, x._key, *[y._key for y in operands])
    args = (grad, x, target, weight, reduction, ignored, total)
    results = try_run(backend, key, _derivative, nll_input, args, operands, (ignored,))
    return None if results is None else results[0]


def _supports(backend: Backend, x: Tensor, operands: tuple[Tensor, ...], target: Tensor, weight: Tensor | None) -> bool:
    dtype, shape = x._dtype, x._shape
    if not backend.target.revisits_rows:
        return False
    if not 0 < numel(shape) <= COUNTED or not shape or dtype.kind != "f" or dtype.bare:
        return False
    if target._shape != (shape[:1] + shape[2:] if len(shape) > 1 else ()):
        return False
    if weight is not None and weight._shape != (shape[len(shape) > 1],):
        return False
    if any(y._dtype is not (int64 if y is target else dtype) for y in operands):
        return False
    return all(is_contiguous(y._shape, y._strides) for y in operands)


def _sizes(x: Tensor) -> tuple[int, int, int]:
    shape = x._shape
    return (1, shape[0], 1) if x.ndim == 1 else (shape[0], shape[1], numel(shape[2:]))


def _loss(x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignored: int) -> Launch:
    backend, dtype = x._storage.backend, x._dtype
    key = NllKey("nll", dtype, wide=dtype.compute.itemsize < 8 and spares_double(x))
    samples, classes, inner = _sizes(x)
    kind, n = KINDS[reduction], samples * inner
    units = 1 if kind else compute_units(n, backend.units, backend.target, 1)
    g = NllGeometry(n, classes, inner, int(weight is not None), kind).pack()
    shape = () if kind else target._shape
    outputs = Output(dtype, shape, contiguous_strides(shape)), Output(dtype, (), ())
    inputs = 3 if weight is None else 4
    weights = 2 if weight is None else 4
    operands = (0, 1, 2, 3, weights)
    step = Step(key, units, (*operands, 1 + inputs), operands, geometry=g, work=n)
    return Launch((step,), 2 + inputs, outputs)


def _derivative(
    grad: Tensor, x: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignored: int, total: Tensor
) -> Launch | None:
    backend, dtype, count = x._storage.backend, x._dtype, x.numel()
    operands = (grad, target, total) if weight is None else (grad, target, total, weight)
    if not _supports(backend, x, operands, target, weight):
        return None
    if total.numel() != 1 or grad.numel() != (target.numel() if reduction == "none" else 1):
        return None
    key = NllKey("nll_input", dtype, lanes_for([dtype], dtype.compute, backend.target.lanes_bytes))
    samples, classes, inner = _sizes(x)
    units = min(samples, compute_units(count, backend.units, backend.target, key.lanes))
    weighted = int(weight is not None)
    each, mean = int(reduction == "none"), int(reduction == "mean")
    g = NllGeometry(samples, classes, inner, weighted, each, mean).pack()
    places = (0, 1, 2, 4 if weighted else 1, 3)
    step = Step(key, units, places, places, geometry=g, work=count)
    outputs = (Output(dtype, x._shape, contiguous_strides(x._shape)),)
    return Launch((step,), 4 + weighted, outputs)
