"""Conversion of the arguments and results of NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..dtypes import dtype, from_numpy_dtype, get_default_dtype, result_type
from ..errors import interop as messages
from ..execute.fallback import uploaded
from ..interop.numpy import to_array
from ..rows.catalogue import ENTRIES
from ..runtime import fallback

# Kinds of NumPy numbers that count as Python numbers.
_NUMBERS = "biufc"


def op(name: str) -> Callable[..., Any]:
    return ENTRIES[name].call


def each(value: Any, change: Callable[[Any], Any]) -> Any:
    """Returns `value` with `change` applied to every item of its nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        parts = [each(part, change) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: each(part, change) for key, part in value.items()}
    return change(value)


def taken(value: Any, like: Tensor) -> Any:
    """Converts an operand: an array becomes a tensor of its dtype on the device of `like`, shared
    if that computes in the host's memory; a NumPy number becomes Python's; anything else stays."""
    if isinstance(value, np.ndarray):
        return op("asarray")(value, device=like.device)
    if isinstance(value, np.generic) and value.dtype.kind in _NUMBERS:
        return value.item()
    return value


def tensor(value: Any, like: Tensor) -> Tensor:
    converted: Tensor = op("asarray")(value, device=like.device)
    return converted


def first_tensor(*values: Any) -> Tensor | None:
    """Returns the first tensor among arguments and the lists, tuples and dicts in them."""
    for value in values:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, (list, tuple, dict)):
            parts = value.values() if isinstance(value, dict) else value
            if (first := first_tensor(*parts)) is not None:
                return first
    return None


def both(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Returns two operands as tensors of their common dtype."""
    like = first_tensor(a, b)
    assert like is not None, "no tensor among the operands"
    numbers = (Tensor, int, float, complex)
    common = result_type(*[x if isinstance(x, numbers) else tensor(x, like) for x in (a, b)])
    first, second = tensor(a, like).to(common), tensor(b, like).to(common)
    return first, second


def floating(x: Tensor) -> Tensor:
    return x if x.dtype.kind in "fc" else x.to(get_default_dtype())


def dtype_of(value: Any) -> dtype | None:
    return value if value is None or isinstance(value, dtype) else from_numpy_dtype(value)


def delivered(result: Any, out: Any) -> Any:
    """Writes a result into `out`, a tensor or an array; tuples item by item."""
    if isinstance(out, tuple):
        several = result if isinstance(result, tuple) else (result,)
        written = tuple([one if to is None else delivered(one, to) for one, to in zip(several, out)])
        return written if isinstance(result, tuple) else written[0]
    if isinstance(out, Tensor):
        if out.shape != result.shape:
            raise messages.out_shape(result.shape, out.shape)
        return out.copy_(result)
    np.copyto(out, to_array(result), casting="same_kind")
    return out


def on_host(name: str, call: Callable[..., Any], args: Any, kwargs: Any, like: Tensor) -> Any:
    """Runs NumPy's `call` on the tensors' elements; returns tensors on the device of `like`.

    Raises KernelNotBuilt if the policy of `set_fallback` is "error".
    """
    sent: list[Tensor] = []
    each([args, kwargs], lambda x: sent.append(x) if isinstance(x, Tensor) else None)
    names = tuple([t.dtype.name for t in sent])
    fallback.admit(errors.no_counterpart(f"numpy.{name}", names))
    back: list[Tensor] = []

    def returned(value: Any) -> Any:
        known = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in _NUMBERS
        if not known or isinstance(value, np.bool_):
            return bool(value) if isinstance(value, np.bool_) else value
        back.append(uploaded(np.asarray(value), like.device))
        return back[-1]

    result = each(call(*each(args, _read), **each(kwargs, _read)), returned)
    own = not like._storage.backend.host_shared
    moved = [sum(t.nbytes for t in some) * own for some in (sent, back)]
    copies = (len(sent) + len(back)) * own
    fallback.count(f"numpy.{name}", ", ".join(names), "host", copies, *moved)
    return result


def _read(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    array = to_array(value).view()
    array.flags.writeable = False
    return array
