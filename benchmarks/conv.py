"""Convolutions and pooling against torch: python benchmarks/conv.py [--rounds N] [word ...]

Words select the figures whose names contain one of them. The time of each library is the least of
some calls, each waited for, in wall-clock and in CPU time, which other work on the machine disturbs
less. `ratio` is torch over ftensor: above 1, ftensor is faster. With one processor (`taskset -c 0
python ...`) torch uses one thread, and ftensor one compute unit.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import torch

import ftensor as ft

# name: (function, input, weight or None, further arguments)
Case = tuple[str, tuple[int, ...], tuple[int, ...] | None, dict[str, Any]]
CASES: dict[str, Case] = {
    "3x3, 8x16x64x64 to 32": ("conv2d", (8, 16, 64, 64), (32, 16, 3, 3), {"padding": 1}),
    "7x7 stride 2, 1x3x224x224 to 64": ("conv2d", (1, 3, 224, 224), (64, 3, 7, 7), {"stride": 2, "padding": 3}),
    "3x3, 1x64x56x56 to 64": ("conv2d", (1, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
    "3x3 stride 2, 8x64x56x56 to 128": ("conv2d", (8, 64, 56, 56), (128, 64, 3, 3), {"stride": 2, "padding": 1}),
    "3x3, 1x128x28x28 to 128": ("conv2d", (1, 128, 28, 28), (128, 128, 3, 3), {"padding": 1}),
    "3x3, 8x256x14x14 to 256": ("conv2d", (8, 256, 14, 14), (256, 256, 3, 3), {"padding": 1}),
    "3x3, 1x256x14x14 to 256": ("conv2d", (1, 256, 14, 14), (256, 256, 3, 3), {"padding": 1}),
    "1x1, 8x64x56x56 to 256": ("conv2d", (8, 64, 56, 56), (256, 64, 1, 1), {}),
    "1x1, 1x256x56x56 to 64": ("conv2d", (1, 256, 56, 56), (64, 256, 1, 1), {}),
    "1x1, 1x256x14x14 to 256": ("conv2d", (1, 256, 14, 14), (256, 256, 1, 1), {}),
    "1x1 stride 2, 8x256x28x28 to 256": ("conv2d", (8, 256, 28, 28), (256, 256, 1, 1), {"stride": 2}),
    "5x5, 8x32x56x56 to 64": ("conv2d", (8, 32, 56, 56), (64, 32, 5, 5), {"padding": 2}),
    "3x3 dilation 2, 8x64x32x32 to 64": ("conv2d", (8, 64, 32, 32), (64, 64, 3, 3), {"padding": 2, "dilation": 2}),
    "depthwise 3x3, 8x64x56x56": ("conv2d", (8, 64, 56, 56), (64, 1, 3, 3), {"padding": 1, "groups": 64}),
    "depthwise 3x3 stride 2, 1x128x56x56": (
        "conv2d",
        (1, 128, 56, 56),
        (128, 1, 3, 3),
        {"padding": 1, "groups": 128, "stride": 2},
    ),
    "3x3 in 32 groups, 8x128x28x28": ("conv2d", (8, 128, 28, 28), (128, 4, 3, 3), {"padding": 1, "groups": 32}),
    "3x3, 1x512x7x7 to 512": ("conv2d", (1, 512, 7, 7), (512, 512, 3, 3), {"padding": 1}),
    "1-d 5, 8x64x4096 to 64": ("conv1d", (8, 64, 4096), (64, 64, 5), {"padding": 2}),
    "3-d 3x3x3, 1x16x16x32x32 to 32": ("conv3d", (1, 16, 16, 32, 32), (32, 16, 3, 3, 3), {"padding": 1}),
    "transposed 4x4 stride 2, 8x64x28x28 to 32": (
        "conv_transpose2d",
        (8, 64, 28, 28),
        (64, 32, 4, 4),
        {"stride": 2, "padding": 1},
    ),
    "max_pool2d 2, 8x64x56x56": ("max_pool2d", (8, 64, 56, 56), None, {"kernel_size": 2}),
    "max_pool2d 3 stride 2, 1x64x112x112": (
        "max_pool2d",
        (1, 64, 112, 112),
        None,
        {"kernel_size": 3, "stride": 2, "padding": 1},
    ),
    "avg_pool2d 2, 8x64x56x56": ("nn.functional.avg_pool2d", (8, 64, 56, 56), None, {"kernel_size": 2}),
    "avg_pool2d 3 stride 2, 1x64x112x112": (
        "nn.functional.avg_pool2d",
        (1, 64, 112, 112),
        None,
        {"kernel_size": 3, "stride": 2, "padding": 1},
    ),
}


def least(call: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Returns (wall-clock seconds, CPU seconds) of the fastest of some calls."""
    clock, processor = [], []
    for _ in range(rounds):
        begun, worked = time.perf_counter(), time.process_time()
        call()
        clock.append(time.perf_counter() - begun)
        processor.append(time.process_time() - worked)
    return min(clock), min(processor)


def measure(case: Case, rounds: int) -> list[tuple[float, float]]:
    """Returns the times of torch and of ftensor."""
    name, shape, weight, more = case
    operands = [torch.randn(shape)]
    if weight is not None:
        operands += [torch.randn(weight), torch.randn(weight[1 if "transpose" in name else 0])]
    # ftensor's own memory: a weight that is not shared is packed once.
    mine = [ft.from_torch(t).clone() for t in operands]
    theirs, ours = torch, ft
    for part in name.split("."):
        theirs, ours = getattr(theirs, part), getattr(ours, part)

    def waited() -> None:
        ours(*mine, **more)
        ft.synchronize()

    times = []
    for call in (lambda: theirs(*operands, **more), waited):
        time.sleep(0.1)  # threads of the other library keep spinning for a while
        call()
        call()
        times.append(least(call, rounds))
    return times


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    print("| figure | torch ms | ftensor ms | ratio | of processors |\n|---|---|---|---|---|")
    with torch.inference_mode():
        for name, case in CASES.items():
            if asked.words and not any(word in name for word in asked.words):
                continue
            (t, tp), (f, fp) = measure(case, asked.rounds)
            print(f"| {name} | {1e3 * t:.3f} | {1e3 * f:.3f} | {t / f:.2f} | {tp / fp:.2f} |")


if __name__ == "__main__":
    main()
