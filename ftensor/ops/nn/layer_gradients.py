"""Derivatives of layers that are more than a row: pooling, norms, losses, tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...dtypes import float32, int64
from ...execute.choices import specializes
from ...execute.constants import constant
from ...execute.max_pool import max_pool_back
from ...execute.memory import new
from ...execute.nll import nll, nll_input
from ...execute.norm import norm_rows_back, norm_rows_factors
from ...execute.pointwise import pointwise
from ...iterator.shape import numel
from ..compose import f
from ..index.gather import of_classes
from ..index.scatter import put_once
from .class_loss import KNOWN_CLASS, NLL_INPUT, NLL_LOSS
from .gradients import NORMALIZED, run
from .norm import CENTERED
from .pool_windows import Pool
from .windows import each

# Means and sums over windows are products with a matrix for each dim, and so are their derivatives.


@lru_cache(256)
def _shares(
    size: int, kernel: int, stride: int, padding: int, out: int, padded: bool
) -> np.ndarray:
    """(out, size): what each element has of each window's mean."""
    made = np.zeros((out, size))
    for row in range(out):
        start = row * stride - padding
        end = min(start + kernel, size + padding)
        low, high = max(start, 0), min(end, size)
        made[row, low:high] = 1 / ((end - start) if padded else max(high - low, 1))
    return made


@lru_cache(256)
def _sums(size: int, kernel: int, stride: int, padding: int, out: int) -> np.ndarray:
    return (_shares(size, kernel, stride, padding, out, False) > 0).astype(float)


@lru_cache(256)
def _adaptive(size: int, out: int) -> np.ndarray:
    made = np.zeros((out, size))
    for row in range(out):
        low, high = row * size // out, -(-(row + 1) * size // out)
        made[row, low:high] = 1 / (high - low)
    return made


def _spread(grad: Tensor, matrices: Sequence[np.ndarray]) -> Tensor:
    """A gradient brought to its windows' elements, by a matrix (out, size) for each last dim."""
    of = grad._dtype
    made = grad.to(of.compute)
    for dim, matrix in zip(range(grad.ndim - len(matrices), grad.ndim), matrices):
        factor = f.tensor(matrix.tolist(), dtype=made._dtype, device=grad.device)
        made = made.movedim(dim, -1).matmul(factor).movedim(-1, dim)
    return made.contiguous().to(of)


def avg_pool(
    grad: Tensor, input: Tensor, kernel: Any, stride: Any, padding: Any, padded_too: bool,
    divisor: int | None, n: int,
) -> Tensor:  # fmt: skip
    """The gradient of avg_pool over the last `n` dims."""
    kernel = each("avg_pool", "kernel_size", kernel, n)
    stride = each("avg_pool", "stride", stride or kernel, n)
    padding = each("avg_pool", "padding", padding, n)
    outs, sizes = grad._shape[-n:], input._shape[-n:]
    where = list(zip(sizes, kernel, stride, padding, outs))
    if divisor is not None:
        return _spread(grad / divisor, [_sums(*w) for w in where])
    return _spread(grad, [_shares(*w, padded_too) for w in where])


def adaptive_avg_pool(grad: Tensor, input: Tensor, n: int) -> Tensor:
    """The gradient of adaptive_avg_pool over the last `n` dims."""
    pairs = zip(input._shape[-n:], grad._shape[-n:])
    return _spread(grad, [_adaptive(size, out) for size, out in pairs])


def max_pool(grad: Tensor, input: Tensor, indices: Tensor, pool: Pool) -> Tensor:
    """The gradient of a max_pool: it goes to the elements at `indices`."""
    if pool.tiles and pool.small(input) and grad._shape == indices._shape == pool.shape:
        assert pool.beside is not None
        return max_pool_back(grad.contiguous(), indices.contiguous(), pool.beside, input._shape)
    apart = all(s > d * (k - 1) for s, k, d in zip(pool.stride, pool.kernel, pool.dilation))
    return _placed(grad, input, indices, pool.n, apart)


def adaptive_max_pool(grad: Tensor, input: Tensor, indices: Tensor, n: int) -> Tensor:
    """The gradient of an adaptive_max_pool over the last `n` dims."""
    return _placed(grad, input, indices, n, False)


def _placed(grad: Tensor, input: Tensor, indices: Tensor, n: int, apart: bool) -> Tensor:
    """A gradient at `indices` of the last `n` dims, flattened; summed, unless `apart`, when no
    two go to one element."""
    outer, plane = input._shape[:-n], numel(input._shape[-n:])
    made = f.zeros((*outer, plane), dtype=grad._dtype, device=grad.device)
    where, given = indices.reshape(*outer, -1), grad.reshape(*outer, -1)
    if apart:
        put_once(made, where, given)
    else:
        made.scatter_add_(-1, where, given)
    return made.reshape(input._shape)


# Normalizing layers


def _normalized(grad: Tensor, result: Tensor, rstd: Tensor, dims: Sequence[int]) -> Tensor:
    """The gradient of (input - mean) * rstd where both follow from the input over `dims`."""
    whole = grad.mean(dims, keepdim=True)
    along = (grad * result).mean(dims, keepdim=True)
    return run(NORMALIZED, grad, result, whole, along, rstd)


def norm(
    grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None,
    dims: Sequence[int], kept: Sequence[int], mask: Sequence[bool], moving: bool = True,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    """The gradients of input, weight and bias of a normalizing layer.

    Statistics are over `dims`, and follow from the input where `moving`; weight and bias, which
    broadcast against it, are reduced to the dims `kept`. `mask` says which gradients are wanted.
    """
    of, compute = input._dtype, input._dtype.compute
    g, mean, rstd = grad.to(compute), mean.to(compute), rstd.to(compute)
    result = run(CENTERED, input.to(compute), mean, rstd)
    others = tuple(k for k in range(input.ndim) if k not in kept)
    found: list[Tensor | None] = [None, None, None]
    if mask[0]:
        scaled = g if weight is None else g * weight.to(compute)
        made = _normalized(scaled, result, rstd, dims) if moving else scaled * rstd
        found[0] = made.to(of)
    for k, x in ((1, None if not mask[1] else g * result), (2, g if mask[2] else None)):
        if x is not None:
            found[k] = (x.sum(others) if others else x).to(of)
    return found[0], found[1], found[2]


def layer_norm(
    grad: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, ndim: int,
    mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    """As `norm`, over the last `ndim` dims."""
    grad = grad.contiguous()
    dims = tuple(range(input.ndim - ndim, input.ndim))
    found = factors = None
    if mask[0]:
        found = norm_rows_back(grad, input, mean, rstd, weight, ndim)
    if mask[1] or mask[2]:
        factors = norm_rows_factors(grad, input, mean, rstd, ndim)
    left = mask[0] and found is None, *[m and factors is None for m in mask[1:]]
    made = (found, *[f if m else None for f, m in zip(factors or (None, None), mask[1:])])
    if any(left):
        others = norm(grad, input, mean, rstd, weight, dims, dims, left)
        made = tuple([b if a is None else a for a, b in zip(made, others)])
    return made[0], made[1], made[2]


# Losses and tables


def _weights(
    target: Tensor, weight: Tensor | None, ignore_index: int, like: Tensor
) -> tuple[Tensor, Tensor]:
    """(the class of each target, 0 for ignored ones; its weight, 0 for those)."""
    used = target != ignore_index
    index = target.where(used, 0).to(int64)
    if weight is None:
        return index, used.to(like._dtype)
    return index, weight.take(index) * used


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """nll_loss, and the sum of the weights, which its derivative needs."""
    target = target if target._dtype is int64 else target.to(int64)
    made = nll(input, target, weight, reduction, ignore_index)
    if made is not None:
        return made
    dim = 0 if input.ndim == 1 else 1
    if weight is None and specializes(input):
        return _unweighted(input, target, reduction, ignore_index, dim)
    index, weights = _weights(target, weight, ignore_index, input)
    found = -of_classes(input, dim, index)
    loss = (found * weights).where(weights != 0, 0)  # what is ignored may be infinite
    if reduction == "none":
        return loss, f.zeros((), dtype=input._dtype, device=input.device)
    total = weights.sum()
    return (loss.sum() / total if reduction == "mean" else loss.sum()), total


def _unweighted(
    input: Tensor, target: Tensor, reduction: str, ignore_index: int, dim: int
) -> tuple[Tensor, Tensor]:
    """nll_loss without weights, in few launches."""
    of, device = input._dtype, input.device
    known = target._storage.bounds
    if known is not None and known[0] is int64 and not known[1] <= ignore_index <= known[2]:
        # Nothing is ignored, and how much counts is known beforehand.
        found = of_classes(input, dim, target)
        if reduction == "none":
            return -found, f.zeros((), dtype=of, device=device)
        total = f.full((), float(target.numel()), dtype=of, device=device)
        return -(found.mean() if reduction == "mean" else found.sum()), total
    index = pointwise(KNOWN_CLASS, (target,), (ignore_index,))
    found = of_classes(input, dim, index)
    loss = pointwise(NLL_LOSS, (found, target), (float(ignore_index),))
    if reduction == "none":
        return loss, f.zeros((), dtype=of, device=device)
    total = (target != ignore_index).sum(dtype=of)
    return (loss.sum() / total if reduction == "mean" else loss.sum()), total


def nll_loss_input(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, reduction: str,
    ignore_index: int, total: Tensor,
) -> Tensor:  # fmt: skip
    """The gradient of nll_loss's input."""
    target = target if target._dtype is int64 else target.to(int64)
    made = nll_input(grad, input, target, weight, reduction, ignore_index, total)
    if made is not None:
        return made
    dim = 0 if input.ndim == 1 else 1
    if specializes(input):
        across, count = (-1, *[1] * (input.ndim - dim - 1)), input._shape[dim]
        classes = constant(("classes", count), input, lambda: np.arange(count)).reshape(across)
        factor: Any = 1.0 if weight is None else weight.reshape(across)
        share = grad.unsqueeze(dim) if grad.ndim else grad
        divisor: Any = total if reduction == "mean" else 1.0
        inputs = share, classes, target.unsqueeze(dim), factor, divisor
        made = new(input._shape, input._dtype, input._storage.device)
        return pointwise(NLL_INPUT, inputs, (float(ignore_index),), made)
    index, weights = _weights(target, weight, ignore_index, input)
    share = -weights * (grad / total if reduction == "mean" else grad)
    if reduction == "mean":  # where all are ignored, a share is 0 / 0
        share = share.where(target != ignore_index, 0)
    made = f.zeros(input._shape, dtype=input._dtype, device=input.device)
    return made.scatter_(dim, index.unsqueeze(dim), share.unsqueeze(dim))


def embedding(
    grad: Tensor, indices: Tensor, rows: int, padding_idx: int, by_frequency: bool
) -> Tensor:
    """The gradient of an embedding's table."""
    width = grad._shape[-1]
    index, flat = indices.reshape(-1), grad.reshape(-1, width)
    if by_frequency:
        ones = f.ones(index._shape, dtype=float32, device=grad.device)
        many = f.zeros((rows,), dtype=float32, device=grad.device).index_add_(0, index, ones)
        flat = (flat / many.index_select(0, index).unsqueeze(1)).to(flat._dtype)
    if padding_idx >= 0:
        flat = flat.where((index != padding_idx).unsqueeze(1), 0)
    made = f.zeros((rows, width), dtype=grad._dtype, device=grad.device)
    return made.index_add_(0, index.to(int64), flat)
