"""Derivatives of embeddings, and of bags of them."""

from __future__ import annotations

from ..._tensor import Tensor
from ...dtypes import float32, int64
from ...rows.catalogue import aten_op
from ..create.sizes import ones, zeros
from ..nn.layers.bags import MODES
from ..rearrange.cat import cat


@aten_op()
def embedding_dense_backward(grad: Tensor, indices: Tensor, rows: int, padding_idx: int, by_frequency: bool) -> Tensor:
    """The gradient of an embedding's table."""
    width = grad._shape[-1]
    index, flat = indices.reshape(-1), grad.reshape(-1, width)
    if by_frequency:
        each = ones(index._shape, dtype=float32, device=grad.device)
        many = zeros((rows,), dtype=float32, device=grad.device).index_add_(0, index, each)
        flat = (flat / many.index_select(0, index).unsqueeze(1)).to(flat._dtype)
    if padding_idx >= 0:
        flat = flat.where((index != padding_idx).unsqueeze(1), 0)
    grad_weight = zeros((rows, width), dtype=grad._dtype, device=grad.device)
    return grad_weight.index_add_(0, index.to(int64), flat)


@aten_op()
def _embedding_bag_dense_backward(
    grad: Tensor,
    index: Tensor,
    of: Tensor,
    held: Tensor,
    largest: Tensor,
    rows: int,
    by_frequency: bool,
    mode: int,
    weights: Tensor | None,
    pad: int = -1,
) -> Tensor:
    """The gradient (rows, d) of the table, for that of the bags, (bags, d). `held` is needed for
    means and the largest elements, `largest` for these. Of rows `by_frequency` each has its share.
    """
    word = MODES[mode]
    a = grad.to(grad._dtype.compute)
    if word == "max":
        grad_weight = zeros((rows, grad._shape[1]), dtype=a._dtype, device=a.device)
        grad_weight.scatter_add_(0, largest, a.masked_fill((held == 0).unsqueeze(1), 0))
        return grad_weight.to(grad._dtype)
    if word == "mean":
        a = a / held.clamp(min=1).unsqueeze(1)
    a = a.index_select(0, of)
    used = of.numel()
    if weights is not None:
        a = a * weights.narrow(0, 0, used).unsqueeze(1)
    inside = index.narrow(0, 0, used)
    return embedding_dense_backward(a, inside, rows, pad, by_frequency).to(grad._dtype)


@aten_op()
def _embedding_bag_per_sample_weights_backward(
    grad: Tensor, weight: Tensor, index: Tensor, offsets: Tensor, of: Tensor, mode: int, pad: int = -1
) -> Tensor:
    """The gradient (n,) of the weights of summed rows; 0 for rows `pad` and what is in no bag."""
    used = of.numel()
    inside, compute = index.narrow(0, 0, used), grad._dtype.compute
    along = grad.to(compute).index_select(0, of) * weight.to(compute).index_select(0, inside)
    grads = along.sum(1).masked_fill(inside == pad, 0).to(grad._dtype)
    if used == index.numel():
        return grads
    behind = zeros(index.numel() - used, dtype=grad._dtype, device=grad.device)
    return cat([grads, behind])
