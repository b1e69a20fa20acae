"""NumPy's reductions and products that are no single call of an op."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import reduce
from math import nan
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..array_api.linalg import QRResult
from ..array_api.reductions import reduce_axes
from ..dtypes import promote_types
from ..rows.catalogue import op_of
from .values import at_least_float32, dtype_of, first_tensor, floating, promote_pair, tensor, tensor_among


def over(op: str, a: Tensor, axis: Any, keepdims: bool, **options: Any) -> Tensor:
    """Returns the reduction by an op over one axis or several, all for None."""
    return reduce_axes(op, op, a, axis, keepdims, **options)


def truth(a: Tensor) -> Tensor:
    return a if a.dtype.name == "bool" else a.ne(0)


def in_float(a: Tensor, dtype: Any) -> Tensor:
    """Returns the elements in a dtype, by default in a floating-point one."""
    return floating(a) if dtype is None else a.to(dtype_of(dtype))


def running(op: Callable[..., Tensor], a: Tensor, axis: int | None, dtype: Any) -> Tensor:
    x, dim = (a.reshape(-1), 0) if axis is None else (a, axis)
    return op(x, dim, dtype=dtype_of(dtype))


def nan_dispersion(op: str, a: Tensor, axis: Any, dtype: Any, ddof: float, keepdims: bool) -> Any:
    if dtype is not None:
        a = a.to(dtype_of(dtype))
    if a.dtype.kind != "f":
        return over(op, floating(a), axis, keepdims, correction=ddof)
    is_number = a.isnan().logical_not()
    count = over("sum", is_number, axis, True)
    deviation = a - over("nansum", a, axis, True) / count
    variance = over("nansum", deviation * deviation, axis, keepdims)
    left = (count if keepdims else over("sum", is_number, axis, False)) - ddof
    variance = variance / op_of("where")(left > 0, left, tensor(nan, a).to(a.dtype))
    return variance.sqrt() if op == "std" else variance


def replace_nan(a: Tensor, replacement: float) -> Tensor:
    return a if a.dtype.kind != "f" else a.masked_fill(a.isnan(), replacement)


def nan_extreme(op: str, replacement: float, a: Tensor, axis: Any, keepdims: bool) -> Tensor:
    extreme = over(op, replace_nan(a, replacement), axis, keepdims)
    if a.dtype.kind != "f":
        return extreme
    return extreme.masked_fill(over("all", a.isnan(), axis, keepdims), nan)


def nan_argument(op: str, replacement: float, a: Tensor, axis: Any, keepdims: bool) -> Any:
    if a.dtype.kind == "f" and over("all", a.isnan(), axis, False).any().item():
        return NotImplemented  # NumPy raises the error
    return over(op, replace_nan(a, replacement), axis, keepdims)


def quantiles(op: Any, a: Tensor, q: Any, axis: Any, method: str, keepdims: bool, intervals: float = 1) -> Any:
    """Returns the quantiles at `q / intervals`. Those of 16-bit floats are rounded once."""
    given = floating(a).dtype
    if given.kind == "c":
        return NotImplemented
    x = at_least_float32(floating(a))
    ranks = (q if isinstance(q, Tensor) else tensor(q, a)).to(x.dtype) / intervals
    if ranks.ndim > 1 or method not in ("linear", "lower", "higher", "midpoint", "nearest"):
        return NotImplemented
    if axis is None or isinstance(axis, int):
        return op(x, ranks, axis, keepdims, interpolation=method).to(given)
    kept_axes = tuple(k for k in range(x.ndim) if k not in {k % x.ndim for k in axis})
    if keepdims:
        return NotImplemented
    flat = x.permute((*kept_axes, *axis)).reshape((*[x.shape[k] for k in kept_axes], -1))
    return op(flat, ranks, -1, interpolation=method).to(given)


def _average(a: Tensor, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    x = floating(a)
    if weights is None:
        weights = op_of("ones_like")(x)
    w = tensor(weights, a)
    if w.shape != a.shape:
        if not isinstance(axis, int) or w.ndim != 1:
            return NotImplemented
        w = w.reshape([-1 if k == axis % a.ndim else 1 for k in range(a.ndim)]).expand(a.shape)
    scale = over("sum", w, axis, keepdims)
    mean = over("sum", x * w, axis, keepdims) / scale
    return (mean, scale.to(mean.dtype)) if returned else mean


def _histogram(a: Tensor, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if isinstance(bins, (str, np.str_)) or a.dtype.kind == "c":
        return NotImplemented
    x = floating(a).reshape(-1)
    options: dict[str, Any] = {"density": bool(density)}
    if weights is not None:
        options["weight"] = tensor(weights, a).to(x.dtype).reshape(-1)
    if isinstance(bins, int):
        if range is not None:
            options["range"] = tuple(float(k) for k in range)
        counts, edges = op_of("histogram")(x, bins, **options)
    else:
        counts, edges = op_of("histogram")(x, tensor(bins, a).to(x.dtype), **options)
    return (counts if density or weights is not None else counts.to(op_of("arange")(1).dtype)), edges


def dot_product(a: Tensor, b: Tensor) -> Any:
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim == 1:
        return a @ b
    return op_of("tensordot")(a, b, ([a.ndim - 1], [b.ndim - 2]))


def inner_product(a: Tensor, b: Tensor) -> Tensor:
    return a * b if not (a.ndim and b.ndim) else op_of("inner")(a, b)


def contracted(a: Tensor, b: Tensor, axes: Any) -> Tensor:
    if not isinstance(axes, int):
        axes = [[k] if isinstance(k, int) else list(k) for k in axes]
    return op_of("tensordot")(a, b, axes)


def _cross(a: Any, b: Any, axis: int | None = None) -> Any:
    dim = -1 if axis is None else axis
    if a.shape[dim] != 3 or b.shape[dim] != 3:
        return NotImplemented
    return op_of("linalg.cross")(a, b, dim=dim)


def _einsum(subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    like = first_tensor(operands)
    if not isinstance(subscripts, str) or like is None:
        return NotImplemented
    arrays = [tensor(x, like) for x in operands]
    common_dtype = reduce(promote_types, [x.dtype for x in arrays])
    return op_of("einsum")(subscripts.replace(" ", ""), *[x.to(common_dtype) for x in arrays])


def variables(x: Tensor, rowvar: bool) -> Tensor:
    """Returns a matrix with a variable in each row."""
    return x if rowvar or x.ndim < 2 else x.mT


def _cov(
    m: Tensor,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    if y is not None:
        return NotImplemented
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = [None if w is None else tensor(w, m) for w in (fweights, aweights)]
    return op_of("cov")(variables(floating(m), rowvar), correction=correction, fweights=weights[0], aweights=weights[1])


def triangular_factors(a: Tensor, mode: str) -> Any:
    factors = op_of("linalg.qr")(floating(a), mode)
    return factors[1] if mode == "r" else QRResult(*factors)


def norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is None and axis is None:
        flat = op_of("linalg.vector_norm")(floating(x).reshape(-1))
        return flat.reshape([1] * x.ndim) if keepdims else flat
    return op_of("linalg.norm")(floating(x), ord, axis, keepdims)


def least_squares(a: Any, b: Any, rcond: float | None) -> Any:
    """Returns (solution, residuals, rank, singular values), as NumPy's `lstsq`."""
    like = tensor_among(a, b)
    a, b = promote_pair(*[floating(tensor(value, like)) for value in (a, b)])
    if a.ndim != 2 or b.ndim not in (1, 2) or len(a) != len(b):
        return NotImplemented
    if rcond is not None and rcond < 0:
        rcond = epsilon(a)
    columns = b if b.ndim == 2 else b.unsqueeze(-1)
    x, residuals, rank, sizes = op_of("linalg.lstsq")(a, columns, rcond, driver="gelsd")
    return x if b.ndim == 2 else x.squeeze(-1), residuals, int(rank), sizes


def epsilon(x: Tensor) -> float:
    return float(np.finfo(x.dtype.to_real().name).eps)


def _polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    like = tensor_among(x, y, w)
    x, y = promote_pair(*[floating(tensor(value, like)) for value in (x, y)])
    if not isinstance(deg, int) or deg < 0 or x.ndim != 1 or y.ndim not in (1, 2) or not 0 < len(x) == len(y):
        return NotImplemented
    count = deg + 1
    powers, values = op_of("vander")(x, count), y
    if w is not None:
        weights = tensor(w, like).to(x.dtype)
        powers = powers * weights.unsqueeze(-1)
        values = y * (weights if y.ndim == 1 else weights.unsqueeze(-1))
    # Columns of one length have the smallest condition number.
    lengths = op_of("linalg.vector_norm")(powers, 2, 0).to(powers.dtype)
    scaled = powers / lengths
    limit = len(x) * epsilon(x) if rcond is None else rcond
    solution, residuals, rank, sizes = least_squares(scaled, values, limit)
    factors = solution / (lengths if y.ndim == 1 else lengths.unsqueeze(-1))
    if full:
        return factors, residuals, rank, sizes, limit
    if rank != count:
        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    if not cov:
        return factors
    covariance = op_of("linalg.inv")(scaled.mT @ scaled) / op_of("outer")(lengths, lengths)
    if cov != "unscaled":
        if len(x) <= count:
            return NotImplemented
        residuals = residuals / (len(x) - count)
        covariance = covariance * residuals if y.ndim == 1 else covariance.unsqueeze(-1) * residuals
    elif y.ndim == 2:
        covariance = covariance.unsqueeze(-1)
    return factors, covariance


FUNCTIONS = (_average, _cov, _cross, _einsum, _histogram, _polyfit)
