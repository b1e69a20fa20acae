"""Program of tests/flow/test_intel.py on Intel's FPGA emulator; writes results to the named file.

python tests/flow/intel_program.py OUT.npz
"""

from __future__ import annotations

import sys

import numpy as np

import ftensor as ft

SIZES = (1, 15, 16, 17, 40000)
NARROW = ("float16", "bfloat16", "complex64", "complex128")


def numbers(size: int, dtype: str, seed: int) -> ft.Tensor:
    """Returns reproducible numbers."""
    drawn = np.random.default_rng(seed).normal(0, 2, (2, size))
    if dtype.startswith("complex"):
        return ft.from_numpy((drawn[0] + 1j * drawn[1]).astype(dtype))
    if dtype.startswith("int"):
        return ft.from_numpy((100 * drawn[0]).astype(dtype))
    if dtype == "bfloat16":
        bits = drawn[0].astype("float32").view("uint32") >> 16
        return ft.from_numpy(bits.astype("int16")).view(ft.bfloat16)
    return ft.from_numpy(drawn[0].astype(dtype))


def bits(t: ft.Tensor) -> np.ndarray:
    """Returns a tensor in a dtype that NumPy can store."""
    return (t.view(ft.int16) if t.dtype is ft.bfloat16 else t).numpy()


def results() -> dict[str, np.ndarray]:
    """Runs every kind of launch for which tests/flow/intel_image.toml has a kernel."""
    tensors: dict[str, ft.Tensor] = {}
    for n in SIZES:
        for dtype in ("float32", "int32"):
            a, b = numbers(n, dtype, 1), numbers(n, dtype, 2)
            tensors |= {f"add {dtype} {n}": a + b, f"number {dtype} {n}": a * 3}
            tensors |= {f"maximum {dtype} {n}": a.maximum(b), f"lt {dtype} {n}": a < b}
            tensors |= {f"remainder {dtype} {n}": a.remainder(b), f"alpha {dtype} {n}": a.mul(b)}
        a, one = numbers(n, "float32", 1), numbers(1, "float32", 3)
        tensors |= {f"one {n}": a + one, f"other one {n}": one + a}
        tensors |= {f"arange {n}": ft.arange(5, 5 + 3 * n, 3)}
        for dtype in NARROW:
            a, b = numbers(n, dtype, 1), numbers(n, dtype, 2)
            tensors |= {f"mul {dtype} {n}": a * b, f"exp {dtype} {n}": a.exp()}
        a.mul_(a)
    m, k = numbers(60 * 70, "float32", 4).view(60, 70), numbers(70 * 60, "float32", 5).view(70, 60)
    tensors |= {"turned": m + k.t(), "part": m[3:, 5:61] * m[2:59, 7:63], "product": m @ k}
    tensors |= {"rows": m.sum(1), "all": numbers(100000, "float32", 6).sum(), "columns": m.sum(0)}
    tensors |= {"amax": m.amax(1), "argmax": m.argmax(1), "places": (m.view(-1) < k.view(-1)).nonzero()}
    tensors |= {"led": m[ft.tensor([3, -1, 0])], "steps": m[::2].contiguous()}
    z = numbers(60, "complex64", 7).view(6, 10)
    tensors |= {"complex part": z[:, 1:4] * z[:, 2:5]}
    rows = numbers(7 * 32, "complex64", 8).view(7, 32)
    tensors |= {"spectra": ft.fft.fft(rows), "signals": ft.fft.ifft(rows.t(), dim=0)}
    row, taps = (numbers(n, "float32", n).view(1, 1, n) for n in (9000, 5))
    tensors |= {"filtered": ft.nn.functional.conv1d(row, taps, stride=2, padding=3)}
    tensors |= dict(zip(("first", "places"), numbers(7 * 99, "float32", 9).view(7, 99).topk(5, 1)))
    return {name: bits(t) for name, t in tensors.items()}


if __name__ == "__main__":
    ft.set_fallback("error")
    np.savez(sys.argv[1], **results())
