"""A small float32 network with random weights, run by its tests: "build FOLDER [WEIGHTS]", and
"run", which prints the results' digests, their largest distance from eager ops, and the kernels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np

import ftensor as ft

F = ft.nn.functional


def network(seed: int = 0) -> Callable[[ft.Tensor], ft.Tensor]:
    """Convolutions with batch norm, a depthwise one, a sum, a concatenation, pools, softmax: (N, 1,
    10, 10) to ten probabilities."""
    of = np.random.default_rng(seed)

    def draw(*shape: int) -> ft.Tensor:
        return ft.tensor((of.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))

    first, second, each, last = draw(4, 1, 3, 3), draw(4, 4, 3, 3), draw(4, 1, 3, 3), draw(10, 8)
    biases, mean, factor, added = draw(4), draw(4), draw(4), draw(4)
    variance, shift = draw(4).abs() + 0.5, draw(10)

    def net(x: ft.Tensor) -> ft.Tensor:
        x = F.batch_norm(F.conv2d(x, first, biases, padding=1), mean, variance, factor, added)
        x = F.relu(F.max_pool2d(x, 2))
        y = F.relu6(F.conv2d(x, second, padding=1))
        y = F.conv2d(y, each, biases, padding=1, groups=4)
        x = ft.cat([F.relu(x + y), y], 1)
        x = F.avg_pool2d(x, 3, 2, 1)
        return F.softmax(F.linear(F.adaptive_avg_pool2d(x, 1).flatten(1), last, shift), 1)

    return net


def images(n: int) -> ft.Tensor:
    return ft.tensor(np.random.default_rng(n).normal(size=(n, 1, 10, 10)).astype(np.float32))


def build(folder: Path, weights: str = "text") -> None:
    from ftensor.toolchain.csim import CSim
    from ftensor.toolchain.inventory.read import expand, read
    from ftensor.toolchain.jobs.progress import Progress
    from ftensor.toolchain.make import Request
    from ftensor.toolchain.make import build as make

    files = ft.jit(network()).export(str(folder / "floats"), images(2), target="u55c", cycles=1000, weights=weights)
    done = make(Request("floats", tuple(expand(read(files.inventory))), "", folder), CSim(), Progress())
    assert done.image is not None, [o.job.log.read_text() for o in done.failures]


def run() -> None:
    eager, jitted, far = network(), ft.jit(network()), 0.0
    for n in (1, 2, 5):
        got = np.array(jitted(images(n)))
        far = max(far, float(np.abs(got - np.array(eager(images(n)))).max()))
        print(sha256(got.tobytes()).hexdigest())
    print("close" if 0 <= far < 1e-6 else far)
    kernels = jitted.graph(images(1)).kernels
    print("one" if len(kernels) == 1 and kernels[0].startswith("network ") else kernels)


if __name__ == "__main__":
    build(*map(Path, sys.argv[2:3]), *sys.argv[3:]) if sys.argv[1] == "build" else run()
