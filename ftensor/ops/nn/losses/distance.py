"""Distances and similarities of vectors."""

from __future__ import annotations

from typing import Any

from .... import errors
from ...._tensor import Tensor
from ....dtypes import result_type
from ....errors import nn as errors_nn
from ....execute import memory
from ....graph.fused import fused
from ....iterator.shape import normalize_dim
from ....rows.catalogue import Entry, also_in, op, register
from ...create.positions import triu_indices
from ...create.sizes import empty, zeros
from ...reduce.norm import vector_norm
from ...view.shape import broadcast_tensors
from ..layers.activation import SPACE


@op(method=False)
@fused
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dim."""
    for name, x in (("x1", x1), ("x2", x2)):
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor("pairwise_distance", name, x)
    return (x1 - x2 + eps).norm(p, max(x1.ndim, x2.ndim) - 1, keepdim)


@op(method=False)
@fused
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`. RuntimeError for integers."""
    of = result_type(x1, x2)
    if not of.is_floating_point:
        raise errors_nn.floating_inputs("cosine_similarity", of)
    x1, x2 = broadcast_tensors(x1.to(of), x2.to(of))
    dim = normalize_dim(dim, x1.ndim)
    first = vector_norm(x1, 2, dim, True).clamp(min=eps)
    second = vector_norm(x2, 2, dim, True).clamp(min=eps)
    return ((x1 / first) * (x2 / second)).sum(dim)


@op(namespace=SPACE)
@fused
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """The input over its p-norm along `dim`, which counts as `eps` at least."""
    memory.ask(input, input.numel(), input._dtype)
    return input.div(input.norm(p, dim, True).clamp(min=eps), out=out)


@op(method=False)
@fused
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """The p-norm distances of all pairs of rows: (..., m, k) and (..., n, k) give (..., m, n).
    RuntimeError for shapes that don't fit and a negative `p`.
    """
    for name, x in (("x1", x1), ("x2", x2)):
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor("cdist", name, x)
    if x1.ndim < 2 or x2.ndim < 2:
        raise errors_nn.cdist_dims(x1._shape, x2._shape)
    if x1._shape[-1] != x2._shape[-1]:
        raise errors_nn.cdist_columns(x1._shape, x2._shape)
    for x in (x1, x2):
        if not x._dtype.is_floating_point:
            raise errors_nn.floating_inputs("cdist", x._dtype)
    if x1._dtype is not x2._dtype:
        raise errors_nn.same_dtype("cdist", "x2", x1._dtype, x2._dtype)
    if not p >= 0:
        raise errors_nn.negative("cdist", "p", p)
    if compute_mode not in _MODES:
        raise errors_nn.compute_mode(compute_mode, tuple(_MODES))
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    if not x1._shape[-1]:
        return zeros(difference._shape[:-1], dtype=x1._dtype, device=x1.device)
    return vector_norm(difference, p, -1)


# torch's ways to compute the Euclidean distance; here it is always the sum of squares.
_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@op(method=False, namespace=SPACE)
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """The p-norm distances of all pairs of rows of a matrix, each pair once. RuntimeError for other
    numbers of dims and a negative `p`.
    """
    if input.ndim != 2:
        raise errors_nn.matrix_needed("pdist", input._shape)
    if not input._dtype.is_floating_point:
        raise errors_nn.floating_inputs("pdist", input._dtype)
    if not p >= 0:
        raise errors_nn.negative("pdist", "p", p)
    n = input._shape[0]
    if n < 2:
        return empty(0, dtype=input._dtype, device=input.device)
    i, j = triu_indices(n, n, 1, device=input.device)
    return vector_norm(input[i] - input[j], p, -1)


register(Entry("pdist", pdist, method=False))
also_in(SPACE, "pairwise_distance", "cosine_similarity")
