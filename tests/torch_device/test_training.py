"""Typical programs: training, autocast, random numbers, recurrent layers."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

import ftensor.torch
from ftensor.torch.fallback import run
from ftensor.torch.internals import overload

from .device import agree, quiet, same  # noqa: F401


class Net(nn.Module):
    """A small convolutional network for images of 8 x 8."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 16, 3, padding=1)
        self.last = nn.Linear(16 * 4, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        x = F.avg_pool2d(F.gelu(self.second(x)), 2)
        return self.last(x.flatten(1))


def losses(device: str, steps: int = 12) -> list[float]:
    """Returns the losses of a training run."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1).div(16).to(device)
    labels = torch.tensor(digits.target).to(device)
    torch.manual_seed(0)
    model = Net().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(1)).to(device)
    history = []
    for k in range(steps):
        batch = order[k * 128 : (k + 1) * 128]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
    return [float(loss) for loss in history]


def test_network_learns_as_on_the_cpu() -> None:
    ftensor.torch.fallback_report().reset()
    here = losses("fpga")
    assert not ftensor.torch.fallback_report(), ftensor.torch.fallback_report()
    there = losses("cpu")
    assert here[-1] < here[0] - 0.1
    torch.testing.assert_close(torch.tensor(here), torch.tensor(there), atol=1e-4, rtol=1e-4)


def test_recurrent_layers() -> None:
    for kind in (nn.LSTM, nn.GRU):
        torch.manual_seed(0)
        layer = kind(3, 4, num_layers=2, bidirectional=True)
        there = kind(3, 4, num_layers=2, bidirectional=True).to("fpga")
        there.load_state_dict(layer.state_dict())
        x = torch.randn(5, 2, 3)
        grads = []
        for module, sequence in ((layer, x), (there, x.to("fpga"))):
            module(sequence)[0].square().sum().backward()
            grads.append([p.grad for p in module.parameters()])
        same(grads[1], grads[0], atol=1e-4, rtol=1e-3)


def test_autocast() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 2)).to("fpga")
    x = torch.randn(4, 8, device="fpga")
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("fpga", dtype=dtype):
            y = model(x)
            assert y.dtype is dtype and torch.is_autocast_enabled("fpga")
            assert y.softmax(-1).dtype is torch.float32
            assert torch.cat([y, x[:, :2]]).dtype is torch.float32
            loss = F.cross_entropy(y, torch.tensor([0, 1, 1, 0], device="fpga"))
        assert loss.dtype is torch.float32
        loss.backward()
        torch.testing.assert_close(y.float(), model(x), atol=0.05, rtol=0.05)
        assert all(p.grad.dtype is torch.float32 for p in model.parameters())
        with torch.autocast("fpga", enabled=False):
            assert model(x).dtype is torch.float32


def test_random_numbers() -> None:
    def draw() -> list[torch.Tensor]:
        x = torch.ones(1000, device="fpga")
        drawn = [torch.randn(1000, device="fpga"), torch.rand(1000, device="fpga"), F.dropout(x)]
        return [*drawn, torch.randperm(1000, device="fpga"), x.bernoulli(0.25), x.normal_(3, 2)]

    torch.manual_seed(5)
    first = draw()
    torch.manual_seed(5)
    again = draw()
    assert all(a.equal(b) for a, b in zip(first, again))
    assert not any(a.equal(b) for a, b in zip(first, draw()))
    state = torch.fpga.get_rng_state()
    third = draw()
    torch.fpga.set_rng_state(state)
    assert all(a.equal(b) for a, b in zip(third, draw()))
    normal, uniform, kept, order, coins, moved = [x.double().cpu() for x in first]
    assert abs(normal.mean()) < 0.15 and abs(normal.std() - 1) < 0.1
    assert uniform.min() >= 0 and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.05
    assert set(kept.tolist()) == {0, 2} and abs((kept > 0).double().mean() - 0.5) < 0.08
    assert sorted(order.tolist()) == list(range(1000))
    assert abs(coins.mean() - 0.25) < 0.06
    assert abs(moved.mean() - 3) < 0.3 and abs(moved.std() - 2) < 0.2


def test_default_dtype_is_shared() -> None:
    x = torch.arange(3)
    try:
        torch.set_default_dtype(torch.float64)
        agree(lambda x: (x.exp(), x / 2, x.sum() * 1.5), x, fallback=False)
        assert torch.ones(2, device="fpga").dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    agree(lambda x: x.exp(), x, fallback=False)


def test_optimizers_and_scaling() -> None:
    def program(w: torch.Tensor) -> torch.Tensor:
        p = nn.Parameter(w.clone())
        for make in (torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop, torch.optim.Adagrad):
            optimizer = make([p], lr=0.1)
            for _ in range(3):
                optimizer.zero_grad()
                (p.square() * 3).sum().backward()
                torch.nn.utils.clip_grad_norm_([p], 1.0)
                optimizer.step()
        return p.detach()

    agree(program, torch.randn(3, 4), fallback=False, atol=1e-5, rtol=1e-4)
    scaler = torch.amp.GradScaler("fpga", init_scale=8.0)
    p = nn.Parameter(torch.ones(3, device="fpga"))
    optimizer = torch.optim.SGD([p], lr=0.5)
    scaler.scale(p.sum()).backward()
    assert p.grad.cpu().tolist() == [8, 8, 8]
    scaler.step(optimizer)
    scaler.update()
    assert p.detach().cpu().tolist() == [0.5, 0.5, 0.5]


def test_fused_optimizers() -> None:
    kinds: list[tuple[type[torch.optim.Optimizer], dict[str, Any]]] = [
        (torch.optim.Adam, {"weight_decay": 0.1, "maximize": True}),
        (torch.optim.AdamW, {"amsgrad": True, "lr": torch.tensor(0.1)}),
        (torch.optim.AdamW, {"betas": (0.0, 0.9)}),
        (torch.optim.SGD, {}),
        (torch.optim.SGD, {"momentum": 0.9, "dampening": 0.1, "weight_decay": 0.1}),
        (torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    ]

    def program(w: torch.Tensor) -> list[torch.Tensor]:
        updated = []
        for make, options in kinds:
            p, q = nn.Parameter(w.clone()), nn.Parameter(w[0].clone())
            optimizer = make([p, q], **{"lr": 0.1, "fused": True, **options})
            for _ in range(3):
                optimizer.zero_grad()
                (p.square().sum() + q.cos().sum()).backward()
                optimizer.step()
            updated += [p.detach(), q.detach()]
        return updated

    agree(program, torch.randn(3, 4), fallback=False, atol=1e-5, rtol=1e-5)
    p = nn.Parameter(torch.ones(3, device="fpga"))
    optimizer = torch.optim.Adam([p], lr=0.5, fused=True)
    scaler = torch.amp.GradScaler("fpga", init_scale=8.0)
    for factor in (1.0, float("inf")):  # the second step is skipped
        optimizer.zero_grad()
        scaler.scale((p * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    torch.testing.assert_close(p.detach().cpu(), torch.full((3,), 0.5))


def test_transformer_layer() -> None:
    for first in (False, True):
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=first, dropout=0)
        there = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=first, dropout=0)
        there.to("fpga").load_state_dict(layer.state_dict())
        x = torch.randn(2, 5, 16)
        ftensor.torch.fallback_report().reset()
        layer(x).square().sum().backward()
        there(x.to("fpga")).square().sum().backward()
        grads = [[p.grad for p in m.parameters()] for m in (there, layer)]
        same(grads[0], grads[1], atol=1e-3, rtol=1e-3)
        layer.eval()
        there.eval()
        with torch.no_grad():
            same(there(x.to("fpga")), layer(x), atol=1e-4, rtol=1e-4)
        assert not ftensor.torch.fallback_report(), ftensor.torch.fallback_report()


def test_a_thousand_steps_do_not_leak() -> None:
    """Each step has a forward pass, an op on the host, and a backward pass. Device memory, Python
    objects and the process are checked."""
    w = nn.Parameter(torch.randn(4, 2, device="fpga"))
    x = torch.randn(3, 4, device="fpga")
    host = overload("sin")

    def step() -> None:
        (x @ w + run(host, x)[:, :2]).square().mean().backward()
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.01)
        w.grad = None

    def held() -> tuple[int, int, int]:
        torch.fpga.synchronize()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return torch.fpga.memory_allocated(), len(gc.get_objects()), pages * 4096

    for _ in range(20):
        step()
    gc.collect()
    gc.disable()
    try:
        memory, objects, resident = held()
        for _ in range(1000):
            step()
        after = held()
    finally:
        gc.enable()
    assert after[0] == memory
    assert after[1] < objects + 100
    assert after[2] < resident + (8 << 20)
