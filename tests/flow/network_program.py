"""A small network with random weights, run by its tests. "build FOLDER" has weights in the text,
"build FOLDER loaded" loads them, and "build FOLDER loaded linked" has three kernels. "run" prints
the digests of results, "one" runs one launch, "fresh" changes weights, "share" runs two networks on
one kernel, and "trace ENTRY" prints the kernels of a trace."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import numpy as np

import ftensor as ft

pool = ft.nn.functional.max_pool2d


def digits(seed: int = 3) -> Callable[[ft.Tensor], ft.Tensor]:
    """Convolution, pooling, a residual convolution, two linear layers. The seed determines weights,
    biases and their scales."""
    of = np.random.default_rng(seed)

    def layer(*shape: int) -> dict[str, ft.Tensor]:
        weight = of.integers(-127, 128, shape).astype(np.int8)
        each = of.uniform(0.001, 0.01, shape[0]).astype(np.float32)
        return {"weight": ft.tensor(weight), "bias": ft.tensor(each * 9), "weight_scale": ft.tensor(each)}

    first, second, third, last = layer(4, 1, 3, 3), layer(4, 4, 3, 3), layer(12, 100), layer(10, 12)
    q = ft.quantized

    def network(x: ft.Tensor) -> ft.Tensor:
        x = q.conv2d_relu(x, padding=1, scale=0.5, zero_point=5, input_scale=0.1, input_zero_point=3, **first)
        x = pool(x, 2)
        y = q.conv2d(x, padding=1, scale=0.5, zero_point=9, input_scale=0.5, input_zero_point=5, **second)
        sum_ = {"input_scale": 0.5, "input_zero_point": 9, "other_scale": 0.5, "other_zero_point": 5}
        x = q.relu6(q.add(y, x, 0.6, 2, **sum_), 0.6, 2, maximum=60.0)
        x = q.linear_relu(x.flatten(1), scale=1.5, input_scale=0.6, input_zero_point=2, **third)
        return q.linear(x, scale=1.5, zero_point=128, input_scale=1.5, **last)

    network.bias = last["bias"]  # type: ignore[attr-defined]
    return network


def images(n: int) -> ft.Tensor:
    return ft.tensor(np.random.default_rng(n).integers(0, 256, (n, 1, 10, 10)).astype(np.uint8))


LINKED = '[[graph]]\nfile = "digits.json"\nstructure = "linked"\ncuts = [1, 5]\n'


def build(folder: Path, weights: str = "text", structure: str = "") -> None:
    from ftensor.toolchain.csim import CSim
    from ftensor.toolchain.inventory.read import expand, read
    from ftensor.toolchain.jobs.progress import Progress
    from ftensor.toolchain.make import Request
    from ftensor.toolchain.make import build as make

    files = ft.jit(digits()).export(str(folder / "digits"), images(2), target="kv260", weights=weights)
    if structure == "linked":
        files.inventory.write_text(LINKED)
    done = make(Request("digits", tuple(expand(read(files.inventory))), "", folder), CSim(), Progress())
    assert done.image is not None, [o.job.log.read_text() for o in done.failures]


def run() -> None:
    network = digits()
    jitted = ft.jit(network)
    for n in (1, 2, 5):
        print(sha256(jitted(images(n)).numpy().tobytes()).hexdigest())
    kernels = jitted.graph(images(1)).kernels
    print("one" if len(kernels) == 1 and kernels[0].startswith("network ") else kernels)
    warnings.simplefilter("ignore")  # ops with other weights run on the host
    x = images(3)
    before = jitted(x)
    network.bias.add_(40.0)  # type: ignore[attr-defined]
    after = jitted(x)
    print("fresh" if ft.equal(after, network(x)) and not ft.equal(before, after) else "stale")


def share() -> None:
    """Prints the digests of two alternating networks' results, after a weight of the second is
    changed, and by two concurrent threads; then the kernels."""
    networks = digits(), digits(4)
    jitted, x = [ft.jit(network) for network in networks], images(3)

    def digest(k: int) -> str:
        return sha256(jitted[k](x).numpy().tobytes()).hexdigest()

    print(*[digest(k) for k in (0, 1, 1, 0)])
    networks[1].bias.add_(40.0)  # type: ignore[attr-defined]
    print(*[digest(k) for k in (1, 0, 1)])
    with ThreadPoolExecutor(2) as pool:
        print(*sorted(set(pool.map(digest, [0, 1] * 20))))
    print(*{kernel for one in jitted for kernel in one.graph(x).kernels})


def trace(entry: str) -> None:
    """Prints the kernels that a traced call launches, if an inventory has only the kernel
    `entry`."""
    from ftensor.toolchain.trace import recording

    jitted, x = ft.jit(digits()), images(3)
    with recording(1, {entry}) as traced:
        jitted(x)
    print(*[launch.key.entry for launch in traced.launches])


if __name__ == "__main__":
    build(*map(Path, sys.argv[2:3]), *sys.argv[3:]) if sys.argv[1] == "build" else globals()[sys.argv[1]](*sys.argv[2:])
