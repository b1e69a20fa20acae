"""What torch's derivative formulas call by names of their own: activations, losses, layers.

The formulas are in `ops/nn/gradients.py` and `ops/nn/layer_gradients.py`; here they get aten's
names and arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .._tensor import Tensor
from ..ops.compose import f
from ..ops.nn import conv_gradients as convolutions
from ..ops.nn import gradients as g
from ..ops.nn import layer_gradients as layers
from ..ops.nn.pool_windows import pool_of
from ..rows.op import Op
from .fallback import run as on_host
from .kernels import REDUCTION
from .memory import TO_FT, give, lift, unwrap, wrap
from .private import overload
from .registration import impl


def _maybe(t: torch.Tensor | None) -> Tensor | None:
    return None if t is None else lift(t)


def _given(f: Tensor | None) -> torch.Tensor | None:
    return None if f is None else wrap(f)


def pointwise(
    name: str, choose: Callable[..., tuple[Op, tuple[Any, ...], tuple[float, ...]]],
    out: str = "grad_input",
) -> None:  # fmt: skip
    """Kernels of a pointwise derivative, and of the overload that writes `out`.

    `choose` takes the overload's arguments and says which row runs on which tensors and numbers.
    """
    plain = overload(name)

    @impl(name)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        try:
            row, tensors, numbers = choose(*args, **kwargs)
            return wrap(g.run(row, *map(lift, tensors), params=numbers))
        except NotImplementedError:
            return on_host(plain, *args, **kwargs)

    if not out:
        return
    writes = overload(f"{name}.{out}")

    @impl(f"{name}.{out}")
    def into(*args: Any, **kwargs: Any) -> Any:
        to = kwargs.pop(out)
        try:
            row, tensors, numbers = choose(*args, **kwargs)
            f = unwrap(to)
            before = f._key
            g.run(row, *map(lift, tensors), params=numbers, out=f)
        except NotImplementedError:
            return on_host(writes, *args, **{out: to}, **kwargs)
        return to if f._key == before else give(to, f)


def share(input: torch.Tensor, reduction: int) -> float:
    """What a loss' mean has of each element."""
    return 1 / max(input.numel(), 1) if reduction == 1 else 1.0


pointwise("threshold_backward", lambda grad, x, limit: (g.THRESHOLD, (grad, x), (limit,)))
pointwise("tanh_backward", lambda grad, y: (g.TANH, (grad, y), ()))
pointwise("sigmoid_backward", lambda grad, y: (g.SIGMOID, (grad, y), ()))
pointwise(
    "gelu_backward",
    lambda grad, x, approximate="none": (
        g.GELU_TANH if approximate == "tanh" else g.GELU, (grad, x), (),
    ),
)  # fmt: skip
pointwise("silu_backward", lambda grad, x: (g.SILU, (grad, x), ()))
pointwise("mish_backward", lambda grad, x: (g.MISH, (grad, x), ()), "")
pointwise("hardtanh_backward", lambda grad, x, low, high: (g.HARDTANH, (grad, x), (low, high)))
pointwise("hardswish_backward", lambda grad, x: (g.HARDSWISH, (grad, x), ()), "")
pointwise("hardsigmoid_backward", lambda grad, x: (g.HARDSIGMOID, (grad, x), ()))
pointwise(
    "leaky_relu_backward", lambda grad, x, slope, is_result: (g.LEAKY_RELU, (grad, x), (slope,))
)
pointwise(
    "elu_backward",
    lambda grad, alpha, scale, input_scale, is_result, x: (
        g.ELU_RESULT if is_result else g.ELU, (grad, x), (alpha * scale, scale, input_scale),
    ),
)  # fmt: skip
pointwise("softplus_backward", lambda grad, x, beta, limit: (g.SOFTPLUS, (grad, x), (beta, limit)))
pointwise("log_sigmoid_backward", lambda grad, x, buffer: (g.LOGSIGMOID, (grad, x), ()))
pointwise("hardshrink_backward", lambda grad, x, limit: (g.SHRINK, (grad, x), (limit,)))
pointwise("softshrink_backward", lambda grad, x, limit: (g.SHRINK, (grad, x), (limit,)))
pointwise(
    "mse_loss_backward",
    lambda grad, x, target, reduction: (g.MSE, (grad, x, target), (share(x, reduction),)),
)
pointwise(
    "smooth_l1_loss_backward",
    lambda grad, x, target, reduction, beta: (
        g.SMOOTH_L1, (grad, x, target), (share(x, reduction), beta),
    ),
)  # fmt: skip
pointwise(
    "huber_loss_backward",
    lambda grad, x, target, reduction, delta: (
        g.HUBER, (grad, x, target), (share(x, reduction), delta),
    ),
    "out",
)  # fmt: skip


@impl("_softmax_backward_data")
def softmax_backward(grad: Any, output: Any, dim: int, input_dtype: Any) -> torch.Tensor:
    return wrap(f._softmax_backward_data(lift(grad), lift(output), dim, TO_FT[input_dtype]))


@impl("_log_softmax_backward_data")
def log_softmax_backward(grad: Any, output: Any, dim: int, input_dtype: Any) -> torch.Tensor:
    return wrap(f._log_softmax_backward_data(lift(grad), lift(output), dim, TO_FT[input_dtype]))


# --- convolutions


@impl("convolution_overrideable")
def convolution(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> torch.Tensor:  # fmt: skip
    args = stride, padding, dilation, transposed, output_padding, groups
    try:
        return wrap(convolutions.convolution(lift(input), lift(weight), _maybe(bias), *args))
    except NotImplementedError:
        return on_host(overload("convolution"), input, weight, bias, *args)


@impl("convolution_backward_overrideable")
def convolution_backward(
    grad: Any, input: Any, weight: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, mask: Any,
) -> tuple[torch.Tensor | None, ...]:  # fmt: skip
    try:
        where = tuple(stride), tuple(padding), tuple(dilation)
        of = lift(grad), lift(input), lift(weight)
        found = convolutions.backward(*of, *where, transposed, groups, mask)
        return tuple(_given(one) for one in found)
    except NotImplementedError:
        bias = [weight.shape[1] * groups if transposed else weight.shape[0]]
        args = stride, padding, dilation, transposed, output_padding, groups, mask
        return on_host(overload("convolution_backward"), grad, input, weight, bias, *args)


# --- pooling


def _pool(n: int) -> None:
    name = f"avg_pool{n}d_backward"

    @impl(name)
    def avg_pool(
        grad: Any, input: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool,
        padded_too: bool, divisor: Any,
    ) -> torch.Tensor:  # fmt: skip
        a, x = lift(grad), lift(input)
        return wrap(layers.avg_pool(a, x, kernel, stride, padding, padded_too, divisor, n))

    @impl(f"_adaptive_avg_pool{n}d_backward")
    def adaptive(grad: Any, input: Any) -> torch.Tensor:
        return wrap(layers.adaptive_avg_pool(lift(grad), lift(input), n))

    @impl(f"max_pool{n}d_with_indices_backward")
    def max_pool(
        grad: Any, input: Any, kernel: Any, stride: Any, padding: Any, dilation: Any,
        ceil_mode: bool, indices: Any,
    ) -> torch.Tensor:  # fmt: skip
        x, name = lift(input), f"max_pool{n}d_backward"
        pool = pool_of(name, n, x, kernel, stride or kernel, padding, dilation, ceil_mode)
        return wrap(layers.max_pool(lift(grad), x, lift(indices), pool))

    @impl(f"adaptive_max_pool{n}d_backward")
    def adaptive_max_pool(grad: Any, input: Any, indices: Any) -> torch.Tensor:
        return wrap(layers.adaptive_max_pool(lift(grad), lift(input), lift(indices), n))


for _n in (2, 3):
    _pool(_n)


# --- normalizing layers


@impl("native_layer_norm_backward")
def layer_norm_backward(
    grad: Any, input: Any, normalized_shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any,
    mask: Any,
) -> tuple[torch.Tensor | None, ...]:  # fmt: skip
    operands = lift(grad), lift(input), lift(mean), lift(rstd), _maybe(weight)
    found = layers.layer_norm(*operands, len(normalized_shape), mask)
    return tuple(_given(one) for one in found)


@impl("native_group_norm_backward")
def group_norm_backward(
    grad: Any, input: Any, mean: Any, rstd: Any, weight: Any, N: int, C: int, HxW: int, group: int,
    mask: Any,
) -> tuple[torch.Tensor | None, ...]:  # fmt: skip
    x = lift(input)
    split = (N, group, C // group, HxW)
    a, b = [lift(t).reshape(N, group, 1, 1) for t in (mean, rstd)]
    factor = None if weight is None else lift(weight).reshape(1, group, C // group, 1)
    made = layers.norm(
        lift(grad).reshape(split), x.reshape(split), a, b, factor, (2, 3), (1, 2), mask
    )
    shapes = x._shape, (C,), (C,)
    return tuple(_given(None if f is None else f.reshape(s)) for f, s in zip(made, shapes))


def _batch_norm(
    grad: Any, input: Any, weight: Any, mean: Any, rstd: Any, train: bool, mask: Any
) -> tuple[torch.Tensor | None, ...]:
    x = lift(input)
    across = (1, -1, *[1] * (x.ndim - 2))
    factor = None if weight is None else lift(weight).reshape(across)
    dims = (0, *range(2, x.ndim))
    statistics = mean.reshape(across), rstd.reshape(across)
    found = layers.norm(lift(grad), x, *statistics, factor, dims, (1,), mask, train)
    return tuple(_given(one) for one in found)


@impl("native_batch_norm_backward")
def batch_norm_backward(
    grad: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, save_mean: Any,
    save_invstd: Any, train: bool, eps: float, mask: Any,
) -> tuple[torch.Tensor | None, ...]:  # fmt: skip
    if train:
        mean, rstd = lift(save_mean), lift(save_invstd)
    else:
        mean, rstd = lift(running_mean), (lift(running_var) + eps).rsqrt()
    return _batch_norm(grad, input, weight, mean, rstd, train, mask)


@impl("_weight_norm_interface_backward")
def weight_norm_backward(
    grad: Any, v: Any, g: Any, norms: Any, dim: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of direction and length of v * (g / |v|), where |v| leaves `dim` alone."""
    a, x, length, norm = lift(grad), lift(v), lift(g), lift(norms)
    along = (a * x).sum([d for d in range(x.ndim) if d != dim], keepdim=True) / norm
    return wrap((a - x * (along / norm)) * (length / norm)), wrap(along.to(length._dtype))


# --- losses and tables


def _nll_forward(
    self: Any, target: Any, weight: Any, reduction: int, ignore_index: int
) -> tuple[torch.Tensor, torch.Tensor]:
    made = layers.nll_loss(
        lift(self), lift(target), _maybe(weight), REDUCTION[reduction], ignore_index
    )
    return wrap(made[0]), wrap(made[1])


def _nll_backward(
    grad: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
) -> torch.Tensor:
    x, y, w = lift(self), lift(target), _maybe(weight)
    word, sums = REDUCTION[reduction], lift(total)
    return wrap(layers.nll_loss_input(lift(grad), x, y, w, word, ignore_index, sums))


impl("nll_loss_forward", "nll_loss2d_forward")(_nll_forward)
impl("nll_loss_backward", "nll_loss2d_backward")(_nll_backward)


@impl("embedding_dense_backward")
def embedding_backward(
    grad: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> torch.Tensor:
    a, index = lift(grad), lift(indices)
    return wrap(layers.embedding(a, index, num_weights, padding_idx, scale_grad_by_freq))
