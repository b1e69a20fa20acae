"""Batch normalization over several processes (`torch.nn.SyncBatchNorm`), forward and backward. Each
process computes sums over its own samples; the processes exchange these sums between the calls."""

from __future__ import annotations

from ..._tensor import Tensor
from ...graph.fused import fused
from ...rows.catalogue import aten_op
from ..nn.layers.norm import normalized, statistics_of, update_running
from ..reduce.stats import var_mean


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
    result: tuple[Tensor, Tensor] = batch_norm_gather_stats_with_counts(
        input, mean, invstd, running_mean, running_var, momentum, eps, counts
    )
    return result


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
