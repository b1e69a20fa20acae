"""Embeddings, bags of rows, one-hot vectors."""

from __future__ import annotations

from ...._tensor import Tensor
from ....dtypes import dtype, int32, int64, promote_types
from ....errors import nn as errors_nn
from ....execute import output
from ....execute.segments import fits_one_launch, reduce_selected
from ....rows.catalogue import op
from ...arguments import check_tensors
from ...create.ranges import arange
from ...create.sizes import full, zeros
from ...index.gather import index_select, select_rows
from ...order.sort import searchsorted
from ...pointwise.ternary import where
from ...rearrange.cat import cat
from .activation import SPACE


def renormalize_rows(weight: Tensor, index: Tensor, max_norm: float, norm_type: float) -> None:
    """Scales the rows that `index` uses, in place, to a norm of at most `max_norm`."""
    is_used = zeros(weight._shape[:1], dtype=weight._dtype, device=weight.device)
    is_used[index.reshape(-1)] = 1
    norms = weight.norm(norm_type, 1)
    scale = where((norms > max_norm) & (is_used > 0), max_norm / (norms + 1e-7), 1.0)
    weight.mul_(scale.to(weight._dtype).unsqueeze(1))


def check(name: str, input: Tensor, weight: Tensor, offsets: Tensor | None = None) -> dtype:
    """Checks the tensors of an embedding; returns the dtype that indices and offsets promote to."""
    check_tensors(name, input=input, weight=weight)
    if weight.ndim != 2:
        raise errors_nn.table_dims(name, weight._shape)
    index_dtype = input._dtype if offsets is None else promote_types(input._dtype, offsets._dtype)
    if index_dtype not in (int32, int64):
        raise errors_nn.index_dtype(name, index_dtype)
    return index_dtype


def padding(name: str, padding_idx: int | None, rows: int) -> int:
    """Returns the padding row counted from the front; -1 without padding."""
    if padding_idx is None:
        return -1
    if not -rows <= padding_idx < rows:
        raise errors_nn.padding_index(name, padding_idx, rows)
    return padding_idx % rows


@op(namespace=SPACE)
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Returns the rows of `weight` that `input` names: (*) and (n, d) give (*, d). With `max_norm`,
    the rows in use are first scaled down in place. The other arguments concern gradients.

    Raises RuntimeError for indices that are no integers, IndexError for a row that does not exist.
    """
    if isinstance(weight, Tensor) and weight.ndim == 1:
        return index_select(weight, 0, input.reshape(-1)).reshape(input._shape)
    check("embedding", input, weight)
    padding("embedding", padding_idx, weight._shape[0])
    if max_norm is not None:
        renormalize_rows(weight, input, max_norm, norm_type)
    rows = index_select(weight, 0, input.reshape(-1))
    return rows.reshape(*input._shape, weight._shape[1])


@op(namespace=SPACE)
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Returns int64 of shape (*, num_classes) with 1 at each element's class; -1 means the largest
    class + 1. Raises RuntimeError for negative classes, classes beyond `num_classes`, and other
    dtypes."""
    if input._dtype is not int64:
        raise errors_nn.class_dtype("one_hot", input._dtype)
    if not input.numel():
        if num_classes <= 0:
            raise errors_nn.no_classes()
        return zeros((*input._shape, num_classes), dtype=int64, device=input.device)
    output.check_capacity(input, input.numel() * max(num_classes, 1), int64)
    low, high = (int(x.item()) for x in input.aminmax())
    if low < 0:
        raise errors_nn.negative_class(low)
    if num_classes == -1:
        num_classes = high + 1
    elif num_classes < 1:
        raise errors_nn.not_positive("one_hot", "num_classes", num_classes)
    elif high >= num_classes:
        raise errors_nn.class_beyond(high, num_classes)
    classes = arange(num_classes, device=input.device)
    return (input.contiguous().unsqueeze(-1) == classes).to(int64)


MODES = ("sum", "mean", "max")
NAME = "embedding_bag"


def _bag_count(input: Tensor, offsets: Tensor, include_last_offset: bool) -> int:
    """Returns the number of bags. Raises RuntimeError for offsets outside the indices."""
    if offsets._dtype not in (int32, int64):
        raise errors_nn.bag_starts(f"offsets must be int64 or int32, not {offsets._dtype}")
    if not offsets.numel():
        if include_last_offset:
            raise errors_nn.bag_starts("include_last_offset needs one offset at least")
        return 0
    first, last_offset = int(offsets[0].item()), int(offsets[-1].item())
    if first:
        raise errors_nn.bag_starts(f"the first offset must be 0, not {first}")
    if last_offset > input.numel():
        raise errors_nn.bag_starts(f"the last offset is {last_offset}, of {input.numel()} indices")
    return offsets.numel() - include_last_offset


def bags_of_offsets(input: Tensor, offsets: Tensor, include_last_offset: bool) -> tuple[int, Tensor]:
    """Returns (the number of bags, the bag of each index as int64 (used,)) of offsets into indices
    (n,). Indices behind the last bag are not used. With `include_last_offset`, the last offset is
    the end of the last bag.

    Raises RuntimeError for offsets that are no integers or are out of range.
    """
    bags = _bag_count(input, offsets, include_last_offset)
    index_count = input.numel()
    if not bags or include_last_offset:
        index_count = int(offsets[-1].item()) if bags else 0
    index_positions = arange(index_count, device=input.device)
    bag_of_index = searchsorted(offsets[:bags].to(int64), index_positions, right=True) - 1
    return bags, bag_of_index


def pool_offsets(
    weight: Tensor,
    index: Tensor,
    offsets: Tensor,
    include_last_offset: bool,
    mode: str,
    weights: Tensor | None,
    pad: int,
) -> tuple[Tensor, Tensor]:
    """Returns (bags (bags, d), counts (bags,) as int64): the rows at `index` (n,) reduced bag by
    bag, each times its element of `weights`. Rows `pad` don't count; empty bags are zeros. Raises
    RuntimeError for offsets and indices out of range."""
    bags = _bag_count(index, offsets, include_last_offset)
    if bags and fits_one_launch(weight, index, offsets, weights):
        return _pool_in_one(weight, index, offsets.to(int64), bags, mode, weights, pad)
    bags, bag_of_index = bags_of_offsets(index, offsets, include_last_offset)
    index_count = bag_of_index.numel()
    if weights is not None:
        weights = weights[:index_count]
    return pool_bags(weight, index[:index_count], bag_of_index, bags, mode, weights, pad)


def _pool_in_one(
    weight: Tensor, index: Tensor, ends: Tensor, bags: int, mode: str, weights: Tensor | None, pad: int
) -> tuple[Tensor, Tensor]:
    reduction, first = ("amax", -float("inf")) if mode == "max" else ("sum", 0.0)
    mean = mode == "mean"
    return reduce_selected(weight, index, ends, bags, reduction, mean, first, weights, pad, errors_nn.bag_bounds)


def pool_bags(
    weight: Tensor, index: Tensor, bag_of_index: Tensor, bags: int, mode: str, weights: Tensor | None, pad: int
) -> tuple[Tensor, Tensor]:
    """Does what `pool_offsets` does, from the bag of each index."""
    width = weight._shape[1]
    rows = select_rows(NAME, weight, 0, index, refusal=errors_nn.bag_bounds)
    if weights is not None:
        rows = rows.to(rows._dtype.compute) * weights.reshape(-1, 1)
    counted = index != pad
    bag_sizes = zeros(bags, dtype=int64, device=index.device).index_add(0, bag_of_index, counted.to(int64))
    target = zeros((bags, width), dtype=weight._dtype, device=weight.device)
    if mode == "max":
        low = -float("inf")
        rows = rows.masked_fill(~counted.unsqueeze(1), low)
        maxima = (target + low).scatter_reduce(0, _expand_rows(bag_of_index, width), rows, "amax")
        return maxima.masked_fill((bag_sizes == 0).unsqueeze(1), 0), bag_sizes
    total = target.to(weight._dtype.compute)
    total = total.index_add(0, bag_of_index, (rows * counted.unsqueeze(1)).to(total._dtype))
    if mode == "mean":
        total = total / bag_sizes.clamp(min=1).unsqueeze(1)
    return total.to(weight._dtype), bag_sizes


def _expand_rows(bag_of_index: Tensor, width: int) -> Tensor:
    return bag_of_index.unsqueeze(1).expand(-1, width)


def maximum_rows(weight: Tensor, index: Tensor, bag_of_index: Tensor, maxima: Tensor, pad: int) -> Tensor:
    """Returns the row of each maximum: int64 (bags, d) for the maxima `maxima` (bags, d). Among
    equal elements it is the first in the bag; 0 for empty bags."""
    n, (bags, width) = index.numel(), maxima._shape
    first = full((bags, width), n, dtype=int64, device=weight.device)
    if n:
        weight_rows = weight.index_select(0, index)
        is_it = (weight_rows == maxima.index_select(0, bag_of_index)) | weight_rows.isnan()
        is_it = is_it & (index != pad).unsqueeze(1)
        index_positions = arange(n, device=weight.device).unsqueeze(1)
        first = first.scatter_reduce(0, _expand_rows(bag_of_index, width), where(is_it, index_positions, n), "amin")
    rows = cat([index.to(int64), zeros(1, dtype=int64, device=weight.device)])
    return rows[first]


@op(namespace=SPACE)
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Reduces rows of `weight` bag by bag, by sum, mean or max. The rows of a 2-d `input` are bags;
    `offsets` split a 1-d `input`. Rows `padding_idx` don't count; empty bags give zeros.

    Raises ValueError for unsupported shapes and modes, RuntimeError for offsets, indices and dtypes
    that don't fit.
    """
    of_indices = check(NAME, input, weight, offsets)
    if max_norm is not None:
        check(NAME, input, weight)
    if not weight._dtype.is_floating_point:
        raise errors_nn.floating_inputs(NAME, weight._dtype)
    if mode not in MODES:
        raise errors_nn.bag_mode(mode)
    if per_sample_weights is not None and per_sample_weights._shape != input._shape:
        raise errors_nn.bag_weights(input._shape, per_sample_weights._shape)
    if per_sample_weights is not None and mode != "sum":
        raise errors_nn.bag_weights_mode(mode)
    if mode == "max":
        for word, flag in (("scale_grad_by_freq", scale_grad_by_freq), ("sparse", sparse)):
            if flag:
                raise errors_nn.bag_of_gradients(word)
    if per_sample_weights is not None and per_sample_weights._dtype is not weight._dtype:
        raise errors_nn.same_dtype(NAME, "per_sample_weights", weight._dtype, per_sample_weights._dtype)
    pad = padding(NAME, padding_idx, weight._shape[0])
    if input.ndim == 2:
        if offsets is not None:
            raise errors_nn.bag_offsets("a 2-d input has a bag in each row, so takes no offsets")
    elif input.ndim == 1:
        if offsets is None or offsets.ndim != 1:
            raise errors_nn.bag_offsets("a 1-d input needs a 1-d tensor of offsets")
        input, offsets = input.to(of_indices), offsets.to(of_indices)
    else:
        raise errors_nn.bag_input(input._shape)
    index = input.reshape(-1)
    if per_sample_weights is not None:
        per_sample_weights = per_sample_weights.reshape(-1)
    if offsets is None:
        if max_norm is not None:
            renormalize_rows(weight, index, max_norm, norm_type)
        bags, size = input._shape
        return _pool_rows(weight, index, bags, size, mode, per_sample_weights, pad)
    if max_norm is not None:
        used = index[: int(offsets[-1].item())] if include_last_offset and offsets.numel() else index
        renormalize_rows(weight, used, max_norm, norm_type)
    return pool_offsets(weight, index, offsets, include_last_offset, mode, per_sample_weights, pad)[0]


def _pool_rows(
    weight: Tensor, index: Tensor, bags: int, size: int, mode: str, weights: Tensor | None, pad: int
) -> Tensor:
    if bags and size and fits_one_launch(weight, index, weights):
        starts = arange(0, bags * size, size, device=index.device)
        return _pool_in_one(weight, index, starts, bags, mode, weights, pad)[0]
    bag_of_index = arange(bags, device=index.device).repeat_interleave(size)
    return pool_bags(weight, index, bag_of_index, bags, mode, weights, pad)[0]
