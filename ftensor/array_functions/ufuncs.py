"""NumPy's universal functions: the op of each, their methods, and operands that are numbers or
arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..array_api.dtypes import check_number, is_outside, limited
from ..array_api.elementwise import ACCEPTS_NUMBERS, COMPARISONS, compare_outside
from ..dtypes import result_type
from ..rows.catalogue import ENTRIES, op_of
from .values import as_operand, dtype_of, floating, on_host, tensor, tensor_among, write_out

# Ops under NumPy's names; "name:op" if the op's name differs.
_SAME = """
absolute:abs add arccos:acos arccosh:acosh arcsin:asin arcsinh:asinh arctan:atan arctan2:atan2
arctanh:atanh bitwise_and bitwise_or bitwise_xor ceil conjugate:conj_physical copysign cos cosh
deg2rad degrees:rad2deg divide:div equal:eq exp exp2 expm1 float_power floor floor_divide fmax fmin
fmod frexp gcd
greater:gt greater_equal:ge heaviside hypot invert:bitwise_not isfinite isinf isnan lcm ldexp
left_shift:bitwise_left_shift less:lt less_equal:le log log10 log1p log2 logaddexp logaddexp2
logical_and logical_not logical_or logical_xor matmul maximum minimum multiply:mul negative:neg
nextafter not_equal:ne positive power:pow rad2deg radians:deg2rad reciprocal remainder
right_shift:bitwise_right_shift rint:round signbit sin sinh sqrt square subtract:sub tan tanh
trunc
"""
_NAMES = {name: of or name for name, _, of in (word.partition(":") for word in _SAME.split())}
UFUNCS: dict[str, Callable[..., Any]] = {name: op_of(of) for name, of in _NAMES.items()} | {
    "cbrt": lambda x: floating(x).sign() * floating(x).abs().pow(1 / 3),
    "clip": lambda x, low, high: op_of("clamp")(x, *[limited(v, x.dtype) for v in (low, high)]),
    "divmod": lambda x, y: (op_of("floor_divide")(x, y), op_of("remainder")(x, y)),
    "fabs": lambda x: floating(x).abs(),
    "matvec": lambda a, v: (a @ v[..., None])[..., 0],
    "modf": lambda x: (floating(x).frac(), floating(x).trunc()),
    "sign": lambda x: x.sgn() if x.dtype.kind != "f" else x.where(x.isnan(), x.sign()),
    "spacing": lambda x: x.nextafter(tensor(np.inf, x).to(x.dtype).copysign(x)) - x,
    "vecdot": lambda x, y: (x.conj() * y).sum(-1),
    "vecmat": lambda v, a: (v.conj()[..., None, :] @ a)[..., 0, :],
}
# The reductions equal to `reduce` and `accumulate` of a universal function.
_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_ACCUMULATED = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
# Functions that compute integers in floating point, and those that read operands as truth values.
_FLOATING = frozenset(
    ["arctan2", "copysign", "divide", "float_power", "hypot", "ldexp", "logaddexp", "logaddexp2", "nextafter"]
)
_LOGICAL = frozenset(["logical_and", "logical_or", "logical_xor"])
_WITHOUT_EFFECT = frozenset(["casting", "order", "subok"])


def _fitting(name: str, operands: list[Any]) -> list[Any]:
    """Returns the operands, in which Python ints that the tensors' integer dtype can't hold are
    converted as in NumPy. Raises OverflowError if NumPy does."""
    common_dtype = result_type(*operands)
    outside = [is_outside(x, common_dtype) for x in operands]
    if name in _FLOATING:
        return [float(x) if is_large else x for x, is_large in zip(operands, outside)]
    if name in _LOGICAL:
        return [bool(x) if is_large else x for x, is_large in zip(operands, outside)]
    for x in operands:
        check_number(f"numpy.{name}", x, common_dtype)
    return operands


def _call_op(name: str, operands: list[Any], like: Tensor) -> Any:
    """Runs the op of a universal function on tensors and Python numbers."""
    tensors = [x for x in operands if isinstance(x, Tensor)]
    entry = ENTRIES.get(_NAMES.get(name, ""))
    has_scalars = len(tensors) < len(operands) and name != "clip"
    if has_scalars and tensors and any(isinstance(x, int) for x in operands):
        if entry and entry.name in COMPARISONS and any(is_outside(x, result_type(*operands)) for x in operands):
            return compare_outside(entry.name, *operands)
        operands = _fitting(name, operands)
    if has_scalars and not (entry and entry.name in ACCEPTS_NUMBERS and isinstance(operands[0], Tensor)):
        common_dtype = result_type(*operands)
        operands = [
            x if isinstance(x, Tensor) else op_of("full")((), x, dtype=common_dtype, device=like.device)
            for x in operands
        ]
    return UFUNCS[name](*operands)


def _elementwise(name: str, operands: list[Any], like: Tensor, options: dict[str, Any]) -> Any:
    """Runs a plain call of a universal function, with `dtype`, `mask` and `out`."""
    requested_dtype = dtype_of(options.pop("dtype", None))
    mask, out = options.pop("where", True), options.get("out")
    options.pop("out", None)
    if options or name not in UFUNCS:
        return NotImplemented
    if requested_dtype is not None:
        operands = [x.to(requested_dtype) if isinstance(x, Tensor) else x for x in operands]
    result = _call_op(name, operands, like)
    if result is NotImplemented or isinstance(result, tuple):
        return result if mask is True else NotImplemented
    if mask is not True:
        unmasked = as_operand(out[0], like) if out else op_of("zeros_like")(result)
        result = op_of("where")(tensor(mask, like), result, unmasked.to(result.dtype))
    return result


def _method(name: str, method: str, operands: list[Any], like: Tensor, options: dict[str, Any]) -> Any:
    """Runs `reduce`, `accumulate` or `outer` of a universal function."""
    from .functions import FUNCTIONS

    options = {key: value for key, value in options.items() if key != "out"}
    if method == "outer" and not options:
        a, b = [x if isinstance(x, Tensor) else tensor(x, like) for x in operands]
        return _call_op(name, [a.reshape((*a.shape, *[1] * b.ndim)), b], like)
    if method == "reduce" and name in _REDUCED:
        options = {"axis": 0} | options
        reduction = FUNCTIONS[_REDUCED[name]]
        return reduction(operands[0], *operands[1:], **options) if _accepts(reduction, options) else NotImplemented
    if method == "accumulate" and name in _ACCUMULATED:
        dim = options.pop("axis", 0)
        running: Any = op_of(_ACCUMULATED[name])(operands[0], dim)
        return NotImplemented if options else running[0] if isinstance(running, tuple) else running
    if method == "at" and name == "add" and isinstance(operands[0], Tensor):
        x, indices, values = operands
        positions = tuple([tensor(i, like) for i in (indices if isinstance(indices, tuple) else (indices,))])
        x.index_put_(positions, tensor(values, like).to(x.dtype), accumulate=True)
        return None
    return NotImplemented


def _accepts(function: Callable[..., Any], options: dict[str, Any]) -> bool:
    code = function.__code__
    return options.keys() <= set(code.co_varnames[: code.co_argcount])


def ufunc(numpy_ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Implements `Tensor.__array_ufunc__`: returns a tensor, or NotImplemented for unknown operand
    types."""
    out = options.get("out", ())
    like = tensor_among(inputs, out)
    settings = {key: value for key, value in options.items() if key not in _WITHOUT_EFFECT}
    operands = [as_operand(tensor(x, like) if isinstance(x, list) else x, like) for x in inputs]
    result = NotImplemented
    if all(isinstance(x, (Tensor, bool, int, float, complex, tuple)) for x in operands):
        try:
            if method == "__call__":
                result = _elementwise(numpy_ufunc.__name__, operands, like, settings)
            else:
                result = _method(numpy_ufunc.__name__, method, operands, like, settings)
        except NotImplementedError:  # a dtype that the op doesn't support
            result = NotImplemented
    if result is NotImplemented:
        if method == "at":
            return NotImplemented
        name = numpy_ufunc.__name__ + f".{method}" * (method != "__call__")
        call = getattr(numpy_ufunc, method)
        inputs_only = {key: value for key, value in options.items() if key != "out"}
        result = on_host(name, call, inputs, inputs_only, like)
    return write_out(result, out) if any(x is not None for x in out) else result
