"""The methods of Tensor that are ops.

Written from the catalogue by `make stubs`.
"""

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, type as _type
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from ._device import DeviceLike, device as _device
from ._tensor import Tensor as _Tensor
from .dtypes import dtype as _dtype
from .formats import Size as _Size, layout as _layout, memory_format as _memory_format
from .modules import Module as _Module
from . import return_types as _return_types

_Number = _complex | np.generic

class Methods:
    @property
    def H(self: Any) -> _Tensor:
        """Returns a matrix transposed, and conjugated when complex (then a copy)."""
    @property
    def T(self: Any) -> _Tensor:
        """Returns a view with all dims in reverse order; meant for matrices."""
    def __abs__(self) -> _Tensor: ...
    def __add__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __and__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __array__(self, dtype: np.dtype[Any] | _type | str | None=None, copy: _bool | None=None) -> np.ndarray[Any, Any]:
        """Returns the tensor as an array, for NumPy's `__array__` protocol."""
    def __array_function__(self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]) -> _Tensor:
        """Runs NumPy's other functions on the device (docs/numpy.md)."""
    def __array_namespace__(self, *, api_version: str | None=None) -> Any:
        """Returns the namespace of the array API standard, the module `ftensor.array_api`."""
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> _Tensor:
        """Runs NumPy's universal functions on the device (docs/numpy.md)."""
    def __deepcopy__(self, memo: dict[_int, Any]) -> _Tensor: ...
    def __div__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __dlpack__(self, *, stream: _int | None=None, max_version: tuple[_int, _int] | None=None, dl_device: tuple[_int, _int] | None=None, copy: _bool | None=None) -> object:
        """Waits for the tensor's ops and returns a capsule over its memory, for `Tensor.__dlpack__`."""
    def __dlpack_device__(self) -> tuple[_int, _int]:
        """Returns DLPack's (device type, device id) of the host, for a tensor on any device."""
    def __eq__(self, other: _Tensor | _Number) -> _Tensor: ...  # type: ignore[override]
    def __floordiv__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __ge__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __getitem__(self, index: Any) -> _Tensor:
        """Returns a view for ints, slices, None and Ellipsis. Returns a copy for masks, integer
        tensors, lists, arrays, and slices with a negative step. Raises IndexError for an index out of
        range or of a wrong shape.
        """
    def __gt__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __iadd__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __iand__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __idiv__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __ifloordiv__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __ilshift__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __imod__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __imul__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __invert__(self) -> _Tensor: ...
    def __ior__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __ipow__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __irshift__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __isub__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __iter__(self) -> Iterator[_Tensor]: ...
    def __itruediv__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __ixor__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __le__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __lshift__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __lt__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __matmul__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __mod__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __mul__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __ne__(self, other: _Tensor | _Number) -> _Tensor: ...  # type: ignore[override]
    def __neg__(self) -> _Tensor: ...
    def __new__(self, *args: Any, **kwargs: Any) -> _Tensor: ...
    def __or__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __pos__(self) -> _Tensor:
        """Returns the tensor itself. Raises RuntimeError for bool."""
    def __pow__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __radd__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rand__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rdiv__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __reversed__(self) -> _Tensor:
        """Returns a copy with the first dim reversed."""
    def __rfloordiv__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rlshift__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rmatmul__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rmod__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rmul__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __ror__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rpow__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rrshift__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rshift__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rsub__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rtruediv__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __rxor__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None:
        """Writes a number, or a tensor or NumPy array broadcast to the selected shape."""
    def __sub__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __truediv__(self, other: _Tensor | _Number) -> _Tensor: ...
    def __xor__(self, other: _Tensor | _Number) -> _Tensor: ...
    def _repr_html_(self) -> str:
        """Returns the HTML that notebooks show of a tensor: shape, dtype, device, bytes, and a small
        picture of the values of one or two dims, in which large tensors are sampled at every n-th
        value. Other tensors show their text.
        """
    def abs(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the absolute value; for a complex number, its magnitude."""
    def abs_(self) -> _Tensor:
        """In-place form of `abs`. Raises RuntimeError for complex tensors, whose result is real."""
    def absolute(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the absolute value; for a complex number, its magnitude."""
    def absolute_(self) -> _Tensor:
        """In-place form of `abs`. Raises RuntimeError for complex tensors, whose result is real."""
    def acos(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the arc cosine."""
    def acos_(self) -> _Tensor:
        """In-place form of `acos`: the result's shape and dtype must fit the tensor."""
    def acosh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the inverse hyperbolic cosine."""
    def acosh_(self) -> _Tensor:
        """In-place form of `acosh`: the result's shape and dtype must fit the tensor."""
    def add(self, other: _Tensor | _Number, *, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns the sum of `input` and `alpha` times `other`, in the promoted dtype. Raises
        RuntimeError for an `alpha` of a higher category than the inputs.
        """
    def add_(self, other: _Tensor | _Number, *, alpha: Any=1) -> _Tensor:
        """In-place form of `add`: the result's shape and dtype must fit the tensor."""
    def addbmm(self, batch1: _Tensor, batch2: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `beta * input + alpha` times the sum of the products of all pairs of matrices."""
    def addbmm_(self, batch1: _Tensor, batch2: _Tensor, *, beta: Any=1, alpha: Any=1) -> _Tensor:
        """In-place form of `addbmm`: the result's shape and dtype must fit the tensor."""
    def addcdiv(self, tensor1: _Tensor, tensor2: _Tensor, *, value: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `input + value * tensor1 / tensor2`. Raises RuntimeError if both divided tensors are
        integers.
        """
    def addcdiv_(self, tensor1: _Tensor, tensor2: _Tensor, *, value: Any=1) -> _Tensor:
        """In-place form of `addcdiv`: the result's shape and dtype must fit the tensor."""
    def addcmul(self, tensor1: _Tensor, tensor2: _Tensor, *, value: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `input + value * tensor1 * tensor2`. `value` is converted to the dtype of the
        result.
        """
    def addcmul_(self, tensor1: _Tensor, tensor2: _Tensor, *, value: Any=1) -> _Tensor:
        """In-place form of `addcmul`: the result's shape and dtype must fit the tensor."""
    def addmm(self, mat1: _Tensor, mat2: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `beta * input + alpha * (mat1 @ mat2)`. With `beta` 0 `input` is not read, with
        `alpha` 0 no matrix is. Raises RuntimeError for matrices that don't fit, an `input` that doesn't
        expand to the product's shape, or different dtypes.
        """
    def addmm_(self, mat1: _Tensor, mat2: _Tensor, *, beta: Any=1, alpha: Any=1) -> _Tensor:
        """In-place form of `addmm`: the result's shape and dtype must fit the tensor."""
    def addmv(self, mat: _Tensor, vec: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `beta * input + alpha * (mat @ vec)`. With `beta` 0 `input` is not read. Raises the
        errors of `addmm`.
        """
    def addmv_(self, mat: _Tensor, vec: _Tensor, *, beta: Any=1, alpha: Any=1) -> _Tensor:
        """In-place form of `addmv`: the result's shape and dtype must fit the tensor."""
    def addr(self, vec1: _Tensor, vec2: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `beta * input + alpha * outer(vec1, vec2)`. Dtypes are promoted. With `beta` 0
        `input` is not read.
        """
    def addr_(self, vec1: _Tensor, vec2: _Tensor, *, beta: Any=1, alpha: Any=1) -> _Tensor:
        """In-place form of `addr`: the result's shape and dtype must fit the tensor."""
    def adjoint(self) -> _Tensor:
        """Returns the last two dims exchanged, conjugated when complex."""
    @overload
    def all(self, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True if all elements over `dim` are nonzero."""
    @overload
    def all(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
    def allclose(self, other: _Tensor, rtol: _float=1e-05, atol: _float=1e-08, equal_nan: _bool=False) -> _bool:
        """True if `isclose` holds for every element."""
    @overload
    def amax(self, dim: _int | Sequence[_int] | None=(), keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the largest element over `dim`; NaN if there is one."""
    @overload
    def amax(self, *, axis: _int | Sequence[_int]=(), keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def amin(self, dim: _int | Sequence[_int] | None=(), keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the smallest element over `dim`; NaN if there is one."""
    @overload
    def amin(self, *, axis: _int | Sequence[_int]=(), keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def aminmax(self, *, dim: _int | None=None, keepdim: _bool=False, out: _Tensor | None=None) -> _return_types.aminmax:
        """Returns the smallest and the largest element, of all or along one dim."""
    @overload
    def aminmax(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _return_types.aminmax: ...
    def angle(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the angle to the positive real axis, in radians; 0 or pi for a real number. The
        angles of complex numbers have contiguous memory.
        """
    @overload
    def any(self, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True if any element over `dim` is nonzero."""
    @overload
    def any(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
    def arccos(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the arc cosine."""
    def arccos_(self) -> _Tensor:
        """In-place form of `acos`: the result's shape and dtype must fit the tensor."""
    def arccosh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the inverse hyperbolic cosine."""
    def arccosh_(self) -> _Tensor:
        """In-place form of `acosh`: the result's shape and dtype must fit the tensor."""
    def arcsin(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the arc sine."""
    def arcsin_(self) -> _Tensor:
        """In-place form of `asin`: the result's shape and dtype must fit the tensor."""
    def arcsinh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the inverse hyperbolic sine."""
    def arcsinh_(self) -> _Tensor:
        """In-place form of `asinh`: the result's shape and dtype must fit the tensor."""
    def arctan(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the arc tangent."""
    def arctan2(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the angle of the point (`other`, `input`), from -pi to pi."""
    def arctan2_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `atan2`: the result's shape and dtype must fit the tensor."""
    def arctan_(self) -> _Tensor:
        """In-place form of `atan`: the result's shape and dtype must fit the tensor."""
    def arctanh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the inverse hyperbolic tangent."""
    def arctanh_(self) -> _Tensor:
        """In-place form of `atanh`: the result's shape and dtype must fit the tensor."""
    @overload
    def argmax(self, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the index of the largest element over `dim`, or of all in row-major order; of the first one where
        there are several. NaN counts as the largest.
        """
    @overload
    def argmax(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def argmin(self, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the index of the smallest element over `dim`, or of all in row-major order; of the first one where
        there are several. NaN counts as the smallest.
        """
    @overload
    def argmin(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def argsort(self, dim: _int=-1, descending: _bool=False, *, stable: _bool=False, out: _Tensor | None=None) -> _Tensor:
        """Returns the indices of the sorted elements, the second result of `sort`."""
    @overload
    def argsort(self, *, axis: _int | Sequence[_int]=-1, descending: _bool=False, stable: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
    def argwhere(self) -> _Tensor:
        """Like `nonzero`: one row for each nonzero element."""
    def as_strided(self, size: _int | Sequence[_int], stride: Any, storage_offset: _int | None=None) -> _Tensor:
        """Returns a view with this layout over the tensor's whole storage, in elements;
        `storage_offset` None means the tensor's own. Raises RuntimeError beyond the storage's end.
        """
    def as_strided_(self, size: _int | Sequence[_int], stride: Any, storage_offset: _int | None=None) -> _Tensor:
        """`as_strided` in place."""
    def as_strided_scatter(self, src: _Tensor, size: _int | Sequence[_int], stride: Any, storage_offset: _int | None=None) -> _Tensor:
        """Returns a copy of the input with the elements of an `as_strided` view replaced."""
    def asin(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the arc sine."""
    def asin_(self) -> _Tensor:
        """In-place form of `asin`: the result's shape and dtype must fit the tensor."""
    def asinh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the inverse hyperbolic sine."""
    def asinh_(self) -> _Tensor:
        """In-place form of `asinh`: the result's shape and dtype must fit the tensor."""
    def astype(self, dtype: _dtype, *, copy: _bool=True) -> _Tensor:
        """Returns the elements in another dtype (ftensor's, NumPy's or its name), like
        `ndarray.astype`.
        """
    def atan(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the arc tangent."""
    def atan2(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the angle of the point (`other`, `input`), from -pi to pi."""
    def atan2_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `atan2`: the result's shape and dtype must fit the tensor."""
    def atan_(self) -> _Tensor:
        """In-place form of `atan`: the result's shape and dtype must fit the tensor."""
    def atanh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the inverse hyperbolic tangent."""
    def atanh_(self) -> _Tensor:
        """In-place form of `atanh`: the result's shape and dtype must fit the tensor."""
    def baddbmm(self, batch1: _Tensor, batch2: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `addmm` for each pair of two batches of matrices."""
    def baddbmm_(self, batch1: _Tensor, batch2: _Tensor, *, beta: Any=1, alpha: Any=1) -> _Tensor:
        """In-place form of `baddbmm`: the result's shape and dtype must fit the tensor."""
    @overload
    def bernoulli(self, *, generator: Any=None, out: _Tensor | None=None) -> _Tensor:
        """Returns ones and zeros in `input`'s shape and dtype: ones with the probability in each
        element of `input`, or with probability `p` everywhere.
        """
    @overload
    def bernoulli(self, p: _float | None, *, generator: Any=None) -> _Tensor: ...
    def bernoulli_(self, p: Any=0.5, *, generator: Any=None) -> _Tensor:
        """Fills the tensor with ones of probability `p`, a number or a tensor with one for each
        element, else zeros.
        """
    def bfloat16(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.bfloat16)`."""
    def bincount(self, weights: _Tensor | None=None, minlength: _int=0, *, out: _Tensor | None=None) -> _Tensor:
        """Counts each number from 0 on, or sums its `weights`; the result has at least `minlength`
        elements. It is int64, float32 for float32 weights, float64 for others. Raises RuntimeError for
        negative or non-integer input and for numbers of dims other than one.
        """
    def bitwise_and(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the bitwise and."""
    def bitwise_and_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `bitwise_and`: the result's shape and dtype must fit the tensor."""
    def bitwise_left_shift(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `input` shifted left by `other` bits; 0 for a negative or too large number."""
    def bitwise_left_shift_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `bitwise_left_shift`: the result's shape and dtype must fit the tensor."""
    def bitwise_not(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the bits inverted; for bool, logical not."""
    def bitwise_not_(self) -> _Tensor:
        """In-place form of `bitwise_not`: the result's shape and dtype must fit the tensor."""
    def bitwise_or(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the bitwise or."""
    def bitwise_or_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `bitwise_or`: the result's shape and dtype must fit the tensor."""
    def bitwise_right_shift(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `input` shifted right by `other` bits, with its sign; 0 or -1 for a negative or too large number."""
    def bitwise_right_shift_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `bitwise_right_shift`: the result's shape and dtype must fit the tensor."""
    def bitwise_xor(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the bitwise exclusive or."""
    def bitwise_xor_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `bitwise_xor`: the result's shape and dtype must fit the tensor."""
    def bmm(self, mat2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the products of two batches of matrices, pair by pair. Raises the errors of `mm`."""
    def bool(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.bool)`."""
    def broadcast_to(self, size: _int | Sequence[_int], *more: _int) -> _Tensor:
        """Returns the same as `input.expand(size)`."""
    @property
    def buffer(self: Any) -> Any:
        """The pyopencl buffer of the storage; the elements begin at its byte `buffer_offset`."""
    @property
    def buffer_offset(self: Any) -> _int:
        """The byte of `buffer` at which the first element begins."""
    def byte(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.uint8)`."""
    def cauchy_(self, median: _float=0.0, sigma: _float=1.0, *, generator: Any=None) -> _Tensor:
        """Fills the tensor with numbers of Cauchy's distribution: half of them are within `sigma` of
        `median`. Raises RuntimeError unless `sigma` is above 0, and for integers.
        """
    def cdouble(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.complex128)`."""
    def ceil(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the smallest integer that is not below the element."""
    def ceil_(self) -> _Tensor:
        """In-place form of `ceil`: the result's shape and dtype must fit the tensor."""
    def cfloat(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.complex64)`."""
    def chalf(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.complex32)`."""
    def char(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.int8)`."""
    def cholesky(self, upper: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """See `linalg.cholesky`."""
    def cholesky_inverse(self, upper: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the inverse of the matrix whose factor `linalg.cholesky` returned."""
    def cholesky_solve(self, input2: _Tensor, upper: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Solves A @ X = input by the factor `input2` from `linalg.cholesky`: A = L @ L.mH, or A = L.mH
        @ L with `upper`. Raises RuntimeError for operands that don't fit.
        """
    @overload
    def chunk(self, chunks: _int, dim: _int=0) -> tuple[_Tensor, ...]:
        """Returns at most `chunks` views of a dim, equal but for the last; `tensor_split` returns
        exactly as many.
        """
    @overload
    def chunk(self, chunks: _int, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
    def clamp(self, min: Any=None, max: Any=None, *, out: _Tensor | None=None) -> _Tensor:
        """Limits the elements to [`min`, `max`]; `max` wins if the limits cross. Limits are numbers or
        tensors and take part in type promotion; NaN in any of them gives NaN.
        """
    def clamp_(self, min: Any=None, max: Any=None) -> _Tensor:
        """In-place form of `clamp`: the result's shape and dtype must fit the tensor."""
    def clamp_max(self, max: Any, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the elements, at most `max`."""
    def clamp_max_(self, max: Any) -> _Tensor:
        """In-place form of `clamp_max`: the result's shape and dtype must fit the tensor."""
    def clamp_min(self, min: Any, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the elements, at least `min`."""
    def clamp_min_(self, min: Any) -> _Tensor:
        """In-place form of `clamp_min`: the result's shape and dtype must fit the tensor."""
    def clip(self, min: Any=None, max: Any=None, *, out: _Tensor | None=None) -> _Tensor:
        """Limits the elements to [`min`, `max`]; `max` wins if the limits cross. Limits are numbers or
        tensors and take part in type promotion; NaN in any of them gives NaN.
        """
    def clip_(self, min: Any=None, max: Any=None) -> _Tensor:
        """In-place form of `clamp`: the result's shape and dtype must fit the tensor."""
    def clone(self, *, memory_format: _memory_format=...) -> _Tensor:
        """Returns a copy with its own memory."""
    def combinations(self, r: _int=2, with_replacement: _bool=False) -> _Tensor:
        """Returns all combinations of `r` elements of a vector, one in each row. Raises RuntimeError
        for other numbers of dims and a negative `r`.
        """
    def conj(self) -> _Tensor:
        """Returns the complex conjugate; a real tensor itself."""
    def conj_physical(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the complex conjugate; a real tensor itself."""
    def conj_physical_(self) -> _Tensor:
        """In-place form of `conj_physical`."""
    def contiguous(self, memory_format: _memory_format=...) -> _Tensor:
        """Returns the tensor itself if it is contiguous, else a copy."""
    def copy(self, order: str='C') -> _Tensor:
        """Returns a new tensor of the elements: contiguous for `order` \"C\", with the same strides for
        \"K\".
        """
    def copy_(self, other: _Tensor | _Number, non_blocking: _bool=False) -> _Tensor:
        """Writes `other`, broadcast to this tensor's shape and converted to its dtype, into this
        tensor.
        """
    def copysign(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the magnitude of `input` with the sign of `other`, which may be -0."""
    def copysign_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `copysign`: the result's shape and dtype must fit the tensor."""
    def corrcoef(self) -> _Tensor:
        """Returns the correlation matrix of variables (rows): covariances over deviations, -1 to 1."""
    def cos(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the cosine."""
    def cos_(self) -> _Tensor:
        """In-place form of `cos`: the result's shape and dtype must fit the tensor."""
    def cosh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the hyperbolic cosine."""
    def cosh_(self) -> _Tensor:
        """In-place form of `cosh`: the result's shape and dtype must fit the tensor."""
    @overload
    def count_nonzero(self, dim: _int | Sequence[_int] | None=None) -> _Tensor:
        """Returns the number of nonzero elements over `dim`."""
    @overload
    def count_nonzero(self, *, axis: _int | Sequence[_int] | None=None) -> _Tensor: ...
    def cov(self, *, correction: _int=1, fweights: _Tensor | None=None, aweights: _Tensor | None=None) -> _Tensor:
        """Returns the covariance matrix of variables (rows) and observations (columns). `fweights`
        counts how often each observation was made, `aweights` weighs it. Raises RuntimeError for more
        than 2 dims, bool, and weights that don't fit.
        """
    def cpu(self, memory_format: _memory_format=...) -> _Tensor:
        """Returns the tensor on the host; the tensor itself if it is there."""
    @overload
    def cross(self, other: _Tensor, dim: _int | None=None, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `linalg.cross` along `dim`, or along the first dim of size 3. Raises RuntimeError if
        there is none.
        """
    @overload
    def cross(self, other: _Tensor, *, axis: _int | Sequence[_int] | None=None, out: _Tensor | None=None) -> _Tensor: ...
    def cummax(self, dim: _int, *, out: _Tensor | None=None) -> _return_types.cummax:
        """Returns the largest element up to each along `dim`, and its last index; NaN is the largest.
        Raises NotImplementedError for complex numbers.
        """
    def cummin(self, dim: _int, *, out: _Tensor | None=None) -> _return_types.cummin:
        """Returns the smallest element up to each along `dim`, and its last index; NaN is the smallest.
        Raises NotImplementedError for complex numbers.
        """
    @overload
    def cumprod(self, dim: _int, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the products of the elements up to each along `dim`; integers are multiplied in
        int64. Raises RuntimeError for an `out` of another dtype than `dtype`, NotImplementedError for
        `dtype` bool.
        """
    @overload
    def cumprod(self, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    def cumprod_(self, dim: _int, *, dtype: _dtype | None=None) -> _Tensor:
        """In-place form of `cumprod`: the result's shape and dtype must fit the tensor."""
    @overload
    def cumsum(self, dim: _int, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the sums of the elements up to each along `dim`; integers are summed in int64. Raises
        RuntimeError for an `out` of another dtype than `dtype`, NotImplementedError for `dtype` bool.
        """
    @overload
    def cumsum(self, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    def cumsum_(self, dim: _int, *, dtype: _dtype | None=None) -> _Tensor:
        """In-place form of `cumsum`: the result's shape and dtype must fit the tensor."""
    @property
    def data(self: Any) -> _Tensor:
        """A new Tensor over the same elements, like `detach()`."""
    def deg2rad(self, *, out: _Tensor | None=None) -> _Tensor:
        """Converts degrees to radians."""
    def deg2rad_(self) -> _Tensor:
        """In-place form of `deg2rad`: the result's shape and dtype must fit the tensor."""
    def det(self, *, out: _Tensor | None=None) -> _Tensor:
        """See `linalg.det`."""
    def detach(self) -> _Tensor:
        """Returns a new tensor over the same memory."""
    def detach_(self) -> _Tensor:
        """Returns the tensor itself; ftensor records no gradients."""
    def diag(self, diagonal: _int=0, *, out: _Tensor | None=None) -> _Tensor:
        """Returns a copy of a matrix's diagonal, or a matrix of zeros with a 1-d tensor on its
        diagonal.
        """
    def diag_embed(self, offset: _int=0, dim1: _int=-2, dim2: _int=-1) -> _Tensor:
        """Returns matrices of zeros over dim1 and dim2, with the last dim's entries on a diagonal."""
    def diagflat(self, offset: _int=0) -> _Tensor:
        """Returns a matrix with the flattened input on a diagonal."""
    def diagonal(self, offset: _int=0, dim1: _int=0, dim2: _int=1) -> _Tensor:
        """Returns a view of the diagonal of two dims as a new last dim; offset > 0 is above the main
        diagonal, < 0 below.
        """
    def diagonal_scatter(self, src: _Tensor, offset: _int=0, dim1: _int=0, dim2: _int=1) -> _Tensor:
        """Returns a copy of the input with a diagonal replaced."""
    @overload
    def diff(self, n: _int=1, dim: _int=-1, prepend: _Tensor | None=None, append: _Tensor | None=None, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the differences of neighbours along `dim`, taken `n` times, with `prepend` and
        `append` added at the ends first; `!=` for bool. Raises RuntimeError for a negative `n`, 0-d
        inputs and shapes that don't fit, IndexError for a dim out of range.
        """
    @overload
    def diff(self, n: _int=1, *, axis: _int | Sequence[_int]=-1, prepend: _Tensor | None=None, append: _Tensor | None=None, out: _Tensor | None=None) -> _Tensor: ...
    def digamma(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithmic derivative of the gamma function."""
    def digamma_(self) -> _Tensor:
        """In-place form of `digamma`: the result's shape and dtype must fit the tensor."""
    def dim_order(self, *, ambiguity_check: _bool | list[_memory_format]=False) -> tuple[_int, ...]:
        """Returns the dims in their memory order, outermost first. `ambiguity_check` raises
        RuntimeError if dims of size 1 or equal strides leave the order open; a list of memory formats
        raises unless exactly one of them fits. Raises TypeError for another argument.
        """
    def dist(self, other: _Tensor, p: Any=2) -> _Tensor:
        """Returns the norm of order `p` of all differences."""
    def div(self, other: _Tensor | _Number, *, rounding_mode: str | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the quotient: true division (integers become the default dtype), or with
        `rounding_mode` \"trunc\" (towards zero) or \"floor\" (down) in the promoted dtype. Integers divided
        by the number 0 raise RuntimeError; zeros in a tensor give -1 (all bits set).
        """
    def div_(self, other: _Tensor | _Number, *, rounding_mode: str | None=None) -> _Tensor:
        """In-place form of `div`: the result's shape and dtype must fit the tensor."""
    def divide(self, other: _Tensor | _Number, *, rounding_mode: str | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the quotient: true division (integers become the default dtype), or with
        `rounding_mode` \"trunc\" (towards zero) or \"floor\" (down) in the promoted dtype. Integers divided
        by the number 0 raise RuntimeError; zeros in a tensor give -1 (all bits set).
        """
    def divide_(self, other: _Tensor | _Number, *, rounding_mode: str | None=None) -> _Tensor:
        """In-place form of `div`: the result's shape and dtype must fit the tensor."""
    def dot(self, tensor: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the sum of the products of two vectors."""
    def double(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.float64)`."""
    @overload
    def dsplit(self, sections: _int | _Tensor) -> tuple[_Tensor, ...]:
        """Like hsplit, along dim 2."""
    @overload
    def dsplit(self, indices: Sequence[_int] | _Tensor) -> tuple[_Tensor, ...]: ...
    def eq(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where the elements are equal; NaN equals no element."""
    def eq_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `eq`: the result's shape and dtype must fit the tensor."""
    def equal(self, other: _Tensor) -> _bool:
        """True if shapes and all elements are equal."""
    def erf(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the error function."""
    def erf_(self) -> _Tensor:
        """In-place form of `erf`: the result's shape and dtype must fit the tensor."""
    def erfc(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns 1 - erf(input), accurate where that is small."""
    def erfc_(self) -> _Tensor:
        """In-place form of `erfc`: the result's shape and dtype must fit the tensor."""
    def erfinv(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the inverse of erf on [-1, 1]."""
    def erfinv_(self) -> _Tensor:
        """In-place form of `erfinv`: the result's shape and dtype must fit the tensor."""
    def exp(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns e ** input."""
    def exp2(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns 2 ** input."""
    def exp2_(self) -> _Tensor:
        """In-place form of `exp2`: the result's shape and dtype must fit the tensor."""
    def exp_(self) -> _Tensor:
        """In-place form of `exp`: the result's shape and dtype must fit the tensor."""
    def expand(self, size: _int | Sequence[_int], *more: _int, implicit: _bool=False) -> _Tensor:
        """Returns a view with dims of size 1 repeated (by stride 0) and new dims in front; -1 keeps a
        size. Raises RuntimeError if another dim would have to change.
        """
    def expand_as(self, other: _Tensor) -> _Tensor:
        """Returns the tensor expanded to `other`'s shape."""
    def expm1(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns exp(input) - 1, accurate near 0."""
    def expm1_(self) -> _Tensor:
        """In-place form of `expm1`: the result's shape and dtype must fit the tensor."""
    def exponential_(self, lambd: _float=1.0, *, generator: Any=None) -> _Tensor:
        """Fills the tensor with numbers above 0 of the exponential distribution of rate `lambd` (its
        mean is 1 / lambd). Raises RuntimeError unless `lambd` is above 0, and for integers.
        """
    def fill(self, value: Any) -> _Tensor:
        """Returns a tensor like `input` with every element equal to `value`."""
    def fill_(self, value: Any) -> _Tensor:
        """Writes a number (or a 0-d tensor's value) into every element."""
    def fill_diagonal_(self, fill_value: Any, wrap: _bool=False) -> _Tensor:
        """Writes a number into the main diagonal of a matrix, or of a tensor with more dims, all of one
        size. `wrap` restarts the diagonal below a square in matrices with more rows than columns.
        Raises RuntimeError for vectors, and if the sizes of more than two dims differ.
        """
    def fix(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the element rounded towards 0."""
    def fix_(self) -> _Tensor:
        """In-place form of `trunc`: the result's shape and dtype must fit the tensor."""
    def flatten(self, start_dim: _int=0, end_dim: _int=-1) -> _Tensor:
        """Joins dims `start_dim` to `end_dim` into one: a view if the strides allow it, else a copy,
        and the tensor itself if there is nothing to join.
        """
    def flip(self, *dims: Any, **named: Any) -> _Tensor:
        """Returns a copy with the order along these dims reversed."""
    def fliplr(self) -> _Tensor:
        """Returns a copy with the columns (dim 1) reversed."""
    def flipud(self) -> _Tensor:
        """Returns a copy with the rows (dim 0) reversed."""
    def float(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.float32)`."""
    def float_power(self, exponent: Any, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `pow` in double precision: float64, or complex128 if an input is complex. `out` must
        have exactly that dtype.
        """
    def float_power_(self, exponent: Any) -> _Tensor:
        """In-place form of `float_power`: the result's shape and dtype must fit the tensor."""
    def floor(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the largest integer that is not above the element."""
    def floor_(self) -> _Tensor:
        """In-place form of `floor`: the result's shape and dtype must fit the tensor."""
    def floor_divide(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Like `div` with rounding_mode=\"floor\"."""
    def floor_divide_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `floor_divide`: the result's shape and dtype must fit the tensor."""
    def fmax(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the larger element of each pair; the other element if one is NaN."""
    def fmin(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the smaller element of each pair; the other element if one is NaN."""
    def fmod(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the remainder of division towards zero, with the sign of `input`, like C's fmod.
        Integers modulo the number 0 raise RuntimeError; zeros in a tensor leave them unchanged.
        """
    def fmod_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `fmod`: the result's shape and dtype must fit the tensor."""
    def fpga(self, device: DeviceLike | None=None, non_blocking: _bool=False, memory_format: _memory_format=...) -> _Tensor:
        """Returns the tensor on an fpga, by default the current one."""
    def frac(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the fraction, `input - trunc(input)`, with the sign of the input."""
    def frac_(self) -> _Tensor:
        """In-place form of `frac`: the result's shape and dtype must fit the tensor."""
    def frexp(self, *, out: _Tensor | None=None) -> _return_types.frexp:
        """Returns (mantissa, exponent) with mantissa * 2 ** exponent equal to the input, the mantissa's
        absolute value in [0.5, 1), the exponent int32. 0 and non-finite numbers have the exponent 0.
        Raises RuntimeError for integers.
        """
    def gather(self, dim: _int, index: _Tensor, *, sparse_grad: _bool=False, out: _Tensor | None=None) -> _Tensor:
        """Returns the elements along `dim` at the indices `index`: `input[i][index[i][j]]` for dim 1 of
        a matrix. `index` has as many dims as the input and is no larger in the other dims. Raises
        RuntimeError for an index out of range; negative indices are out of range.
        """
    def gcd(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the greatest common divisor of integers, which is not negative."""
    def gcd_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `gcd`: the result's shape and dtype must fit the tensor."""
    def ge(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where `input` is at least `other`."""
    def ge_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `ge`: the result's shape and dtype must fit the tensor."""
    def geometric_(self, p: _float, *, generator: Any=None) -> _Tensor:
        """Fills the tensor with the number of tries, 1 or more, up to the first success of probability
        `p`. Raises RuntimeError unless `p` is between 0 and 1.
        """
    def geqrf(self, *, out: _Tensor | None=None) -> _return_types.geqrf:
        """Returns (a, tau), LAPACK's geqrf: R on and above the diagonal of `a`; below it the vectors v,
        without their first element of 1, of the reflections I - tau * v @ v.mH whose product is Q.
        """
    def ger(self, vec2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the products of every element of a vector with every element of another. Dtypes are
        promoted.
        """
    @property
    def grad(self: Any) -> None:
        """None: ftensor records no gradients."""
    def greater(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where `input` is greater than `other`."""
    def greater_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `gt`: the result's shape and dtype must fit the tensor."""
    def greater_equal(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where `input` is at least `other`."""
    def greater_equal_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `ge`: the result's shape and dtype must fit the tensor."""
    def gt(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where `input` is greater than `other`."""
    def gt_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `gt`: the result's shape and dtype must fit the tensor."""
    def half(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.float16)`."""
    def hardshrink(self, lambd: _float=0.5, *, out: _Tensor | None=None) -> _Tensor:
        """Replaces the elements in [-lambd, lambd] by 0."""
    def heaviside(self, values: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns 0 for negative elements, 1 for positive ones, and `values`, of the same dtype, for 0."""
    def heaviside_(self, values: _Tensor | _Number) -> _Tensor:
        """In-place form of `heaviside`: the result's shape and dtype must fit the tensor."""
    def histc(self, bins: _int=100, min: Any=0, max: Any=0, *, out: _Tensor | None=None) -> _Tensor:
        """Counts the elements in each of `bins` equal parts of [min, max], in the input's dtype. With
        equal `min` and `max` the range is that of the elements. Elements outside are ignored. Raises
        RuntimeError for bool and complex numbers, zero bins, and a range that is not finite.
        """
    def histogram(self, bins: Any=100, *, range: Any=None, weight: _Tensor | None=None, density: _bool=False, out: _Tensor | None=None) -> _return_types.histogram:
        """Returns (the count or `weight` in each bin, the edges). `bins` is a number of equal parts of
        `range` (low, high) or of the elements' range, or a tensor of edges. The last bin includes its
        right edge. With `density` the integral is 1. Raises RuntimeError for dtypes other than float32
        and float64, zero bins, and arguments that don't fit.
        """
    def histogramdd(self, bins: Any, range: Any=None, weight: _Tensor | None=None, density: _bool=False) -> tuple[_Tensor, tuple[_Tensor, ...]]:
        """Returns the `histogram` of samples with several coordinates (the last dim). `bins` has a
        number or edges for each coordinate, or is one number for all; `range` lists (low, high) of each
        coordinate.
        """
    @overload
    def hsplit(self, sections: _int | _Tensor) -> tuple[_Tensor, ...]:
        """Returns views of the columns (dim 1; dim 0 of a 1-d tensor): a number of equal ones, or those
        between the indices.
        """
    @overload
    def hsplit(self, indices: Sequence[_int] | _Tensor) -> tuple[_Tensor, ...]: ...
    def hypot(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns sqrt(input ** 2 + other ** 2), without overflow of the squares."""
    def hypot_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `hypot`: the result's shape and dtype must fit the tensor."""
    def i0(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the modified Bessel function of order 0."""
    def i0_(self) -> _Tensor:
        """In-place form of `i0`: the result's shape and dtype must fit the tensor."""
    def igamma(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the regularized lower incomplete gamma function of order `input` at `other`; NaN if one is < 0."""
    def igamma_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `igamma`: the result's shape and dtype must fit the tensor."""
    def igammac(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the regularized upper incomplete gamma function of order `input` at `other`; NaN if one is < 0."""
    def igammac_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `igammac`: the result's shape and dtype must fit the tensor."""
    @property
    def imag(self: Any) -> _Tensor:
        """Returns a view of the imaginary parts. Raises RuntimeError for a real tensor."""
    def index_add(self, dim: _int, index: _Tensor, source: _Tensor, *, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns a copy of the input with `alpha * source` added to the entries of a dim listed in
        `index`. Raises RuntimeError for an index out of range; negative indices are out of range.
        """
    def index_add_(self, dim: _int, index: _Tensor, source: _Tensor, *, alpha: Any=1) -> _Tensor:
        """In-place form of `index_add`."""
    def index_copy(self, dim: _int, index: _Tensor, source: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns a copy of the input with the entries of `source` written over those that `index`
        (int64) lists. Raises IndexError for an index out of range; negative indices are out of range.
        """
    def index_copy_(self, dim: _int, index: _Tensor, source: _Tensor) -> _Tensor:
        """In-place form of `index_copy`."""
    def index_fill(self, dim: _int, index: _Tensor, value: Any) -> _Tensor:
        """Returns a copy of the input after `index_fill_`."""
    def index_fill_(self, dim: _int, index: _Tensor, value: Any) -> _Tensor:
        """Writes a number (or a 0-d tensor's value) into the entries of a dim that `index` (int64)
        lists. Raises IndexError for an index out of range.
        """
    def index_put(self, indices: Sequence[Any], values: _Tensor, accumulate: _bool=False) -> _Tensor:
        """Returns a copy of the input after `index_put_`."""
    def index_put_(self, indices: Sequence[Any], values: _Tensor, accumulate: _bool=False) -> _Tensor:
        """Implements `input[indices] = values`. With `accumulate`, values for the same element are
        summed.
        """
    def index_reduce(self, dim: _int, index: _Tensor, source: _Tensor, reduce: str, *, include_self: _bool=True, out: _Tensor | None=None) -> _Tensor:
        """Like `index_add`, with \"prod\", \"mean\", \"amax\" or \"amin\" over the entries that share an index.
        The input's own entry takes part unless `include_self` is False.
        """
    def index_reduce_(self, dim: _int, index: _Tensor, source: _Tensor, reduce: str, *, include_self: _bool=True) -> _Tensor:
        """In-place form of `index_reduce`."""
    @overload
    def index_select(self, dim: _int, index: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the entries of dim `dim` that `index` lists."""
    @overload
    def index_select(self, *, axis: _int | Sequence[_int], index: _Tensor, out: _Tensor | None=None) -> _Tensor: ...
    def inner(self, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the sums of products along the last dims; with a 0-d operand, the products."""
    def int(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.int32)`."""
    def inverse(self, *, out: _Tensor | None=None) -> _Tensor:
        """See `linalg.inv`."""
    @property
    def is_cpu(self: Any) -> _bool:
        """True if the tensor is on the host."""
    @property
    def is_cuda(self: Any) -> _bool:
        """False: a tensor is strided and on `fpga` or `cpu`."""
    @property
    def is_fpga(self: Any) -> _bool:
        """True if the tensor is on an `fpga` device."""
    @property
    def is_leaf(self: Any) -> _bool:
        """True: ftensor records no gradients, so no tensor is the result of a recorded op."""
    @property
    def is_meta(self: Any) -> _bool:
        """False: a tensor is strided and on `fpga` or `cpu`."""
    @property
    def is_mkldnn(self: Any) -> _bool:
        """False: a tensor is strided and on `fpga` or `cpu`."""
    @property
    def is_mps(self: Any) -> _bool:
        """False: a tensor is strided and on `fpga` or `cpu`."""
    @property
    def is_nested(self: Any) -> _bool:
        """False: a tensor is strided and on `fpga` or `cpu`."""
    def is_nonzero(self) -> _bool:
        """True if the one element is not zero. Raises RuntimeError for several elements."""
    def is_pinned(self, device: DeviceLike | None=None) -> _bool:
        """Returns False: memory is not pinned."""
    @property
    def is_quantized(self: Any) -> _bool:
        """False: a tensor is strided and on `fpga` or `cpu`."""
    def is_same_size(self, other: _Tensor) -> _bool:
        """True if the shapes are equal."""
    def is_set_to(self, tensor: _Tensor) -> _bool:
        """True if both are the same elements of one memory, with the same shape and strides."""
    @property
    def is_sparse(self: Any) -> _bool:
        """False: a tensor is strided and on `fpga` or `cpu`."""
    @property
    def is_xpu(self: Any) -> _bool:
        """False: a tensor is strided and on `fpga` or `cpu`."""
    def isclose(self, other: _Tensor, rtol: _float=1e-05, atol: _float=1e-08, equal_nan: _bool=False) -> _Tensor:
        """Returns True where elements are equal, or both finite and no further apart than `atol + rtol
        * abs(other)`. Both tensors must have one dtype.
        """
    def isfinite(self) -> _Tensor:
        """Returns True where the value is neither infinite nor NaN."""
    def isinf(self) -> _Tensor:
        """Returns True where the value is infinite."""
    def isnan(self) -> _Tensor:
        """Returns True where the value is not a number."""
    def isneginf(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where the value is minus infinity."""
    def isposinf(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where the value is infinity."""
    def isreal(self) -> _Tensor:
        """Returns True where the imaginary part is 0."""
    def istft(self, n_fft: _int, hop_length: _int | None=None, win_length: _int | None=None, window: _Tensor | None=None, center: _bool=True, normalized: _bool=False, onesided: _bool | None=None, length: _int | None=None, return_complex: _bool=False) -> _Tensor:
        """Returns the signal whose `stft` is (frequencies, frames): overlap-adds frames times the
        window and divides by the sum of the squared windows. `length` cuts the signal or pads it with
        zeros. Raises RuntimeError for arguments that don't fit, and if windows leave an element
        uncovered.
        """
    def kron(self, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the Kronecker product: each element of `input` times all of `other`. Dtypes are
        promoted.
        """
    def kthvalue(self, k: _int, dim: _int=-1, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.kthvalue:
        """Returns the `k`-th smallest element along `dim`, counted from 1, and its index. Raises
        RuntimeError for a `k` out of range, IndexError for a dim without elements, NotImplementedError
        for complex numbers and bool.
        """
    def lcm(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the least common multiple of integers, not negative; 0 if one is 0."""
    def lcm_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `lcm`: the result's shape and dtype must fit the tensor."""
    def ldexp(self, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `input` times 2 to the power of `other`."""
    def ldexp_(self, other: _Tensor) -> _Tensor:
        """In-place form of `ldexp`: the result's shape and dtype must fit the tensor."""
    def le(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where `input` is at most `other`."""
    def le_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `le`: the result's shape and dtype must fit the tensor."""
    def lerp(self, end: _Tensor, weight: Any, *, out: _Tensor | None=None) -> _Tensor:
        """Interpolates linearly from `input` (weight 0) to `end` (weight 1). The tensors must have one
        dtype; a 0-d weight may have another.
        """
    def lerp_(self, end: _Tensor, weight: Any) -> _Tensor:
        """In-place form of `lerp`: the result's shape and dtype must fit the tensor."""
    def less(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where `input` is less than `other`."""
    def less_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `lt`: the result's shape and dtype must fit the tensor."""
    def less_equal(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where `input` is at most `other`."""
    def less_equal_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `le`: the result's shape and dtype must fit the tensor."""
    def lgamma(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithm of the gamma function's magnitude."""
    def lgamma_(self) -> _Tensor:
        """In-place form of `lgamma`: the result's shape and dtype must fit the tensor."""
    def log(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the natural logarithm."""
    def log10(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithm to base 10."""
    def log10_(self) -> _Tensor:
        """In-place form of `log10`: the result's shape and dtype must fit the tensor."""
    def log1p(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns log(1 + input), accurate near 0."""
    def log1p_(self) -> _Tensor:
        """In-place form of `log1p`: the result's shape and dtype must fit the tensor."""
    def log2(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithm to base 2."""
    def log2_(self) -> _Tensor:
        """In-place form of `log2`: the result's shape and dtype must fit the tensor."""
    def log_(self) -> _Tensor:
        """In-place form of `log`: the result's shape and dtype must fit the tensor."""
    def log_normal_(self, mean: _float=1.0, std: _float=2.0, *, generator: Any=None) -> _Tensor:
        """Fills the tensor with exp(x) for x of the normal distribution of `mean` and `std`. Raises
        RuntimeError unless `std` is above 0.
        """
    @overload
    def log_softmax(self, dim: _int, dtype: _dtype | None=None, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithm of `softmax`."""
    @overload
    def log_softmax(self, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    def logaddexp(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns log(exp(input) + exp(other)), without overflow."""
    def logaddexp2(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns log2(2 ** input + 2 ** other), without overflow."""
    @overload
    def logcumsumexp(self, dim: _int, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithms of the sums of exponentials up to each element along `dim`. Raises
        NotImplementedError for integers.
        """
    @overload
    def logcumsumexp(self, *, axis: _int | Sequence[_int], out: _Tensor | None=None) -> _Tensor: ...
    def logdet(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithm of each determinant; NaN for a negative one."""
    def logical_and(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where both elements are nonzero."""
    def logical_and_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `logical_and`: the result's shape and dtype must fit the tensor."""
    def logical_not(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where the element is 0."""
    def logical_not_(self) -> _Tensor:
        """In-place form of `logical_not`: the result's shape and dtype must fit the tensor."""
    def logical_or(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where at least one element is nonzero."""
    def logical_or_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `logical_or`: the result's shape and dtype must fit the tensor."""
    def logical_xor(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where exactly one element is nonzero."""
    def logical_xor_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `logical_xor`: the result's shape and dtype must fit the tensor."""
    def logit(self, eps: _float | None=None, *, out: _Tensor | None=None) -> _Tensor:
        """Returns log(x / (1 - x)); with `eps`, x is first clamped to [eps, 1 - eps]."""
    def logit_(self, eps: _float | None=None) -> _Tensor:
        """In-place form of `logit`: the result's shape and dtype must fit the tensor."""
    @overload
    def logsumexp(self, dim: _int, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithm of the sum of exponentials over `dim`, computed without overflow."""
    @overload
    def logsumexp(self, *, axis: _int | Sequence[_int], keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
    def long(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.int64)`."""
    def lt(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where `input` is less than `other`."""
    def lt_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `lt`: the result's shape and dtype must fit the tensor."""
    def lu(self, pivot: _bool=True, get_infos: _bool=False, *, out: _Tensor | None=None) -> tuple[_Tensor, ...]:
        """Returns (LU, pivots), or (LU, pivots, info) with `get_infos`. See `linalg.lu_factor_ex`."""
    def lu_solve(self, LU_data: _Tensor, LU_pivots: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """See `linalg.lu_solve`."""
    def lu_unpack(self, LU_pivots: _Tensor, unpack_data: _bool=True, unpack_pivots: _bool=True, *, out: _Tensor | None=None) -> _return_types.lu_unpack:
        """Returns (P, L, U) of the results of `linalg.lu_factor`; a part that is not requested has no
        elements. Raises RuntimeError for pivots that are not int32, have a wrong shape, or are no row
        numbers (from 1).
        """
    @property
    def mH(self: Any) -> _Tensor:
        """The matrix transposed and, if complex, conjugated: then a copy. Torch has a lazy view."""
    @property
    def mT(self: Any) -> _Tensor:
        """Returns a view with the last two dims exchanged, for a matrix or a batch of matrices."""
    def masked_fill(self, mask: _Tensor, value: Any) -> _Tensor:
        """Returns `value` where the mask is True, else the input."""
    def masked_fill_(self, mask: _Tensor, value: Any) -> _Tensor:
        """Writes a number where the (broadcast) mask is True."""
    def masked_scatter(self, mask: _Tensor, source: _Tensor) -> _Tensor:
        """Returns a copy of the input after `masked_scatter_`."""
    def masked_scatter_(self, mask: _Tensor, source: _Tensor) -> _Tensor:
        """Writes the elements of `source`, in order, where the (broadcast) mask is True. Waits for the
        mask.
        """
    def masked_select(self, mask: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the elements where the mask is True, 1-d."""
    def matmul(self, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the matrix product. A vector on the left is a row, a vector on the right a column,
        and the result lacks that dim. All dims before the last two are batch dims and broadcast. Raises
        RuntimeError for 0-d operands, sizes that don't fit, or different dtypes.
        """
    def matrix_exp(self) -> _Tensor:
        """Returns the exponential of square matrices, the sum of input^k / k!. Each matrix is halved
        until its norm is at most 2; the sum of the series is then squared once for each halving. Raises
        RuntimeError for integers.
        """
    def matrix_power(self, n: _int, *, out: _Tensor | None=None) -> _Tensor:
        """See `linalg.matrix_power`."""
    @overload
    def max(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the largest element of all; the largest along a dim, with its first index; or the
        larger of two tensors' elements, like `maximum`. A NaN is the largest.
        """
    @overload
    def max(self, dim: _int, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.max: ...
    @overload
    def max(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def max(self, *, axis: _int | Sequence[_int], keepdims: _bool=False, out: _Tensor | None=None) -> Any: ...
    def maximum(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the larger element of each pair; NaN if either is NaN."""
    @overload
    def mean(self, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the mean over `dim`; NaN without elements."""
    @overload
    def mean(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def median(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the median of all elements, or along `dim` with its index: of two middle elements the
        lower, and NaN if there is a NaN. Raises IndexError for a dim without elements,
        NotImplementedError for complex numbers and bool.
        """
    @overload
    def median(self, dim: _int=-1, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.median: ...
    @overload
    def min(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the smallest element of all; the smallest along a dim, with its first index; or the
        smaller of two tensors' elements, like `minimum`. A NaN is the smallest.
        """
    @overload
    def min(self, dim: _int, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.min: ...
    @overload
    def min(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def min(self, *, axis: _int | Sequence[_int], keepdims: _bool=False, out: _Tensor | None=None) -> Any: ...
    def minimum(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the smaller element of each pair; NaN if either is NaN."""
    def mm(self, mat2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the product of two matrices of one dtype. float16 and bfloat16 are summed in float32,
        integers wrap. Raises RuntimeError for other numbers of dims, sizes that don't fit, or different
        dtypes.
        """
    def mode(self, dim: _int=-1, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.mode:
        """Returns the most frequent element along `dim`, the smallest of several, and its last index.
        Raises IndexError for a dim without elements, NotImplementedError for complex numbers.
        """
    def moveaxis(self, source: Any, destination: Any) -> _Tensor:
        """Returns a view with the `source` dims (an int or a tuple) at the `destination` positions and
        the other dims in their order.
        """
    def movedim(self, source: Any, destination: Any) -> _Tensor:
        """Returns a view with the `source` dims (an int or a tuple) at the `destination` positions and
        the other dims in their order.
        """
    def msort(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the elements in order along the first dim."""
    def mul(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `input * other`."""
    def mul_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `mul`: the result's shape and dtype must fit the tensor."""
    def multinomial(self, num_samples: _int, replacement: _bool=False, *, generator: Any=None, out: _Tensor | None=None) -> _Tensor:
        """Returns int64 indices of categories, `num_samples` for each row, drawn with the probabilities
        in a row of `input`, which need not sum to 1.
        """
    def multiply(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `input * other`."""
    def multiply_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `mul`: the result's shape and dtype must fit the tensor."""
    def mv(self, vec: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the product of a matrix and a vector. Raises the errors of `mm`."""
    def mvlgamma(self, p: _int, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the logarithm of the multivariate gamma function of dimension `p`: the sum of
        lgamma(input - i / 2) for i below p, plus p * (p - 1) / 4 * log(pi). Raises RuntimeError for `p`
        below 1.
        """
    def mvlgamma_(self, p: _int) -> _Tensor:
        """In-place form of `mvlgamma`: the result's shape and dtype must fit the tensor."""
    def nan_to_num(self, nan: _float | None=None, posinf: _float | None=None, neginf: _float | None=None, *, out: _Tensor | None=None) -> _Tensor:
        """Replaces NaN by `nan` (0) and the infinities by `posinf` and `neginf` (the dtype's largest
        and smallest number).
        """
    def nan_to_num_(self, nan: _float | None=None, posinf: _float | None=None, neginf: _float | None=None) -> _Tensor:
        """In-place form of `nan_to_num`: the result's shape and dtype must fit the tensor."""
    @overload
    def nanmean(self, dim: _int | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the mean of the elements that are not NaN. Raises RuntimeError for integers and
        complex tensors.
        """
    @overload
    def nanmean(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def nanmedian(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the `median` of the elements that are not NaN."""
    @overload
    def nanmedian(self, dim: _int=-1, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.nanmedian: ...
    @overload
    def nanquantile(self, q: Any, dim: _int | None=None, keepdim: _bool=False, *, interpolation: str='linear', out: _Tensor | None=None) -> _Tensor:
        """Returns the `quantile` of the elements that are not NaN."""
    @overload
    def nanquantile(self, q: Any, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, interpolation: str='linear', out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def nansum(self, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the sum over `dim`, with NaN as zero."""
    @overload
    def nansum(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    @overload
    def narrow(self, dim: _int, start: Any, length: _int) -> _Tensor:
        """Returns a view of `length` entries of a dim, starting at `start` (an int or a 0-d integer
        tensor; negative counts from the end).
        """
    @overload
    def narrow(self, *, axis: _int | Sequence[_int], start: Any, length: _int) -> _Tensor: ...
    def narrow_copy(self, dim: _int, start: Any, length: Any, *, out: _Tensor | None=None) -> _Tensor:
        """Returns a copy of `narrow`, in new memory or in `out`."""
    def ne(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where the elements differ; NaN differs from every element."""
    def ne_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `ne`: the result's shape and dtype must fit the tensor."""
    def neg(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns -input."""
    def neg_(self) -> _Tensor:
        """In-place form of `neg`: the result's shape and dtype must fit the tensor."""
    def negative(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns -input."""
    def negative_(self) -> _Tensor:
        """In-place form of `neg`: the result's shape and dtype must fit the tensor."""
    @overload
    def new(self, *sizes: _int | Sequence[_int]) -> _Tensor:
        """Returns a tensor of this tensor's dtype and device, from sizes or data: torch's legacy
        `Tensor.new`.
        """
    @overload
    def new(self, data: Any) -> _Tensor: ...
    def new_empty(self, *size: _int | Sequence[_int], dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
        """Like `empty`, with this tensor's dtype and device unless others are given."""
    def new_empty_strided(self, size: _int | Sequence[_int], stride: Any, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
        """Like `empty_strided`, with this tensor's dtype and device unless others are given."""
    def new_full(self, size: _int | Sequence[_int], fill_value: Any, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
        """Like `full`, with this tensor's dtype (not the value's) and device by default."""
    def new_ones(self, *size: _int | Sequence[_int], dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
        """Like `ones`, with this tensor's dtype and device unless others are given."""
    def new_tensor(self, data: Any, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
        """Like `tensor(data)`, with this tensor's dtype and device unless others are given."""
    def new_zeros(self, *size: _int | Sequence[_int], dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
        """Like `zeros`, with this tensor's dtype and device unless others are given."""
    def nextafter(self, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the next number after `input` towards `other`, in the promoted dtype."""
    def nextafter_(self, other: _Tensor) -> _Tensor:
        """In-place form of `nextafter`: the result's shape and dtype must fit the tensor."""
    @overload
    def nonzero(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the indices of the nonzero elements: int64, one row for each element, in order.
        `as_tuple` returns one tensor for each dim instead. Waits for the input.
        """
    @overload
    def nonzero(self, *, as_tuple: _bool=True) -> tuple[_Tensor, ...]: ...
    def nonzero_static(self, *, size: _int, fill_value: _int=-1, out: _Tensor | None=None) -> _Tensor:
        """Like `nonzero`, with exactly `size` rows: the first ones found, then rows of `fill_value`."""
    def norm(self, p: Any='fro', dim: _int | None=None, keepdim: _bool=False, dtype: _dtype | None=None) -> _Tensor:
        """Returns the vector norm of order `p` of all elements or over `dim`; \"fro\" is the 2-norm."""
    def normal_(self, mean: _float=0.0, std: _float=1.0, *, generator: Any=None) -> _Tensor:
        """Fills the tensor with numbers of the normal distribution. Both parts of a complex number have
        half the variance. Raises RuntimeError for a negative `std`.
        """
    def not_equal(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where the elements differ; NaN differs from every element."""
    def not_equal_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `ne`: the result's shape and dtype must fit the tensor."""
    def numpy(self, *, force: _bool=False, non_blocking: _bool=False) -> np.ndarray[Any, Any]:
        """Waits for the ops that write the tensor and returns it as an array."""
    def orgqr(self, input2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """See `linalg.householder_product`."""
    def ormqr(self, input2: _Tensor, input3: _Tensor, left: _bool=True, transpose: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
        """Returns Q @ input3, or input3 @ Q with `left=False`, with the square Q of reflections (see
        `geqrf`). `transpose` uses Q.mH. Raises RuntimeError for operands that don't fit.
        """
    def outer(self, vec2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the products of every element of a vector with every element of another. Dtypes are
        promoted.
        """
    def permute(self, dims: Any, *more: _int) -> _Tensor:
        """Returns a view with all dims in the order given."""
    def pinverse(self, rcond: _float=1e-15, *, out: _Tensor | None=None) -> _Tensor:
        """See `linalg.pinv`."""
    def poisson(self, generator: Any=None, *, out: _Tensor | None=None) -> _Tensor:
        """Returns numbers of Poisson's distribution whose means are the elements of `input`, in the
        input's dtype.
        """
    def polygamma(self, n: _int) -> _Tensor: ...
    def polygamma_(self, n: _int) -> _Tensor:
        """In-place form of `polygamma`."""
    def positive(self) -> _Tensor:
        """Returns the tensor itself. Raises RuntimeError for bool."""
    def pow(self, exponent: Any, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `input` to the power of `exponent`; one of them may be a number. Integers stay
        integers and wrap: a negative number as exponent raises RuntimeError, negative elements of a
        tensor give 0 (1 and -1 excepted).
        """
    def pow_(self, exponent: Any) -> _Tensor:
        """In-place form of `pow`: the result's shape and dtype must fit the tensor."""
    def prelu(self, weight: _Tensor) -> _Tensor:
        """Returns the input with negative elements multiplied by `weight`, which holds one number or
        one for each channel (dim 1). Raises RuntimeError for another size or dtype.
        """
    @overload
    def prod(self, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the product over `dim`."""
    @overload
    def prod(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    def put(self, index: _Tensor, source: _Tensor, accumulate: _bool=False) -> _Tensor:
        """Returns a copy of the input after `put_`."""
    def put_(self, index: _Tensor, source: _Tensor, accumulate: _bool=False) -> _Tensor:
        """Writes the elements of `source` to positions of the flattened tensor, in order; `accumulate`
        adds them. Raises IndexError for an index out of range.
        """
    def qr(self, some: _bool=True, *, out: _Tensor | None=None) -> _return_types.qr:
        """Returns (Q, R). See `linalg.qr`; without `some`, Q is square."""
    @overload
    def quantile(self, q: Any, dim: _int | None=None, keepdim: _bool=False, *, interpolation: str='linear', out: _Tensor | None=None) -> _Tensor:
        """Returns the `q`-quantile of all elements or along `dim`: a share `q` of the elements is below
        it. `q` is a number in [0, 1], or a vector, which becomes the result's first dim.
        `interpolation` between two elements is \"linear\", \"lower\", \"higher\", \"midpoint\" or \"nearest\".
        NaN if there is a NaN. Raises RuntimeError for dtypes other than float32 and float64, a `q` of
        another dtype, and no elements.
        """
    @overload
    def quantile(self, q: Any, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, interpolation: str='linear', out: _Tensor | None=None) -> _Tensor: ...
    def rad2deg(self, *, out: _Tensor | None=None) -> _Tensor:
        """Converts radians to degrees."""
    def rad2deg_(self) -> _Tensor:
        """In-place form of `rad2deg`: the result's shape and dtype must fit the tensor."""
    @overload
    def random_(self, *, generator: Any=None) -> _Tensor:
        """Fills the tensor with uniform integers in [from, to). `from` defaults to 0, `to` to one above
        the largest integer of the dtype; for a floating-point dtype that is the largest integer up to
        which it holds all integers. Raises RuntimeError for an empty range or one beyond the dtype.
        """
    @overload
    def random_(self, to: Any, *, generator: Any=None) -> _Tensor: ...
    @overload
    def random_(self, from_: Any, to: Any, *, generator: Any=None) -> _Tensor: ...
    def ravel(self) -> _Tensor:
        """Returns all elements in one dim, copied unless they are contiguous."""
    @property
    def real(self: Any) -> _Tensor:
        """Returns a view of the real parts; a real tensor itself."""
    def reciprocal(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns 1 / input."""
    def reciprocal_(self) -> _Tensor:
        """In-place form of `reciprocal`: the result's shape and dtype must fit the tensor."""
    def relu(self, inplace: _bool=False) -> _Tensor:
        """Returns max(input, 0)."""
    def relu_(self) -> _Tensor:
        """In-place form of `relu`."""
    def remainder(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the remainder of floor division, with the sign of `other`, like Python's `%`.
        Integers modulo the number 0 raise RuntimeError; zeros in a tensor leave them unchanged.
        """
    def remainder_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `remainder`: the result's shape and dtype must fit the tensor."""
    @overload
    def renorm(self, p: Any, dim: _int, maxnorm: Any, *, out: _Tensor | None=None) -> _Tensor:
        """Scales each slice along `dim` to a p-norm of at most `maxnorm`. Raises RuntimeError for fewer
        than two dims, a `p` that is not positive, and a negative `maxnorm`.
        """
    @overload
    def renorm(self, p: Any, *, axis: _int | Sequence[_int], maxnorm: Any, out: _Tensor | None=None) -> _Tensor: ...
    def renorm_(self, p: Any, dim: _int, maxnorm: Any) -> _Tensor:
        """In-place form of `renorm`: the result's shape and dtype must fit the tensor."""
    def repeat(self, *repeats: _int | Sequence[_int] | _Tensor, **named: Any) -> _Tensor:
        """Returns a copy that repeats the tensor along each dim by these counts."""
    @overload
    def repeat_interleave(self, repeats: _int | Sequence[_int] | _Tensor | None=None, dim: _int | None=None, *, output_size: _int | None=None) -> _Tensor:
        """Repeats each entry of a dim, one after the other: `repeats` times each, or by a 1-d integer
        tensor with one count for each entry, for which the call waits. Without `dim` the input is
        flattened. `repeat_interleave(repeats)` returns the indices that this would take.
        """
    @overload
    def repeat_interleave(self, repeats: _int | Sequence[_int] | _Tensor | None=None, *, axis: _int | Sequence[_int] | None=None, output_size: _int | None=None) -> _Tensor: ...
    def requires_grad_(self, requires_grad: _bool=True) -> _Tensor:
        """Returns the tensor itself. Raises RuntimeError for True: ftensor records no gradients."""
    def reshape(self, shape: _int | Sequence[_int], *more: _int) -> _Tensor:
        """Returns the elements in row-major order under another shape, one size of which may be -1: a
        view if the strides allow it, else a copy. Raises RuntimeError if the shape doesn't fit.
        """
    def reshape_as(self, other: _Tensor) -> _Tensor:
        """Returns the tensor reshaped to `other`'s shape."""
    def resize_(self, *size: _int | Sequence[_int], memory_format: _memory_format=...) -> _Tensor:
        """Changes the shape in place; elements keep their position in memory."""
    def resize_as_(self, the_template: _Tensor, *, memory_format: _memory_format=...) -> _Tensor:
        """Resizes the tensor to another tensor's shape; with `preserve_format` channels-last if that
        tensor is.
        """
    def resolve_conj(self) -> _Tensor:
        """Returns the tensor itself, since `conj` computes at once."""
    def resolve_neg(self) -> _Tensor:
        """Returns the tensor itself, since no view is negated lazily."""
    def roll(self, shifts: Any=None, dims: Any=()) -> _Tensor:
        """Returns a copy with elements shifted along dims; elements that leave at the end return at the
        start. Without dims the tensor is rolled as if flattened.
        """
    def rot90(self, k: _int=1, dims: Any=(0, 1)) -> _Tensor:
        """Returns a copy rotated k times from dims[0] to dims[1]."""
    def round(self, *, decimals: _int=0, out: _Tensor | None=None) -> _Tensor:
        """Returns the nearest number with `decimals` decimals (negative: zeros before the point); of
        two, the one with the even last digit. Raises TypeError for `decimals` that are no int.
        """
    def round_(self, *, decimals: _int=0) -> _Tensor:
        """In-place form of `round`: the result's shape and dtype must fit the tensor."""
    def rsqrt(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns 1 / sqrt(input)."""
    def rsqrt_(self) -> _Tensor:
        """In-place form of `rsqrt`: the result's shape and dtype must fit the tensor."""
    def scatter(self, dim: _int, index: _Tensor, src: Any=None, *, value: Any=None, reduce: str | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns a copy of the input with the elements of `src`, or a number, written at `index` along
        a dim. The last write to a position stays. `reduce` \"add\" or \"multiply\" combines them with the
        present elements. Raises RuntimeError for an index out of range.
        """
    def scatter_(self, dim: _int, index: _Tensor, src: Any=None, *, value: Any=None, reduce: str | None=None) -> _Tensor:
        """In-place form of `scatter`."""
    def scatter_add(self, dim: _int, index: _Tensor, src: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns a copy of the input with the elements of `src` added at `index` along a dim, in
        order. Raises RuntimeError for an index out of range.
        """
    def scatter_add_(self, dim: _int, index: _Tensor, src: _Tensor) -> _Tensor:
        """In-place form of `scatter_add`."""
    def scatter_reduce(self, dim: _int, index: _Tensor, src: _Tensor, reduce: str, *, include_self: _bool=True, out: _Tensor | None=None) -> _Tensor:
        """Like `scatter_add`, with \"sum\", \"prod\", \"mean\", \"amax\" or \"amin\" over the elements that share
        a position. The input's own element takes part unless `include_self` is False.
        """
    def scatter_reduce_(self, dim: _int, index: _Tensor, src: _Tensor, reduce: str, *, include_self: _bool=True) -> _Tensor:
        """In-place form of `scatter_reduce`."""
    @overload
    def select(self, dim: _int, index: _int) -> _Tensor:
        """Returns a view of one entry of a dim, without that dim."""
    @overload
    def select(self, *, axis: _int | Sequence[_int], index: _int) -> _Tensor: ...
    @overload
    def select_scatter(self, src: _Tensor, dim: _int, index: _int) -> _Tensor:
        """Returns a copy of the input with one entry of a dim replaced."""
    @overload
    def select_scatter(self, src: _Tensor, *, axis: _int | Sequence[_int], index: _int) -> _Tensor: ...
    def set_(self, source: _Tensor | None=None, storage_offset: _int=0, size: Sequence[_int] | None=None, stride: Sequence[_int] | None=None) -> _Tensor:
        """Makes the tensor share another's memory, with its layout or with the given one, in elements
        of its storage. Without `source` it becomes empty. Raises RuntimeError for another dtype and a
        layout beyond the storage's end.
        """
    def sgn(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the sign; for a complex number, the number of magnitude 1 with its angle."""
    def sgn_(self) -> _Tensor:
        """In-place form of `sgn`: the result's shape and dtype must fit the tensor."""
    def short(self, memory_format: _memory_format=...) -> _Tensor:
        """Converts the tensor: `to(ftensor.int16)`."""
    def sigmoid(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns 1 / (1 + exp(-input))."""
    def sigmoid_(self) -> _Tensor:
        """In-place form of `sigmoid`: the result's shape and dtype must fit the tensor."""
    def sign(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns 1 for positive elements, -1 for negative ones, else 0."""
    def sign_(self) -> _Tensor:
        """In-place form of `sign`: the result's shape and dtype must fit the tensor."""
    def signbit(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns True where the sign bit is set, which includes -0."""
    def sin(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the sine."""
    def sin_(self) -> _Tensor:
        """In-place form of `sin`: the result's shape and dtype must fit the tensor."""
    def sinc(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns sin(pi * input) / (pi * input), and 1 at 0."""
    def sinc_(self) -> _Tensor:
        """In-place form of `sinc`: the result's shape and dtype must fit the tensor."""
    def sinh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the hyperbolic sine."""
    def sinh_(self) -> _Tensor:
        """In-place form of `sinh`: the result's shape and dtype must fit the tensor."""
    @overload
    def slice_scatter(self, src: _Tensor, dim: _int=0, start: _int | None=None, end: _int | None=None, step: _int=1, *, out: _Tensor | None=None) -> _Tensor:
        """Returns a copy of the input with a slice of a dim replaced."""
    @overload
    def slice_scatter(self, src: _Tensor, *, axis: _int | Sequence[_int]=0, start: _int | None=None, end: _int | None=None, step: _int=1, out: _Tensor | None=None) -> _Tensor: ...
    def slogdet(self, *, out: _Tensor | None=None) -> _return_types.slogdet:
        """See `linalg.slogdet`."""
    @overload
    def softmax(self, dim: _int, dtype: _dtype | None=None, *, out: _Tensor | None=None) -> _Tensor:
        """Returns exponentials along a dim, divided by their sum."""
    @overload
    def softmax(self, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    def sort(self, dim: _int=-1, descending: _bool=False, *, stable: _bool | None=False, out: _Tensor | None=None) -> _return_types.sort:
        """Returns the elements in order along `dim`, and their indices in the input. NaN is the
        largest; equal elements keep their order, with `stable` and without. Raises RuntimeError for
        complex numbers.
        """
    def split(self, split_size: Any, dim: _int=0) -> tuple[_Tensor, ...]:
        """Returns views of `split_size` entries of a dim each (the last may have fewer), or of the
        sizes in a list, which must add up to the dim's.
        """
    @overload
    def split_with_sizes(self, split_sizes: Any, dim: _int=0) -> tuple[_Tensor, ...]:
        """Returns views of these sizes along a dim."""
    @overload
    def split_with_sizes(self, split_sizes: Any, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
    def sqrt(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the square root."""
    def sqrt_(self) -> _Tensor:
        """In-place form of `sqrt`: the result's shape and dtype must fit the tensor."""
    def square(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the square of each element. A bool input gives int64."""
    def square_(self) -> _Tensor:
        """In-place form of `square`: the result's shape and dtype must fit the tensor."""
    @overload
    def squeeze(self, dim: _int | None=None, *more: _int) -> _Tensor:
        """Returns a view without the dims of size 1, or without those of them named by `dim` (int or
        tuple).
        """
    @overload
    def squeeze(self, *more: _int, axis: _int | Sequence[_int] | None=None) -> _Tensor: ...
    @overload
    def squeeze_(self, dim: _int | None=None, *more: _int) -> _Tensor:
        """`squeeze` in place."""
    @overload
    def squeeze_(self, *more: _int, axis: _int | Sequence[_int] | None=None) -> _Tensor: ...
    @overload
    def std(self, dim: _int | None=None, unbiased: Any=..., keepdim: _bool=False, *, correction: Any=..., out: _Tensor | None=None) -> _Tensor:
        """Returns the standard deviation over `dim`: the square root of `var`."""
    @overload
    def std(self, *, axis: _int | Sequence[_int] | None=None, unbiased: Any=..., keepdims: _bool=False, correction: Any=..., out: _Tensor | None=None) -> _Tensor: ...
    def stft(self, n_fft: _int, hop_length: _int | None=None, win_length: _int | None=None, window: _Tensor | None=None, center: _bool=True, pad_mode: str='reflect', normalized: _bool=False, onesided: _bool | None=None, return_complex: _bool | None=None, align_to_window: _bool | None=None) -> _Tensor:
        """Returns the transforms of frames of `n_fft` numbers, `hop_length` (n_fft // 4) apart, times a
        window.
        """
    def sub(self, other: _Tensor | _Number, *, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `input` minus `alpha` times `other`. Raises RuntimeError for bool operands (use `^`
        or `~`) and for an `alpha` of a higher category than the inputs.
        """
    def sub_(self, other: _Tensor | _Number, *, alpha: Any=1) -> _Tensor:
        """In-place form of `sub`: the result's shape and dtype must fit the tensor."""
    def subtract(self, other: _Tensor | _Number, *, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
        """Returns `input` minus `alpha` times `other`. Raises RuntimeError for bool operands (use `^`
        or `~`) and for an `alpha` of a higher category than the inputs.
        """
    def subtract_(self, other: _Tensor | _Number, *, alpha: Any=1) -> _Tensor:
        """In-place form of `sub`: the result's shape and dtype must fit the tensor."""
    @overload
    def sum(self, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
        """Returns the sum over `dim`."""
    @overload
    def sum(self, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
    def sum_to_size(self, *size: _int | Sequence[_int]) -> _Tensor:
        """Sums over the dims that broadcasting from this size would add or expand. Raises RuntimeError
        if the size doesn't broadcast to this tensor's shape.
        """
    def svd(self, some: _bool=True, compute_uv: _bool=True, *, out: _Tensor | None=None) -> _return_types.svd:
        """Returns (U, S, V) with input = U @ diag(S) @ V.mH. See `linalg.svd`, the newer form. Without
        `compute_uv`, U and V are zeros.
        """
    def swapaxes(self, axis0: _int, axis1: _int) -> _Tensor:
        """`transpose` under NumPy's name."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> _Tensor:
        """`swapaxes` in place."""
    def swapdims(self, dim0: _int, dim1: _int) -> _Tensor:
        """Returns a view with two dims exchanged."""
    def swapdims_(self, dim0: _int, dim1: _int) -> _Tensor:
        """`transpose` in place."""
    def t(self) -> _Tensor:
        """Returns a matrix transposed, as a view. Raises RuntimeError for more than 2 dims."""
    def t_(self) -> _Tensor:
        """`t` in place."""
    def take(self, index: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Returns elements by their position in the flattened input."""
    def take_along_dim(self, indices: _Tensor, dim: _int | None=None, *, out: _Tensor | None=None) -> _Tensor:
        """Like `gather`, but input and indices broadcast together in the other dims, and negative
        indices count from the end. Without `dim` both are flattened and negative indices raise
        RuntimeError.
        """
    def tan(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the tangent."""
    def tan_(self) -> _Tensor:
        """In-place form of `tan`: the result's shape and dtype must fit the tensor."""
    def tanh(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the hyperbolic tangent."""
    def tanh_(self) -> _Tensor:
        """In-place form of `tanh`: the result's shape and dtype must fit the tensor."""
    @overload
    def tensor_split(self, indices_or_sections: Any=None, dim: _int=0, *, sections: _int | _Tensor | None=None, indices: Sequence[_int] | _Tensor | None=None, tensor_indices_or_sections: _Tensor | None=None) -> tuple[_Tensor, ...]:
        """Returns that many views of a dim, with sizes that differ by at most 1, or the views between
        the indices in a tuple. An int64 tensor of 0 dims is a number, one of 1 dim a tuple of indices.
        """
    @overload
    def tensor_split(self, indices_or_sections: Any=None, *, axis: _int | Sequence[_int]=0, sections: _int | _Tensor | None=None, indices: Sequence[_int] | _Tensor | None=None, tensor_indices_or_sections: _Tensor | None=None) -> tuple[_Tensor, ...]: ...
    def tile(self, *dims: Any, **named: Any) -> _Tensor:
        """Like `repeat`; fewer counts than dims apply to the last dims."""
    @overload
    def to(self, dtype: _dtype | None, non_blocking: _bool=False, copy: _bool=False, *, memory_format: _memory_format | None=None) -> _Tensor:
        """Converts the tensor to another dtype or device."""
    @overload
    def to(self, device: DeviceLike | None, dtype: _dtype | None=None, non_blocking: _bool=False, copy: _bool=False, *, memory_format: _memory_format | None=None) -> _Tensor: ...
    @overload
    def to(self, other: _Tensor | _Number, non_blocking: _bool=False, copy: _bool=False, *, memory_format: _memory_format | None=None) -> _Tensor: ...
    def to_device(self, device: DeviceLike, *, stream: None=None) -> _Tensor:
        """Returns the tensor on a device, the tensor itself if it is there: the array API standard's
        `to_device`.
        """
    def to_torch(self, *, non_blocking: _bool=False) -> Any:
        """Waits for the ops that write the tensor and returns it as a torch CPU tensor with the same
        strides.
        """
    def topk(self, k: _int, dim: _int=-1, largest: _bool=True, sorted: _bool=True, *, out: _Tensor | None=None) -> _return_types.topk:
        """Returns the `k` largest (or smallest) elements along `dim`, in order, and their indices.
        Raises RuntimeError for a `k` beyond the dim's size, for bool and for complex numbers.
        """
    def trace(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the sum of a matrix's diagonal. Raises RuntimeError for other numbers of dims."""
    def transpose(self, dim0: _int, dim1: _int) -> _Tensor:
        """Returns a view with two dims exchanged."""
    def transpose_(self, dim0: _int, dim1: _int) -> _Tensor:
        """`transpose` in place."""
    def triangular_solve(self, A: _Tensor, upper: _bool=True, transpose: _bool=False, unitriangular: _bool=False, *, out: _Tensor | None=None) -> _return_types.triangular_solve:
        """Returns (X of A @ X = input, a copy of A); `transpose` solves with A.mT. See
        `linalg.solve_triangular`, the newer form.
        """
    def tril(self, diagonal: _int=0, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the lower triangle of each matrix, up to diagonal number `diagonal`; zeros
        elsewhere.
        """
    def tril_(self, diagonal: _int=0) -> _Tensor:
        """In-place form of `tril`: the result's shape and dtype must fit the tensor."""
    def triu(self, diagonal: _int=0, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the upper triangle of each matrix, from diagonal number `diagonal` on; zeros
        elsewhere.
        """
    def triu_(self, diagonal: _int=0) -> _Tensor:
        """In-place form of `triu`: the result's shape and dtype must fit the tensor."""
    def true_divide(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Like `div` without rounding."""
    def true_divide_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `true_divide`: the result's shape and dtype must fit the tensor."""
    def trunc(self, *, out: _Tensor | None=None) -> _Tensor:
        """Returns the element rounded towards 0."""
    def trunc_(self) -> _Tensor:
        """In-place form of `trunc`: the result's shape and dtype must fit the tensor."""
    @overload
    def type(self) -> str:
        """Without `dtype` returns the name of the tensor's type, such as \"ftensor.FloatTensor\" (on an
        fpga \"ftensor.fpga.FloatTensor\"). Otherwise converts the tensor to a dtype or to such a name,
        which may be torch's (\"torch.FloatTensor\": on the host).
        """
    @overload
    def type(self, dtype: _dtype | str | None, non_blocking: _bool=False) -> _Tensor: ...
    def type_as(self, other: _Tensor) -> _Tensor:
        """Returns the tensor in `other`'s dtype, on its device."""
    @overload
    def unbind(self, dim: _int=0) -> tuple[_Tensor, ...]:
        """Returns a view of every entry of a dim."""
    @overload
    def unbind(self, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
    @overload
    def unflatten(self, dim: _int, sizes: _int | Sequence[_int]) -> _Tensor:
        """Returns a view with one dim split into `sizes`, one of which may be -1. Raises RuntimeError
        if their product is not the dim's size.
        """
    @overload
    def unflatten(self, *, axis: _int | Sequence[_int], sizes: _int | Sequence[_int]) -> _Tensor: ...
    def unfold(self, dimension: _int, size: _int, step: _int) -> _Tensor:
        """Returns a view of all windows of `size` entries of a dim, one every `step`, as a new last
        dim.
        """
    def uniform_(self, from_: Any=0.0, to: Any=1.0, *, generator: Any=None) -> _Tensor:
        """Fills the tensor with uniform numbers in [from, to): equally spaced numbers in [0, 1) that
        the result's dtype holds exactly, times (to - from), plus `from`.
        """
    def unique(self, sorted: _bool=True, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> _Tensor | tuple[_Tensor, ...]:
        """Returns each element once, in order, or each slice along `dim` in lexicographic order;
        optionally the index of each input element among them, and the counts. NaN differs from NaN.
        Raises RuntimeError for slices without elements, NotImplementedError for complex numbers.
        """
    def unique_consecutive(self, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> _Tensor | tuple[_Tensor, ...]:
        """Returns the first element of each run of equal elements, or of equal slices along `dim`;
        optionally the run of each input element, and the lengths of the runs.
        """
    def unravel_index(self, shape: _int | Sequence[_int]) -> tuple[_Tensor, ...]:
        """Returns the coordinates of flat positions in a shape, one int64 tensor for each dim.
        Positions outside the shape, or negative, wrap around.
        """
    @overload
    def unsafe_chunk(self, chunks: _int, dim: _int=0) -> tuple[_Tensor, ...]:
        """Returns at most `chunks` views of a dim, equal but for the last; `tensor_split` returns
        exactly as many.
        """
    @overload
    def unsafe_chunk(self, chunks: _int, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
    @overload
    def unsafe_split(self, split_size: Any, dim: _int=0) -> tuple[_Tensor, ...]:
        """Returns `ft.split(input, split_size, dim)`."""
    @overload
    def unsafe_split(self, split_size: Any, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
    @overload
    def unsafe_split_with_sizes(self, split_sizes: Any, dim: _int=0) -> tuple[_Tensor, ...]:
        """Returns views of these sizes along a dim."""
    @overload
    def unsafe_split_with_sizes(self, split_sizes: Any, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
    @overload
    def unsqueeze(self, dim: _int) -> _Tensor:
        """Returns a view with a new dim of size 1 at `dim`."""
    @overload
    def unsqueeze(self, *, axis: _int | Sequence[_int]) -> _Tensor: ...
    @overload
    def unsqueeze_(self, dim: _int) -> _Tensor:
        """`unsqueeze` in place."""
    @overload
    def unsqueeze_(self, *, axis: _int | Sequence[_int]) -> _Tensor: ...
    @overload
    def var(self, dim: _int | None=None, unbiased: Any=..., keepdim: _bool=False, *, correction: Any=..., out: _Tensor | None=None) -> _Tensor:
        """Returns the variance over `dim`: the mean squared distance from the mean, divided by n -
        correction (`unbiased=False` is `correction=0`). The variance of a complex tensor is real.
        Raises RuntimeError for integers.
        """
    @overload
    def var(self, *, axis: _int | Sequence[_int] | None=None, unbiased: Any=..., keepdims: _bool=False, correction: Any=..., out: _Tensor | None=None) -> _Tensor: ...
    def vdot(self, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
        """Like `dot`, with the conjugate of `input`."""
    @overload
    def view(self, *shape: _int | Sequence[_int]) -> _Tensor:
        """Returns the same memory under another shape (one size may be -1), or its bytes as another
        dtype. Raises RuntimeError if strides or sizes would require a copy; `reshape` copies.
        """
    @overload
    def view(self, dtype: _dtype) -> _Tensor: ...
    def view_as(self, other: _Tensor) -> _Tensor:
        """Returns the tensor viewed with `other`'s shape."""
    @overload
    def vsplit(self, sections: _int | _Tensor) -> tuple[_Tensor, ...]:
        """Like hsplit, along the rows (dim 0)."""
    @overload
    def vsplit(self, indices: Sequence[_int] | _Tensor) -> tuple[_Tensor, ...]: ...
    def where(self, condition: Any, other: _Tensor | _Number) -> _Tensor:
        """Returns the tensor where the condition is True, else `other`."""
    def xlogy(self, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
        """Returns `input * log(other)`; 0 where `input` is 0, unless `other` is NaN."""
    def xlogy_(self, other: _Tensor | _Number) -> _Tensor:
        """In-place form of `xlogy`: the result's shape and dtype must fit the tensor."""
    def zero_(self) -> _Tensor:
        """Writes zeros into every element."""
