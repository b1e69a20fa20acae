"""Ops that torch's own programs call by a name with an underscore: parts of layers, indices without
checks, and composed functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._tensor import Tensor
from ....dtypes import dtype
from ....errors import nn as errors_nn
from ....errors.message import call_named
from ....iterator.shape import numel
from ....rows.catalogue import op
from ...bind import composed, write_outputs
from ...create.sizes import empty_like, full, zeros, zeros_like
from ...linalg.matmul import linear
from ...rearrange.cat import cat
from ...reduce.softmax import nn_softmax, softmax
from ...view.shape import broadcast_shapes
from ..losses.class_loss import cross_entropy
from ..spatial.conv import CONV
from .activation import SPACE
from .norm import native_batch_norm


@op(
    method=False,
    forms=(
        "_native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, "
        "momentum, eps, *, out=None) -> tuple[Tensor, Tensor, Tensor]",
        "_native_batch_norm_legit(input, weight, bias, training, momentum, eps, *, out=None)"
        " -> tuple[Tensor, Tensor, Tensor]",
    ),
)
def _native_batch_norm_legit(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, *args: Any, out: Any = None, **kwargs: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Like `native_batch_norm`, also without running statistics."""
    if len(args) + len(kwargs) == 3:
        args = (None, None, *args)
    results = call_named(native_batch_norm, input, weight, bias, *args, **kwargs)
    return results if out is None else write_outputs("_native_batch_norm_legit", results, out)


@op(method=False)
def _native_batch_norm_legit_no_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Like `native_batch_norm` with the running statistics."""
    return native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)


@op(method=False)
def _safe_softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor:
    """Like `softmax`, but a row of -inf alone gives 0."""
    probabilities = softmax(input, dim, dtype)
    return probabilities.masked_fill((input == float("-inf")).all(dim, keepdim=True), 0.0)


def _clamped(input: Tensor, indices: Sequence[Tensor | None]) -> tuple[Any, ...]:
    return tuple(slice(None) if i is None else i.clamp(-size, size - 1) for i, size in zip(indices, input._shape))


@op(method=False)
def _unsafe_masked_index(input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Any) -> Tensor:
    """Returns input[indices] where `mask` is True, else `fill`. Masked indices may be out of
    range.
    """
    if not input.numel():
        shape = broadcast_shapes(*[i._shape for i in indices if i is not None], mask._shape)
        return full(shape, fill, dtype=input._dtype, device=input.device)
    return input[_clamped(input, indices)].masked_fill(~mask, fill)


@op(method=False)
def _unsafe_masked_index_put_accumulate(
    input: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Tensor:
    """Returns a copy of the input with `values` added at the indices where `mask` is True."""
    if not input.numel():
        return input.clone()
    added = values.masked_fill(~mask, 0)
    return input.index_put(_clamped(input, indices), added, True)


@composed(method=False)
def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Splits each tensor into `num_chunks` chunks along `dim`, padded with zeros at the end, and
    flattens the dims from there. Returns the chunks concatenated: the first chunks of all tensors
    side by side, then the second ones. Raises RuntimeError for dims that don't fit."""
    if not tensors or num_chunks < 1:
        raise errors_nn.chunks("one tensor at least and a positive num_chunks")
    dim += tensors[0].ndim if dim < 0 else 0
    padded = []
    for x in tensors:
        if not 0 <= dim < x.ndim or not x.numel() or x._shape[:dim] != tensors[0]._shape[:dim]:
            raise errors_nn.chunks(f"elements, a dim {dim}, and the same dims before it")
        leading, size, trailing = x._shape[:dim], x._shape[dim], x._shape[dim + 1 :]
        chunk_size = -(-size // num_chunks)
        if short := chunk_size * num_chunks - size:
            tail = (*leading, short, *trailing)
            x = cat((x, zeros(tail, dtype=x._dtype, device=x.device)), dim)
        padded.append(x.reshape(*leading, num_chunks, chunk_size * numel(trailing)))
    return cat(padded, dim + 1)


@op(method=False)
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Returns `conv1d` of an input (steps, batch, channels) with weights (kernel, channels,
    filters): (steps, batch, filters). Raises RuntimeError for shapes that don't fit."""
    if input.ndim != 3 or weight.ndim != 3:
        raise errors_nn.few_dims("conv_tbc", 3, min(input._shape, weight._shape, key=len))
    result = CONV[1](input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return result.permute(2, 0, 1).contiguous()


@op(namespace=SPACE)
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """Returns `cross_entropy` of `linear(input, linear_weight, linear_bias)`. A weight of shape
    (classes, *sizes, features) gives numel(sizes) losses for each sample.

    `options` are torch's ways to save memory and have no effect here. Raises the errors of both
    functions, and RuntimeError for an input of other dims and for an `ignore_index` with
    probabilities as targets.
    """
    *rows, features = linear_weight._shape
    if input.ndim not in (1, 2) or (input.ndim == 1 and len(rows) > 1):
        raise errors_nn.linear_input(input._shape, linear_weight._shape)
    if ignore_index is not None and target._dtype.is_floating_point:
        raise errors_nn.ignored_probability(ignore_index)
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = linear(input, linear_weight.reshape(-1, features), bias)
    logits = logits.reshape(*input._shape[:-1], *rows)
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, None, ignored, None, reduction, label_smoothing)


@op(namespace=SPACE)
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """Returns a sample of the Gumbel-softmax distribution along `dim` at temperature `tau`; `hard`
    gives 1 at its largest element and 0 elsewhere. `eps` has no effect, as in torch."""
    noise = -empty_like(logits).exponential_().log()
    soft: Tensor = nn_softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    return zeros_like(soft).scatter(dim, soft.argmax(dim, keepdim=True), 1.0)
