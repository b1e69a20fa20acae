"""NumPy's functions by name, and the dispatch of `Tensor.__array_function__`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Signature, signature
from typing import Any

import numpy as np

from .._tensor import Tensor
from . import elements, reductions, shapes
from .values import as_operand, first_tensor, map_nested, on_host, write_out

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **shapes.FUNCTIONS,
    **reductions.FUNCTIONS,
    **elements.FUNCTIONS,
    **{f"linalg.{name}": call for name, call in reductions.LINALG.items()},
    **{f"fft.{name}": call for name, call in reductions.FFT.items()},
}


def _empty_operands(*operands: Any) -> list[Any]:
    return [np.empty(x.shape, x.dtype.numpy) if isinstance(x, Tensor) else x for x in operands]


# Functions that need only shapes and dtypes.
_METADATA: dict[str, Callable[..., Any]] = {
    "shape": lambda a: tuple(a.shape),
    "ndim": lambda a: a.ndim,
    "size": lambda a, axis=None: a.numel() if axis is None else a.shape[axis],
    "iscomplexobj": lambda x: x.dtype.kind == "c",
    "isrealobj": lambda x: x.dtype.kind != "c",
    "can_cast": lambda from_, to, casting="safe": np.can_cast(from_.dtype, to, casting),
    "common_type": lambda *arrays: np.common_type(*_empty_operands(*arrays)),
    "min_scalar_type": lambda a: a.dtype.numpy,
    "result_type": lambda *arrays_and_dtypes: np.result_type(*_empty_operands(*arrays_and_dtypes)),
    "may_share_memory": lambda a, b: _may_share_memory(a, b),
    "shares_memory": lambda a, b: _may_share_memory(a, b),
    "einsum_path": lambda *operands, optimize="greedy": np.einsum_path(*_empty_operands(*operands), optimize=optimize),
}
FUNCTIONS |= _METADATA
# Functions that print or save a tensor: the copy to the host is no fallback.
_EXPLICIT = frozenset(["array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed"])
# Arguments without effect if they have these values.
_WITHOUT_EFFECT = {
    "order": ("C", "K", "A", None),
    "subok": (True, False),
    "casting": ("same_kind", "unsafe"),
    "overwrite_input": (True, False),
    "device": (None, "cpu"),
    "like": (None,),
    "sorted": (True,),
    "optimize": (True, False, "greedy", "optimal"),
}


def _may_share_memory(a: Any, b: Any) -> bool:
    return np.may_share_memory(np.asarray(a), np.asarray(b))


@cache
def _signature(call: Callable[..., Any]) -> Signature:
    return signature(call)


def name_of(function: Any) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    path: str = ".".join([*module.split(".")[1:], function.__name__])
    return path


def function(numpy_function: Any, args: tuple[Any, ...], options: dict[str, Any], like: Tensor | None) -> Any:
    """Implements `Tensor.__array_function__`: returns tensors, or another result of NumPy's
    function."""
    name = name_of(numpy_function)
    arguments = {
        key: value
        for key, value in options.items()
        if value is not np._NoValue and not (key in _WITHOUT_EFFECT and value in _WITHOUT_EFFECT[key])
    }
    out = arguments.pop("out", None)
    operand = first_tensor(args, arguments, out)
    if operand is None:  # the tensor given as `like=`
        assert like is not None, "a function of no tensor"
        call, first = shapes.CREATION.get(name), [like]
        operand = like
    else:
        call, first = FUNCTIONS.get(name), []
    if name in _EXPLICIT:
        return numpy_function(*map_nested(args, _array), **map_nested(options, _array))
    result = NotImplemented
    if call is not None:
        result = _on_device(call, [*first, *args], arguments, operand)
    if result is NotImplemented:
        inputs = {key: value for key, value in options.items() if key != "out"}
        result = on_host(name, numpy_function, args, inputs, operand)
    return result if out is None else write_out(result, out)


def _on_device(call: Callable[..., Any], args: list[Any], arguments: dict[str, Any], like: Tensor) -> Any:
    """Returns the op's result, or NotImplemented for arguments and dtypes that it doesn't
    support."""
    try:
        bound = _signature(call).bind(*args, **arguments)
    except TypeError:
        return NotImplemented
    try:
        return call(
            *map_nested(bound.args, lambda x: as_operand(x, like)),
            **map_nested(bound.kwargs, lambda x: as_operand(x, like)),
        )
    except NotImplementedError:
        return NotImplemented


def _array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, Tensor) else value
