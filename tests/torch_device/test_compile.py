"""`torch.compile(..., backend="ftensor")` has eager's results in fewer kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

import ftensor as ft
import ftensor.torch
from ftensor.torch import calls, codegen
from ftensor.torch import compile as compiled
from ftensor.torch.fused_runs import GraphRow

from .device import agree, quiet, same  # noqa: F401


@pytest.fixture(autouse=True)
def texts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Records the text of each graph's function, and discards graphs of other tests."""
    torch._dynamo.reset()
    kernels: list[str] = []
    function_of = compiled.function_of

    def noted(graph: Any) -> Callable[..., Any]:
        function = function_of(graph)
        kernels.append(function.text)  # type: ignore[attr-defined]
        return function

    monkeypatch.setattr(compiled, "function_of", noted)
    yield kernels
    torch._dynamo.reset()


def twice(function: Callable[..., Any], *args: torch.Tensor) -> None:
    """Compares a function and its gradients, compiled on the device and eager on the CPU, in two
    calls."""
    fast = torch.compile(function, backend="ftensor")
    for turn in range(2):
        here = [a.detach().to("fpga").requires_grad_(a.requires_grad) for a in args]
        there = [a.detach().clone().requires_grad_(a.requires_grad) for a in args]
        actual, wanted = fast(*here), function(*there)
        same(actual, wanted, rtol=1e-4, atol=1e-5)
        same(here, there)  # writes to its arguments
        if wanted[0].requires_grad:
            (actual[0].sum() * (turn + 1)).backward()
            (wanted[0].sum() * (turn + 1)).backward()
            grads = [a.grad for a in here], [a.grad for a in there]
            same(*grads, rtol=1e-4, atol=1e-5)


def test_graph_calls_ftensor_directly(texts: list[str]) -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return ((x.exp() + y) * 2).t() @ y.clamp(min=0), x.sum(1)

    with torch.no_grad():
        twice(f, torch.randn(5, 5), torch.randn(5, 5))
    (text,) = texts
    # Only arguments are unwrapped and only results are wrapped.
    assert text.count("wrap(") - text.count("unwrap(") == 2 and text.count("unwrap(") == 2


def rows(function: Callable[..., Any], *arguments: tuple[torch.Tensor, ...]) -> list[GraphRow]:
    """Returns the report rows of some calls' graphs, after checking their results."""
    before = ftensor.torch.graph_report()
    fast = torch.compile(function, backend="ftensor", dynamic=len(arguments) > 1)
    with torch.no_grad():
        for args in arguments:
            same(fast(*[a.to("fpga") for a in args]), function(*args))
    return [row for row in ftensor.torch.graph_report() if row not in before]


def test_region_is_few_kernels() -> None:
    def f(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = (x - x.amax(-1, keepdim=True)).exp()
        return (y / y.sum(-1, keepdim=True) * w,)

    (row,) = rows(f, (torch.randn(3, 5), torch.randn(5)))
    assert row.calls == 6 and row.kernels == 1 and not row.apart


def test_ops_run_one_by_one_without_fusion(monkeypatch: pytest.MonkeyPatch) -> None:
    """With FTENSOR_FUSE=0 results are equal, each call is a launch, and the report gives the
    reason."""

    def f(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = (x - x.amax(-1, keepdim=True)).exp()
        return (y / y.sum(-1, keepdim=True) * w,)

    args = torch.randn(3, 7), torch.randn(7)
    monkeypatch.setenv("FTENSOR_FUSE", "0")
    with ft.profiler.profile() as p:
        (row,) = rows(f, args)
    assert row.calls == 6 and row.kernels == 0 and row.apart == "FTENSOR_FUSE=0"
    launches = {one.name: one.count for one in p.averages()}
    assert [launches.get(name) for name in ("amax", "sub", "exp", "sum", "div", "mul")] == [1] * 6, launches


def test_sizes_are_traced_when_repeated() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor]:
        return ((x + 1).exp().square() * x,)

    sizes = [(2,), (3,), (4,), (5,), (3,), (5,), (3,)]
    traced = rows(f, *[(torch.randn(n),) for n in sizes])
    assert [row.kernels for row in traced] == [1, 1, 1], traced


def test_op_that_reads_a_value_splits_the_region(monkeypatch: pytest.MonkeyPatch) -> None:
    def reads(x: Any) -> Any:
        return x.sin() if x.sum() > 0 else x.cos()

    direct = calls.direct_function
    monkeypatch.setattr(
        codegen, "direct_function", lambda node, op: reads if op is torch.ops.aten.sin.default else direct(node, op)
    )

    def f(x: torch.Tensor) -> tuple[torch.Tensor]:
        y = x.exp() + 1
        return (y.sin().square() + y,)

    first, *others = rows(f, (torch.randn(4),))
    assert first.kernels == 0 and first.apart.startswith("aten.sin.default: __bool__ reads a value")
    assert [(row.calls, row.kernels) for row in others] == [(2, 1), (2, 1)]


def test_random_numbers_are_eagers() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(x * 2, 0.5) + torch.rand_like(x)

    x = torch.ones(40, device="fpga", requires_grad=True)
    fast = torch.compile(f, backend="ftensor")
    results = []
    for call in (fast, f):
        torch.manual_seed(5)
        for _ in range(3):
            y = call(x)
            results.append((y.tolist(), torch.autograd.grad(y.sum(), x)[0].tolist()))
    assert results[:3] == results[3:] and results[0] != results[1]


def test_gradients() -> None:
    def f(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
        for _ in range(3):
            x = torch.tanh(nn.functional.linear(x, w, b)) * torch.sigmoid(x) + x[:1]
        return x.softmax(-1), x.detach()

    args = [torch.randn(4, 6), torch.randn(6, 6), torch.randn(6)]
    twice(f, *[a.requires_grad_() for a in args])


def test_results_that_share_memory() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 2
        return y, y.t(), x[1:], y.detach(), x

    twice(f, torch.randn(3, 4))
    results = torch.compile(f, backend="ftensor")(torch.ones(3, 4, device="fpga"))
    results[1].fill_(7)
    results[2].fill_(5)
    assert results[0].sum().item() == 84 and results[4][1:].sum().item() == 40


def test_written_arguments() -> None:
    def f(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x.add_(y)
        x[0] = 3
        return x.sum(0), y.relu_()

    with torch.no_grad():
        twice(f, torch.randn(3, 4), torch.randn(3, 4))


def test_written_arguments_without_results() -> None:
    """A region without results lies between two ops on the host."""

    def f(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        eigen = torch.linalg.eigvalsh(x @ x.t())
        x.mul_(2).add_(y)
        return (eigen,)

    with torch.no_grad():
        twice(f, torch.randn(3, 3), torch.randn(3, 3))


def test_dtypes_without_kernels() -> None:
    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        half = (x * 2).chalf() + 1
        return half.to(torch.complex64).real + x, x.exp()

    with torch.no_grad():
        twice(f, torch.randn(3))


def test_ops_on_the_host() -> None:
    """Ops without kernels, numbers, several results, lists, and a graph break."""

    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        q, r = torch.linalg.qr(x)
        a, b = torch.split(x, 2)
        y = torch.cat([a, b * x.shape[0]]) + torch.linalg.eigvalsh(x @ x.t()).sum()
        if y.sum().item() > 1e30:
            return (y,)
        return y.max(1).values, (q @ r), y.topk(2).indices

    with torch.no_grad():
        twice(f, torch.randn(4, 4))


def test_dynamic_shapes() -> None:
    fast = torch.compile(lambda x: (x.reshape(-1)[: x.shape[0]] * x.shape[1]).cos(), backend="ftensor")
    for shape in [(3, 4), (5, 7), (2, 9), (4, 4)]:
        x = torch.randn(shape)
        torch.testing.assert_close(fast(x.to("fpga")).cpu(), (x.reshape(-1)[: shape[0]] * shape[1]).cos())


def test_decomposition_with_dynamic_shapes() -> None:
    """torch's decomposition writes strides into a tensor, whose sizes are then symbols."""

    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (torch.stft(x, 16, center=False, window=None, return_complex=True),)

    rows(f, (torch.randn(2, 40),), (torch.randn(2, 60),))


def test_training_a_network() -> None:
    """Convolution, batch norm with its statistics, pooling, dropout in evaluation, a loss, SGD."""

    def run(device: str) -> tuple[list[float], dict[str, torch.Tensor]]:
        torch.manual_seed(3)
        net = nn.Sequential(
            nn.Conv2d(1, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(36, 8),
            nn.LayerNorm(8),
            nn.GELU(),
            nn.Linear(8, 5),
        )
        x, y = torch.randn(6, 1, 8, 8).to(device), torch.tensor([0, 1, 2, 3, 4, 0]).to(device)
        net = net.to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        step = torch.compile(net, backend="ftensor") if device == "fpga" else net
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(step(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        net.eval()
        with torch.no_grad():
            losses.append(step(x).sum().item())
        return losses, net.state_dict()

    ftensor.torch.fallback_report().reset()
    (actual, state), (wanted, expected) = run("fpga"), run("cpu")
    assert not ftensor.torch.fallback_report()
    torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-4)
    for name, value in expected.items():
        torch.testing.assert_close(state[name].cpu(), value, rtol=1e-4, atol=1e-4)


def test_multi_class_losses_are_not_decomposed() -> None:
    """torch's own decomposition counts targets after the first -1."""
    target = torch.tensor([[3, 0, -1, 1, -1], [-1, 2, 1, 0, 3], [4, 2, 1, 0, 3]])

    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return (torch.nn.functional.multilabel_margin_loss(x, target.to(x.device)),)

    twice(f, torch.randn(3, 5, requires_grad=True))


def test_default_backend() -> None:
    """torch's default backend, inductor, has no code for the device. ftensor's backend replaces
    it."""
    agree(
        lambda x: torch.compile(lambda a: (a * 2).tanh())(x) if x.is_fpga else (x * 2).tanh(),
        torch.randn(3, requires_grad=True),
        fallback=False,
    )


def test_parts_of_a_result_share_its_memory() -> None:
    """The first part begins at the memory's start, and ends before its end."""

    def f(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x + 1
        return y[:2], y[2:], y.t()

    x = torch.randn(5, 3)
    with torch.no_grad():
        parts = torch.compile(f, backend="ftensor")(x.to("fpga"))
    same(parts, f(x))
    assert len({t.untyped_storage().data_ptr() for t in parts}) == 1
