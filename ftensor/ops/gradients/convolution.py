"""Convolutions by one name for any number of dims, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._tensor import Tensor
from ...execute.choices import specializes
from ...execute.conv_plan import ConvWindows
from ...execute.conv_weight import weight_gradients
from ...iterator.shape import Ints, numel
from ...rows.catalogue import aten_op
from ..create.sizes import zeros
from ..nn.spatial.conv import CONV, CONV_TRANSPOSE


def _conv(n: int, *args: Any) -> Tensor:
    return CONV[n](*args)


@aten_op()
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """A convolution, or a transposed one, over as many dims as `input` has beside two."""
    n = input.ndim - 2
    if not transposed:
        return _conv(n, input, weight, bias, stride, padding, dilation, groups)
    more = output_padding, groups, dilation
    return CONV_TRANSPOSE[n](input, weight, bias, stride, padding, *more)


@aten_op()
def convolution_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """The gradients of a convolution's input, weight and bias, each where `output_mask` asks for
    it."""
    where = tuple(stride), tuple(padding), tuple(dilation)
    grads: list[Tensor | None] = [None, None, None]
    if output_mask[0]:
        grads[0] = input_gradient(grad, input._shape, weight, *where, transposed, groups)
    if output_mask[1]:
        pair = (input, grad) if transposed else (grad, input)
        wanted = output_mask[2] and not transposed
        grads[1:] = weight_gradient(*pair, weight._shape, *where, groups, wanted)
    if output_mask[2] and grads[2] is None:
        grads[2] = grad.sum((0, *range(2, grad.ndim)))
    return tuple(grads)


def input_gradient(
    grad: Tensor,
    input_shape: Ints,
    weight: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    groups: int,
) -> Tensor:
    """The gradient of a convolution's input."""
    if not numel(grad._shape) or not numel(input_shape):
        return zeros(input_shape, dtype=grad.dtype, device=grad.device)
    n = grad.ndim - 2
    if transposed:
        grad_input = _conv(n, grad, weight, None, stride, padding, dilation, groups)
        for dim, size in enumerate(input_shape[2:], 2):
            grad_input = grad_input.narrow(dim, 0, size)  # where output_padding made room for more
        return grad_input.contiguous()
    sizes = zip(input_shape[2:], grad._shape[2:], weight._shape[2:], stride, padding, dilation)
    left = [size - ((out - 1) * s - 2 * p + d * (k - 1) + 1) for size, out, k, s, p, d in sizes]
    return CONV_TRANSPOSE[n](grad, weight, None, stride, padding, tuple(left), groups, dilation)


def weight_gradient(
    grad: Tensor,
    input: Tensor,
    weight_shape: Ints,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    bias: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """The gradient of a convolution's weight, and of its `bias` where that is asked for and comes
    with it. For a transposed one, `grad` and `input` change places.
    """
    if not numel(grad._shape) or not numel(input._shape):
        return zeros(weight_shape, dtype=grad.dtype, device=grad.device), None
    grads = weight_gradients(grad, input, weight_shape, ConvWindows(groups, stride, padding, dilation), bias)
    if grads is None:
        of = grad, input, weight_shape, stride, padding, dilation, groups
        return _weight_by_convolution(*of), None
    if grads[0].ndim == len(weight_shape):
        return grads
    return grads[0].sum(0), None if grads[1] is None else grads[1].sum(0)


def _weight_by_convolution(
    grad: Tensor, input: Tensor, weight_shape: Ints, stride: Ints, padding: Ints, dilation: Ints, groups: int
) -> Tensor:
    """The input, with samples and channels in each other's place, convolved with the gradient;
    stride and dilation change places, too."""
    n = grad.ndim - 2
    batch, channels = input._shape[:2]
    if groups == 1 and channels > 1 and dilation[-1] == 1 and specializes(input):
        return _weight_by_channels(grad, input, weight_shape, stride, padding, dilation)
    here = channels // groups
    spatial = input._shape[2:]
    order = tuple(range(3, n + 3))
    seen = input.reshape(batch, groups, here, *spatial).permute(2, 1, 0, *order)
    seen = seen.reshape(here, groups * batch, *spatial)
    grad_weight = _conv(n, seen, grad.transpose(0, 1), None, dilation, padding, stride, groups)
    for dim, size in enumerate(weight_shape[2:], 2):
        grad_weight = grad_weight.narrow(dim, 0, size)  # where the stride left some of the input out
    return grad_weight.transpose(0, 1).contiguous()


def _weight_by_channels(
    grad: Tensor, input: Tensor, weight_shape: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Tensor:
    """The same, with the channels side by side in the last dim, as a kernel's few columns would
    leave most of a vector empty: to the right of an element by one is that by as many numbers as
    there are channels.
    """
    n = grad.ndim - 2
    batch, channels, *spatial = input._shape
    inner = input.permute(0, *range(2, n + 2), 1).contiguous()
    seen = inner.reshape(1, batch, *spatial[:-1], spatial[-1] * channels)
    apart, around = (*stride[:-1], stride[-1] * channels), (*padding[:-1], padding[-1] * channels)
    grad_weight = _conv(n, seen, grad.transpose(0, 1), None, dilation, around, apart, 1)
    rows, width = weight_shape[2:-1], weight_shape[-1]
    for dim, size in enumerate((*rows, width * channels), 2):
        grad_weight = grad_weight.narrow(dim, 0, size)  # where the stride left some of the input out
    grad_weight = grad_weight.reshape(weight_shape[0], *rows, width, channels)
    return grad_weight.permute(0, n + 1, *range(1, n + 1)).contiguous()
