"""Distances, similarities, and margin losses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...._tensor import Tensor
from ....dtypes import int64, result_type
from ....errors import nn as errors_nn
from ....execute import output
from ....execute.triangles import distances
from ....graph.fused import fused
from ....iterator.shape import normalize_dim
from ....rows.catalogue import Entry, add_to_namespace, op, register
from ...arguments import check_tensors
from ...create.ranges import arange, triu_indices
from ...create.sizes import empty, zeros, zeros_like
from ...pointwise.ternary import where
from ...reduce.stats import vector_norm
from ...view.shape import broadcast_tensors
from ..layers.activation import SPACE, logsigmoid
from .reduction import loss, word_of


@op(method=False)
@fused
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """Returns the p-norm of x1 - x2 + eps along the last dim."""
    check_tensors("pairwise_distance", x1=x1, x2=x2)
    return (x1 - x2 + eps).norm(p, max(x1.ndim, x2.ndim) - 1, keepdim)


@op(method=False)
@fused
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Returns x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`. Raises RuntimeError for
    integers."""
    result_dtype = result_type(x1, x2)
    if not result_dtype.is_floating_point:
        raise errors_nn.floating_inputs("cosine_similarity", result_dtype)
    x1, x2 = broadcast_tensors(x1.to(result_dtype), x2.to(result_dtype))
    dim = normalize_dim(dim, x1.ndim)
    first = vector_norm(x1, 2, dim, True).clamp(min=eps)
    second = vector_norm(x2, 2, dim, True).clamp(min=eps)
    return ((x1 / first) * (x2 / second)).sum(dim)


@op(namespace=SPACE)
@fused
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Returns the input divided by its p-norm along `dim`; a norm below `eps` counts as `eps`."""
    output.check_capacity(input, input.numel(), input._dtype)
    return input.div(input.norm(p, dim, True).clamp(min=eps), out=out)


@op(method=False)
@fused
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """Returns the p-norm distances of all pairs of rows: (..., m, k) and (..., n, k) give (..., m,
    n). Raises RuntimeError for shapes that don't fit and a negative `p`."""
    check_tensors("cdist", x1=x1, x2=x2)
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


# torch's ways to compute the Euclidean distance; this implementation always sums squares.
_MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@op(method=False, namespace=SPACE)
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """Returns the p-norm distances of all pairs of rows of a matrix, each pair once. Raises
    RuntimeError for other numbers of dims and a negative `p`."""
    if input.ndim != 2:
        raise errors_nn.matrix_needed("pdist", input._shape)
    if not input._dtype.is_floating_point:
        raise errors_nn.floating_inputs("pdist", input._dtype)
    if not p >= 0:
        raise errors_nn.negative("pdist", "p", p)
    n = input._shape[0]
    if n < 2:
        return empty(0, dtype=input._dtype, device=input.device)
    if (result := distances(input, float(p))) is not None:
        return result
    i, j = triu_indices(n, n, 1, device=input.device)
    difference = input[i] - input[j]
    norms: Tensor = vector_norm(difference, p, -1)
    return norms.masked_fill(difference.isnan().any(-1), math.nan) if p == 0 else norms


register(Entry("pdist", pdist, method=False))
add_to_namespace(SPACE, "pairwise_distance", "cosine_similarity")


@loss()
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0) -> Tensor:
    """Returns max(0, margin - target * (input1 - input2)). Raises RuntimeError for different
    numbers of dims."""
    if not input1.ndim == input2.ndim == target.ndim:
        raise errors_nn.same_dims("margin_ranking_loss", input1._shape, input2._shape, target._shape)
    return (-target * (input1 - input2) + float(margin)).clamp(min=0)


def _rows(name: str, input: Tensor, target: Tensor, target_shape: tuple[int, ...]) -> None:
    if input.ndim > 2 or 0 in input._shape[1:] or (input.ndim == 1 and not input.numel()):
        raise errors_nn.margin_input(name, input._shape)
    if target._shape != target_shape:
        raise errors_nn.margin_target(name, target_shape, target._shape)


@loss(positional=True)
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """Returns the mean over the wrong classes of max(0, margin - input[target] + input[class]) **
    p, with `p` 1 or 2 and inputs of shape (classes,) or (batch, classes)."""
    name = "multi_margin_loss"
    if p not in (1, 2):
        raise errors_nn.power(name, p)
    shape = input._shape[:-1]
    if not (input.ndim < 2 and target._shape in ((), (1,))):
        _rows(name, input, target, shape)
    input = input.reshape(1) if not input.ndim else input
    if weight is not None and weight._shape != input._shape[-1:]:
        raise errors_nn.class_weights(name, input._shape[-1], weight._shape, weight.ndim == 1)
    target = target.reshape(shape)
    right = input.gather(-1, target.unsqueeze(-1))
    cost = (margin - right + input).clamp(min=0)
    cost = cost if p == 1 else cost * cost
    if weight is not None:
        cost = cost * weight[target].unsqueeze(-1)
    classes = input._shape[-1]
    wrong = arange(classes, device=input.device) != target.unsqueeze(-1)
    return (cost * wrong).sum(-1) / classes


def listed_classes(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Returns three masks and indices of the targets of `multilabel_margin_loss`: (True at
    positions before the first -1; the classes there, 0 elsewhere; True for classes among the
    targets)."""
    target = target if target._shape else target.reshape(1)
    has_end_mark = (target < 0).to(int64).amax(-1, keepdim=True)  # does the row have an end mark?
    first = (target < 0).to(int64).argmax(-1, keepdim=True)
    classes = target._shape[-1]
    end = where(has_end_mark > 0, first, classes)
    valid = arange(classes, device=input.device) < end
    index = target.where(valid, zeros_like(target))
    is_right = zeros_like(target).scatter_add(-1, index, valid.to(target._dtype)) > 0
    return valid, index, is_right


@loss(positional=True)
def multilabel_margin_loss(input: Tensor, target: Tensor) -> Tensor:
    """Returns max(0, 1 - input[right] + input[wrong]) summed over all pairs of a right and a wrong
    class, divided by the number of classes. The right classes are the elements of `target` before
    its first -1."""
    if not (input.ndim < 2 and target._shape in ((), (1,)) and input.numel() == 1):
        _rows("multilabel_margin_loss", input, target, input._shape)
    if not input.ndim:
        input, target = input.reshape(1), target.reshape(1)
    if not input.numel():
        return input.sum(-1)
    valid, index, is_right = listed_classes(input, target)
    classes = input._shape[-1]
    right = input.gather(-1, index).unsqueeze(-1)
    cost = (1 - right + input.unsqueeze(-2)).clamp(min=0)
    pairs = valid.unsqueeze(-1) & ~is_right.unsqueeze(-2)
    return (cost * pairs).sum((-2, -1)) / classes


@loss()
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
    """Returns the mean over classes (the last dim) of binary cross entropy with logits."""
    costs = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    costs = costs if weight is None else costs * weight
    last = input.ndim - 1
    return costs.sum(last) / input._shape[last] if input.ndim else costs


@loss()
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0) -> Tensor:
    """Returns 1 - cos(input1, input2) for a target 1, max(0, cos - margin) for -1; vectors extend
    along the last dim. Raises RuntimeError for shapes that don't fit."""
    if target.ndim not in (0, 1) or not input1.ndim == input2.ndim == target.ndim + 1:
        raise errors_nn.cosine_dims(target._shape, input1._shape, input2._shape)
    dim, eps = target.ndim, 1e-12
    dot = (input1 * input2).sum(dim)
    lengths = ((input1 * input1).sum(dim) + eps) * ((input2 * input2).sum(dim) + eps)
    cos = dot / lengths.sqrt()
    zero = zeros_like(cos)
    similar_loss = (1 - cos).where(target == 1, zero)
    unlike = (cos - margin).clamp(min=0).where(target == -1, zero)
    return similar_loss + unlike


@loss(positional=True)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
) -> Tensor:
    """Returns max(0, margin + |anchor - positive| - |anchor - negative|) by `pairwise_distance`.
    `swap` uses the smaller of the negative's distances to anchor and positive."""

    def distance(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    name = "triplet_margin_loss"
    return _triplet(name, anchor, positive, negative, distance, margin, swap, "mean")


@loss("anchor positive negative * distance_function margin swap reduction", has_mean=False)
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Returns `triplet_margin_loss` with a distance function of the caller."""
    return _triplet(
        "triplet_margin_with_distance_loss",
        anchor,
        positive,
        negative,
        distance_function or pairwise_distance,
        margin,
        swap,
        reduction,
    )


def _triplet(
    name: str,
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance: Callable[[Tensor, Tensor], Tensor],
    margin: float,
    swap: bool,
    reduction: str,
) -> Tensor:
    if not margin > 0:
        raise errors_nn.margin(name, margin)
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise errors_nn.same_dims(name, anchor._shape, positive._shape, negative._shape)
    word_of(name, None, None, reduction)  # check the word before the user's distance function runs
    negative_distance = distance(anchor, negative)
    if swap:
        negative_distance = negative_distance.minimum(distance(positive, negative))
    return (margin + distance(anchor, positive) - negative_distance).clamp(min=0)
