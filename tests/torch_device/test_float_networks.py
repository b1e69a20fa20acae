"""Compiled float32 models in evaluation run as one network kernel if an image has it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import ftensor.torch
from ftensor.graph.network import NetworkBuilder
from ftensor.torch import float_networks
from ftensor.torch.float_networks import FloatNetwork

from .device import quiet  # noqa: F401


class Model(nn.Module):
    """A residual block, pools and a head."""

    def __init__(self, last: str = "softmax") -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
        self.second, self.each = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1, groups=4, bias=False)
        self.pool, self.head, self.last = nn.AvgPool2d(2), nn.Linear(8, 10), last

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        y = self.each(F.relu6(self.second(x)))
        x = self.pool(torch.cat([F.relu(x + y), y], 1))
        scores = self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))
        return F.softmax(scores, 1) if self.last == "softmax" else torch.sin(scores)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[FloatNetwork]:
    """Records the compiled models that would become networks, on a device whose images have their
    kernels."""
    found: list[FloatNetwork] = []
    build = FloatNetwork._build

    def as_if(self: FloatNetwork, args: Any, x: Any) -> None:
        build(self, args, x)
        self._is_network = True
        found.append(self)

    monkeypatch.setattr(float_networks, "may_have_networks", lambda backend: True)
    monkeypatch.setattr(FloatNetwork, "_build", as_if)
    torch._dynamo.reset()
    return found


def test_compiled_model_becomes_a_network(built: list[FloatNetwork]) -> None:
    """Its layers are those of the model, and a changed parameter takes effect."""
    torch.manual_seed(1)
    model, x = Model().eval(), torch.rand(3, 1, 8, 8)
    with torch.no_grad():
        wanted = model(x)
        here = model.to("fpga")
        fast = torch.compile(here, backend="ftensor")
        for _ in range(2):
            assert torch.allclose(fast(x.to("fpga")).cpu(), wanted, atol=1e-6)
        here.head.bias.add_(torch.arange(10.0).to("fpga"))
        assert torch.allclose(fast(x.to("fpga")).cpu(), here(x.to("fpga")).cpu(), atol=1e-6)
        assert not torch.allclose(fast(x.to("fpga")).cpu(), wanted, atol=1e-3)
    (network,) = built
    given = ftensor.from_torch(x)
    assert network._jitted is not None
    key = NetworkBuilder(network._jitted._trace_only(given._storage.backend, [given], (given,), {})).key
    kinds = [
        "conv2d",
        "max_pool2d",
        "conv2d",
        "depthwise",
        "add",
        "cat",
        "avg_pool2d",
        "avg_pool2d",
        "linear",
        "softmax",
    ]
    assert [layer.kind for layer in key.layers] == kinds and key.layers[2].relu == 6


def test_other_models_are_compiled_as_usual(built: list[FloatNetwork]) -> None:
    """These are models with another op, and models that need gradients."""
    x = torch.rand(3, 1, 8, 8)
    for last, grad in (("sin", False), ("softmax", True)):
        model = Model(last).eval()
        wanted = model(x).detach()
        fast = torch.compile(model.to("fpga"), backend="ftensor")
        with torch.set_grad_enabled(grad):
            assert torch.allclose(fast(x.to("fpga")).detach().cpu(), wanted, atol=1e-5)
    assert not built
