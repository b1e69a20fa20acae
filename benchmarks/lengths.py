"""The cost of new sequence lengths: two layers of a transformer on sequences of 1 to 512 tokens.

    python benchmarks/lengths.py [--json FILE] [--lengths N]

Memory is that of the process, for each new length: of the first N in a process, and of the N after
them. Times are CPU times of the calling thread, so a busy machine changes little.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import time
from pathlib import Path

import ftensor as ft
import ftensor.nn.functional as F
from ftensor.terminal import table

WIDTH, HEADS, WORDS, LAYERS, LONGEST = 64, 4, 100, 2, 512


def resident() -> int:
    """Returns the resident bytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Model:
    """Embedding, layers of attention and of an MLP, and logits of the next token."""

    def __init__(self) -> None:
        shapes = {
            "qkv": (3 * WIDTH, WIDTH),
            "out": (WIDTH, WIDTH),
            "up": (4 * WIDTH, WIDTH),
            "down": (WIDTH, 4 * WIDTH),
        }
        ft.manual_seed(0)
        self.words, self.places = ft.randn(WORDS, WIDTH), ft.randn(LONGEST, WIDTH)
        self.layers = [
            {name: (ft.randn(*shape) * 0.1, ft.zeros(shape[0])) for name, shape in shapes.items()}
            for _ in range(LAYERS)
        ]
        self.gain, self.shift = ft.ones(WIDTH), ft.zeros(WIDTH)

    def __call__(self, text: ft.Tensor) -> list[float]:
        n = text.shape[0]
        x = F.embedding(text, self.words) + self.places[:n]
        later = ft.ones(n, n, dtype=ft.bool).triu(1)
        for layer in self.layers:
            qkv = F.linear(self._normal(x), *layer["qkv"])
            parts = qkv.view(n, 3, HEADS, WIDTH // HEADS).permute(1, 2, 0, 3)
            q, k, v = parts.unbind(0)
            scores = (q @ k.transpose(-1, -2)) * (WIDTH // HEADS) ** -0.5
            weights = scores.masked_fill(later, float("-inf")).softmax(-1)
            x = x + F.linear((weights @ v).transpose(0, 1).reshape(n, WIDTH), *layer["out"])
            x = x + F.linear(F.gelu(F.linear(self._normal(x), *layer["up"])), *layer["down"])
        logits: list[float] = F.linear(x[-1], self.words).tolist()
        return logits

    def _normal(self, x: ft.Tensor) -> ft.Tensor:
        return F.layer_norm(x, (WIDTH,), self.gain, self.shift)


def figures(count: int) -> list[tuple[str, float]]:
    """Returns (name, figure) pairs."""
    lengths = random.Random(0).sample(range(1, LONGEST), 2 * count)
    model = Model()
    texts = {n: ft.randint(0, WORDS, (n,)) for n in lengths}
    model(ft.randint(0, WORDS, (LONGEST,)))  # kernels are loaded now
    memory, new, seen = [], 0.0, 0.0
    for name, some in (("the first", lengths[:count]), ("the next", lengths[count:])):
        gc.collect()
        before = resident()
        for n in some:
            start = time.thread_time()
            model(texts[n])
            middle = time.thread_time()
            model(texts[n])
            new, seen = new + middle - start, seen + time.thread_time() - middle
        gc.collect()
        each = (resident() - before) / 1e3 / count
        memory.append((f"kB kept by each of {name} {count} lengths", each))
    per_length = 1e3 / (2 * count)
    return [
        *memory,
        ("ms of a new length", new * per_length),
        ("ms of one that was met", seen * per_length),
        ("times longer", new / seen),
    ]


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--lengths", type=int, default=200)
    options = parser.parse_args()
    rows = figures(options.lengths)
    print(table([(name, f"{value:.3g}") for name, value in rows], indent=""))
    if options.json:
        options.json.write_text(json.dumps(dict(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
