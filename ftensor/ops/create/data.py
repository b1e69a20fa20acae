"""Tensors made of data: numbers, nested sequences, arrays, other tensors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import dtypes, errors
from ..._device import backend_of
from ..._tensor import Tensor
from ...dtypes import dtype, from_numpy_dtype, promote_types, scalar_dtype
from ...dtypes.limits import iinfo, to_storage
from ...errors import creation as errors_creation
from ...execute.indexed import record_array_bounds
from ...execute.output import new
from ...execute.pointwise import convert
from ...iterator.shape import contiguous_strides, numel
from ...rows.catalogue import op
from .factory import Options, factory

if TYPE_CHECKING:
    from ..._device import DeviceLike, device


Flattened = tuple[tuple[int, ...], list[Any], dtype]

_NUMBERS = {bool, int, float, complex}
_SEQUENCES = {list, tuple}
# torch reads no deeper data. The limit ends the reading of a list that contains itself.
MAX_DIMS = 128
# More numbers than any host can hold: a list that contains the same list many times fails at once.
MAX_NUMBERS = 2**36


def flattened(data: Any) -> Flattened | None:
    """Returns (shape, numbers, dtype) of plain Python data; None for data that needs the slow path.

    Each level of nesting is checked at once, so long lists are read at the speed of C.
    """
    shape = _first_shape(data)
    level: list[Any] = [data]
    for size in (*shape, None):
        types = set(map(type, level))
        if types <= _NUMBERS:
            return (shape, level, _dtype_of(types)) if level else None
        if not types <= _SEQUENCES:
            return None
        lengths = set(map(len, level))
        if lengths != {size}:
            return None
        if not size:
            return shape, [], dtypes.get_default_dtype()
        level = list(chain.from_iterable(level))
    return None


def _first_shape(data: Any) -> tuple[int, ...]:
    """Returns the shape that the first element of each level implies. Raises ValueError for a shape
    that is impossible."""
    shape: list[int] = []
    while type(data) in _SEQUENCES:
        shape.append(len(data))
        _check_shape(shape, data)
        if not shape[-1]:
            break
        data = data[0]
    return tuple(shape)


def _check_shape(shape: Sequence[int], data: Any) -> None:
    if len(shape) > MAX_DIMS:
        raise errors_creation.too_deep(data, MAX_DIMS)
    if numel([n for n in shape if n]) > MAX_NUMBERS:
        raise errors_creation.too_many_numbers(shape)


def _dtype_of(types: set[type]) -> dtype:
    if complex in types:
        return dtypes.get_default_dtype().to_complex()
    if float in types:
        return dtypes.get_default_dtype()
    return dtypes.int64 if int in types else dtypes.bool


def parse_data(data: Any, requested: dtype | None) -> Flattened:
    """Returns (shape, numbers, dtype) of any data that torch accepts; raises torch's exceptions for
    others.

    The first elements determine the depth and the length of each level. The dtype is inferred
    before all other elements are checked against that shape. `requested`, if given, is the dtype.
    """
    shape = _shape(data)
    inferred = requested or _infer_dtype(data)
    values: list[Any] = []
    if numel(shape):
        _collect(data, shape, 0, values)
    return shape, values, inferred


def _is_sequence(data: Any) -> bool:
    if isinstance(data, (Tensor, str, bytes, dict, np.generic)):
        return False
    return hasattr(type(data), "__getitem__") and hasattr(type(data), "__len__")


def _shape(data: Any) -> tuple[int, ...]:
    shape: tuple[int, ...] = ()
    nested = False
    while _is_sequence(data):
        shape += (len(data),)
        _check_shape(shape, data)
        if hasattr(type(data), "to_numpy") and hasattr(data, "columns"):
            raise errors_creation.table_in_data(data)
        if not shape[-1]:
            break
        data, nested = _first(data), True
    if isinstance(data, (str, bytes)):
        raise (errors_creation.nested_text if nested else errors_creation.text_in_data)(data)
    return shape


def _first(data: Any) -> Any:
    try:
        return data[0]
    except (IndexError, KeyError) as error:
        raise errors_creation.wrong_length(data, len(data), 0, ValueError) from error


def _infer_dtype(data: Any, depth: int = 0) -> dtype:
    if isinstance(data, (str, bytes)):
        raise errors_creation.text_in_data(data)
    if isinstance(data, Tensor):
        return data._dtype
    if isinstance(data, (np.ndarray, np.generic)):
        return from_numpy_dtype(data.dtype)
    if isinstance(data, (bool, int, float, complex)):
        return scalar_dtype(data)
    if not _is_sequence(data):
        raise errors_creation.no_dtype_for(data)
    if not len(data):
        return dtypes.get_default_dtype()
    if depth >= MAX_DIMS:
        raise errors_creation.holds_itself(data, MAX_DIMS)
    promoted: dtype | None = None
    for item in items(data):
        item_dtype = _infer_dtype(item, depth + 1)
        promoted = item_dtype if promoted is None else promote_types(promoted, item_dtype)
    assert promoted is not None
    return promoted


def items(data: Any) -> Sequence[Any]:
    """Returns the items of a sequence, exactly `len(data)` of them: a sequence may yield more than
    its length."""
    if type(data) in _SEQUENCES:
        return data
    values = list(islice(data, len(data) + 1))
    if len(values) != len(data):
        raise errors_creation.wrong_length(data, len(data), len(values))
    return values


def _collect(data: Any, shape: tuple[int, ...], dim: int, values: list[Any]) -> None:
    if dim == len(shape):
        values.append(_number(data))
        return
    if not _is_sequence(data):
        raise errors_creation.number_in_place_of_sequence(data, dim)
    if len(data) != shape[dim]:
        raise errors_creation.ragged(shape[dim], len(data), dim)
    for item in data.tolist() if isinstance(data, np.ndarray) else items(data):
        _collect(item, shape, dim + 1, values)


def _number(data: Any) -> Any:
    """Returns an element as a Python number, or as an object that float() or int() accepts."""
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise errors_creation.sequence_in_place_of_number(data)
        return data.item()
    if isinstance(data, np.generic):
        return data.item()
    if _is_sequence(data):
        raise errors_creation.sequence_in_place_of_number(data)
    if isinstance(data, (bool, int, float, complex)):
        return data
    return float(data)  # Python's TypeError if it is no number


def to_storage_array(values: list[Any], target_dtype: dtype) -> np.ndarray[Any, Any]:
    """Returns numbers as an array of the storage dtype of `target_dtype`.

    Raises RuntimeError for integers and floats that an integer dtype can't hold, as torch does. A
    float beyond a floating-point dtype's range becomes infinite. Raises TypeError for complex
    numbers in a real dtype.
    """
    kind = target_dtype.kind
    if kind == "b":
        return np.array([bool(v) for v in values], np.bool_)
    if kind == "c":
        return to_storage(np.array(values, np.complex128), target_dtype)
    for value in values:
        if isinstance(value, complex):
            raise errors_creation.complex_to_real(value, target_dtype)
    if kind == "f":
        return to_storage(np.array(values, np.float64), target_dtype)
    return _integers(values, target_dtype)


def _integers(values: list[Any], target_dtype: dtype) -> np.ndarray[Any, Any]:
    if target_dtype is dtypes.uint64:
        return _uint64(values)
    if any(isinstance(v, float) for v in values):
        values = [_to_integer(v, target_dtype) for v in values]
    try:
        array = np.array(values, np.int64)
    except OverflowError:
        largest = int(max(values, key=abs))
        shown = largest if abs(largest) < 1 << 128 else f"an integer of {largest.bit_length()} bits"
        raise errors_creation.integer_too_large(shown) from None
    if target_dtype.itemsize < 8 and array.size:
        limits = iinfo(target_dtype)
        low, high = int(array.min()), int(array.max())
        if low < (limits.min or -limits.max) or high > limits.max:
            raise errors_creation.value_overflow(high if high > limits.max else low, target_dtype)
    return array.astype(target_dtype.numpy, copy=False)


def _uint64(values: list[Any]) -> np.ndarray[Any, Any]:
    """Converts numbers to uint64 with torch's rule: integers only, none of them negative."""
    for value in values:
        if isinstance(value, float):
            raise errors_creation.not_whole(value)
        if not 0 <= value < 1 << 64:
            raise errors_creation.not_unsigned(value)
    return np.array(values, np.uint64)


def _to_integer(value: Any, target_dtype: dtype) -> int:
    """Returns a number of the data without its fraction. A float out of the dtype's range raises
    RuntimeError instead of wrapping around."""
    if isinstance(value, float):
        low = 0.0 if target_dtype.kind == "u" else -(2.0**63)
        if not low <= value < 2.0**63:  # false for NaN too
            raise errors_creation.value_overflow(value, target_dtype)
    return int(value)


def upload(array: np.ndarray[Any, Any], target_dtype: dtype, target_device: device) -> Tensor:
    """Copies an array of `target_dtype`'s storage dtype into a fresh tensor with the array's memory
    layout."""
    from ...interop import host

    backend = backend_of(target_device)
    if target_dtype.name in ("float64", "complex128") and not backend.properties.has_float64:
        raise errors.no_float64(target_dtype, backend.properties.name)
    size = target_dtype.itemsize
    if any(s % size for s in array.strides):
        array = array.copy()
    strides = tuple([s // size for s in array.strides])
    if not array.size:
        return host.empty(backend, target_device, target_dtype, array.shape, strides)
    address = array.__array_interface__["data"][0]
    result = host.copy_from_address(backend, target_device, address, target_dtype, array.shape, strides, array)
    return record_array_bounds(result, array)


def tensor_of(data: Any, target_dtype: dtype | None, target_device: device) -> Tensor:
    """Returns a fresh tensor with the values of `data`, of dtype `target_dtype` or else of the
    data's own dtype."""
    if isinstance(data, np.ndarray):
        if data.size and min(data.strides, default=0) < 0:
            raise errors.negative_strides(data.strides)
        array_dtype = dtypes.from_numpy_dtype(data.dtype)
        if target_dtype is dtypes.float64 and data.dtype == np.float32:
            data, array_dtype = data.astype(np.float64), dtypes.float64
        result = upload(data, array_dtype, target_device)
        return (
            result
            if target_dtype in (None, array_dtype)
            else convert(result, target_dtype or array_dtype, target_device)
        )
    if isinstance(data, Tensor):
        return convert(data, target_dtype or data._dtype, target_device, copy=True)
    if hasattr(data, "__dlpack__") and hasattr(data, "__dlpack_device__"):
        from ...interop.dlpack import from_dlpack

        foreign = from_dlpack(data, device=target_device, copy=True)
        return convert(foreign, target_dtype or foreign._dtype, target_device)
    flat = flattened(data)
    if flat is None:
        shape, values, inferred = parse_data(data, target_dtype)
    else:
        shape, values, inferred = flat
    target_dtype = target_dtype or inferred
    if not values:
        return new(shape, target_dtype, target_device)
    result = upload(to_storage_array(values, target_dtype), target_dtype, target_device)
    return result._view(shape, contiguous_strides(shape), 0)


@factory(method=False, without=("layout",))
def tensor(options: Options, data: Any) -> Tensor:
    """Copies numbers, nested sequences or an array into a new tensor. Without `dtype` an array
    keeps its dtype; Python's bools, ints, floats and complex numbers become bool, int64, the
    default dtype and its complex counterpart. Raises ValueError for sequences of unequal length,
    RuntimeError for numbers that the dtype can't hold."""
    target_device = options.device
    if isinstance(data, Tensor):
        warnings.warn(errors_creation.copied_tensor("tensor"), stacklevel=2)
        target_device = data._storage.device if options.given_device is None else target_device
    return tensor_of(data, options.dtype, target_device)


@op(method=False)
def as_tensor(data: Any, dtype: dtype | None = None, device: DeviceLike | None = None) -> Tensor:
    """Like `tensor`, but returns a tensor itself if it has the dtype and the device already. An
    array's memory is shared if the device computes in host memory and the dtype stays."""
    if isinstance(data, Tensor):
        options = Options("as_tensor", dtype, device=device, default=data._storage.device)
        return convert(data, options.dtype or data._dtype, options.device)
    options = Options("as_tensor", dtype, device=device)
    target_dtype, target_device = options.dtype, options.device
    if isinstance(data, np.ndarray) and target_dtype in (None, dtypes.from_numpy_dtype(data.dtype)):
        from ...interop.host import from_numpy

        return from_numpy(data, device=target_device)
    return tensor_of(data, target_dtype, target_device)


@op(method=False)
def asarray(
    obj: Any,
    *,
    dtype: dtype | None = None,
    device: DeviceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Converts a tensor, an array, a DLPack producer, a buffer, or numbers and sequences to a
    tensor. With `copy` None memory is shared where possible, True always copies, False raises
    ValueError instead of copying. A buffer of bytes is read as elements of `dtype`."""
    source_device = obj._storage.device if isinstance(obj, Tensor) else None
    options = Options("asarray", dtype, device=device, requires_grad=requires_grad, default=source_device)
    target_dtype, target_device = options.dtype, options.device
    result: Tensor | None = None
    if isinstance(obj, Tensor):
        result = obj
    elif isinstance(obj, np.ndarray):
        from ...interop.host import from_numpy

        result = tensor_of(obj, None, target_device) if copy else from_numpy(obj, device=target_device)
    elif hasattr(obj, "__dlpack__"):
        from ...interop.dlpack import from_dlpack

        result = from_dlpack(obj, device=target_device, copy=copy or None)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        result = frombuffer(obj, dtype=target_dtype or dtypes.get_default_dtype(), device=target_device)
    if result is None:
        if copy is False:
            raise errors_creation.cannot_alias(f"a {type(obj).__name__}")
        return tensor_of(obj, target_dtype, target_device)
    changed = target_dtype not in (None, result._dtype) or result._storage.device is not target_device
    if copy is False and changed:
        raise errors_creation.cannot_alias(f"{result._dtype} on {result._storage.device}")
    return convert(result, target_dtype or result._dtype, target_device, bool(copy) and result is obj)


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
    """Returns a 1-d tensor over the memory of a Python buffer, starting at byte `offset`. The
    memory is shared if the device computes in host memory. Raises ValueError if the buffer doesn't
    hold whole elements."""
    options = Options("frombuffer", dtype, device=device, requires_grad=requires_grad)
    element, target_device = options.dtype, options.device
    if element is None:
        raise errors.missing_argument("frombuffer", "dtype")
    view = memoryview(buffer).cast("B")
    if not view.nbytes or not count:
        raise errors_creation.buffer_length("the buffer and the count must not be empty")
    if not 0 <= offset < view.nbytes:
        raise errors_creation.buffer_length(f"offset {offset} is not in {view.nbytes} bytes")
    left = view.nbytes - offset
    if count < 0 and left % element.itemsize:
        raise errors_creation.buffer_length(f"{left} bytes are no whole elements of {element}")
    if count > 0 and count * element.itemsize > left:
        raise errors_creation.buffer_length(f"{left} bytes hold fewer than {count} of {element}")
    from ...interop.host import import_memory

    array: np.ndarray[Any, Any] = np.frombuffer(view, element.numpy, count, offset)
    address = array.__array_interface__["data"][0]
    readonly = not array.flags.writeable
    return import_memory(target_device, address, element, array.shape, (1,), array, readonly=readonly)
