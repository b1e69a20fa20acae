"""The functions of ftensor.quantized, torch's.

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

def adaptive_avg_pool2d(input: _Tensor, output_size: Any) -> _Tensor:
    """Returns means of a quantized input (N, C, H, W) or (C, H, W) of uint8 or int8, `output_size`
    of them (a number or a pair; None: as the input) for each plane, with the input's scale and zero
    point. Sums are multiplied by the float32 reciprocal and rounded to even, with the bits of
    `torch.ao.nn.quantized.functional.adaptive_avg_pool2d` for a contiguous input of two or more
    channels. Raises RuntimeError for other dtypes and shapes.
    """
def add(input: _Tensor, other: _Tensor, scale: _float, zero_point: _int, *, input_scale: _float, input_zero_point: _int=0, other_scale: _float, other_zero_point: _int=0) -> _Tensor:
    """Returns the sum of two quantized tensors of one dtype and shape, with `scale` and
    `zero_point`: dequantized, added in float32, quantized, with the bits of these three ops of
    torch's `quantized_decomposed`. Raises RuntimeError for other dtypes and shapes.
    """
def avg_pool2d(input: _Tensor, kernel_size: Any, stride: Any=None, padding: Any=0, ceil_mode: _bool=False, count_include_pad: _bool=True, divisor_override: Any=None, *, zero_point: _int=0) -> _Tensor:
    """Returns the means of windows of a quantized input (N, C, H, W) or (C, H, W) of uint8 or int8;
    input and result have one scale and `zero_point`, which is also the padding. The other arguments
    are those of `nn.functional.avg_pool2d`. Sums are integers, multiplied by the float32 reciprocal
    and rounded to even, with the bits of `torch.ao.nn.quantized.functional.avg_pool2d` for a
    contiguous input. Raises RuntimeError for other dtypes, for sizes that make no window and for a
    divisor of 0, TypeError for a divisor that is no int, ValueError for a zero point that the dtype
    can't hold.
    """
@overload
def cat(tensors: Sequence[_Tensor], dim: _int=0, scale: _float | None=None, zero_point: _int | None=None, *, input_scales: Any, input_zero_points: Any=0) -> _Tensor:
    """Joins quantized tensors of uint8 or int8 along a dim, with `scale` and `zero_point` (None:
    the first tensor's). `input_scales` and `input_zero_points` are numbers, one for all tensors or
    one for each. Tensors with the result's scale and zero point are copied; others are dequantized
    and quantized, with the bits of torch's `quantized_decomposed`. `torch.ops.quantized.cat` adds
    the zero point before it rounds: where that is odd, results halfway between two integers differ
    by one. Raises RuntimeError for other dtypes and shapes, ValueError for another number of
    scales.
    """
@overload
def cat(tensors: Sequence[_Tensor], *, axis: _int | Sequence[_int]=0, scale: _float | None=None, zero_point: _int | None=None, input_scales: Any, input_zero_points: Any=0) -> _Tensor: ...
def conv2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1, scale: _float=1.0, zero_point: _int=0, *, input_scale: _float, input_zero_point: _int=0, weight_scale: Any) -> _Tensor:
    """Returns the cross-correlation of `nn.functional.conv2d` of an input (N, C, H, W) or (C, H, W)
    of uint8 or int8 with filters (O, C / groups, h, w) of int8, quantized like in `linear`; padding
    is the input's zero point. The bits equal those of `torch.ops.quantized.conv2d` with FBGEMM.
    Raises the errors of `linear`.
    """
def conv2d_relu(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, stride: Any=1, padding: Any=0, dilation: Any=1, groups: _int=1, scale: _float=1.0, zero_point: _int=0, *, input_scale: _float, input_zero_point: _int=0, weight_scale: Any) -> _Tensor:
    """Like `conv2d`, then `relu`, with a single rounding: `torch.ops.quantized.conv2d_relu`."""
def dequantize_as_complex(input: _Tensor, scale: _float) -> _Tensor:
    """Returns complex64 numbers from int16 pairs (real, imag) in a last dim of 2, as
    analog-to-digital converters deliver them; each part is multiplied by `scale`. It is an
    elementwise expression, so `ft.jit` fuses it into the kernel that reads the samples where
    kernels are generated on request. Raises RuntimeError for another dtype or size.
    """
def dequantize_per_channel(input: _Tensor, scales: _Tensor, zero_points: _Tensor | None, axis: _int, quant_min: _int, quant_max: _int, dtype: _dtype) -> _Tensor:
    """Like `dequantize_per_tensor`, with a scale and a zero point (None: 0) for each index of
    `axis`. Raises RuntimeError for a wrong number of them, AssertionError for bounds that `dtype`
    can't hold.
    """
def dequantize_per_tensor(input: _Tensor, scale: _float, zero_point: _int, quant_min: _int, quant_max: _int, dtype: _dtype) -> _Tensor:
    """Returns `(input - zero_point) * scale` in float32, with the bits of torch's
    `quantized_decomposed.dequantize_per_tensor`; the bounds are ignored. Raises AssertionError for
    an input that is not of `dtype`, ValueError for a dtype other than uint8, int8, int16.
    """
def linear(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, scale: _float=1.0, zero_point: _int=0, *, input_scale: _float, input_zero_point: _int=0, weight_scale: Any) -> _Tensor:
    """Returns `input @ weight.T + bias` of an input (*, k) of uint8 or int8 and a weight (n, k) of
    int8, whose zero point is 0, in the input's dtype with `scale` and `zero_point`. `weight_scale`
    is a number, or (n,) numbers; `bias` is (n,) real numbers in float32. Sums are int32. The bits
    equal those of `torch.ops.quantized.linear` with FBGEMM. Raises RuntimeError for other dtypes
    and shapes, ValueError for scales that are not positive and zero points that the dtype can't
    hold.
    """
def linear_relu(input: _Tensor, weight: _Tensor, bias: _Tensor | None=None, scale: _float=1.0, zero_point: _int=0, *, input_scale: _float, input_zero_point: _int=0, weight_scale: Any) -> _Tensor:
    """Like `linear`, then `relu`, with a single rounding: `torch.ops.quantized.linear_relu`."""
def quantize_per_channel(input: _Tensor, scales: _Tensor, zero_points: _Tensor, axis: _int, quant_min: _int, quant_max: _int, dtype: _dtype) -> _Tensor:
    """Like `quantize_per_tensor`, with a scale and a zero point for each index of the dim `axis`.
    float64 scales are used in double precision. Raises RuntimeError for a wrong number of them.
    """
def quantize_per_tensor(input: _Tensor, scale: _float, zero_point: _int, quant_min: _int, quant_max: _int, dtype: _dtype) -> _Tensor:
    """Returns `input / scale + zero_point` as integers of `dtype` (uint8, int8 or int16):
    multiplied by the reciprocal, rounded to even, clamped to [`quant_min`, `quant_max`]. The bits
    equal those of torch's `quantized_decomposed.quantize_per_tensor`. Raises AssertionError for an
    input that is not float32, float16 or bfloat16, and for bounds that the dtype can't hold;
    ValueError for other dtypes.
    """
def relu(input: _Tensor, zero_point: _int=0) -> _Tensor:
    """Returns the integers, those below `zero_point` replaced by it: negative numbers become 0.
    Raises ValueError for a zero point that the input's dtype can't hold.
    """
def relu6(input: _Tensor, scale: _float, zero_point: _int=0, *, maximum: _float=6.0) -> _Tensor:
    """Returns the integers of `scale` and `zero_point`, clamped to those of 0 and `maximum`: the
    bits of `torch.ops.quantized.relu6`. Raises ValueError for a scale or a maximum that is not
    positive, and for a zero point that the input's dtype can't hold.
    """
