"""Ops that NumPy computes on every device, since no kernel does; what travels is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import errors
from .._device import backend_of
from .._tensor import Tensor
from ..dtypes import from_numpy_dtype
from ..runtime import fallback
from .memory import new


def by_numpy(op: str, function: Callable[..., Any], inputs: Sequence[Tensor], *args: Any) -> tuple[Tensor, ...]:
    """The arrays that `function(*arrays, *args)` gives, as tensors on the inputs' device.

    Where that is a device without a compiler the call is one that falls back: it obeys
    `set_fallback`. On each device with memory of its own it is in `fallback_report`. RuntimeError
    for inputs of several devices; errors of `function` are its caller's affair.
    """
    where, backend = inputs[0]._storage.device, inputs[0]._storage.backend
    if any(t._storage.device is not where for t in inputs):
        raise errors.different_devices(op, [t.device for t in inputs])
    names = tuple(t._dtype.name for t in inputs)
    if backend.noted is not None:  # kernels are only asked for, and this asks for none
        raise errors.never_built(op, names)
    if backend.images is not None:
        fallback.admit(errors.never_built(op, names))
    values = function(*[_array(t) for t in inputs], *args)
    arrays = [np.asarray(a) for a in (values if isinstance(values, tuple) else (values,))]
    results = tuple([uploaded(a, where) for a in arrays])
    if backend.images is not None or not backend.host_shared:
        sent, back = sum(t.nbytes for t in inputs), sum(a.nbytes for a in arrays)
        copies = len(inputs) + len(arrays)
        fallback.count(op, ", ".join(names), "host", copies, sent, back)
    return results


def _array(t: Tensor) -> np.ndarray[Any, Any]:
    """A tensor's elements in its shape."""
    t._storage.backend.pool.ask(t.nbytes)  # NumPy makes arrays of its own
    values = t._host_values()
    return values if values.size else values.reshape(t._shape)


def uploaded(array: np.ndarray[Any, Any], where: Any) -> Tensor:
    """A contiguous tensor of an array's values."""
    tensor = new(array.shape, from_numpy_dtype(array.dtype), where)
    if array.size:
        backend_of(where).upload(tensor._storage, 0, np.ascontiguousarray(array))
    return tensor
