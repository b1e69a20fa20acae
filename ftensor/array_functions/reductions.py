"""NumPy's reductions: sums, extremes, moments, quantiles, counts."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..array_api.reductions import reduce_axes
from .values import dtype_of, floating, op, tensor


def _make_reduction(op_name: str, transform: Callable[[Tensor], Tensor] | None = None) -> Callable[..., Any]:
    """Returns a reduction by the op `op_name`, applied to the elements after `transform`."""

    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        if axis == ():
            return NotImplemented
        return reduce_axes(op_name, op_name, a if transform is None else transform(a), axis, keepdims)

    return function


def _make_sum(op_name: str, transform: Callable[[Tensor], Tensor] | None = None) -> Callable[..., Any]:
    """Like `_make_reduction`, with an argument `dtype`."""

    def function(a: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        if axis == ():
            return NotImplemented
        values = a if transform is None else transform(a)
        return reduce_axes(op_name, op_name, values, axis, keepdims, dtype=dtype_of(dtype))

    return function


def _make_dispersion(op_name: str) -> Callable[..., Any]:
    def function(
        a: Tensor,
        axis: Any = None,
        dtype: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        correction: float | None = None,
    ) -> Any:
        x = floating(a) if dtype is None else a.to(dtype_of(dtype))
        divisor_correction = ddof if correction is None else correction
        return reduce_axes(op_name, op_name, x, axis, keepdims, correction=divisor_correction)

    return function


def _make_nan_dispersion(root: bool) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        if a.dtype.kind != "f":
            return (_make_dispersion("std") if root else _make_dispersion("var"))(a, axis, None, ddof, keepdims)
        is_number = a.isnan().logical_not()
        count = reduce_axes("sum", "sum", is_number, axis, True)
        deviation = a - reduce_axes("nansum", "nansum", a, axis, True) / count
        variance = reduce_axes("nansum", "nansum", deviation * deviation, axis, keepdims)
        left = (count if keepdims else reduce_axes("sum", "sum", is_number, axis, False)) - ddof
        variance = variance / op("where")(left > 0, left, tensor(nan, a).to(a.dtype))
        return variance.sqrt() if root else variance

    return function


def _replace_nan(a: Tensor, replacement: float) -> Tensor:
    if a.dtype.kind != "f":
        return a
    result: Tensor = a.masked_fill(a.isnan(), replacement)
    return result


def _make_nan_extreme(op_name: str, replacement: float) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        extreme = reduce_axes(op_name, op_name, _replace_nan(a, replacement), axis, keepdims)
        if a.dtype.kind != "f":
            return extreme
        return extreme.masked_fill(reduce_axes("all", "all", a.isnan(), axis, keepdims), nan)

    return function


def _make_nan_argument(op_name: str, replacement: float) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        if a.dtype.kind == "f" and reduce_axes("all", "all", a.isnan(), axis, False).any().item():
            return NotImplemented  # NumPy raises the error
        return reduce_axes(op_name, op_name, _replace_nan(a, replacement), axis, keepdims)

    return function


def _make_cumulative(op_name: str, transform: Callable[[Tensor], Tensor] | None = None) -> Callable[..., Any]:
    def function(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
        x = a if transform is None else transform(a)
        x, dim = (x.reshape(-1), 0) if axis is None else (x, axis)
        running: Tensor = op(op_name)(x, dim, dtype=dtype_of(dtype))
        return running

    return function


def _make_quantiles(op_name: str, intervals: float) -> Callable[..., Any]:
    """Returns a function of the quantiles at `q / intervals`."""

    def function(a: Tensor, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
        x = floating(a)
        ranks = (q if isinstance(q, Tensor) else tensor(q, a)).to(x.dtype) / intervals
        if ranks.ndim > 1 or method not in ("linear", "lower", "higher", "midpoint", "nearest"):
            return NotImplemented
        if axis is None or isinstance(axis, int):
            return op(op_name)(x, ranks, axis, keepdims, interpolation=method)
        kept_axes = tuple(k for k in range(x.ndim) if k not in {k % x.ndim for k in axis})
        if keepdims:
            return NotImplemented
        flat = x.permute((*kept_axes, *axis)).reshape((*[x.shape[k] for k in kept_axes], -1))
        return op(op_name)(flat, ranks, -1, interpolation=method)

    return function


def _make_median(op_name: str) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        return _make_quantiles(op_name, 1)(a, 0.5, axis, keepdims=keepdims)

    return function


def _average(a: Tensor, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    x = floating(a)
    if weights is None:
        weights = op("ones_like")(x)
    w = tensor(weights, a)
    if w.shape != a.shape:
        if not isinstance(axis, int) or w.ndim != 1:
            return NotImplemented
        w = w.reshape([-1 if k == axis % a.ndim else 1 for k in range(a.ndim)]).expand(a.shape)
    scale = reduce_axes("sum", "sum", w, axis, keepdims)
    mean = reduce_axes("sum", "sum", x * w, axis, keepdims) / scale
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
        counts, edges = op("histogram")(x, bins, **options)
    else:
        counts, edges = op("histogram")(x, tensor(bins, a).to(x.dtype), **options)
    return (counts if density or weights is not None else counts.to(op("arange")(1).dtype)), edges


def _mean(a: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    x = floating(a) if dtype is None else a.to(dtype_of(dtype))
    return _make_reduction("mean")(x, axis, keepdims)


def _nonzero(a: Tensor) -> Tensor:
    return a if a.dtype.name == "bool" else a.ne(0)


def _zeros(a: Tensor) -> Tensor:
    return a.nan_to_num(0.0, inf, -inf) if a.dtype.kind == "f" else a


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "all": _make_reduction("all", _nonzero),
    "amax": _make_reduction("amax"),
    "amin": _make_reduction("amin"),
    "any": _make_reduction("any", _nonzero),
    "argmax": _make_reduction("argmax"),
    "argmin": _make_reduction("argmin"),
    "average": _average,
    "bincount": lambda x, weights=None, minlength=0: op("bincount")(x, weights, minlength),
    "count_nonzero": _make_reduction("sum", _nonzero),
    "cumprod": _make_cumulative("cumprod"),
    "cumsum": _make_cumulative("cumsum"),
    "cumulative_prod": lambda x, axis=None, dtype=None: _make_cumulative("cumprod")(x, axis, dtype),
    "cumulative_sum": lambda x, axis=None, dtype=None: _make_cumulative("cumsum")(x, axis, dtype),
    "histogram": _histogram,
    "max": _make_reduction("amax"),
    "mean": _mean,
    "median": _make_median("quantile"),
    "min": _make_reduction("amin"),
    "nanargmax": _make_nan_argument("argmax", -inf),
    "nanargmin": _make_nan_argument("argmin", inf),
    "nancumprod": _make_cumulative("cumprod", lambda a: _replace_nan(a, 1)),
    "nancumsum": _make_cumulative("cumsum", lambda a: _replace_nan(a, 0)),
    "nanmax": _make_nan_extreme("amax", -inf),
    "nanmean": lambda a, axis=None, keepdims=False: _make_reduction("nanmean")(floating(a), axis, keepdims),
    "nanmedian": _make_median("nanquantile"),
    "nanmin": _make_nan_extreme("amin", inf),
    "nanpercentile": _make_quantiles("nanquantile", 100),
    "nanprod": _make_sum("prod", lambda a: _replace_nan(a, 1)),
    "nanquantile": _make_quantiles("nanquantile", 1),
    "nanstd": _make_nan_dispersion(True),
    "nansum": _make_sum("nansum"),
    "nanvar": _make_nan_dispersion(False),
    "percentile": _make_quantiles("quantile", 100),
    "prod": _make_sum("prod"),
    "ptp": lambda a, axis=None, keepdims=False: (
        _make_reduction("amax")(a, axis, keepdims) - _make_reduction("amin")(a, axis, keepdims)
    ),
    "quantile": _make_quantiles("quantile", 1),
    "std": _make_dispersion("std"),
    "sum": _make_sum("sum"),
    "trace": lambda a, offset=0, axis1=0, axis2=1, dtype=None: a.diagonal(offset, axis1, axis2).sum(
        -1, dtype=dtype_of(dtype)
    ),
    "var": _make_dispersion("var"),
}
