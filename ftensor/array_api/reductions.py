"""The standard's reductions: sums, extremes, moments, all and any, and cumulative sums."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import wraps
from math import prod as _product
from typing import Any

from .._tensor import Tensor
from ..dtypes import bool as bool_
from ..dtypes import dtype, int64, uint64
from ..errors import argument_type
from ..errors import creation as messages
from ..rows.catalogue import op_of
from ..rows.spelling import named
from .dtypes import check

Axis = int | tuple[int, ...] | None


def one_axis(name: str, axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise messages.axis_range(name, axis, ndim)
    return axis % ndim


def axes_of(name: str, axis: Axis, ndim: int) -> tuple[int, ...]:
    """Returns the axes, normalized, each once, in order; all for None."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    normalized = sorted(one_axis(name, a, ndim) for a in axes)
    if len(set(normalized)) < len(normalized):
        raise messages.axis_twice(name, axis)
    return tuple(normalized)


def _flattened(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    kept_axes = [a for a in range(x.ndim) if a not in axes]
    shape = [x.shape[a] for a in kept_axes]
    return x.permute((*kept_axes, *axes)).reshape((*shape, _product(x.shape[a] for a in axes)))


def reduce_axes(op: str, name: str, x: Tensor, axis: Axis, keepdims: builtins.bool, **options: Any) -> Tensor:
    axes = axes_of(name, axis, x.ndim)
    reduced: Tensor = op_of(op)(_flattened(x, axes), -1, **options)
    return _with_ones(reduced, axes) if keepdims else reduced


def _with_ones(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    for a in axes:
        x = x.unsqueeze(a)
    return x


def sum_dtype(d: dtype, requested: dtype | None) -> dtype:
    if requested is not None:
        return requested
    return {"u": uint64, "i": int64, "b": int64}.get(d.kind, d)


def _make_sum(name: str) -> Callable[..., Tensor]:
    def function(
        x: Tensor, /, *, axis: Axis = None, dtype: dtype | None = None, keepdims: builtins.bool = False
    ) -> Tensor:
        if not (name == "sum" and x.dtype.kind == "b"):  # as in NumPy: the number of true elements
            check(name, "numeric", x)
        result_dtype = sum_dtype(x.dtype, dtype)
        return reduce_axes(name, name, x.to(result_dtype), axis, keepdims, dtype=result_dtype)

    return function


def _check_elements(name: str, x: Tensor, axis: Axis) -> None:
    """Raises ValueError if the axes have no elements, TypeError for bool and complex numbers."""
    check(name, "real numeric", x)
    if 0 in (x.shape[a] for a in axes_of(name, axis, x.ndim)):
        raise messages.no_elements(name)


def _make_extreme(name: str, op: str) -> Callable[..., Tensor]:
    def function(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
        _check_elements(name, x, axis)
        return reduce_axes(op, name, x, axis, keepdims)

    return function


def _make_truth(name: str) -> Callable[..., Tensor]:
    def function(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
        check(name, "all", x)
        return reduce_axes(name, name, _is_nonzero(x), axis, keepdims).to(bool_)

    return function


def _is_nonzero(x: Tensor) -> Tensor:
    return x if x.dtype is bool_ else x.ne(0)


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
    """Returns the mean over axes, all for None. Raises TypeError for integers and bool."""
    check("mean", "floating-point", x)
    return reduce_axes("mean", "mean", x, axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Tensor:
    """Returns the number of nonzero elements over axes, all for None, as int64."""
    check("count_nonzero", "all", x)
    return reduce_axes("sum", "count_nonzero", _is_nonzero(x), axis, keepdims)


def _make_dispersion(name: str) -> Callable[..., Tensor]:
    def function(
        x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: builtins.bool = False
    ) -> Tensor:
        check(name, "real floating-point", x)
        return reduce_axes(name, name, x, axis, keepdims, correction=correction)

    return function


def _make_argument(name: str) -> Callable[..., Tensor]:
    def function(x: Tensor, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Tensor:
        _check_elements(name, x, axis)
        return reduce_axes(name, name, x, axis, keepdims)

    return function


def _make_cumulative(name: str, op: str) -> Callable[..., Tensor]:
    def function(
        x: Tensor, /, *, axis: int | None = None, dtype: dtype | None = None, include_initial: builtins.bool = False
    ) -> Tensor:
        check(name, "numeric", x)
        if x.ndim == 0 or (axis is None and x.ndim > 1):
            raise messages.axis_needed(name, x.ndim)
        dim = one_axis(name, axis or 0, x.ndim)
        result_dtype = sum_dtype(x.dtype, dtype)
        running: Tensor = op_of(op)(x.to(result_dtype), dim, dtype=result_dtype)
        if include_initial:
            first = (*x.shape[:dim], 1, *x.shape[dim + 1 :])
            start = op_of("full")(first, int(op == "cumprod"), dtype=result_dtype, device=x.device)
            running = op_of("cat")((start, running), dim)
        return running

    return function


def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Returns the `n`-th differences of neighbours along an axis, in the dtype of `x`."""
    check("diff", "numeric", *(a for a in (x, prepend, append) if a is not None))
    dim = one_axis("diff", axis, x.ndim)
    differences: Tensor = op_of("diff")(x, n, dim, prepend, append)
    return differences.to(x.dtype)


_DOCS = {
    "sum": (_make_sum, (), "The sum over axes, all for None; of integers in 64 bits."),
    "prod": (_make_sum, (), "The product over axes, all for None; of integers in 64 bits."),
    "max": (_make_extreme, ("amax",), "The greatest element over axes; ValueError where there is none."),
    "min": (_make_extreme, ("amin",), "The least element over axes; ValueError where there is none."),
    "all": (_make_truth, (), "Whether all elements over axes are true; bool."),
    "any": (_make_truth, (), "Whether any element over axes is true; bool."),
    "std": (_make_dispersion, (), "The standard deviation over axes, of n - `correction` elements."),
    "var": (_make_dispersion, (), "The variance over axes, of n - `correction` elements."),
    "argmax": (_make_argument, (), "The place of the first greatest element along an axis; int64."),
    "argmin": (_make_argument, (), "The place of the first least element along an axis; int64."),
    "cumulative_sum": (_make_cumulative, ("cumsum",), "Sums of the elements up to each one on an axis."),
    "cumulative_prod": (_make_cumulative, ("cumprod",), "Products of the elements up to each one."),
}


def _with_docstring(name: str, make: Any, arguments: tuple[str, ...], text: str) -> Callable[..., Tensor]:
    doc = f"{text} TypeError for a dtype that the standard leaves out."
    function: Callable[..., Tensor] = named(name, doc, "ftensor.array_api")(make(name, *arguments))
    return function


def _ignores_no_out(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Returns `function` with an additional keyword `out` that must be None. `numpy.any(x)` and
    similar functions pass `out` to an object's method, and libraries pass it on."""

    @wraps(function)
    def called(x: Tensor, /, *, out: None = None, **options: Any) -> Tensor:
        if out is not None:
            raise argument_type(function.__name__, "out", "None", out)
        return function(x, **options)

    return called


FUNCTIONS: dict[str, Callable[..., Tensor]] = {name: _with_docstring(name, *row) for name, row in _DOCS.items()} | {
    "mean": mean,
    "count_nonzero": count_nonzero,
    "diff": diff,
}
for _name in ("all", "any", "max", "min", "sum", "prod", "mean", "std", "var"):
    FUNCTIONS[_name] = _ignores_no_out(FUNCTIONS[_name])
