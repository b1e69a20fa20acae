"""The programs of docs/figures.md: data, and the same function for torch and for ftensor.

`Program.ftensor` equals `Program.torch` except for networks, which torch computes in float32 and
ftensor in int8.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from board_networks import digits, keywords, lenet, resnet, transformer
from board_program import Maker, Program, normal, same

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))


def layer_norm() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        d = of["x"] - of["x"].mean(-1, keepdim=True)
        return d * (d.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * of["w"] + of["b"]

    return same({"x": normal(4096, 1024), "w": np.ones(1024, np.float32), "b": np.zeros(1024, np.float32)}, function)


def softmax() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        e = (of["x"] - of["x"].amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)

    return same({"x": normal(4096, 1024)}, function)


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

    return same({name: draw(low, high, n).astype(np.float32) for name, (low, high) in ends.items()}, function)


def photograph() -> Program:
    import photo_graph
    from sklearn.datasets import load_sample_image

    planes, above, below = photo_graph.rows_of(np.array(load_sample_image("china.jpg")))
    data = {f"plane{k}": plane for k, plane in enumerate(planes)} | {"above": above, "below": below}
    data = {name: np.ascontiguousarray(value) for name, value in data.items()}

    def function(lib: Any, of: dict[str, Any]) -> Any:
        return photo_graph.develop(lib, [of["plane0"], of["plane1"], of["plane2"]], of["above"], of["below"])

    return same(data, function)


def bursts() -> Program:
    import receiver

    radio = receiver.radio()
    signal, _ = receiver.sent(radio, 2048, 8, 8)
    data = {"signal": signal, "mixer": radio.mixer, "matched": radio.matched, "pilots": radio.pilots}

    def function(lib: Any, of: dict[str, Any]) -> Any:
        return receiver.receive(of["signal"], of["mixer"], of["matched"], of["pilots"], fft=lib.fft)

    return same(data, function)


def mandelbrot() -> Program:
    re, im = np.linspace(-2.2, 0.8, 480, dtype=np.float32), np.linspace(-1, 1, 320, dtype=np.float32)
    place = (re[None] + 1j * im[:, None]).astype(np.complex64)

    def function(lib: Any, of: dict[str, Any]) -> Any:
        c = of["c"]
        z = c
        for _ in range(12):
            z = lib.where(z.abs() < 2, z * z + c, z)
        return z

    return same({"c": place}, function)


def heat() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        p = of["plate"]
        for _ in range(4):
            inner = p[1:-1, 1:-1]
            p = inner + 0.2 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * inner)
        return p

    return same({"plate": normal(1024, 1024)}, function)


def spectrogram() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        frames = of["x"] * of["w"]
        return lib.fft.fft(frames).abs().square().log1p()

    frames = (normal(4096, 256) + 1j * normal(4096, 256)).astype(np.complex64)
    return same({"x": frames, "w": np.hanning(256).astype(np.complex64)}, function)


def stft() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        spectra = lib.stft(of["x"], 256, hop_length=64, window=of["w"], return_complex=True)
        return spectra.abs().log1p()

    return same({"x": normal(1 << 18), "w": np.hanning(256).astype(np.float32)}, function)


def radio() -> Program:
    """Mix, filter by 64 taps, keep each fourth sample, transform, power, detect."""
    data = {"x": normal(1024, 4096, 2), "carrier": normal(4096, 2)}
    data = {name: np.ascontiguousarray(value).view(np.complex64)[..., 0] for name, value in data.items()}
    data["taps"] = (np.sinc(np.arange(-32, 32) / 4) * np.hanning(64) / 4).astype(np.float32)

    def function(lib: Any, of: dict[str, Any]) -> Any:
        mixed, taps = (of["x"] * of["carrier"])[:, None], of["taps"].to(lib.complex64)[None, None]
        z = lib.nn.functional.conv1d(mixed, taps, stride=4, padding=30)[:, 0]
        s = lib.fft.fft(z)
        return s.real.square() + s.imag.square() > 2.0

    return same(data, function)


def photo() -> Program:
    import photo as example
    from sklearn.datasets import load_sample_image

    def function(lib: Any, of: dict[str, Any]) -> Any:
        return tuple([r.round().to(lib.uint8) for r in example.develop(lib, of["x"].to(lib.float32))])

    return same({"x": np.array(load_sample_image("china.jpg"))}, function)


def heat_in_place() -> Program:
    """The edges do not change: each step adds to a part of the plate."""

    def function(lib: Any, of: dict[str, Any]) -> Any:
        p = of["plate"].clone()
        inner = p[1:-1, 1:-1]
        for _ in range(4):
            around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
            inner.add_(around - 4 * inner, alpha=0.2)
        return p

    return same({"plate": normal(1024, 1024)}, function)


def statistics() -> Program:
    """Means and deviations of rows; a quantile and a histogram of the first row, by sorting."""

    def function(lib: Any, of: dict[str, Any]) -> Any:
        x = of["x"]
        below = lib.searchsorted(x[0].sort()[0], of["edges"])
        return x.mean(1), x.std(1), lib.quantile(x[0], 0.9), below[1:] - below[:-1]

    return same({"x": normal(8, 1 << 18), "edges": np.linspace(-8, 8, 65, dtype=np.float32)}, function)


def _neighbours() -> dict[str, np.ndarray]:
    from sklearn.datasets import load_digits

    pixels = load_digits().data.astype(np.float32)
    return {"tests": pixels[1000:], "known": pixels[:1000]}


def nearest() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        d = of["tests"][:, None] - of["known"]
        return (d * d).sum(2).argmin(1)

    return same(_neighbours(), function)


def nearest_by_product() -> Program:
    def function(lib: Any, of: dict[str, Any]) -> Any:
        a, b = of["tests"], of["known"]
        return ((a * a).sum(1)[:, None] - 2 * (a @ b.T) + (b * b).sum(1)).argmin(1)

    return same(_neighbours(), function)


def product() -> Program:
    return same({"a": normal(1024, 1024), "b": normal(1024, 1024)}, lambda lib, of: of["a"] @ of["b"])


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
    "heat_in_place": Maker("heat in a plate with fixed edges, in place, 4 steps", heat_in_place),
    "radio": Maker("radio chain, 4,194,304 samples: mix, FIR 64, / 4, FFT 1024, detect", radio),
    "statistics": Maker("statistics, 8 x 262,144: mean, deviation, quantile, histogram", statistics),
    "photo": Maker("photograph with tone map and edges, 640 x 427", photo),
    "nearest": Maker("nearest of 1000 digits, for 797, by differences", nearest),
    "nearest_by_product": Maker("nearest of 1000 digits, for 797, by a product", nearest_by_product),
    "product": Maker("matrix product, 1024 x 1024 x 1024", product),
    "lenet": Maker("LeNet-5, int8 (torch: float32), 64 images", lenet),
    "keywords": Maker("keyword spotting, int8 (torch: float32), 64 inputs", keywords),
    "digits": Maker("digits' network, int8 (torch: float32), 797 images of 8 x 8", digits),
    "resnet": Maker("ResNet-18, int8 (torch: float32), 1 image of 224 x 224", resnet),
    "transformer": Maker("transformer, 2 layers of 256, 128 tokens", transformer),
}
