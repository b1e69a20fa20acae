"""Channels and positions that change places: pixel_shuffle and its kin."""

from __future__ import annotations

from ...._tensor import Tensor
from ....errors import nn as errors_nn
from ....execute.memory import suggested_format
from ....rows.catalogue import also_in, op
from ..layers.activation import SPACE
from .windows import laid_out


def _apart(result: Tensor, input: Tensor) -> Tensor:
    """A result in memory of its own, also where nothing changes places."""
    shared = result._storage is input._storage
    return result.clone(memory_format=suggested_format(input)) if shared else result


@op(method=False, bare="")
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C * r * r, H, W) to (*, C, H * r, W * r). RuntimeError for channels that don't divide."""
    name, r = "pixel_shuffle", upscale_factor
    if input.ndim < 3:
        raise errors_nn.few_dims(name, 3, input._shape)
    if r <= 0:
        raise errors_nn.not_positive(name, "upscale_factor", r)
    *batch, channels, height, width = input._shape
    if channels % (r * r):
        raise errors_nn.not_divisible(name, "channels", channels, r * r)
    apart = input.reshape(*batch, channels // (r * r), r, r, height, width)
    n = len(batch)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    shape = (*batch, channels // (r * r), height * r, width * r)
    return _apart(apart.permute(order).reshape(shape), input)


@op(method=False, bare="")
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, C, H * r, W * r) to (*, C * r * r, H, W). RuntimeError for sizes that don't divide."""
    name, r = "pixel_unshuffle", downscale_factor
    if input.ndim < 3:
        raise errors_nn.few_dims(name, 3, input._shape)
    if r <= 0:
        raise errors_nn.not_positive(name, "downscale_factor", r)
    *batch, channels, height, width = input._shape
    for word, size in (("height", height), ("width", width)):
        if size % r:
            raise errors_nn.not_divisible(name, word, size, r)
    apart = input.reshape(*batch, channels, height // r, r, width // r, r)
    n = len(batch)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    shape = (*batch, channels * r * r, height // r, width // r)
    return _apart(apart.permute(order).reshape(shape), input)


@op(method=False)
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels (dim 1) of `groups` groups, taken from each in turn. RuntimeError for fewer than
    3 dims and channels that don't divide.
    """
    name = "channel_shuffle"
    if input.ndim < 3:
        raise errors_nn.few_dims(name, 3, input._shape)
    if groups <= 0:
        raise errors_nn.not_positive(name, "groups", groups)
    n, channels, *rest = input._shape
    if channels % groups:
        raise errors_nn.not_divisible(name, "channels", channels, groups)
    apart = input.reshape(n, groups, channels // groups, *rest)
    return laid_out(_apart(apart.transpose(1, 2).reshape(input._shape), input), input)


also_in(SPACE, "pixel_shuffle", "pixel_unshuffle", "channel_shuffle")
