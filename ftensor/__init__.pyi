"""ftensor: torch's tensors on FPGAs and any OpenCL device.

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

from . import cuda as cuda
from . import fpga as fpga
from . import random as random
from . import return_types as return_types
from ._device import device as device
from ._device import get_default_device as get_default_device
from ._device import get_device_mapping as get_device_mapping
from ._device import set_default_device as set_default_device
from ._device import set_device_mapping as set_device_mapping
from ._printing import get_printoptions as get_printoptions
from ._printing import printoptions as printoptions
from ._printing import set_printoptions as set_printoptions
from ._tensor import Tensor as Tensor
from ._version import __version__ as __version__
from .dtypes import bfloat16 as bfloat16
from .dtypes import bool as bool
from .dtypes import can_cast as can_cast
from .dtypes import cdouble as cdouble
from .dtypes import cfloat as cfloat
from .dtypes import chalf as chalf
from .dtypes import complex32 as complex32
from .dtypes import complex64 as complex64
from .dtypes import complex128 as complex128
from .dtypes import double as double
from .dtypes import dtype as dtype
from .dtypes import float as float
from .dtypes import float8_e4m3fn as float8_e4m3fn
from .dtypes import float8_e5m2 as float8_e5m2
from .dtypes import float16 as float16
from .dtypes import float32 as float32
from .dtypes import float64 as float64
from .dtypes import get_default_dtype as get_default_dtype
from .dtypes import half as half
from .dtypes import int as int
from .dtypes import int8 as int8
from .dtypes import int16 as int16
from .dtypes import int32 as int32
from .dtypes import int64 as int64
from .dtypes import long as long
from .dtypes import promote_types as promote_types
from .dtypes import result_type as result_type
from .dtypes import short as short
from .dtypes import uint8 as uint8
from .dtypes import uint16 as uint16
from .dtypes import uint32 as uint32
from .dtypes import uint64 as uint64
from .dtypes.limits import finfo as finfo
from .dtypes.limits import iinfo as iinfo
from .errors import KernelNotBuilt as KernelNotBuilt
from .errors import OutOfMemoryError as OutOfMemoryError
from .errors.graph import GraphError as GraphError
from .execute.device_traits import set_default_dtype as set_default_dtype
from .execute.indexed import get_index_check as get_index_check
from .execute.indexed import set_index_check as set_index_check
from .formats import Size as Size
from .formats import channels_last as channels_last
from .formats import channels_last_3d as channels_last_3d
from .formats import contiguous_format as contiguous_format
from .formats import layout as layout
from .formats import memory_format as memory_format
from .formats import newaxis as newaxis
from .formats import preserve_format as preserve_format
from .formats import sparse_bsc as sparse_bsc
from .formats import sparse_bsr as sparse_bsr
from .formats import sparse_coo as sparse_coo
from .formats import sparse_csc as sparse_csc
from .formats import sparse_csr as sparse_csr
from .formats import strided as strided
from .fpga import load_image as load_image
from .fpga import synchronize as synchronize
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import is_grad_enabled as is_grad_enabled
from .grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .graph.jit import jit as jit
from .interop.dlpack import from_dlpack as from_dlpack
from .interop.dlpack import from_torch as from_torch
from .interop.host import from_numpy as from_numpy
from .interop.opencl import from_buffer as from_buffer
from .interop.state import load as load
from .interop.state import save as save
from .ops.reduce.feedback import scan as scan
from .own.register import register_kernel as register_kernel
from .own.register import unregister_kernel as unregister_kernel
from .random import Generator as Generator
from .random import get_rng_state as get_rng_state
from .random import initial_seed as initial_seed
from .random import manual_seed as manual_seed
from .random import seed as seed
from .random import set_rng_state as set_rng_state
from .runtime.fallback import FallbackWarning as FallbackWarning
from .runtime.fallback import fallback_report as fallback_report
from .runtime.fallback import get_fallback as get_fallback
from .runtime.fallback import set_fallback as set_fallback
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from . import fft as fft
from . import linalg as linalg
from . import masked as masked
from . import nn as nn
from . import quantized as quantized
from . import signal as signal
from . import special as special
@overload
def _chunk_cat(tensors: Sequence[_Tensor], dim: _int, num_chunks: _int, *, out: _Tensor | None=None) -> _Tensor:
    """Splits each tensor into `num_chunks` chunks along `dim`, padded with zeros at the end, and
    flattens the dims from there. Returns the chunks concatenated: the first chunks of all tensors
    side by side, then the second ones. Raises RuntimeError for dims that don't fit.
    """
@overload
def _chunk_cat(tensors: Sequence[_Tensor], *, axis: _int | Sequence[_int], num_chunks: _int, out: _Tensor | None=None) -> _Tensor: ...
def _ctc_loss(log_probs: _Tensor, targets: _Tensor, input_lengths: Any, target_lengths: Any, blank: _int=0, zero_infinity: _bool=False) -> tuple[_Tensor, _Tensor]:
    """Returns (negative log-likelihoods, logarithms of alpha (batch, steps, states)) of log_probs
    (steps, batch, classes). Elements beyond a sample's lengths have no meaning.
    """
def _int_mm(input: _Tensor, mat2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the product of an (n, k) matrix of int8 or uint8 and a (k, m) matrix of int8, summed
    exactly in int32, the result's dtype. Raises RuntimeError for other dtypes, numbers of dims,
    sizes that don't fit, and an `out` that is not (n, m) of int32.
    """
@overload
def _log_softmax_backward_data(grad_output: _Tensor, output: _Tensor, dim: _int, input_dtype: _dtype, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the gradient of log_softmax's input, grad - exp(output) * sum(grad) along `dim`, in
    `input_dtype`.
    """
@overload
def _log_softmax_backward_data(grad_output: _Tensor, output: _Tensor, *, axis: _int | Sequence[_int], input_dtype: _dtype, out: _Tensor | None=None) -> _Tensor: ...
@overload
def _native_batch_norm_legit(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, running_mean: Any, running_var: Any, training: Any, momentum: Any, eps: Any, *, out: _Tensor | None=None) -> tuple[_Tensor, _Tensor, _Tensor]:
    """Like `native_batch_norm`, also without running statistics."""
@overload
def _native_batch_norm_legit(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, training: Any, momentum: Any, eps: Any, *, out: _Tensor | None=None) -> tuple[_Tensor, _Tensor, _Tensor]: ...
def _native_batch_norm_legit_no_training(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, running_mean: _Tensor, running_var: _Tensor, momentum: _float, eps: _float) -> tuple[_Tensor, _Tensor, _Tensor]:
    """Like `native_batch_norm` with the running statistics."""
@overload
def _safe_softmax(input: _Tensor, dim: _int, dtype: _dtype | None=None) -> _Tensor:
    """Like `softmax`, but a row of -inf alone gives 0."""
@overload
def _safe_softmax(input: _Tensor, *, axis: _int | Sequence[_int], dtype: _dtype | None=None) -> _Tensor: ...
@overload
def _softmax_backward_data(grad_output: _Tensor, output: _Tensor, dim: _int, input_dtype: _dtype, *, grad_input: _Tensor | None=None) -> _Tensor:
    """Returns the gradient of softmax's input, output * (grad - sum(grad * output)) along `dim`, in
    `input_dtype`.
    """
@overload
def _softmax_backward_data(grad_output: _Tensor, output: _Tensor, *, axis: _int | Sequence[_int], input_dtype: _dtype, grad_input: _Tensor | None=None) -> _Tensor: ...
def _unsafe_masked_index(input: _Tensor, mask: _Tensor, indices: Sequence[_Tensor | None], fill: Any) -> _Tensor:
    """Returns input[indices] where `mask` is True, else `fill`. Masked indices may be out of
    range.
    """
def _unsafe_masked_index_put_accumulate(input: _Tensor, mask: _Tensor, indices: Sequence[_Tensor | None], values: _Tensor) -> _Tensor:
    """Returns a copy of the input with `values` added at the indices where `mask` is True."""
def abs(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the absolute value; for a complex number, its magnitude.

    A complex input gives a real result.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def abs_(input: _Tensor) -> _Tensor:
    """In-place form of `abs`. Raises RuntimeError for complex tensors, whose result is real."""
def absolute(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the absolute value; for a complex number, its magnitude.

    A complex input gives a real result.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `abs`.
    """
def absolute_(input: _Tensor) -> _Tensor:
    """In-place form of `abs`. Raises RuntimeError for complex tensors, whose result is real.

    Alias of `abs_`.
    """
def acos(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the arc cosine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def acos_(input: _Tensor) -> _Tensor:
    """In-place form of `acos`: the result's shape and dtype must fit the tensor."""
def acosh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse hyperbolic cosine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def acosh_(input: _Tensor) -> _Tensor:
    """In-place form of `acosh`: the result's shape and dtype must fit the tensor."""
def adaptive_avg_pool1d(input: _Tensor, output_size: Any) -> _Tensor:
    """Returns the means of `output_size` windows, which cover the last 1 dims (an int, or a list of 1;
    None keeps the input's size). If it doesn't divide a size, neighbouring windows overlap by one.
    ValueError for too few dims, RuntimeError for invalid sizes.
    """
def adaptive_max_pool1d(input: _Tensor, output_size: Any) -> tuple[_Tensor, _Tensor]:
    """Returns the maxima and their positions in windows that divide the last dim into `output_size`
    parts. Raises RuntimeError for impossible sizes.
    """
def add(input: _Tensor, other: _Tensor | _Number, *, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns the sum of `input` and `alpha` times `other`, in the promoted dtype. Raises
    RuntimeError for an `alpha` of a higher category than the inputs.
    """
def addbmm(input: _Tensor, batch1: _Tensor, batch2: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `beta * input + alpha` times the sum of the products of all pairs of matrices."""
def addcdiv(input: _Tensor, tensor1: _Tensor, tensor2: _Tensor, *, value: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `input + value * tensor1 / tensor2`. Raises RuntimeError if both divided tensors are
    integers.
    """
def addcmul(input: _Tensor, tensor1: _Tensor, tensor2: _Tensor, *, value: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `input + value * tensor1 * tensor2`. `value` is converted to the dtype of the
    result.
    """
def addmm(input: _Tensor, mat1: _Tensor, mat2: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `beta * input + alpha * (mat1 @ mat2)`. With `beta` 0 `input` is not read, with
    `alpha` 0 no matrix is. Raises RuntimeError for matrices that don't fit, an `input` that doesn't
    expand to the product's shape, or different dtypes.
    """
def addmv(input: _Tensor, mat: _Tensor, vec: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `beta * input + alpha * (mat @ vec)`. With `beta` 0 `input` is not read. Raises the
    errors of `addmm`.
    """
def addmv_(input: _Tensor, mat: _Tensor, vec: _Tensor, *, beta: Any=1, alpha: Any=1) -> _Tensor:
    """In-place form of `addmv`: the result's shape and dtype must fit the tensor."""
def addr(input: _Tensor, vec1: _Tensor, vec2: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `beta * input + alpha * outer(vec1, vec2)`. Dtypes are promoted. With `beta` 0
    `input` is not read.
    """
def adjoint(input: _Tensor) -> _Tensor:
    """Returns the last two dims exchanged, conjugated when complex."""
def affine_grid_generator(theta: _Tensor, size: _int | Sequence[_int], align_corners: _bool) -> _Tensor:
    """Implements `nn.functional.affine_grid` without checks."""
def alias_copy(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `alias`, in new memory or in `out`."""
@overload
def all(input: _Tensor, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True if all elements over `dim` are nonzero.

    `dim` is an int, several (of () none), or None for all; IndexError for a dim out of range.
    uint8 tensors give uint8, all others bool.
    """
@overload
def all(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
def allclose(input: _Tensor, other: _Tensor, rtol: _float=1e-05, atol: _float=1e-08, equal_nan: _bool=False) -> _bool:
    """True if `isclose` holds for every element."""
def alpha_dropout(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """If `train`, replaces each element by SELU's negative limit with probability `p`, then scales and
    shifts all, so that mean 0 and variance 1 are kept. Otherwise returns the input. RuntimeError if
    `p` is not in [0, 1].
    """
def alpha_dropout_(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """`alpha_dropout` in place."""
@overload
def amax(input: _Tensor, dim: _int | Sequence[_int] | None=(), keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the largest element over `dim`; NaN if there is one.

    `dim` is an int, several, or None or () for all; IndexError for a dim out of range.
    The result has the input's dtype.
    NotImplementedError for complex tensors.
    RuntimeError for a tensor without elements.
    """
@overload
def amax(input: _Tensor, *, axis: _int | Sequence[_int]=(), keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
@overload
def amin(input: _Tensor, dim: _int | Sequence[_int] | None=(), keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the smallest element over `dim`; NaN if there is one.

    `dim` is an int, several, or None or () for all; IndexError for a dim out of range.
    The result has the input's dtype.
    NotImplementedError for complex tensors.
    RuntimeError for a tensor without elements.
    """
@overload
def amin(input: _Tensor, *, axis: _int | Sequence[_int]=(), keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
@overload
def aminmax(input: _Tensor, *, dim: _int | None=None, keepdim: _bool=False, out: _Tensor | None=None) -> _return_types.aminmax:
    """Returns the smallest and the largest element, of all or along one dim."""
@overload
def aminmax(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _return_types.aminmax: ...
def angle(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the angle to the positive real axis, in radians; 0 or pi for a real number. The
    angles of complex numbers have contiguous memory.
    """
@overload
def any(input: _Tensor, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True if any element over `dim` is nonzero.

    `dim` is an int, several (of () none), or None for all; IndexError for a dim out of range.
    uint8 tensors give uint8, all others bool.
    """
@overload
def any(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
@overload
def arange(end: Any, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns the numbers from `start` up to but excluding `end`, in steps of `step`. Without
    `dtype` the result is int64 if all three are integers, else of the default dtype. Raises
    RuntimeError for a step of zero or a step away from `end`.
    """
@overload
def arange(start: Any, end: Any, step: Any=1, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor: ...
def arccos(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the arc cosine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `acos`.
    """
def arccos_(input: _Tensor) -> _Tensor:
    """In-place form of `acos`: the result's shape and dtype must fit the tensor.

    Alias of `acos_`.
    """
def arccosh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse hyperbolic cosine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `acosh`.
    """
def arccosh_(input: _Tensor) -> _Tensor:
    """In-place form of `acosh`: the result's shape and dtype must fit the tensor.

    Alias of `acosh_`.
    """
def arcsin(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the arc sine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `asin`.
    """
def arcsin_(input: _Tensor) -> _Tensor:
    """In-place form of `asin`: the result's shape and dtype must fit the tensor.

    Alias of `asin_`.
    """
def arcsinh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse hyperbolic sine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `asinh`.
    """
def arcsinh_(input: _Tensor) -> _Tensor:
    """In-place form of `asinh`: the result's shape and dtype must fit the tensor.

    Alias of `asinh_`.
    """
def arctan(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the arc tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `atan`.
    """
def arctan2(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the angle of the point (`other`, `input`), from -pi to pi.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `atan2`.
    """
def arctan_(input: _Tensor) -> _Tensor:
    """In-place form of `atan`: the result's shape and dtype must fit the tensor.

    Alias of `atan_`.
    """
def arctanh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse hyperbolic tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `atanh`.
    """
def arctanh_(input: _Tensor) -> _Tensor:
    """In-place form of `atanh`: the result's shape and dtype must fit the tensor.

    Alias of `atanh_`.
    """
@overload
def argmax(input: _Tensor, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the index of the largest element over `dim`, or of all in row-major order; of the first one where
    there are several. NaN counts as the largest.

    `dim` is an int, or None for all; IndexError for a dim out of range.
    The result is int64.
    RuntimeError for bool or complex tensors.
    IndexError for a tensor without elements.
    """
@overload
def argmax(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
@overload
def argmin(input: _Tensor, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the index of the smallest element over `dim`, or of all in row-major order; of the first one where
    there are several. NaN counts as the smallest.

    `dim` is an int, or None for all; IndexError for a dim out of range.
    The result is int64.
    RuntimeError for bool or complex tensors.
    IndexError for a tensor without elements.
    """
@overload
def argmin(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
@overload
def argsort(input: _Tensor, dim: _int=-1, descending: _bool=False, *, stable: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """Returns the indices of the sorted elements, the second result of `sort`."""
@overload
def argsort(input: _Tensor, *, axis: _int | Sequence[_int]=-1, descending: _bool=False, stable: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
def argwhere(input: _Tensor) -> _Tensor:
    """Like `nonzero`: one row for each nonzero element."""
def as_strided(input: _Tensor, size: _int | Sequence[_int], stride: Any, storage_offset: _int | None=None) -> _Tensor:
    """Returns a view with this layout over the tensor's whole storage, in elements;
    `storage_offset` None means the tensor's own. Raises RuntimeError beyond the storage's end.
    """
def as_strided_(input: _Tensor, size: _int | Sequence[_int], stride: Any, storage_offset: _int | None=None) -> _Tensor:
    """`as_strided` in place."""
def as_strided_copy(input: _Tensor, size: _int | Sequence[_int], stride: Any, storage_offset: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `as_strided`, in new memory or in `out`."""
def as_strided_scatter(input: _Tensor, src: _Tensor, size: _int | Sequence[_int], stride: Any, storage_offset: _int | None=None) -> _Tensor:
    """Returns a copy of the input with the elements of an `as_strided` view replaced."""
def as_tensor(data: Any, dtype: _dtype | None=None, device: DeviceLike | None=None) -> _Tensor:
    """Like `tensor`, but returns a tensor itself if it has the dtype and the device already. An
    array's memory is shared if the device computes in host memory and the dtype stays.
    """
def asarray(obj: Any, *, dtype: _dtype | None=None, device: DeviceLike | None=None, copy: _bool | None=None, requires_grad: _bool=False) -> _Tensor:
    """Converts a tensor, an array, a DLPack producer, a buffer, or numbers and sequences to a
    tensor. With `copy` None memory is shared where possible, True always copies, False raises
    ValueError instead of copying. A buffer of bytes is read as elements of `dtype`.
    """
def asin(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the arc sine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def asin_(input: _Tensor) -> _Tensor:
    """In-place form of `asin`: the result's shape and dtype must fit the tensor."""
def asinh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse hyperbolic sine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def asinh_(input: _Tensor) -> _Tensor:
    """In-place form of `asinh`: the result's shape and dtype must fit the tensor."""
def atan(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the arc tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def atan2(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the angle of the point (`other`, `input`), from -pi to pi.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def atan_(input: _Tensor) -> _Tensor:
    """In-place form of `atan`: the result's shape and dtype must fit the tensor."""
def atanh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse hyperbolic tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def atanh_(input: _Tensor) -> _Tensor:
    """In-place form of `atanh`: the result's shape and dtype must fit the tensor."""
def atleast_1d(*tensors: Any) -> _Tensor | tuple[_Tensor, ...]:
    """Returns tensors with at least one dim: a 0-d tensor gets one dim."""
def atleast_2d(*tensors: Any) -> _Tensor | tuple[_Tensor, ...]:
    """Returns tensors with at least two dims; missing dims of size 1 are added in front."""
def atleast_3d(*tensors: Any) -> _Tensor | tuple[_Tensor, ...]:
    """Returns tensors with at least three dims: 0-d and 1-d tensors become (1, n, 1), matrices (n,
    m, 1).
    """
def avg_pool1d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True) -> _Tensor:
    """Returns the mean of each window of an input (N, C, L) or (C, L). `stride` defaults to
    `kernel_size`. The zeros of `padding` count unless `count_include_pad=False`. RuntimeError if no
    window fits.
    """
def baddbmm(input: _Tensor, batch1: _Tensor, batch2: _Tensor, *, beta: Any=1, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `addmm` for each pair of two batches of matrices."""
def bartlett_window(window_length: _int, periodic: _bool=True, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns 1 - |2 i / N - 1|, a triangle. N is window_length, or window_length - 1 without
    `periodic`. Raises RuntimeError for a negative length and dtypes that are not floating-point.
    """
@overload
def bernoulli(input: _Tensor, *, generator: Any=None, out: _Tensor | None=None) -> _Tensor:
    """Returns ones and zeros in `input`'s shape and dtype: ones with the probability in each
    element of `input`, or with probability `p` everywhere.

    Raises RuntimeError for a `p` that is no probability. An element below 0 counts as 0, one above
    1 as 1.
    """
@overload
def bernoulli(input: _Tensor, p: _float | None, *, generator: Any=None) -> _Tensor: ...
def bilinear(input1: _Tensor, input2: _Tensor, weight: _Tensor, bias: _Tensor | None=None) -> _Tensor:
    """Returns input1^T @ weight[k] @ input2 + bias[k] for each k: (..., m), (..., n), (k, m, n)
    give (..., k). Raises RuntimeError for shapes that don't fit.
    """
def bincount(input: _Tensor, weights: _Tensor | None=None, minlength: _int=0, *, out: _Tensor | None=None) -> _Tensor:
    """Counts each number from 0 on, or sums its `weights`; the result has at least `minlength`
    elements. It is int64, float32 for float32 weights, float64 for others. Raises RuntimeError for
    negative or non-integer input and for numbers of dims other than one.
    """
def binomial(count: _Tensor, prob: _Tensor, generator: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the number of successes in `count` tries, each with probability `prob`, in the dtype
    of both; the two tensors broadcast together.

    Raises ValueError for tensors that are not floating-point. A count is rounded down, and one
    below 0 counts as 0; a probability below 0 counts as 0, one above 1 as 1. NaN gives NaN.
    """
def bitwise_and(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the bitwise and.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bitwise_left_shift(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input` shifted left by `other` bits; 0 for a negative or too large number.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bitwise_not(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the bits inverted; for bool, logical not.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bitwise_or(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the bitwise or.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bitwise_right_shift(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input` shifted right by `other` bits, with its sign; 0 or -1 for a negative or too large number.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def bitwise_xor(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the bitwise exclusive or.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def blackman_window(window_length: _int, periodic: _bool=True, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns 0.42 - 0.5 cos(2 pi i / N) + 0.08 cos(4 pi i / N), with N as in `bartlett_window`."""
def block_diag(*tensors: _Tensor) -> _Tensor:
    """Returns a matrix of zeros with the given matrices along its diagonal."""
def bmm(input: _Tensor, mat2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the products of two batches of matrices, pair by pair. Raises the errors of `mm`."""
def broadcast_shapes(*shapes: Any) -> _Size:
    """Returns the shape that tensors of these shapes (tuples, lists or single ints) broadcast to.
    Raises ValueError for a negative size, RuntimeError if they don't broadcast.
    """
def broadcast_tensors(*tensors: _Tensor) -> tuple[_Tensor, ...]:
    """Returns the tensors expanded to their common shape."""
def broadcast_to(input: _Tensor, size: _int | Sequence[_int], *more: _int) -> _Tensor:
    """Returns the same as `input.expand(size)`."""
def bucketize(input: _Tensor, boundaries: _Tensor, *, out_int32: _bool=False, right: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """Returns `searchsorted` in one row of boundaries."""
def cartesian_prod(*tensors: Any) -> _Tensor:
    """Returns all rows with one element of each vector; the last vector's elements change fastest.
    Raises RuntimeError for tensors that are not vectors.
    """
def cat(tensors: Sequence[_Tensor], dim: _int=0, *, axis: _int | None=None, out: _Tensor | None=None) -> _Tensor:
    """Concatenates tensors along a dim.

    Their dtypes are promoted to a common one. The other dims must have equal sizes; an empty 1-d
    tensor is skipped. Raises RuntimeError for shapes that don't fit.
    """
def cdist(x1: _Tensor, x2: _Tensor, p: _float=2.0, compute_mode: Any='use_mm_for_euclid_dist_if_necessary') -> _Tensor:
    """Returns the p-norm distances of all pairs of rows: (..., m, k) and (..., n, k) give (..., m,
    n). Raises RuntimeError for shapes that don't fit and a negative `p`.
    """
def ceil(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the smallest integer that is not below the element.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def ceil_(input: _Tensor) -> _Tensor:
    """In-place form of `ceil`: the result's shape and dtype must fit the tensor."""
def celu(input: _Tensor, alpha: _float=1.0, inplace: _bool=False) -> _Tensor:
    """Returns the element if it is positive, else alpha * expm1(element / alpha). RuntimeError for alpha 0."""
def celu_(input: _Tensor, alpha: Any=1.0) -> _Tensor:
    """In-place form of `celu`."""
def chain_matmul(*matrices: Any, out: _Tensor | None=None) -> _Tensor:
    """See `linalg.multi_dot`; matrices only."""
def channel_shuffle(input: _Tensor, groups: _int) -> _Tensor:
    """Interleaves the channels (dim 1) of `groups` groups. Raises RuntimeError for fewer than 3
    dims and if `groups` doesn't divide the channels.
    """
def cholesky(input: _Tensor, upper: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """See `linalg.cholesky`."""
def cholesky_inverse(input: _Tensor, upper: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of the matrix whose factor `linalg.cholesky` returned."""
def cholesky_solve(input: _Tensor, input2: _Tensor, upper: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Solves A @ X = input by the factor `input2` from `linalg.cholesky`: A = L @ L.mH, or A = L.mH
    @ L with `upper`. Raises RuntimeError for operands that don't fit.
    """
@overload
def chunk(input: _Tensor, chunks: _int, dim: _int=0) -> tuple[_Tensor, ...]:
    """Returns at most `chunks` views of a dim, equal but for the last; `tensor_split` returns
    exactly as many.
    """
@overload
def chunk(input: _Tensor, chunks: _int, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
def clamp(input: _Tensor, min: Any=None, max: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """Limits the elements to [`min`, `max`]; `max` wins if the limits cross. Limits are numbers or
    tensors and take part in type promotion; NaN in any of them gives NaN.
    """
def clamp_(input: _Tensor, min: Any=None, max: Any=None) -> _Tensor:
    """In-place form of `clamp`: the result's shape and dtype must fit the tensor."""
def clamp_max(input: _Tensor, max: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the elements, at most `max`."""
def clamp_max_(input: _Tensor, max: Any) -> _Tensor:
    """In-place form of `clamp_max`: the result's shape and dtype must fit the tensor."""
def clamp_min(input: _Tensor, min: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the elements, at least `min`."""
def clamp_min_(input: _Tensor, min: Any) -> _Tensor:
    """In-place form of `clamp_min`: the result's shape and dtype must fit the tensor."""
def clip(input: _Tensor, min: Any=None, max: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """Limits the elements to [`min`, `max`]; `max` wins if the limits cross. Limits are numbers or
    tensors and take part in type promotion; NaN in any of them gives NaN.

    Alias of `clamp`.
    """
def clip_(input: _Tensor, min: Any=None, max: Any=None) -> _Tensor:
    """In-place form of `clamp`: the result's shape and dtype must fit the tensor.

    Alias of `clamp_`.
    """
def clone(input: _Tensor, *, memory_format: _memory_format=...) -> _Tensor:
    """Returns a copy with its own memory."""
def column_stack(tensors: Sequence[_Tensor], *, out: _Tensor | None=None) -> _Tensor:
    """Like `hstack`, with 1-d tensors as columns."""
def combinations(input: _Tensor, r: _int=2, with_replacement: _bool=False) -> _Tensor:
    """Returns all combinations of `r` elements of a vector, one in each row. Raises RuntimeError
    for other numbers of dims and a negative `r`.
    """
def complex(real: _Tensor, imag: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns complex numbers from their parts, which must have one dtype: float16, float32 or
    float64.
    """
def concat(tensors: Sequence[_Tensor], dim: _int=0, *, axis: _int | None=None, out: _Tensor | None=None) -> _Tensor:
    """Concatenates tensors along a dim.

    Their dtypes are promoted to a common one. The other dims must have equal sizes; an empty 1-d
    tensor is skipped. Raises RuntimeError for shapes that don't fit.

    Alias of `cat`.
    """
def concatenate(tensors: Sequence[_Tensor], dim: _int=0, *, axis: _int | None=None, out: _Tensor | None=None) -> _Tensor:
    """Concatenates tensors along a dim.

    Their dtypes are promoted to a common one. The other dims must have equal sizes; an empty 1-d
    tensor is skipped. Raises RuntimeError for shapes that don't fit.

    Alias of `cat`.
    """
def conj(input: _Tensor) -> _Tensor:
    """Returns the complex conjugate; a real tensor itself."""
def conj_physical(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the complex conjugate; a real tensor itself."""
def conj_physical_(input: _Tensor) -> _Tensor:
    """In-place form of `conj_physical`."""
def constant_pad_nd(input: _Tensor, pad: Any, value: Any=0) -> _Tensor:
    """Returns a copy with `value` before and after: pairs of counts, for the last dim first.
    Negative counts remove elements.
    """
def conv1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """Returns the cross-correlation of an input (N, C, length) or (C, length)
    with filters (O, C / groups, *kernel), plus `bias` (O,). Each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """Returns the cross-correlation of an input (N, C, height, width) or (C, height, width)
    with filters (O, C / groups, *kernel), plus `bias` (O,). Each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1) -> _Tensor:
    """Returns the cross-correlation of an input (N, C, depth, height, width) or (C, depth, height, width)
    with filters (O, C / groups, *kernel), plus `bias` (O,). Each size becomes
    (size + 2 padding - dilation (kernel - 1) - 1) // stride + 1. `padding` is a number of zeros, one
    for each dim, 'valid' (0) or 'same' (the result has the input's size). float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_tbc(input: _Tensor, weight: _Tensor, bias: _Tensor, pad: _int=0) -> _Tensor:
    """Returns `conv1d` of an input (steps, batch, channels) with weights (kernel, channels,
    filters): (steps, batch, filters). Raises RuntimeError for shapes that don't fit.
    """
def conv_transpose1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """Returns the transposed convolution, the gradient of a convolution by its
    input: adds each element of an input (N, C, length) or (C, length), times the weight
    (C, O / groups, *kernel), to a window of the result. Each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_transpose2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """Returns the transposed convolution, the gradient of a convolution by its
    input: adds each element of an input (N, C, height, width) or (C, height, width), times the weight
    (C, O / groups, *kernel), to a window of the result. Each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def conv_transpose3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, output_padding: Any=0, groups: _int=1, dilation: Any=1) -> _Tensor:
    """Returns the transposed convolution, the gradient of a convolution by its
    input: adds each element of an input (N, C, depth, height, width) or (C, depth, height, width), times the weight
    (C, O / groups, *kernel), to a window of the result. Each size becomes
    (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1. float16 and bfloat16 are
    summed in float32. RuntimeError for sizes or dtypes that don't fit.
    """
def copysign(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the magnitude of `input` with the sign of `other`, which may be -0.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def corrcoef(input: _Tensor) -> _Tensor:
    """Returns the correlation matrix of variables (rows): covariances over deviations, -1 to 1."""
def cos(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the cosine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def cos_(input: _Tensor) -> _Tensor:
    """In-place form of `cos`: the result's shape and dtype must fit the tensor."""
def cosh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the hyperbolic cosine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def cosh_(input: _Tensor) -> _Tensor:
    """In-place form of `cosh`: the result's shape and dtype must fit the tensor."""
@overload
def cosine_similarity(x1: _Tensor, x2: _Tensor, dim: _int=1, eps: _float=1e-08) -> _Tensor:
    """Returns x1 . x2 / (max(|x1|, eps) * max(|x2|, eps)) along `dim`. Raises RuntimeError for
    integers.
    """
@overload
def cosine_similarity(x1: _Tensor, x2: _Tensor, *, axis: _int | Sequence[_int]=1, eps: _float=1e-08) -> _Tensor: ...
@overload
def count_nonzero(input: _Tensor, dim: _int | Sequence[_int] | None=None) -> _Tensor:
    """Returns the number of nonzero elements over `dim`.

    `dim` is an int, several, or None or () for all; IndexError for a dim out of range.
    The result is int64.
    """
@overload
def count_nonzero(input: _Tensor, *, axis: _int | Sequence[_int] | None=None) -> _Tensor: ...
def cov(input: _Tensor, *, correction: _int=1, fweights: _Tensor | None=None, aweights: _Tensor | None=None) -> _Tensor:
    """Returns the covariance matrix of variables (rows) and observations (columns). `fweights`
    counts how often each observation was made, `aweights` weighs it. Raises RuntimeError for more
    than 2 dims, bool, and weights that don't fit.
    """
@overload
def cross(input: _Tensor, other: _Tensor, dim: _int | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `linalg.cross` along `dim`, or along the first dim of size 3. Raises RuntimeError if
    there is none.
    """
@overload
def cross(input: _Tensor, other: _Tensor, *, axis: _int | Sequence[_int] | None=None, out: _Tensor | None=None) -> _Tensor: ...
def ctc_loss(log_probs: _Tensor, targets: _Tensor, input_lengths: Any, target_lengths: Any, blank: _int=0, reduction: _int=0, zero_infinity: _bool=False) -> _Tensor:
    """Like `nn.functional.ctc_loss`, with the reduction as a number: 0 \"none\", 1 \"mean\", 2 \"sum\"."""
def cummax(input: _Tensor, dim: _int, *, out: _Tensor | None=None) -> _return_types.cummax:
    """Returns the largest element up to each along `dim`, and its last index; NaN is the largest.
    Raises NotImplementedError for complex numbers.
    """
def cummin(input: _Tensor, dim: _int, *, out: _Tensor | None=None) -> _return_types.cummin:
    """Returns the smallest element up to each along `dim`, and its last index; NaN is the smallest.
    Raises NotImplementedError for complex numbers.
    """
@overload
def cumprod(input: _Tensor, dim: _int, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the products of the elements up to each along `dim`; integers are multiplied in
    int64. Raises RuntimeError for an `out` of another dtype than `dtype`, NotImplementedError for
    `dtype` bool.
    """
@overload
def cumprod(input: _Tensor, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def cumsum(input: _Tensor, dim: _int, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the sums of the elements up to each along `dim`; integers are summed in int64. Raises
    RuntimeError for an `out` of another dtype than `dtype`, NotImplementedError for `dtype` bool.
    """
@overload
def cumsum(input: _Tensor, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def cumulative_trapezoid(y: _Tensor, x: Any=None, *, dx: Any=..., dim: _int=-1) -> _Tensor:
    """Returns the running integral along `dim`: one element fewer than samples."""
@overload
def cumulative_trapezoid(y: _Tensor, x: Any=None, *, dx: Any=..., axis: _int | Sequence[_int]=-1) -> _Tensor: ...
def deg2rad(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Converts degrees to radians.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def deg2rad_(input: _Tensor) -> _Tensor:
    """In-place form of `deg2rad`: the result's shape and dtype must fit the tensor."""
def det(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """See `linalg.det`."""
def detach(input: _Tensor) -> _Tensor:
    """Returns a new tensor over the same memory."""
def detach_(input: _Tensor) -> _Tensor:
    """Returns the tensor itself; ftensor records no gradients."""
def detach_copy(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `detach`, in new memory or in `out`."""
def diag(input: _Tensor, diagonal: _int=0, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of a matrix's diagonal, or a matrix of zeros with a 1-d tensor on its
    diagonal.
    """
def diag_embed(input: _Tensor, offset: _int=0, dim1: _int=-2, dim2: _int=-1) -> _Tensor:
    """Returns matrices of zeros over dim1 and dim2, with the last dim's entries on a diagonal."""
def diagflat(input: _Tensor, offset: _int=0) -> _Tensor:
    """Returns a matrix with the flattened input on a diagonal."""
def diagonal(input: _Tensor, offset: _int=0, dim1: _int=0, dim2: _int=1) -> _Tensor:
    """Returns a view of the diagonal of two dims as a new last dim; offset > 0 is above the main
    diagonal, < 0 below.
    """
def diagonal_copy(input: _Tensor, offset: Any=0, dim1: Any=0, dim2: Any=1, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `diagonal`, in new memory or in `out`."""
def diagonal_scatter(input: _Tensor, src: _Tensor, offset: _int=0, dim1: _int=0, dim2: _int=1) -> _Tensor:
    """Returns a copy of the input with a diagonal replaced."""
@overload
def diff(input: _Tensor, n: _int=1, dim: _int=-1, prepend: _Tensor | None=None, append: _Tensor | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the differences of neighbours along `dim`, taken `n` times, with `prepend` and
    `append` added at the ends first; `!=` for bool. Raises RuntimeError for a negative `n`, 0-d
    inputs and shapes that don't fit, IndexError for a dim out of range.
    """
@overload
def diff(input: _Tensor, n: _int=1, *, axis: _int | Sequence[_int]=-1, prepend: _Tensor | None=None, append: _Tensor | None=None, out: _Tensor | None=None) -> _Tensor: ...
def digamma(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithmic derivative of the gamma function.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def dist(input: _Tensor, other: _Tensor, p: Any=2) -> _Tensor:
    """Returns the norm of order `p` of all differences."""
def div(input: _Tensor, other: _Tensor | _Number, *, rounding_mode: str | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the quotient: true division (integers become the default dtype), or with
    `rounding_mode` \"trunc\" (towards zero) or \"floor\" (down) in the promoted dtype. Integers divided
    by the number 0 raise RuntimeError; zeros in a tensor give -1 (all bits set).
    """
def divide(input: _Tensor, other: _Tensor | _Number, *, rounding_mode: str | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the quotient: true division (integers become the default dtype), or with
    `rounding_mode` \"trunc\" (towards zero) or \"floor\" (down) in the promoted dtype. Integers divided
    by the number 0 raise RuntimeError; zeros in a tensor give -1 (all bits set).

    Alias of `div`.
    """
def dot(input: _Tensor, tensor: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the sum of the products of two vectors."""
def dropout(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """If `train`, replaces each element by 0 with probability `p` and multiplies the others by
    1 / (1 - p). Otherwise returns the input. RuntimeError if `p` is not in [0, 1].
    """
def dropout_(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """`dropout` in place."""
@overload
def dsplit(input: _Tensor, sections: _int | _Tensor) -> tuple[_Tensor, ...]:
    """Like hsplit, along dim 2."""
@overload
def dsplit(input: _Tensor, indices: Sequence[_int] | _Tensor) -> tuple[_Tensor, ...]: ...
def dstack(tensors: Sequence[_Tensor], *, out: _Tensor | None=None) -> _Tensor:
    """Concatenates along dim 2, of tensors made 3-d."""
def einsum(equation: Any, *operands: Any) -> _Tensor:
    """Sums products named by subscripts: `\"ij,jk->ik\"` is the matrix product. A letter in several
    operands is one dim of all of them. A letter that is not behind the arrow is summed. Without an
    arrow, the letters that appear once are kept, in alphabetical order. `...` represents dims that
    broadcast. Instead of an equation, each operand may be followed by a list of numbers below 52,
    and the last list is the output's. Raises RuntimeError for sizes or subscripts that don't fit.
    """
def empty(*size: _int | Sequence[_int], out: _Tensor | None=None, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a tensor with uninitialized values."""
def empty_like(input: _Tensor, *, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a tensor with uninitialized values and `input`'s shape, dtype, device and memory
    order.
    """
def empty_permuted(size: _int | Sequence[_int], physical_layout: Any, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a tensor without gaps, with uninitialized values, whose dims have the memory order
    `physical_layout`, outermost first. Raises RuntimeError if that doesn't name each dim once.
    """
def empty_strided(size: _int | Sequence[_int], stride: Any, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a tensor of given sizes and strides (in elements) with uninitialized values. Raises
    RuntimeError for negative sizes or strides and for lists of different lengths.
    """
def eq(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where the elements are equal; NaN equals no element.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def equal(input: _Tensor, other: _Tensor) -> _bool:
    """True if shapes and all elements are equal."""
def erf(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the error function.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def erf_(input: _Tensor) -> _Tensor:
    """In-place form of `erf`: the result's shape and dtype must fit the tensor."""
def erfc(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 1 - erf(input), accurate where that is small.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def erfc_(input: _Tensor) -> _Tensor:
    """In-place form of `erfc`: the result's shape and dtype must fit the tensor."""
def erfinv(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the inverse of erf on [-1, 1].

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def exp(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns e ** input.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def exp2(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 2 ** input.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def exp2_(input: _Tensor) -> _Tensor:
    """In-place form of `exp2`: the result's shape and dtype must fit the tensor."""
def exp_(input: _Tensor) -> _Tensor:
    """In-place form of `exp`: the result's shape and dtype must fit the tensor."""
def expand_copy(input: _Tensor, size: _int | Sequence[_int], *more: Any, implicit: Any=False, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `expand`, in new memory or in `out`."""
def expm1(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exp(input) - 1, accurate near 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def expm1_(input: _Tensor) -> _Tensor:
    """In-place form of `expm1`: the result's shape and dtype must fit the tensor."""
def eye(n: _int, m: _int | None=None, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns an (n, m) matrix, or (n, n), with ones on the diagonal and zeros elsewhere."""
def feature_alpha_dropout(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """Like `alpha_dropout` on whole channels: (batch, channel) are the first two dims."""
def feature_alpha_dropout_(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """`feature_alpha_dropout` in place."""
def feature_dropout(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """Like `dropout` on whole channels: (batch, channel) are the first two dims."""
def feature_dropout_(input: _Tensor, p: _float, train: _bool) -> _Tensor:
    """`feature_dropout` in place."""
def fill(input: _Tensor, value: Any) -> _Tensor:
    """Returns a tensor like `input` with every element equal to `value`."""
def fill_(input: _Tensor, value: Any) -> _Tensor:
    """Writes a number (or a 0-d tensor's value) into every element.

    Raises RuntimeError for a number that the dtype can't hold; a tensor's value is converted.
    """
def fix(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the element rounded towards 0.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `trunc`.
    """
def fix_(input: _Tensor) -> _Tensor:
    """In-place form of `trunc`: the result's shape and dtype must fit the tensor.

    Alias of `trunc_`.
    """
def flatten(input: _Tensor, start_dim: _int=0, end_dim: _int=-1) -> _Tensor:
    """Joins dims `start_dim` to `end_dim` into one: a view if the strides allow it, else a copy,
    and the tensor itself if there is nothing to join.
    """
def flip(input: _Tensor, *dims: Any, **named: Any) -> _Tensor:
    """Returns a copy with the order along these dims reversed."""
def fliplr(input: _Tensor) -> _Tensor:
    """Returns a copy with the columns (dim 1) reversed."""
def flipud(input: _Tensor) -> _Tensor:
    """Returns a copy with the rows (dim 0) reversed."""
def float_power(input: _Tensor, exponent: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `pow` in double precision: float64, or complex128 if an input is complex. `out` must
    have exactly that dtype.
    """
def floor(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the largest integer that is not above the element.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def floor_(input: _Tensor) -> _Tensor:
    """In-place form of `floor`: the result's shape and dtype must fit the tensor."""
def floor_divide(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Like `div` with rounding_mode=\"floor\"."""
def fmax(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the larger element of each pair; the other element if one is NaN.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def fmin(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the smaller element of each pair; the other element if one is NaN.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def fmod(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the remainder of division towards zero, with the sign of `input`, like C's fmod.
    Integers modulo the number 0 raise RuntimeError; zeros in a tensor leave them unchanged.
    """
def frac(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the fraction, `input - trunc(input)`, with the sign of the input.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def frac_(input: _Tensor) -> _Tensor:
    """In-place form of `frac`: the result's shape and dtype must fit the tensor."""
def frexp(input: _Tensor, *, out: _Tensor | None=None) -> _return_types.frexp:
    """Returns (mantissa, exponent) with mantissa * 2 ** exponent equal to the input, the mantissa's
    absolute value in [0.5, 1), the exponent int32. 0 and non-finite numbers have the exponent 0.
    Raises RuntimeError for integers.
    """
@overload
def frobenius_norm(input: _Tensor, dim: _int | Sequence[_int], keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the root of the sum of squares over one or two dims, like `linalg.vector_norm`."""
@overload
def frobenius_norm(input: _Tensor, *, axis: _int | Sequence[_int], keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
def frombuffer(buffer: Any, *, dtype: _dtype, count: _int=-1, offset: _int=0, device: DeviceLike | None=None, requires_grad: _bool=False) -> _Tensor:
    """Returns a 1-d tensor over the memory of a Python buffer, starting at byte `offset`. The
    memory is shared if the device computes in host memory. Raises ValueError if the buffer doesn't
    hold whole elements.
    """
def full(size: _int | Sequence[_int], fill_value: Any, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a tensor filled with one value, a number or a 0-d tensor. Without `dtype` its dtype
    is that of the value: bool, int64, the default dtype or its complex counterpart. Raises
    RuntimeError if the dtype can't hold the value.
    """
def full_like(input: _Tensor, fill_value: Any, *, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a tensor filled with one value, of `input`'s shape, dtype, device and memory order.
    Raises RuntimeError if the dtype can't hold the value.
    """
def gather(input: _Tensor, dim: _int, index: _Tensor, *, sparse_grad: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """Returns the elements along `dim` at the indices `index`: `input[i][index[i][j]]` for dim 1 of
    a matrix. `index` has as many dims as the input and is no larger in the other dims. Raises
    RuntimeError for an index out of range; negative indices are out of range.
    """
def gcd(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the greatest common divisor of integers, which is not negative.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def gcd_(input: _Tensor, other: _Tensor | _Number) -> _Tensor:
    """In-place form of `gcd`: the result's shape and dtype must fit the tensor."""
def ge(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where `input` is at least `other`.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def geqrf(input: _Tensor, *, out: _Tensor | None=None) -> _return_types.geqrf:
    """Returns (a, tau), LAPACK's geqrf: R on and above the diagonal of `a`; below it the vectors v,
    without their first element of 1, of the reflections I - tau * v @ v.mH whose product is Q.
    """
def ger(input: _Tensor, vec2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the products of every element of a vector with every element of another. Dtypes are
    promoted.

    Alias of `outer`.
    """
def get_device(input: _Tensor) -> _int:
    """Returns the index of the tensor's fpga; -1 on the host."""
@overload
def gradient(input: _Tensor, *, spacing: Any=None, dim: _int | None=None, edge_order: _int=1) -> tuple[_Tensor, ...]:
    """Returns the derivative along each dim, or those in `dim`: central differences of second order
    inside, one-sided ones of `edge_order` (1 or 2) at the ends.

    `spacing` is the distance of the samples (one for all dims, or a list) or a list of tensors with
    their coordinates. Raises RuntimeError for sizes that are too small and lists that don't fit.
    """
@overload
def gradient(input: _Tensor, *, spacing: Any=None, axis: _int | Sequence[_int] | None=None, edge_order: _int=1) -> tuple[_Tensor, ...]: ...
def greater(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where `input` is greater than `other`.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `gt`.
    """
def greater_equal(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where `input` is at least `other`.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `ge`.
    """
def grid_sampler(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> _Tensor:
    """Like `nn.functional.grid_sample`, with modes as numbers, counted from 0 in the order given
    there.
    """
def grid_sampler_2d(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> _Tensor:
    """Like `grid_sampler`, for images of two dims."""
def grid_sampler_3d(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> _Tensor:
    """Like `grid_sampler`, for images of three dims."""
def group_norm(input: _Tensor, num_groups: _int, weight: _Tensor | None=None, bias: _Tensor | None=None, eps: _float=1e-05) -> _Tensor:
    """Normalizes channels (dim 1) in `num_groups` groups, each to mean 0 and variance 1, then
    applies `weight` and `bias` of each channel. Raises RuntimeError if `num_groups` doesn't divide
    the channels.
    """
@overload
def gru(input: _Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any, batch_first: Any) -> tuple[_Tensor, _Tensor]:
    """Runs a GRU over sequences. Returns (the last layer's hidden states, the last states).

    `input` is (steps, batch, features), with `batch_first` (batch, steps, features). `hx` is the state before the first step, of
    (layers * directions, batch, hidden). `params` has, for each layer and direction, the weights
    (gates * hidden, features) and (gates * hidden, hidden), with `has_biases` and their
    two biases. `dropout` is the probability of dropout between layers if `train`.

    `data` and `batch_sizes` are the fields of a `torch.nn.utils.rnn.PackedSequence`: the rows step by
    step, for each step one row for each sequence that is long enough, the longest sequence first.

    RuntimeError for shapes that don't fit and for another number of weights.
    """
@overload
def gru(data: Any, batch_sizes: Any, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any) -> tuple[_Tensor, _Tensor]: ...
def gru_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None=None, b_hh: _Tensor | None=None) -> _Tensor:
    """Returns the next state of inputs (batch, input) and a state (batch, hidden).

    The weights' rows are the gates: reset, update, new. Raises RuntimeError for shapes that don't
    fit.
    """
def gt(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where `input` is greater than `other`.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def hamming_window(window_length: _int, periodic: _bool=True, alpha: _float=0.54, beta: _float=0.46, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns alpha - beta cos(2 pi i / N), with N as in `bartlett_window`."""
def hann_window(window_length: _int, periodic: _bool=True, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns 0.5 - 0.5 cos(2 pi i / N), with N as in `bartlett_window`."""
def hardshrink(input: _Tensor, lambd: _float=0.5, *, out: _Tensor | None=None) -> _Tensor:
    """Replaces the elements in [-lambd, lambd] by 0."""
def heaviside(input: _Tensor, values: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 0 for negative elements, 1 for positive ones, and `values`, of the same dtype, for 0.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def histc(input: _Tensor, bins: _int=100, min: Any=0, max: Any=0, *, out: _Tensor | None=None) -> _Tensor:
    """Counts the elements in each of `bins` equal parts of [min, max], in the input's dtype. With
    equal `min` and `max` the range is that of the elements. Elements outside are ignored. Raises
    RuntimeError for bool and complex numbers, zero bins, and a range that is not finite.
    """
def histogram(input: _Tensor, bins: Any=100, *, range: Any=None, weight: _Tensor | None=None, density: _bool=False, out: _Tensor | None=None) -> _return_types.histogram:
    """Returns (the count or `weight` in each bin, the edges). `bins` is a number of equal parts of
    `range` (low, high) or of the elements' range, or a tensor of edges. The last bin includes its
    right edge. With `density` the integral is 1. Raises RuntimeError for dtypes other than float32
    and float64, zero bins, and arguments that don't fit.
    """
def histogramdd(input: _Tensor, bins: Any, range: Any=None, weight: _Tensor | None=None, density: _bool=False) -> tuple[_Tensor, tuple[_Tensor, ...]]:
    """Returns the `histogram` of samples with several coordinates (the last dim). `bins` has a
    number or edges for each coordinate, or is one number for all; `range` lists (low, high) of each
    coordinate.
    """
@overload
def hsplit(input: _Tensor, sections: _int | _Tensor) -> tuple[_Tensor, ...]:
    """Returns views of the columns (dim 1; dim 0 of a 1-d tensor): a number of equal ones, or those
    between the indices.
    """
@overload
def hsplit(input: _Tensor, indices: Sequence[_int] | _Tensor) -> tuple[_Tensor, ...]: ...
def hstack(tensors: Sequence[_Tensor], *, out: _Tensor | None=None) -> _Tensor:
    """Concatenates along the columns (dim 1; dim 0 of 1-d tensors)."""
def hypot(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns sqrt(input ** 2 + other ** 2), without overflow of the squares.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def i0(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the modified Bessel function of order 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def i0_(input: _Tensor) -> _Tensor:
    """In-place form of `i0`: the result's shape and dtype must fit the tensor."""
def igamma(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the regularized lower incomplete gamma function of order `input` at `other`; NaN if one is < 0.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def igammac(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the regularized upper incomplete gamma function of order `input` at `other`; NaN if one is < 0.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def imag(input: _Tensor) -> _Tensor:
    """Returns a view of the imaginary parts. Raises RuntimeError for a real tensor."""
def index_add(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, *, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of the input with `alpha * source` added to the entries of a dim listed in
    `index`. Raises RuntimeError for an index out of range; negative indices are out of range.
    """
def index_copy(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of the input with the entries of `source` written over those that `index`
    (int64) lists. Raises IndexError for an index out of range; negative indices are out of range.
    """
def index_fill(input: _Tensor, dim: _int, index: _Tensor, value: Any) -> _Tensor:
    """Returns a copy of the input after `index_fill_`."""
def index_put(input: _Tensor, indices: Sequence[Any], values: _Tensor, accumulate: _bool=False) -> _Tensor:
    """Returns a copy of the input after `index_put_`."""
def index_put_(input: _Tensor, indices: Sequence[Any], values: _Tensor, accumulate: _bool=False) -> _Tensor:
    """Implements `input[indices] = values`. With `accumulate`, values for the same element are
    summed.
    """
def index_reduce(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, reduce: str, *, include_self: _bool=True, out: _Tensor | None=None) -> _Tensor:
    """Like `index_add`, with \"prod\", \"mean\", \"amax\" or \"amin\" over the entries that share an index.
    The input's own entry takes part unless `include_self` is False.
    """
@overload
def index_select(input: _Tensor, dim: _int, index: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the entries of dim `dim` that `index` lists.

    `index` has one dim (or none) and holds int32 or int64. Raises IndexError for an index out of
    range.
    """
@overload
def index_select(input: _Tensor, *, axis: _int | Sequence[_int], index: _Tensor, out: _Tensor | None=None) -> _Tensor: ...
def inner(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the sums of products along the last dims; with a 0-d operand, the products."""
def inverse(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """See `linalg.inv`."""
def is_complex(input: _Tensor) -> _bool:
    """True if the dtype is complex."""
def is_conj(input: _Tensor) -> _bool:
    """Returns False: ftensor's conj computes at once."""
def is_floating_point(input: _Tensor) -> _bool:
    """True if the dtype is a real floating-point dtype."""
def is_inference(input: _Tensor) -> _bool:
    """Returns False: ftensor records no gradients, so it has no inference tensors."""
def is_neg(input: _Tensor) -> _bool:
    """Returns False: ftensor's negations are computed at once."""
def is_nonzero(input: _Tensor) -> _bool:
    """True if the one element is not zero. Raises RuntimeError for several elements."""
def is_same_size(input: _Tensor, other: _Tensor) -> _bool:
    """True if the shapes are equal."""
def is_signed(input: _Tensor) -> _bool:
    """True if the dtype has negative numbers."""
def is_tensor(obj: Any) -> _bool:
    """True if `obj` is a Tensor."""
def isclose(input: _Tensor, other: _Tensor, rtol: _float=1e-05, atol: _float=1e-08, equal_nan: _bool=False) -> _Tensor:
    """Returns True where elements are equal, or both finite and no further apart than `atol + rtol
    * abs(other)`. Both tensors must have one dtype.
    """
def isfinite(input: _Tensor) -> _Tensor:
    """Returns True where the value is neither infinite nor NaN."""
def isin(elements: Any, test_elements: Any, *, assume_unique: _bool=False, invert: _bool=False, out: _Tensor | None=None) -> _Tensor:
    """Returns True where an element is among `test_elements` (with `invert`: is not). One of the
    two may be a number. A few test elements are compared one by one; more are sorted and searched.
    """
def isinf(input: _Tensor) -> _Tensor:
    """Returns True where the value is infinite."""
def isnan(input: _Tensor) -> _Tensor:
    """Returns True where the value is not a number."""
def isneginf(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where the value is minus infinity.

    The inputs are promoted to a common dtype; the result is bool.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def isposinf(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where the value is infinity.

    The inputs are promoted to a common dtype; the result is bool.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def isreal(input: _Tensor) -> _Tensor:
    """Returns True where the imaginary part is 0."""
def istft(input: _Tensor, n_fft: _int, hop_length: _int | None=None, win_length: _int | None=None, window: _Tensor | None=None, center: _bool=True, normalized: _bool=False, onesided: _bool | None=None, length: _int | None=None, return_complex: _bool=False) -> _Tensor:
    """Returns the signal whose `stft` is (frequencies, frames): overlap-adds frames times the
    window and divides by the sum of the squared windows. `length` cuts the signal or pads it with
    zeros. Raises RuntimeError for arguments that don't fit, and if windows leave an element
    uncovered.
    """
def kaiser_window(window_length: _int, periodic: _bool=True, beta: _float=12.0, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns i0(beta sqrt(1 - (2 i / N - 1)^2)) / i0(beta), with N as in `bartlett_window`."""
def kron(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the Kronecker product: each element of `input` times all of `other`. Dtypes are
    promoted.
    """
def kthvalue(input: _Tensor, k: _int, dim: _int=-1, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.kthvalue:
    """Returns the `k`-th smallest element along `dim`, counted from 1, and its index. Raises
    RuntimeError for a `k` out of range, IndexError for a dim without elements, NotImplementedError
    for complex numbers and bool.
    """
def layer_norm(input: _Tensor, normalized_shape: Sequence[_int], weight: _Tensor | None=None, bias: _Tensor | None=None, eps: _float=1e-05) -> _Tensor:
    """Returns (x - mean) / sqrt(var + eps) * weight + bias over the last dims, whose sizes are
    `normalized_shape`, as are those of `weight` and `bias`. Raises RuntimeError if they differ.
    """
def lcm(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the least common multiple of integers, not negative; 0 if one is 0.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def lcm_(input: _Tensor, other: _Tensor | _Number) -> _Tensor:
    """In-place form of `lcm`: the result's shape and dtype must fit the tensor."""
def ldexp(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input` times 2 to the power of `other`.

    With floating-point `input` and integer `other`, only the exponent changes.
    """
def ldexp_(input: _Tensor, other: _Tensor) -> _Tensor:
    """In-place form of `ldexp`: the result's shape and dtype must fit the tensor."""
def le(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where `input` is at most `other`.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def lerp(input: _Tensor, end: _Tensor, weight: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Interpolates linearly from `input` (weight 0) to `end` (weight 1). The tensors must have one
    dtype; a 0-d weight may have another.
    """
def less(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where `input` is less than `other`.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `lt`.
    """
def less_equal(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where `input` is at most `other`.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `le`.
    """
def lgamma(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm of the gamma function's magnitude.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def linspace(start: Any, end: Any, steps: _int, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns `steps` evenly spaced numbers from `start` to `end`, both included. The bounds are
    numbers or 0-d tensors. Without `dtype` the result has the default dtype, or its complex
    counterpart for complex bounds.
    """
def log(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the natural logarithm.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def log10(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm to base 10.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def log10_(input: _Tensor) -> _Tensor:
    """In-place form of `log10`: the result's shape and dtype must fit the tensor."""
def log1p(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log(1 + input), accurate near 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def log1p_(input: _Tensor) -> _Tensor:
    """In-place form of `log1p`: the result's shape and dtype must fit the tensor."""
def log2(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm to base 2.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def log2_(input: _Tensor) -> _Tensor:
    """In-place form of `log2`: the result's shape and dtype must fit the tensor."""
def log_(input: _Tensor) -> _Tensor:
    """In-place form of `log`: the result's shape and dtype must fit the tensor."""
@overload
def log_softmax(input: _Tensor, dim: _int, dtype: _dtype | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm of `softmax`."""
@overload
def log_softmax(input: _Tensor, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
def logaddexp(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log(exp(input) + exp(other)), without overflow.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def logaddexp2(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log2(2 ** input + 2 ** other), without overflow.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
@overload
def logcumsumexp(input: _Tensor, dim: _int, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithms of the sums of exponentials up to each element along `dim`. Raises
    NotImplementedError for integers.
    """
@overload
def logcumsumexp(input: _Tensor, *, axis: _int | Sequence[_int], out: _Tensor | None=None) -> _Tensor: ...
def logdet(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm of each determinant; NaN for a negative one."""
def logical_and(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where both elements are nonzero.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def logical_not(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where the element is 0.

    The inputs are promoted to a common dtype; the result is bool.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def logical_or(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where at least one element is nonzero.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def logical_xor(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where exactly one element is nonzero.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def logit(input: _Tensor, eps: _float | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns log(x / (1 - x)); with `eps`, x is first clamped to [eps, 1 - eps]."""
def logit_(input: _Tensor, eps: _float | None=None) -> _Tensor:
    """In-place form of `logit`: the result's shape and dtype must fit the tensor."""
def logspace(start: Any, end: Any, steps: _int, base: _float=10.0, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns `base` to the power of `steps` evenly spaced numbers from `start` to `end`, both
    included.
    """
@overload
def logsumexp(input: _Tensor, dim: _int, keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm of the sum of exponentials over `dim`, computed without overflow."""
@overload
def logsumexp(input: _Tensor, *, axis: _int | Sequence[_int], keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
@overload
def lstm(input: _Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any, batch_first: Any) -> tuple[_Tensor, _Tensor, _Tensor]:
    """Runs an LSTM over sequences. Returns (the last layer's hidden states, the last hidden states, the last cell states).

    `input` is (steps, batch, features), with `batch_first` (batch, steps, features). `hx` is the pair of states before the first step, the hidden and the cell one, of
    (layers * directions, batch, hidden). `params` has, for each layer and direction, the weights
    (gates * hidden, features) and (gates * hidden, hidden); a projection adds (projected, hidden) after the biases, with `has_biases` and their
    two biases. `dropout` is the probability of dropout between layers if `train`.

    `data` and `batch_sizes` are the fields of a `torch.nn.utils.rnn.PackedSequence`: the rows step by
    step, for each step one row for each sequence that is long enough, the longest sequence first.

    RuntimeError for shapes that don't fit and for another number of weights.
    """
@overload
def lstm(data: Any, batch_sizes: Any, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any) -> tuple[_Tensor, _Tensor, _Tensor]: ...
def lstm_cell(input: _Tensor, hx: Sequence[_Tensor], w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None=None, b_hh: _Tensor | None=None) -> tuple[_Tensor, _Tensor]:
    """Returns the next (h, c) of inputs (batch, input) and states `hx`, (h, c) of (batch, hidden)
    each.

    The weights' rows are the gates: input, forget, cell, output. Raises RuntimeError for shapes
    that don't fit and for a number of states other than two.
    """
def lt(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where `input` is less than `other`.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def lu(A: _Tensor, pivot: _bool=True, get_infos: _bool=False, *, out: _Tensor | None=None) -> tuple[_Tensor, ...]:
    """Returns (LU, pivots), or (LU, pivots, info) with `get_infos`. See `linalg.lu_factor_ex`."""
def lu_solve(input: _Tensor, LU_data: _Tensor, LU_pivots: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """See `linalg.lu_solve`."""
def lu_unpack(LU_data: _Tensor, LU_pivots: _Tensor, unpack_data: _bool=True, unpack_pivots: _bool=True, *, out: _Tensor | None=None) -> _return_types.lu_unpack:
    """Returns (P, L, U) of the results of `linalg.lu_factor`; a part that is not requested has no
    elements. Raises RuntimeError for pivots that are not int32, have a wrong shape, or are no row
    numbers (from 1).
    """
def masked_fill(input: _Tensor, mask: _Tensor, value: Any) -> _Tensor:
    """Returns `value` where the mask is True, else the input."""
def masked_scatter(input: _Tensor, mask: _Tensor, source: _Tensor) -> _Tensor:
    """Returns a copy of the input after `masked_scatter_`."""
def masked_select(input: _Tensor, mask: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the elements where the mask is True, 1-d.

    Input and mask broadcast together. Waits for the mask.
    """
def matmul(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the matrix product. A vector on the left is a row, a vector on the right a column,
    and the result lacks that dim. All dims before the last two are batch dims and broadcast. Raises
    RuntimeError for 0-d operands, sizes that don't fit, or different dtypes.
    """
def matrix_exp(input: _Tensor) -> _Tensor:
    """Returns the exponential of square matrices, the sum of input^k / k!. Each matrix is halved
    until its norm is at most 2; the sum of the series is then squared once for each halving. Raises
    RuntimeError for integers.
    """
def matrix_power(input: _Tensor, n: _int, *, out: _Tensor | None=None) -> _Tensor:
    """See `linalg.matrix_power`."""
@overload
def max(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the largest element of all; the largest along a dim, with its first index; or the
    larger of two tensors' elements, like `maximum`. A NaN is the largest.
    """
@overload
def max(input: _Tensor, dim: _int, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.max: ...
@overload
def max(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor: ...
@overload
def max(input: _Tensor, *, axis: _int | Sequence[_int], keepdims: _bool=False, out: _Tensor | None=None) -> Any: ...
def max_pool1d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, L) or (C, L);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. With `return_indices` also returns their positions
    in the last 1 dims, flattened. RuntimeError if no window fits.
    """
def max_pool1d_with_indices(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, L) or (C, L);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. Returns (maxima, their
    positions) in the last 1 dims, flattened. RuntimeError if no window fits.
    """
def max_pool2d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, H, W) or (C, H, W);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. With `return_indices` also returns their positions
    in the last 2 dims, flattened. RuntimeError if no window fits.
    """
def max_pool3d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, dilation: Any=1, ceil_mode: _bool=False, return_indices: _bool=False) -> _Tensor | tuple[_Tensor, _Tensor]:
    """Returns the largest element of each window of an input (N, C, D, H, W) or (C, D, H, W);
    NaN counts as the largest. `stride` defaults to `kernel_size`; `dilation` is the step between a window's
    elements. Elements of `padding`, at most half a window, are never the maximum. `ceil_mode` adds a last
    window that ends beyond the input. With `return_indices` also returns their positions
    in the last 3 dims, flattened. RuntimeError if no window fits.
    """
def maximum(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the larger element of each pair; NaN if either is NaN.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
@overload
def mean(input: _Tensor, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the mean over `dim`; NaN without elements.

    `dim` is an int, several, or None or () for all; IndexError for a dim out of range.
    The result has the input's dtype. `dtype` overrides it.
    RuntimeError for bool or integer tensors.
    """
@overload
def mean(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def median(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the median of all elements, or along `dim` with its index: of two middle elements the
    lower, and NaN if there is a NaN. Raises IndexError for a dim without elements,
    NotImplementedError for complex numbers and bool.
    """
@overload
def median(input: _Tensor, dim: _int=-1, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.median: ...
def meshgrid(*tensors: Any, indexing: str | None=None) -> tuple[_Tensor, ...]:
    """Returns views of 1-d tensors expanded to a common grid, with one dim for each; \"xy\" swaps the
    first two dims.
    """
@overload
def min(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the smallest element of all; the smallest along a dim, with its first index; or the
    smaller of two tensors' elements, like `minimum`. A NaN is the smallest.
    """
@overload
def min(input: _Tensor, dim: _int, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.min: ...
@overload
def min(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor: ...
@overload
def min(input: _Tensor, *, axis: _int | Sequence[_int], keepdims: _bool=False, out: _Tensor | None=None) -> Any: ...
def minimum(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the smaller element of each pair; NaN if either is NaN.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def mm(input: _Tensor, mat2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the product of two matrices of one dtype. float16 and bfloat16 are summed in float32,
    integers wrap. Raises RuntimeError for other numbers of dims, sizes that don't fit, or different
    dtypes.
    """
def mode(input: _Tensor, dim: _int=-1, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.mode:
    """Returns the most frequent element along `dim`, the smallest of several, and its last index.
    Raises IndexError for a dim without elements, NotImplementedError for complex numbers.
    """
def moveaxis(input: _Tensor, source: Any, destination: Any) -> _Tensor:
    """Returns a view with the `source` dims (an int or a tuple) at the `destination` positions and
    the other dims in their order.

    Alias of `movedim`.
    """
def movedim(input: _Tensor, source: Any, destination: Any) -> _Tensor:
    """Returns a view with the `source` dims (an int or a tuple) at the `destination` positions and
    the other dims in their order.
    """
def msort(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the elements in order along the first dim."""
def mul(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input * other`.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def multinomial(input: _Tensor, num_samples: _int, replacement: _bool=False, *, generator: Any=None, out: _Tensor | None=None) -> _Tensor:
    """Returns int64 indices of categories, `num_samples` for each row, drawn with the probabilities
    in a row of `input`, which need not sum to 1.

    Without `replacement` it takes the categories with the largest probabilities divided by
    exponential numbers. With it, cumulative sums of the probabilities as integers (to 2**-37 of the
    largest, and exactly for few categories) are searched for random numbers below the total.

    Raises RuntimeError for rows that are no probabilities, for an input of more than 2 dims or of
    integers, and for more draws without `replacement` than there are categories.
    """
def multiply(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input * other`.

    The inputs are promoted to a common dtype, which the result has.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `mul`.
    """
def mv(input: _Tensor, vec: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the product of a matrix and a vector. Raises the errors of `mm`."""
def mvlgamma(input: _Tensor, p: _int, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the logarithm of the multivariate gamma function of dimension `p`: the sum of
    lgamma(input - i / 2) for i below p, plus p * (p - 1) / 4 * log(pi). Raises RuntimeError for `p`
    below 1.
    """
def nan_to_num(input: _Tensor, nan: _float | None=None, posinf: _float | None=None, neginf: _float | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Replaces NaN by `nan` (0) and the infinities by `posinf` and `neginf` (the dtype's largest
    and smallest number).
    """
def nan_to_num_(input: _Tensor, nan: _float | None=None, posinf: _float | None=None, neginf: _float | None=None) -> _Tensor:
    """In-place form of `nan_to_num`: the result's shape and dtype must fit the tensor."""
@overload
def nanmean(input: _Tensor, dim: _int | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the mean of the elements that are not NaN. Raises RuntimeError for integers and
    complex tensors.
    """
@overload
def nanmean(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def nanmedian(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the `median` of the elements that are not NaN."""
@overload
def nanmedian(input: _Tensor, dim: _int=-1, keepdim: _bool=False, *, out: _Tensor | None=None) -> _return_types.nanmedian: ...
@overload
def nanquantile(input: _Tensor, q: Any, dim: _int | None=None, keepdim: _bool=False, *, interpolation: str='linear', out: _Tensor | None=None) -> _Tensor:
    """Returns the `quantile` of the elements that are not NaN."""
@overload
def nanquantile(input: _Tensor, q: Any, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, interpolation: str='linear', out: _Tensor | None=None) -> _Tensor: ...
@overload
def nansum(input: _Tensor, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the sum over `dim`, with NaN as zero.

    `dim` is an int, several, or None or () for all; IndexError for a dim out of range.
    Bool and integers are computed as int64. `dtype` overrides it.
    RuntimeError for complex tensors.
    """
@overload
def nansum(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
@overload
def narrow(input: _Tensor, dim: _int, start: Any, length: _int) -> _Tensor:
    """Returns a view of `length` entries of a dim, starting at `start` (an int or a 0-d integer
    tensor; negative counts from the end).
    """
@overload
def narrow(input: _Tensor, *, axis: _int | Sequence[_int], start: Any, length: _int) -> _Tensor: ...
def narrow_copy(input: _Tensor, dim: _int, start: Any, length: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `narrow`, in new memory or in `out`."""
def native_batch_norm(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, running_mean: _Tensor | None, running_var: _Tensor | None, training: _bool, momentum: _float, eps: _float, *, out: _Tensor | None=None) -> tuple[_Tensor, _Tensor, _Tensor]:
    """Returns (batch_norm, mean, 1 / deviation); the last two are empty unless `training`."""
def native_dropout(input: _Tensor, p: _float, train: _bool | None) -> tuple[_Tensor, _Tensor]:
    """Returns (`dropout` of the input, a bool tensor that is True where an element is kept)."""
def native_group_norm(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, N: _int, C: _int, HxW: _int, group: _int, eps: _float) -> tuple[_Tensor, _Tensor, _Tensor]:
    """Returns (group_norm, mean, 1 / deviation) for an input of N * C * HxW elements."""
def native_layer_norm(input: _Tensor, normalized_shape: Sequence[_int], weight: _Tensor | None, bias: _Tensor | None, eps: _float) -> tuple[_Tensor, _Tensor, _Tensor]:
    """Returns (layer_norm, mean, 1 / deviation); the statistics have the compute dtype."""
def ne(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where the elements differ; NaN differs from every element.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def neg(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns -input.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def neg_(input: _Tensor) -> _Tensor:
    """In-place form of `neg`: the result's shape and dtype must fit the tensor."""
def negative(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns -input.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `neg`.
    """
def negative_(input: _Tensor) -> _Tensor:
    """In-place form of `neg`: the result's shape and dtype must fit the tensor.

    Alias of `neg_`.
    """
def nextafter(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the next number after `input` towards `other`, in the promoted dtype."""
@overload
def nonzero(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the indices of the nonzero elements: int64, one row for each element, in order.
    `as_tuple` returns one tensor for each dim instead. Waits for the input.
    """
@overload
def nonzero(input: _Tensor, *, as_tuple: _bool=True) -> tuple[_Tensor, ...]: ...
def nonzero_static(input: _Tensor, *, size: _int, fill_value: _int=-1, out: _Tensor | None=None) -> _Tensor:
    """Like `nonzero`, with exactly `size` rows: the first ones found, then rows of `fill_value`."""
def norm(input: _Tensor, p: Any='fro', dim: _int | None=None, keepdim: _bool=False, out: _Tensor | None=None, dtype: _dtype | None=None) -> _Tensor:
    """Returns the vector norm of order `p` of all elements or over `dim`; \"fro\" is the 2-norm,
    \"nuc\" the sum of a matrix's singular values (see `linalg.matrix_norm`).
    """
@overload
def norm_except_dim(v: _Tensor, pow: _int=2, dim: _int=0) -> _Tensor:
    """Returns the norm of order `pow` over all dims but `dim`, which is kept; over all dims with
    `dim` -1.
    """
@overload
def norm_except_dim(v: _Tensor, pow: _int=2, *, axis: _int | Sequence[_int]=0) -> _Tensor: ...
@overload
def normal(mean: Any, std: Any=1.0, *, generator: Any=None, out: _Tensor | None=None) -> _Tensor:
    """Returns numbers of the normal distribution. Mean and standard deviation are two numbers (then
    `size` is the shape), or a number or tensor each; tensors broadcast together, and the result has
    the dtype of `mean`, or of `std` if `mean` is a number.

    Raises RuntimeError for a negative `std`.
    """
@overload
def normal(mean: Any, std: Any, size: _int | Sequence[_int], *, generator: Any=None, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: Any=False, requires_grad: Any=False) -> _Tensor: ...
def not_equal(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where the elements differ; NaN differs from every element.

    The inputs are promoted to a common dtype; the result is bool.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.

    Alias of `ne`.
    """
@overload
def nuclear_norm(input: _Tensor, dim: Sequence[_int]=(-2, -1), keepdim: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the sum of the singular values of each matrix, like `linalg.matrix_norm`."""
@overload
def nuclear_norm(input: _Tensor, *, axis: _int | Sequence[_int]=(-2, -1), keepdims: _bool=False, out: _Tensor | None=None) -> _Tensor: ...
def numel(input: _Tensor) -> _int:
    """Returns the number of elements."""
def ones(*size: _int | Sequence[_int], out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a tensor of ones, of the default dtype unless `dtype` is given. Raises RuntimeError
    for negative sizes.
    """
def ones_like(input: _Tensor, *, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns ones of `input`'s shape, dtype, device and memory order."""
def orgqr(input: _Tensor, input2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """See `linalg.householder_product`."""
def ormqr(input: _Tensor, input2: _Tensor, input3: _Tensor, left: _bool=True, transpose: _bool=False, *, out: _Tensor | None=None) -> _Tensor:
    """Returns Q @ input3, or input3 @ Q with `left=False`, with the square Q of reflections (see
    `geqrf`). `transpose` uses Q.mH. Raises RuntimeError for operands that don't fit.
    """
def outer(input: _Tensor, vec2: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the products of every element of a vector with every element of another. Dtypes are
    promoted.
    """
def pairwise_distance(x1: _Tensor, x2: _Tensor, p: _float=2.0, eps: _float=1e-06, keepdim: _bool=False) -> _Tensor:
    """Returns the p-norm of x1 - x2 + eps along the last dim."""
def pca_lowrank(A: _Tensor, q: _int | None=None, center: _bool=True, niter: _int=2) -> tuple[_Tensor, _Tensor, _Tensor]:
    """Returns `svd_lowrank` of observations (rows), minus their mean with `center`. `q` is at most
    the smaller size (None: the smaller size, at most 6). Raises ValueError for another `q` and a
    negative `niter`.
    """
def pdist(input: _Tensor, p: _float=2) -> _Tensor:
    """Returns the p-norm distances of all pairs of rows of a matrix, each pair once. Raises
    RuntimeError for other numbers of dims and a negative `p`.
    """
def permute(input: _Tensor, dims: Any, *more: _int) -> _Tensor:
    """Returns a view with all dims in the order given."""
def permute_copy(input: _Tensor, dims: Any, *more: Any, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `permute`, in new memory or in `out`."""
def pinverse(input: _Tensor, rcond: _float=1e-15, *, out: _Tensor | None=None) -> _Tensor:
    """See `linalg.pinv`."""
def pixel_shuffle(input: _Tensor, upscale_factor: _int) -> _Tensor:
    """Rearranges (*, C * r * r, H, W) to (*, C, H * r, W * r). Raises RuntimeError if r * r doesn't
    divide the channels.
    """
def pixel_unshuffle(input: _Tensor, downscale_factor: _int) -> _Tensor:
    """Rearranges (*, C, H * r, W * r) to (*, C * r * r, H, W). Raises RuntimeError if r doesn't
    divide the sizes.
    """
def poisson(input: _Tensor, generator: Any=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns numbers of Poisson's distribution whose means are the elements of `input`, in the
    input's dtype.

    Raises RuntimeError for a negative mean.
    """
def polar(abs: _Tensor, angle: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns complex numbers from absolute values and angles, which must both be float32 or both
    float64.
    """
def polygamma(n: _int, input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the derivative of order n of digamma: (-1) ** (n + 1) * n! * zeta(n + 1, input) for n
    > 0. Raises RuntimeError for a negative n.
    """
def positive(input: _Tensor) -> _Tensor:
    """Returns the tensor itself. Raises RuntimeError for bool."""
def pow(input: _Tensor, exponent: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input` to the power of `exponent`; one of them may be a number. Integers stay
    integers and wrap: a negative number as exponent raises RuntimeError, negative elements of a
    tensor give 0 (1 and -1 excepted).
    """
def prelu(input: _Tensor, weight: _Tensor) -> _Tensor:
    """Returns the input with negative elements multiplied by `weight`, which holds one number or
    one for each channel (dim 1). Raises RuntimeError for another size or dtype.
    """
@overload
def prod(input: _Tensor, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the product over `dim`.

    `dim` is an int, or None for all; IndexError for a dim out of range.
    Bool and integers are computed as int64. `dtype` overrides it.
    """
@overload
def prod(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
def put(input: _Tensor, index: _Tensor, source: _Tensor, accumulate: _bool=False) -> _Tensor:
    """Returns a copy of the input after `put_`."""
def qr(input: _Tensor, some: _bool=True, *, out: _Tensor | None=None) -> _return_types.qr:
    """Returns (Q, R). See `linalg.qr`; without `some`, Q is square."""
@overload
def quantile(input: _Tensor, q: Any, dim: _int | None=None, keepdim: _bool=False, *, interpolation: str='linear', out: _Tensor | None=None) -> _Tensor:
    """Returns the `q`-quantile of all elements or along `dim`: a share `q` of the elements is below
    it. `q` is a number in [0, 1], or a vector, which becomes the result's first dim.
    `interpolation` between two elements is \"linear\", \"lower\", \"higher\", \"midpoint\" or \"nearest\".
    NaN if there is a NaN. Raises RuntimeError for dtypes other than float32 and float64, a `q` of
    another dtype, and no elements.
    """
@overload
def quantile(input: _Tensor, q: Any, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, interpolation: str='linear', out: _Tensor | None=None) -> _Tensor: ...
def rad2deg(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Converts radians to degrees.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def rad2deg_(input: _Tensor) -> _Tensor:
    """In-place form of `rad2deg`: the result's shape and dtype must fit the tensor."""
def rand(*size: _int | Sequence[_int], generator: Any=None, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns uniform random numbers in [0, 1)."""
def rand_like(input: _Tensor, *, generator: Any=None, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Like `rand`, in `input`'s shape, dtype, device and memory order."""
@overload
def randint(high: Any, size: _int | Sequence[_int], *, generator: Any=None, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns uniform integers in [low, high); `low` defaults to 0, the dtype to int64. Raises
    RuntimeError for an empty range or one beyond the dtype.
    """
@overload
def randint(low: Any, high: Any, size: _int | Sequence[_int], *, generator: Any=None, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor: ...
@overload
def randint_like(input: _Tensor, high: Any, *, generator: Any=None, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Like `randint`, in `input`'s shape, dtype, device and memory order."""
@overload
def randint_like(input: _Tensor, low: Any, high: Any, *, generator: Any=None, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor: ...
def randn(*size: _int | Sequence[_int], generator: Any=None, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns numbers of the normal distribution of mean 0 and variance 1."""
def randn_like(input: _Tensor, *, generator: Any=None, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Like `randn`, in `input`'s shape, dtype, device and memory order."""
def randperm(n: _int, *, generator: Any=None, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns the integers below `n` in a random order, all orders with equal probability; int64
    unless another dtype is given. Raises RuntimeError for a dtype that can't represent all of them.

    Sorts random 64-bit keys.
    """
def range(start: Any=0, end: Any=None, step: Any=1, *, out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns the numbers from `start` up to and including `end`, in steps of `step`, in the
    default dtype unless `dtype` is given. torch advises `arange` instead, which excludes `end`.
    """
def ravel(input: _Tensor) -> _Tensor:
    """Returns all elements in one dim, copied unless they are contiguous."""
def real(input: _Tensor) -> _Tensor:
    """Returns a view of the real parts; a real tensor itself."""
def reciprocal(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 1 / input.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def reciprocal_(input: _Tensor) -> _Tensor:
    """In-place form of `reciprocal`: the result's shape and dtype must fit the tensor."""
def relu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Returns max(input, 0)."""
def relu_(input: _Tensor) -> _Tensor:
    """In-place form of `relu`."""
def remainder(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the remainder of floor division, with the sign of `other`, like Python's `%`.
    Integers modulo the number 0 raise RuntimeError; zeros in a tensor leave them unchanged.
    """
@overload
def renorm(input: _Tensor, p: Any, dim: _int, maxnorm: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Scales each slice along `dim` to a p-norm of at most `maxnorm`. Raises RuntimeError for fewer
    than two dims, a `p` that is not positive, and a negative `maxnorm`.
    """
@overload
def renorm(input: _Tensor, p: Any, *, axis: _int | Sequence[_int], maxnorm: Any, out: _Tensor | None=None) -> _Tensor: ...
@overload
def repeat_interleave(input: _Tensor, repeats: _int | Sequence[_int] | _Tensor | None=None, dim: _int | None=None, *, output_size: _int | None=None) -> _Tensor:
    """Repeats each entry of a dim, one after the other: `repeats` times each, or by a 1-d integer
    tensor with one count for each entry, for which the call waits. Without `dim` the input is
    flattened. `repeat_interleave(repeats)` returns the indices that this would take.
    """
@overload
def repeat_interleave(input: _Tensor, repeats: _int | Sequence[_int] | _Tensor | None=None, *, axis: _int | Sequence[_int] | None=None, output_size: _int | None=None) -> _Tensor: ...
def reshape(input: _Tensor, shape: _int | Sequence[_int], *more: _int) -> _Tensor:
    """Returns the elements in row-major order under another shape, one size of which may be -1: a
    view if the strides allow it, else a copy. Raises RuntimeError if the shape doesn't fit.
    """
def resize_as_(input: _Tensor, the_template: _Tensor, *, memory_format: _memory_format=...) -> _Tensor:
    """Resizes the tensor to another tensor's shape; with `preserve_format` channels-last if that
    tensor is.
    """
def resolve_conj(input: _Tensor) -> _Tensor:
    """Returns the tensor itself, since `conj` computes at once."""
def resolve_neg(input: _Tensor) -> _Tensor:
    """Returns the tensor itself, since no view is negated lazily."""
def rms_norm(input: _Tensor, normalized_shape: Sequence[_int], weight: _Tensor | None=None, eps: _float | None=None) -> _Tensor:
    """Returns x / sqrt(mean(x * x) + eps) * weight over the last dims; `eps` defaults to the
    dtype's. Raises RuntimeError for shapes that don't fit.
    """
@overload
def rnn_relu(input: _Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any, batch_first: Any) -> tuple[_Tensor, _Tensor]:
    """Runs an RNN with relu over sequences. Returns (the last layer's hidden states, the last states).

    `input` is (steps, batch, features), with `batch_first` (batch, steps, features). `hx` is the state before the first step, of
    (layers * directions, batch, hidden). `params` has, for each layer and direction, the weights
    (gates * hidden, features) and (gates * hidden, hidden), with `has_biases` and their
    two biases. `dropout` is the probability of dropout between layers if `train`.

    `data` and `batch_sizes` are the fields of a `torch.nn.utils.rnn.PackedSequence`: the rows step by
    step, for each step one row for each sequence that is long enough, the longest sequence first.

    RuntimeError for shapes that don't fit and for another number of weights.
    """
@overload
def rnn_relu(data: Any, batch_sizes: Any, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any) -> tuple[_Tensor, _Tensor]: ...
def rnn_relu_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None=None, b_hh: _Tensor | None=None) -> _Tensor:
    """Returns the next state of inputs (batch, input) and a state (batch, hidden):
    relu(w_ih @ input + b_ih + w_hh @ hx + b_hh). RuntimeError for shapes that don't fit.
    """
@overload
def rnn_tanh(input: _Tensor, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any, batch_first: Any) -> tuple[_Tensor, _Tensor]:
    """Runs an RNN with tanh over sequences. Returns (the last layer's hidden states, the last states).

    `input` is (steps, batch, features), with `batch_first` (batch, steps, features). `hx` is the state before the first step, of
    (layers * directions, batch, hidden). `params` has, for each layer and direction, the weights
    (gates * hidden, features) and (gates * hidden, hidden), with `has_biases` and their
    two biases. `dropout` is the probability of dropout between layers if `train`.

    `data` and `batch_sizes` are the fields of a `torch.nn.utils.rnn.PackedSequence`: the rows step by
    step, for each step one row for each sequence that is long enough, the longest sequence first.

    RuntimeError for shapes that don't fit and for another number of weights.
    """
@overload
def rnn_tanh(data: Any, batch_sizes: Any, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any) -> tuple[_Tensor, _Tensor]: ...
def rnn_tanh_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None=None, b_hh: _Tensor | None=None) -> _Tensor:
    """Returns the next state of inputs (batch, input) and a state (batch, hidden):
    tanh(w_ih @ input + b_ih + w_hh @ hx + b_hh). RuntimeError for shapes that don't fit.
    """
def roll(input: _Tensor, shifts: Any=None, dims: Any=()) -> _Tensor:
    """Returns a copy with elements shifted along dims; elements that leave at the end return at the
    start. Without dims the tensor is rolled as if flattened.
    """
def rot90(input: _Tensor, k: _int=1, dims: Any=(0, 1)) -> _Tensor:
    """Returns a copy rotated k times from dims[0] to dims[1]."""
def round(input: _Tensor, *, decimals: _int=0, out: _Tensor | None=None) -> _Tensor:
    """Returns the nearest number with `decimals` decimals (negative: zeros before the point); of
    two, the one with the even last digit. Raises TypeError for `decimals` that are no int.
    """
def round_(input: _Tensor, *, decimals: _int=0) -> _Tensor:
    """In-place form of `round`: the result's shape and dtype must fit the tensor."""
def row_stack(tensors: Sequence[_Tensor], *, out: _Tensor | None=None) -> _Tensor:
    """Concatenates along the rows, of tensors made 2-d.

    Alias of `vstack`.
    """
def rrelu(input: _Tensor, lower: _float=0.125, upper: _float=0.3333333333333333, training: _bool=False, generator: Any=None) -> _Tensor:
    """Multiplies elements up to 0 by a slope: with `training` a random one from `lower` to `upper`
    for each, else their mean. Raises RuntimeError if `lower` is above `upper`.
    """
def rrelu_(input: _Tensor, lower: _float=0.125, upper: _float=0.3333333333333333, training: _bool=False, generator: Any=None) -> _Tensor:
    """`rrelu` in place."""
def rsqrt(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 1 / sqrt(input).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def rsqrt_(input: _Tensor) -> _Tensor:
    """In-place form of `rsqrt`: the result's shape and dtype must fit the tensor."""
def rsub(input: _Tensor, other: _Tensor | _Number, *, alpha: Any=1) -> _Tensor:
    """Returns `other` minus `alpha` times `input`."""
def scalar_tensor(s: Any, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a 0-d tensor of the default dtype unless another is given."""
def scatter(input: _Tensor, dim: _int, index: _Tensor, src: Any=None, *, value: Any=None, reduce: str | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of the input with the elements of `src`, or a number, written at `index` along
    a dim. The last write to a position stays. `reduce` \"add\" or \"multiply\" combines them with the
    present elements. Raises RuntimeError for an index out of range.
    """
def scatter_add(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of the input with the elements of `src` added at `index` along a dim, in
    order. Raises RuntimeError for an index out of range.
    """
def scatter_reduce(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, reduce: str, *, include_self: _bool=True, out: _Tensor | None=None) -> _Tensor:
    """Like `scatter_add`, with \"sum\", \"prod\", \"mean\", \"amax\" or \"amin\" over the elements that share
    a position. The input's own element takes part unless `include_self` is False.
    """
def searchsorted(sorted_sequence: _Tensor, input: _Tensor, *, out_int32: _bool=False, right: _bool=False, side: str | None=None, sorter: _Tensor | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the index at which each value would keep the order of a sorted row: the number of
    elements below it, or not above it with `right` or `side=\"right\"`. There is one row of one dim,
    or one row for each outer index of the values. Rows and values of different dtypes are compared
    in their common one. `sorter` gives the order of unsorted rows. Raises RuntimeError for shapes
    that don't agree.
    """
def segment_reduce(data: _Tensor, reduce: str, *, lengths: _Tensor | None=None, indices: _Tensor | None=None, offsets: _Tensor | None=None, axis: _int=0, unsafe: _bool=False, initial: Any=None) -> _Tensor:
    """Returns the \"sum\", \"mean\", \"prod\", \"max\" or \"min\" of each segment of a dim. Segments follow
    one another. `lengths` holds their lengths, with the shape of the dims before `axis` and one
    last dim; `offsets` instead holds each start and the last end. An empty segment gives `initial`,
    or else the identity of the reduction (NaN for the mean). Raises RuntimeError unless the lengths
    sum up to the dim; `unsafe` skips that check.
    """
@overload
def select(input: _Tensor, dim: _int, index: _int) -> _Tensor:
    """Returns a view of one entry of a dim, without that dim."""
@overload
def select(input: _Tensor, *, axis: _int | Sequence[_int], index: _int) -> _Tensor: ...
def select_copy(input: _Tensor, dim: _int, index: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `select`, in new memory or in `out`."""
@overload
def select_scatter(input: _Tensor, src: _Tensor, dim: _int, index: _int) -> _Tensor:
    """Returns a copy of the input with one entry of a dim replaced."""
@overload
def select_scatter(input: _Tensor, src: _Tensor, *, axis: _int | Sequence[_int], index: _int) -> _Tensor: ...
def selu(input: _Tensor, inplace: _bool=False) -> _Tensor:
    """Returns a scaled elu, whose scale keeps mean 0 and variance 1 of its input."""
def selu_(input: _Tensor) -> _Tensor:
    """In-place form of `selu`."""
def sgn(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the sign; for a complex number, the number of magnitude 1 with its angle.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def sigmoid(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 1 / (1 + exp(-input)).

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def sigmoid_(input: _Tensor) -> _Tensor:
    """In-place form of `sigmoid`: the result's shape and dtype must fit the tensor."""
def sign(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns 1 for positive elements, -1 for negative ones, else 0.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def signbit(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns True where the sign bit is set, which includes -0.

    The inputs are promoted to a common dtype; the result is bool.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def sin(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the sine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def sin_(input: _Tensor) -> _Tensor:
    """In-place form of `sin`: the result's shape and dtype must fit the tensor."""
def sinc(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns sin(pi * input) / (pi * input), and 1 at 0.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def sinc_(input: _Tensor) -> _Tensor:
    """In-place form of `sinc`: the result's shape and dtype must fit the tensor."""
def sinh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the hyperbolic sine.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def sinh_(input: _Tensor) -> _Tensor:
    """In-place form of `sinh`: the result's shape and dtype must fit the tensor."""
@overload
def slice_copy(input: _Tensor, dim: _int=0, start: _int | None=None, end: _int | None=None, step: _int=1, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `start:end:step` of a dim, or writes it to `out`. Raises RuntimeError for a
    step that is not positive.
    """
@overload
def slice_copy(input: _Tensor, *, axis: _int | Sequence[_int]=0, start: _int | None=None, end: _int | None=None, step: _int=1, out: _Tensor | None=None) -> _Tensor: ...
@overload
def slice_scatter(input: _Tensor, src: _Tensor, dim: _int=0, start: _int | None=None, end: _int | None=None, step: _int=1, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of the input with a slice of a dim replaced."""
@overload
def slice_scatter(input: _Tensor, src: _Tensor, *, axis: _int | Sequence[_int]=0, start: _int | None=None, end: _int | None=None, step: _int=1, out: _Tensor | None=None) -> _Tensor: ...
def slogdet(input: _Tensor, *, out: _Tensor | None=None) -> _return_types.slogdet:
    """See `linalg.slogdet`."""
@overload
def softmax(input: _Tensor, dim: _int, dtype: _dtype | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Returns exponentials along a dim, divided by their sum."""
@overload
def softmax(input: _Tensor, *, axis: _int | Sequence[_int], dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
def sort(input: _Tensor, dim: _int=-1, descending: _bool=False, *, stable: _bool | None=False, out: _Tensor | None=None) -> _return_types.sort:
    """Returns the elements in order along `dim`, and their indices in the input. NaN is the
    largest; equal elements keep their order, with `stable` and without. Raises RuntimeError for
    complex numbers.
    """
def split(tensor: _Tensor, split_size_or_sections: Any, dim: _int=0) -> tuple[_Tensor, ...]:
    """Returns views of `split_size_or_sections` entries of a dim each (the last may have fewer), or
    of the sizes in a list, which must add up to the dim's.
    """
def split_copy(input: _Tensor, split_size: Any, dim: _int=0, *, out: _Tensor | None=None) -> tuple[_Tensor, ...]:
    """Returns a copy of `split`, in new memory or in `out`."""
@overload
def split_with_sizes(input: _Tensor, split_sizes: Any, dim: _int=0) -> tuple[_Tensor, ...]:
    """Returns views of these sizes along a dim."""
@overload
def split_with_sizes(input: _Tensor, split_sizes: Any, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
def split_with_sizes_copy(input: _Tensor, split_sizes: Any, dim: _int=0, *, out: _Tensor | None=None) -> tuple[_Tensor, ...]:
    """Returns a copy of `split_with_sizes`, in new memory or in `out`."""
def sqrt(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the square root.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def sqrt_(input: _Tensor) -> _Tensor:
    """In-place form of `sqrt`: the result's shape and dtype must fit the tensor."""
def square(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the square of each element. A bool input gives int64."""
def square_(input: _Tensor) -> _Tensor:
    """In-place form of `square`: the result's shape and dtype must fit the tensor."""
@overload
def squeeze(input: _Tensor, dim: _int | None=None, *more: _int) -> _Tensor:
    """Returns a view without the dims of size 1, or without those of them named by `dim` (int or
    tuple).
    """
@overload
def squeeze(input: _Tensor, *more: _int, axis: _int | Sequence[_int] | None=None) -> _Tensor: ...
def squeeze_copy(input: _Tensor, dim: _int | None=None, *more: Any, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `squeeze`, in new memory or in `out`."""
@overload
def stack(tensors: Sequence[_Tensor], dim: _int=0, *, out: _Tensor | None=None) -> _Tensor:
    """Concatenates tensors of one shape along a new dim."""
@overload
def stack(tensors: Sequence[_Tensor], *, axis: _int | Sequence[_int]=0, out: _Tensor | None=None) -> _Tensor: ...
@overload
def std(input: _Tensor, dim: _int | None=None, unbiased: Any=..., keepdim: _bool=False, *, correction: Any=..., out: _Tensor | None=None) -> _Tensor:
    """Returns the standard deviation over `dim`: the square root of `var`."""
@overload
def std(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, unbiased: Any=..., keepdims: _bool=False, correction: Any=..., out: _Tensor | None=None) -> _Tensor: ...
@overload
def std_mean(input: _Tensor, dim: _int | None=None, unbiased: Any=..., keepdim: _bool=False, *, correction: Any=...) -> tuple[_Tensor, _Tensor]:
    """`std` and `mean` over the same dims."""
@overload
def std_mean(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, unbiased: Any=..., keepdims: _bool=False, correction: Any=...) -> tuple[_Tensor, _Tensor]: ...
def stft(input: _Tensor, n_fft: _int, hop_length: _int | None=None, win_length: _int | None=None, window: _Tensor | None=None, center: _bool=True, pad_mode: str='reflect', normalized: _bool=False, onesided: _bool | None=None, return_complex: _bool | None=None, align_to_window: _bool | None=None) -> _Tensor:
    """Returns the transforms of frames of `n_fft` numbers, `hop_length` (n_fft // 4) apart, times a
    window.

    A signal (or a batch of them) gives (frequencies, frames): with `onesided`, the default for real
    signals, n_fft // 2 + 1 frequencies. With `center` frame t is centered on element t *
    hop_length, of a signal padded by `pad_mode`. `normalized` divides by sqrt(n_fft). Without
    `return_complex` real and imaginary parts are a last dim of 2. Raises RuntimeError for arguments
    that don't fit, and for real signals without `return_complex`.
    """
def sub(input: _Tensor, other: _Tensor | _Number, *, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `input` minus `alpha` times `other`. Raises RuntimeError for bool operands (use `^`
    or `~`) and for an `alpha` of a higher category than the inputs.
    """
def subtract(input: _Tensor, other: _Tensor | _Number, *, alpha: Any=1, out: _Tensor | None=None) -> _Tensor:
    """Returns `input` minus `alpha` times `other`. Raises RuntimeError for bool operands (use `^`
    or `~`) and for an `alpha` of a higher category than the inputs.

    Alias of `sub`.
    """
@overload
def sum(input: _Tensor, dim: _int | Sequence[_int] | None=None, keepdim: _bool=False, *, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor:
    """Returns the sum over `dim`.

    `dim` is an int, several, or None or () for all; IndexError for a dim out of range.
    Bool and integers are computed as int64. `dtype` overrides it.
    """
@overload
def sum(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, keepdims: _bool=False, dtype: _dtype | None=None, out: _Tensor | None=None) -> _Tensor: ...
def svd(input: _Tensor, some: _bool=True, compute_uv: _bool=True, *, out: _Tensor | None=None) -> _return_types.svd:
    """Returns (U, S, V) with input = U @ diag(S) @ V.mH. See `linalg.svd`, the newer form. Without
    `compute_uv`, U and V are zeros.
    """
def svd_lowrank(A: _Tensor, q: _int | None=6, niter: _int | None=2, M: _Tensor | None=None) -> tuple[_Tensor, _Tensor, _Tensor]:
    """Returns (U, S, V) with A - M close to U @ diag(S) @ V.mH if its rank is about `q`: by random
    numbers, `niter` iterations of the power method, and a small `linalg.svd`. Raises RuntimeError
    for dtypes that `linalg.qr` doesn't support.
    """
def swapaxes(input: _Tensor, axis0: _int, axis1: _int) -> _Tensor:
    """`transpose` under NumPy's name."""
def swapdims(input: _Tensor, dim0: _int, dim1: _int) -> _Tensor:
    """Returns a view with two dims exchanged.

    Alias of `transpose`.
    """
def t(input: _Tensor) -> _Tensor:
    """Returns a matrix transposed, as a view. Raises RuntimeError for more than 2 dims."""
def t_copy(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `t`, in new memory or in `out`."""
def take(input: _Tensor, index: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns elements by their position in the flattened input.

    The result has the index's shape. Raises IndexError for an index out of range.
    """
def take_along_dim(input: _Tensor, indices: _Tensor, dim: _int | None=None, *, out: _Tensor | None=None) -> _Tensor:
    """Like `gather`, but input and indices broadcast together in the other dims, and negative
    indices count from the end. Without `dim` both are flattened and negative indices raise
    RuntimeError.
    """
def tan(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def tan_(input: _Tensor) -> _Tensor:
    """In-place form of `tan`: the result's shape and dtype must fit the tensor."""
def tanh(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the hyperbolic tangent.

    Integer and bool inputs are computed in the default dtype.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def tanh_(input: _Tensor) -> _Tensor:
    """In-place form of `tanh`: the result's shape and dtype must fit the tensor."""
def tensor(data: Any, *, dtype: _dtype | None=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Copies numbers, nested sequences or an array into a new tensor. Without `dtype` an array
    keeps its dtype; Python's bools, ints, floats and complex numbers become bool, int64, the
    default dtype and its complex counterpart. Raises ValueError for sequences of unequal length,
    RuntimeError for numbers that the dtype can't hold.
    """
@overload
def tensor_split(input: _Tensor, indices_or_sections: Any=None, dim: _int=0, *, sections: _int | _Tensor | None=None, indices: Sequence[_int] | _Tensor | None=None, tensor_indices_or_sections: _Tensor | None=None) -> tuple[_Tensor, ...]:
    """Returns that many views of a dim, with sizes that differ by at most 1, or the views between
    the indices in a tuple. An int64 tensor of 0 dims is a number, one of 1 dim a tuple of indices.
    """
@overload
def tensor_split(input: _Tensor, indices_or_sections: Any=None, *, axis: _int | Sequence[_int]=0, sections: _int | _Tensor | None=None, indices: Sequence[_int] | _Tensor | None=None, tensor_indices_or_sections: _Tensor | None=None) -> tuple[_Tensor, ...]: ...
def tensordot(a: _Tensor, b: _Tensor, dims: Any=2, out: _Tensor | None=None) -> _Tensor:
    """Sums the products of two tensors over dims: the last `dims` of `a` with the first of `b`, or
    the dims in two lists. Raises RuntimeError for dims of different sizes or operands of different
    dtypes.
    """
def threshold(input: _Tensor, threshold: _float, value: _float, *, out: _Tensor | None=None) -> _Tensor:
    """In-place form of `threshold`."""
def threshold_(input: _Tensor, threshold: Any, value: Any) -> _Tensor:
    """In-place form of `threshold`."""
def tile(input: _Tensor, *dims: Any, **named: Any) -> _Tensor:
    """Like `repeat`; fewer counts than dims apply to the last dims."""
def topk(input: _Tensor, k: _int, dim: _int=-1, largest: _bool=True, sorted: _bool=True, *, out: _Tensor | None=None) -> _return_types.topk:
    """Returns the `k` largest (or smallest) elements along `dim`, in order, and their indices.
    Raises RuntimeError for a `k` beyond the dim's size, for bool and for complex numbers.
    """
def trace(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the sum of a matrix's diagonal. Raises RuntimeError for other numbers of dims."""
def transpose(input: _Tensor, dim0: _int, dim1: _int) -> _Tensor:
    """Returns a view with two dims exchanged."""
def transpose_copy(input: _Tensor, dim0: Any, dim1: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `transpose`, in new memory or in `out`."""
@overload
def trapezoid(y: _Tensor, x: Any=None, *, dx: Any=..., dim: _int=-1) -> _Tensor:
    """Returns the integral of samples along `dim` by trapezoids, at points `x`, or `dx` apart
    (default 1). Raises RuntimeError for bool, for both arguments, and for shapes that don't fit.
    """
@overload
def trapezoid(y: _Tensor, x: Any=None, *, dx: Any=..., axis: _int | Sequence[_int]=-1) -> _Tensor: ...
@overload
def trapz(y: _Tensor, x: Any=None, *, dx: Any=..., dim: _int=-1) -> _Tensor:
    """Returns the integral of samples along `dim` by trapezoids, at points `x`, or `dx` apart
    (default 1). Raises RuntimeError for bool, for both arguments, and for shapes that don't fit.

    Alias of `trapezoid`.
    """
@overload
def trapz(y: _Tensor, x: Any=None, *, dx: Any=..., axis: _int | Sequence[_int]=-1) -> _Tensor: ...
def triangular_solve(input: _Tensor, A: _Tensor, upper: _bool=True, transpose: _bool=False, unitriangular: _bool=False, *, out: _Tensor | None=None) -> _return_types.triangular_solve:
    """Returns (X of A @ X = input, a copy of A); `transpose` solves with A.mT. See
    `linalg.solve_triangular`, the newer form.
    """
def tril(input: _Tensor, diagonal: _int=0, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the lower triangle of each matrix, up to diagonal number `diagonal`; zeros
    elsewhere.
    """
def tril_indices(row: _int, col: _int, offset: _int=0, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False) -> _Tensor:
    """Returns the row indices (first row) and column indices (second row) of the elements of a
    lower triangle, in row-major order.
    """
def triu(input: _Tensor, diagonal: _int=0, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the upper triangle of each matrix, from diagonal number `diagonal` on; zeros
    elsewhere.
    """
def triu_indices(row: _int, col: _int, offset: _int=0, *, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False) -> _Tensor:
    """Returns the row indices (first row) and column indices (second row) of the elements of an
    upper triangle, in row-major order.
    """
def true_divide(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Like `div` without rounding."""
def trunc(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns the element rounded towards 0.

    The inputs are promoted to a common dtype, which the result has.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def trunc_(input: _Tensor) -> _Tensor:
    """In-place form of `trunc`: the result's shape and dtype must fit the tensor."""
@overload
def unbind(input: _Tensor, dim: _int=0) -> tuple[_Tensor, ...]:
    """Returns a view of every entry of a dim."""
@overload
def unbind(input: _Tensor, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
def unbind_copy(input: _Tensor, dim: _int=0, *, out: _Tensor | None=None) -> tuple[_Tensor, ...]:
    """Returns a copy of `unbind`, in new memory or in `out`."""
@overload
def unflatten(input: _Tensor, dim: _int, sizes: _int | Sequence[_int]) -> _Tensor:
    """Returns a view with one dim split into `sizes`, one of which may be -1. Raises RuntimeError
    if their product is not the dim's size.
    """
@overload
def unflatten(input: _Tensor, *, axis: _int | Sequence[_int], sizes: _int | Sequence[_int]) -> _Tensor: ...
def unfold_copy(input: _Tensor, dimension: Any, size: _int | Sequence[_int], step: Any, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `unfold`, in new memory or in `out`."""
def unique(input: _Tensor, sorted: _bool=True, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> _Tensor | tuple[_Tensor, ...]:
    """Returns each element once, in order, or each slice along `dim` in lexicographic order;
    optionally the index of each input element among them, and the counts. NaN differs from NaN.
    Raises RuntimeError for slices without elements, NotImplementedError for complex numbers.
    """
def unique_consecutive(input: _Tensor, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> _Tensor | tuple[_Tensor, ...]:
    """Returns the first element of each run of equal elements, or of equal slices along `dim`;
    optionally the run of each input element, and the lengths of the runs.
    """
def unravel_index(indices: _Tensor, shape: _int | Sequence[_int]) -> tuple[_Tensor, ...]:
    """Returns the coordinates of flat positions in a shape, one int64 tensor for each dim.
    Positions outside the shape, or negative, wrap around.
    """
@overload
def unsafe_chunk(input: _Tensor, chunks: _int, dim: _int=0) -> tuple[_Tensor, ...]:
    """Returns at most `chunks` views of a dim, equal but for the last; `tensor_split` returns
    exactly as many.

    Alias of `chunk`.
    """
@overload
def unsafe_chunk(input: _Tensor, chunks: _int, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
@overload
def unsafe_split(input: _Tensor, split_size: Any, dim: _int=0) -> tuple[_Tensor, ...]:
    """Returns `ft.split(input, split_size, dim)`."""
@overload
def unsafe_split(input: _Tensor, split_size: Any, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
@overload
def unsafe_split_with_sizes(input: _Tensor, split_sizes: Any, dim: _int=0) -> tuple[_Tensor, ...]:
    """Returns views of these sizes along a dim.

    Alias of `split_with_sizes`.
    """
@overload
def unsafe_split_with_sizes(input: _Tensor, split_sizes: Any, *, axis: _int | Sequence[_int]=0) -> tuple[_Tensor, ...]: ...
@overload
def unsqueeze(input: _Tensor, dim: _int) -> _Tensor:
    """Returns a view with a new dim of size 1 at `dim`."""
@overload
def unsqueeze(input: _Tensor, *, axis: _int | Sequence[_int]) -> _Tensor: ...
def unsqueeze_copy(input: _Tensor, dim: _int, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `unsqueeze`, in new memory or in `out`."""
def vander(x: _Tensor, N: _int | None=None, increasing: _bool=False) -> _Tensor:
    """Returns the powers of a vector's elements as columns, descending unless `increasing`. Raises
    RuntimeError for other numbers of dims and a negative N.
    """
@overload
def var(input: _Tensor, dim: _int | None=None, unbiased: Any=..., keepdim: _bool=False, *, correction: Any=..., out: _Tensor | None=None) -> _Tensor:
    """Returns the variance over `dim`: the mean squared distance from the mean, divided by n -
    correction (`unbiased=False` is `correction=0`). The variance of a complex tensor is real.
    Raises RuntimeError for integers.
    """
@overload
def var(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, unbiased: Any=..., keepdims: _bool=False, correction: Any=..., out: _Tensor | None=None) -> _Tensor: ...
@overload
def var_mean(input: _Tensor, dim: _int | None=None, unbiased: Any=..., keepdim: _bool=False, *, correction: Any=...) -> tuple[_Tensor, _Tensor]:
    """`var` and `mean` over the same dims."""
@overload
def var_mean(input: _Tensor, *, axis: _int | Sequence[_int] | None=None, unbiased: Any=..., keepdims: _bool=False, correction: Any=...) -> tuple[_Tensor, _Tensor]: ...
def vdot(input: _Tensor, other: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Like `dot`, with the conjugate of `input`."""
def view_as_complex(input: _Tensor) -> _Tensor:
    """Returns a complex view of a float16, float32 or float64 tensor whose last dim holds (real,
    imag) with stride 1. All other strides and the offset must be even.
    """
def view_as_complex_copy(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `view_as_complex`, in new memory or in `out`."""
def view_as_real(input: _Tensor) -> _Tensor:
    """Returns a view of a complex tensor with (real, imag) in a new last dim of size 2."""
def view_as_real_copy(input: _Tensor, *, out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `view_as_real`, in new memory or in `out`."""
def view_copy(input: _Tensor, size: _int | Sequence[_int]=..., *more: Any, dtype: _dtype=..., out: _Tensor | None=None) -> _Tensor:
    """Returns a copy of `view`, in new memory or in `out`."""
@overload
def vsplit(input: _Tensor, sections: _int | _Tensor) -> tuple[_Tensor, ...]:
    """Like hsplit, along the rows (dim 0)."""
@overload
def vsplit(input: _Tensor, indices: Sequence[_int] | _Tensor) -> tuple[_Tensor, ...]: ...
def vstack(tensors: Sequence[_Tensor], *, out: _Tensor | None=None) -> _Tensor:
    """Concatenates along the rows, of tensors made 2-d."""
@overload
def where(condition: Any, input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input` where the condition is True, else `other`; both may be numbers. With the
    condition alone, returns the indices of its nonzero elements, a tuple with one tensor for each
    dim.
    """
@overload
def where(condition: Any) -> tuple[_Tensor, ...]: ...
def xlogy(input: _Tensor, other: _Tensor | _Number, *, out: _Tensor | None=None) -> _Tensor:
    """Returns `input * log(other)`; 0 where `input` is 0, unless `other` is NaN.

    Integer and bool inputs are computed in the default dtype.
    Shapes are broadcast together; RuntimeError if they don't fit.
    `out` receives the result; RuntimeError if its dtype cannot hold it.
    """
def xlogy_(input: _Tensor, other: _Tensor | _Number) -> _Tensor:
    """In-place form of `xlogy`: the result's shape and dtype must fit the tensor."""
def zero_(input: _Tensor) -> _Tensor:
    """Writes zeros into every element."""
def zeros(*size: _int | Sequence[_int], out: _Tensor | None=None, dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns a tensor of zeros, of the default dtype unless `dtype` is given. Raises RuntimeError
    for negative sizes.
    """
def zeros_like(input: _Tensor, *, memory_format: Any=..., dtype: _dtype | None=None, layout: Any=None, device: DeviceLike | None=None, pin_memory: _bool | None=False, requires_grad: _bool=False) -> _Tensor:
    """Returns zeros of `input`'s shape, dtype, device and memory order."""
