"""Quantized layers: sums in int32, scaled and rounded back to the input's dtype."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._tensor import Tensor
from ...dtypes import float32, int8, int32, uint8
from ...dtypes.limits import iinfo
from ...errors import nn as errors
from ...execute.layers import layer
from ...rows.catalogue import op
from ...rows.op import Op
from ...rows.spelling import written
from ..linalg.matmul import matmul
from ..nn.spatial.conv import CONV, byte_products, byte_sums
from .convert import (
    CLAMPED,
    SPACE,
    a_tensor,
    channel_values,
    check_integer_dtype,
    check_scale,
    check_zero_point,
    computed,
    row,
)

# Exact: float32 holds differences of small integers.
CENTERED = row("centered", "input", "a - zero", "zero", ("uint8", "int8"))
REQUANTIZE = row(
    "requantize", "sums, added, factor", CLAMPED.format("rint((a + b) * c) + zero"), "zero low high",
    ("int32", "float32"),
)  # fmt: skip
ADD = row(
    "quantized_add",
    "input, other",
    CLAMPED.format("rint(((a - first) * first_scale + (b - second) * second_scale) * inverse) + zero"),
    "first first_scale second second_scale inverse zero low high",
    ("uint8", "int8"),
)


def centered(x: Tensor, zero: int) -> Tensor:
    """Returns the integers minus their zero point, in int32."""
    return computed(CENTERED, (x,), (zero,), x._shape, int32)


class _Weighted(NamedTuple):
    """The arguments of a layer with weights."""

    name: str
    relu: bool
    input: Tensor
    weight: Tensor
    bias: Tensor | None
    scale: Any
    zero_point: Any
    input_scale: Any
    input_zero_point: Any
    weight_scale: Any

    def checked(self) -> _Weighted:
        """Returns the arguments. Raises for tensors of other dtypes and shapes."""
        name, input, weight, bias = self.name, self.input, self.weight, self.bias
        for word, operand in (("input", input), ("weight", weight)):
            a_tensor(name, word, operand)
        if input._dtype not in (uint8, int8) or weight._dtype is not int8:
            raise errors.operands(name, input._dtype, weight._dtype)
        if bias is not None:
            a_tensor(name, "bias", bias)
            if bias._dtype is not float32 or bias._shape != weight._shape[:1]:
                raise errors.bias(name, weight._shape[0], bias._dtype, bias._shape)
        return self

    @property
    def settings(self) -> dict[str, Any]:
        """Returns the arguments by name, without the op's name and the input."""
        return {word: value for word, value in self._asdict().items() if word not in ("name", "input")}

    @property
    def zero(self) -> int:
        """Returns the zero point of the input."""
        return check_zero_point(self.name, "input_zero_point", self.input_zero_point, self.input._dtype)

    def requantized(self, sums: Tensor, channel: int) -> Tensor:
        """Returns the sums times (input_scale * weight_scale / scale), in single precision at every
        step; `channel` is the dim of the filters."""
        name, of = self.name, self.input._dtype
        out_scale = check_scale(name, "scale", self.scale)
        zero = check_zero_point(name, "zero_point", self.zero_point, of)
        single: Any = np.float32(check_scale(name, "input_scale", self.input_scale))
        added: Any = 0.0
        if type(self.weight_scale) is Tensor:
            each: Any = channel_values(name, "weight_scale", self.weight_scale, sums, channel).to(float32)
            each = each * float(single)
            factor = each / out_scale
        else:
            each = single * np.float32(check_scale(name, "weight_scale", self.weight_scale))
            factor = float(each / np.float32(out_scale))
            each = float(each)
        if self.bias is not None:
            added = channel_values(name, "bias", self.bias, sums, channel) / each
        low = zero if self.relu else iinfo(of).min
        return computed(REQUANTIZE, (sums, added, factor), (zero, low, iinfo(of).max), sums._shape, of)


def _linear(call: _Weighted) -> Tensor:
    call = call.checked()
    return layer("linear", (call.input,), call.settings, lambda: _products(call))


def _products(call: _Weighted) -> Tensor:
    input, weight, zero = call.input, call.weight, call.zero
    sums = None
    if input.ndim and weight.ndim == 2 and input._shape[-1] == weight._shape[1]:
        rows = input.reshape(-1, weight._shape[1])
        sums = byte_products(rows, weight, zero)
    if sums is None:
        sums = matmul(centered(input, zero), weight.to(int32).t())
    else:
        sums = sums.reshape(*input._shape[:-1], weight._shape[0])
    return call.requantized(sums, sums.ndim - 1)


def _conv2d(call: _Weighted, windows: tuple[Any, Any, Any, int]) -> Tensor:
    call = call.checked()
    settings = call.settings | dict(zip(("stride", "padding", "dilation", "groups"), windows))
    return layer("conv2d", (call.input,), settings, lambda: _convolution(call, windows))


def _convolution(call: _Weighted, windows: tuple[Any, Any, Any, int]) -> Tensor:
    input, weight, zero = call.input, call.weight, call.zero
    sums = byte_sums("conv2d", 2, input, weight, *windows, zero)
    if sums is None:
        # Padding of the centered integers with 0 equals padding of the input with its zero point.
        sums = CONV[2](centered(input, zero), weight.to(int32), None, *windows)
    return call.requantized(sums, sums.ndim - 3)


_SCALES = "scale: float = 1.0, zero_point: int = 0, *, input_scale: float, input_zero_point: int = 0, weight_scale: Any"
_WINDOWS = "stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1"
_CALL = "_Weighted(NAME, relu, input, weight, bias, scale, zero_point, input_scale, input_zero_point, weight_scale)"


def _enter(name: str, parameters: str, body: str, doc: str, rows: tuple[Op, ...] = ()) -> None:
    """Registers a layer, and its form with relu."""
    scope: dict[str, Any] = {"__name__": __name__, "_linear": _linear, "_conv2d": _conv2d, "_Weighted": _Weighted}
    fused_doc = f"Like `{name}`, then `relu`, with a single rounding: `torch.ops.quantized.{name}_relu`."
    op(namespace=SPACE, method=False, rows=rows)(written(name, parameters, body, doc, relu=False, **scope))
    op(namespace=SPACE, method=False)(written(f"{name}_relu", parameters, body, fused_doc, relu=True, **scope))


_enter(
    "linear",
    f"input: Tensor, weight: Tensor, bias: Tensor | None = None, {_SCALES}",
    f"return _linear({_CALL})",
    """Returns `input @ weight.T + bias` of an input (*, k) of uint8 or int8 and a weight (n, k) of
    int8, whose zero point is 0, in the input's dtype with `scale` and `zero_point`. `weight_scale`
    is a number, or (n,) numbers; `bias` is (n,) real numbers in float32. Sums are int32. The bits
    equal those of `torch.ops.quantized.linear` with FBGEMM. Raises RuntimeError for other dtypes
    and shapes, ValueError for scales that are not positive and zero points that the dtype can't
    hold.""",
    (CENTERED, REQUANTIZE),
)
_enter(
    "conv2d",
    f"input: Tensor, weight: Tensor, bias: Tensor | None = None, {_WINDOWS}, {_SCALES}",
    f"return _conv2d({_CALL}, (stride, padding, dilation, groups))",
    """Returns the cross-correlation of `nn.functional.conv2d` of an input (N, C, H, W) or (C, H, W)
    of uint8 or int8 with filters (O, C / groups, h, w) of int8, quantized like in `linear`; padding
    is the input's zero point. The bits equal those of `torch.ops.quantized.conv2d` with FBGEMM.
    Raises the errors of `linear`.""",
)


@op(namespace=SPACE, method=False)
def relu(input: Tensor, zero_point: int = 0) -> Tensor:
    """Returns the integers, those below `zero_point` replaced by it: negative numbers become 0.
    Raises ValueError for a zero point that the input's dtype can't hold."""
    of = check_integer_dtype("relu", a_tensor("relu", "input", input)._dtype)
    zero = check_zero_point("relu", "zero_point", zero_point, of)
    return layer("relu", (input,), {"zero_point": zero, "high": None}, lambda: input.clamp_min(zero))


@op(namespace=SPACE, method=False)
def relu6(input: Tensor, scale: float, zero_point: int = 0, *, maximum: float = 6.0) -> Tensor:
    """Returns the integers of `scale` and `zero_point`, clamped to those of 0 and `maximum`: the
    bits of `torch.ops.quantized.relu6`. Raises ValueError for a scale or a maximum that is not
    positive, and for a zero point that the input's dtype can't hold."""
    name = "relu6"
    of = check_integer_dtype(name, a_tensor(name, "input", input)._dtype)
    zero = check_zero_point(name, "zero_point", zero_point, of)
    most, inverse = np.float32(check_scale(name, "maximum", maximum)), np.float32(1 / check_scale(name, "scale", scale))
    high = int(min(np.rint(most * inverse) + zero, iinfo(of).max))
    return layer("relu", (input,), {"zero_point": zero, "high": high}, lambda: input.clamp(zero, high))


@op(namespace=SPACE, method=False, rows=(ADD,))
def add(
    input: Tensor,
    other: Tensor,
    scale: float,
    zero_point: int,
    *,
    input_scale: float,
    input_zero_point: int = 0,
    other_scale: float,
    other_zero_point: int = 0,
) -> Tensor:
    """Returns the sum of two quantized tensors of one dtype and shape, with `scale` and
    `zero_point`: dequantized, added in float32, quantized, with the bits of these three ops of
    torch's `quantized_decomposed`. Raises RuntimeError for other dtypes and shapes."""
    of = check_integer_dtype("add", a_tensor("add", "input", input)._dtype)
    if a_tensor("add", "other", other)._dtype is not of or other._shape != input._shape:
        raise errors.terms("add", of, input._shape, other._dtype, other._shape)
    numbers = (
        check_zero_point("add", "input_zero_point", input_zero_point, of),
        check_scale("add", "input_scale", input_scale),
        check_zero_point("add", "other_zero_point", other_zero_point, of),
        check_scale("add", "other_scale", other_scale),
        1 / check_scale("add", "scale", scale),
        check_zero_point("add", "zero_point", zero_point, of),
        iinfo(of).min,
        iinfo(of).max,
    )
    settings = dict(zip(ADD.params, numbers))
    return layer("add", (input, other), settings, lambda: computed(ADD, (input, other), numbers, input._shape, of))
