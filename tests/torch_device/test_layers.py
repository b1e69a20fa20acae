"""Layers, activations and losses, forward and backward, without the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from .device import agree, quiet  # noqa: F401

CLOSE = {"atol": 1e-4, "rtol": 1e-3}


def leaf(*shape: int) -> torch.Tensor:
    """Returns a leaf that requires its gradient."""
    tensor = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))
    return tensor.requires_grad_()


ACTIVATIONS = [
    "relu", "tanh", "sigmoid", "gelu", "silu", "mish", "hardtanh", "hardswish", "hardsigmoid",
    "leaky_relu", "elu", "selu", "celu", "relu6", "softplus", "logsigmoid", "hardshrink",
    "softshrink", "tanhshrink", "softsign",
]  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    agree(getattr(F, name), leaf(5, 7), fallback=False, **CLOSE)


def test_tanh_gelu_and_softmax() -> None:
    agree(lambda x: F.gelu(x, approximate="tanh"), leaf(5, 7), fallback=False, **CLOSE)
    agree(lambda x: F.softmax(x, -1) ** 2, leaf(5, 7), fallback=False, **CLOSE)
    agree(lambda x: F.log_softmax(x, 0) ** 2, leaf(5, 7), fallback=False, **CLOSE)


CONVOLUTIONS: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "2d": (partial(F.conv2d, padding=1), (leaf(2, 3, 8, 8), leaf(4, 3, 3, 3), leaf(4))),
    "stride": (partial(F.conv2d, stride=2), (leaf(2, 3, 9, 8), leaf(4, 3, 3, 3), leaf(4))),
    "groups": (partial(F.conv2d, groups=2, dilation=2, padding=2), (leaf(2, 4, 9, 8), leaf(6, 2, 3, 3), leaf(6))),
    "transposed": (
        partial(F.conv_transpose2d, stride=2, padding=1, output_padding=1),
        (leaf(2, 4, 5, 6), leaf(4, 3, 3, 3), leaf(3)),
    ),
    "transposed groups": (partial(F.conv_transpose2d, groups=2), (leaf(2, 4, 5, 6), leaf(4, 3, 3, 3), leaf(6))),
    "small planes": (partial(F.conv2d, padding=1), (leaf(20, 3, 4, 4), leaf(5, 3, 3, 3), leaf(5))),
    "small planes, transposed": (
        partial(F.conv_transpose2d, stride=(2, 1), groups=2),
        (leaf(20, 4, 2, 3), leaf(4, 3, 3, 2), leaf(6)),
    ),
    "1d": (partial(F.conv1d, padding=1), (leaf(2, 3, 8), leaf(4, 3, 3))),
    "3d": (partial(F.conv3d, stride=2), (leaf(2, 3, 5, 5, 5), leaf(4, 3, 3, 3, 3), leaf(4))),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(name: str) -> None:
    call, args = CONVOLUTIONS[name]
    agree(call, *args, fallback=False, **CLOSE)


POOLS: dict[str, Callable[..., Any]] = {
    "max": lambda x: F.max_pool2d(x, 2),
    "max of columns": lambda x: F.max_pool2d(x, (2, 1), dilation=2),
    "max of windows that overlap": lambda x: F.max_pool2d(x, 3, 2, 1),
    "adaptive max": lambda x: F.adaptive_max_pool2d(x, (3, 4)),
    "mean": lambda x: F.avg_pool2d(x, 2),
    "mean with padding": lambda x: F.avg_pool2d(x, 3, 2, 1, True, True),
    "mean without padding": lambda x: F.avg_pool2d(x, 3, 2, 1, True, False),
    "mean by a divisor": lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5),
    "adaptive mean": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "global mean": lambda x: F.adaptive_avg_pool2d(x, 1),
}


@pytest.mark.parametrize("name", POOLS)
def test_pools(name: str) -> None:
    agree(POOLS[name], leaf(2, 3, 9, 8), fallback=False, **CLOSE)


def test_layer_and_group_norm() -> None:
    layer = partial(F.layer_norm, normalized_shape=(7,))
    agree(lambda x, w, b: layer(x, weight=w, bias=b), leaf(5, 7), leaf(7), leaf(7), **CLOSE)
    agree(lambda x: F.layer_norm(x, (5, 7)), leaf(3, 5, 7), fallback=False, **CLOSE)
    args = leaf(3, 4, 5, 5), leaf(4), leaf(4)
    agree(lambda x, w, b: F.group_norm(x, 2, w, b), *args, fallback=False, **CLOSE)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training: bool) -> None:
    def call(x: Any, mean: Any, var: Any, w: Any, b: Any) -> Any:
        return F.batch_norm(x, mean, var, w, b, training), mean, var

    args = leaf(3, 4, 5, 5), torch.randn(4), torch.rand(4) + 0.5, leaf(4), leaf(4)
    agree(call, *args, fallback=False, **CLOSE)


TARGET = torch.tensor([1, 0, 3, -100, 2])


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_losses(reduction: str) -> None:
    agree(lambda x, t: F.cross_entropy(x, t, reduction=reduction), leaf(5, 4), TARGET, fallback=False, **CLOSE)
    agree(
        lambda x, t, w: F.nll_loss(x, t, w, reduction=reduction),
        leaf(5, 4),
        TARGET,
        torch.rand(4),
        fallback=False,
        **CLOSE,
    )
    for loss in (F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.l1_loss):
        agree(partial(loss, reduction=reduction), leaf(5, 4), leaf(4, 5).t().detach(), **CLOSE)
    call = partial(F.binary_cross_entropy_with_logits, reduction=reduction)
    agree(call, leaf(5, 4), torch.rand(5, 4), fallback=False, **CLOSE)


def test_embeddings_and_indexing() -> None:
    index = torch.tensor([[0, 1], [3, 3]])
    agree(lambda w: F.embedding(index.to(w.device), w, 1), leaf(4, 6), fallback=False)
    agree(lambda x: x[index.to(x.device)], leaf(4, 3), fallback=False)
    agree(lambda x: x[:, index[0].to(x.device)], leaf(4, 3), fallback=False)
    agree(lambda x: x[x > 0] * 2, leaf(4, 3), fallback=False)


def test_attention() -> None:
    q = leaf(2, 3, 5, 4)
    agree(F.scaled_dot_product_attention, q, q, q, fallback=False, **CLOSE)
    causal = partial(F.scaled_dot_product_attention, is_causal=True)
    agree(causal, q, q, q, fallback=False, **CLOSE)


def test_gradient_if_every_target_is_ignored() -> None:
    """The loss is 0 / 0, and its gradient is 0."""
    ignored = torch.full((5,), -100)
    agree(lambda x: F.cross_entropy(x, ignored.to(x.device)), leaf(5, 4), fallback=False)


def test_mixture_of_experts() -> None:
    """Mixtral's layer sends each token to two of four experts, whose products are one grouped
    call."""

    def program(x: torch.Tensor, router: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
        shares, chosen = (x @ router).softmax(-1).topk(2, -1)
        expert, order = chosen.flatten().sort(stable=True)
        offsets = torch.histc(expert.float(), bins=4, min=0, max=3).cumsum(0, dtype=torch.int32)
        gate, value = F.grouped_mm(x[order // 2], up.mT, offs=offsets).chunk(2, -1)
        y = F.grouped_mm(F.silu(gate) * value, down.mT, offs=offsets)
        y = y * (shares / shares.sum(-1, keepdim=True)).flatten()[order, None]
        return y[order.argsort()].view(-1, 2, x.shape[-1]).sum(1)

    agree(program, leaf(9, 8), leaf(8, 4), leaf(4, 24, 8), leaf(4, 8, 12), fallback=False, **CLOSE)
