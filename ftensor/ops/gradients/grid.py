"""Derivatives of `grid_sample`: what an image's elements and a grid's points have of the result.

The result is a sum over the elements around each point, each times a weight for every dim. So an
element gets the outer gradient times its weights, and a coordinate the sum of the elements times
the outer gradient, with the derivative of its dim's weight in that one's place.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any, NamedTuple

from ..._tensor import Tensor
from ...iterator.shape import numel
from ...rows.catalogue import aten_op
from ..create.like import ones_like, zeros_like
from ..create.sizes import zeros
from ..index.gather import gather
from ..nn.spatial.grid import CUBIC, MODES, PADDINGS, Reader, cubic_weights, folded, mirrors, places, within
from ..pointwise.ternary import where
from ..rearrange.cat import stack


class Neighbour(NamedTuple):
    """Along one dim an element that a point is made of: where it is, its weight, and how that
    changes with the point. Each is of shape (N, points), a slope perhaps a number."""

    at: Tensor
    weight: Tensor
    slope: Tensor | float


def _turned(at: Tensor, size: int, corners: bool, flat: bool) -> Tensor:
    """Where `folded` coordinates run against the given ones."""
    low, span = mirrors(size, corners)
    away = (at - low).abs()
    if flat:  # on a mirror the sides differ, as in torch
        second = away - (away / (2 * span)).trunc() * (2 * span) > span
    else:
        second = (away / span).floor().remainder(2) != 0
    return (at < low).logical_xor(second)


def _scale(at: Tensor, size: int, padding: str, corners: bool, flat: bool) -> Any:
    """How a place within the image changes with the grid's coordinate: 0 where padding holds it."""
    step = (size - 1) / 2 if corners else size / 2
    if padding == "zeros":
        return step
    slope: Any = step
    if padding == "reflection":
        if not mirrors(size, corners)[1]:
            return 0.0
        slope = where(_turned(at, size, corners, flat), -step, step).to(at._dtype)
        at = folded(at, size, corners, flat)
    return where((at > 0).logical_and(at < size - 1), slope, 0.0).to(at._dtype)


def _cubic_slopes(part: Tensor) -> list[Tensor]:
    """The derivatives of `cubic_weights`."""
    a = CUBIC

    def near(x: Any) -> Any:
        return (3 * (a + 2) * x - 2 * (a + 3)) * x

    def far(x: Any) -> Any:
        return (3 * a * x - 10 * a) * x + 8 * a

    return [far(part + 1), near(part), -near(1 - part), -far(2 - part)]


def _around(at: Tensor, size: int, mode: str, padding: str, corners: bool) -> list[Neighbour]:
    """The neighbours of points along a dim."""
    if mode == "nearest":
        return [Neighbour(at.round(), ones_like(at), 0.0)]
    low = at.floor()
    part = at - low
    if mode == "bilinear":
        return [Neighbour(low, 1 - part, -1.0), Neighbour(low + 1, part, 1.0)]
    four = zip(range(-1, 3), cubic_weights(part), _cubic_slopes(part))
    return [Neighbour(within(low + k, size, padding, corners, True), w, s) for k, w, s in four]


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
    """The gradients of image and grid, those that `mask` wants, for that of the result; the modes
    by their number, as in `grid_sampler` itself."""
    mode, padding = MODES[interpolation_mode], PADDINGS[padding_mode]
    n, of, compute = input.ndim - 2, input._dtype, input._dtype.compute
    sizes, flat = input._shape[2:], n == 2
    image = zeros_like(input, dtype=compute).reshape(*input._shape[:2], numel(sizes))
    if not numel(grad._shape):
        empty = zeros(grid._shape, dtype=of, device=grid.device)
        return (zeros_like(input) if mask[0] else None), (empty if mask[1] else None)
    reader, a = Reader(input.to(compute)), grad.to(compute).reshape(*grad._shape[:2], -1)
    points = places(grid.to(compute), sizes, corners)
    held = "zeros" if mode == "bicubic" else padding  # there each neighbour is padded by itself
    scales = [_scale(at, k, held, corners, flat) for at, k in zip(points, sizes)]
    points = [within(at, k, held, corners, flat) for at, k in zip(points, sizes)]
    along: list[Any] = [zeros_like(at) for at in points]
    each = [_around(at, k, mode, padding, corners) for at, k in zip(points, sizes)]
    for element in itertools.product(*each):
        there, index = reader.places([one.at for one in element])
        weights = [one.weight for one in element]
        if mask[0]:
            share = a * reduce(mul, weights).unsqueeze(1)
            image.scatter_add_(2, index, where(there, share, 0))
        if mask[1] and mode != "nearest":
            value = where(there, gather(reader.flat, 2, index), 0)
            whole = (value * a).sum(1)
            for d, one in enumerate(element):
                others = reduce(mul, (w for k, w in enumerate(weights) if k != d))
                along[d] = along[d] + whole * (one.slope * others)
    scaled = [one * scale for one, scale in zip(along, scales)]
    to_grid = stack(scaled[::-1], -1).reshape(grid._shape).to(of) if mask[1] else None
    return (image.reshape(input._shape).to(of) if mask[0] else None), to_grid
