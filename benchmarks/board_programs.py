"""The programs of docs/figures.md: data, and the same function for torch and for ftensor.

`Program.ftensor` is that of `Program.torch` but for networks, which torch computes in float32 and
ftensor in int8.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))

Data = dict[str, np.ndarray]
# Takes the library and its tensors by name.
Function = Callable[[Any, dict[str, Any]], Any]


@dataclass(frozen=True)
class Program:
    """A program's data by name, the names of its arguments (the others are held), and its functions."""

    data: Data
    arguments: tuple[str, ...]
    torch: Function
    ftensor: Function


@dataclass(frozen=True)
class Maker:
    """A program's title, and the function that makes it."""

    title: str
    make: Callable[[], Program]

    def __call__(self) -> Program:
        return self.make()


def _same(data: Data, function: Function, arguments: tuple[str, ...] = ()) -> Program:
    return Program(data, arguments or tuple(data), function, function)


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def layer_norm() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        d = of["x"] - of["x"].mean(-1, keepdim=True)
        return d * (d.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * of["w"] + of["b"]

    return _same({"x": _normal(4096, 1024), "w": np.ones(1024, np.float32), "b": np.zeros(1024, np.float32)}, function)


def softmax() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        e = (of["x"] - of["x"].amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)

    return _same({"x": _normal(4096, 1024)}, function)


def black_scholes() -> Program:
    draw, n = np.random.default_rng(0).uniform, 1 << 22
    ends = {"s": (10, 100), "k": (10, 100), "t": (0.1, 2)}

    def function(lib: Any, of: dict[str, Any]) -> Any:
        s, k, t = of["s"], of["k"], of["t"]
        rate, volatility, half = 0.02, 0.3, 0.70710678
        spread = volatility * t.sqrt()
        d1 = ((s / k).log() + (rate + volatility * volatility / 2) * t) / spread
        d2 = d1 - spread
        n1, n2 = 0.5 * (1 + (d1 * half).erf()), 0.5 * (1 + (d2 * half).erf())
        return s * n1 - k * (-rate * t).exp() * n2

    return _same({name: draw(low, high, n).astype(np.float32) for name, (low, high) in ends.items()}, function)


def photograph() -> Program:
    import photo_graph
    from sklearn.datasets import load_sample_image

    planes, above, below = photo_graph.rows_of(np.array(load_sample_image("china.jpg")))
    data = {f"plane{k}": plane for k, plane in enumerate(planes)} | {"above": above, "below": below}
    data = {name: np.ascontiguousarray(value) for name, value in data.items()}

    def function(lib: Any, of: dict[str, Any]) -> Any:
        return photo_graph.develop(lib, [of["plane0"], of["plane1"], of["plane2"]], of["above"], of["below"])

    return _same(data, function)


def bursts() -> Program:
    import receiver

    radio = receiver.radio()
    signal, _ = receiver.sent(radio, 2048, 8, 8)
    data = {"signal": signal, "mixer": radio.mixer, "matched": radio.matched, "pilots": radio.pilots}

    def function(lib: Any, of: dict[str, Any]) -> Any:
        return receiver.receive(of["signal"], of["mixer"], of["matched"], of["pilots"], fft=lib.fft)

    return _same(data, function)


def mandelbrot() -> Program:
    re, im = np.linspace(-2.2, 0.8, 480, dtype=np.float32), np.linspace(-1, 1, 320, dtype=np.float32)
    place = (re[None] + 1j * im[:, None]).astype(np.complex64)

    def function(lib: Any, of: dict[str, Any]) -> Any:
        c = of["c"]
        z = c
        for _ in range(12):
            z = lib.where(z.abs() < 2, z * z + c, z)
        return z

    return _same({"c": place}, function)


def heat() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        p = of["plate"]
        for _ in range(4):
            inner = p[1:-1, 1:-1]
            p = inner + 0.2 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * inner)
        return p

    return _same({"plate": _normal(1024, 1024)}, function)


def spectrogram() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        frames = of["x"] * of["w"]
        return lib.fft.fft(frames).abs().square().log1p()

    frames = (_normal(4096, 256) + 1j * _normal(4096, 256)).astype(np.complex64)
    return _same({"x": frames, "w": np.hanning(256).astype(np.complex64)}, function)


def stft() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        spectra = lib.stft(of["x"], 256, hop_length=64, window=of["w"], return_complex=True)
        return spectra.abs().log1p()

    return _same({"x": _normal(1 << 18), "w": np.hanning(256).astype(np.float32)}, function)


def _weights(name: str, *shape: int) -> Data:
    return {f"{name} weight": np.random.default_rng(sum(shape)).integers(-127, 128, shape).astype(np.int8)}


def lenet() -> Program:
    shapes = {"c1": (6, 1, 5, 5), "c2": (16, 6, 5, 5), "f1": (120, 400), "f2": (84, 120), "f3": (10, 84)}
    data: Data = {"x": np.random.default_rng(0).integers(0, 256, (64, 1, 28, 28)).astype(np.uint8)}
    for name, shape in shapes.items():
        data |= _weights(name, *shape)
        data[f"{name} float"] = data[f"{name} weight"].astype(np.float32) * np.float32(0.002)

    def floats(lib: Any, of: dict[str, Any]) -> Any:
        f = lib.nn.functional
        x = f.max_pool2d(f.relu(f.conv2d(of["x"].to(lib.float32), of["c1 float"], padding=2)), 2)
        x = f.max_pool2d(f.relu(f.conv2d(x, of["c2 float"])), 2).flatten(1)
        for name in ("f1", "f2"):
            x = f.relu(f.linear(x, of[f"{name} float"]))
        return f.linear(x, of["f3 float"])

    def bytes_(lib: Any, of: dict[str, Any]) -> Any:
        q, pool, more = lib.quantized, lib.nn.functional.max_pool2d, {"input_scale": 0.1, "weight_scale": 0.002}
        x = pool(q.conv2d_relu(of["x"], of["c1 weight"], padding=2, scale=0.1, **more), 2)
        x = pool(q.conv2d_relu(x, of["c2 weight"], scale=0.1, **more), 2).flatten(1)
        for name in ("f1", "f2"):
            x = q.linear_relu(x, of[f"{name} weight"], scale=0.1, **more)
        return q.linear(x, of["f3 weight"], scale=0.1, zero_point=128, **more)

    return Program(data, ("x",), floats, bytes_)


def keywords() -> Program:
    """A depthwise separable network for keywords: 64 channels of 24 x 5, four pairs of layers."""
    shapes: dict[str, tuple[int, ...]] = {"c": (64, 1, 10, 4), "f": (12, 64 * 24 * 5)}
    for k in range(4):
        shapes |= {f"d{k}": (64, 1, 3, 3), f"p{k}": (64, 64, 1, 1)}
    data: Data = {"x": np.random.default_rng(0).integers(0, 256, (64, 1, 49, 10)).astype(np.uint8)}
    for name, shape in shapes.items():
        data |= _weights(name, *shape)
        data[f"{name} float"] = data[f"{name} weight"].astype(np.float32) * np.float32(0.002)
    first = {"padding": (4, 1), "stride": 2}

    def floats(lib: Any, of: dict[str, Any]) -> Any:
        f = lib.nn.functional
        x = f.relu(f.conv2d(of["x"].to(lib.float32), of["c float"], **first))
        for k in range(4):
            x = f.relu(f.conv2d(x, of[f"d{k} float"], padding=1, groups=64))
            x = f.relu(f.conv2d(x, of[f"p{k} float"]))
        return f.linear(x.flatten(1), of["f float"])

    def bytes_(lib: Any, of: dict[str, Any]) -> Any:
        q, more = lib.quantized, {"input_scale": 0.1, "weight_scale": 0.002, "scale": 0.1}
        x = q.conv2d_relu(of["x"], of["c weight"], **first, **more)
        for k in range(4):
            x = q.conv2d_relu(x, of[f"d{k} weight"], padding=1, groups=64, **more)
            x = q.conv2d_relu(x, of[f"p{k} weight"], **more)
        return q.linear(x.flatten(1), of["f weight"], zero_point=128, **more)

    return Program(data, ("x",), floats, bytes_)


PROGRAMS: dict[str, Maker] = {
    "layer_norm": Maker("layer norm, 4096 x 1024", layer_norm),
    "softmax": Maker("softmax, 4096 x 1024", softmax),
    "black_scholes": Maker("Black-Scholes, 4,194,304 options", black_scholes),
    "photograph": Maker("photograph, 640 x 425 ([program](graphs.md#a-photograph-row-by-row))", photograph),
    "bursts": Maker("radio bursts, 2048 of 1024 ([program](graphs.md#a-radio-receiver))", bursts),
    "spectrogram": Maker("spectrogram, 4096 frames of 256", spectrogram),
    "stft": Maker("stft, 262,144 samples, 256 each 64", stft),
    "mandelbrot": Maker("Mandelbrot set, 480 x 320, 12 steps", mandelbrot),
    "heat": Maker("heat in a plate, 1024 x 1024, 4 steps", heat),
    "lenet": Maker("LeNet-5, int8 (torch: float32), 64 images", lenet),
    "keywords": Maker("keyword spotting, int8 (torch: float32), 64 inputs", keywords),
}
