"""Derivatives of normalizing layers."""

from __future__ import annotations

from collections.abc import Sequence

from ..._tensor import Tensor
from ...execute.pointwise import pointwise
from ...graph.fused import fused
from ...rows.catalogue import aten_op
from ..nn.layers.norm import CENTERED
from .pointwise import NORMALIZED

Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]  # of input, weight and bias


def _normalized(grad: Tensor, result: Tensor, rstd: Tensor, dims: Sequence[int]) -> Tensor:
    """The gradient of (input - mean) * rstd where both follow from the input over `dims`."""
    whole = grad.mean(dims, keepdim=True)
    along = (grad * result).mean(dims, keepdim=True)
    return pointwise(NORMALIZED, (grad, result, whole, along, rstd))


def _norm(
    grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    dims: Sequence[int],
    kept: Sequence[int],
    mask: Sequence[bool],
    moving: bool = True,
) -> Gradients:
    """The gradients of input, weight and bias of a normalizing layer.

    Statistics are over `dims`, and follow from the input where `moving`; weight and bias, which
    broadcast against it, are reduced to the dims `kept`. `mask` says which gradients are wanted.
    """
    of, compute = input._dtype, input._dtype.compute
    g, mean, rstd = grad.to(compute), mean.to(compute), rstd.to(compute)
    result = pointwise(CENTERED, (input.to(compute), mean, rstd))
    others = tuple(k for k in range(input.ndim) if k not in kept)
    grads: list[Tensor | None] = [None, None, None]
    if mask[0]:
        scaled = g if weight is None else g * weight.to(compute)
        grad_input = _normalized(scaled, result, rstd, dims) if moving else scaled * rstd
        grads[0] = grad_input.to(of)
    for k, x in ((1, None if not mask[1] else g * result), (2, g if mask[2] else None)):
        if x is not None:
            grads[k] = (x.sum(others) if others else x).to(of)
    return grads[0], grads[1], grads[2]


@aten_op()
@fused
def native_layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mask: Sequence[bool],
) -> Gradients:
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    return _norm(grad.contiguous(), input, mean, rstd, weight, dims, dims, mask)


@aten_op()
@fused
def native_group_norm_backward(
    grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    mask: Sequence[bool],
) -> Gradients:
    split, each = (N, group, C // group, HxW), (N, group, 1, 1)
    factor = None if weight is None else weight.reshape(1, group, C // group, 1)
    statistics = mean.reshape(each), rstd.reshape(each)
    grads = _norm(grad.reshape(split), input.reshape(split), *statistics, factor, (2, 3), (1, 2), mask)
    a, b, c = [x if x is None else x.reshape(s) for x, s in zip(grads, (input._shape, (C,), (C,)))]
    return a, b, c


@aten_op()
@fused
def native_batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    save_mean: Tensor | None,
    save_invstd: Tensor | None,
    train: bool,
    eps: float,
    mask: Sequence[bool],
) -> Gradients:
    if train:
        mean, rstd = save_mean, save_invstd
    else:
        assert running_var is not None
        mean, rstd = running_mean, (running_var + eps).rsqrt()
    assert mean is not None and rstd is not None
    across = (1, -1, *[1] * (input.ndim - 2))
    factor = None if weight is None else weight.reshape(across)
    dims = (0, *range(2, input.ndim))
    statistics = mean.reshape(across), rstd.reshape(across)
    return _norm(grad, input, *statistics, factor, dims, (1,), mask, train)


@aten_op()
@fused
def _weight_norm_interface_backward(
    grad: Tensor, v: Tensor, g: Tensor, norm: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """The gradients of direction and length of v * (g / |v|), where |v| leaves `dim` alone."""
    along = (grad * v).sum([d for d in range(v.ndim) if d != dim], keepdim=True) / norm
    return (grad - v * (along / norm)) * (g / norm), along.to(g._dtype)
