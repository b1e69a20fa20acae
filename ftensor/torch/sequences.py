"""Bags of rows, rows shortened, and the derivatives of bags and of CTC, under aten's names."""

from __future__ import annotations

from typing import Any

import torch

from ..dtypes import int64
from ..errors import nn as errors_nn
from ..ops.compose import f
from ..ops.nn import bags
from ..ops.nn.ctc_gradients import gradient
from ..ops.nn.embedding import shorten
from .fallback import run as on_host
from .memory import lift, unwrap, wrap
from .private import overload
from .registration import impl


@impl("embedding_renorm_")
def embedding_renorm_(self: Any, indices: Any, max_norm: float, norm_type: float) -> torch.Tensor:
    """The rows that are used, brought to a norm of at most `max_norm`."""
    shorten(unwrap(self), lift(indices), max_norm, norm_type)
    return self


@impl("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """(the bags, the bag of each index, how many each has, the rows of the largest elements)."""
    table, index, word = lift(weight), lift(indices), bags.MODES[mode]
    if not table._dtype.is_floating_point:
        raise errors_nn.floating_inputs(bags.NAME, table._dtype)
    count, of = bags.cut(index, lift(offsets), include_last_offset)
    used, weights = of.numel(), None
    index = index.narrow(0, 0, used)
    if per_sample_weights is not None:
        weights = lift(per_sample_weights).narrow(0, 0, used)
    made, held = bags.pooled(table, index, of, count, word, weights, padding_idx)
    if word == "max":
        most = bags.largest(table, index, of, made, padding_idx)
    else:
        most = f.zeros((0,), dtype=int64, device=made.device)
    return wrap(made), wrap(of), wrap(held), wrap(most)


@impl("_embedding_bag_backward")
def embedding_bag_backward(
    grad: Any, indices: Any, offsets: Any, offset2bag: Any, bag_size: Any, maximum_indices: Any,
    num_weights: int, scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Any,
    padding_idx: int = -1,
) -> torch.Tensor:  # fmt: skip
    args = indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode
    if sparse:
        op = overload("_embedding_bag_backward")
        rest = sparse, per_sample_weights, padding_idx
        return on_host(op, grad, indices, offsets, *args[1:], *rest)
    return embedding_bag_dense_backward(grad, *args, per_sample_weights, padding_idx)


@impl("_embedding_bag_dense_backward")
def embedding_bag_dense_backward(
    grad: Any, indices: Any, offset2bag: Any, bag_size: Any, maximum_indices: Any,
    num_weights: int, scale_grad_by_freq: bool, mode: int, per_sample_weights: Any,
    padding_idx: int = -1,
) -> torch.Tensor:  # fmt: skip
    """The gradient of the table."""
    a, index, of, held, most = map(lift, (grad, indices, offset2bag, bag_size, maximum_indices))
    weights = None if per_sample_weights is None else lift(per_sample_weights)
    how = bags.MODES[mode], weights, padding_idx, scale_grad_by_freq
    return wrap(bags.table_gradient(a, index, of, held, most, num_weights, *how))


@impl("_embedding_bag_per_sample_weights_backward")
def embedding_bag_weights_backward(
    grad: Any, weight: Any, indices: Any, offsets: Any, offset2bag: Any, mode: int,
    padding_idx: int = -1,
) -> torch.Tensor:  # fmt: skip
    """The gradient of what each row was multiplied by."""
    a, rows, index, of = lift(grad), lift(weight), lift(indices), lift(offset2bag)
    return wrap(bags.weights_gradient(a, rows, index, of, padding_idx))


def _ctc_backward(name: str) -> None:
    op = overload(name)

    @impl(name)
    def kernel(
        grad: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any,
        neg_log_likelihood: Any, log_alpha: Any, blank: int, zero_infinity: bool = False,
    ) -> torch.Tensor:  # fmt: skip
        """The gradient of log_probs; lengths are numbers, or tensors of any device."""
        lengths = [
            t.tolist() if isinstance(t, torch.Tensor) else t
            for t in (input_lengths, target_lengths)
        ]
        a, x, labels = lift(grad), lift(log_probs), lift(targets)
        after = lift(neg_log_likelihood), lift(log_alpha), blank, zero_infinity
        try:
            return wrap(gradient(a, x, labels, lengths[0], lengths[1], *after))
        except NotImplementedError:
            args = grad, log_probs, targets, input_lengths, target_lengths
            return on_host(op, *args, neg_log_likelihood, log_alpha, blank, zero_infinity)


_ctc_backward("_ctc_loss_backward")
_ctc_backward("_ctc_loss_backward.Tensor")
