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
from ....execute.constants import constant_of
from ....execute.device_traits import has_gather_kernel
from ....execute.indexed import Index, IndexedOperand, contiguous_like, locate
from ....execute.reduce import fold
from ....iterator.shape import numel
from ....rows.catalogue import enter, op
from ....rows.op import Op
from ...create.sizes import empty
from ...index.gather import put_at
from ...linalg.product import DOT
from ...rearrange.pad import positions
from ..layers.activation import SPACE
from .adaptive import ADAPTIVE_AVG_POOL
from .windows import laid_out

Taps = tuple[Any, Any]  # positions (results, taps) and their weights, as arrays


def _cubic(a: float) -> Callable[[float], float]:
    """Returns the cubic convolution kernel of parameter a (Keys, 1981)."""

    def weight(x: float) -> float:
        x = abs(x)
        if x < 1:
            return ((a + 2) * x - (a + 3)) * x * x + 1
        return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0

    return weight


def _triangle(x: float) -> float:
    return max(0.0, 1 - abs(x))


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
    "bilinear": (1, _triangle),
    "bicubic": (2, _cubic(-0.5)),
    "lanczos": (3, _lanczos),
}


def nearest_taps(size: int, count: int, factor: float | None, exact: bool, real: Any) -> list[int]:
    at = np.arange(count).astype(real) + (real(0.5) if exact else real(0))
    indices = np.floor(at * _scale(size, count, False, factor, real)).astype(np.int64)
    return np.minimum(indices, size - 1).tolist()


def _source(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Any:
    """Returns the coordinates of the results among the elements. The product and the difference are
    rounded together, as compiled torch does."""
    at = np.arange(count).astype(real)
    scale = _scale(size, count, corners, factor, real)
    if corners:
        return at * scale
    return ((at + real(0.5)).astype(np.float64) * np.float64(scale) - 0.5).astype(real)


def linear_taps(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Taps:
    """Returns the two elements around each result with linear weights."""
    source = _source(size, count, corners, factor, real)
    if size == count:
        source = np.arange(count).astype(real)
    source = np.maximum(source, real(0))
    first = np.minimum(source.astype(np.int64), size - 1)
    second = first + (first < size - 1)
    part = np.clip(source - first.astype(real), real(0), real(1))
    return np.stack([first, second], 1), np.stack([real(1) - part, part], 1)


def cubic_taps(size: int, count: int, corners: bool, factor: float | None, real: Any) -> Taps:
    """Returns the four elements around each result, by cubic convolution with a = -0.75."""
    source = _source(size, count, corners, factor, real)
    first = np.floor(source)
    part = source - first
    a = real(-0.75)

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        # The second product and its summand are rounded together, as by torch's compilers.
        middle = ((a * x - 5 * a) * np.float64(x) + 8 * a).astype(real)
        return middle * x - 4 * a

    weights = np.stack([far(part + 1), near(part), near(1 - part), far(2 - part)], 1)
    where = first.astype(np.int64)[:, None] + np.arange(-1, 3)
    return np.clip(where, 0, size - 1), weights


def smoothed_taps(size: int, count: int, corners: bool, factor: float | None, real: Any, mode: str) -> Taps:
    """Returns the taps of a kernel that is as wide as the distance of the results: all elements it
    covers."""
    scale = _scale(size, count, corners, factor, real)
    support, weight = FILTERS[mode]
    wide = max(scale, real(1))
    rows, all_weights = [], []
    for j in range(count):
        center = scale * real(j + 0.5)
        low = max(int(center - real(support) * wide + real(0.5)), 0)
        high = min(int(center + real(support) * wide + real(0.5)), size)
        apart = np.arange(high - low).astype(real) + (real(low) - center)
        near = (apart + real(0.5)) * (real(1) / wide)
        weights = [weight(float(x)) for x in near]
        total = sum(weights) or 1.0
        rows.append(list(range(low, high)))
        all_weights.append([w / total for w in weights])
    most = max(len(row) for row in rows)
    padded = [row + row[-1:] * (most - len(row)) for row in rows]
    return (np.array(padded, np.int64), np.array([w + [0.0] * (most - len(w)) for w in all_weights], real))


CATEGORY = "locating"

# One index gives an element (a) and the next one (b). The last element has no next one, so (e)
# selects (a) for both: a weight of zero would not exclude an infinity.
LERP_AT = Op(
    "lerp_at",
    "lerp_at(start, end, near, far, twice) -> Tensor",
    "(e > K(0) ? b : a) * c + b * d",
    bool_="",
    gathers=(0, 1),
)
enter(__name__, LERP_AT)


def serves(x: Tensor, dim: int, where: Any) -> bool:
    """True if the positions `where` (results, taps) along a dim are pairs of an element and the
    next one (the last element repeats), and the device of `x` has the kernel."""
    if where.shape[1] != 2 or not has_gather_kernel(LERP_AT, x):
        return False
    return bool((where[:, 1] == np.minimum(where[:, 0] + 1, x._shape[dim] - 1)).all())


def weighted(x: Tensor, dim: int, where: Any, weights: Any) -> Tensor:
    """Returns the sums along a dim for positions accepted by `serves`, with weights (results, 2) of
    the dtype of `x`."""
    size, step = x._shape[dim], x._strides[dim]
    # elements with a next one; at least 1, because a single element is always in range
    most = max(size - 1, 1)
    first = where[:, 0]
    table = constant_of(np.stack([*weights.T, first >= most]).astype(weights.dtype), x)
    index = constant_of(np.minimum(first, most - 1), x)
    strides, along = put_at(x._strides, dim, 0), put_at((0,) * x.ndim, dim, 1)
    views = [x._view(put_at(x._shape, dim, most), x._strides, x._offset + k * step) for k in (0, size - most)]
    shape = put_at(x._shape, dim, len(first))
    target = contiguous_like(shape, x._dtype, x)
    inputs = [IndexedOperand(view, strides, True) for view in views]
    inputs += [IndexedOperand(row, along) for row in table.unbind(0)]
    locate(LERP_AT, shape, target, inputs, [Index(index, along, most, step, dim, checked=True)])
    return target.tensor


# Bytes on the host for each neighbour of a result: its position as a Python int in a list.
TAP = 40


def _weighted(x: Tensor, dim: int, taps: Taps, compute: dtype) -> Tensor:
    """Returns the weighted sums of each result's taps along a dim, in the dtype `compute`."""
    where, weights = taps
    if serves(x, dim, where):
        return weighted(x, dim, where, weights)
    count, many = where.shape
    apart = positions(x, dim, where.reshape(-1).tolist())
    shape = (*x._shape[:dim], count, many, *x._shape[dim + 1 :])
    apart = apart.reshape(shape)
    factors = constant_of(weights, x).reshape(count, many, *(1,) * (x.ndim - dim - 1))
    (sums,) = fold(DOT, (apart, factors), dim + 1, False, compute, (compute,))
    return sums


def _of_bytes(x: Tensor, dim: int, taps: Taps) -> Tensor:
    """Like `_weighted` for uint8: weights have 16 bits, and results are rounded to bytes after each
    dim, as torch does."""
    where, weights = taps
    # Neighbours beyond the border are the border element: their weights are added before rounding.
    for k in range(where.shape[1] - 1, 0, -1):
        same = where[:, k] == where[:, k - 1]
        weights[:, k - 1] += np.where(same, weights[:, k], 0)
        weights[:, k] = np.where(same, 0, weights[:, k])
    bits = 0
    while bits < 22 and int(0.5 + weights.max() * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    whole = np.trunc(weights * (1 << bits) + np.where(weights < 0, -0.5, 0.5)).astype(np.int32)
    total = _weighted(x.to(int32), dim, (where, whole), int32)
    rounded = (total + (1 << (bits - 1))).bitwise_right_shift(bits)
    return rounded.clamp(0, 255).to(uint8)


def _rounded_weights(weights: Any, of: dtype, mode: str) -> Any:
    """Returns weights rounded to a half-precision dtype, as torch stores them in all modes but
    'bilinear'. With two taps, the first weight is 1 minus the rounded second."""

    def near(x: Any) -> Any:
        return to_computable(to_storage(x, of), of).astype(x.dtype)

    if mode == "bicubic":
        return near(weights)
    second = near(weights[:, 1])
    return np.stack([near(1 - second), second], 1)


def _resized(
    name: str,
    input: Tensor,
    sizes: Sequence[int],
    factors: Sequence[float | None],
    mode: str,
    corners: bool,
    antialias: bool,
) -> Tensor:
    of = input._dtype
    if of.kind != "f" and of is not uint8:
        raise errors.not_implemented_for(name, of)
    extents = input._shape[2:]
    if min(sizes) < 1 or 0 in input._shape[1:]:
        raise errors_spatial.empty_result(name, sizes)
    real: Any = np.float64 if of.itemsize == 8 or of is uint8 else np.float32
    tables = sum(sizes) * (TAP if mode.startswith("nearest") else 4 * TAP)
    input._storage.backend.pool.ask(numel((*input._shape[:2], *sizes)) * of.itemsize + tables)
    result = input
    for d in reversed(range(len(sizes))):
        dim, size, count, factor = d + 2, extents[d], sizes[d], factors[d]
        if mode.startswith("nearest"):
            exact = mode == "nearest-exact"
            own = np.float64 if of.itemsize == 8 else np.float32
            result = positions(result, dim, nearest_taps(size, count, factor, exact, own))
            continue
        if antialias:
            taps = smoothed_taps(size, count, corners, factor, real, mode)
        elif mode == "bicubic":
            taps = cubic_taps(size, count, corners, factor, real)
        else:
            taps = linear_taps(size, count, corners, factor, real)
        if of is uint8:
            result = _of_bytes(result, dim, taps)
        else:
            if of.compute is not of and not antialias and mode != "bilinear":
                taps = taps[0], _rounded_weights(taps[1], of, mode)
            result = _weighted(result.to(of.compute), dim, taps, of.compute)
    if not numel(result._shape):
        return empty((*input._shape[:2], *sizes), dtype=of, device=input.device)
    result = result.to(of)
    return laid_out(result.clone() if result is input else result, input)


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


def _asked(
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
        listed = list(value)
    else:
        listed = [value] * n
    if size is not None:
        if recompute:
            raise errors_spatial.recomputed("interpolate")
        if not all(isinstance(m, int) for m in listed):
            raise errors_spatial.not_a_size("interpolate", "size", size)
        return listed, [None] * n
    sizes = [math.floor(float(m) * s) for m, s in zip(input._shape[2:], listed)]
    free = recompute or mode == "area"
    factors = [None if free else float(s) for s in listed]
    return sizes, factors


@op(namespace=SPACE, bare="uh")
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
    sizes, factors = _asked(input, size, scale_factor, recompute_scale_factor, mode)
    if antialias and not (mode in FILTERS and input.ndim == 4):
        raise errors_spatial.antialias(mode)
    if input.ndim not in MODES.get(mode, ()):
        raise errors_spatial.interpolation_dims(mode, input._shape)
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
