"""Quantization and dequantization: torch's `quantized_decomposed` ops, on plain tensors."""

from __future__ import annotations

from typing import Any

from ..._tensor import Tensor
from ...dtypes import bfloat16, dtype, float16, float32, int16
from ...errors import nn as errors_quantized
from ...execute.output import new
from ...execute.pointwise import pointwise
from ...iterator.shape import Ints, normalize_dim
from ...rows.catalogue import op
from ...rows.op import Op, Promote
from .arguments import a_tensor, channel_values, check_bounds, check_integer_dtype
from .arguments import scale as _scale
from .arguments import zero_point as _zero_point

SPACE = "quantized"

CLAMPED = "ft_min(ft_max({}, low), high)"
QUANTIZE = Op(
    "quantize_per_tensor",
    "quantize_per_tensor(input) -> Tensor",
    CLAMPED.format("rint(a * inverse) + zero"),
    params=("inverse", "zero", "low", "high"),
    promote=Promote.SINGLE,
    any_out=True,
    only=("float32",),
)
QUANTIZE_CHANNEL = Op(
    "quantize_per_channel",
    "quantize_per_channel(input, scales, zero_points) -> Tensor",
    CLAMPED.format("rint(a * (K(1) / b)) + c"),
    params=("low", "high"),
    promote=Promote.FLOATING,
    any_out=True,
    only=("float32",),
)
DEQUANTIZE = Op(
    "dequantize_per_tensor",
    "dequantize_per_tensor(input) -> Tensor",
    "(a - zero) * scale",
    params=("scale", "zero"),
    promote=Promote.SINGLE,
    any_out=True,
    only=("uint8", "int8", "int16"),
)
DEQUANTIZE_CHANNEL = Op(
    "dequantize_per_channel",
    "dequantize_per_channel(input, scales, zero_points) -> Tensor",
    "(a - c) * b",
    promote=Promote.FLOATING,
    any_out=True,
    only=("uint8", "int8", "int16"),
)
SAMPLES = Op(
    "dequantize_as_complex",
    "dequantize_as_complex(real, imag) -> Tensor",
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
    numbers = (1 / _scale(name, "scale", scale), _zero_point(name, "zero_point", zero_point, element))
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
    numbers = (_scale(name, "scale", scale), _zero_point(name, "zero_point", zero_point, dtype))
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
    return pointwise(SAMPLES, tuple(components), (_scale(name, "scale", scale),))
