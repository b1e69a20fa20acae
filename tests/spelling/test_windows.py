"""Windows and short-time transforms in torch's forms of call."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ftensor as ft

from ..oracle import agree, agree_on, ours

OLDER = ("bartlett", "blackman", "hamming", "hann", "kaiser")
NEWER: dict[str, tuple[dict[str, Any], ...]] = {name: ({},) for name in OLDER}
NEWER |= {
    "nuttall": ({},),
    "cosine": ({},),
    "kaiser": ({}, {"beta": 3.0}, {"beta": -1.0}),
    "gaussian": ({}, {"std": 3.0}, {"std": 0.0}),
    "exponential": ({}, {"tau": 2.0}, {"center": 1.0}, {"center": 1.0, "sym": False}, {"tau": 0.0}),
    "general_cosine": ({"a": [0.4, 0.5, 0.1]}, {"a": []}, {"a": 3.0}),
    "general_hamming": ({}, {"alpha": 0.7}),
}
DTYPES = (None, torch.float64, torch.float16, torch.int64)


@pytest.mark.parametrize("name", OLDER)
def test_window_functions(name: str) -> None:
    for n in (-1, 0, 1, 2, 5, 12):
        for periodic in (True, False):
            agree_on(f"{name}_window", n, periodic)
    for dtype in DTYPES:
        how = {"rtol": 2e-3, "atol": 2e-3} if dtype is torch.float16 else None
        agree_on(f"{name}_window", 9, how=how, dtype=dtype)


@pytest.mark.parametrize("name", NEWER)
def test_signal_windows(name: str) -> None:
    for options in NEWER[name]:
        for n in (-1, 0, 1, 2, 12):
            agree_on(f"signal.windows.{name}", n, **options)
            agree_on(f"signal.windows.{name}", n, **{"sym": False, **options})
        for dtype in DTYPES:
            agree_on(f"signal.windows.{name}", 9, dtype=dtype, **options)


def test_further_arguments() -> None:
    agree_on("hamming_window", 8, True, 0.6, 0.3)
    agree_on("kaiser_window", 8, False, 5.0)


X = torch.arange(200.0).reshape(2, 100).mul(0.37).sin()
HANN = torch.hann_window(16)
STFT: tuple[dict[str, Any], ...] = (
    {},
    {"return_complex": False},
    {"return_complex": True},
    {"hop_length": 5, "win_length": 12, "return_complex": True},
    {"window": HANN, "normalized": True, "return_complex": True},
    {"center": False, "onesided": False, "return_complex": True},
    {"pad_mode": "constant", "return_complex": True},
    {"onesided": True, "return_complex": True},
    {"win_length": 17, "return_complex": True},
    {"hop_length": 0, "return_complex": True},
    {"window": torch.ones(3), "return_complex": True},
    {"window": HANN * 1j},
)
ISTFT: tuple[dict[str, Any], ...] = (
    {},
    {"hop_length": 5, "win_length": 12},
    {"window": HANN, "normalized": True},
    {"center": False},
    {"length": 60},
    {"length": 200},
    {"onesided": False},
    {"return_complex": True},
    {"hop_length": 20},
    {"window": torch.zeros(16)},
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("x", [X, X[0], X + 1j * X.flip(1), X.double(), X.half(), X[None], X.int()])
def test_stft(x: torch.Tensor) -> None:
    for options in STFT:
        agree_on("stft", x, 16, how={"rtol": 1e-4, "atol": 1e-5}, **options)
    agree_on("stft", x, 101, return_complex=True, center=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("onesided", [True, False])
def test_istft(onesided: bool) -> None:
    x = X if onesided else X + 1j * X.flip(1)
    for options in ISTFT:
        form = {k: v for k, v in options.items() if k in ("hop_length", "win_length", "window")}
        if form.get("hop_length") == 20:
            form = {}
        spectrum = torch.stft(x, 16, onesided=onesided, return_complex=True, **form)
        for s in (spectrum, spectrum[0]):
            agree_on("istft", s, 16, how={"rtol": 1e-3, "atol": 1e-5}, **options)
    agree_on("istft", X, 16)


def test_istft_inverts_stft() -> None:
    x = ours(X)
    window = ft.hann_window(32)
    result = ft.istft(x.stft(32, 8, window=window, return_complex=True), 32, 8, window=window, length=100)
    agree(lambda: result, lambda: X, rtol=1e-5, atol=1e-6)
