"""Ops that torch decomposes for backends and the device computes whole: the number of their
kernels, and calls that are still decomposed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import forward_ad

import ftensor as ft
from ftensor.torch.memory import TO_FT

from .device import agree, quiet  # noqa: F401


def seeded(*shape: int) -> torch.Tensor:
    """Returns random numbers that require gradients, different for each shape."""
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator).requires_grad_()


def attended(q: Any, k: Any, v: Any, **options: Any) -> Any:
    """Returns attention with a different outer gradient for each element."""
    output = F.scaled_dot_product_attention(q, k, v, **options)
    return output * torch.arange(output.numel(), device=output.device).reshape(output.shape)


def twice(call: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that computes gradients of gradients."""

    def size(*args: torch.Tensor) -> torch.Tensor:
        of = torch.autograd.grad(call(*args).square().mean(), args, create_graph=True)
        return sum([g.square().mean() for g in of], of[0].new_zeros(()))

    return size


def mask_of(x: torch.Tensor) -> torch.Tensor:
    return ((torch.arange(35) % 4 > 0) & (torch.arange(35) > 6)).reshape(5, 7).to(x.device)


# Calls, their arguments and the node that records each.
CALLS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], str]] = {
    "linear": (F.linear, [(2, 3, 8), (6, 8), (6,)], "LinearBackward0"),
    "linear without bias": (F.linear, [(5, 8), (6, 8)], "LinearBackward0"),
    "linear of a row": (F.linear, [(1, 1, 64), (96, 64), (96,)], "LinearBackward0"),
    "linear of a vector": (F.linear, [(8,), (6, 8), (6,)], "LinearBackward0"),
    "attention": (F.scaled_dot_product_attention, [(2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 6)], "_AttentionBackward"),
    "causal attention": (
        lambda *a: F.scaled_dot_product_attention(*a, is_causal=True, scale=0.3),
        [(3, 5, 8), (3, 5, 8), (3, 5, 8)],
        "_AttentionBackward",
    ),
    # The first query attends to nothing.
    "masked attention": (
        lambda *a: F.scaled_dot_product_attention(*a, attn_mask=mask_of(a[0])),
        [(2, 4, 5, 8), (2, 4, 7, 8), (2, 4, 7, 6)],
        "_AttentionBackward",
    ),
    "attention with a summand": (
        lambda *a: F.scaled_dot_product_attention(
            *a, attn_mask=torch.where(mask_of(a[0]), 0.5, float("-inf")).to(a[0].dtype)
        ),
        [(4, 5, 8), (4, 7, 8), (4, 7, 6)],
        "_AttentionBackward",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_and_gradients(name: str) -> None:
    call, shapes, node = CALLS[name]
    inputs = [seeded(*shape) for shape in shapes]
    with torch.no_grad():
        agree(call, *inputs, fallback=False, rtol=1e-5, atol=1e-5)

    def recorded(*args: Any) -> Any:
        output = call(*args)
        assert output.device.type == "cpu" or output.grad_fn.name() == node
        return output * torch.arange(output.numel(), device=output.device).reshape(output.shape)

    agree(recorded, *inputs, fallback=False, rtol=1e-4, atol=1e-4)
    agree(twice(call), *inputs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CALLS)
def test_calls_under_transforms_are_decomposed(name: str) -> None:
    """Transforms are tangents, batches of arguments and of gradients, and dispatch modes."""
    call, shapes, _ = CALLS[name]
    x, *others = (seeded(*shape).detach() for shape in shapes)

    def tangent(x: Any, *others: Any) -> Any:
        with forward_ad.dual_level():
            output = call(forward_ad.make_dual(x, torch.ones_like(x)), *others)
            return forward_ad.unpack_dual(output).tangent

    def many(x: Any, *others: Any) -> Any:
        return torch.vmap(lambda one: call(one, *others))(torch.stack([x, 2 * x]))

    def jacobian(x: Any, *others: Any) -> Any:
        return torch.autograd.functional.jacobian(lambda x: call(x, *others), x, vectorize=True)

    for of in (tangent, many, jacobian):
        agree(of, x, *others, rtol=1e-4, atol=1e-4)


def test_lazy_negative() -> None:
    """The imaginary part of a conjugate is lazy, and is resolved below autograd."""
    whole = torch.complex(*seeded(2, 6, 8).detach())
    for call in (
        F.linear,
        lambda x, w: F.layer_norm(x, (8,), w[0]),
        lambda x, w: F.scaled_dot_product_attention(x, w, w),
    ):

        def run(whole: Any, call: Any = call) -> Any:
            x = whole.conj().imag
            assert x.is_neg()
            return call(x, x.detach().requires_grad_())

        agree(run, whole, fallback=False)


def test_self_attention_with_one_tensor() -> None:
    """Each argument has its own gradient, and torch sums them."""
    q = seeded(2, 3, 4)
    agree(lambda q: attended(q, q, q), q, rtol=1e-4, atol=1e-4)
    agree(twice(lambda q: attended(q, q, q)), q, rtol=1e-3, atol=1e-3)
    agree(
        lambda q: torch.autograd.functional.jacobian(
            lambda q: F.scaled_dot_product_attention(q, q, q), q, vectorize=True
        ),
        q,
    )


@pytest.mark.parametrize("of", ["mask with a gradient", "groups", "half", "no words", "mixed"])
def test_other_attention_is_decomposed(of: str) -> None:
    q, k = seeded(2, 4, 5, 8), seeded(2, 4, 3, 8)
    options: dict[str, Any] = {}
    if of == "mask with a gradient":
        options["attn_mask"] = seeded(5, 3)
    elif of == "groups":
        k, options["enable_gqa"] = seeded(2, 2, 3, 8), True
    elif of == "no words":
        k = seeded(2, 4, 0, 8)
    elif of == "half":
        q, k = q.detach().half(), k.detach().half()
    elif of == "mixed":
        for device in ("cpu", "fpga"):
            with pytest.raises(RuntimeError, match="dtype"):
                F.scaled_dot_product_attention(q.to(device), k.double().to(device), q.to(device))
        return

    def call(q: Any, k: Any) -> Any:
        more = {n: x.to(q.device) if isinstance(x, torch.Tensor) else x for n, x in options.items()}
        return F.scaled_dot_product_attention(q, k, k, **more)

    close = 2e-3 if of == "half" else 1e-5
    agree(call, q, k, rtol=close, atol=close)


def launches(call: Callable[[], object]) -> int:
    """Returns the number of kernels of a call after its first time."""
    for _ in range(3):
        call()
    with ft.profiler.profile() as p:
        call()
        torch.fpga.synchronize()
    return len(p.events)


def test_inference_of_one_row_is_few_launches() -> None:
    """Each layer is one launch, and attention is one or two."""
    row, weight, bias = (seeded(*s).detach().to("fpga") for s in ((1, 1, 64), (96, 64), (96,)))
    q, k = (seeded(*s).detach().to("fpga") for s in ((1, 4, 1, 16), (1, 4, 9, 16)))
    assert launches(lambda: F.linear(row, weight, bias)) == 1
    assert launches(lambda: F.layer_norm(row, (64,), row[0, 0], row[0, 0])) == 1
    assert launches(lambda: F.scaled_dot_product_attention(q, k, k)) <= 2
    mask = torch.arange(9, device="fpga") < 5
    assert launches(lambda: F.scaled_dot_product_attention(q, k, k, attn_mask=mask)) <= 4


def test_lstm_step_is_few_launches() -> None:
    """In generation a single step is a graph of all layers."""
    net, x = torch.nn.LSTM(64, 64).to("fpga"), torch.zeros(1, 8, 64, device="fpga")
    states = torch.zeros(1, 8, 64, device="fpga"), torch.ones(1, 8, 64, device="fpga")
    with torch.no_grad():
        assert launches(lambda: net(x, states)) <= 4


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU])
def test_whole_lstm_is_one_launch_in_each_direction(kind: Any) -> None:
    """Unused gradients of last states need no launch."""
    net, x = kind(3, 4, 2).to("fpga"), torch.ones(5, 2, 3, device="fpga")
    states: Any = torch.zeros(2, 2, 4, device="fpga")
    states = (states, states + 1) if kind is torch.nn.LSTM else states
    with torch.no_grad():
        assert launches(lambda: net(x, states)) == 1
    assert launches(lambda: net(x, states)) == 1
    out, grad = net(x, states)[0], torch.ones(5, 2, 4, device="fpga")
    assert launches(lambda: torch.autograd.grad(out, [*net.parameters()], grad, retain_graph=True)) == 1


@pytest.mark.parametrize("make", [torch.zeros, torch.ones])
def test_each_call_draws_new_random_numbers(make: Callable[..., torch.Tensor]) -> None:
    """In every dtype that torch fills, the values, strides and errors are checked."""
    for dtype in (None, *TO_FT):
        for shape in ((), (0,), (2, 0, 3), (2, 3, 4)):
            wanted, actual = make(shape, dtype=dtype), make(shape, dtype=dtype, device="fpga")
            assert actual.dtype is wanted.dtype and actual.stride() == wanted.stride()
            assert actual.is_leaf and str(actual.cpu()) == str(wanted)
    assert launches(lambda: make(3, 4, device="fpga")) == 1
    assert make(2, device="fpga", requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="negative dimension"):
        make(-1, device="fpga")
    with pytest.raises(RuntimeError, match="fpga:1"):
        make(1, device="fpga:1")
