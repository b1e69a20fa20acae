"""Overhead of the torch device: a call of the device against ftensor's own, in CPU time.

    python benchmarks/torch_device.py [--json FILE]

Each figure is the least of several rounds, in microseconds; the limits are those of the project.
Times are of the calling thread's processor, so that a busy machine changes little. Those of models'
steps are of all threads, and the limit is twice the time of torch's own CPU kernels.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch

import ftensor as ft
import ftensor.torch
from ftensor.terminal import table
from ftensor.torch.fallback import run
from ftensor.torch.internals import overload

SIN = overload("sin")
# What torch's dispatcher takes on its way to a kernel that is written in Python and does nothing.
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
    """Returns models' steps on a device: one of a cell, one word with a growing cache, one of
    training."""
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
    print(table([("what", "us", "limit"), *shown], indent=""))
    if options.json:
        options.json.write_text(json.dumps([dict(zip(("name", "us", "limit"), r)) for r in rows]))


if __name__ == "__main__":
    main()
