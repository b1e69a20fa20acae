"""NumPy's reductions, products, `numpy.linalg` and `numpy.fft`."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf, nan
from typing import Any

import numpy as np

from .. import array_api as xp
from .._tensor import Tensor
from ..array_api.linalg import EigResult, QRResult, SVDResult
from ..array_api.reductions import reduce_axes
from ..dtypes import promote_types
from ..rows.catalogue import op_of
from .values import dtype_of, first_tensor, floating, promote_pair, tensor


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
    def function(a: Tensor, axis: Any = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
        if dtype is not None:
            a = a.to(dtype_of(dtype))
        if a.dtype.kind != "f":
            return (_make_dispersion("std") if root else _make_dispersion("var"))(a, axis, None, ddof, keepdims)
        is_number = a.isnan().logical_not()
        count = reduce_axes("sum", "sum", is_number, axis, True)
        deviation = a - reduce_axes("nansum", "nansum", a, axis, True) / count
        variance = reduce_axes("nansum", "nansum", deviation * deviation, axis, keepdims)
        left = (count if keepdims else reduce_axes("sum", "sum", is_number, axis, False)) - ddof
        variance = variance / op_of("where")(left > 0, left, tensor(nan, a).to(a.dtype))
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
        return op_of(op_name)(x, dim, dtype=dtype_of(dtype))

    return function


def _make_quantiles(op_name: str, intervals: float) -> Callable[..., Any]:
    """Returns a function of the quantiles at `q / intervals`."""

    def function(a: Tensor, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
        x = floating(a)
        ranks = (q if isinstance(q, Tensor) else tensor(q, a)).to(x.dtype) / intervals
        if ranks.ndim > 1 or method not in ("linear", "lower", "higher", "midpoint", "nearest"):
            return NotImplemented
        if axis is None or isinstance(axis, int):
            return op_of(op_name)(x, ranks, axis, keepdims, interpolation=method)
        kept_axes = tuple(k for k in range(x.ndim) if k not in {k % x.ndim for k in axis})
        if keepdims:
            return NotImplemented
        flat = x.permute((*kept_axes, *axis)).reshape((*[x.shape[k] for k in kept_axes], -1))
        return op_of(op_name)(flat, ranks, -1, interpolation=method)

    return function


def _make_median(op_name: str) -> Callable[..., Any]:
    def function(a: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        return _make_quantiles(op_name, 1)(a, 0.5, axis, keepdims=keepdims)

    return function


def _average(a: Tensor, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    x = floating(a)
    if weights is None:
        weights = op_of("ones_like")(x)
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
        counts, edges = op_of("histogram")(x, bins, **options)
    else:
        counts, edges = op_of("histogram")(x, tensor(bins, a).to(x.dtype), **options)
    return (counts if density or weights is not None else counts.to(op_of("arange")(1).dtype)), edges


def _mean(a: Tensor, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    x = floating(a) if dtype is None else a.to(dtype_of(dtype))
    return _make_reduction("mean")(x, axis, keepdims)


def _nanmean(a: Tensor, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    x = floating(a) if dtype is None else a.to(dtype_of(dtype))
    return _make_reduction("nanmean")(x, axis, keepdims)


def _nonzero(a: Tensor) -> Tensor:
    return a if a.dtype.name == "bool" else a.ne(0)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "all": _make_reduction("all", _nonzero),
    "amax": _make_reduction("amax"),
    "amin": _make_reduction("amin"),
    "any": _make_reduction("any", _nonzero),
    "argmax": _make_reduction("argmax"),
    "argmin": _make_reduction("argmin"),
    "average": _average,
    "bincount": lambda x, weights=None, minlength=0: op_of("bincount")(x, weights, minlength),
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
    "nanmean": _nanmean,
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


linalg: Any = xp.linalg


def _pair(function: Callable[[Tensor, Tensor], Any]) -> Callable[..., Any]:
    return lambda a, b: function(*promote_pair(a, b))


def _dot(a: Tensor, b: Tensor) -> Any:
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim == 1:
        return a @ b
    return op_of("tensordot")(a, b, ([a.ndim - 1], [b.ndim - 2]))


def _tensordot(a: Tensor, b: Tensor, axes: Any) -> Any:
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
    x = floating(m)
    weights = [None if w is None else tensor(w, m) for w in (fweights, aweights)]
    return op_of("cov")(
        x if rowvar or x.ndim < 2 else x.mT, correction=correction, fweights=weights[0], aweights=weights[1]
    )


def _qr(a: Tensor, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        return NotImplemented
    factors = op_of("linalg.qr")(floating(a), mode)
    return factors[1] if mode == "r" else QRResult(*factors)


def _svd(a: Tensor, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    x = floating(a)
    if not compute_uv:
        return op_of("linalg.svdvals")(x)
    return SVDResult(*op_of("linalg.svd")(x, full_matrices))


def _norm(x: Tensor, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is None and axis is None:
        flat = op_of("linalg.vector_norm")(floating(x).reshape(-1))
        return flat.reshape([1] * x.ndim) if keepdims else flat
    return op_of("linalg.norm")(floating(x), ord, axis, keepdims)


def _solve(a: Tensor, b: Any) -> Any:
    return linalg.solve(floating(a), floating(tensor(b, a)))


def _make_fft(name: str) -> Callable[..., Any]:
    return lambda a, *args: op_of(f"linalg.{name}")(floating(a), *args)


def _make_transform(name: str) -> Callable[..., Any]:
    """Returns a transform along one axis."""

    def function(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
        return op_of(f"fft.{name}")(a, n, axis, norm)

    return function


def _make_transform_nd(name: str) -> Callable[..., Any]:
    """Returns a transform along several axes, by default all or the last two."""
    default = (-2, -1) if name.endswith("2") else None

    def function(a: Tensor, s: Any = None, axes: Any = default, norm: str | None = None) -> Any:
        return op_of(f"fft.{name}")(a, s, axes, norm)

    return function


def _make_shift(name: str) -> Callable[..., Any]:
    return lambda x, axes=None: op_of(f"fft.{name}")(x, axes)


_MATRIX_FUNCTIONS = "det eigvals eigvalsh inv multi_dot slogdet svdvals tensorinv"
FUNCTIONS |= {
    "corrcoef": lambda x, rowvar=True: op_of("corrcoef")(floating(x) if rowvar or x.ndim < 2 else floating(x).mT),
    "cov": _cov,
    "cross": _cross,
    "dot": _pair(_dot),
    "einsum": _einsum,
    "inner": _pair(lambda a, b: a * b if not (a.ndim and b.ndim) else op_of("inner")(a, b)),
    "kron": _pair(op_of("kron")),
    "outer": _pair(lambda a, b: op_of("outer")(a.reshape(-1), b.reshape(-1))),
    "tensordot": lambda a, b, axes=2: _pair(lambda x, y: _tensordot(x, y, axes))(a, b),
    "vdot": _pair(lambda a, b: op_of("vdot")(a.reshape(-1), b.reshape(-1))),
}
LINALG: dict[str, Callable[..., Any]] = {name: _make_fft(name) for name in _MATRIX_FUNCTIONS.split()} | {
    "cholesky": lambda a, upper=False: op_of("linalg.cholesky")(floating(a), upper=upper),
    "cond": lambda x, p=None: op_of("linalg.cond")(floating(x), p),
    "cross": lambda x1, x2, axis=-1: op_of("linalg.cross")(x1, x2, dim=axis),
    "diagonal": lambda x, offset=0: x.diagonal(offset, -2, -1),
    "eig": lambda a: EigResult(*op_of("linalg.eig")(floating(a))),
    "eigh": lambda a, UPLO="L": EigResult(*op_of("linalg.eigh")(floating(a), UPLO)),
    "matmul": _pair(lambda a, b: a @ b),
    "matrix_norm": lambda x, keepdims=False, ord="fro": op_of("linalg.matrix_norm")(floating(x), ord, keepdim=keepdims),
    "matrix_power": lambda a, n: op_of("linalg.matrix_power")(a, n),
    "matrix_rank": lambda A, tol=None, hermitian=False, rtol=None: op_of("linalg.matrix_rank")(
        floating(A), atol=tol, rtol=rtol, hermitian=hermitian
    ),
    "matrix_transpose": lambda x: x.mT,
    "multi_dot": lambda arrays: op_of("linalg.multi_dot")(arrays),
    "norm": _norm,
    "outer": lambda x1, x2: op_of("outer")(x1, x2),
    "pinv": lambda a, rcond=None, hermitian=False: op_of("linalg.pinv")(
        floating(a), **({} if rcond is None else {"rtol": rcond}), hermitian=hermitian
    ),
    "qr": _qr,
    "solve": _solve,
    "svd": _svd,
    "tensordot": lambda x1, x2, axes=2: FUNCTIONS["tensordot"](x1, x2, axes),
    "tensorsolve": lambda a, b, axes=None: op_of("linalg.tensorsolve")(floating(a), floating(b), axes),
    "trace": lambda x, offset=0: x.diagonal(offset, -2, -1).sum(-1),
    "vecdot": lambda x1, x2, axis=-1: op_of("linalg.vecdot")(x1, x2, dim=axis),
    "vector_norm": lambda x, axis=None, keepdims=False, ord=2: op_of("linalg.vector_norm")(
        floating(x), ord, axis, keepdims
    ),
}
FFT: dict[str, Callable[..., Any]] = {
    **{name: _make_transform(name) for name in ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]},
    **{
        name: _make_transform_nd(name)
        for name in ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
    },
    "fftshift": _make_shift("fftshift"),
    "ifftshift": _make_shift("ifftshift"),
}
