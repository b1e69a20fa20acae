"""NumPy's functions by name, and the dispatch of `Tensor.__array_function__`."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import cache
from inspect import Signature, signature
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from .. import array_api as xp
from .._tensor import Tensor
from ..array_api.linalg import EigResult, SVDResult
from ..rows.lines import Functions
from . import elements, reductions, shapes
from .values import as_operand, first_tensor, map_nested, on_host, write_out

_SCOPE = {"np": np, "xp": xp, "inf": inf, "EigResult": EigResult, "SVDResult": SVDResult}
_SCOPE |= vars(elements) | vars(reductions) | vars(shapes)
_BY_HAND = (*shapes.FUNCTIONS, *reductions.FUNCTIONS, *elements.FUNCTIONS)
FUNCTIONS: Mapping[str, Callable[..., Any]] = ChainMap(
    {call.__name__.removeprefix("_"): call for call in _BY_HAND},
    Functions(Path(__file__).with_name("numpy.txt"), _SCOPE),  # type: ignore[arg-type]
)
CREATION = Functions(Path(__file__).with_name("like.txt"), _SCOPE)
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


@cache
def _signature(call: Callable[..., Any]) -> Signature:
    return signature(call)


def name_of(function: Any) -> str:
    module = getattr(function, "__module__", None) or "numpy"
    return ".".join([*module.split(".")[1:], function.__name__])


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
        call, first = CREATION.get(name), [like]
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
