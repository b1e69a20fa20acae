"""Random quantized networks: their kernel, compiled by g++ with the FIFOs' depths, against eager
ops.

A kernel whose FIFOs are too shallow reports it. The cycles of a fifth of the networks are counted.
Networks that `NetworkBuilder` refuses are left out, and all of them without g++.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.graph.network import NetworkBuilder
from ftensor.kernels.network import PRODUCTS, Fold, NetworkKey, buffer_of
from ftensor.kernels.network_processes import interval
from ftensor.runtime.csim.backend import FLAGS
from ftensor.toolchain.export import program
from ftensor.toolchain.folding import folds_of

from .flow.network_cycles import counted_cycles

FUNCTIONS = ft.nn.functional
Step = Callable[[list[ft.Tensor]], ft.Tensor]

SHAPES = (
    (1, 12, 12),
    (3, 9, 8),
    (2, 7, 11),
    (4, 6, 6),
    (8, 5, 5),
    (3, 1, 1),
    (16, 1, 1),
    (1, 16, 5),
    (64, 4, 3),
    (5, 8, 16),
)


class Network:
    """A random network: a list of steps on the values so far."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.dtype = rng.choice((ft.uint8, ft.uint8, ft.int8))
        self.low, self.high = (0, 255) if self.dtype is ft.uint8 else (-128, 127)
        self.shape = rng.choice(SHAPES)
        self.steps: list[Step] = []
        c, h, w = self.shape
        vector = h * w == 1
        for _ in range(rng.randint(1, 5)):
            if vector:
                c = self._linear(c)
                continue
            c, h, w, vector = self._draw(c, h, w)
        if not vector and rng.random() < 0.7:
            self._linear(c * h * w)

    def scales(self, o: int) -> dict[str, Any]:
        rng = self.rng
        each = (
            ft.tensor([rng.uniform(0.001, 0.02) for _ in range(o)]) if rng.random() < 0.7 else rng.uniform(0.001, 0.02)
        )
        zeros = {name: rng.randint(self.low, self.high) for name in ("zero_point", "input_zero_point")}
        return {"scale": rng.uniform(0.05, 2.0), "input_scale": rng.uniform(0.01, 0.1), "weight_scale": each, **zeros}

    def weight(self, *shape: int) -> tuple[ft.Tensor, ft.Tensor | None]:
        of = np.random.default_rng(self.rng.getrandbits(32))
        extreme = self.rng.random() < 0.2
        values = of.choice([-128, 127, 0], shape) if extreme else of.integers(-128, 128, shape)
        bias = ft.tensor(of.normal(0, 2, shape[0]).astype(np.float32)) if self.rng.random() < 0.7 else None
        return ft.tensor(values.astype(np.int8)), bias

    def _linear(self, c: int) -> int:
        o = self.rng.choice((1, 2, 3, 4, 6, 10))
        weight, bias = self.weight(o, c)
        op = self.rng.choice((ft.quantized.linear, ft.quantized.linear_relu))
        more = self.scales(o)
        self.steps.append(lambda values: op(values[-1].flatten(1), weight, bias, **more))
        return o

    def _draw(self, c: int, h: int, w: int) -> tuple[int, int, int, bool]:
        rng = self.rng
        kind = rng.choice(("conv", "conv", "depthwise", "depthwise", "pool", "mean", "residual", "branches", "global"))
        if kind == "residual":
            self._residual(c)
            return c, h, w, False
        if kind == "branches":
            return self._branches(c), h, w, False
        if kind == "global" and rng.random() < 0.5:
            h, w = (rng.choice([k for k in range(1, n + 1) if n % k == 0]) for n in (h, w))
            self.steps.append(lambda values: ft.quantized.adaptive_avg_pool2d(values[-1], (h, w)))
            return c, h, w, h * w == 1
        kernel = tuple(rng.randint(1, 3 if n > 1 else 1) for n in (h, w))
        stride = tuple(rng.randint(1, k) if k > 1 else rng.randint(1, 2) for k in kernel)
        padding = tuple(rng.randint(int(k > n), k // 2) for k, n in zip(kernel, (h, w)))
        h, w = ((n + 2 * p - k) // s + 1 for n, k, s, p in zip((h, w), kernel, stride, padding))
        if kind == "pool":
            self.steps.append(lambda values: FUNCTIONS.max_pool2d(values[-1], kernel, stride, padding))
            return c, h, w, False
        if kind in ("mean", "global"):
            zero = rng.randint(self.low, self.high)
            more = (kernel, stride, padding, False, True, rng.choice((None, None, 7)))
            self.steps.append(lambda values: ft.quantized.avg_pool2d(values[-1], *more, zero_point=zero))
            return c, h, w, False
        groups = c if kind == "depthwise" else 1
        o = c if kind == "depthwise" else rng.choice((1, 2, 3, 4, 8))
        self._conv(o, c // groups, kernel, stride, padding, groups)
        return o, h, w, False

    def _conv(self, o: int, c: int, kernel: Any, stride: Any, padding: Any, groups: int) -> None:
        weight, bias = self.weight(o, c, *kernel)
        op = self.rng.choice((ft.quantized.conv2d, ft.quantized.conv2d_relu))
        more = self.scales(o)
        self.steps.append(lambda values: op(values[-1], weight, bias, stride, padding, 1, groups, **more))

    def _residual(self, c: int) -> None:
        """Adds convolutions that keep the size, then a sum with their input, at times relu or
        relu6."""
        rng = self.rng
        count = rng.randint(1, 2)
        for _ in range(count):
            k = rng.choice((1, 3))
            self._conv(c, c, (k, k), (1, 1), (k // 2, k // 2), 1)
        zeros = {n: rng.randint(self.low, self.high) for n in ("input_zero_point", "other_zero_point")}
        scales = {"input_scale": rng.uniform(0.01, 0.1), "other_scale": rng.uniform(0.01, 0.1), **zeros}
        scale, zero = rng.uniform(0.02, 0.2), rng.randint(self.low, self.high)
        swap, relu, again = rng.random() < 0.5, rng.random(), rng.random() < 0.3

        def add(values: list[ft.Tensor]) -> ft.Tensor:
            a, b = values[-1], values[-1 - count]
            a, b = (b, a) if swap else (a, b)
            y = ft.quantized.add(a, b, scale, zero, **scales)
            y = ft.quantized.add(y, b, scale, zero, **scales) if again else y
            six = ft.quantized.relu6(y, scale, zero) if relu < 0.25 else y
            return ft.quantized.relu(y, zero) if 0.25 <= relu < 0.5 else six

        self.steps.append(add)

    def _branches(self, c: int) -> int:
        """Adds parallel convolutions of one value, joined, at times with the value itself."""
        rng = self.rng
        sizes = [rng.choice((1, 2, 3, 4)) for _ in range(rng.randint(1, 2))]
        before = c
        for o in sizes:
            k = rng.choice((1, 3))
            self._conv(o, before, (k, k), (1, 1), (k // 2, k // 2), 1)
            before = o
        count = len(sizes) + 1
        scales = tuple([rng.choice((0.04, rng.uniform(0.01, 0.1))) for _ in range(count)])
        zeros = tuple([rng.choice((3, rng.randint(self.low, self.high))) for _ in range(count)])
        scale, zero = rng.choice(((0.04, 3), (None, None)))

        def cat(values: list[ft.Tensor]) -> ft.Tensor:
            parts = values[-count:]
            return ft.quantized.cat(parts, 1, scale, zero, input_scales=scales, input_zero_points=zeros)

        self.steps.append(cat)
        return c + sum(sizes)

    def __call__(self, x: ft.Tensor) -> ft.Tensor:
        values = [x]
        for step in self.steps:
            values.append(step(values))
        return values[-1]


def folded(key: NetworkKey, rng: Random) -> NetworkKey:
    """Returns the network with random folding."""
    folds = []
    for k, layer in enumerate(key.layers):
        possible = list(folds_of(layer, key.image_of(k))) if layer.kind in PRODUCTS else [layer.fold]
        folds.append(rng.choice(possible))
    return key.folded(folds)


def run(key: NetworkKey, images: np.ndarray, count: int) -> tuple[np.ndarray, str]:
    """Returns the bytes of the `count` results of a network's kernel by g++, and where it was
    stuck."""
    (got,), stuck = runs(key, images, count, [None])
    return got, stuck


def runs(
    key: NetworkKey, images: np.ndarray, count: int, weights: Sequence[np.ndarray | None]
) -> tuple[list[np.ndarray], str]:
    """Returns the bytes of the results of launches of a network's kernel by g++, one for each
    buffer of loaded weights (None: they are in the text), and where a launch was stuck."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "network.cpp", Path(folder) / "network.so"
        source.write_text(program(key))
        flags = [flag for flag in FLAGS if not flag.startswith("-O")]
        command = ["g++", *flags, "-O1", "-w", "-pthread", "-o", str(library), str(source)]
        subprocess.run(command, check=True)
        loaded = ctypes.CDLL(str(library))
        loaded.ft_stuck.restype = ctypes.c_char_p
        n, beat, nbytes = images.shape[0], 64, count * images.itemsize
        # A kernel reads and writes whole beats, for which g++ uses aligned instructions.
        x = _aligned(np.zeros(images.nbytes + 2 * beat, np.uint8))
        x[beat : beat + images.nbytes] = images.view(np.uint8).ravel()
        call, results, stuck = getattr(loaded, key.entry), [], ""
        for words in weights:
            out = _aligned(np.full(nbytes + 3 * beat, 0xA5, np.uint8))
            arrays = [out, x] if words is None else [out, x, _aligned(words)]
            offsets = (key.lanes, key.lanes, 0)[: len(arrays)]
            call(*(ctypes.c_void_p(a.ctypes.data) for a in arrays), *map(ctypes.c_long, offsets), ctypes.c_int(n), 0, 1)
            stuck = stuck or loaded.ft_stuck().decode()
            beyond = np.concatenate([out[:beat], out[beat + nbytes :]])
            if (beyond != 0xA5).any():
                stuck = stuck or "it wrote beside its result"
            results.append(out[beat : beat + nbytes].copy())
        return results, stuck


def _aligned(words: np.ndarray) -> np.ndarray:
    """Returns the same words, at the start of a beat."""
    room = np.zeros(words.size + 64 // words.itemsize, words.dtype)
    begin = -room.ctypes.data % 64 // words.itemsize
    room[begin : begin + words.size] = words
    return room[begin : begin + words.size]


def cycles(key: NetworkKey) -> str:
    """Returns how the cycles that the kernel's clocks count for an image differ from the solver's;
    "" up to 3 %."""
    counted, wanted = counted_cycles(key, 12), interval(key)
    return "" if abs(counted - wanted) <= 0.03 * wanted else f"an image takes {counted} cycles, not {wanted}\n{key}"


def extremes(kind: str = "linear", signed: bool = False) -> str:
    """Returns how sums of the largest products disagree with NumPy's int64; "" if they do not.
    `kind` is "linear", "conv2d", "depthwise" or "rows" (a convolution of many channels)."""
    of = np.random.default_rng(0)
    low, high = (-128, 127) if signed else (0, 255)
    c, o, k, n = {"linear": (24, 16, 1, 1), "conv2d": (3, 16, 3, 4), "depthwise": (16, 16, 3, 4)}.get(
        kind, (64, 8, 3, 4)
    )
    depth = 1 if kind == "depthwise" else c
    weight = of.choice(np.array([-128, -127, 127, 0]), (o, depth, k, k))
    weight[:4] = np.array([-128, 127, -128, 127]).reshape(4, 1, 1, 1)
    weight[4, :, ::2], weight[5, ::2] = -128, 127
    x = of.choice(np.array([low, low + 1, high - 1, high]), (6, c, n, n))
    x[:2] = np.array([high, low]).reshape(2, 1, 1, 1)
    zero = high if signed else low
    centered = x.astype(np.int64) - zero
    windows = np.lib.stride_tricks.sliding_window_view(centered, (k, k), (2, 3))
    by = weight.astype(np.int64)
    sums = np.einsum(
        "nchwij,cij->nchw" if kind == "depthwise" else "nchwij,ocij->nohw", windows, by[:, 0] if depth == 1 else by
    )
    middle = 0 if signed else 128
    factor = np.float32(1) / np.float32(c * k * k * 250)
    wanted = np.clip(np.rint(sums.astype(np.float32) * factor) + middle, low, high)
    held = ft.tensor(weight.astype(np.int8))
    numbers = {"scale": float(c * k * k * 250), "zero_point": middle, "input_scale": 1.0, "weight_scale": 1.0}

    def network(x: ft.Tensor) -> ft.Tensor:
        if kind == "linear":
            return ft.quantized.linear(x.flatten(1), held.flatten(1), None, input_zero_point=zero, **numbers)
        groups = c if kind == "depthwise" else 1
        return ft.quantized.conv2d(x, held, None, groups=groups, input_zero_point=zero, **numbers)

    images = x.astype(np.int8 if signed else np.uint8)
    given = ft.tensor(images)
    key = NetworkBuilder(ft.jit(network)._trace_only(given._storage.backend, [given], (given,), {})).key
    possible = list(folds_of(key.layers[0], key.image_of(0)))
    for fold in (possible[-1], possible[len(possible) // 2], possible[0]):
        got, stuck = run(key.folded([fold]), images, wanted.size)
        if stuck or (got.view(images.dtype).reshape(wanted.shape) != wanted).any():
            return stuck or f"sums differ with {fold}"
    return ""


def deep(h: int, stride: int, padding: int, seed: int) -> str:
    """Returns how a network with windows of 64 channels and more disagrees; "" if it does not."""
    of = np.random.default_rng(seed)
    first, second = (ft.tensor(of.integers(-128, 128, (64, 64, 3, 3)).astype(np.int8)) for _ in range(2))
    scales = {"input_scale": 0.01, "weight_scale": 0.01}

    def network(x: ft.Tensor) -> ft.Tensor:
        x = ft.quantized.conv2d(x, first, None, stride, padding, 1, 1, 4.0, 7, input_zero_point=5, **scales)
        if x.shape[-1] < 3:
            return x
        y = ft.quantized.conv2d(x, second, None, 1, 1, 1, 1, 4.0, 9, input_zero_point=7, **scales)
        return ft.quantized.add(x, y, 5.0, 3, input_scale=4.0, input_zero_point=7, other_scale=4.0, other_zero_point=9)

    images = of.integers(0, 256, (3, 64, h, h)).astype(np.uint8)
    x = ft.tensor(images)
    wanted = network(x).numpy()
    key = NetworkBuilder(ft.jit(network)._trace_only(x._storage.backend, [x], (x,), {})).key
    folds = [Fold(8, 16) if layer.kind in PRODUCTS else layer.fold for layer in key.layers]
    got, stuck = run(key.folded(folds), images, wanted.size)
    return stuck or ("" if (got.reshape(wanted.shape) == wanted).all() else "results differ")


def trial(rng: Random, loaded: bool | None = None) -> str:
    """Returns how a random network disagrees, with its weights in the text or loaded; "" if it does
    not."""
    if shutil.which("g++") is None:
        return ""
    network, n = Network(rng), rng.randint(1, 4)
    loaded = rng.random() < 0.5 if loaded is None else loaded
    of = np.random.default_rng(rng.getrandbits(32))
    kind = np.uint8 if network.dtype is ft.uint8 else np.int8
    images = of.integers(network.low, network.high + 1, (n, *network.shape)).astype(kind)
    x = ft.tensor(images)
    wanted = network(x).numpy()
    try:
        key = NetworkBuilder(ft.jit(network)._trace_only(x._storage.backend, [x], (x,), {})).key
    except ft.GraphError as error:
        return "" if "is no layer" in str(error) else f"refused: {error}"
    whole = folded(key, rng)
    key, launches = whole, [None]
    if loaded:
        # A damaged buffer, which the kernel must not take for this one; this buffer; and its digest
        # alone.
        key, words = whole.without_constants(), buffer_of(whole)
        damaged, known = words.copy(), words.copy()
        damaged[16:], known[16:] = words[16:][::-1], 0
        launches = [damaged, words, known]
    results, stuck = runs(key, images, wanted.size, launches)
    got = results[-1]
    if loaded and not stuck and (results[1] != got).any():
        return f"the kernel loses its weights\n{key}"
    if stuck:
        return f"it is stuck: {stuck}\n{key}"
    if (got.view(kind).reshape(wanted.shape) == wanted).all():
        return cycles(whole) if rng.random() < 0.2 else ""
    return f"results differ\n{key}\nimages {images.tolist()}"
