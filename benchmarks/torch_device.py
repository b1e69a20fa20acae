"""What the way through torch costs: a call of the device against ftensor's own, in CPU time.

    python benchmarks/torch_device.py [--json FILE]

Each figure is the least of several rounds, in microseconds; the limits are those of the project.
Times are of the calling thread's processor, so that a busy machine changes little.
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
from ftensor.table import table
from ftensor.torch.fallback import run
from ftensor.torch.private import overload

SIN = overload("sin")


def least(call: Callable[[], object], calls: int = 2000, rounds: int = 15) -> float:
    """Microseconds of a call, in the quietest round."""
    found = []
    for _ in range(rounds):
        start = time.thread_time()
        for _ in range(calls):
            call()
        found.append((time.thread_time() - start) / calls * 1e6)
        torch.fpga.synchronize()
    return min(found)


def figures() -> list[tuple[str, float, float | None]]:
    """(what, microseconds, the limit)."""
    x = torch.randn(16)
    a, b = x.to("fpga"), x.to("fpga")
    own_a, own_b = map(ftensor.torch.to_ftensor, (a, b))
    grad = a.clone().requires_grad_()
    own, through = least(lambda: own_a + own_b), least(lambda: a + b)
    return [
        ("ftensor's a + b", own, None),
        ("torch's a + b, above that", through - own, 8.0),
        ("the same, recorded", least(lambda: grad + b) - own, None),
        ("a view", least(lambda: a.view(4, 4)), 4.0),
        ("a slice", least(lambda: a[2:4]), None),
        ("an op on the host", least(lambda: run(SIN, a), 500), 30.0),
        ("a + b on the CPU", least(lambda: x + x), None),
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    ft.set_fallback("silent")
    torch.set_num_threads(1)
    rows = figures()
    shown = [(n, f"{t:.1f}", "" if m is None else f"{m:.0f}") for n, t, m in rows]
    print(table([("what", "us", "limit"), *shown], indent=""))
    if given.json:
        given.json.write_text(json.dumps([dict(zip(("name", "us", "limit"), r)) for r in rows]))


if __name__ == "__main__":
    main()
