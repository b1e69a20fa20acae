"""Quantization and dequantization: torch's `quantized_decomposed` ops, on plain
tensors; checks of arguments of all quantized ops."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ... import errors
from ..._tensor import Tensor
from ...dtypes import bfloat16, dtype, float16, float32, int8, int16, uint8
from ...dtypes.limits import iinfo
from ...errors import nn as errors_quantized
from ...execute.output import new
from ...execute.pointwise import pointwise
from ...iterator.shape import Ints, normalize_dim
from ...rows.catalogue import op
from ...rows.op import Op, Promote

INTEGERS = (uint8, int8, int16)


def a_tensor(op: str, name: str, value: Any) -> Tensor:
    if type(value) is not Tensor:
        raise errors.not_a_tensor(op, name, value)
    return value


def check_integer_dtype(op: str, element: Any) -> dtype:
    """Returns `element`. Raises ValueError if no quantized tensor has that dtype."""
    if element not in INTEGERS:
        raise errors_quantized.not_integers(op, element)
    return element


def check_bounds(op: str, low: Any, high: Any, element: dtype) -> None:
    lowest, highest = iinfo(element).min, iinfo(element).max
    if not (lowest <= low <= highest and lowest <= high <= highest):
        raise errors_quantized.bounds(op, low, high, lowest, highest, element)


def check_scale(op: str, name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or not (isfinite(value) and value > 0):
        raise errors_quantized.scale(op, name, value)
    return float(value)


def check_zero_point(op: str, name: str, value: Any, element: dtype) -> int:
    """Returns a zero point. Raises ValueError unless it is an integer that the dtype holds."""
    lowest, highest = iinfo(element).min, iinfo(element).max
    if isinstance(value, bool) or not isinstance(value, int) or not lowest <= value <= highest:
        raise errors_quantized.zero_point(op, name, value, lowest, highest, element)
    return value


def channel_values(op: str, name: str, values: Any, tensor: Tensor, axis: int) -> Tensor:
    """Returns one value for each channel, shaped to broadcast along `axis`. Raises RuntimeError for
    another shape."""
    values = a_tensor(op, name, values)
    size = tensor._shape[axis]
    if values._shape != (size,):
        raise errors_quantized.scales(op, name, size, values._shape)
    return values.reshape(size, *(1,) * (tensor.ndim - 1 - axis))


SPACE = "quantized"

CLAMPED = "ft_min(ft_max({}, low), high)"


def row(name: str, inputs: str, body: str, params: str, only: tuple[str, ...], promote: Promote = Promote.SINGLE) -> Op:
    """Returns a row whose result has a dtype of its own; `params` are names separated by spaces."""
    return Op(name, inputs, body, params=tuple(params.split()), promote=promote, any_out=True, only=only)


_CHANNELS, _INTEGERS = "input, scales, zero_points", ("uint8", "int8", "int16")
QUANTIZE = row(
    "quantize_per_tensor", "input", CLAMPED.format("rint(a * inverse) + zero"), "inverse zero low high", ("float32",)
)
QUANTIZE_CHANNEL = row(
    "quantize_per_channel", _CHANNELS, CLAMPED.format("rint(a * (K(1) / b)) + c"), "low high", ("float32",),
    Promote.FLOATING,
)  # fmt: skip
DEQUANTIZE = row("dequantize_per_tensor", "input", "(a - zero) * scale", "scale zero", _INTEGERS)
DEQUANTIZE_CHANNEL = row("dequantize_per_channel", _CHANNELS, "(a - c) * b", "", _INTEGERS, Promote.FLOATING)
SAMPLES = Op(
    "dequantize_as_complex",
    "real, imag",
    "ft_cmake(a * scale, b * scale)",
    params=("scale",),
    promote=Promote.REAL_TO_COMPLEX,
    only=("int16",),
)


def computed(row: Op, inputs: tuple[Any, ...], params: tuple[Any, ...], shape: Ints, result_dtype: dtype) -> Tensor:
    out = new(shape, result_dtype, inputs[0]._storage.device)
    return pointwise(row, inputs, params, out, True)


def _real(name: str, input: Any) -> Tensor:
    """Returns the input in float32. Raises AssertionError for a dtype that torch doesn't
    quantize."""
    input = a_tensor(name, "input", input)
    if input._dtype not in (float32, float16, bfloat16):
        raise errors_quantized.not_float32(name, input._dtype)
    return input


def _quantized(name: str, input: Any, element: Any) -> Tensor:
    input = a_tensor(name, "input", input)
    if input._dtype is not check_integer_dtype(name, element):
        raise errors_quantized.other_dtype(name, input._dtype, element)
    return input


@op(namespace=SPACE, method=False, rows=(QUANTIZE,))
def quantize_per_tensor(
    input: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: dtype
) -> Tensor:
    """Returns `input / scale + zero_point` as integers of `dtype` (uint8, int8 or int16):
    multiplied by the reciprocal, rounded to even, clamped to [`quant_min`, `quant_max`]. The bits
    equal those of torch's `quantized_decomposed.quantize_per_tensor`. Raises AssertionError for an
    input that is not float32, float16 or bfloat16, and for bounds that the dtype can't hold;
    ValueError for other dtypes."""
    name = "quantize_per_tensor"
    input, element = _real(name, input), check_integer_dtype(name, dtype)
    check_bounds(name, quant_min, quant_max, element)
    numbers = (1 / check_scale(name, "scale", scale), check_zero_point(name, "zero_point", zero_point, element))
    return computed(QUANTIZE, (input,), (*numbers, quant_min, quant_max), input._shape, element)


@op(namespace=SPACE, method=False, rows=(QUANTIZE_CHANNEL,))
def quantize_per_channel(
    input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, quant_min: int, quant_max: int, dtype: dtype
) -> Tensor:
    """Like `quantize_per_tensor`, with a scale and a zero point for each index of the dim `axis`.
    float64 scales are used in double precision. Raises RuntimeError for a wrong number of them."""
    name = "quantize_per_channel"
    input, element = _real(name, input), check_integer_dtype(name, dtype)
    check_bounds(name, quant_min, quant_max, element)
    dim = normalize_dim(axis, input.ndim)
    inputs = (
        input,
        channel_values(name, "scales", scales, input, dim),
        channel_values(name, "zero_points", zero_points, input, dim),
    )
    return computed(QUANTIZE_CHANNEL, inputs, (quant_min, quant_max), input._shape, element)


@op(namespace=SPACE, method=False, rows=(DEQUANTIZE,))
def dequantize_per_tensor(
    input: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: dtype
) -> Tensor:
    """Returns `(input - zero_point) * scale` in float32, with the bits of torch's
    `quantized_decomposed.dequantize_per_tensor`; the bounds are ignored. Raises AssertionError for
    an input that is not of `dtype`, ValueError for a dtype other than uint8, int8, int16."""
    name = "dequantize_per_tensor"
    input = _quantized(name, input, dtype)
    numbers = (check_scale(name, "scale", scale), check_zero_point(name, "zero_point", zero_point, dtype))
    return computed(DEQUANTIZE, (input,), numbers, input._shape, float32)


@op(namespace=SPACE, method=False, rows=(DEQUANTIZE_CHANNEL,))
def dequantize_per_channel(
    input: Tensor, scales: Tensor, zero_points: Tensor | None, axis: int, quant_min: int, quant_max: int, dtype: dtype
) -> Tensor:
    """Like `dequantize_per_tensor`, with a scale and a zero point (None: 0) for each index of
    `axis`. Raises RuntimeError for a wrong number of them, AssertionError for bounds that `dtype`
    can't hold."""
    name = "dequantize_per_channel"
    input = _quantized(name, input, dtype)
    check_bounds(name, quant_min, quant_max, dtype)
    dim = normalize_dim(axis, input.ndim)
    zeros = 0 if zero_points is None else channel_values(name, "zero_points", zero_points, input, dim)
    inputs = (input, channel_values(name, "scales", scales, input, dim), zeros)
    return computed(DEQUANTIZE_CHANNEL, inputs, (), input._shape, float32)


@op(namespace=SPACE, method=False, rows=(SAMPLES,))
def dequantize_as_complex(input: Tensor, scale: float) -> Tensor:
    """Returns complex64 numbers from int16 pairs (real, imag) in a last dim of 2, as
    analog-to-digital converters deliver them; each part is multiplied by `scale`. It is an
    elementwise expression, so `ft.jit` fuses it into the kernel that reads the samples where
    kernels are generated on request. Raises RuntimeError for another dtype or size."""
    name = "dequantize_as_complex"
    input = a_tensor(name, "input", input)
    if input._dtype is not int16 or input._shape[-1:] != (2,):
        raise errors_quantized.pairs(name, input._dtype, input._shape)
    components = [input.select(-1, k) for k in (0, 1)]
    return pointwise(SAMPLES, tuple(components), (check_scale(name, "scale", scale),))
