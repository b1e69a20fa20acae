"""Normalizing layers, and their running statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._tensor import Tensor
from ....dtypes import bfloat16
from ....dtypes.limits import finfo
from ....errors import nn as errors_nn
from ....execute import output
from ....execute.device_traits import specializes
from ....execute.layers import BATCH_NORM, is_traced, layer
from ....execute.pointwise import pointwise
from ....execute.reduce import whole_norm
from ....formats import channels_last, channels_last_3d, contiguous_format
from ....graph.fused import fused
from ....iterator.shape import is_channels_last, numel
from ....rows.catalogue import Entry, enter, op, register
from ....rows.op import Op
from ...arguments import check_kind
from ...bind import composed
from ...create.sizes import empty
from ...rearrange.pad import pad
from ...reduce.stats import moments, var_mean
from ...view.layout import int_list
from ..spatial.windows import in_format, in_input_format
from .activation import SPACE

CATEGORY = "activation"


def _row(body: str, *inputs: str, name: str = "layer_norm") -> Op:
    return Op(name, ", ".join(("input", "mean", "rstd", *inputs)), body, float_only=True)


CENTERED = _row("(a - b) * c")
SCALED = _row("(a - b) * c * d", "weight")
SHIFTED = _row("(a - b) * c * d + e", "weight", "bias")
# float16 and bfloat16, as in torch: input and mean are scaled before the subtraction.
FUSED = "fma(a, c, -(b * c))"
NARROW = tuple(
    _row(f"{FUSED}{body}", *more, name="narrow_layer_norm")
    for body, *more in (("",), (" * d", "weight"), (" * d + e", "weight", "bias"))
)
enter(__name__, CENTERED, SCALED, SHIFTED, *NARROW)


def _shape(name: str, input: Tensor, normalized_shape: Any, **factors: Tensor | None) -> int:
    """Returns how many last dims are normalized. Raises RuntimeError if they or the factors don't
    fit."""
    shape = int_list(normalized_shape, name, "normalized_shape")
    if not shape:
        raise errors_nn.no_normalized_shape(name)
    for word, factor in factors.items():
        if factor is not None and factor._shape != shape:
            raise errors_nn.factor_shape(name, word, shape, factor._shape)
    if input._shape[-len(shape) :] != shape:
        raise errors_nn.normalized_shape(name, shape, input._shape)
    return len(shape)


def check_floating(name: str, input: Tensor) -> None:
    check_kind(name, input._dtype, "f")


def statistics_of(input: Tensor, dims: Sequence[int], eps: float, of_rows: bool = False) -> tuple[Tensor, Tensor]:
    """Returns (mean, 1 / deviation) over `dims`, which are kept, in the compute dtype. `of_rows`
    sums squares in the compute dtype, otherwise in float64, as torch does."""
    output.check_capacity(input, input.numel(), input._dtype)  # memory for the temporaries
    x = input.to(input._dtype.compute)
    if not numel(input._shape):  # the mean of nothing is 0, as in torch
        mean = x.sum(dims, keepdim=True)
        return mean, mean / 0
    if of_rows:
        var, mean = moments(x, tuple(dims))
    else:
        var, mean = var_mean(x, dims, correction=0, keepdim=True)
    return mean, (var + eps).rsqrt()


def normalized(input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Returns (input - mean) * rstd * weight + bias, computed as one factor and one summand for
    each element."""
    mean, rstd = mean.to(input._dtype.compute), rstd.to(input._dtype.compute)
    factor = rstd if weight is None else rstd * weight
    summand = -mean * factor if bias is None else bias - mean * factor
    result: Tensor = summand.addcmul(input.to(mean._dtype), factor)
    return result.to(input._dtype)


def saved_statistic(statistic: Tensor, input: Tensor, weight: Tensor | None) -> Tensor:
    return statistic.to(input._dtype if weight is None else weight._dtype)


@op(method=False)
@fused
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (layer_norm, mean, 1 / deviation); the statistics have the compute dtype."""
    ndim = _shape("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    check_floating("layer_norm", input)
    whole_result = whole_norm(input, ndim, weight, bias, eps)
    if whole_result is not None:
        return whole_result[0], whole_result[1], whole_result[2]
    dims = tuple(range(input.ndim - ndim, input.ndim))
    mean, rstd = statistics_of(input, dims, eps, of_rows=True)
    is_half = input._dtype.compute is not input._dtype
    centered, scaled, shifted = NARROW if is_half else (CENTERED, SCALED, SHIFTED)
    if weight is None:
        result = pointwise(centered, (input, mean, rstd))
        result = result if bias is None else result + bias
    elif bias is None:
        result = pointwise(scaled, (input, mean, rstd, weight))
    else:
        result = pointwise(shifted, (input, mean, rstd, weight, bias))
    result = result.to(input._dtype).contiguous()
    return result, saved_statistic(mean, input, weight), saved_statistic(rstd, input, weight)


@op(namespace=SPACE)
@fused
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Returns (x - mean) / sqrt(var + eps) * weight + bias over the last dims, whose sizes are
    `normalized_shape`, as are those of `weight` and `bias`. Raises RuntimeError if they differ."""
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


@op(namespace=SPACE)
@fused
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Returns x / sqrt(mean(x * x) + eps) * weight over the last dims; `eps` defaults to the
    dtype's. Raises RuntimeError for shapes that don't fit."""
    ndim = _shape("rms_norm", input, normalized_shape, weight=weight)
    x = input.to(input._dtype.compute)
    dims = tuple(range(input.ndim - ndim, input.ndim))
    small = finfo(x._dtype.to_real()).eps if eps is None else eps
    result = x * ((x * x).mean(dims, keepdim=True) + small).rsqrt()
    return (result if weight is None else result * weight).to(input._dtype).contiguous()


@op(method=False)
@fused
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (group_norm, mean, 1 / deviation) for an input of N * C * HxW elements."""
    name = "group_norm"
    if group < 1:
        raise errors_nn.not_positive(name, "num_groups", group)
    if C % group:
        raise errors_nn.groups(name, C, group)
    for word, factor in (("weight", weight), ("bias", bias)):
        if factor is not None and factor._shape != (C,):
            raise errors_nn.factor_shape(name, word, (C,), factor._shape)
    check_floating(name, input)
    grouped = input.reshape(N, group, C // group * HxW)
    mean, rstd = statistics_of(grouped, (2,), eps, of_rows=True)
    factors = [None if x is None else x.reshape(1, group, -1, 1) for x in (weight, bias)]
    by_group = grouped.reshape(N, group, C // group, HxW)
    operands: list[Any] = [mean.unsqueeze(-1), rstd.unsqueeze(-1), *factors]
    if specializes(input):  # one kernel computes them for each element
        operands = [None if x is None else x.expand(by_group._shape) for x in operands]
    result = normalized(by_group, *operands)
    saved = [saved_statistic(x, input, weight).reshape(N, group) for x in (mean, rstd)]
    return in_input_format(result.reshape(input._shape), input), saved[0], saved[1]


@op(namespace=SPACE)
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalizes channels (dim 1) in `num_groups` groups, each to mean 0 and variance 1, then
    applies `weight` and `bias` of each channel. Raises RuntimeError if `num_groups` doesn't divide
    the channels."""
    if input.ndim < 2:
        raise errors_nn.few_dims("group_norm", 2, input._shape)
    n, channels, *spatial = input._shape
    if num_groups > 0 and n * (channels // num_groups) * numel(tuple(spatial)) == 1:
        raise errors_nn.one_value("group_norm", input._shape)
    return native_group_norm(input, weight, bias, n, channels, numel(tuple(spatial)), num_groups, eps)[0]


@op(namespace=SPACE)
@fused
def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Returns input / (k + alpha * mean of squares over `size` neighbouring channels) ** beta.
    Raises ValueError for fewer than 3 dims."""
    if input.ndim < 3:
        raise errors_nn.channels_needed("local_response_norm", input._shape)
    if not input.numel():
        return input
    # Differences of running sums would lose digits; `size` is small.
    square = input * input
    low, high = size // 2, (size - 1) // 2
    channels = input._shape[1]
    padded = pad(square.movedim(1, -1), (low, high)).movedim(-1, 1)
    total = padded.narrow(1, 0, channels)
    for i in range(1, size):
        total = total + padded.narrow(1, i, channels)
    is_integer = not input._dtype.is_floating_point and not input._dtype.is_complex
    total = total.contiguous()
    mean = total // size if is_integer else total / size
    return input / (mean * alpha + k) ** beta


for _call in (layer_norm, rms_norm, group_norm):
    register(Entry(_call.__name__, _call, method=False))


@composed(method=False)
@fused
def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, training: bool, momentum: float, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Returns (batch_norm, mean, 1 / deviation); the last two are empty unless `training`."""
    name = "batch_norm"
    if input.ndim < 2 and input.numel():
        raise errors_nn.few_dims(name, 2, input._shape)
    channels = input._shape[min(1, input.ndim - 1)]
    statistics = {"running_mean": running_mean, "running_var": running_var}
    for word, factor in {**statistics, "weight": weight, "bias": bias}.items():
        if factor is not None and factor._shape != (channels,):
            raise errors_nn.factor_shape(name, word, (channels,), factor._shape)
    check_floating(name, input)
    channel_shape = ([1, channels] + [1] * (input.ndim - 2))[-input.ndim :]
    if training:
        dims = (0, *range(2, input.ndim))
        mean, rstd = (saved_statistic(x, input, weight) for x in _batch_statistics(input, dims, eps, weight))
        if not eps:  # as in torch, a channel without variance gives 0
            rstd = rstd.masked_fill(rstd.isinf(), 0)
        _update(input, dims, running_mean, running_var, momentum)
        saved = [x.reshape(-1) for x in (mean, rstd)]
    else:
        if running_mean is None or running_var is None:
            raise errors_nn.no_statistics(name)
        mean = running_mean.reshape(channel_shape)
        rstd = (running_var.to(running_var._dtype.compute) + eps).rsqrt().reshape(channel_shape)
        saved = [saved_statistic(empty(0, device=input.device), input, weight) for _ in range(2)]
    factors = [None if x is None else x.reshape(channel_shape) for x in (weight, bias)]
    result = normalized(input, mean, rstd, factors[0], factors[1])
    # Only a channels-last tensor without gaps keeps its format, as in torch.
    keeps_channels_last = is_channels_last(input._shape, input._strides) and not input.is_contiguous()
    last = channels_last if input.ndim == 4 else channels_last_3d
    result = in_format(result, last if keeps_channels_last else contiguous_format)
    return result, saved[0], saved[1]


def _batch_statistics(input: Tensor, dims: Sequence[int], eps: float, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Like `statistics_of`, but reproduces torch's bfloat16 rounding: for contiguous inputs whose
    factors are bfloat16 too, torch stores the sum of squares and its mean in bfloat16."""
    input_dtype = input._dtype
    count = numel(tuple(input._shape[d] for d in dims))
    same_dtype = weight is None or weight._dtype is input_dtype
    if input_dtype is not bfloat16 or not (same_dtype and count and input.is_contiguous()):
        return statistics_of(input, dims, eps)
    var, mean = var_mean(input.to(input_dtype.compute), dims, correction=0, keepdim=True)
    variance = ((var * count).to(input_dtype) / count).to(input_dtype.compute)
    return mean, (variance + eps).rsqrt()


def _update(
    input: Tensor, dims: Sequence[int], running_mean: Tensor | None, running_var: Tensor | None, momentum: float
) -> None:
    """Moves the running statistics towards those of this batch; the variance is unbiased."""
    if running_mean is None and running_var is None:
        return
    var, mean = var_mean(input.to(input._dtype.compute), dims)
    update_running(running_mean, mean, momentum)
    update_running(running_var, var, momentum)


def update_running(running: Tensor | None, current: Tensor, momentum: float) -> None:
    if running is not None:
        running.copy_((1 - momentum) * running + momentum * current)


@op(namespace=SPACE)
def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalizes each channel (dim 1) to mean 0 and variance 1. In `training` the batch's
    statistics are used and move the running ones by `momentum`; otherwise the running ones are
    used. Raises ValueError for a batch with one value for each channel and for a negative `eps` (or
    0 in `training`), RuntimeError for shapes that don't fit."""
    if eps < 0 or (training and not eps):
        raise errors_nn.batch_eps(eps, training)
    if training and input.ndim > 1 and numel((input._shape[0], *input._shape[2:])) == 1:
        raise errors_nn.one_value("batch_norm", input._shape)
    arguments = (input, weight, bias, running_mean, running_var, training, momentum, eps)
    if training or not is_traced(input):
        return native_batch_norm(*arguments)[0]
    settings = {"mean": running_mean, "variance": running_var, "weight": weight, "bias": bias, "eps": eps}
    return layer(BATCH_NORM, (input,), settings, lambda: native_batch_norm(*arguments)[0])


@op(namespace=SPACE)
@fused
def instance_norm(
    input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
    weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalizes each sample separately, like `batch_norm`. The running statistics move by the mean
    over the samples."""
    if use_input_stats and numel(input._shape[2:]) == 1:
        raise errors_nn.one_value("instance_norm", input._shape)
    n, channels, *spatial = input._shape
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    repeated = [None if x is None else x.repeat(n) for x in (running_mean, running_var, weight, bias)]
    flat = in_format(input, contiguous_format).reshape(1, n * channels, *spatial)
    means, variances, weights, biases = repeated
    result = native_batch_norm(flat, weights, biases, means, variances, True, momentum, eps)[0]
    for running, instance_values in ((running_mean, means), (running_var, variances)):
        if running is not None and instance_values is not None:
            running.copy_(instance_values.reshape(n, channels).mean(0))
    return result.reshape(input._shape)
