"""torch's autograd on the device, one feature after another, against the CPU."""

from __future__ import annotations

import threading

import pytest
import torch

from .device import agree, quiet, same  # noqa: F401


def test_gradients() -> None:
    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x @ w).tanh().mul(x[:, :1]).softmax(-1).log().sum()

    agree(program, torch.randn(3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True))


def test_gradients_of_views_and_in_place_ops() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y[0].mul_(y[1].detach().clone())
        y.t()[1:].add_(x.t()[1:] ** 2)
        return y.exp().sum()

    agree(program, torch.randn(3, 4, requires_grad=True))


def test_gradients_of_slices_are_zero_elsewhere() -> None:
    grad = torch.randn(4, 2)

    def program(whole: torch.Tensor) -> list[torch.Tensor]:
        # Launches cached in the first round write to memory that other tensors left.
        results = []
        for _ in range(3):
            for part in (lambda x: x[:, 1], lambda x: x[..., -3:-1, 0], lambda x: x[1::2, -1]):
                results += torch.autograd.grad(part(whole).exp().sum(), whole)
            results.append(torch.ops.aten.select_backward(grad.to(whole.device), (4, 3, 2), -2, 2))
            results.append(torch.ops.aten.slice_backward(grad.to(whole.device), (9, 2), 0, -8, 9, 2))
        return results

    agree(program, torch.randn(4, 5, 2, requires_grad=True))


def test_double_backward_and_hooks() -> None:
    seen = []
    x = torch.randn(4)
    grads = []
    for device in ("cpu", "fpga"):
        leaf = x.detach().to(device).requires_grad_()
        leaf.register_hook(lambda g: seen.append(g.device.type))
        (grad,) = torch.autograd.grad((leaf**3).sum(), leaf, create_graph=True)
        grad.sum().backward()
        grads.append(leaf.grad)
    same(grads[1], grads[0])
    assert seen == ["cpu", "cpu", "fpga", "fpga"]


def test_checkpointing() -> None:
    from torch.utils.checkpoint import checkpoint

    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return checkpoint(lambda a: (a @ w).tanh(), x, use_reentrant=False).sum()

    agree(program, torch.randn(3, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True))


def test_transforms() -> None:
    from torch.func import grad, jvp, vmap

    def program(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        def f(a: torch.Tensor) -> torch.Tensor:
            return (a.sin() * a).sum()

        return [grad(f)(x), vmap(grad(f))(x), *jvp(f, (x,), (y,))]

    agree(program, torch.randn(3, 4), torch.randn(3, 4))


def test_gradients_are_computed_in_several_threads() -> None:
    wanted = torch.randn(8, 8)
    failed = []

    def work(seed: int) -> None:
        x = wanted.to("fpga").requires_grad_()
        for _ in range(10):
            ((x @ x).tanh() * seed).sum().backward()
        leaf = wanted.clone().requires_grad_()
        for _ in range(10):
            ((leaf @ leaf).tanh() * seed).sum().backward()
        if not torch.allclose(x.grad.cpu(), leaf.grad, atol=1e-4):
            failed.append(seed)

    threads = [threading.Thread(target=work, args=(k + 1,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_backward_runs_in_the_calling_thread() -> None:
    seen: list[int] = []
    x = torch.ones(3, device="fpga", requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: seen.append(threading.get_ident()))
    y.sum().backward()
    assert seen == [threading.get_ident()]


@pytest.mark.parametrize("turn", range(5))
def test_forward_on_another_stream(turn: int) -> None:
    x, w = torch.randn(64, 64), torch.randn(64, 64) / 8
    a, b = x.to("fpga").requires_grad_(), w.to("fpga").requires_grad_()
    side = torch.fpga.Stream()
    with torch.fpga.stream(side):
        y = a
        for _ in range(5):
            y = (y @ b).tanh()
        loss = y.sum()
    loss.backward()
    x.requires_grad_()
    w.requires_grad_()
    y = x
    for _ in range(5):
        y = (y @ w).tanh()
    y.sum().backward()
    same([a.grad, b.grad], [x.grad, w.grad], atol=1e-3, rtol=1e-3)
