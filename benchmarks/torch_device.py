"""Overhead of the torch device: a call on the device against ftensor's own call, in CPU time.

    python benchmarks/torch_device.py [--json FILE]

Each figure is the least of several rounds, in microseconds; the limits are those of the project.
Times are CPU times of the calling thread, so a busy machine changes little. Those of models' steps
are of all threads, and the limit is twice the time of torch's own CPU kernels. The last table has
such steps in eager mode, captured by `ftensor.torch.capture`, and compiled by inductor for the CPU,
if there is a C++ compiler.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from networks import GPT2, LSTM, GPT2Token

import ftensor as ft
import ftensor.torch
from ftensor.terminal import table
from ftensor.torch.fallback import run
from ftensor.torch.internals import overload

SIN = overload("sin")
# The time of torch's dispatcher before an empty kernel written in Python.
_bench = torch.library.Library("ftensor_bench", "DEF")
_bench.define("nothing(Tensor a, Tensor b) -> ()")
_bench.impl("nothing", lambda a, b: None, "PrivateUse1")


def least(call: Callable[[], object], calls: int = 2000, rounds: int = 15) -> float:
    """Returns the microseconds of a call in the fastest round."""
    times = []
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            call()
        times.append((time.thread_time() - start) / calls * 1e6)
        torch.fpga.synchronize()
    return min(times)


def steps(device: str) -> dict[str, Callable[[], object]]:
    """Returns models' steps on a device: a step of a cell, one token with a growing cache, a
    training step."""
    torch.manual_seed(0)
    nn, functional = torch.nn, torch.nn.functional
    lstm, x = nn.LSTM(64, 64).to(device), torch.randn(1, 8, 64).to(device)
    heads, cache = nn.Linear(64, 192).to(device), torch.randn(2, 1, 4, 32, 16).to(device)
    block = nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True).to(device)
    words, learner = torch.randn(8, 16, 64).to(device), torch.optim.Adam(block.parameters())

    def cell() -> None:
        with torch.no_grad():
            lstm(x)

    def grown() -> None:
        keys, values = cache
        with torch.no_grad():
            one = x[:, :1]
            for _ in range(16):
                q, k, v = heads(one).view(1, 1, 3, 4, 16).permute(2, 0, 3, 1, 4)
                keys, values = torch.cat((keys, k), 2), torch.cat((values, v), 2)
                one = functional.scaled_dot_product_attention(q, keys, values).reshape(1, 1, 64)

    def trained() -> None:
        learner.zero_grad()
        block(words).square().mean().backward()
        learner.step()

    return {"an LSTM's step": cell, "16 words, a cache that grows": grown, "a transformer's training step": trained}


def models() -> list[tuple[str, float, float]]:
    """Returns (name, microseconds of all processors, of torch's CPU) for each model."""
    rows = []
    theirs = steps("cpu")
    for name, call in steps("fpga").items():
        times = []
        for one in (call, theirs[name]):
            best = []
            for _ in range(6):
                start = time.process_time()
                for _ in range(5):
                    one()
                torch.fpga.synchronize()
                best.append((time.process_time() - start) / 5 * 1e6)
            times.append(min(best[1:]))
        rows.append((name, times[0], times[1]))
    return rows


def training_step(net: torch.nn.Module, loss: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Returns a training step of a network, with a loss on its outputs."""
    learner = torch.optim.AdamW(net.parameters(), 1e-3, fused=True)

    def step(*args: torch.Tensor) -> torch.Tensor:
        learner.zero_grad()
        value = loss(*args)
        value.backward()
        learner.step()
        return value.detach()

    return step


def small_steps(
    device: str, compiled: Callable[[Any], Any] = lambda f: f
) -> dict[str, tuple[Callable[..., object], tuple[torch.Tensor, ...]]]:
    """Returns steps of small networks on a device, each with its arguments. `compiled` is applied
    to their forward passes."""
    torch.manual_seed(0)
    nn, functional = torch.nn, torch.nn.functional
    x, words = torch.randn(32, 64).to(device), torch.randn(8, 16, 64).to(device)
    images, labels = torch.randn(32, 1, 28, 28).to(device), torch.randint(10, (32,)).to(device)
    texts, sequences = torch.randint(1000, (4, 65)).to(device), torch.randn(40, 8, 32).to(device)
    before, behind = texts[:, :-1].contiguous(), texts[:, 1:].reshape(-1)
    perceptron = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    layers = [nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU()]
    layers += [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU()]
    lenet = nn.Sequential(*layers, nn.Linear(84, 10))
    block = nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True)
    gpt2, lstm = GPT2(), LSTM()
    encoder = nn.TransformerEncoderLayer(128, 2, 512, 0.0, "gelu", batch_first=True)
    encoders = nn.TransformerEncoder(encoder, 2, enable_nested_tensor=False)
    bert = nn.Sequential(nn.Embedding(1000, 128), encoders, nn.Linear(128, 1000))
    for net in (perceptron, lenet, block, gpt2, lstm, bert):
        net.to(device)
    token = GPT2Token(GPT2().to(device), 48).to(device)
    word, index = texts[:1, :1].contiguous(), torch.tensor([40]).to(device)

    def trained(net: torch.nn.Module, loss: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return training_step(net, compiled(loss))

    return {
        "MLP, training": (trained(perceptron, lambda x: perceptron(x).square().mean()), (x,)),
        "transformer layer, training": (trained(block, lambda x: block(x).square().mean()), (words,)),
        "LeNet, training": (trained(lenet, lambda x, y: functional.cross_entropy(lenet(x), y)), (images, labels)),
        "GPT-2 3 x 128, training": (
            trained(gpt2, lambda x, y: functional.cross_entropy(gpt2(x)[0].view(-1, 1000), y)),
            (before, behind),
        ),
        "GPT-2 3 x 128, a word": (compiled(token), (word, index)),
        "BERT 2 x 128, training": (
            trained(bert, lambda x, y: functional.cross_entropy(bert(x).view(-1, 1000), y)),
            (before, behind),
        ),
        "BERT 2 x 128, inference": (torch.no_grad()(compiled(bert)), (before,)),
        "LSTM 2 x 32, 40 steps, training": (trained(lstm, lambda x: lstm(x).square().mean()), (sequences,)),
        "LSTM 2 x 32, 40 steps, inference": (torch.no_grad()(compiled(lstm)), (sequences,)),
    }


# The project's limits of eager and captured steps, relative to torch's time on the CPU.
LIMITS = {
    "MLP, training": (2.0, 0.5),
    "transformer layer, training": (2.0, 0.45),
    "LeNet, training": (1.1, 0.6),
    "GPT-2 3 x 128, training": (1.3, 0.85),
    "GPT-2 3 x 128, a word": (3.0, 0.8),
    "BERT 2 x 128, training": (1.4, 0.9),
    "BERT 2 x 128, inference": (1.6, 0.7),
    "LSTM 2 x 32, 40 steps, training": (1.2, 0.8),
    "LSTM 2 x 32, 40 steps, inference": (1.5, 1.0),
}


class Step(NamedTuple):
    """A step's CPU microseconds of all threads: eager, captured, on torch's CPU, and there compiled
    by inductor (NaN without a C++ compiler); the launches and bytes of the capture."""

    name: str
    eager: float
    captured: float
    torch: float
    inductor: float
    launches: int
    nbytes: int


def captured() -> Iterator[Step]:
    """Yields the figures of each small step as soon as it is measured. Its four variants
    alternate."""
    eager, replayed, theirs = small_steps("fpga"), small_steps("fpga"), small_steps("cpu")
    has_compiler = shutil.which("g++") is not None
    inductor = small_steps("cpu", torch.compile) if has_compiler else theirs
    for name, (step, args) in eager.items():
        other = ftensor.torch.capture(replayed[name][0])
        steps = [(step, args), (other, replayed[name][1]), theirs[name], inductor[name]]
        best = [float("inf")] * len(steps)
        for one, arguments in steps:
            for _ in range(5):
                one(*arguments)
        torch.fpga.synchronize()
        for _ in range(9):
            for k, (one, arguments) in enumerate(steps):
                start = time.process_time()
                for _ in range(3):
                    one(*arguments)
                torch.fpga.synchronize()
                best[k] = min(best[k], (time.process_time() - start) / 3 * 1e6)
        (row,) = other.report()
        assert row.state == "captured", row.reason
        if not has_compiler:
            best[-1] = float("nan")
        yield Step(name, *best, row.launches, row.nbytes)


HEAD = ("step", "torch us", "eager", "limit", "captured", "limit", "inductor", "launches", "MB")


def line(cells: Sequence[str]) -> str:
    """Returns a line of the last table, with fixed column widths."""
    widths = [max(map(len, LIMITS)), *[max(len(word), 6) for word in HEAD[1:]]]
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()


def cells(step: Step) -> list[str]:
    """Returns a step's figures: eager, captured and inductor's times over torch's."""
    eager, captured = LIMITS[step.name]
    over = [f"{us / step.torch:.2f}" for us in (step.eager, step.captured, step.inductor)]
    times = [f"{step.torch:.0f}", over[0], f"{eager:.2f}", over[1], f"{captured:.2f}", over[2]]
    return [step.name, *times, str(step.launches), f"{step.nbytes / 1e6:.1f}"]


def figures() -> list[tuple[str, float, float | None]]:
    """Returns (name, microseconds, limit) for each call."""
    x = torch.randn(16)
    a, b = x.to("fpga"), x.to("fpga")
    own_a, own_b = map(ftensor.torch.to_ftensor, (a, b))
    grad = a.clone().requires_grad_()
    own, through = least(lambda: own_a + own_b), least(lambda: a + b)
    rows: list[tuple[str, float, float | None]] = [
        ("ftensor's a + b", own, None),
        ("torch's a + b, above that", through - own, 8.0),
        ("the same, recorded", least(lambda: grad + b) - own, None),
        ("an empty kernel in Python", least(lambda: torch.ops.ftensor_bench.nothing.default(a, b)), None),
        ("a view", least(lambda: a.view(4, 4)), 3.0),
        ("a slice", least(lambda: a[2:4]), None),
        ("an op on the host", least(lambda: run(SIN, a), 500), 25.0),
        ("a + b on the CPU", least(lambda: x + x), None),
    ]
    return [*rows, *[(name, mine, 2 * theirs) for name, mine, theirs in models()]]


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    ft.set_fallback("silent")
    torch.set_num_threads(1)
    rows = figures()
    shown = [(n, f"{t:.1f}", "" if m is None else f"{m:.0f}") for n, t, m in rows]
    print(table([("what", "us", "limit"), *shown], indent=""), flush=True)
    print(line(HEAD), flush=True)
    captures = []
    for step in captured():
        captures.append(step)
        print(line(cells(step)), flush=True)
    if options.json:
        figures_of_calls = [dict(zip(("name", "us", "limit"), r)) for r in rows]
        keys = ("name", "us", "captured_us", "torch_us", "inductor_us", "launches", "bytes")
        options.json.write_text(json.dumps([*figures_of_calls, *[dict(zip(keys, r)) for r in captures]]))


if __name__ == "__main__":
    main()
