"""A convolutional network is trained with kernels from an image, and with compiled ones.

The walk-through in docs/torch-device.md builds an image with the kernels of such a network.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .test_image_workflow import TRAINING, base, built, emulate, needs_xrt, run  # noqa: F401

pytest.importorskip("torch")
pytestmark = pytest.mark.long
# Both optimizers, both kinds of pooling, batches and rows that fill no beat, and an evaluation.
PROGRAM = """
import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn
import ftensor as ft
import ftensor.torch

ft.set_fallback("error")
SGD, Adam = torch.optim.SGD, torch.optim.Adam


def losses(device, size, batch, activation, pool, loss, optimizer, **rates):
    torch.manual_seed(0)
    flat = 16 * ((size // 2 - 4) // 2) ** 2
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), activation(), pool(2), nn.Conv2d(6, 16, 5), activation(),
        pool(2), nn.Flatten(), nn.Linear(flat, 33), activation(), nn.Linear(33, 10),
    ).to(device)
    steps = optimizer(model.parameters(), **rates)
    x, y = torch.randn(batch, 1, size, size).to(device), torch.randint(10, (batch,)).to(device)
    found = []
    for _ in range(2):
        steps.zero_grad()
        made = loss(model(x), y)
        made.backward()
        steps.step()
        found.append(made.item())
    with torch.no_grad():
        return [*found, (model(x).argmax(1) == y).float().mean().item()]


def squares(made, y):
    return F.mse_loss(made.tanh(), F.one_hot(y, 10).float())


cases = [
    (16, 8, nn.ReLU, nn.MaxPool2d, F.cross_entropy, SGD, dict(lr=0.05, momentum=0.9)),
    (28, 5, nn.ReLU, nn.MaxPool2d, F.cross_entropy, Adam, dict(lr=1e-2, weight_decay=1e-4)),
    (16, 7, nn.Tanh, nn.AvgPool2d, squares, SGD, dict(lr=0.05, nesterov=True, momentum=0.9)),
]
for *case, rates in cases[: int(sys.argv[1])]:
    here, there = (torch.tensor(losses(d, *case, **rates)) for d in ("fpga", "cpu"))
    torch.testing.assert_close(here, there, atol=1e-4, rtol=0)
    print("learned" if here[1] < here[0] else here)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path / "program.py"


def test_on_xrt_with_an_image(base: Path, program: Path, needs_xrt: None) -> None:  # noqa: F811
    assert emulate(built(TRAINING, base), program, "3").split() == ["learned"] * 3


def test_in_c_simulation_of_an_image(base: Path, program: Path) -> None:  # noqa: F811
    image = str(built(TRAINING, base))
    said = run(program, "3", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=image)
    assert said.split() == ["learned"] * 3


def test_lenet_learns_on_pocl(program: Path) -> None:
    from ftensor.runtime import discovery

    if not any(device.target.name == "pocl" for device in discovery.find()):
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", "PoCL is not here"
        pytest.skip("PoCL is not here")
    program.write_text(f"from tests.pocl import keep_few\nkeep_few()\n{PROGRAM}")
    assert run(program, "1", FTENSOR_DEVICE="pocl").split() == ["learned"]
