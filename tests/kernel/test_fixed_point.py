"""Q15 filters and transforms of `ftensor.signal`, bit by bit against NumPy's integer arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ftensor as ft

RNG = np.random.default_rng(15)
Integers = np.ndarray[Any, Any]


def samples(*shape: int) -> Integers:
    x = RNG.integers(-32768, 32768, shape).astype(np.int16)
    x.reshape(-1)[:8] = -32768  # sums that saturate
    return x


def rounded(sums: Integers, bits: int) -> Integers:
    return np.clip((sums + (1 << bits >> 1)) >> bits, -32768, 32767).astype(np.int16)


def filtered(x: Integers, h: Integers, decimate: int = 1) -> Integers:
    """Returns the exact sums."""
    rows = x.reshape(-1, x.shape[-1]).astype(np.int64)
    sums = np.stack([np.convolve(row, h.astype(np.int64))[: len(row) : decimate] for row in rows])
    return sums.reshape(*x.shape[:-1], -1)


def equal(mine: Any, expected: Integers) -> None:
    assert mine.dtype is ft.int16
    assert np.array_equal(mine.cpu().numpy(), expected)


@pytest.mark.parametrize("taps", [1, 5, 33])
def test_filters_of_real_samples(taps: int) -> None:
    x, h = samples(2, 70), samples(taps)
    for decimate in (1, 3):
        expected = rounded(filtered(x, h, decimate), 15)
        equal(ft.signal.fir_q15(ft.tensor(x), h, decimate), expected)
    equal(ft.signal.fir_q15(ft.tensor(x), ft.tensor(h), 3), expected)


def test_ties_round_up() -> None:
    equal(ft.signal.fir_q15(ft.tensor([16384, -16384, 16383], dtype=ft.int16), [1]), np.array([1, 0, 0], np.int16))
    found = ft.signal.fft_q15(ft.tensor([[1, -1], [0, 0]], dtype=ft.int16))
    equal(found, np.array([[1, 0], [1, 0]], np.int16))


def test_long_filter_is_summed_in_parts() -> None:
    x = np.full(20000, 3, np.int16)
    equal(ft.signal.fir_q15(ft.tensor(x), x, 19999)[1:], rounded(np.array([9 * 20000]), 15))


def test_filters_of_complex_samples() -> None:
    z = samples(2, 40, 2)
    re, im = z[..., 0], z[..., 1]
    h = samples(7)
    parts = [filtered(part, h, 2) for part in (re, im)]
    equal(ft.signal.fir_q15(ft.tensor(z), h, 2, pairs=True), rounded(np.stack(parts, -1), 15))
    h = samples(7, 2)
    a, b = h.T
    sums = [filtered(re, a) - filtered(im, b), filtered(re, b) + filtered(im, a)]
    equal(ft.signal.fir_q15(ft.tensor(z), h, pairs=True), rounded(np.stack(sums, -1), 15))


def transformed(z: Integers, sign: int) -> Integers:
    """Decimation in frequency: half the sums, half the differences times a factor, results in
    order."""
    n = z.shape[-2]
    if n == 1:
        return z
    a, b = z[..., : n // 2, :].astype(np.int64), z[..., n // 2 :, :].astype(np.int64)
    angle = sign * 2 * np.pi * np.arange(n // 2) / n
    re, im = (np.rint(32768 * f(angle)).astype(np.int64) for f in (np.cos, np.sin))
    d = a - b
    turned = np.stack([d[..., 0] * re - d[..., 1] * im, d[..., 0] * im + d[..., 1] * re], -1)
    even, odd = transformed(rounded(a + b, 1), sign), transformed(rounded(turned, 16), sign)
    return np.stack([even, odd], -2).reshape(z.shape)


@pytest.mark.parametrize("batch, n", [(3, 2), (3, 16), (1, 128), (2, 1024)])
def test_transforms(batch: int, n: int) -> None:
    z = samples(batch, n, 2)
    equal(ft.signal.fft_q15(ft.tensor(z)), transformed(z, -1))
    equal(ft.signal.ifft_q15(ft.tensor(z)), transformed(z, 1))


def test_transforms_of_unaligned_and_strided_input() -> None:
    z = samples(3, 17, 2)
    x = ft.tensor(z)
    equal(ft.signal.fft_q15(x[:, 1:]), transformed(z[:, 1:], -1))
    flat = ft.tensor(z.reshape(-1))[1:33]  # begins inside an int32
    equal(ft.signal.fft_q15(flat.reshape(16, 2)), transformed(z.reshape(-1)[1:33].reshape(16, 2), -1))
    equal(ft.jit(ft.signal.fft_q15)(x[:2, :16]), transformed(z[:2, :16], -1))
    assert ft.signal.fft_q15(x[:0, :16]).shape == (0, 16, 2)


def test_error_of_a_transform() -> None:
    z = (RNG.standard_normal((2, 256)) + 1j * RNG.standard_normal((2, 256))).astype(np.complex64) * 0.2
    found = ft.signal.from_q15(ft.signal.fft_q15(ft.signal.to_q15(ft.tensor(z))), pairs=True)
    assert abs(found.cpu().numpy() - np.fft.fft(z) / 256).max() < 5 / 32768


def test_conversions_round_and_saturate() -> None:
    x = np.array([-2.0, -1.0, -0.5, 0.25, 2.5 / 32768, 3.5 / 32768, 0.99999, 1.0], np.float32)
    expected = np.array([-32768, -32768, -16384, 8192, 2, 4, 32767, 32767], np.int16)
    equal(ft.signal.to_q15(ft.tensor(x)), expected)
    assert ft.signal.from_q15(ft.tensor(expected)).tolist() == (expected / 32768).tolist()
    pairs = ft.signal.to_q15(ft.tensor(x[2:4] + 1j * x[3]))
    assert pairs.tolist() == [[-16384, 8192], [8192, 8192]]
    assert ft.signal.from_q15(pairs[0], pairs=True).item() == -0.5 + 0.25j


def test_wrong_arguments_are_refused() -> None:
    q15, x = ft.signal, ft.tensor(samples(8))
    for call, words in (
        (lambda: q15.fir_q15(x.float(), [1]), "float32; Q15 is int16"),
        (lambda: q15.fir_q15(x, [0.5]), "float64; Q15 is int16"),
        (lambda: q15.fir_q15(x, [40000]), "int64; Q15 is int16"),
        (lambda: q15.fir_q15(x, []), "taps"),
        (lambda: q15.fir_q15(x, [[1, 2]]), r"\(1, 2\) are not \(k,\)"),
        (lambda: q15.fir_q15(x, [1], 0), "decimate=0"),
        (lambda: q15.fir_q15(x, [1], pairs=True), r"\(8,\) is not \(\.\.\., n, 2\)"),
        (lambda: q15.fft_q15(ft.tensor(samples(6, 2))), "6 samples are no power of two"),
        (lambda: q15.ifft_q15(x), r"\(8,\) is not"),
        (lambda: q15.to_q15(x), "int16; float32"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="x"):
        q15.fft_q15(samples(8, 2))
