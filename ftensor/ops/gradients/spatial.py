"""Derivatives of convolutions, pooling, resizing and grid sampling."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache, partial, reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from ... import dtypes
from ..._tensor import Tensor
from ...execute.conv_plan import ConvWindows, weight_gradients
from ...execute.device_traits import specializes
from ...execute.layers import max_pool_back
from ...execute.packed_weights import constant_of
from ...iterator.shape import Ints, numel
from ...rows.catalogue import aten_op
from ..create.ranges import eye
from ..create.sizes import ones_like, zeros, zeros_like
from ..index.gather import gather, put_once
from ..linalg.matmul import matmul
from ..nn.spatial.conv import CONV, CONV_TRANSPOSE
from ..nn.spatial.grid import (
    CUBIC,
    MODES,
    PADDINGS,
    GridSampler,
    apply_padding,
    cubic_weights,
    element_coordinates,
    mirrors,
    reflect,
)
from ..nn.spatial.interpolate import interpolate
from ..nn.spatial.pool import pool_of
from ..nn.spatial.windows import ints_per_dim
from ..pointwise.ternary import where
from ..rearrange.cat import stack
from ..rearrange.pad import pad


@aten_op()
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """Returns a convolution or transposed convolution over the `input.ndim - 2` spatial dims."""
    n = input.ndim - 2
    if not transposed:
        return CONV[n](input, weight, bias, stride, padding, dilation, groups)
    options = output_padding, groups, dilation
    return CONV_TRANSPOSE[n](input, weight, bias, stride, padding, *options)


@aten_op()
def convolution_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """Returns the gradients of a convolution's input, weight and bias; None where `output_mask` is
    False."""
    geometry = tuple(stride), tuple(padding), tuple(dilation)
    grads: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        grads[0] = input_gradient(grad, input._shape, weight, *geometry, transposed, groups)
    if output_mask[1]:
        pair = (input, grad) if transposed else (grad, input)
        needs_bias = output_mask[2] and not transposed
        grads[1:] = weight_gradient(*pair, weight._shape, *geometry, groups, needs_bias)
    if output_mask[2] and grads[2] is None:
        grads[2] = grad.sum((0, *range(2, grad.ndim)))
    return tuple(grads)


def input_gradient(
    grad: Tensor,
    input_shape: Ints,
    weight: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> Tensor:
    """Returns the gradient of a convolution's input."""
    if not numel(grad._shape) or not numel(input_shape):
        return zeros(input_shape, dtype=grad.dtype, device=grad.device)
    n = grad.ndim - 2
    if transposed:
        grad_input = CONV[n](grad, weight, None, stride, padding, dilation, groups)
        for dim, size in enumerate(input_shape[2:], 2):
            grad_input = grad_input.narrow(dim, 0, size)  # output_padding made the input larger
        return grad_input.contiguous()
    sizes = zip(input_shape[2:], grad._shape[2:], weight._shape[2:], stride, padding, dilation)
    left = [size - ((out - 1) * s - 2 * p + d * (k - 1) + 1) for size, out, k, s, p, d in sizes]
    return CONV_TRANSPOSE[n](grad, weight, None, stride, padding, tuple(left), groups, dilation)


def weight_gradient(
    grad: Tensor,
    input: Tensor,
    weight_shape: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    bias: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Returns (gradient of a convolution's weight, gradient of its bias or None). For a transposed
    convolution the caller exchanges `grad` and `input`. The bias gradient is returned if `bias` is
    set and the kernel computes it along with the weight's."""
    if not numel(grad._shape) or not numel(input._shape):
        return zeros(weight_shape, dtype=grad.dtype, device=grad.device), None
    grads = weight_gradients(grad, input, weight_shape, ConvWindows(groups, stride, padding, dilation), bias)
    if grads is None:
        args = grad, input, weight_shape, stride, padding, dilation, groups
        return _weight_by_convolution(*args), None
    if grads[0].ndim == len(weight_shape):
        return grads
    return grads[0].sum(0), None if grads[1] is None else grads[1].sum(0)


def _weight_by_convolution(
    grad: Tensor, input: Tensor, weight_shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Tensor:
    """Returns the weight gradient as a convolution of the input with the gradient: samples and
    channels exchange roles, and so do stride and dilation."""
    n = grad.ndim - 2
    batch, channels = input._shape[:2]
    if groups == 1 and channels > 1 and dilation[-1] == 1 and specializes(input):
        return _weight_by_channels(grad, input, weight_shape, stride, padding, dilation)
    group_channels = channels // groups
    spatial = input._shape[2:]
    order = tuple(range(3, n + 3))
    samples_as_channels = input.reshape(batch, groups, group_channels, *spatial).permute(2, 1, 0, *order)
    samples_as_channels = samples_as_channels.reshape(group_channels, groups * batch, *spatial)
    grad_weight = CONV[n](samples_as_channels, grad.transpose(0, 1), None, dilation, padding, stride, groups)
    for dim, size in enumerate(weight_shape[2:], 2):
        grad_weight = grad_weight.narrow(dim, 0, size)  # the stride skipped some of the input
    return grad_weight.transpose(0, 1).contiguous()


def _weight_by_channels(
    grad: Tensor, input: Tensor, weight_shape: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Tensor:
    """Returns the weight gradient for small kernels by a convolution whose last dim interleaves the
    channels.

    With few kernel columns the plain form would leave most of a vector empty. In the interleaved
    form, neighbouring columns are `channels` elements apart.
    """
    n = grad.ndim - 2
    batch, channels, *spatial = input._shape
    inner = input.permute(0, *range(2, n + 2), 1).contiguous()
    samples_as_channels = inner.reshape(1, batch, *spatial[:-1], spatial[-1] * channels)
    channel_stride, channel_padding = (*stride[:-1], stride[-1] * channels), (*padding[:-1], padding[-1] * channels)
    grad_weight = CONV[n](samples_as_channels, grad.transpose(0, 1), None, dilation, channel_padding, channel_stride, 1)
    rows, width = weight_shape[2:-1], weight_shape[-1]
    for dim, size in enumerate((*rows, width * channels), 2):
        grad_weight = grad_weight.narrow(dim, 0, size)  # the stride skipped some of the input
    grad_weight = grad_weight.reshape(weight_shape[0], *rows, width, channels)
    return grad_weight.permute(0, n + 1, *range(1, n + 1)).contiguous()


# Means and sums over windows are products with a matrix for each dim, and so are their derivatives.


@lru_cache(256)
def _mean_pool_matrix(
    size: int, kernel: int, stride: int, padding: int, out: int, count_include_pad: bool
) -> np.ndarray:
    """Returns the matrix (out, size) of each element's share in the mean of each window."""
    matrix = np.zeros((out, size))
    for row in range(out):
        start = row * stride - padding
        end = min(start + kernel, size + padding)
        low, high = max(start, 0), min(end, size)
        matrix[row, low:high] = 1 / ((end - start) if count_include_pad else max(high - low, 1))
    return matrix


@lru_cache(256)
def _sums(size: int, kernel: int, stride: int, padding: int, out: int) -> np.ndarray:
    return (_mean_pool_matrix(size, kernel, stride, padding, out, False) > 0).astype(float)


@lru_cache(256)
def _adaptive(size: int, out: int) -> np.ndarray:
    matrix = np.zeros((out, size))
    for row in range(out):
        low, high = row * size // out, -(-(row + 1) * size // out)
        matrix[row, low:high] = 1 / (high - low)
    return matrix


def _distribute(grad: Tensor, matrices: Sequence[np.ndarray]) -> Tensor:
    """Distributes a gradient of means over the windows' elements, by one matrix (out, size) for
    each of the last dims."""
    result_dtype = grad._dtype
    grad_input = grad.to(result_dtype.compute)
    for dim, matrix in zip(range(grad.ndim - len(matrices), grad.ndim), matrices):
        factor = constant_of(matrix.astype(grad_input._dtype.name), grad)
        grad_input = grad_input.movedim(dim, -1).matmul(factor).movedim(-1, dim)
    return grad_input.contiguous().to(result_dtype)


def _avg_pool(
    n: int,
    grad: Tensor,
    input: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Tensor:
    kernel = ints_per_dim("avg_pool", "kernel_size", kernel, n)
    stride = ints_per_dim("avg_pool", "stride", stride or kernel, n)
    padding = ints_per_dim("avg_pool", "padding", padding, n)
    outs, sizes = grad._shape[-n:], input._shape[-n:]
    dims = list(zip(sizes, kernel, stride, padding, outs))
    if divisor is not None:
        return _distribute(grad / divisor, [_sums(*w) for w in dims])
    return _distribute(grad, [_mean_pool_matrix(*w, count_include_pad) for w in dims])


def _adaptive_avg_pool(n: int, grad: Tensor, input: Tensor) -> Tensor:
    pairs = zip(input._shape[-n:], grad._shape[-n:])
    return _distribute(grad, [_adaptive(size, out) for size, out in pairs])


def _max_pool(
    n: int,
    grad: Tensor,
    input: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    """Returns the gradient of max pooling's input: `grad` added at `indices`."""
    name = f"max_pool{n}d_backward"
    pool = pool_of(name, n, input, kernel, stride or kernel, padding, dilation, ceil_mode)
    if pool.tiles and pool.small(input) and grad._shape == indices._shape == pool.shape:
        assert pool.plane_windows is not None
        return max_pool_back(grad.contiguous(), indices.contiguous(), pool.plane_windows, input._shape)
    indices_are_unique = all(s > d * (k - 1) for s, k, d in zip(pool.stride, pool.kernel, pool.dilation))
    return _scatter_to_input(grad, input, indices, n, indices_are_unique)


def _adaptive_max_pool(n: int, grad: Tensor, input: Tensor, indices: Tensor) -> Tensor:
    return _scatter_to_input(grad, input, indices, n, False)


def _scatter_to_input(grad: Tensor, input: Tensor, indices: Tensor, n: int, indices_are_unique: bool) -> Tensor:
    """Returns zeros of the input's shape with `grad` added at `indices`, flat positions in the last
    `n` dims. `indices_are_unique` promises that no two indices are equal."""
    outer, plane = input._shape[:-n], numel(input._shape[-n:])
    grad_input = zeros((*outer, plane), dtype=grad._dtype, device=grad.device)
    flat_index, values = indices.reshape(*outer, -1), grad.reshape(*outer, -1)
    if indices_are_unique:
        put_once(grad_input, flat_index, values)
    else:
        grad_input.scatter_add_(-1, flat_index, values)
    return grad_input.reshape(input._shape)


for _n in (2, 3):
    aten_op(f"avg_pool{_n}d_backward")(partial(_avg_pool, _n))
    aten_op(f"_adaptive_avg_pool{_n}d_backward")(partial(_adaptive_avg_pool, _n))
    aten_op(f"max_pool{_n}d_with_indices_backward")(partial(_max_pool, _n))
    aten_op(f"adaptive_max_pool{_n}d_backward")(partial(_adaptive_max_pool, _n))


Scales = Sequence[float | None]


def _unit(n: int, element: dtypes.dtype, device: Any, dims: int) -> Tensor:
    identity = eye(n, dtype=element, device=device)
    return identity.reshape((1, n, *(1,) * (dims - 1), n))


def _multiply_along(grad: Tensor, dim: int, matrix: Tensor) -> Tensor:
    return matmul(grad.transpose(dim, -1), matrix.t()).transpose(dim, -1)


@aten_op()
def upsample(x: Tensor, sizes: Sequence[int], scales: Scales, mode: str, **options: Any) -> Tensor:
    """Interpolates to `sizes`, or by `scales` if given. Raises NotImplementedError if the sizes
    don't follow from the scales."""
    size = x._shape[2:]
    factors = [s for s in scales if s is not None]
    if factors and [int(n * s) for n, s in zip(size, factors)] != list(sizes):
        raise NotImplementedError
    size_arguments = {"scale_factor": factors} if factors else {"size": list(sizes)}
    return interpolate(x, mode=mode, **size_arguments, **options)


@aten_op()
def upsample_backward(
    grad: Tensor, output_size: Sequence[int], input_size: Sequence[int], scales: Scales, mode: str, **options: Any
) -> Tensor:
    # Handles one dim at a time: modes for two dims get a second dim of size 1.
    smooth = "antialias" in options
    flat = 2 if mode == "bicubic" or smooth else 1
    of_one = "linear" if mode in ("bilinear", "trilinear") and not smooth else mode
    result_dtype, grad_input = grad._dtype, grad.to(grad._dtype.compute)
    for d, (size, count, scale) in enumerate(zip(input_size[2:], output_size, scales)):
        if size == count and scale in (None, 1.0):
            continue
        unit = _unit(size, grad_input._dtype, grad_input.device, flat)
        unit_dims = (1,) * (flat - 1)
        scale_used = None if scale is None else 1.0
        matrix = upsample(unit, (*unit_dims, count), (*(scale_used for _ in unit_dims), scale), of_one, **options)
        grad_input = _multiply_along(grad_input, d + 2, matrix.reshape(size, count))
    return grad.clone() if grad_input is grad else grad_input.to(result_dtype).contiguous()


@aten_op()
def pad_backward(grad: Tensor, input: Tensor, padding: Sequence[int], mode: str) -> Tensor:
    result_dtype, grad_input = grad._dtype, grad.to(grad._dtype.compute)
    for k in range(0, len(padding), 2):
        dim = input.ndim - 1 - k // 2
        unit = _unit(input._shape[dim], grad_input._dtype, grad_input.device, 1)
        padded = pad(unit, list(padding[k : k + 2]), mode)
        grad_input = _multiply_along(grad_input, dim, padded[0])
    return grad_input.to(result_dtype).contiguous()


class Neighbour(NamedTuple):
    """One of the elements along a dim that a sampled point is interpolated from: its position `at`,
    its weight, and the derivative `slope` of the weight by the point's coordinate. Each has shape
    (N, points); a slope may be a number."""

    position: Tensor
    weight: Tensor
    slope: Tensor | float


def _is_reflected(coordinate: Tensor, size: int, corners: bool, flat: bool) -> Tensor:
    """Returns True where `folded` reversed the direction of a coordinate."""
    low, span = mirrors(size, corners)
    away = (coordinate - low).abs()
    if flat:  # in two dims torch computes this differently at a mirror
        second = away - (away / (2 * span)).trunc() * (2 * span) > span
    else:
        second = (away / span).floor().remainder(2) != 0
    return (coordinate < low).logical_xor(second)


def _coordinate_slope(coordinate: Tensor, size: int, padding: str, corners: bool, flat: bool) -> Any:
    """Returns the derivative of an element coordinate by the grid coordinate; 0 where padding
    clamps it."""
    step = (size - 1) / 2 if corners else size / 2
    if padding == "zeros":
        return step
    slope: Any = step
    if padding == "reflection":
        if not mirrors(size, corners)[1]:
            return 0.0
        slope = where(_is_reflected(coordinate, size, corners, flat), -step, step).to(coordinate._dtype)
        coordinate = reflect(coordinate, size, corners, flat)
    return where((coordinate > 0).logical_and(coordinate < size - 1), slope, 0.0).to(coordinate._dtype)


def _cubic_slopes(fraction: Tensor) -> list[Tensor]:
    """Returns the derivatives of `cubic_weights` by the coordinate."""
    a = CUBIC

    def inner(x: Any) -> Any:
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    def outer(x: Any) -> Any:
        return (3 * a * x - 10 * a) * x + 8 * a

    return [outer(fraction + 1), inner(fraction), -inner(1 - fraction), -outer(2 - fraction)]


def _neighbours(coordinate: Tensor, size: int, mode: str, padding: str, corners: bool) -> list[Neighbour]:
    """Returns the neighbours of points along a dim."""
    if mode == "nearest":
        return [Neighbour(coordinate.round(), ones_like(coordinate), 0.0)]
    low = coordinate.floor()
    fraction = coordinate - low
    if mode == "bilinear":
        return [Neighbour(low, 1 - fraction, -1.0), Neighbour(low + 1, fraction, 1.0)]
    four = zip(range(-1, 3), cubic_weights(fraction), _cubic_slopes(fraction))
    return [Neighbour(apply_padding(low + k, size, padding, corners, True), w, s) for k, w, s in four]


@aten_op("grid_sampler_2d_backward", "grid_sampler_3d_backward")
def grid_sampler(
    grad: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    corners: bool,
    mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None]:
    """Returns the gradients of image and grid (None where `mask` is False) from the gradient of the
    result. The modes are the numbers that `grid_sampler` takes."""
    mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
    n, result_dtype, compute = input.ndim - 2, input._dtype, input._dtype.compute
    sizes, flat = input._shape[2:], n == 2
    image = zeros_like(input, dtype=compute).reshape(*input._shape[:2], numel(sizes))
    if not numel(grad._shape):
        empty = zeros(grid._shape, dtype=result_dtype, device=grid.device)
        return (zeros_like(input) if mask[0] else None), (empty if mask[1] else None)
    reader, a = GridSampler(input.to(compute)), grad.to(compute).reshape(*grad._shape[:2], -1)
    coordinates = element_coordinates(grid.to(compute), sizes, corners)
    scale_padding = "zeros" if mode == "bicubic" else padding  # bicubic applies the padding to each neighbour
    scales = [
        _coordinate_slope(coordinate, k, scale_padding, corners, flat) for coordinate, k in zip(coordinates, sizes)
    ]
    coordinates = [
        apply_padding(coordinate, k, scale_padding, corners, flat) for coordinate, k in zip(coordinates, sizes)
    ]
    grid_grads: list[Any] = [zeros_like(coordinate) for coordinate in coordinates]
    neighbours = [_neighbours(coordinate, k, mode, padding, corners) for coordinate, k in zip(coordinates, sizes)]
    for element in itertools.product(*neighbours):
        is_inside, index = reader.flat_positions([neighbour.position for neighbour in element])
        weights = [neighbour.weight for neighbour in element]
        if mask[0]:
            weighted_grad = a * reduce(mul, weights).unsqueeze(1)
            image.scatter_add_(2, index, where(is_inside, weighted_grad, 0))
        if mask[1] and mode != "nearest":
            value = where(is_inside, gather(reader.flat, 2, index), 0)
            dot = (value * a).sum(1)
            for d, neighbour in enumerate(element):
                other_weights = reduce(mul, (w for k, w in enumerate(weights) if k != d))
                grid_grads[d] = grid_grads[d] + dot * (neighbour.slope * other_weights)
    scaled = [neighbour * scale for neighbour, scale in zip(grid_grads, scales)]
    to_grid = stack(scaled[::-1], -1).reshape(grid._shape).to(result_dtype) if mask[1] else None
    return (image.reshape(input._shape).to(result_dtype) if mask[0] else None), to_grid
