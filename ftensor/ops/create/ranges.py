"""Ranges, the identity matrix, indices of triangles."""

from __future__ import annotations

import cmath
import math
import re
from typing import Any

import numpy as np

from ... import dtypes, errors
from ..._tensor import Tensor
from ...dtypes import dtype
from ...errors import creation as errors_creation
from ...execute.indexed import record_bounds
from ...execute.output import new, resize_out
from ...execute.pointwise import pointwise
from ...execute.scalars import rounded, storable, values_of
from ...execute.triangles import fill_triangle
from ...rows.catalogue import enter
from ...rows.copies import COPY
from ...rows.op import Op, Promote
from ..arguments import check_kind
from ..types.conversion import fill_, zero_
from ..view.layout import as_int
from .factory import Options, factory
from .sizes import number_argument, rounded_up

_PLACE = (("place", "FT_CONVERT(FT_T, FT_POSITION)"),)
# Rounded once, as in torch: for integers the rounding decides which integer results.
_LINE = "place < middle ? fma(step, place, start) : fma(-step, last - place, end)"


def _line_part(part: str) -> str:
    words = {w: f"{w}.{part}" for w in ("start", "end", "step")}
    words |= {"middle": "middle.re", "last": "last.re"}
    return re.sub("[a-z]+", lambda m: words.get(m[0], m[0]), _LINE)


# A power within its rounding error of an integer counts as that integer.
_WHOLE = "fabs(power - rint(power)) <= fabs(power) * slack ? rint(power) : power"

ARANGE = Op(
    "arange", "", "start + step * place", promote=Promote.WIDE, params=("start", "step"), lets=_PLACE, only=("f",)
)
ARANGE_INT = Op("arange", "", "start + step * place", params=("start", "step"), lets=_PLACE, only=("b", "u", "i"))
_BOUNDS = ("start", "end", "step", "middle", "last")
LINSPACE = Op(
    "linspace",
    "",
    _LINE,
    promote=Promote.WIDE,
    lets=_PLACE,
    params=_BOUNDS,
    complex_=f"ft_cmake({_line_part('re')}, {_line_part('im')})",
)
LOGSPACE = Op(
    "logspace", "", "pow(base, line)", promote=Promote.WIDE, lets=(*_PLACE, ("line", _LINE)), params=("base", *_BOUNDS)
)
LOGSPACE_INT = Op(
    "logspace_int",
    "",
    _WHOLE,
    promote=Promote.WIDE,
    lets=(*_PLACE, ("line", _LINE), ("power", "pow(base, line)")),
    params=("base", "slack", *_BOUNDS),
)
EXP = Op(
    "exp_wide",
    "a",
    "exp(a)",
    promote=Promote.WIDE,
    complex_="ft_cmake(exp(a.re) * ft_cos(a.im), exp(a.re) * ft_sin(a.im))",
    any_out=True,
)
enter(__name__, ARANGE, ARANGE_INT, LINSPACE, LOGSPACE, LOGSPACE_INT, EXP)


def fill_by_position(row: Op, values: tuple[Any, ...], out: Tensor) -> Tensor:
    """Runs a row that computes from positions. A non-contiguous `out` gets its values through a
    contiguous temporary."""
    is_direct = out.is_contiguous() and not out.storage_offset()
    target = out if is_direct else new(out._shape, out._dtype, out._storage.device)
    pointwise(row, (), values, target, True)
    return out if is_direct else pointwise(COPY, (target,), (), out, True)


@factory(method=False, ways=("end", "start, end, step=1"))
def arange(
    options: Options, *args: Any, start: Any = None, end: Any = None, step: Any = None, out: Tensor | None = None
) -> Tensor:
    """Returns the numbers from `start` up to but excluding `end`, in steps of `step`. Without
    `dtype` the result is int64 if all three are integers, else of the default dtype. Raises
    RuntimeError for a step of zero or a step away from `end`."""
    result_dtype = options.dtype
    low, high, increment = _range_bounds(args, start, end, step)
    if out is not None:
        options.check_out(out)
        result_dtype = out._dtype
    elif result_dtype is None:
        is_integral = not any(isinstance(v, float) for v in (low, high, increment))
        result_dtype = dtypes.int64 if is_integral else dtypes.get_default_dtype()
    check_kind("arange", result_dtype, "uif")
    count = _range_length(low, high, increment, result_dtype)
    has_no_out = out is None
    if out is None:
        out = options.new((count,), fallback=result_dtype)
    elif out.numel() != count:
        resize_out(out, (count,))
    if result_dtype.kind == "f":
        return fill_by_position(ARANGE, (low, increment), out)
    first, step = int(low), int(increment)
    fill_by_position(ARANGE_INT, (first, step), out)
    return record_bounds(out, *sorted((first, first + (count - 1) * step))) if has_no_out else out


@factory(method=False)
def range(options: Options, start: Any = 0, end: Any = None, step: Any = 1, *, out: Tensor | None = None) -> Tensor:
    """Returns the numbers from `start` up to and including `end`, in steps of `step`, in the
    default dtype unless `dtype` is given. torch advises `arange` instead, which excludes `end`."""
    if end is None:
        raise errors.missing_argument("range", "end")
    low, high, increment = _range_bounds((start, end, step), None, None, None)
    if out is not None:
        options.check_out(out)
    result_dtype = options.dtype or dtypes.get_default_dtype() if out is None else out._dtype
    check_kind("range", result_dtype, "uif")
    if not increment:
        raise errors_creation.step_zero()
    if not (math.isfinite(low) and math.isfinite(high)) or (high < low if increment > 0 else high > low):
        raise errors_creation.bad_range(low, high, increment)
    result = options.destination((int((high - low) / increment + 1),), out, result_dtype)
    if result_dtype.kind == "f":
        return fill_by_position(ARANGE, (low, increment), result)
    return fill_by_position(ARANGE_INT, (int(low), int(increment)), result)


def _range_bounds(args: tuple[Any, ...], *keywords: Any) -> tuple[Any, Any, Any]:
    """Returns (start, end, step) as Python numbers. A single positional argument is `end`."""
    names = ("start", "end", "step")
    if len(args) > 3:
        raise errors_creation.surplus_arguments("arange", 3, len(args))
    bounds = dict(zip(names, args))
    if len(args) == 1 and keywords[1] is None:
        bounds = {"end": args[0]}
    for name, value in zip(names, keywords):
        if value is not None:
            if name in bounds:
                raise errors_creation.surplus_arguments("arange", 3, len(args) + 1)
            bounds[name] = value
    if "end" not in bounds:
        raise errors.missing_argument("arange", "end")
    if "step" in bounds and "start" not in bounds:
        raise errors.missing_argument("arange", "start")
    values = [number_argument("arange", name, bounds.get(name, name == "step")) for name in names]
    for value in values:
        if isinstance(value, complex):
            raise errors_creation.value_overflow(value, dtypes.get_default_dtype())
    low, high, increment = [v if isinstance(v, float) else int(v) for v in values]
    return low, high, increment


def _range_length(low: Any, high: Any, increment: Any, result_dtype: dtype) -> int:
    """Returns the number of elements of a range. For 64-bit integers it is computed in integers,
    exactly."""
    if not increment:
        raise errors_creation.step_zero()
    if not (math.isfinite(low) and math.isfinite(high)) or (high < low if increment > 0 else high > low):
        raise errors_creation.bad_range(low, high, increment)
    if result_dtype not in (dtypes.int64, dtypes.uint64):
        return rounded_up((float(high) - float(low)) / float(increment))
    low, high, increment = (storable("arange", v, result_dtype) for v in (low, high, increment))
    if not increment:
        raise errors_creation.step_zero(kind=ValueError)
    return max(0, -((low - high) // increment))


def _steps(function: str, steps: Any) -> int:
    count = as_int(steps, function, "steps")
    if count < 0:
        raise errors_creation.negative_steps(function, count)
    return count


def _space(options: Options, start: Any, end: Any, steps: Any, out: Tensor | None) -> tuple[Any, Any, Tensor]:
    """Returns (start, end, the tensor to fill) of linspace and logspace; the bounds are rounded to
    the dtype."""
    function, result_dtype = options.function, options.dtype
    for name, bound in (("start", start), ("end", end)):
        if isinstance(bound, Tensor) and bound._shape:
            raise errors_creation.bounds_dims(function, name, bound._shape)
    low, high = number_argument(function, "start", start), number_argument(function, "end", end)
    count = _steps(function, steps)
    inferred = dtypes.get_default_dtype()
    if isinstance(low, complex) or isinstance(high, complex):
        inferred = inferred.to_complex()
        if result_dtype is not None and not result_dtype.is_complex:
            raise errors_creation.complex_bounds(function, result_dtype)
    kind = result_dtype or (out._dtype if out is not None else inferred)
    if kind.kind == "b":
        raise errors.not_implemented_for(function, kind)
    result = options.destination((count,), out, kind)
    return _round_to_dtype(function, low, kind), _round_to_dtype(function, high, kind), result


def _round_to_dtype(function: str, value: Any, result_dtype: dtype) -> Any:
    """Returns a bound rounded to the dtype, so that the ends of a range are exactly the stored
    numbers."""
    value = storable(function, value, result_dtype)
    if result_dtype.kind not in "fc":
        return values_of(value, result_dtype)[0]
    if isinstance(value, complex):
        return complex(result_dtype.numpy.type(value))
    return (
        rounded(float(value), result_dtype)
        if result_dtype.itemsize == 2
        else result_dtype.to_real().numpy.type(value).item()
    )


def _line_parameters(low: Any, high: Any, result_dtype: dtype, count: int) -> tuple[Any, ...]:
    step = (high - low) / (count - 1)
    if result_dtype.kind == "f" and result_dtype.itemsize == 2:
        step = rounded(rounded(high - low, result_dtype) / rounded(count - 1, result_dtype), result_dtype)
    return low, high, step, count // 2, count - 1


def _power(base: float, exponent: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.power(base, exponent).item()


@factory(method=False)
def linspace(options: Options, start: Any, end: Any, steps: int, *, out: Tensor | None = None) -> Tensor:
    """Returns `steps` evenly spaced numbers from `start` to `end`, both included. The bounds are
    numbers or 0-d tensors. Without `dtype` the result has the default dtype, or its complex
    counterpart for complex bounds."""
    low, high, result = _space(options, start, end, steps, out)
    count = result.numel()
    if count == 1:
        return fill_(result, low)
    return fill_by_position(LINSPACE, _line_parameters(low, high, result._dtype, count), result) if count else result


@factory(method=False)
def logspace(
    options: Options, start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor | None = None
) -> Tensor:
    """Returns `base` to the power of `steps` evenly spaced numbers from `start` to `end`, both
    included."""
    low, high, result = _space(options, start, end, steps, out)
    number = float(number_argument("logspace", "base", base))
    count = result.numel()
    if not count:
        return result
    if count == 1:
        return fill_(result, _power(number, number_argument("logspace", "start", start)))
    line_values = _line_parameters(low, high, result._dtype, count)
    if result._dtype.bare:
        raise errors.not_implemented_for("logspace", result._dtype)
    if result._dtype.is_complex:
        return _complex_powers(number, line_values, result)
    if result._dtype.kind == "f":
        return fill_by_position(LOGSPACE, (number, *line_values), result)
    has_float64 = result._storage.backend.properties.has_float64
    return fill_by_position(LOGSPACE_INT, (number, 1e-14 if has_float64 else 1e-6, *line_values), result)


def _complex_powers(base: float, line: tuple[Any, ...], out: Tensor) -> Tensor:
    """Fills `out` with exp(z * log(base)) for z on a line; z * log(base) is a line too."""
    # 0 has no logarithm; exp of this number times any positive exponent is 0.
    log = cmath.log(base) if base else -1e300
    low, high, step, middle, last = line
    compute = dtypes.complex128 if out._storage.backend.properties.has_float64 else dtypes.complex64
    powers = new(out._shape, compute, out._storage.device)
    fill_by_position(LINSPACE, (low * log, high * log, step * log, middle, last), powers)
    return pointwise(EXP, (powers,), (), out, True)


CATEGORY = "ranges"
# The first `count` elements are row indices, the other `count` are column indices. `flip` turns a
# lower triangle by 180 degrees into an upper one.
TRIANGLE = Op(
    "triangle",
    "",
    "FT_POSITION < count ? (flip != K(0) ? rows - K(1) - row : row) : (flip != K(0) ? cols - K(1) - column : column)",
    int_="FT_POSITION < count ? (flip != K(0) ? rows - K(1) - row : row) "
    ": (flip != K(0) ? cols - K(1) - column : column)",
    lets=(
        ("nth", "FT_POSITION < count ? FT_POSITION : FT_POSITION - count"),
        ("k", "flip != K(0) ? count - K(1) - nth : nth"),
        ("row", "ft_triangle_row(k, first, full, least, cols)"),
        ("column", "k - ft_triangle_before(row, first, full, least, cols)"),
    ),
    params=("count", "first", "full", "least", "rows", "cols", "flip"),
    only=("int64",),
)
enter(__name__, TRIANGLE)


@factory(method=False)
def eye(options: Options, n: int, m: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """Returns an (n, m) matrix, or (n, n), with ones on the diagonal and zeros elsewhere."""
    rows = as_int(n, "eye", "n")
    cols = rows if m is None else as_int(m, "eye", "m")
    for name, value in (("n", rows), ("m", cols)):
        if value < 0:
            raise errors_creation.negative_count("eye", name, value)
    matrix = options.destination((rows, cols), out)
    if matrix._dtype.bare == "h":
        raise errors.not_implemented_for("eye", matrix._dtype)
    zero_(matrix)
    diagonal = (min(rows, cols),), (sum(matrix._strides),), matrix._offset
    fill_(matrix._view(*diagonal), 1)
    return matrix


@factory(method=False, without=("requires_grad",))
def tril_indices(options: Options, row: int, col: int, offset: int = 0) -> Tensor:
    """Returns the row indices (first row) and column indices (second row) of the elements of a
    lower triangle, in row-major order."""
    return _triangle(options, row, col, offset, flip=False)


@factory(method=False, without=("requires_grad",))
def triu_indices(options: Options, row: int, col: int, offset: int = 0) -> Tensor:
    """Returns the row indices (first row) and column indices (second row) of the elements of an
    upper triangle, in row-major order."""
    return _triangle(options, row, col, offset, flip=True)


def _triangle(options: Options, row: Any, col: Any, offset: Any, flip: bool) -> Tensor:
    function = options.function
    rows, cols = as_int(row, function, "row"), as_int(col, function, "col")
    for name, value in (("row", rows), ("col", cols)):
        if value < 0:
            raise errors_creation.negative_count(function, name, value)
    result_dtype = options.dtype or dtypes.int64
    if result_dtype not in (dtypes.int32, dtypes.int64):
        raise errors.not_implemented_for(function, result_dtype)
    shift = as_int(offset, function, "offset")
    if flip:  # seen from the other corner, an upper triangle is a lower one
        shift = cols - rows - shift
    first = min(max(0, -shift), rows)  # the first row with elements
    first_length = max(0, min(cols, first + shift + 1))
    full = min(max(first, cols - shift - 1), rows)  # the first row with all columns
    growing_rows = full - first
    count = growing_rows * first_length + growing_rows * (growing_rows - 1) // 2 + (rows - full) * cols if cols else 0
    indices = new((2, count), dtypes.int64, options.device)
    sizes = (count, first, full, first_length, rows, cols)
    if count and not fill_triangle(sizes, flip, indices):
        fill_by_position(TRIANGLE, (*sizes, int(flip)), indices)
    if result_dtype is dtypes.int64:
        return indices
    return pointwise(COPY, (indices,), (), options.new((2, count)), True)
