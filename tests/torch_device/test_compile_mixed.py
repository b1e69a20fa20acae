"""Compiled graphs that also have CPU tensors, whose ops stay on the CPU as in eager mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.fx import Graph, GraphModule
from torch.nn import functional as F

from ftensor.torch import codegen
from ftensor.torch.calls import DIRECT
from ftensor.torch.codegen import is_here
from ftensor.torch.internals import overload
from ftensor.torch.registration import written

from .device import leaves, quiet  # noqa: F401

BY_NAME = sorted({*written, *DIRECT})


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def called(name: str, inputs: list[Any], result: Any) -> tuple[Any, bool]:
    """Returns the call in a graph's text for an op, given the values of its arguments and its
    result, and whether it is a call on ftensor's tensors."""
    graph = Graph()
    text = codegen._SourceWriter(set(), GraphModule({}, graph))
    args: list[Any] = []
    for k, value in enumerate(inputs):
        nodes = []
        for t in value if isinstance(value, list) else [value]:
            node = graph.placeholder(f"x{k}_{len(nodes)}")
            node.meta["val"] = t
            text.forms[node] = {"t"}
            nodes.append(node)
        args.append(nodes if isinstance(value, list) else nodes[0])
    node = graph.call_function(overload(name), tuple(args))
    node.meta["val"] = result
    before = set(text.scope)
    if is_here(node):
        return None, True
    text.call_function(node)
    (new,) = set(text.scope) - before
    return text.scope[new], False


scalar, vector = torch.tensor(1.0), torch.ones(3)
KINDS = {
    "none": [],
    "scalar": [scalar],
    "vector": [vector],
    "list": [[scalar, vector]],
    "list and scalar": [[vector, vector], scalar],
}


@pytest.mark.parametrize("name", BY_NAME)
def test_ops_on_the_cpu_are_torchs(name: str) -> None:
    for kind, inputs in KINDS.items():
        assert called(name, inputs, vector) == (overload(name), False), kind


@pytest.mark.parametrize("name", sorted(written))
def test_one_device_tensor_calls_the_device_kernel(name: str) -> None:
    here = vector.to("fpga")
    for inputs in ([here, vector], [vector, here], [[scalar, here]], [[scalar], here]):
        # The result is on the CPU, so this is no call on ftensor's tensors.
        assert called(name, inputs, vector) == (written[name], False)


def both(f: Callable[..., Any], *args: torch.Tensor) -> None:
    """Compares a function of device and CPU tensors, compiled and eager."""
    fast = torch.compile(f, backend="ftensor", fullgraph=True)
    for _ in range(2):
        x = torch.ones(3, device="fpga")
        there, here = [a.clone() for a in args], [a.clone() for a in args]
        torch.manual_seed(0)
        wanted = f(x, *there)
        torch.manual_seed(0)
        actual = fast(x, *here)
        for a, b in zip(leaves([actual, here]), leaves([wanted, there]), strict=True):
            assert a.device == b.device
            torch.testing.assert_close(a, b)


table, rows = torch.arange(6.0).reshape(3, 2), torch.tensor([2, 0])
CASES: dict[str, Callable[..., Any]] = {
    "arange": lambda x, v: (x * 2, torch.arange(3), torch.arange(1, 4), torch.arange(0, 4, 2)),
    "fresh": lambda x, v: (x * 2, torch.zeros(2), torch.ones(3), torch.full((2,), 7.0), torch.eye(2)),
    "likes": lambda x, v: (x * 2, torch.zeros_like(v), torch.full_like(v, 2.0), v.new_zeros(2), x.new_zeros(2)),
    "empty": lambda x, v: (x * 2, torch.empty(3).fill_(1.0), torch.empty_strided((2, 2), (1, 2)).zero_()),
    "scalars": lambda x, v: (x * torch.tensor(2.0), torch.tensor([1.0, 2.0]), x * v[0]),
    "embedding": lambda x, v: (x * 2, F.embedding(rows, table)),
    "index": lambda x, v: (x[rows], table[rows], table[:, rows[:1] * 0]),
    "index_put": lambda x, v: (x.index_put((rows,), x[:2]), table.index_put((rows,), table[:2])),
    "dropout": lambda x, v: (x * 2, F.dropout(v, 0.5)),
    "in place": lambda x, v: (x * 2, v.add_(1)),
    "views": lambda x, v: (x * 2, v.view(3, 1).t(), v.as_strided((2, 2), (1, 1)), v.unfold(0, 2, 1) * 2),
    "layers": lambda x, v: (x * 2, F.linear(v, table.t()), F.batch_norm(table, None, None, training=True)),
    "activations": lambda x, v: (x * 2, F.glu(table), F.prelu(v, v[:1]), F.elu(v.clone(), inplace=True)),
    "moves": lambda x, v: (x + v.to("fpga"), v + x.to("cpu"), v.double(), v[0].to("fpga")),
    "foreach": lambda x, v: (x * 2, *torch._foreach_mul([v, v[:1]], [2.0, 3.0]), *torch._foreach_sqrt([v])),
    "foreach of scalars": lambda x, v: (*torch._foreach_mul([v[0], v[1]], [x, x[:2]]), *torch._foreach_add([v], v[0])),
    "foreach of both": lambda x, v: tuple(torch._foreach_add([v, x], [v, x])),
}


@pytest.mark.parametrize("name", CASES)
def test_graph_of_both_devices(name: str) -> None:
    both(CASES[name], torch.tensor([1.0, 2.0, 3.0]))


def test_graph_of_the_cpu() -> None:
    f = torch.compile(lambda v: (torch.arange(3) * v, F.embedding(rows, table)), backend="ftensor")
    assert [t.device.type for t in f(torch.ones(3))] == ["cpu", "cpu"]


OPTIMIZERS = ["Adam", "NAdam", "RAdam", "SGD"]
ALIKE = ["Adadelta", "Adagrad", "Adamax", "AdamW", "ASGD", "RMSprop", "Rprop"]


@pytest.mark.parametrize("name", [*OPTIMIZERS, *[pytest.param(n, marks=pytest.mark.long) for n in ALIKE]])
def test_optimizer_step(name: str) -> None:
    """Step counts are on the CPU."""
    results = []
    for device in ("cpu", "fpga"):
        torch.manual_seed(0)
        net = nn.Linear(4, 3).to(device)
        optimizer = getattr(torch.optim, name)(net.parameters(), lr=1e-2)
        step = torch.compile(optimizer.step, backend="ftensor") if device == "fpga" else optimizer.step
        for _ in range(2):
            optimizer.zero_grad()
            net(torch.ones(2, 4, device=device)).square().sum().backward()
            step()
        results.append([p.detach().cpu() for p in net.parameters()])
    torch.testing.assert_close(*results)
