"""Convolutions and products of bytes, summed in int32, by kernels of boards that read bytes."""

from __future__ import annotations

from typing import Any

from ...._tensor import Tensor
from ....dtypes import int32
from ....execute import memory
from ....execute.conv_bytes import convolve_bytes, served_bytes
from ....execute.conv_plan import ConvWindows
from ....iterator.shape import numel
from .conv import checked

# Windows of one element, one after another.
PLAIN = ConvWindows(1, (1,), (0,), (1,))


def byte_sums(
    name: str, n: int, input: Tensor, weight: Tensor, stride: Any, padding: Any, dilation: Any, groups: int, zero: int
) -> Tensor | None:
    """The convolution, in int32, of bytes less `zero`, which also lies around them, with int8
    filters, by a board's kernels of bytes; None where there are none, or nothing is computed.
    Errors are those of all convolutions."""
    if not served_bytes(input, weight, numel(weight._shape[2:])):
        return None
    alike = input.view(weight._dtype)  # as bytes, their sign aside
    batched, grouped, counts, of, _, _ = checked(name, n, alike, weight, None, stride, padding, dilation, groups)
    shape = (batched._shape[0], weight._shape[0], *counts)
    x = input if input.ndim == n + 2 else input.unsqueeze(0)
    if not numel(shape) or not numel(weight._shape):
        return None
    sums = memory.new(shape, int32, x._storage.device)
    convolve_bytes(sums, x, grouped, of, zero)
    return sums if x is input else sums.squeeze(0)


def byte_products(input: Tensor, weight: Tensor, zero: int) -> Tensor | None:
    """`(input - zero) @ weight.T` in int32, of bytes (m, k) and int8 (n, k), as a convolution: an
    element of a row is a channel, a row is a position. None where a board has no such kernels."""
    (m, k), n = input._shape, weight._shape[0]
    if not m * n * k or not served_bytes(input, weight, 1):
        return None
    x = input._view((1, k, m), (0, *input._strides[::-1]), input._offset)
    own = weight._strides
    filters = weight._view((1, n, k, 1), (0, *own, 1), weight._offset)
    products = memory.new((m, n), int32, x._storage.device)
    convolve_bytes(products._view((1, n, m), (0, 1, n), 0), x, filters, PLAIN, zero)
    return products
