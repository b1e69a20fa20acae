"""Rows of a table by index: embeddings, bags of them, classes as unit vectors."""

from __future__ import annotations

from ... import errors
from ..._tensor import Tensor
from ...dtypes import int32, int64
from ...errors import nn as errors_nn
from ...rows.catalogue import op
from ..compose import f
from ..index.gather import index_select, selected
from .activation import SPACE


def _renormed(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Bring the rows that are used, in place, to a norm of at most `max_norm`."""
    used = f.zeros(weight._shape[:1], dtype=weight._dtype, device=weight.device)
    used[index.reshape(-1)] = 1
    norms = weight.norm(norm_type, 1)
    scale = f.where((norms > max_norm) & (used > 0), max_norm / (norms + 1e-7), 1.0)
    weight.mul_(scale.to(weight._dtype).unsqueeze(1))


def _check(name: str, input: Tensor, weight: Tensor) -> None:
    for word, x in (("input", input), ("weight", weight)):
        if not isinstance(x, Tensor):
            raise errors.not_a_tensor(name, word, x)
    if input._dtype not in (int32, int64):
        raise errors_nn.index_dtype(name, input._dtype)
    if weight.ndim != 2:
        raise errors_nn.table_dims(name, weight._shape)


def _padding(name: str, padding_idx: int | None, rows: int) -> int:
    """The row that pads, counted from the first; -1 where none does."""
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise errors_nn.padding_index(name, padding_idx, rows)
    return padding_idx % rows


@op(namespace=SPACE)
def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """The rows of `weight` that `input` names, (*) and (n, d) to (*, d). With `max_norm`, the rows
    that are used are first shortened in place. The other arguments are about gradients.

    RuntimeError for indices that are no integers, IndexError for a row that is not there.
    """
    if isinstance(weight, Tensor) and weight.ndim == 1:
        made: Tensor = index_select(weight, 0, input.reshape(-1)).reshape(input._shape)
        return made
    _check("embedding", input, weight)
    _padding("embedding", padding_idx, weight._shape[0])
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    rows = index_select(weight, 0, input.reshape(-1))
    return rows.reshape(*input._shape, weight._shape[1])


def _bags(input: Tensor, offsets: Tensor, last: bool) -> int:
    """How many bags the offsets make; RuntimeError for those outside the indices."""
    if offsets._dtype not in (int32, int64):
        raise errors_nn.bag_starts(f"offsets must be int64 or int32, not {offsets._dtype}")
    if not offsets.numel():
        if last:
            raise errors_nn.bag_starts("include_last_offset needs one offset at least")
        return 0
    first, behind = int(offsets[0].item()), int(offsets[-1].item())
    if first:
        raise errors_nn.bag_starts(f"the first offset must be 0, not {first}")
    if behind > input.numel():
        raise errors_nn.bag_starts(f"the last offset is {behind}, of {input.numel()} indices")
    return offsets.numel() - last


@op(namespace=SPACE)
def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
    norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean",
    sparse: bool = False, per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """Sums, means or the largest of rows of `weight`, bag by bag: the rows of a 2-d `input` are
    bags; a 1-d one is cut where `offsets` say. Rows `padding_idx` don't count; empty bags give
    zeros.

    ValueError for shapes and modes that there are not, RuntimeError for offsets, indices and
    dtypes that don't fit.
    """
    name = "embedding_bag"
    _check(name, input, weight)
    if not weight._dtype.is_floating_point:
        raise errors_nn.floating_inputs(name, weight._dtype)
    if mode not in ("sum", "mean", "max"):
        raise errors_nn.bag_mode(mode)
    if per_sample_weights is not None and per_sample_weights._shape != input._shape:
        raise errors_nn.bag_weights(input._shape, per_sample_weights._shape)
    if per_sample_weights is not None and mode != "sum":
        raise errors_nn.bag_weights_mode(mode)
    if mode == "max":
        for word, given in (("scale_grad_by_freq", scale_grad_by_freq), ("sparse", sparse)):
            if given:
                raise errors_nn.bag_of_gradients(word)
    if per_sample_weights is not None and per_sample_weights._dtype is not weight._dtype:
        raise errors_nn.same_dtype(
            name, "per_sample_weights", weight._dtype, per_sample_weights._dtype
        )
    rows, width = weight._shape
    pad = _padding(name, padding_idx, rows)
    if input.ndim == 2:
        if offsets is not None:
            raise errors_nn.bag_offsets("a 2-d input has a bag in each row, so takes no offsets")
        bags, size = input._shape
        index, of = input.reshape(-1), f.arange(bags, device=input.device).repeat_interleave(size)
    elif input.ndim == 1:
        if offsets is None or offsets.ndim != 1:
            raise errors_nn.bag_offsets("a 1-d input needs a 1-d tensor of offsets")
        bags = _bags(input, offsets, include_last_offset)
        index = input
        place = f.arange(input.numel(), device=input.device).unsqueeze(1)
        of = (place >= offsets[:bags].unsqueeze(0)).sum(1) - 1
        if not bags or include_last_offset:  # which elements are in no bag
            index = input[: int(offsets[-1].item()) if bags else 0]
            of = of[: index.numel()]
            if per_sample_weights is not None:
                per_sample_weights = per_sample_weights[: index.numel()]
    else:
        raise errors_nn.bag_input(input._shape)
    if max_norm is not None:
        _renormed(weight, index, max_norm, norm_type)
    parts = selected(name, weight, 0, index, refusal=errors_nn.bag_bounds)
    if per_sample_weights is not None:
        parts = parts.to(parts._dtype.compute) * per_sample_weights.reshape(-1, 1)
    counted = index != pad
    held = f.zeros(bags, dtype=int64, device=input.device).index_add(0, of, counted.to(int64))
    held = held.unsqueeze(1)
    target = f.zeros((bags, width), dtype=weight._dtype, device=weight.device)
    if mode == "max":
        low = -float("inf")
        spread = of.unsqueeze(1).expand(-1, width)
        parts = parts.masked_fill(~counted.unsqueeze(1), low)
        most = (target + low).scatter_reduce(0, spread, parts, "amax")
        return most.masked_fill(held == 0, 0)
    total = target.to(weight._dtype.compute)
    parts = (parts * counted.unsqueeze(1)).to(total._dtype)
    total = total.index_add(0, of, parts)
    if mode == "mean":
        total = total / held.clamp(min=1)
    return total.to(weight._dtype)


@op(namespace=SPACE)
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """int64 of shape (*, num_classes), 1 at each element's class; -1 stands for the largest + 1.
    RuntimeError for negative classes, those beyond `num_classes`, and other dtypes.
    """
    if input._dtype is not int64:
        raise errors_nn.class_dtype("one_hot", input._dtype)
    if not input.numel():
        if num_classes <= 0:
            raise errors_nn.no_classes()
        return f.zeros((*input._shape, num_classes), dtype=int64, device=input.device)
    low, high = (int(x.item()) for x in input.aminmax())
    if low < 0:
        raise errors_nn.negative_class(low)
    if num_classes == -1:
        num_classes = high + 1
    elif num_classes < 1:
        raise errors_nn.not_positive("one_hot", "num_classes", num_classes)
    elif high >= num_classes:
        raise errors_nn.class_beyond(high, num_classes)
    classes = f.arange(num_classes, device=input.device)
    return (input.unsqueeze(-1) == classes).to(int64)
