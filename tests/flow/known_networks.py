"""Well-known networks with random weights: keyword spotting, MobileNet, ResNet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import ftensor as ft

Q = ft.quantized
Network = Callable[[ft.Tensor], ft.Tensor]


class Weights:
    """Draws layers whose scales keep results within a byte's range."""

    def __init__(self, seed: int) -> None:
        self.of = np.random.default_rng(seed)

    def layer(self, *shape: int) -> dict[str, Any]:
        """The weight, the bias and the scales of a layer."""
        weight = self.of.integers(-127, 128, shape, np.int8)
        depth = int(np.prod(shape[1:]))
        each = self.of.uniform(0.5, 1.5, shape[0]).astype(np.float32) / np.float32(73 * depth**0.5)
        bias = self.of.normal(0, 0.5, shape[0]).astype(np.float32)
        words = {"weight": ft.tensor(weight), "bias": ft.tensor(bias), "weight_scale": ft.tensor(each)}
        return words | {"scale": 0.05, "zero_point": 0, "input_scale": 0.05, "input_zero_point": 0}


def ds_cnn(channels: int = 64, seed: int = 0) -> Network:
    """Keyword spotting of 49 frames of 10 coefficients: (N, 1, 49, 10), 12 scores."""
    of = Weights(seed)
    first = of.layer(channels, 1, 10, 4)
    blocks = [(of.layer(channels, 1, 3, 3), of.layer(channels, channels, 1, 1)) for _ in range(4)]
    last = of.layer(12, channels)

    def network(x: ft.Tensor) -> ft.Tensor:
        x = Q.conv2d_relu(x, stride=2, padding=(5, 1), **first)
        for depthwise, pointwise in blocks:
            x = Q.conv2d_relu(x, padding=1, groups=channels, **depthwise)
            x = Q.conv2d_relu(x, **pointwise)
        return Q.linear(Q.avg_pool2d(x, (25, 5)).flatten(1), **last)

    return network


def mobilenet(divide: int = 1, blocks: int = 13, seed: int = 0) -> Network:
    """MobileNet-v1: (N, 3, H, W) with H and W multiples of 32. `divide` divides the channels,
    `blocks` is the number of the 13 blocks. Without all blocks there is no head."""
    of = Weights(seed)
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    c = 32 // divide
    first, layers = of.layer(c, 3, 3, 3), []
    for wide, stride in plan[:blocks]:
        o = wide // divide
        layers.append((c, stride, of.layer(c, 1, 3, 3), of.layer(o, c, 1, 1)))
        c = o
    last = of.layer(1000 // divide, c)

    def network(x: ft.Tensor) -> ft.Tensor:
        x = Q.conv2d_relu(x, stride=2, padding=1, **first)
        for channels, stride, depthwise, pointwise in layers:
            x = Q.conv2d_relu(x, stride=stride, padding=1, groups=channels, **depthwise)
            x = Q.conv2d_relu(x, **pointwise)
        return Q.linear(Q.adaptive_avg_pool2d(x, 1).flatten(1), **last) if blocks == len(plan) else x

    return network


def resnet(stages: int = 4, divide: int = 1, seed: int = 0) -> Network:
    """ResNet-18: (N, 3, H, W) with H and W multiples of 32. `stages` is the number of stages of two
    blocks, `divide` divides the channels."""
    of = Weights(seed)
    c = 64 // divide
    first, blocks = of.layer(c, 3, 7, 7), []
    for stage in range(stages):
        o = (64 << stage) // divide
        for block in range(2):
            stride = 2 if stage and not block else 1
            short = of.layer(o, c, 1, 1) if stride > 1 or o != c else None
            blocks.append((stride, of.layer(o, c, 3, 3), of.layer(o, o, 3, 3), short))
            c = o
    last = of.layer(1000 // divide, c)
    sum_ = {"scale": 0.07, "zero_point": 0, "input_scale": 0.05, "other_scale": 0.05}

    def network(x: ft.Tensor) -> ft.Tensor:
        x = ft.nn.functional.max_pool2d(Q.conv2d_relu(x, stride=2, padding=3, **first), 3, 2, 1)
        for stride, one, two, short in blocks:
            y = Q.conv2d(Q.conv2d_relu(x, stride=stride, padding=1, **one), padding=1, **two)
            x = x if short is None else Q.conv2d(x, stride=stride, **short)
            x = Q.relu(Q.add(y, x, **sum_))
        return Q.linear(Q.adaptive_avg_pool2d(x, 1).flatten(1), **last)

    return network


def images(n: int, *shape: int) -> ft.Tensor:
    """Returns random images, the same each time."""
    return ft.tensor(np.random.default_rng(n).integers(0, 256, (n, *shape), np.uint8))
