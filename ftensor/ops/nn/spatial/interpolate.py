"""Resized images: taps and weights of each dim."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .... import errors
from ...._tensor import Tensor
from ....dtypes import dtype, int32, uint8
from ....dtypes.limits import to_computable, to_storage
from ....errors import nn as errors_spatial
from ....execute.device_traits import has_gather_kernel
from ....execute.indexed import Index, IndexedOperand, contiguous_like, locate
from ....execute.packed_weights import constant_of
from ....execute.reduce import fold
from ....iterator.shape import numel
from ....rows.catalogue import enter, op
from ....rows.op import Op
from ...create.sizes import empty
from ...index.gather import put_at
from ...linalg.product import DOT
from ...rearrange.pad import IntArray, gather_positions
from ..layers.activation import SPACE
from .adaptive import ADAPTIVE_AVG_POOL
from .windows import in_input_format

Taps = tuple[Any, Any]  # positions (results, taps) and their weights, as arrays


def _cubic(a: float) -> Callable[[float], float]:
    """Returns the cubic convolution kernel of parameter a (Keys, 1981)."""

    def weight(x: float) -> float:
        x = abs(x)
        if x < 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0

    return weight


def _lanczos(x: float) -> float:
    if not -3 < x < 3:
        return 0.0
    return float(np.sinc(x) * np.sinc(x / 3))


def _scale(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Any:
    if corners:
        return real(size - 1) / real(count - 1) if count > 1 else real(0)
    return real(1.0 / factor) if factor else real(size) / real(count)


# For antialiasing: the support at scale 1, and the kernel.
FILTERS: dict[str, tuple[float, Callable[[float], float]]] = {
    "bilinear": (1, lambda x: max(0.0, 1 - abs(x))),
    "bicubic": (2, _cubic(-0.5)),
    "lanczos": (3, _lanczos),
}


def nearest_taps(size: int, count: int, factor: float | None, exact: bool, real: Any) -> IntArray:
    output_index = np.arange(count).astype(real) + (real(0.5) if exact else real(0))
    indices = np.floor(output_index * _scale(size, count, False, factor, real)).astype(np.int64)
    return np.minimum(indices, size - 1)


def _source(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Any:
    """Returns the coordinates of the results among the elements. The product and the difference are
    rounded together, as compiled torch does."""
    output_index = np.arange(count).astype(real)
    scale = _scale(size, count, corners, factor, real)
    if corners:
        return output_index * scale
    return ((output_index + real(0.5)).astype(np.float64) * np.float64(scale) - 0.5).astype(real)


def linear_taps(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Taps:
    """Returns the two elements around each result with linear weights."""
    source = _source(size, count, corners, factor, real)
    if size == count:
        source = np.arange(count).astype(real)
    source = np.maximum(source, real(0))
    first = np.minimum(source.astype(np.int64), size - 1)
    second = first + (first < size - 1)
    fraction = np.clip(source - first.astype(real), real(0), real(1))
    return np.stack([first, second], 1), np.stack([real(1) - fraction, fraction], 1)


def cubic_taps(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Taps:
    """Returns the four elements around each result, by cubic convolution with a = -0.75."""
    source = _source(size, count, corners, factor, real)
    first = np.floor(source)
    fraction = source - first
    a = real(-0.75)

    def inner(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def outer(x: Any) -> Any:
        # The second product and its summand are rounded together, as by torch's compilers.
        middle = ((a * x - 5 * a) * np.float64(x) + 8 * a).astype(real)
        return middle * x - 4 * a

    weights = np.stack([outer(fraction + 1), inner(fraction), inner(1 - fraction), outer(2 - fraction)], 1)
    positions = first.astype(np.int64)[:, None] + np.arange(-1, 3)
    return np.clip(positions, 0, size - 1), weights


def smoothed_taps(size: int, count: int, corners: bool, factor: float | None, real: Any, mode: str) -> Taps:
    """Returns the taps of a kernel as wide as the distance between results, so that it covers all
    elements between them."""
    scale = _scale(size, count, corners, factor, real)
    support, weight = FILTERS[mode]
    filter_scale = max(scale, real(1))
    rows, all_weights = [], []
    for j in range(count):
        center = scale * real(j + 0.5)
        low = max(int(center - real(support) * filter_scale + real(0.5)), 0)
        high = min(int(center + real(support) * filter_scale + real(0.5)), size)
        distance = np.arange(high - low).astype(real) + (real(low) - center)
        scaled_distance = (distance + real(0.5)) * (real(1) / filter_scale)
        weights = [weight(float(x)) for x in scaled_distance]
        total = sum(weights) or 1.0
        rows.append(list(range(low, high)))
        all_weights.append([w / total for w in weights])
    tap_count = max(len(row) for row in rows)
    padded = [row + row[-1:] * (tap_count - len(row)) for row in rows]
    return (np.array(padded, np.int64), np.array([w + [0.0] * (tap_count - len(w)) for w in all_weights], real))


CATEGORY = "locating"

# One index gives an element (a) and the next one (b). The last element has no next one, so (e)
# selects (a) for both: a weight of zero would not exclude an infinity.
LERP_AT = Op("lerp_at", "start, end, near, far, twice", "(e > K(0) ? b : a) * c + b * d", bool_="", gathers=(0, 1))
enter(__name__, LERP_AT)


def is_supported(x: Tensor, dim: int, tap_positions: Any) -> bool:
    """True if the positions `tap_positions` (results, taps) along a dim are pairs of an element and
    the next one (the last element repeats), and the device of `x` has the kernel."""
    if tap_positions.shape[1] != 2 or not has_gather_kernel(LERP_AT, x):
        return False
    return bool((tap_positions[:, 1] == np.minimum(tap_positions[:, 0] + 1, x._shape[dim] - 1)).all())


def interpolate_pairs(x: Tensor, dim: int, tap_positions: Any, weights: Any) -> Tensor:
    """Returns the sums along a dim for positions accepted by `is_supported`, with weights (results,
    2) of the dtype of `x`."""
    size, step = x._shape[dim], x._strides[dim]
    # elements with a next one; at least 1, because a single element is always in range
    last_position = max(size - 1, 1)
    first = tap_positions[:, 0]
    table = constant_of(np.stack([*weights.T, first >= last_position]).astype(weights.dtype), x)
    index = constant_of(np.minimum(first, last_position - 1), x)
    strides, tap_strides = put_at(x._strides, dim, 0), put_at((0,) * x.ndim, dim, 1)
    views = [
        x._view(put_at(x._shape, dim, last_position), x._strides, x._offset + k * step)
        for k in (0, size - last_position)
    ]
    shape = put_at(x._shape, dim, len(first))
    target = contiguous_like(shape, x._dtype, x)
    inputs = [IndexedOperand(view, strides, True) for view in views]
    inputs += [IndexedOperand(row, tap_strides) for row in table.unbind(0)]
    locate(LERP_AT, shape, target, inputs, [Index(index, tap_strides, last_position, step, dim, checked=True)])
    return target.tensor


# Bytes on the host for each neighbour of a result: its position as a Python int in a list.
TAP = 40


def _weighted(x: Tensor, dim: int, taps: Taps, compute: dtype) -> Tensor:
    """Returns the weighted sums of each result's taps along a dim, in the dtype `compute`."""
    tap_positions, weights = taps
    if is_supported(x, dim, tap_positions):
        return interpolate_pairs(x, dim, tap_positions, weights)
    count, tap_count = tap_positions.shape
    gathered = gather_positions(x, dim, tap_positions.reshape(-1))
    shape = (*x._shape[:dim], count, tap_count, *x._shape[dim + 1 :])
    gathered = gathered.reshape(shape)
    factors = constant_of(weights, x).reshape(count, tap_count, *(1,) * (x.ndim - dim - 1))
    (sums,) = fold(DOT, (gathered, factors), dim + 1, False, compute, (compute,))
    return sums


def _weighted_bytes(x: Tensor, dim: int, taps: Taps) -> Tensor:
    """Like `_weighted` for uint8: weights have 16 bits, and results are rounded to bytes after each
    dim, as torch does."""
    tap_positions, weights = taps
    # Neighbours beyond the border are the border element: their weights are added before rounding.
    for k in range(tap_positions.shape[1] - 1, 0, -1):
        is_repeated = tap_positions[:, k] == tap_positions[:, k - 1]
        weights[:, k - 1] += np.where(is_repeated, weights[:, k], 0)
        weights[:, k] = np.where(is_repeated, 0, weights[:, k])
    bits = 0
    while bits < 22 and int(0.5 + weights.max() * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    fixed_point = np.trunc(weights * (1 << bits) + np.where(weights < 0, -0.5, 0.5)).astype(np.int32)
    total = _weighted(x.to(int32), dim, (tap_positions, fixed_point), int32)
    rounded = (total + (1 << (bits - 1))).bitwise_right_shift(bits)
    return rounded.clamp(0, 255).to(uint8)


def _rounded_weights(weights: Any, half: dtype, mode: str) -> Any:
    """Returns weights rounded to a half-precision dtype, as torch stores them in all modes but
    'bilinear'. With two taps, the first weight is 1 minus the rounded second."""

    def rounded(x: Any) -> Any:
        return to_computable(to_storage(x, half), half).astype(x.dtype)

    if mode == "bicubic":
        return rounded(weights)
    second = rounded(weights[:, 1])
    return np.stack([rounded(1 - second), second], 1)


def _resized(
    name: str,
    input: Tensor,
    sizes: Sequence[int],
    factors: Sequence[float | None],
    mode: str,
    corners: bool,
    antialias: bool,
) -> Tensor:
    input_dtype = input._dtype
    if input_dtype.kind != "f" and input_dtype is not uint8:
        raise errors.not_implemented_for(name, input_dtype)
    extents = input._shape[2:]
    if min(sizes) < 1 or 0 in input._shape[1:]:
        raise errors_spatial.empty_interpolation(name, input._shape, sizes)
    real: Any = np.float64 if input_dtype.itemsize == 8 or input_dtype is uint8 else np.float32
    tables = sum(sizes) * (TAP if mode.startswith("nearest") else 4 * TAP)
    input._storage.backend.pool.check_capacity(numel((*input._shape[:2], *sizes)) * input_dtype.itemsize + tables)
    result = input
    for d in reversed(range(len(sizes))):
        dim, size, count, factor = d + 2, extents[d], sizes[d], factors[d]
        if mode.startswith("nearest"):
            exact = mode == "nearest-exact"
            real_type = np.float64 if input_dtype.itemsize == 8 else np.float32
            result = gather_positions(result, dim, nearest_taps(size, count, factor, exact, real_type))
            continue
        if antialias:
            taps = smoothed_taps(size, count, corners, factor, real, mode)
        elif mode == "bicubic":
            taps = cubic_taps(size, count, corners, factor, real)
        else:
            taps = linear_taps(size, count, corners, factor, real)
        if input_dtype is uint8:
            result = _weighted_bytes(result, dim, taps)
        else:
            if input_dtype.compute is not input_dtype and not antialias and mode != "bilinear":
                taps = taps[0], _rounded_weights(taps[1], input_dtype, mode)
            result = _weighted(result.to(input_dtype.compute), dim, taps, input_dtype.compute)
    if not numel(result._shape):
        return empty((*input._shape[:2], *sizes), dtype=input_dtype, device=input.device)
    result = result.to(input_dtype)
    return in_input_format(result.clone() if result is input else result, input)


# The modes, and the numbers of input dims of each.
MODES = {
    "nearest": (3, 4, 5),
    "nearest-exact": (3, 4, 5),
    "area": (3, 4, 5),
    "linear": (3,),
    "bilinear": (4,),
    "trilinear": (5,),
    "bicubic": (4,),
    "lanczos": (4,),
}


def _result_sizes(
    input: Tensor, size: Any, scale_factor: Any, recompute: Any, mode: str
) -> tuple[list[int], list[float | None]]:
    """Returns (the sizes of the result, the scale factors for positions)."""
    n = input.ndim - 2
    if (size is not None and scale_factor is not None) or (size is None and scale_factor is None):
        raise errors_spatial.one_of_two("interpolate", "size", "scale_factor")
    word, value = ("size", size) if size is not None else ("scale_factor", scale_factor)
    if isinstance(value, (tuple, list)):
        if len(value) != n:
            raise errors_spatial.scale_sizes("interpolate", word, n, value)
        values = list(value)
    else:
        values = [value] * n
    if size is not None:
        if recompute:
            raise errors_spatial.recomputed("interpolate")
        if not all(isinstance(m, int) for m in values):
            raise errors_spatial.not_a_size("interpolate", "size", size)
        return values, [None] * n
    sizes = [math.floor(float(m) * s) for m, s in zip(input._shape[2:], values)]
    free = recompute or mode == "area"
    factors = [None if free else float(s) for s in values]
    return sizes, factors


@op(namespace=SPACE, bare="h")
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resizes the 1 to 3 last dims of an input (N, C, *sizes) to `size`, or by `scale_factor`.
    Modes are 'nearest' (the lower neighbour), 'nearest-exact', 'area' (means), 'linear', 'bilinear'
    and 'trilinear' (1, 2, 3 dims), 'bicubic' and 'lanczos' (2 dims). With `align_corners` the
    centers of the outer elements stay in place; `antialias` widens the kernel when downsampling (2
    dims). Raises ValueError for arguments that don't go together, NotImplementedError for other
    dims."""
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise errors_spatial.align_corners(mode)
    corners = bool(align_corners)
    sizes, factors = _result_sizes(input, size, scale_factor, recompute_scale_factor, mode)
    if antialias and not (mode in FILTERS and input.ndim == 4):
        raise errors_spatial.antialias(mode)
    if input.ndim not in MODES.get(mode, ()):
        known = [name for name, dims in MODES.items() if input.ndim in dims]
        raise errors_spatial.interpolation_mode(mode, input._shape, known)
    if mode == "lanczos" and (corners or not antialias):
        raise errors_spatial.lanczos()
    if mode == "area":
        return ADAPTIVE_AVG_POOL[len(sizes)](input, sizes)
    return _resized("interpolate", input, sizes, factors, mode, corners, antialias)


@op(namespace=SPACE)
def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """`interpolate` under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


@op(namespace=SPACE)
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode 'nearest'."""
    return interpolate(input, size, scale_factor, "nearest")


@op(namespace=SPACE)
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode 'bilinear' and aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)
