"""What a call passes to a user's kernel, checked before anything is launched."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dtypes
from .._tensor import Tensor
from ..dtypes.limits import floating_limits, integer_limits
from ..errors import own as errors
from ..iterator.stride import is_contiguous
from ..kernels.own import DTYPES, OwnArgument, OwnKey, shown

if TYPE_CHECKING:
    from .._device import device

# The two numbers that a complex one is in memory.
_PAIRS = {dtypes.complex32: dtypes.float16, dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}


def checked(
    key: OwnKey, args: Sequence[Any], where: device, begins: int, called: str
) -> tuple[list[Tensor], list[Any]]:
    """The tensors and the numbers of a call, as the kernel takes them.

    TypeError for a wrong count, type or dtype, ValueError for a layout or a number that the kernel
    can't take, RuntimeError for another device and for memory that must not be written. Tensors
    begin at multiples of `begins` bytes, or with their memory (0); the device is `called` so.
    """
    taken = [a for a in key.arguments if a.kind != "stream"]
    if len(args) != len(taken):
        raise errors.argument_count(key.name, len(taken), len(args), shown(key.name, taken))
    tensors, numbers = [], []
    for a, argument in zip(taken, args):
        if a.kind == "*":
            tensors.append(_tensor(key.name, a, argument, where, begins, called))
        else:
            numbers.append(_number(key.name, a, argument))
    return tensors, numbers


def _tensor(kernel: str, a: OwnArgument, x: Any, where: device, begins: int, called: str) -> Tensor:
    if type(x) is not Tensor:
        way = ": ft.from_numpy makes one" if isinstance(x, np.ndarray) else ""
        raise errors.not_a_tensor(kernel, a.name, a.c, x, way)
    storage = x._storage
    if storage.device != where:
        raise errors.wrong_device(kernel, str(where), a.name, storage.device)
    pairs = a.dtype is not None and a.nbytes == 2 * a.dtype.itemsize and _PAIRS.get(x._dtype) is a.dtype
    if a.dtype is not None and x._dtype is not a.dtype and not pairs:
        if x._dtype.is_complex and not a.dtype.is_complex:
            raise errors.complex_for_real(kernel, a.name, a.c, a.dtype.name, x._dtype.name)
        raise errors.wrong_dtype(kernel, a.name, a.c, a.dtype.name, x._dtype.name)
    if not is_contiguous(x._shape, x._strides):
        raise errors.not_contiguous(kernel, a.name, x._shape, x._strides)
    if a.nbytes and x.nbytes % a.nbytes:
        raise errors.part_of_element(kernel, a.name, a.c, a.nbytes, x.nbytes)
    start = x._offset * x._dtype.itemsize
    beat = min(a.nbytes & -a.nbytes, 64)  # what C++ aligns a vector to
    x._start_is_read(begins and max(begins, beat))
    if start and (not begins or start % begins):
        places = f"at multiples of {begins} bytes" if begins else "with it"
        raise errors.misplaced(kernel, a.name, start, called, places)
    if beat > (a.dtype or x._dtype).itemsize and x._place() % beat:
        raise errors.misplaced(kernel, a.name, x._place(), called, f"at multiples of {beat} bytes")
    if not a.const:
        if storage.readonly:
            raise errors.read_only(kernel, a.name, a.c)
        storage.changed()
    if a.dtype is None:  # a launch counts in elements, and the kernel knows bytes
        return Tensor._make(storage, dtypes.uint8, (x.nbytes,), (1,), start)
    if pairs:  # float2 *: a complex number is one
        return Tensor._make(storage, a.dtype, (2 * x.numel(),), (1,), 2 * x._offset)
    return x


def _number(kernel: str, a: OwnArgument, x: Any) -> Any:
    of = dtypes.int64 if a.kind == "local" else DTYPES[a.kind]
    wanted = {"b": "True or False", "f": "a number"}.get(of.kind, "an integer")
    if a.kind == "local":
        wanted = "the bytes of a work-group's memory"
    way = ": pass its .item()" if isinstance(x, Tensor) else ""
    try:
        is_number = hasattr(type(x), "__float__") or hasattr(type(x), "__index__")  # `float` reads texts, too
        if way or isinstance(x, (np.ndarray, np.complexfloating)) or not is_number:
            raise TypeError
        value = float(x) if of.kind == "f" else operator.index(bool(x) if isinstance(x, np.bool_) else x)
    except (TypeError, ValueError, OverflowError):
        raise errors.not_a_number(kernel, a.name, a.c, wanted, x, way) from None
    low: float
    high: float
    if of.kind == "b":
        low, high = 0, 1
    elif a.kind == "local":
        low, high = 1, integer_limits(of).max
    elif of.kind == "f":
        low, high = floating_limits(of).min, floating_limits(of).max
        if value != value or abs(value) == float("inf"):
            return value
    else:
        low, high = integer_limits(of).min, integer_limits(of).max
    if not low <= value <= high:
        raise errors.number_range(kernel, a.name, a.c, x, low, high)
    return value
