"""Moved modules keep their Parameters: tied weights, existing optimizers, hooks, references."""

from __future__ import annotations

import copy
import weakref

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from .device import quiet  # noqa: F401


class Language(nn.Module):
    """A language model whose output layer shares the embedding, like GPT-2."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(11, 8), nn.Embedding(6, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, 0.0, F.gelu, batch_first=True)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.words.weight

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        places = torch.arange(text.shape[1], device=text.device)
        return self.head(self.block(self.words(text) + self.places(places)))


def _train(model: nn.Module, optimizer: torch.optim.Optimizer, device: str) -> list[float]:
    text = torch.arange(24).reshape(4, 6).remainder(11).to(device)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(text).flatten(0, 1), text.roll(-1, 1).flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("move", ["to", "fpga"])
def test_tied_weights_and_optimizers_survive_a_move(move: str) -> None:
    torch.manual_seed(0)
    model = Language()
    twin = copy.deepcopy(model)
    before, weak = list(model.parameters()), weakref.ref(model.words.weight)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    assert (model.to("fpga") if move == "to" else model.fpga()) is model
    assert model.head.weight is model.words.weight is weak()
    assert all(a is b and a.is_fpga and a.is_leaf for a, b in zip(before, model.parameters()))
    wanted = _train(twin, torch.optim.AdamW(twin.parameters(), 1e-2), "cpu")
    assert _train(model, optimizer, "fpga") == pytest.approx(wanted, rel=1e-4)
    again = copy.deepcopy(model)
    assert again.head.weight is again.words.weight is not model.words.weight
    again.load_state_dict(twin.state_dict())
    assert torch.equal(again.words.weight.cpu(), twin.words.weight)
    model.to("cpu")
    assert all(a is b and a.device.type == "cpu" for a, b in zip(before, model.parameters()))
    assert all(p.grad is not None and p.grad.device.type == "cpu" for p in before)


def test_hooks_and_gradients_survive_a_move() -> None:
    layer, seen = nn.Linear(2, 1), []
    layer.weight.register_hook(lambda grad: seen.append(grad.device.type))
    layer.weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.device.type))
    layer.bias.grad = torch.ones(1)
    layer.weight.requires_grad_(True).note = "kept"
    layer.to("fpga", torch.float64)
    layer(torch.ones(1, 2, device="fpga", dtype=torch.float64)).sum().backward()
    assert seen == ["fpga", "fpga"] and layer.weight.note == "kept"
    assert layer.bias.grad.item() == 2


def test_parameters_held_by_a_graph_stay_tied() -> None:
    model = Language()
    output = model(torch.zeros(1, 2, dtype=torch.int64))
    with pytest.warns(UserWarning, match="a graph still holds"):
        model.to("fpga")
    assert model.head.weight is model.words.weight
    output.sum().backward()  # the graph on the CPU is complete
