"""Program of the tests of frames as stages: "export FOLDER", "build FOLDER", "run [NUMBER ...]", which
prints a digest of each result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import ftensor as ft
from ftensor.kernels.staged import StagedKey, lanes_of
from ftensor.toolchain.group import KernelGroup


@dataclass(frozen=True)
class Chain:
    """A chain over frames of `length` elements of one signal, one frame every `hop` elements. It
    computes spectra of complex or real signals, of signals reflected at both ends ("centered"),
    means, also of a signal that the graph computes ("mixed"), or `signal.spectrogram`."""

    form: str
    length: int
    hop: int
    narrower: int = 0  # how often the number of lanes is halved
    offset: int = 0  # offset of the signal in its storage

    @property
    def name(self) -> str:
        return f"{self.form}_{self.length}_{self.hop}"

    @property
    def signal(self) -> int:
        """Returns the elements of each of several signals, of six frames."""
        return 5 * self.hop + self.length

    def operands(self, frames: int) -> list[np.ndarray]:
        """Returns the signal and the window."""
        random, n = np.random.default_rng(self.length + frames), (frames - 1) * self.hop
        n += 0 if self.form == "centered" else self.length
        n = frames * self.signal if self.form == "signals" else n
        signal = random.standard_normal(self.offset + n).astype(np.float32)
        if self.form == "complex":
            signal = signal + 1j * random.standard_normal(len(signal)).astype(np.float32)
        return [signal, random.uniform(0.5, 1, self.length).astype(np.float32)]

    @cached_property
    def function(self) -> Callable[..., Any]:
        function = ft.jit(self.chain)
        function.name = self.name
        return function

    def chain(self, x: ft.Tensor, window: ft.Tensor) -> Any:
        if self.form == "mixed":
            x = (x * 0.5 + 1) * x
        if self.form in ("means", "mixed"):
            frames = x.unfold(0, self.length, self.hop)
            return (frames * window).mean(-1), (frames - frames.amax(-1, keepdim=True)) * window
        if self.form == "power":
            return ft.signal.spectrogram(x, 2.0, nperseg=self.length, noverlap=self.length - self.hop)[2]
        if self.form == "signals":
            return ft.stft(
                x.view(-1, self.signal), self.length, self.hop, window=window, center=False, return_complex=True
            ).abs()
        if self.form == "complex":
            return ft.fft.fft(x.unfold(0, self.length, self.hop) * window.to(x.dtype)).abs()
        of = {"window": window, "center": self.form == "centered", "return_complex": True}
        if self.form == "half":
            s = ft.stft(x, self.length, self.hop, **of)
            return s.abs().log1p(), s
        if self.form == "centered":
            return ft.stft(x, self.length, self.hop, **of).abs().square()
        return ft.stft(x, self.length, self.hop, onesided=False, **of).abs().log1p()

    def check(self, got: list[np.ndarray], signal: np.ndarray, window: np.ndarray) -> None:
        """Compares results with NumPy's."""
        if self.form == "centered":
            signal = np.pad(signal, self.length // 2, "reflect")
        if self.form == "mixed":
            signal = (signal * np.float32(0.5) + 1) * signal
        if self.form == "signals":
            frames = np.lib.stride_tricks.sliding_window_view(signal.reshape(-1, self.signal), self.length, -1)[
                :, :: self.hop
            ]
            wanted = abs(np.fft.rfft(frames.astype(np.float64) * window))
            np.testing.assert_allclose(got[0], wanted.swapaxes(1, 2), atol=4e-5)
            return
        frames = np.lib.stride_tricks.sliding_window_view(signal, self.length)[:: self.hop]
        if self.form in ("means", "mixed"):
            np.testing.assert_allclose(got[0], (frames * window).mean(-1), atol=1e-6)
            np.testing.assert_array_equal(got[1], (frames - frames.max(-1, keepdims=True)) * window)
            return
        if self.form == "power":
            from scipy.signal import spectrogram

            wanted = spectrogram(signal, 2.0, nperseg=self.length, noverlap=self.length - self.hop)[2]
            np.testing.assert_allclose(got[0], wanted, atol=2e-6, rtol=1e-5)
            return
        if self.form == "centered":
            wanted = abs(np.fft.rfft(frames.astype(np.float64) * window).T) ** 2
            np.testing.assert_allclose(got[0], wanted, atol=1e-4, rtol=1e-5)
            return
        spectra = abs(np.fft.fft(frames.astype(np.complex128) * window))
        if self.form == "half":
            wanted = np.fft.rfft(frames.astype(np.float64) * window).T
            np.testing.assert_allclose(got[1], wanted, atol=2e-5)
            np.testing.assert_allclose(got[0], np.log1p(abs(wanted)), atol=2e-5)
            return
        np.testing.assert_allclose(got[0], spectra if self.form == "complex" else np.log1p(spectra).T, atol=2e-5)


# Hops of a beat, of almost a beat, of no divisor of a frame, and of less than a beat.
CHAINS = (
    Chain("real", 64, 16),
    Chain("complex", 64, 56, offset=8),
    Chain("signals", 128, 8, narrower=1),
    Chain("means", 96, 80, offset=16),
    Chain("mixed", 48, 4),
    Chain("half", 64, 16),
    Chain("half", 32, 24, narrower=1),
    Chain("power", 64, 16),
    Chain("centered", 64, 16),
    Chain("centered", 32, 24, narrower=1, offset=16),
)


def key_of(chain: Chain, folder: str) -> StagedKey:
    from ftensor.toolchain.inventory.read import expand, read

    (group,) = expand(read(f"{folder}/{chain.name}.toml"))
    return group.members[0]


def arguments(chain: Chain, frames: int) -> list[ft.Tensor]:
    signal, window = map(ft.from_numpy, chain.operands(frames))
    return [signal[chain.offset :], window]


def export(folder: str) -> None:
    for chain in CHAINS:
        files = chain.function.export(f"{folder}/{chain.name}", *arguments(chain, 6))
        assert not files.apart, files.apart
        print(files.entry)


def build(folder: str) -> None:
    """Builds one image of all chains."""
    from ftensor.toolchain.csim import CSim
    from ftensor.toolchain.jobs.progress import Progress
    from ftensor.toolchain.make import Request
    from ftensor.toolchain.make import build as make

    groups = []
    for chain in CHAINS:
        key = key_of(chain, folder)
        groups.append(KernelGroup(chain.name, (replace(key, lanes=lanes_of(key)[chain.narrower]),), units=2))
    done = make(Request("frames", tuple(groups), "", Path(folder)), CSim(), Progress())
    assert done.image is not None, [o.job.log.read_text() for o in done.failures]


def run(*only: str) -> None:
    """Runs all chains, or those of these numbers."""
    for k, chain in enumerate(CHAINS):
        if only and str(k) not in only:
            continue
        for frames in (5, 36):
            tensors = arguments(chain, frames)
            kernels = chain.function.graph(*tensors).kernels
            assert len(kernels) == 1 and kernels[0].startswith("staged "), (chain, kernels)
            got = chain.function(*tensors)
            results = [t.numpy() for t in (got if isinstance(got, tuple) else (got,))]
            chain.check(results, *[t.numpy() for t in tensors])
            print(chain.name, frames, sha256(b"".join(a.tobytes() for a in results)).hexdigest()[:16])


if __name__ == "__main__":
    word, *rest = sys.argv[1:] or ["run"]
    {"export": export, "build": build, "run": run}[word](*rest)
