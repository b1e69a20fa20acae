"""Convolutions as products: windows as columns of a matrix, contracted, or by the kernel of convolutions."""

from __future__ import annotations

import itertools
from typing import Any

from ...._tensor import Tensor
from ....dtypes import complex64, complex128, dtype
from ....execute import memory
from ....execute.choices import spares_double
from ....execute.conv import convolve, served
from ....execute.conv_plan import ConvWindows
from ....execute.fir import filtered
from ....execute.matmul import gemm
from ....execute.reduce import fold
from ....formats import contiguous_format
from ....iterator.shape import Ints, numel
from ...linalg.product import DOT
from .windows import windows

# From as many filters and products on, windows are laid out as the columns of a matrix, at most so
# many elements at a time.
FILTERS, TERMS, BLOCK = 4, 1 << 18, 1 << 17


def _by_columns(seen: Tensor, weight: Tensor, bias: Tensor | None, shape: Ints) -> Tensor:
    """The same as products of matrices: the elements under the kernel are laid out as columns, a
    block of windows at a time, so that no more than the block's are ever there.
    """
    groups, filters, channels, *kernel = weight._shape
    n = len(kernel)
    batch, rows = shape[0], shape[2]
    depth, row, plane = channels * numel(tuple(kernel)), numel(shape[3:]), numel(shape[2:])
    result = memory.new(shape, seen._dtype, seen._storage.device)
    matrices = weight.reshape(1, groups, filters, depth)
    samples = max(1, BLOCK // (groups * depth * plane))
    some = max(1, min(rows, BLOCK // (groups * depth * row)))
    steps = seen._strides
    order = (0, 1, *range(n + 2, 2 * n + 2), *range(2, n + 2))
    for s, r in itertools.product(range(0, batch, samples), range(0, rows, some)):
        many, high = min(samples, batch - s), min(some, rows - r)
        under = seen._view(
            (many, seen._shape[1], high, *seen._shape[3:]), steps, seen._offset + s * steps[0] + r * steps[2]
        )
        columns = under.permute(order).contiguous().reshape(many, groups, depth, high * row)
        size = (many, groups, filters, high * row)
        out = result._view(
            size, (groups * filters * plane, filters * plane, plane, 1), s * groups * filters * plane + r * row
        )
        summand = None
        if bias is not None:
            own = bias._strides[0]
            summand = bias._view(size, (0, own * filters, own, 0), bias._offset)
        gemm(out, matrices, columns, summand)
    return result


def _sums(x: Tensor) -> dtype:
    """What few products are summed in: complex64 in double where that is cheap."""
    if x._dtype is complex64 and spares_double(x):
        return complex128
    return x._dtype.compute


def contracted(x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, stride: Ints, dilation: Ints) -> Tensor:
    """The convolution (N, groups * O, *counts) of a padded input (N, groups * C, *sizes) with a
    weight (groups, O, C, *kernel), in the input's dtype; sums are rounded once.
    """
    groups, filters, channels, *kernel = weight._shape
    n = len(kernel)
    shape = (x._shape[0], groups * filters, *counts)
    if not numel(shape):
        return memory.new(shape, x._dtype, x._storage.device)
    seen = windows(x, counts, kernel, stride, dilation)
    if filters >= FILTERS and numel(shape) * channels * numel(tuple(kernel)) >= TERMS:
        return _by_columns(seen, weight, bias, shape)
    batch, channel, *rest = seen._strides
    # (N, groups, O, *counts, C, *kernel), one filter for all windows, one window for all filters.
    apart = seen._view(
        (x._shape[0], groups, 1, *counts, channels, *kernel),
        (batch, channel * channels, 0, *rest[:n], channel, *rest[n:]),
        seen._offset,
    )
    own = weight._strides
    filled = weight._view(
        (1, groups, filters, *(1,) * n, channels, *kernel), (0, own[0], own[1], *(0,) * n, *own[2:]), weight._offset
    )
    compute, kept = _sums(x), x._dtype.compute
    dims = tuple(range(3 + n, 4 + 2 * n))
    (result,) = fold(DOT, (apart, filled), dims, False, compute, (kept,))
    result = result.reshape(shape)
    if bias is not None:
        result = result + bias.reshape(-1, *(1,) * n)
    return result.to(x._dtype)


def by_kernel(
    x: Tensor, weight: Tensor, bias: Tensor | None, counts: Ints, of: ConvWindows, call: Any
) -> Tensor | None:
    """The result (N, groups * O, *counts) for a weight (groups, O, C, *kernel), where there is a
    kernel for it and something to compute: channels last, where an operand's are.
    """
    shape = (x._shape[0], weight._shape[0] * weight._shape[1], *counts)
    row = filtered(x, weight, bias, counts, of)
    if row is not None:
        return row
    if not numel(shape) or not numel(weight._shape) or not served(x, numel(weight._shape[3:])):
        return None
    formats = [memory.suggested_format(t) for t in (x, _joined(weight))]
    wanted = next((one for one in formats if one is not contiguous_format), contiguous_format)
    strides = memory.format_strides(shape, wanted)
    result = memory.new(shape, x._dtype, x._storage.device, strides)
    return convolve(result, x, weight, bias, of, call)


def _joined(weight: Tensor) -> Tensor:
    """All filters of all groups: those of a group follow the group's before."""
    groups, filters, *rest = weight._shape
    return weight._view((groups * filters, *rest), weight._strides[1:], weight._offset)
