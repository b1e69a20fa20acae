"""Program of the tests of filters as stages: "export FOLDER", "build FOLDER", "run [NUMBER ...]",
which prints a digest of each result. The chains are drawn from one seed."""

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
from ftensor.kernels.skeletons.fir import FirKey
from ftensor.kernels.staged import StagedKey, lanes_of
from ftensor.toolchain.group import KernelGroup

CASES = 15
# Chains whose stride is no power of two.
UNEVEN = {5: 3, 6: 10, 8: 7, 12: 6, 14: 5}
# The kinds of chains: the filter alone, before a transform, after another filter, with a value of
# each long row, and for a signal of several rows.
FORMS = ("alone", "spectrum", "cascade", "centred", "signals")
conv1d = ft.nn.functional.conv1d


@dataclass(frozen=True)
class Chain:
    """A drawn chain: rows of `length` results, of `stride` times as many samples."""

    k: int
    form: str
    is_complex: bool
    complex_taps: bool
    taps: int
    stride: int
    length: int
    one_signal: bool

    @property
    def padding(self) -> int:
        return (self.taps - 1) // 2 if self.stride == 1 else max(0, (self.taps - self.stride + 1) // 2)

    @property
    def name(self) -> str:
        return f"chain_{self.k}_{self.form}"

    def operands(self, rows: int) -> list[np.ndarray]:
        """Returns the samples, a carrier, and the taps."""
        random = np.random.default_rng(1000 * self.k + rows)

        def drawn(pairs: bool, *shape: int) -> np.ndarray:
            real = random.standard_normal((*shape, 2 if pairs else 1)).astype(np.float32)
            return real.view(np.complex64)[..., 0] if pairs else real[..., 0]

        samples = self.length * self.stride * (2 if self.form == "cascade" else 1)
        signal = drawn(self.is_complex, rows, samples)
        return [signal, drawn(self.is_complex, samples), drawn(self.complex_taps, self.taps)]

    @cached_property
    def function(self) -> Callable[..., Any]:
        function = ft.jit(self.chain)
        function.name = self.name
        return function

    def chain(self, x: ft.Tensor, carrier: ft.Tensor, taps: ft.Tensor) -> Any:
        y = x * carrier
        taps = taps.to(x.dtype)[None, None]
        z = self.filtered(y, taps, self.stride, self.padding)
        if self.form == "cascade":
            z = self.filtered(z * 0.5, taps[..., ::1], 2, max(0, (self.taps - 1) // 2))
        if self.form == "spectrum":
            s = ft.fft.fft(z)
            power = s.real.square() + s.imag.square()
            return power > 2 * power.mean(-1, keepdim=True), z
        if self.form == "centred":
            size = y.abs()
            return size - z.abs().amax(-1, keepdim=True), z
        return z * 2, z.abs().amax(-1)

    def filtered(self, y: ft.Tensor, taps: ft.Tensor, stride: int, padding: int) -> ft.Tensor:
        length, padded = y.shape[-1], "same" if stride == 1 else padding
        if self.one_signal:
            return conv1d(y.reshape(1, 1, -1), taps, stride=stride, padding=padded).reshape(-1, length // stride)
        signals = y.reshape(-1, 1, 2 * length if self.form == "signals" else length)
        return conv1d(signals, taps, stride=stride, padding=padded).reshape(-1, length // stride)

    def wanted(self, x: np.ndarray, carrier: np.ndarray, taps: np.ndarray) -> np.ndarray:
        """Returns the rows filtered by NumPy, in the order of a stage's sums."""
        y = product(x, np.broadcast_to(carrier, x.shape))
        signals = y.reshape(1, -1) if self.one_signal else y.reshape(-1, y.shape[-1] * (1 + (self.form == "signals")))
        z = in_order(signals, taps, self.stride, self.padding)
        if self.form == "cascade":
            z = in_order(z * np.float32(0.5), taps, 2, max(0, (self.taps - 1) // 2))
        return z.reshape(x.shape[0], self.length)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns a * b, rounded as ftensor rounds products of complex numbers."""
    if not np.iscomplexobj(a):
        return a * b
    if not np.iscomplexobj(b):
        return pairs(a.real * b, a.imag * b)
    return pairs(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def pairs(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    return np.stack([re, im], -1).view(np.complex64)[..., 0]


def in_order(x: np.ndarray, taps: np.ndarray, stride: int, padding: int) -> np.ndarray:
    """Returns filtered signals: products at a power of two of positions, with the taps at the last
    ones, and a tree that adds their second half to the first."""
    places = 1 << (max(stride, len(taps)) - 1).bit_length()
    first, count = places - len(taps), x.shape[-1] // stride
    edges = ((0, 0), (padding + first, places))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, edges), places, axis=-1)[:, ::stride][:, :count]
    sums = product(windows[..., first:], np.broadcast_to(taps, (*windows.shape[:2], len(taps))))
    sums = np.concatenate([np.zeros((*windows.shape[:2], first), x.dtype), sums], -1)
    while sums.shape[-1] > 1:
        half = sums.shape[-1] // 2
        sums = sums[..., :half] + sums[..., half:]
    return sums[..., 0] + np.float32(0)


def chains() -> list[Chain]:
    random = np.random.default_rng(8)
    drawn = []
    for k in range(CASES):
        form = FORMS[k % len(FORMS)]
        is_complex = form == "spectrum" or bool(random.integers(2))
        stride = UNEVEN.get(k, int(2 ** random.integers(0, 5)))
        taps = int(2 ** random.integers(0, 7)) if random.integers(2) else int(random.integers(1, 70))
        length = 64 if form == "spectrum" else 16 * int(random.integers(1, 4))
        one_signal = form in ("alone", "spectrum", "cascade") and bool(random.integers(2))
        complex_taps = is_complex and bool(random.integers(2))
        drawn.append(Chain(k, form, is_complex, complex_taps, taps, stride, length, one_signal))
    return drawn


def key_of(chain: Chain, folder: str) -> StagedKey:
    from ftensor.toolchain.inventory.read import expand, read

    (group,) = expand(read(f"{folder}/{chain.name}.toml"))
    return group.members[0]


def export(folder: str) -> None:
    for chain in chains():
        files = chain.function.export(f"{folder}/{chain.name}", *map(ft.from_numpy, chain.operands(6)))
        assert not files.apart, files.apart
        print(files.entry)


def build(folder: str) -> None:
    """Builds one image of all chains, each with another number of lanes, and of a kernel of filters
    alone."""
    from ftensor.toolchain.csim import CSim
    from ftensor.toolchain.jobs.progress import Progress
    from ftensor.toolchain.make import Request
    from ftensor.toolchain.make import build as make

    groups = [KernelGroup("filter", (FirKey(ft.float32, 64),))]
    for chain in chains():
        key = key_of(chain, folder)
        lanes = lanes_of(key)
        groups.append(KernelGroup(chain.name, (replace(key, lanes=lanes[chain.k % len(lanes)]),)))
    done = make(Request("filters", tuple(groups), "", Path(folder)), CSim(), Progress())
    assert done.image is not None, [o.job.log.read_text() for o in done.failures]


def run(*only: str) -> None:
    """Runs all chains, or those of these numbers."""
    for chain in chains():
        if only and str(chain.k) not in only:
            continue
        for rows in (4, 6):
            arrays = chain.operands(rows)
            tensors = [ft.from_numpy(a) for a in arrays]
            kernels = chain.function.graph(*tensors).kernels
            assert len(kernels) == 1 and kernels[0].startswith("staged "), (chain, kernels)
            got = [t.numpy() for t in chain.function(*tensors)]
            z = got[0] / 2 if chain.form in ("alone", "cascade", "signals") else got[1]
            np.testing.assert_array_equal(z, chain.wanted(*arrays), err_msg=repr(chain))
            if chain.form == "spectrum":
                power = abs(np.fft.fft(z.astype(np.complex128))) ** 2
                apart = power / power.mean(-1, keepdims=True) - 2
                assert (got[0] == (apart > 0))[abs(apart) > 1e-4].all(), chain
            elif chain.form == "centred":
                size = abs(product(arrays[0], np.broadcast_to(arrays[1], arrays[0].shape)))
                np.testing.assert_allclose(got[0], size - abs(z).max(-1, keepdims=True), atol=1e-5)
            else:
                np.testing.assert_allclose(got[1], abs(z).max(-1), rtol=1e-6)
            print(chain.name, rows, sha256(b"".join(a.tobytes() for a in got)).hexdigest()[:16])


if __name__ == "__main__":
    word, *rest = sys.argv[1:] or ["run"]
    {"export": export, "build": build, "run": run}[word](*rest)
