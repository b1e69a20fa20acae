"""Tensor: a view of a storage with shape, strides, offset and dtype. No arithmetic here."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from . import errors
from .dtypes import dtype
from .dtypes.limits import to_computable
from .formats import Size, channels_last, channels_last_3d, contiguous_format, layout, memory_format, strided
from .iterator.shape import channels_last_strides, extent, is_contiguous, normalize_dim, numel
from .runtime.backend import host_bytes

if TYPE_CHECKING:
    from ._device import device
    from ._methods import Methods
    from .runtime.pool import Storage
else:
    Methods = object  # the catalogue (ops/bind.py) and `method` below add methods

Ints = tuple[int, ...]


# A geometry (shape, strides, dtype) has an int key, so that a launch is found by hashing a few
# ints. Keys are never reused. The table is cleared when it reaches its limit.
_GEOMETRIES: dict[tuple[Ints, Ints, dtype], int] = {}
_MAX_GEOMETRIES = 1 << 16
# The limit of NumPy 1. A tensor with more dims is read without its dims of size 1.
MAX_NUMPY_DIMS = 32
_next_key = count(1).__next__


class Watcher(Protocol):
    """An observer of the geometry of the tensors over a storage."""

    def reshaped(self) -> None:
        """Called before a tensor over the storage gets another geometry or storage."""


watchers: WeakKeyDictionary[Storage, WeakSet[Watcher]] = WeakKeyDictionary()


def geometry_key(shape: Ints, strides: Ints, d: dtype) -> int:
    """Returns the int key of a geometry."""
    key = _GEOMETRIES.get((shape, strides, d))
    if key is None:
        if len(_GEOMETRIES) >= _MAX_GEOMETRIES:
            _GEOMETRIES.clear()
        key = _GEOMETRIES.setdefault((shape, strides, d), _next_key())
    return key


class Tensor(Methods):
    """An n-dimensional array in a device buffer, with torch's semantics.

    Tensors are created by `ft.tensor`, `ft.zeros`, `ft.from_torch` and other functions, not by
    calling the class.
    """

    __slots__ = ("_storage", "_dtype", "_shape", "_strides", "_offset", "_key", "__weakref__")
    _storage: Storage
    _dtype: dtype
    _shape: Ints
    _strides: Ints
    _offset: int
    _key: int

    # NumPy defers to this class in mixed operators.
    __array_priority__ = 1000

    @classmethod
    def _make(cls, storage: Storage, d: dtype, shape: Ints, strides: Ints, offset: int = 0) -> Tensor:
        """Returns a tensor over a storage; `offset` and `strides` in elements."""
        self = object.__new__(Tensor)
        self._storage = storage
        self._dtype = d
        self._shape = shape
        self._strides = strides
        self._offset = offset
        self._key = geometry_key(shape, strides, d)
        return self

    def _view(self, shape: Ints, strides: Ints, offset: int) -> Tensor:
        return Tensor._make(self._storage, self._dtype, tuple(shape), tuple(strides), offset)

    def _place(self) -> int:
        """Returns the bytes from the last 64-byte boundary to the first element."""
        return (self._storage.misalignment + self._offset * self._dtype.itemsize) % 64

    def _become(self, other: Tensor) -> Tensor:
        """Takes over another tensor's storage and geometry (resize_, in-place transposes)."""
        storage = self._storage
        if (storage, self._offset, self._key) != (other._storage, other._offset, other._key):
            if storage.backend.executor is not None:
                storage.backend.executor.reshaped(self)
            for watcher in tuple(watchers.get(storage, ())):
                watcher.reshaped()
        for name in ("_storage", "_dtype", "_shape", "_strides", "_offset", "_key"):
            setattr(self, name, getattr(other, name))
        return self

    @property
    def shape(self) -> Size:
        """The size of each dim."""
        return Size(self._shape)

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Any:
        """Returns the shape, or the size of one dim."""
        return Size(self._shape) if dim is None else self._shape[normalize_dim(dim, self.ndim)]

    @property
    def strides(self) -> Ints:
        """The distance in elements between neighbours, for each dim."""
        return self._strides

    @overload
    def stride(self, dim: None = None) -> Ints: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> Any:
        """Returns the strides in elements, or that of one dim."""
        return self._strides if dim is None else self._strides[normalize_dim(dim, self.ndim)]

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self._shape)

    def dim(self) -> int:
        """Returns the number of dims."""
        return len(self._shape)

    def ndimension(self) -> int:
        """The number of dims; alias of `dim`."""
        return len(self._shape)

    def numel(self) -> int:
        """Returns the number of elements."""
        return numel(self._shape)

    def nelement(self) -> int:
        """The number of elements; alias of `numel`."""
        return numel(self._shape)

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return self._dtype

    @property
    def device(self) -> device:
        """The device of the storage."""
        return self._storage.device

    def get_device(self) -> int:
        """Returns the device's index; -1 for the host, as in torch."""
        return -1 if self.device.type == "cpu" else self.device.index or 0

    @property
    def layout(self) -> layout:
        """`ftensor.strided`."""
        return strided

    def storage_offset(self) -> int:
        """Returns the elements between the storage's start and this tensor's first element."""
        self._start_is_read()
        return self._offset

    def _start_is_read(self, multiple: int = 0) -> None:
        """Reports to the executor that a computation depends on the tensor's start.

        The computation depends on the start modulo `multiple` bytes; with 0, on the exact start and
        the size of the storage. A graph that is being traced then adds a guard.
        """
        executor = self._storage.backend.executor
        if executor is not None:
            executor.start_read(self, multiple)

    def element_size(self) -> int:
        """Returns the bytes of one element."""
        return self._dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel() * self._dtype.itemsize

    def data_ptr(self) -> int:
        """Returns the address of the first element if the device has the host's memory, else 0."""
        if self._storage.backend.executor is not None:
            self._storage.backend.executor.read(self._storage)
        base = self._storage.ptr
        self._storage.expose()  # the caller may write to the address
        return 0 if base is None or not self.numel() else base + self._offset * self.itemsize

    def is_contiguous(self, memory_format: memory_format = contiguous_format) -> bool:
        """True if the elements are contiguous in the order of the dims (or in channels-last
        order).
        """
        if memory_format in (channels_last, channels_last_3d):
            wanted = 4 if memory_format is channels_last else 5
            if self.ndim != wanted:
                return False
            expected = channels_last_strides(self._shape)
            return all(n == 1 or s == e for n, s, e in zip(self._shape, self._strides, expected))
        return is_contiguous(self._shape, self._strides)

    def is_floating_point(self) -> bool:
        """True if the dtype is a real floating-point dtype."""
        return self._dtype.is_floating_point

    def is_complex(self) -> bool:
        """True if the dtype is complex."""
        return self._dtype.is_complex

    def is_signed(self) -> bool:
        """True if the dtype has negative numbers."""
        return self._dtype.is_signed

    def is_conj(self) -> bool:
        """Returns False: ftensor's conj computes at once (ftensor docs differences)."""
        return False

    def is_neg(self) -> bool:
        """False: ftensor negates at once."""
        return False

    def is_inference(self) -> bool:
        """False: ftensor has no inference tensors."""
        return False

    @property
    def requires_grad(self) -> bool:
        """False: ftensor has no autograd of its own."""
        return False

    # Reading values on the host

    def _host(self) -> np.ndarray[Any, Any]:
        """Waits for the device and returns the elements as an array of dtype `dtype.numpy`.

        The array is a view of device memory if the host shares it, else a copy. It does not keep
        the storage alive, so the caller must read it at once. It is 1-d if there are no elements,
        and lacks dims of size 1 if there are more dims than NumPy allows.
        """
        d, storage = self._dtype, self._storage
        if storage.backend.executor is not None:
            storage.backend.executor.read(storage)
        if not self.numel():
            return np.empty(0, d.numpy)
        low, high = extent(self._shape, self._strides)
        first = (self._offset + low) * d.itemsize
        nbytes = (high - low + 1) * d.itemsize
        if storage.ptr is None:
            flat = np.empty(high - low + 1, d.numpy)
            storage.backend.download(storage, first, flat)
        else:
            storage.backend.current_stream().synchronize()
            storage.synchronize()
            flat = host_bytes(storage.ptr + first, nbytes).view(d.numpy)
        strides = tuple(s * d.itemsize for s in self._strides)
        shape = self._shape
        if len(shape) > MAX_NUMPY_DIMS:
            dims = [(n, s) for n, s in zip(shape, strides) if n > 1]
            shape, strides = tuple([n for n, _ in dims]), tuple([s for _, s in dims])
        return np.lib.stride_tricks.as_strided(flat[-low:], shape, strides, writeable=False)

    def _host_values(self) -> np.ndarray[Any, Any]:
        """Like `_host`, with dtypes that NumPy lacks widened to float32 and complex64."""
        return to_computable(self._host(), self._dtype)

    def item(self) -> Any:
        """Returns the only element as a Python number. Raises RuntimeError for another number of
        elements."""
        if self.numel() != 1:
            raise errors.not_one_element(self._shape)
        return self._host_values().item()

    def tolist(self) -> Any:
        """Returns the elements as nested lists of Python numbers (one number for a 0-d tensor)."""
        self._storage.backend.pool.check_capacity(8 * self.numel())  # bytes of the lists
        values = self._host_values()
        if values.shape == self._shape:
            return values.tolist()
        return _nested(values.ravel().tolist(), self._shape)

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise errors.ambiguous_truth(self._shape)
        return bool(self.item())

    def _real_item(self) -> Any:
        """Returns the only element; raises an error for a complex one with an imaginary part."""
        number = self._only_item()
        if not isinstance(number, complex):
            return number
        if number.imag:
            raise errors.complex_to_real_value(number, "a real number")
        return number.real

    def __int__(self) -> int:
        return int(self._real_item())

    def __float__(self) -> float:
        return float(self._real_item())

    def __complex__(self) -> complex:
        return complex(self._only_item())

    def _only_item(self) -> Any:
        """Like `item()`, but raises the error of a conversion unless there is one element."""
        if self.numel() != 1:
            raise errors.not_one_number(self._shape)
        return self.item()

    def __index__(self) -> int:
        if self._dtype.kind not in "bui" or self.numel() != 1:
            raise errors.not_an_index(self._dtype, self._shape)
        return int(self.item())

    def __len__(self) -> int:
        if not self._shape:
            raise errors.len_of_zero_dim()
        return self._shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, Number)):
            raise errors.contains_no_such(element)
        equal: Any = self == element
        return bool(equal.any().item())

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec) if self._shape else format(self.item(), spec)


def _nested(values: list[Any], shape: Ints) -> Any:
    """Returns numbers in row-major order as nested lists; empty lists for a shape with a 0."""
    if 0 in shape:
        shape = shape[: shape.index(0)]
        values = [[] for _ in range(numel(shape))]
    for size in reversed(shape):
        values = [values[k : k + size] for k in range(0, len(values), size)]
    return values[0]


F = TypeVar("F", bound=Callable[..., Any])


def method(name: str) -> Callable[[F], F]:
    """Adds a function as the method `name` of Tensor, for modules in higher layers."""

    def add(function: F) -> F:
        setattr(Tensor, name, function)
        return function

    return add
