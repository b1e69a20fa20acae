"""Concatenation of quantized tensors with scales of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._tensor import Tensor
from ...dtypes import int8, uint8
from ...dtypes.limits import iinfo
from ...errors import nn as errors
from ...execute.layer import layer
from ...iterator.shape import normalize_dim
from ...rows.catalogue import op
from ...rows.op import Op, Promote
from ..rearrange.cat import cat as joined
from .arguments import a_tensor
from .arguments import scale as _scale
from .arguments import zero_point as _zero_point
from .convert import CLAMPED, SPACE, computed

REQUANTIZE_BYTES = Op(
    "requantize_bytes",
    "requantize_bytes(input) -> Tensor",
    CLAMPED.format("rint((a - first) * first_scale * inverse) + zero"),
    params=("first", "first_scale", "inverse", "zero", "low", "high"),
    promote=Promote.SINGLE,
    any_out=True,
    only=("uint8", "int8"),
)


def _one_per_tensor(name: str, values: Any, count: int) -> tuple[Any, ...]:
    """Returns a value for each of `count` tensors, from one value or a list of `count`."""
    several = tuple(values) if isinstance(values, (tuple, list)) else (values,) * count
    if len(several) != count:
        raise errors.for_each("cat", name, count, len(several))
    return several


@op(namespace=SPACE, method=False, rows=(REQUANTIZE_BYTES,))
def cat(
    tensors: Sequence[Tensor],
    dim: int = 0,
    scale: float | None = None,
    zero_point: int | None = None,
    *,
    input_scales: Any,
    input_zero_points: Any = 0,
) -> Tensor:
    """Joins quantized tensors of uint8 or int8 along a dim, with `scale` and `zero_point` (None:
    the first tensor's). `input_scales` and `input_zero_points` are numbers, one for all tensors or
    one for each. Tensors with the result's scale and zero point are copied; others are dequantized
    and quantized, with the bits of torch's `quantized_decomposed`. `torch.ops.quantized.cat` adds
    the zero point before it rounds: where that is odd, results halfway between two integers differ
    by one. Raises RuntimeError for other dtypes and shapes, ValueError for another number of
    scales."""
    name = "cat"
    tensors = tuple([a_tensor(name, f"tensors[{k}]", tensor) for k, tensor in enumerate(tensors)])
    if not tensors:
        raise errors.no_tensors(name)
    element = tensors[0]._dtype
    for tensor in tensors:
        if tensor._dtype is not element or element not in (uint8, int8):
            raise errors.joined_dtypes(name, element, tensor._dtype)
    scales = [_scale(name, "input_scales", x) for x in _one_per_tensor("input_scales", input_scales, len(tensors))]
    zero_points = _one_per_tensor("input_zero_points", input_zero_points, len(tensors))
    zeros = [_zero_point(name, "input_zero_points", x, element) for x in zero_points]
    result_scale = scales[0] if scale is None else _scale(name, "scale", scale)
    zero = zeros[0] if zero_point is None else _zero_point(name, "zero_point", zero_point, element)
    dim = normalize_dim(dim, tensors[0].ndim)
    parameters = [(z, s, 1 / result_scale, zero, iinfo(element).min, iinfo(element).max) for z, s in zip(zeros, scales)]
    settings = {"dim": dim, "scales": tuple(scales), "zeros": tuple(zeros), "inverse": 1 / result_scale, "zero": zero}
    return layer(name, tensors, settings, lambda: joined(_rescaled(tensors, parameters, result_scale), dim))


def _rescaled(tensors: Sequence[Tensor], parameters: Sequence[tuple[Any, ...]], result_scale: float) -> list[Tensor]:
    """Returns the tensors with the scale and the zero point of the result."""
    results = []
    for x, row_parameters in zip(tensors, parameters):
        zero, scale, _, wanted, *_ = row_parameters
        same = (zero, scale) == (wanted, result_scale)
        results.append(x if same else computed(REQUANTIZE_BYTES, (x,), row_parameters, x._shape, x._dtype))
    return results
