"""Batch and instance normalization, and their running statistics."""

from __future__ import annotations

from collections.abc import Sequence

from ...._tensor import Tensor
from ....dtypes import bfloat16
from ....errors import nn as errors_nn
from ....formats import channels_last, channels_last_3d, contiguous_format
from ....graph.fused import fused
from ....iterator.shape import numel
from ....iterator.stride import is_channels_last
from ....rows.catalogue import op
from ...compose import composed
from ...create.sizes import empty
from ...reduce.stats import var_mean
from ..spatial.windows import formed
from .activation import SPACE
from .norm import check_floating, normalized, saved_statistic, statistics_of


@composed(method=False)
@fused
def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, training: bool, momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """(batch_norm, mean, 1 / deviation); the last two are empty unless `training`."""
    name = "batch_norm"
    if input.ndim < 2 and input.numel():
        raise errors_nn.few_dims(name, 2, input._shape)
    channels = input._shape[min(1, input.ndim - 1)]
    statistics = {"running_mean": running_mean, "running_var": running_var}
    for word, factor in {**statistics, "weight": weight, "bias": bias}.items():
        if factor is not None and factor._shape != (channels,):
            raise errors_nn.factor_shape(name, word, (channels,), factor._shape)
    check_floating(name, input)
    across = ([1, channels] + [1] * (input.ndim - 2))[-input.ndim :]
    if training:
        dims = (0, *range(2, input.ndim))
        mean, rstd = (saved_statistic(x, input, weight) for x in _of_batch(input, dims, eps, weight))
        if not eps:  # as torch, which takes no batch for infinitely far apart
            rstd = rstd.masked_fill(rstd.isinf(), 0)
        _update(input, dims, running_mean, running_var, momentum)
        saved = [x.reshape(-1) for x in (mean, rstd)]
    else:
        if running_mean is None or running_var is None:
            raise errors_nn.no_statistics(name)
        mean = running_mean.reshape(across)
        rstd = (running_var.to(running_var._dtype.compute) + eps).rsqrt().reshape(across)
        saved = [saved_statistic(empty(0, device=input.device), input, weight) for _ in range(2)]
    factors = [None if x is None else x.reshape(across) for x in (weight, bias)]
    result = normalized(input, mean, rstd, factors[0], factors[1])
    # Only what lies channels-last without gaps stays so, as in torch.
    kept = is_channels_last(input._shape, input._strides) and not input.is_contiguous()
    last = channels_last if input.ndim == 4 else channels_last_3d
    result = formed(result, last if kept else contiguous_format)
    return result, saved[0], saved[1]


def _of_batch(input: Tensor, dims: Sequence[int], eps: float, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """`statistics_of`, and where torch keeps the sum of squares, and its mean, in bfloat16: with
    factors of the input's dtype, and elements in line."""
    of = input._dtype
    count = numel(tuple(input._shape[d] for d in dims))
    alike = weight is None or weight._dtype is of
    if of is not bfloat16 or not (alike and count and input.is_contiguous()):
        return statistics_of(input, dims, eps)
    var, mean = var_mean(input.to(of.compute), dims, correction=0, keepdim=True)
    kept = ((var * count).to(of) / count).to(of.compute)
    return mean, (kept + eps).rsqrt()


def _update(
    input: Tensor, dims: Sequence[int], running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> None:
    """The running statistics brought nearer to those of this batch; their variance is unbiased."""
    if running_mean is None and running_var is None:
        return
    var, mean = var_mean(input.to(input._dtype.compute), dims)
    moved(running_mean, mean, momentum)
    moved(running_var, var, momentum)


def moved(running: Tensor | None, now: Tensor, momentum: float) -> None:
    """Brings a running statistic, if it is kept, nearer to that of this batch."""
    if running is not None:
        running.copy_((1 - momentum) * running + momentum * now)


@op(namespace=SPACE)
def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel (dim 1) with mean 0 and variance 1: those of the batch in `training`, which also
    move the running ones by `momentum`, else the running ones. ValueError for a batch of one value
    a channel, an `eps` below 0 or, in `training`, 0, RuntimeError for shapes that don't fit.
    """
    if eps < 0 or (training and not eps):
        raise errors_nn.batch_eps(eps, training)
    if training and input.ndim > 1 and numel((input._shape[0], *input._shape[2:])) == 1:
        raise errors_nn.one_value("batch_norm", input._shape)
    return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


@op(namespace=SPACE)
@fused
def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
    weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """`batch_norm` of each sample by itself; running statistics are moved by the samples' mean."""
    if use_input_stats and numel(input._shape[2:]) == 1:
        raise errors_nn.one_value("instance_norm", input._shape)
    n, channels, *rest = input._shape
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    repeated = [None if x is None else x.repeat(n) for x in (running_mean, running_var, weight, bias)]
    flat = formed(input, contiguous_format).reshape(1, n * channels, *rest)
    means, variances, weights, biases = repeated
    result = native_batch_norm(flat, weights, biases, means, variances, True, momentum, eps)[0]
    for running, many in ((running_mean, means), (running_var, variances)):
        if running is not None and many is not None:
            running.copy_(many.reshape(n, channels).mean(0))
    return result.reshape(input._shape)
