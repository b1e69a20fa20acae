"""Networks through torch's device against torch on the CPU, on one core.

    python benchmarks/torch_models.py [--json FILE] [--quick] [--only NAME]

Figures are medians, measured alternately: eager against eager or, if the name says so, compiled by
backend="ftensor" against compiled by inductor (which needs g++). A line has the time on the device
over torch's, and the project's limit; `limit` in the table is that times torch's.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # before any library counts the cores

import torch  # noqa: E402
from figures import Row as Figure  # noqa: E402
from figures import medians_by_turns, table  # noqa: E402
from networks import GPT2, LSTM, mobilenet_v3, resnet18  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import ftensor as ft  # noqa: E402
import ftensor.torch  # noqa: E402

Step = Callable[[], object]
Make = Callable[[str, str], Step]


def trained(net: torch.nn.Module, loss: Callable[[], torch.Tensor]) -> Step:
    """Returns a function that performs a training step."""
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value.detach()

    return step


def lstm(device: str, backend: str) -> Step:
    """Returns forward and backward over 40 steps of 8 sequences."""
    net, x = LSTM().to(device), torch.randn(40, 8, 32).to(device)
    call = compiled(net, backend)

    def step() -> torch.Tensor:
        loss = call(x).square().mean()
        loss.backward()
        return loss.detach()

    return step


def gpt2_training(device: str, backend: str) -> Step:
    """Returns a step of AdamW on 4 sequences of 64 tokens."""
    net, words = GPT2().to(device), torch.randint(1000, (4, 65)).to(device)
    before, behind = words[:, :-1], words[:, 1:].reshape(-1)
    call = compiled(net, backend)
    return trained(net, lambda: F.cross_entropy(call(before)[0].view(-1, 1000), behind))


def gpt2_token(device: str, backend: str) -> Step:
    """Returns a function that generates 32 tokens after a prompt of 16, one by one, with the keys
    and values cached."""
    net, words = GPT2().to(device).eval(), torch.randint(1000, (1, 16)).to(device)
    call = compiled(net, backend)

    def step() -> torch.Tensor:
        with torch.no_grad():
            logits, past = call(words)
            for _ in range(32):
                logits, past = call(logits[:, -1:].argmax(-1), past)
        return logits

    return step


def images(make: Callable[[], torch.nn.Module], batch: int, size: int) -> Make:
    """Returns a function that makes a step of a network's image classification."""

    def named(device: str, backend: str) -> Step:
        net, x = make().to(device).eval(), torch.randn(batch, 3, size, size).to(device)
        call = compiled(net, backend)

        def step() -> torch.Tensor:
            with torch.no_grad():
                logits: torch.Tensor = call(x)
            return logits

        return step

    return named


def compiled(net: torch.nn.Module, backend: str) -> Callable[..., Any]:
    """Returns the network, compiled by this backend if one is named."""
    return torch.compile(net, backend=backend) if backend else net


@dataclass(frozen=True)
class Case:
    """A measured step: its maker, and the compilers on the device and on the CPU."""

    name: str
    make: Make
    limit: float
    compiled: bool = False


MODELS = (
    Case("LSTM 2 x 32, 40 steps, forward and backward", lstm, 5),
    Case("GPT-2 3 x 128, training", gpt2_training, 1.2),
    Case("GPT-2 3 x 128, 32 words", gpt2_token, 3),
    Case("mobilenet_v3 at 224", images(mobilenet_v3, 1, 224), 2),
    Case("resnet18 4 x 64, compiled", images(resnet18, 4, 64), 0.6, True),
    Case("GPT-2 3 x 128, training, compiled", gpt2_training, 1.1, True),
)


def figures(only: str, repeats: int) -> list[Figure]:
    """Returns a row for each case, in milliseconds. The limit follows from torch's time in this
    run."""
    rows = []
    for case in MODELS:
        if only not in case.name:
            continue
        steps: dict[str, Step] = {}
        for name, device, backend in (("ftensor", "fpga", "ftensor"), ("torch", "cpu", "inductor")):
            torch.manual_seed(0)
            steps[name] = waited(case.make(device, backend if case.compiled else ""))
        times = medians_by_turns(steps, repeats)
        millis = {name: seconds * 1e3 for name, seconds in times.items()}
        rows.append(Figure(case.name, "ms", **millis, limit=case.limit * millis["torch"]))
        ratio = times["ftensor"] / times["torch"]
        print(f"{case.name}: {ratio:.2f} of torch's time, {case.limit} asked", flush=True)
    return rows


def waited(step: Step) -> Step:
    """Returns a step followed by a wait for its result."""

    def call() -> object:
        result = step()
        torch.fpga.synchronize()
        return result

    return call


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, rougher figures")
    parser.add_argument("--only", default="", help="only the cases whose name contains this")
    options = parser.parse_args()
    ft.set_fallback("silent")
    torch.set_num_threads(1)
    rows = figures(options.only, 3 if options.quick else 11)
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows]))


if __name__ == "__main__":
    main()
