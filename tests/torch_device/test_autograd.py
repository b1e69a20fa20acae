"""torch's autograd beyond one backward pass: double backward, functions, checkpointing, hooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import gradgradcheck
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, stack_module_state, vmap
from torch.utils.checkpoint import checkpoint

import ftensor.torch

from .device import agree, moved, quiet, same  # noqa: F401


def _attention(q: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, q, q)


TWICE: list[tuple[str, Callable[..., Any], list[tuple[int, ...]]]] = [
    ("conv", lambda x, w: F.conv2d(x, w, stride=2, padding=1), [(1, 1, 3, 3), (2, 1, 2, 2)]),
    ("layer_norm", lambda x, w, b: F.layer_norm(x, (3,), w, b), [(2, 3), (3,), (3,)]),
    ("group_norm", lambda x: F.group_norm(x, 2), [(1, 4, 2)]),
    ("batch_norm", lambda x: F.batch_norm(x, None, None, training=True), [(3, 2)]),
    ("gelu", F.gelu, [(3,)]),
    ("softmax", lambda x: x.softmax(-1), [(2, 3)]),
    ("max_pool", lambda x: F.max_pool2d(x, 2), [(1, 1, 2, 4)]),
    ("attention", _attention, [(1, 2, 2)]),
    ("interpolate", lambda x: F.interpolate(x, scale_factor=2.0, mode="linear"), [(1, 1, 3)]),
    ("pad", lambda x: F.pad(x, (1, 1), "reflect"), [(1, 1, 3)]),
]


@pytest.mark.parametrize(("name", "f", "shapes"), TWICE, ids=[t[0] for t in TWICE])
def test_double_backward(name: str, f: Callable[..., Any], shapes: list[tuple[int, ...]]) -> None:
    inputs = [torch.randn(s, dtype=torch.float64).to("fpga").requires_grad_() for s in shapes]
    ftensor.torch.fallback_report().reset()
    assert gradgradcheck(f, inputs, fast_mode=True)
    assert not ftensor.torch.fallback_report()


TRANSFORMED: list[Callable[[torch.Tensor], torch.Tensor]] = [
    lambda a: (a @ a.t()).softmax(-1),
    lambda a: F.layer_norm(a, (4,)) + F.gelu(a),
    lambda a: F.conv1d(a[None], a.new_ones(2, 3, 2)),
    lambda a: F.scaled_dot_product_attention(a[None], a[None], a[None]),
    lambda a: torch.where(a > 0, a, a * 2).cumsum(0).index_select(0, torch.tensor([0, 0, 2], device=a.device)),
    lambda a: torch.cat([a.sort(-1).values, a.clone().mul_(2)]).var(0),
]


@pytest.mark.parametrize("f", TRANSFORMED)
def test_transforms(f: Callable[[torch.Tensor], torch.Tensor]) -> None:
    def total(a: torch.Tensor) -> torch.Tensor:
        return f(a).square().sum()

    def program(x: torch.Tensor, y: torch.Tensor, many: torch.Tensor) -> list[torch.Tensor]:
        return [
            vmap(f)(many),
            grad(total)(x),
            vmap(grad(total))(many),
            *jvp(f, (x,), (y,)),
            jacrev(f)(x),
            jacfwd(f)(x),
            hessian(total)(x),
        ]

    args = torch.randn(3, 4), torch.randn(3, 4), torch.randn(2, 3, 4)
    agree(program, *args, fallback=False, atol=1e-3, rtol=1e-3)


def test_random_numbers_under_vmap() -> None:
    x = torch.zeros(3, 4, device="fpga")

    def f(a: torch.Tensor) -> torch.Tensor:
        return a + torch.randn(4, device="fpga")

    same_rows = vmap(f, randomness="same")(x)
    assert same_rows[0].equal(same_rows[1])
    rows = vmap(f, randomness="different")(x)
    assert not rows[0].equal(rows[1])
    with pytest.raises(RuntimeError, match="randomness"):
        vmap(f)(x)


def test_vmap_over_an_ensemble() -> None:
    models = [nn.Linear(4, 2) for _ in range(3)]
    x = torch.randn(5, 4)
    wanted = torch.stack([m(x) for m in models])
    state = stack_module_state([m.to("fpga") for m in models])  # type: ignore[arg-type]
    actual = vmap(lambda s, x: functional_call(models[0], s, (x,)), (0, None))(state, x.to("fpga"))
    same(actual, wanted)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_draws_the_same_random_numbers(reentrant: bool) -> None:
    x = torch.randn(500, device="fpga", requires_grad=True)
    output = checkpoint(lambda a: F.dropout(a.exp(), 0.5), x, use_reentrant=reentrant)
    output.sum().backward()
    assert x.grad is not None
    assert (x.grad != 0).equal(output.detach() != 0)


def test_hooks() -> None:
    def program(x: torch.Tensor, w: torch.Tensor) -> list[torch.Tensor]:
        layer, seen = nn.Linear(4, 4, bias=False, device=x.device), []
        with torch.no_grad():
            layer.weight.copy_(w)
        layer.register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1,))
        layer.register_forward_hook(lambda module, inputs, output: output * 2)
        layer.register_full_backward_hook(lambda module, gi, go: (gi[0] * 3,))
        layer.weight.register_hook(lambda g: g * 2)
        layer.weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.clone()))
        (into,) = torch.autograd.grad(layer(x).sum(), x, retain_graph=True)
        layer(x).tanh().sum().backward()
        return [into, *seen]

    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4, 4)
    results = []
    for device in ("cpu", "fpga"):
        results.append(program(*moved((x, w), device)))
    same(results[1], results[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("pin", [False, True])
def test_saved_tensors_on_the_host(pin: bool) -> None:
    kinds = []

    def to_host(t: torch.Tensor) -> torch.Tensor:
        kinds.append(t.device.type)
        return t.cpu()

    x, w = torch.randn(3, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
    a, b = moved((x, w), "fpga")
    with torch.autograd.graph.saved_tensors_hooks(to_host, lambda t: t.to("fpga")):
        (a @ b).tanh().sum().backward()
    with torch.autograd.graph.save_on_cpu(pin_memory=pin):
        (a @ b).exp().sum().backward()
    ((x @ w).tanh().sum() + (x @ w).exp().sum()).backward()
    assert set(kinds) == {"fpga"}
    same([a.grad, b.grad], [x.grad, w.grad], atol=1e-4, rtol=1e-4)


def test_anomaly_mode_finds_a_nan() -> None:
    x = torch.zeros(2, device="fpga", requires_grad=True)
    with pytest.warns(UserWarning), torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="nan"):
        (x * 0).sqrt().mul(0).sum().backward()
