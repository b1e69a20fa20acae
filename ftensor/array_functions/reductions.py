"""NumPy's reductions: sums, extremes, moments, quantiles, counts."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..array_api.reductions import folded
from .values import dtype_of, floating, op, tensor


def _fold(of: str, change: Callable[[Tensor], Tensor] | None = None) -> Callable[..., Any]:
    """Returns a reduction by the op `of`, applied to the elements after `change`."""

    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        if axis == ():
            return NotImplemented
        return folded(of, of, a if change is None else change(a), axis, keepdims)

    return function


def _summed(of: str, change: Callable[[Tensor], Tensor] | None = None) -> Callable[..., Any]:
    """Like `_fold`, with an argument `dtype`."""

    def function(a: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        if axis == ():
            return NotImplemented
        values = a if change is None else change(a)
        return folded(of, of, values, axis, keepdims, dtype=dtype_of(dtype))

    return function


def _dispersion(of: str) -> Callable[..., Any]:
    def function(
        a: Tensor,
        axis: Any = None,
        dtype: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        correction: float | None = None,
    ) -> Any:
        x = floating(a) if dtype is None else a.to(dtype_of(dtype))
        by = ddof if correction is None else correction
        return folded(of, of, x, axis, keepdims, correction=by)

    return function


def _nan_spread(root: bool) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        if a.dtype.kind != "f":
            return (_dispersion("std") if root else _dispersion("var"))(a, axis, None, ddof, keepdims)
        there = a.isnan().logical_not()
        count = folded("sum", "sum", there, axis, True)
        far = a - folded("nansum", "nansum", a, axis, True) / count
        variance = folded("nansum", "nansum", far * far, axis, keepdims)
        left = (count if keepdims else folded("sum", "sum", there, axis, False)) - ddof
        variance = variance / op("where")(left > 0, left, tensor(nan, a).to(a.dtype))
        return variance.sqrt() if root else variance

    return function


def _without_nan(a: Tensor, instead: float) -> Tensor:
    if a.dtype.kind != "f":
        return a
    filled: Tensor = a.masked_fill(a.isnan(), instead)
    return filled


def _nan_extreme(of: str, instead: float) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        extreme = folded(of, of, _without_nan(a, instead), axis, keepdims)
        if a.dtype.kind != "f":
            return extreme
        return extreme.masked_fill(folded("all", "all", a.isnan(), axis, keepdims), nan)

    return function


def _nan_place(of: str, instead: float) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        if a.dtype.kind == "f" and folded("all", "all", a.isnan(), axis, False).any().item():
            return NotImplemented  # NumPy raises the error
        return folded(of, of, _without_nan(a, instead), axis, keepdims)

    return function


def _running(of: str, change: Callable[[Tensor], Tensor] | None = None) -> Callable[..., Any]:
    def function(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
        x = a if change is None else change(a)
        x, along = (x.reshape(-1), 0) if axis is None else (x, axis)
        running: Tensor = op(of)(x, along, dtype=dtype_of(dtype))
        return running

    return function


def _quantiles(of: str, parts: float) -> Callable[..., Any]:
    """Returns a function of the quantiles at `q / parts`."""

    def function(a: Tensor, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
        x = floating(a)
        at = (q if isinstance(q, Tensor) else tensor(q, a)).to(x.dtype) / parts
        if at.ndim > 1 or method not in ("linear", "lower", "higher", "midpoint", "nearest"):
            return NotImplemented
        if axis is None or isinstance(axis, int):
            return op(of)(x, at, axis, keepdims, interpolation=method)
        rest = tuple(k for k in range(x.ndim) if k not in {k % x.ndim for k in axis})
        if keepdims:
            return NotImplemented
        flat = x.permute((*rest, *axis)).reshape((*[x.shape[k] for k in rest], -1))
        return op(of)(flat, at, -1, interpolation=method)

    return function


def _median(of: str) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        return _quantiles(of, 1)(a, 0.5, axis, keepdims=keepdims)

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
    scale = folded("sum", "sum", w, axis, keepdims)
    mean = folded("sum", "sum", x * w, axis, keepdims) / scale
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
    return _fold("mean")(x, axis, keepdims)


def _true(a: Tensor) -> Tensor:
    return a if a.dtype.name == "bool" else a.ne(0)


def _zeros(a: Tensor) -> Tensor:
    return a.nan_to_num(0.0, inf, -inf) if a.dtype.kind == "f" else a


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "all": _fold("all", _true),
    "amax": _fold("amax"),
    "amin": _fold("amin"),
    "any": _fold("any", _true),
    "argmax": _fold("argmax"),
    "argmin": _fold("argmin"),
    "average": _average,
    "bincount": lambda x, weights=None, minlength=0: op("bincount")(x, weights, minlength),
    "count_nonzero": _fold("sum", _true),
    "cumprod": _running("cumprod"),
    "cumsum": _running("cumsum"),
    "cumulative_prod": lambda x, axis=None, dtype=None: _running("cumprod")(x, axis, dtype),
    "cumulative_sum": lambda x, axis=None, dtype=None: _running("cumsum")(x, axis, dtype),
    "histogram": _histogram,
    "max": _fold("amax"),
    "mean": _mean,
    "median": _median("quantile"),
    "min": _fold("amin"),
    "nanargmax": _nan_place("argmax", -inf),
    "nanargmin": _nan_place("argmin", inf),
    "nancumprod": _running("cumprod", lambda a: _without_nan(a, 1)),
    "nancumsum": _running("cumsum", lambda a: _without_nan(a, 0)),
    "nanmax": _nan_extreme("amax", -inf),
    "nanmean": lambda a, axis=None, keepdims=False: _fold("nanmean")(floating(a), axis, keepdims),
    "nanmedian": _median("nanquantile"),
    "nanmin": _nan_extreme("amin", inf),
    "nanpercentile": _quantiles("nanquantile", 100),
    "nanprod": _summed("prod", lambda a: _without_nan(a, 1)),
    "nanquantile": _quantiles("nanquantile", 1),
    "nanstd": _nan_spread(True),
    "nansum": _summed("nansum"),
    "nanvar": _nan_spread(False),
    "percentile": _quantiles("quantile", 100),
    "prod": _summed("prod"),
    "ptp": lambda a, axis=None, keepdims=False: _fold("amax")(a, axis, keepdims) - _fold("amin")(a, axis, keepdims),
    "quantile": _quantiles("quantile", 1),
    "std": _dispersion("std"),
    "sum": _summed("sum"),
    "trace": lambda a, offset=0, axis1=0, axis2=1, dtype=None: a.diagonal(offset, axis1, axis2).sum(
        -1, dtype=dtype_of(dtype)
    ),
    "var": _dispersion("var"),
}
