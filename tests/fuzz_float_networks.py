"""Random float32 networks: their kernel, compiled by g++ with the FIFOs' depths, against eager ops.

Sums have another order than eager's, so results differ in the last bits. Networks that
`NetworkBuilder` refuses are left out, and all of them without g++.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.graph.network import NetworkBuilder
from ftensor.kernels.network import NetworkKey, buffer_of

from . import fuzz_networks

F = ft.nn.functional
Step = Callable[[list[ft.Tensor]], ft.Tensor]
SHAPES = ((1, 12, 12), (3, 9, 8), (2, 7, 11), (4, 6, 6), (8, 5, 5), (16, 6, 4), (3, 1, 1), (16, 1, 1), (20, 4, 4))


class Network:
    """A random network: a list of steps on the values so far."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.shape = rng.choice(SHAPES)
        self.steps: list[Step] = []
        c, h, w = self.shape
        for _ in range(rng.randint(1, 5)):
            c, h, w = self._linear(c, c) if h * w == 1 else self._draw(c, h, w)
        if rng.random() < 0.7:
            c, h, w = self._linear(c * h * w, c)
            if rng.random() < 0.5:
                self.steps.append(lambda values: F.softmax(values[-1], 1))

    def tensor(self, *shape: int) -> ft.Tensor:
        of = np.random.default_rng(self.rng.getrandbits(32))
        return ft.tensor((of.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))

    def relu(self, step: Step) -> None:
        """Adds a step, at times followed by a relu."""
        draw = self.rng.random()
        function: Any = F.relu if draw < 0.4 else F.relu6 if draw < 0.5 else None
        self.steps.append(step if function is None else lambda values: function(step(values)))

    def _linear(self, k: int, c: int) -> tuple[int, int, int]:
        o = self.rng.choice((1, 2, 3, 6, 10, 24))
        weight, bias = self.tensor(o, k), self.tensor(o) if self.rng.random() < 0.7 else None
        self.relu(lambda values: F.linear(values[-1].flatten(1), weight, bias))
        return o, 1, 1

    def _draw(self, c: int, h: int, w: int) -> tuple[int, int, int]:
        rng = self.rng
        kind = rng.choice(("conv", "conv", "depthwise", "pool", "mean", "residual", "branches", "global"))
        if kind in ("residual", "branches"):
            return getattr(self, f"_{kind}")(c), h, w
        if kind == "global":
            h, w = (rng.choice([k for k in range(1, n + 1) if n % k == 0]) for n in (h, w))
            self.steps.append(lambda values: F.adaptive_avg_pool2d(values[-1], (h, w)))
            return c, h, w
        kernel = tuple(rng.randint(1, 3 if n > 1 else 1) for n in (h, w))
        stride = tuple(rng.randint(1, k) if k > 1 else rng.randint(1, 2) for k in kernel)
        padding = tuple(rng.randint(int(k > n), k // 2) for k, n in zip(kernel, (h, w)))
        h, w = ((n + 2 * p - k) // s + 1 for n, k, s, p in zip((h, w), kernel, stride, padding))
        if kind == "pool":
            self.steps.append(lambda values: F.max_pool2d(values[-1], kernel, stride, padding))
            return c, h, w
        if kind == "mean":
            self.steps.append(lambda values: F.avg_pool2d(values[-1], kernel, stride, padding))
            return c, h, w
        o = c if kind == "depthwise" else rng.choice((1, 2, 3, 8, 20))
        groups = c if kind == "depthwise" else rng.choice([g for g in range(1, c + 1) if c % g == o % g == 0])
        self._conv(o, c // groups, kernel, stride, padding, groups)
        return o, h, w

    def _conv(self, o: int, c: int, kernel: Any, stride: Any, padding: Any, groups: int) -> None:
        weight, bias = self.tensor(o, c, *kernel), self.tensor(o) if self.rng.random() < 0.7 else None
        if self.rng.random() < 0.4:
            mean, factor, added, variance = (self.tensor(o) for _ in range(4))
            variance = variance.abs() + 0.5
            self.relu(
                lambda values: F.batch_norm(
                    F.conv2d(values[-1], weight, bias, stride, padding, 1, groups), mean, variance, factor, added
                )
            )
        else:
            self.relu(lambda values: F.conv2d(values[-1], weight, bias, stride, padding, 1, groups))

    def _same(self, o: int, c: int) -> None:
        k = self.rng.choice((1, 3))
        self._conv(o, c, (k, k), (1, 1), (k // 2, k // 2), 1)

    def _residual(self, c: int) -> int:
        """Adds convolutions that keep the size, and a sum with their input."""
        count = self.rng.randint(1, 2)
        for _ in range(count):
            self._same(c, c)
        self.relu(lambda values: values[-1] + values[-1 - count])
        return c

    def _branches(self, c: int) -> int:
        """Adds parallel convolutions of one value, joined with the value."""
        sizes = [self.rng.choice((1, 2, 3, 4)) for _ in range(self.rng.randint(1, 2))]
        for before, o in zip((c, *sizes), sizes):
            self._same(o, before)
        count = len(sizes) + 1
        self.steps.append(lambda values: ft.cat(values[-count:], 1))
        return c + sum(sizes)

    def __call__(self, x: ft.Tensor) -> ft.Tensor:
        values = [x]
        for step in self.steps:
            values.append(step(values))
        return values[-1]


def key_of(network: Callable[[ft.Tensor], Any], x: ft.Tensor) -> NetworkKey:
    """Returns the key of a network with the smallest folding."""
    return NetworkBuilder(ft.jit(network)._trace_only(x._storage.backend, [x], (x,), {})).key


def trial(rng: Random, loaded: bool | None = None) -> str:
    """Returns how a random network disagrees, with its weights in the text or loaded; "" if it does
    not."""
    if shutil.which("g++") is None:
        return ""
    network, n = Network(rng), rng.randint(1, 4)
    loaded = rng.random() < 0.5 if loaded is None else loaded
    images = np.random.default_rng(rng.getrandbits(32)).normal(size=(n, *network.shape)).astype(np.float32)
    x = ft.tensor(images)
    wanted = network(x).numpy()
    try:
        key = key_of(network, x)
    except ft.GraphError as error:
        return "" if "is no layer" in str(error) else f"refused: {error}"
    key = fuzz_networks.folded(key, rng)
    words = buffer_of(key) if loaded else None
    results, stuck = fuzz_networks.runs(key.without_constants() if loaded else key, images, wanted.size, [words])
    if stuck:
        return f"it is stuck: {stuck}\n{key}"
    got = results[0].view(np.float32).reshape(wanted.shape)
    if np.allclose(got, wanted, rtol=1e-4, atol=1e-5 * max(1.0, float(np.abs(wanted).max()))):
        return fuzz_networks.cycles(key) if rng.random() < 0.2 else ""
    return f"results differ by {np.abs(got - wanted).max()}\n{key}"
