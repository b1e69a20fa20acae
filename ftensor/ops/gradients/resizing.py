"""Images in other sizes, and the derivatives of that and of padding with what is there.

Resizing and padding each dim by itself is a linear map, so that a derivative is a product with its
matrix, which the op itself makes of the unit matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import dtypes
from ..._tensor import Tensor
from ...rows.catalogue import aten_op
from ..create.positions import eye
from ..linalg.matmul import matmul
from ..nn.spatial.interpolate import interpolate
from ..rearrange.pad_modes import pad

Scales = Sequence[float | None]


def _unit(n: int, of: dtypes.dtype, device: Any, dims: int) -> Tensor:
    """The unit matrix as an image of n channels, with as many dims as are asked for."""
    identity = eye(n, dtype=of, device=device)
    return identity.reshape((1, n, *(1,) * (dims - 1), n))


def _along(grad: Tensor, dim: int, matrix: Tensor) -> Tensor:
    """The gradient before a map of one dim, whose matrix is (elements, results)."""
    return matmul(grad.transpose(dim, -1), matrix.t()).transpose(dim, -1)


@aten_op()
def upsample(x: Tensor, sizes: Sequence[int], scales: Scales, mode: str, **more: Any) -> Tensor:
    """`interpolate` to sizes, or by scales where these are given; NotImplementedError where the
    sizes don't follow from the scales."""
    size = x._shape[2:]
    factors = [s for s in scales if s is not None]
    if factors and [int(n * s) for n, s in zip(size, factors)] != list(sizes):
        raise NotImplementedError
    how = {"scale_factor": factors} if factors else {"size": list(sizes)}
    return interpolate(x, mode=mode, **how, **more)


@aten_op()
def upsample_backward(
    grad: Tensor, output_size: Sequence[int], input_size: Sequence[int], scales: Scales, mode: str, **more: Any
) -> Tensor:
    # A dim by itself: what has 2 dims only keeps one of size 1.
    smooth = "antialias" in more
    flat = 2 if mode == "bicubic" or smooth else 1
    of_one = "linear" if mode in ("bilinear", "trilinear") and not smooth else mode
    of, grad_input = grad._dtype, grad.to(grad._dtype.compute)
    for d, (size, count, scale) in enumerate(zip(input_size[2:], output_size, scales)):
        if size == count and scale in (None, 1.0):
            continue
        unit = _unit(size, grad_input._dtype, grad_input.device, flat)
        one = (1,) * (flat - 1)
        own = None if scale is None else 1.0
        matrix = upsample(unit, (*one, count), (*(own for _ in one), scale), of_one, **more)
        grad_input = _along(grad_input, d + 2, matrix.reshape(size, count))
    return grad.clone() if grad_input is grad else grad_input.to(of).contiguous()


@aten_op()
def pad_backward(grad: Tensor, input: Tensor, padding: Sequence[int], mode: str) -> Tensor:
    of, grad_input = grad._dtype, grad.to(grad._dtype.compute)
    for k in range(0, len(padding), 2):
        dim = input.ndim - 1 - k // 2
        unit = _unit(input._shape[dim], grad_input._dtype, grad_input.device, 1)
        padded = pad(unit, list(padding[k : k + 2]), mode)
        grad_input = _along(grad_input, dim, padded[0])
    return grad_input.to(of).contiguous()
