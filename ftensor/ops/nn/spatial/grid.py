"""Images sampled at the points of a grid: grid_sample, and affine_grid, which creates a grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import errors
from ...._tensor import Tensor
from ....dtypes import int64
from ....errors import nn as errors_spatial
from ....execute.pointwise import pointwise
from ....iterator.shape import numel
from ....rows.catalogue import enter, op
from ....rows.op import Op
from ....rows.spelling import named
from ...arguments import check_kind
from ...create.data import tensor
from ...create.sizes import empty
from ...pointwise.ternary import where
from ..layers.activation import SPACE

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
CATEGORY = "activation"

PLACE = Op("grid_place", "input, scale", "fma(a + K(1), scale, K(-0.5))", params=("scale",), float_only=True)
enter(__name__, PLACE)
CUBIC = -0.75  # the parameter of the cubic convolution kernel (Keys, 1981)


def mirrors(size: int, corners: bool) -> tuple[float, float]:
    return (0.0, size - 1.0) if corners else (-0.5, float(size))


def reflect(coordinate: Tensor, size: int, corners: bool, flat: bool) -> Tensor:
    """Returns coordinates reflected until they are between the mirrors. `flat` selects torch's
    arithmetic for 2-d images."""
    low, span = mirrors(size, corners)
    if not span:
        return coordinate * 0
    away = (coordinate - low).abs()
    if flat:  # subtracts all periods at once, as torch does in two dims
        remainder = away - (away / (2 * span)).trunc() * (2 * span)
        return remainder.minimum(2 * span - remainder) + low
    remainder = away.fmod(span)
    is_even = (away / span).floor().remainder(2) == 0
    return where(is_even, remainder + low, span - remainder + low)


def _clamp_to_edges(coordinate: Tensor, size: int) -> Tensor:
    if coordinate._dtype.compute is not coordinate._dtype:
        return (coordinate + 1) * (size / 2) - 0.5
    return pointwise(PLACE, (coordinate,), (size / 2,))


def apply_padding(coordinate: Tensor, size: int, padding: str, corners: bool, flat: bool) -> Tensor:
    """Applies the padding mode to coordinates: leaves them, clamps them, or reflects them. Clamped
    NaN becomes the first element in two dims and the last one in three, as in torch."""
    if padding == "zeros":
        return coordinate
    if padding == "reflection":
        coordinate = reflect(coordinate, size, corners, flat)
    return coordinate.clamp(0, size - 1).nan_to_num(0.0 if flat else size - 1.0)


class GridSampler:
    """An image (N, C, *sizes) to be sampled at coordinates (N, points), 0 outside."""

    def __init__(self, input: Tensor) -> None:
        self.sizes = input._shape[2:]
        self.flat = input.reshape(*input._shape[:2], numel(self.sizes))

    def flat_positions(self, coordinates: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Returns (True for coordinates inside the image, of shape (N, 1, points); their flat
        positions (N, C, points), 0 outside). The coordinates are whole numbers, one tensor for each
        dim."""
        is_inside: Any = None
        position: Any = None
        for coordinate, size in zip(coordinates, self.sizes):
            in_range = (coordinate >= 0).logical_and(coordinate <= size - 1)
            is_inside = in_range if is_inside is None else is_inside.logical_and(in_range)
            index = where(in_range, coordinate, 0).to(int64)
            position = index if position is None else position * size + index
        n, channels, _ = self.flat._shape
        return is_inside.unsqueeze(1), position.unsqueeze(1).expand(n, channels, position._shape[1])

    def elements_at(self, coordinates: Sequence[Tensor], weight: Tensor | None = None) -> Tensor:
        """Returns the elements at the coordinates times `weight`, (N, C, points); 0 outside the
        image, whatever the weight."""
        is_inside, index = self.flat_positions(coordinates)
        values = self.flat.gather(2, index)
        values = values if weight is None else values * weight.unsqueeze(1)
        return where(is_inside, values, 0)


def _linear(image: GridSampler, points: list[Tensor]) -> Tensor:
    """Returns the mean of the 2 ** dims elements around each point, weighted by nearness."""
    lows = [coordinate.floor() for coordinate in points]
    flat = len(points) == 2  # torch subtracts in another order in two dims
    total: Any = None
    for corner in itertools.product((0, 1), repeat=len(points)):
        weight: Any = None
        for coordinate, low, is_upper in reversed(list(zip(points, lows, corner))):  # x first, as in torch
            factor = coordinate - low if is_upper else 1 - (coordinate - low) if flat else low + 1 - coordinate
            weight = factor if weight is None else weight * factor
        at_corner = [low + is_upper for low, is_upper in zip(lows, corner)]
        if flat:
            term = image.elements_at(at_corner) * weight.unsqueeze(1)
        else:
            term = image.elements_at(at_corner, weight)
        total = term if total is None else total + term
    return total


def cubic_weights(fraction: Tensor) -> list[Tensor]:
    """Returns the weights of the four elements around a point at fraction `fraction` behind the
    second.
    """
    a = CUBIC

    def inner(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def outer(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [outer(fraction + 1), inner(fraction), inner(1 - fraction), outer(2 - fraction)]


def _cubic(image: GridSampler, points: list[Tensor], padding: str, corners: bool) -> Tensor:
    """Returns the cubic convolution of the 4 x 4 elements around each point."""
    lows = [position.floor() for position in points]
    weights = [cubic_weights(position - low) for position, low in zip(points, lows)]
    total: Any = None
    for y in range(4):
        row: Any = None
        for x in range(4):
            position = [
                apply_padding(low + k - 1, size, padding, corners, True)
                for low, k, size in zip(lows, (y, x), image.sizes)
            ]
            term = image.elements_at(position) * weights[1][x].unsqueeze(1)
            row = term if row is None else row + term
        row = row * weights[0][y].unsqueeze(1)
        total = row if total is None else total + row
    return total


def _check(name: str, n: int, input: Tensor, grid: Tensor) -> None:
    """Raises RuntimeError if an image and a grid don't fit together."""
    if input._dtype is not grid._dtype:
        raise errors_spatial.grid(name, f"input and grid must have one dtype, not {input._dtype} and {grid._dtype}")
    if input._storage.device is not grid._storage.device:
        raise errors.different_devices(name, [input.device, grid.device])
    if input.ndim != n + 2 or grid.ndim != n + 2 or n not in (2, 3):
        raise errors_spatial.grid(name, f"shapes {tuple(input._shape)} and {tuple(grid._shape)} have other dims")
    if input._shape[0] != grid._shape[0] or grid._shape[-1] != n:
        raise errors_spatial.grid(
            name,
            f"the grid must have {input._shape[0]} rows and {n} coordinates at its end, not shape {tuple(grid._shape)}",
        )
    if 0 in input._shape[2:]:
        raise errors_spatial.grid(name, f"input of shape {tuple(input._shape)} has no elements")
    check_kind(name, input._dtype, "f")


def element_coordinates(grid: Tensor, sizes: Sequence[int], corners: bool) -> list[Tensor]:
    """Returns the points of a grid as element coordinates, (N, points) for each dim, before
    padding."""
    n, points = len(sizes), []
    flat = grid.reshape(grid._shape[0], -1, n)
    for d, size in enumerate(sizes):
        flat_coordinate = flat[..., n - 1 - d]  # x, the last dim's coordinate, comes first
        if n == 2:
            flat_coordinate = (
                (flat_coordinate + 1) * ((size - 1) / 2) if corners else _clamp_to_edges(flat_coordinate, size)
            )
        else:
            flat_coordinate = (
                (flat_coordinate + 1) / 2 * (size - 1) if corners else ((flat_coordinate + 1) * size - 1) / 2
            )
        points.append(flat_coordinate)
    return points


def _sampled(name: str, n: int, input: Tensor, grid: Tensor, mode: str, padding: str, corners: bool) -> Tensor:
    _check(name, n, input, grid)
    if mode == "bicubic" and n != 2:
        raise errors_spatial.grid(name, "mode 'bicubic' is for images of 2 dims")
    shape = (*input._shape[:2], *grid._shape[1:-1])
    if not numel(shape):
        return empty(shape, dtype=input._dtype, device=input.device)
    # As in torch, float16 and bfloat16 are rounded after each step.
    image, points = GridSampler(input), element_coordinates(grid, input._shape[2:], corners)
    if mode != "bicubic":
        points = [apply_padding(coordinate, k, padding, corners, n == 2) for coordinate, k in zip(points, image.sizes)]
    if mode == "nearest":
        result = image.elements_at([coordinate.round() for coordinate in points])
    elif mode == "bilinear":
        result = _linear(image, points)
    else:
        result = _cubic(image, points, padding, corners)
    return result.reshape(shape).contiguous()


@op(namespace=SPACE)
def grid_sample(
    input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Samples an image (N, C, H, W) or (N, C, D, H, W) at the points (x, y) or (x, y, z) of a grid
    (N, ..., 2) or (N, ..., 3). -1 and 1 are the image's ends: the centers of the outer elements
    with `align_corners`, else their edges. Modes are 'bilinear', 'nearest' and, for two dims,
    'bicubic'; padding modes are 'zeros', 'border' and 'reflection'. Raises ValueError for other
    modes, RuntimeError for shapes and dtypes that don't fit."""
    for word, value, modes in (("mode", mode, MODES), ("padding_mode", padding_mode, PADDINGS)):
        if value not in modes:
            raise errors_spatial.mode(f"grid_sample(): {word}", value, modes)
    n = input.ndim - 2
    return _sampled("grid_sample", n, input, grid, mode, padding_mode, bool(align_corners))


def _enter_sampler(name: str, dims: int, doc: str) -> None:
    @op(method=False)
    @named(name, doc)
    def call(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
        n = dims or input.ndim - 2
        return _sampled(name, n, input, grid, MODES[interpolation_mode], PADDINGS[padding_mode], align_corners)


_enter_sampler("grid_sampler", 0, """
Like `nn.functional.grid_sample`, with modes as numbers, counted from 0 in the order given
there.
""")  # fmt: skip
_enter_sampler("grid_sampler_2d", 2, "Like `grid_sampler`, for images of two dims.")
_enter_sampler("grid_sampler_3d", 3, "Like `grid_sampler`, for images of three dims.")


def _ends(count: int, corners: bool) -> Any:
    if count == 1:
        return np.zeros(1)
    points = np.linspace(-1, 1, count)
    return points if corners else points * (count - 1) / count


@op(method=False)
def affine_grid_generator(theta: Tensor, size: Any, align_corners: bool) -> Tensor:
    """Implements `nn.functional.affine_grid` without checks."""
    spatial = tuple(size)[2:]
    n = len(spatial)
    # The host stores the coordinates of each point and a 1, and the products with theta.
    theta._storage.backend.pool.check_capacity(numel(spatial) * (2 * n + 1) * 8 * max(theta._shape[0], 1))
    axes = np.meshgrid(*[_ends(m, align_corners) for m in spatial], indexing="ij")
    base = np.stack([*reversed(axes), np.ones(spatial)], -1).reshape(1, -1, n + 1)
    points = tensor(base, dtype=theta._dtype, device=theta.device)
    grid: Tensor = points.matmul(theta.transpose(1, 2))
    return grid.reshape(theta._shape[0], *spatial, n)


@op(namespace=SPACE)
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """Returns the grid (N, H, W, 2) or (N, D, H, W, 3) of the affine maps `theta`, (N, 2, 3) or (N,
    3, 4), applied to the element coordinates of an image of `size` (N, C, *sizes), for
    `grid_sample`. Raises ValueError for shapes that don't fit, NotImplementedError for other dims.
    """
    name = "affine_grid"
    size = tuple(size)
    if theta._dtype.kind != "f":
        raise errors_spatial.affine(f"theta must be of floating point, not {theta._dtype}")
    if len(size) not in (4, 5):
        raise errors_spatial.affine_dims(name, size)
    n = len(size) - 2
    if theta._shape[1:] != (n, n + 1):
        raise errors_spatial.affine(f"theta must be (N, {n}, {n + 1}), not {tuple(theta._shape)}")
    if min(size) <= 0:
        raise errors_spatial.affine(f"size must be positive, not {size}")
    if theta._shape[0] != size[0]:
        raise errors_spatial.grid(name, f"{theta._shape[0]} maps for a batch of {size[0]}")
    return affine_grid_generator(theta, size, bool(align_corners))
