"""Derivatives of poolings over the last n dims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...execute.max_pool import max_pool_back
from ...iterator.shape import numel
from ...rows.catalogue import aten_op
from ..create.data import tensor
from ..create.sizes import zeros
from ..index.scatter import put_once
from ..nn.spatial.pool_windows import pool_of
from ..nn.spatial.windows import each

# Means and sums over windows are products with a matrix for each dim, and so are their derivatives.


@lru_cache(256)
def _shares(size: int, kernel: int, stride: int, padding: int, out: int, padded: bool) -> np.ndarray:
    """(out, size): what each element has of each window's mean."""
    matrix = np.zeros((out, size))
    for row in range(out):
        start = row * stride - padding
        end = min(start + kernel, size + padding)
        low, high = max(start, 0), min(end, size)
        matrix[row, low:high] = 1 / ((end - start) if padded else max(high - low, 1))
    return matrix


@lru_cache(256)
def _sums(size: int, kernel: int, stride: int, padding: int, out: int) -> np.ndarray:
    return (_shares(size, kernel, stride, padding, out, False) > 0).astype(float)


@lru_cache(256)
def _adaptive(size: int, out: int) -> np.ndarray:
    matrix = np.zeros((out, size))
    for row in range(out):
        low, high = row * size // out, -(-(row + 1) * size // out)
        matrix[row, low:high] = 1 / (high - low)
    return matrix


def _spread(grad: Tensor, matrices: Sequence[np.ndarray]) -> Tensor:
    """A gradient brought to its windows' elements, by a matrix (out, size) for each last dim."""
    of = grad._dtype
    grad_input = grad.to(of.compute)
    for dim, matrix in zip(range(grad.ndim - len(matrices), grad.ndim), matrices):
        factor = tensor(matrix.tolist(), dtype=grad_input._dtype, device=grad.device)
        grad_input = grad_input.movedim(dim, -1).matmul(factor).movedim(-1, dim)
    return grad_input.contiguous().to(of)


def _avg_pool(
    n: int,
    grad: Tensor,
    input: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    padded_too: bool,
    divisor: int | None,
) -> Tensor:
    kernel = each("avg_pool", "kernel_size", kernel, n)
    stride = each("avg_pool", "stride", stride or kernel, n)
    padding = each("avg_pool", "padding", padding, n)
    outs, sizes = grad._shape[-n:], input._shape[-n:]
    where = list(zip(sizes, kernel, stride, padding, outs))
    if divisor is not None:
        return _spread(grad / divisor, [_sums(*w) for w in where])
    return _spread(grad, [_shares(*w, padded_too) for w in where])


def _adaptive_avg_pool(n: int, grad: Tensor, input: Tensor) -> Tensor:
    pairs = zip(input._shape[-n:], grad._shape[-n:])
    return _spread(grad, [_adaptive(size, out) for size, out in pairs])


def _max_pool(
    n: int,
    grad: Tensor,
    input: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    """It goes to the elements at `indices`."""
    name = f"max_pool{n}d_backward"
    pool = pool_of(name, n, input, kernel, stride or kernel, padding, dilation, ceil_mode)
    if pool.tiles and pool.small(input) and grad._shape == indices._shape == pool.shape:
        assert pool.beside is not None
        return max_pool_back(grad.contiguous(), indices.contiguous(), pool.beside, input._shape)
    apart = all(s > d * (k - 1) for s, k, d in zip(pool.stride, pool.kernel, pool.dilation))
    return _placed(grad, input, indices, n, apart)


def _adaptive_max_pool(n: int, grad: Tensor, input: Tensor, indices: Tensor) -> Tensor:
    return _placed(grad, input, indices, n, False)


def _placed(grad: Tensor, input: Tensor, indices: Tensor, n: int, apart: bool) -> Tensor:
    """A gradient at `indices` of the last `n` dims, flattened; summed, unless `apart`, when no
    two go to one element."""
    outer, plane = input._shape[:-n], numel(input._shape[-n:])
    grad_input = zeros((*outer, plane), dtype=grad._dtype, device=grad.device)
    where, values = indices.reshape(*outer, -1), grad.reshape(*outer, -1)
    if apart:
        put_once(grad_input, where, values)
    else:
        grad_input.scatter_add_(-1, where, values)
    return grad_input.reshape(input._shape)


for _n in (2, 3):
    aten_op(f"avg_pool{_n}d_backward")(partial(_avg_pool, _n))
    aten_op(f"_adaptive_avg_pool{_n}d_backward")(partial(_adaptive_avg_pool, _n))
    aten_op(f"max_pool{_n}d_with_indices_backward")(partial(_max_pool, _n))
    aten_op(f"adaptive_max_pool{_n}d_backward")(partial(_adaptive_max_pool, _n))
