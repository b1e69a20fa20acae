"""Conversion of the arguments and results of NumPy's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors
from .._tensor import Tensor
from ..array_api.dtypes import is_outside
from ..dtypes import dtype, float32, from_numpy_dtype, get_default_dtype, int64, promote_types, result_type
from ..errors import call as messages
from ..execute.fallback import upload_array
from ..interop.host import to_array
from ..rows.catalogue import op_of
from ..runtime import fallback

# Kinds of NumPy numbers that count as Python numbers.
_NUMBERS = "biufc"


def map_nested(value: Any, transform: Callable[[Any], Any]) -> Any:
    """Returns `value` with `transform` applied to every item of its nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        items = [map_nested(item, transform) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: map_nested(item, transform) for key, item in value.items()}
    return transform(value)


def as_operand(value: Any, like: Tensor) -> Any:
    """Converts an operand: an array becomes a tensor of its dtype on the device of `like`, which
    shares the memory if the device computes in host memory; a NumPy number becomes a Python number;
    other values are unchanged."""
    if isinstance(value, np.ndarray):
        return op_of("asarray")(value, device=like.device)
    if isinstance(value, np.generic) and value.dtype.kind in _NUMBERS:
        return value.item()
    return value


def tensor(value: Any, like: Tensor) -> Tensor:
    return op_of("asarray")(value, device=like.device)


def first_tensor(*values: Any) -> Tensor | None:
    """Returns the first tensor among arguments and the lists, tuples and dicts in them."""
    for value in values:
        if isinstance(value, Tensor):
            return value
        if isinstance(value, (list, tuple, dict)):
            items = value.values() if isinstance(value, dict) else value
            if (first := first_tensor(*items)) is not None:
                return first
    return None


def tensor_among(*values: Any) -> Tensor:
    found = first_tensor(*values)
    assert found is not None, "no tensor among the arguments"
    return found


def promote_pair(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Returns two operands as tensors of their common dtype. A Python int that this dtype can't
    hold counts as int64."""
    like = tensor_among(a, b)
    numbers = (Tensor, int, float, complex)
    dtype = result_type(*[x if isinstance(x, numbers) else tensor(x, like) for x in (a, b)])
    if is_outside(a, dtype) or is_outside(b, dtype):
        dtype = promote_types(dtype, int64)
    first, second = tensor(a, like).to(dtype), tensor(b, like).to(dtype)
    return first, second


def floating(x: Tensor) -> Tensor:
    return x if x.dtype.kind in "fc" else x.to(get_default_dtype())


def at_least_float32(x: Tensor) -> Tensor:
    return x.to(float32) if x.dtype.kind == "f" and x.dtype.itemsize < float32.itemsize else x


def dtype_of(value: Any) -> dtype | None:
    return value if value is None or isinstance(value, dtype) else from_numpy_dtype(value)


def write_out(result: Any, out: Any) -> Any:
    """Writes a result into `out`, a tensor or an array; tuples item by item."""
    if isinstance(out, tuple):
        results = result if isinstance(result, tuple) else (result,)
        written = tuple([value if target is None else write_out(value, target) for value, target in zip(results, out)])
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
    map_nested([args, kwargs], lambda x: sent.append(x) if isinstance(x, Tensor) else None)
    names = tuple([t.dtype.name for t in sent])
    fallback.admit(errors.no_counterpart(f"numpy.{name}", names))
    received: list[Tensor] = []

    def returned(value: Any) -> Any:
        is_number = isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in _NUMBERS
        if not is_number or isinstance(value, np.bool_):
            return bool(value) if isinstance(value, np.bool_) else value
        received.append(upload_array(np.asarray(value), like.device))
        return received[-1]

    result = map_nested(call(*map_nested(args, _read), **map_nested(kwargs, _read)), returned)
    is_separate = not like._storage.backend.host_shared
    nbytes = [sum(t.nbytes for t in tensors) * is_separate for tensors in (sent, received)]
    copies = (len(sent) + len(received)) * is_separate
    fallback.count(f"numpy.{name}", ", ".join(names), "host", copies, *nbytes)
    return result


def _read(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    array = to_array(value).view()
    array.flags.writeable = False
    return array
