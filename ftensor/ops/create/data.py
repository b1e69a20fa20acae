"""Tensors made of data: numbers, nested sequences, arrays, other tensors. One upload each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes, errors
from ..._device import backend_of
from ..._tensor import Tensor
from ...dtypes import dtype
from ...dtypes.encoding import narrowed
from ...dtypes.limits import iinfo
from ...errors import creation as errors_creation
from ...execute.copy import converted
from ...execute.index_check import know_bounds_of
from ...execute.memory import new
from ...iterator.stride import contiguous_strides
from ...rows.catalogue import op
from .factory import Options, factory
from .nested import described, flattened

if TYPE_CHECKING:
    from ..._device import DeviceLike, device


def stored(values: list[Any], of: dtype) -> np.ndarray[Any, Any]:
    """Numbers as an array of a dtype's storage.

    Integers and floats that an integer dtype can't hold are RuntimeErrors, as in torch; too
    large floats become infinite. TypeError for complex numbers in a real dtype.
    """
    kind = of.kind
    if kind == "b":
        return np.array([bool(v) for v in values], np.bool_)
    if kind == "c":
        return narrowed(np.array(values, np.complex128), of)
    for value in values:
        if isinstance(value, complex):
            raise errors_creation.complex_to_real(value, of)
    if kind == "f":
        return narrowed(np.array(values, np.float64), of)
    return _integers(values, of)


def _integers(values: list[Any], of: dtype) -> np.ndarray[Any, Any]:
    if of is dtypes.uint64:
        return _uint64(values)
    if any(isinstance(v, float) for v in values):
        values = [_whole(v, of) for v in values]
    try:
        array = np.array(values, np.int64)
    except OverflowError:
        raise errors_creation.integer_too_large() from None
    if of.itemsize < 8 and array.size:
        limits = iinfo(of)
        low, high = int(array.min()), int(array.max())
        if low < (limits.min or -limits.max) or high > limits.max:
            raise errors_creation.value_overflow(high if high > limits.max else low, of)
    return array.astype(of.numpy, copy=False)


def _uint64(values: list[Any]) -> np.ndarray[Any, Any]:
    """As torch takes them: whole numbers only, none of them negative."""
    for value in values:
        if isinstance(value, float):
            raise errors_creation.not_whole(value)
        if not 0 <= value < 1 << 64:
            raise errors_creation.not_unsigned(value)
    return np.array(values, np.uint64)


def _whole(value: Any, of: dtype) -> int:
    """A number in the data without its fraction; as a float it may not wrap."""
    if isinstance(value, float):
        low = 0.0 if of.kind == "u" else -(2.0**63)
        if not low <= value < 2.0**63:  # NaN, too
            raise errors_creation.value_overflow(value, of)
    return int(value)


def uploaded(array: np.ndarray[Any, Any], of: dtype, where: device) -> Tensor:
    """The elements of an array of `of`'s storage in a fresh tensor, which keeps its layout."""
    from ...interop import host

    backend = backend_of(where)
    if of.name in ("float64", "complex128") and not backend.properties.has_float64:
        raise errors.no_float64(of, backend.properties.name)
    size = of.itemsize
    if any(s % size for s in array.strides):
        array = array.copy()
    strides = tuple([s // size for s in array.strides])
    if not array.size:
        return host.empty(backend, where, of, array.shape, strides)
    address = array.__array_interface__["data"][0]
    result = host.copied(backend, where, address, of, array.shape, strides, array)
    return know_bounds_of(result, array)


def tensor_of(data: Any, of: dtype | None, where: device) -> Tensor:
    """A fresh tensor with the data's values, of dtype `of`, or else the one the data has."""
    if isinstance(data, np.ndarray):
        if data.size and min(data.strides, default=0) < 0:
            raise errors.negative_strides(data.strides)
        own = dtypes.from_numpy_dtype(data.dtype)
        if of is dtypes.float64 and data.dtype == np.float32:
            data, own = data.astype(np.float64), dtypes.float64
        result = uploaded(data, own, where)
        return result if of in (None, own) else converted(result, of or own, where)
    if isinstance(data, Tensor):
        return converted(data, of or data._dtype, where, copy=True)
    if hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__"):
        from ...interop.dlpack import from_dlpack

        foreign = from_dlpack(data, device=where, copy=True)
        return converted(foreign, of or foreign._dtype, where)
    flat = flattened(data)
    if flat is None:
        shape, values, inferred = described(data, of)
    else:
        shape, values, inferred = flat
    of = of or inferred
    if not values:
        return new(shape, of, where)
    result = uploaded(stored(values, of), of, where)
    return result._view(shape, contiguous_strides(shape), 0)


@factory(method=False, without=("layout",))
def tensor(options: Options, data: Any) -> Tensor:
    """A tensor with the values of numbers, nested sequences or an array, which are copied. Without
    `dtype` an array keeps its own; Python's bools, ints, floats and complex numbers become bool,
    int64, the default dtype and its complex counterpart. ValueError for sequences of unequal
    length, RuntimeError for numbers that the dtype can't hold.
    """
    where = options.device
    if isinstance(data, Tensor):
        errors_creation.warn_copied_tensor("tensor")
        where = data._storage.device if options.given_device is None else where
    return tensor_of(data, options.dtype, where)


@op(method=False)
def as_tensor(data: Any, dtype: dtype | None = None, device: DeviceLike | None = None) -> Tensor:
    """As `tensor`, but a tensor that has the dtype and device already is returned itself, and an
    array's memory is shared where the device computes in host memory and the dtype stays.
    """
    if isinstance(data, Tensor):
        options = Options("as_tensor", dtype, device=device, default=data._storage.device)
        return converted(data, options.dtype or data._dtype, options.device)
    options = Options("as_tensor", dtype, device=device)
    of, where = options.dtype, options.device
    if isinstance(data, np.ndarray) and of in (None, dtypes.from_numpy_dtype(data.dtype)):
        from ...interop.numpy import from_numpy

        return from_numpy(data, device=where)
    return tensor_of(data, of, where)


@op(method=False)
def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of a tensor, an array, a DLPack producer, a buffer, or numbers and sequences. `copy`
    is None to share memory where possible, True to copy, False to raise ValueError rather than
    copy. A buffer of bytes is read as elements of `dtype`.
    """
    own = obj._storage.device if isinstance(obj, Tensor) else None
    options = Options("asarray", dtype, device=device, requires_grad=requires_grad, default=own)
    of, where = options.dtype, options.device
    shared: Tensor | None = None
    if isinstance(obj, Tensor):
        shared = obj
    elif isinstance(obj, np.ndarray):
        from ...interop.numpy import from_numpy

        shared = tensor_of(obj, None, where) if copy else from_numpy(obj, device=where)
    elif hasattr(obj, "__dlpack__"):
        from ...interop.dlpack import from_dlpack

        shared = from_dlpack(obj, device=where, copy=copy or None)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        shared = frombuffer(obj, dtype=of or dtypes.get_default_dtype(), device=where)
    if shared is None:
        if copy is False:
            raise errors_creation.cannot_alias(f"a {type(obj).__name__}")
        return tensor_of(obj, of, where)
    changed = of not in (None, shared._dtype) or shared._storage.device is not where
    if copy is False and changed:
        raise errors_creation.cannot_alias(f"{shared._dtype} on {shared._storage.device}")
    return converted(shared, of or shared._dtype, where, bool(copy) and shared is obj)


@op(method=False)
def frombuffer(
    buffer: Any,
    *,
    dtype: dtype,
    count: int = -1,
    offset: int = 0,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A 1-d tensor over the memory of a Python buffer, from byte `offset` on; shared where the
    device computes in host memory. ValueError where the buffer does not hold whole elements.
    """
    options = Options("frombuffer", dtype, device=device, requires_grad=requires_grad)
    of, where = options.dtype, options.device
    if of is None:
        raise errors.missing_argument("frombuffer", "dtype")
    view = memoryview(buffer).cast("B")
    if not view.nbytes or not count:
        raise errors_creation.buffer_length("the buffer and the count must not be empty")
    if not 0 <= offset < view.nbytes:
        raise errors_creation.buffer_length(f"offset {offset} is not in {view.nbytes} bytes")
    left = view.nbytes - offset
    if count < 0 and left % of.itemsize:
        raise errors_creation.buffer_length(f"{left} bytes are no whole elements of {of}")
    if count > 0 and count * of.itemsize > left:
        raise errors_creation.buffer_length(f"{left} bytes hold fewer than {count} of {of}")
    from ...interop.host import imported

    array: np.ndarray[Any, Any] = np.frombuffer(view, of.numpy, count, offset)
    address = array.__array_interface__["data"][0]
    readonly = not array.flags.writeable
    return imported(where, address, of, array.shape, (1,), array, readonly=readonly)
