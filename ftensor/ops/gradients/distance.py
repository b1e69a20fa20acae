"""Derivatives of distances."""

from __future__ import annotations

from ..._tensor import Tensor
from ...iterator.shape import broadcast_shapes, numel
from ...rows.catalogue import aten_op
from ..create.positions import triu_indices
from ..create.sizes import zeros

# Beyond so many differences the host goes pair by pair.
MOST_DIFFERENCES = 1 << 26


@aten_op()
def _cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, dist: Tensor) -> Tensor:
    """The gradient of cdist's first argument (*, n, m), for distances (*, n, k): where a difference
    is 0, or its distance, there is none, as in torch.

    NotImplementedError for more differences than memory should hold.
    """
    batch = broadcast_shapes(x1._shape[:-2], x2._shape[:-2])
    shape = (*batch, *x1._shape[-2:])
    if not p or not numel(dist._shape) or not numel(shape):
        return zeros(shape, dtype=x1._dtype, device=x1.device)
    if numel(dist._shape) * x1._shape[-1] > MOST_DIFFERENCES:
        raise NotImplementedError("cdist: a difference for each pair and dim is too much memory")
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    g, far = grad.unsqueeze(-1), dist.unsqueeze(-1)
    if p == 1:
        terms = g * apart.sign()
    elif p == float("inf"):
        terms = g * apart.sign() * (apart.abs() == far)
    elif p == 2:
        terms = (g * apart / far).where(far != 0, 0)
    else:
        terms = g * apart.sign() * apart.abs().pow(p - 1) / far.pow(p - 1)
        terms = terms.where((far != 0) & (apart != 0), 0)
    return terms.sum(-2)


@aten_op()
def _pdist_backward(grad: Tensor, input: Tensor, p: float, dist: Tensor) -> Tensor:
    """The gradient of pdist: that of all pairs, each in both orders."""
    n = input._shape[0]
    if n < 2:
        return zeros(input._shape, dtype=input._dtype, device=input.device)
    i, j = triu_indices(n, n, 1, device=input.device)
    whole = []
    for one in (grad, dist):
        matrix = zeros((n, n), dtype=one._dtype, device=one.device)
        matrix[i, j] = matrix[j, i] = one
        whole.append(matrix)
    return _cdist_backward(whole[0], input, input, p, whole[1])
