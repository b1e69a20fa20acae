"""A radio receiver: bursts are mixed down, filtered, phase-corrected and decided, in one kernel.

    python examples/receiver.py [--bursts 1024] [--once] [--export NAME]

A burst is 256 symbols of two bits (QPSK), a fourth of which are known in advance (pilots), in 1024
samples at an intermediate frequency, with an unknown phase and noise. The receiver multiplies by
the carrier's conjugate, filters by a transform and its inverse (the matched half of a Nyquist
filter), estimates the phase from the pilots, and decides each bit by a sign. The error rate is
printed next to theory: Q(sqrt(2 Eb / N0)) for a known phase.

`receive` only uses functions that ftensor, torch and NumPy share. With `ft.jit` it is one kernel of
dataflow stages on a board (docs/graphs.md); `--export NAME` writes that.
"""

from __future__ import annotations

import argparse
from functools import partial
from math import erfc, sqrt
from typing import Any, NamedTuple

import numpy as np
from timing import medians

import ftensor as ft

SAMPLES, SYMBOLS, PILOTS = 1024, 256, 64
EACH = SAMPLES // SYMBOLS  # samples of a symbol
TURNS = 384  # periods of the carrier in a burst
ROLL_OFF = 0.25
DECIBELS = (0, 2, 4, 6, 8)


def receive(samples: Any, mixer: Any, matched: Any, pilots: Any, fft: Any = ft.fft) -> Any:
    """Returns the decision at each sample of bursts (n, SAMPLES): the signs of the real and the
    imaginary part. The other operands are one row for all bursts; `pilots` is 0 at unknown
    symbols."""
    level = fft.ifft(fft.fft(samples * mixer) * matched)
    carrier = (level * pilots).sum(-1)[:, None]
    upright = level * carrier.conj()
    return upright.real > 0, upright.imag > 0


class Radio(NamedTuple):
    """Shared by sender and receiver: rows of SAMPLES, and the positions of the pilots."""

    mixer: np.ndarray
    matched: np.ndarray
    pilots: np.ndarray
    known: np.ndarray


def radio() -> Radio:
    """Returns a carrier, a root Nyquist filter (no interference between symbols after both
    filters), and pilots."""
    mixer = np.exp(-2j * np.pi * TURNS * np.arange(SAMPLES) / SAMPLES)
    frequency = np.abs(np.fft.fftfreq(SAMPLES)) * EACH  # 1/2 is the edge of half the power
    edge = np.clip((frequency - (1 - ROLL_OFF) / 2) / ROLL_OFF, 0, 1)
    known = np.arange(0, SYMBOLS, SYMBOLS // PILOTS)
    pilots = np.zeros(SAMPLES, np.complex64)
    pilots[known * EACH] = symbols(np.random.default_rng(1).integers(0, 2, (PILOTS, 2))).conj()
    matched = np.sqrt(EACH) * np.cos(np.pi / 2 * edge)
    return Radio(mixer.astype(np.complex64), matched.astype(np.complex64), pilots, known)


def symbols(bits: np.ndarray) -> np.ndarray:
    """Returns pairs of bits (..., 2) as complex numbers of absolute value 1, one in each quadrant."""
    return ((1 - 2 * bits[..., 0]) + 1j * (1 - 2 * bits[..., 1])) / sqrt(2)


def sent(of: Radio, bursts: int, decibels: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns samples (bursts, SAMPLES) with noise of `decibels` Eb / N0, and the bits in them
    (bursts, SYMBOLS, 2), pilots included."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 2, (bursts, SYMBOLS, 2))
    line = np.zeros((bursts, SAMPLES), np.complex128)
    line[:, ::EACH] = symbols(bits)
    line[:, of.known * EACH] = of.pilots[of.known * EACH].conj()
    line = np.fft.ifft(np.fft.fft(line) * of.matched)
    phase = np.exp(2j * np.pi * random.random((bursts, 1)))
    strength = sqrt(10 ** (-decibels / 10) / 4)  # of each part: half of N0, where Eb is 1 / 2
    noise = random.standard_normal((bursts, 2 * SAMPLES)).view(np.complex128)
    return (line * of.mixer.conj() * phase + strength * noise).astype(np.complex64), bits


def errors(of: Radio, decided: Any, bits: np.ndarray) -> tuple[int, int]:
    """Returns (the number of wrong bits, the number of bits), pilots excluded."""
    data = np.setdiff1d(np.arange(SYMBOLS), of.known)
    wrong = 0
    for k, positive in enumerate(decided):
        wrong += int((np.asarray(positive)[:, data * EACH] == bits[:, data, k].astype(bool)).sum())
    return wrong, 2 * bits.shape[0] * len(data)


def times(of: Radio, samples: np.ndarray) -> str:
    """Returns the time of each variant, without transfers: eager, as a graph, by NumPy, and by
    torch if it is installed."""
    rows = (samples, *of[:3])
    tensors = [ft.tensor(row) for row in rows]
    works = {
        "eager": partial(receive, *tensors),
        "graph": partial(ft.jit(receive), *tensors),
        "NumPy": partial(receive, *rows, fft=np.fft),
    }
    try:
        import torch
    except ImportError:
        pass
    else:
        works["torch"] = partial(receive, *map(torch.from_numpy, rows), fft=torch.fft)
    for work in works.values():
        work()
    return medians(works)


def main() -> None:
    """Sends, receives, and counts errors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bursts", type=int, default=1024, help="of each strength of noise")
    parser.add_argument("--once", action="store_true", help="measure no times")
    parser.add_argument("--export", metavar="NAME", help="write the receiver's graph as files")
    options = parser.parse_args()
    of, graph = radio(), ft.jit(receive)
    rows = [ft.tensor(row) for row in of[:3]]
    device = ft.fpga.get_device_name()
    print(f"ftensor's device: {device} (kernels are made when first needed, and kept)")
    if options.export:
        files = graph.export(options.export, ft.zeros(2, SAMPLES, dtype=ft.complex64), *rows)
        print(f"graph: {files.graph}, {files.inventory}, {files.source}")
        return
    print("Eb / N0      bits   wrong   of all   theory")
    for decibels in DECIBELS:
        samples, bits = sent(of, options.bursts, decibels, decibels)
        decided = [x.numpy() for x in graph(ft.tensor(samples), *rows)]
        wrong, count = errors(of, decided, bits)
        theory = erfc(sqrt(10 ** (decibels / 10))) / 2
        print(f"{decibels:4} dB {count:9} {wrong:7}  {wrong / count:.5f}  {theory:.5f}")
    if not options.once:
        print(times(of, samples))


if __name__ == "__main__":
    main()
