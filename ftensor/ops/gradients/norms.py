"""Derivatives of normalizing layers and embeddings; batch normalization over several processes
(`torch.nn.SyncBatchNorm`), forward and backward.

Each process computes sums over its own samples; the processes exchange these sums between the calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..._tensor import Tensor
from ...dtypes import float32, int64
from ...execute.pointwise import pointwise
from ...graph.fused import fused
from ...rows.catalogue import aten_op
from ..create.sizes import ones, zeros
from ..nn.layers.embedding import MODES
from ..nn.layers.norm import CENTERED, normalized, statistics_of, update_running
from ..rearrange.cat import cat
from ..reduce.stats import var_mean
from .pointwise import NORMALIZED

# gradients of input, weight and bias
Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]


def _normalized_gradient(grad: Tensor, result: Tensor, rstd: Tensor, dims: Sequence[int]) -> Tensor:
    """Returns the gradient of (input - mean) * rstd, with mean and rstd computed from the input
    over `dims`."""
    mean_grad = grad.mean(dims, keepdim=True)
    mean_product = (grad * result).mean(dims, keepdim=True)
    return pointwise(NORMALIZED, (grad, result, mean_grad, mean_product, rstd))


def _norm_gradients(
    grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    dims: Sequence[int],
    kept_dims: Sequence[int],
    mask: Sequence[bool],
    statistics_depend: bool = True,
) -> Gradients:
    """Returns the gradients of input, weight and bias of a normalizing layer.

    Statistics are over `dims`; with `statistics_depend` they depend on the input. Weight and bias
    broadcast against the input, so their gradients are reduced to the dims `kept_dims`. `mask`
    selects the gradients to compute.
    """
    result_dtype, compute = input._dtype, input._dtype.compute
    g, mean, rstd = grad.to(compute), mean.to(compute), rstd.to(compute)
    result = pointwise(CENTERED, (input.to(compute), mean, rstd))
    reduced_dims = tuple(k for k in range(input.ndim) if k not in kept_dims)
    grads: list[Tensor | None] = [None, None, None]
    if mask[0]:
        scaled = g if weight is None else g * weight.to(compute)
        grad_input = _normalized_gradient(scaled, result, rstd, dims) if statistics_depend else scaled * rstd
        grads[0] = grad_input.to(result_dtype)
    for k, x in ((1, None if not mask[1] else g * result), (2, g if mask[2] else None)):
        if x is not None:
            grads[k] = (x.sum(reduced_dims) if reduced_dims else x).to(result_dtype)
    return grads[0], grads[1], grads[2]


@aten_op()
@fused
def native_layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mask: Sequence[bool],
) -> Gradients:
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    return _norm_gradients(grad.contiguous(), input, mean, rstd, weight, dims, dims, mask)


@aten_op()
@fused
def native_group_norm_backward(
    grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    mask: Sequence[bool],
) -> Gradients:
    split, statistics_shape = (N, group, C // group, HxW), (N, group, 1, 1)
    factor = None if weight is None else weight.reshape(1, group, C // group, 1)
    statistics = mean.reshape(statistics_shape), rstd.reshape(statistics_shape)
    grads = _norm_gradients(grad.reshape(split), input.reshape(split), *statistics, factor, (2, 3), (1, 2), mask)
    a, b, c = [x if x is None else x.reshape(s) for x, s in zip(grads, (input._shape, (C,), (C,)))]
    return a, b, c


@aten_op()
@fused
def native_batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    mask: Sequence[bool],
) -> Gradients:
    if train:
        mean, rstd = save_mean, save_invstd
    else:
        assert running_var is not None
        mean, rstd = running_mean, (running_var + eps).rsqrt()
    assert mean is not None and rstd is not None
    channel_shape = (1, -1, *[1] * (input.ndim - 2))
    factor = None if weight is None else weight.reshape(channel_shape)
    dims = (0, *range(2, input.ndim))
    statistics = mean.reshape(channel_shape), rstd.reshape(channel_shape)
    return _norm_gradients(grad, input, *statistics, factor, dims, (1,), mask, train)


@aten_op()
@fused
def _weight_norm_interface_backward(
    grad: Tensor, v: Tensor, g: Tensor, norm: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """Returns the gradients of direction `v` and length `g` of v * (g / |v|); the norm is over all
    dims but `dim`."""
    projection = (grad * v).sum([d for d in range(v.ndim) if d != dim], keepdim=True) / norm
    return (grad - v * (projection / norm)) * (g / norm), projection.to(g._dtype)


@aten_op()
def embedding_dense_backward(grad: Tensor, indices: Tensor, rows: int, padding_idx: int, by_frequency: bool) -> Tensor:
    """Returns the gradient of an embedding's table, (rows, d)."""
    width = grad._shape[-1]
    index, flat = indices.reshape(-1), grad.reshape(-1, width)
    if by_frequency:
        ones_ = ones(index._shape, dtype=float32, device=grad.device)
        frequency = zeros((rows,), dtype=float32, device=grad.device).index_add_(0, index, ones_)
        flat = (flat / frequency.index_select(0, index).unsqueeze(1)).to(flat._dtype)
    if padding_idx >= 0:
        flat = flat.where((index != padding_idx).unsqueeze(1), 0)
    grad_weight = zeros((rows, width), dtype=grad._dtype, device=grad.device)
    return grad_weight.index_add_(0, index.to(int64), flat)


@aten_op()
def _embedding_bag_dense_backward(
    grad: Tensor,
    index: Tensor,
    bag_of_index: Tensor,
    bag_sizes: Tensor,
    largest: Tensor,
    rows: int,
    by_frequency: bool,
    mode: int,
    weights: Tensor | None,
    pad: int = -1,
) -> Tensor:
    """Returns the gradient (rows, d) of the table from `grad` (bags, d), the gradient of the bags.

    `bag_of_index` is the bag of each index, `bag_sizes` the number of elements of each bag (for
    "mean" and "max"), `largest` the row of each maximum. `by_frequency` divides a row's gradient by
    how often the row is used.
    """
    word = MODES[mode]
    a = grad.to(grad._dtype.compute)
    if word == "max":
        grad_weight = zeros((rows, grad._shape[1]), dtype=a._dtype, device=a.device)
        grad_weight.scatter_add_(0, largest, a.masked_fill((bag_sizes == 0).unsqueeze(1), 0))
        return grad_weight.to(grad._dtype)
    if word == "mean":
        a = a / bag_sizes.clamp(min=1).unsqueeze(1)
    a = a.index_select(0, bag_of_index)
    index_count = bag_of_index.numel()
    if weights is not None:
        a = a * weights.narrow(0, 0, index_count).unsqueeze(1)
    used_index = index.narrow(0, 0, index_count)
    return embedding_dense_backward(a, used_index, rows, pad, by_frequency).to(grad._dtype)


@aten_op()
def _embedding_bag_per_sample_weights_backward(
    grad: Tensor, weight: Tensor, index: Tensor, offsets: Tensor, bag_of_index: Tensor, mode: int, pad: int = -1
) -> Tensor:
    """Returns the gradient (n,) of the weights of summed rows; 0 for the padding row and for
    indices behind the last bag."""
    index_count = bag_of_index.numel()
    used_index, compute = index.narrow(0, 0, index_count), grad._dtype.compute
    products = grad.to(compute).index_select(0, bag_of_index) * weight.to(compute).index_select(0, used_index)
    grads = products.sum(1).masked_fill(used_index == pad, 0).to(grad._dtype)
    if index_count == index.numel():
        return grads
    unused_grad = zeros(index.numel() - index_count, dtype=grad._dtype, device=grad.device)
    return cat([grads, unused_grad])


def _dims(input: Tensor) -> tuple[int, ...]:
    return 0, *range(2, input.ndim)


def _by_channel(x: Tensor, input: Tensor) -> Tensor:
    return x.to(input._dtype.compute).reshape((1, -1, *[1] * (input.ndim - 2)))


@aten_op()
@fused
def batch_norm_stats(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Returns (mean, 1 / deviation) of each channel."""
    mean, rstd = statistics_of(input, _dims(input), eps)
    return mean.reshape(-1), rstd.reshape(-1)


@aten_op()
@fused
def batch_norm_update_stats(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> tuple[Tensor, Tensor]:
    """Returns (mean, variance) of each channel and moves the running statistics towards them by
    `momentum`."""
    var, mean = var_mean(input.to(input._dtype.compute), _dims(input), correction=0)
    count = input.numel() / mean.numel()
    update_running(running_mean, mean, momentum)
    update_running(running_var, var * (count / (count - 1)), momentum)
    return mean, var


@aten_op()
@fused
def batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    counts: Tensor,
) -> tuple[Tensor, Tensor]:
    """Returns (mean, 1 / deviation) over all processes from the statistics and sample counts of
    each process."""
    n = counts.to(mean._dtype).reshape(-1, 1)
    total = n.sum()
    middle = (mean * n).sum(0) / total
    squares = ((invstd.square().reciprocal() - eps + (mean - middle).square()) * n).sum(0)
    update_running(running_mean, middle, momentum)
    update_running(running_var, squares / (total - 1), momentum)
    return middle, (squares / total + eps).rsqrt()


@aten_op()
def batch_norm_gather_stats(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    momentum: float,
    eps: float,
    count: int,
) -> tuple[Tensor, Tensor]:
    """Like `batch_norm_gather_stats_with_counts`, for processes with equal sample counts."""
    counts = mean.new_full((mean._shape[0],), count)
    return batch_norm_gather_stats_with_counts(input, mean, invstd, running_mean, running_var, momentum, eps, counts)


@aten_op()
@fused
def batch_norm_elemt(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, invstd: Tensor, eps: float
) -> Tensor:
    """Returns (input - mean) * invstd * weight + bias."""
    factors = [None if x is None else _by_channel(x, input) for x in (weight, bias)]
    return normalized(input, _by_channel(mean, input), _by_channel(invstd, input), factors[0], factors[1])


@aten_op()
@fused
def batch_norm_backward_reduce(
    grad: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    input_g: bool,
    weight_g: bool,
    bias_g: bool,
) -> tuple[Tensor | None, Tensor | None, Tensor | None, Tensor | None]:
    """Returns (sum of grad, sum of grad * (input - mean), gradient of weight, gradient of bias) of
    this process."""
    g = grad.to(input._dtype.compute)
    sums = g.sum(_dims(input))
    sum_dy_xmu = (g * (input.to(g._dtype) - _by_channel(mean, input))).sum(_dims(input))
    weight_dtype = sum_dy_xmu._dtype if weight is None else weight._dtype
    grad_weight = (sum_dy_xmu * invstd.to(sum_dy_xmu._dtype)).to(weight_dtype) if weight_g else None
    grad_bias = sums.to(weight_dtype).clone() if bias_g else None
    return (sums, sum_dy_xmu, grad_weight, grad_bias) if input_g else (None, None, grad_weight, grad_bias)


@aten_op()
@fused
def batch_norm_backward_elemt(
    grad: Tensor,
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    weight: Tensor | None,
    sum_dy: Tensor,
    sum_dy_xmu: Tensor,
    count: Tensor,
) -> Tensor:
    """Returns the gradient of the input from the sums and the sample counts of all processes."""
    compute = input._dtype.compute
    total = count.to(compute).sum()
    rstd = _by_channel(invstd, input)
    mean_dy, mean_dy_xmu = (_by_channel(x, input) / total for x in (sum_dy, sum_dy_xmu))
    centered = input.to(compute) - _by_channel(mean, input)
    scaled = rstd if weight is None else rstd * _by_channel(weight, input)
    result: Tensor = (grad.to(compute) - mean_dy - centered * rstd.square() * mean_dy_xmu) * scaled
    return result.to(input._dtype)
