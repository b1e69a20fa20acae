"""What tests/flow/test_fft_stream.py runs on an image: the largest error of all transforms."""

from __future__ import annotations

import numpy as np

import ftensor as ft

# (shape, dim): more rows than stages, fewer, one; the longest and the shortest; along columns.
CASES = (((21, 64), -1), ((3, 8), -1), ((1, 4), -1), ((5, 2), -1), ((32, 7), 0), ((2, 3, 16), 2))


def errors() -> list[float]:
    """Of each case, forward and back, relative to the largest value."""
    rng, found = np.random.default_rng(0), []
    for shape, dim in CASES:
        x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("complex64")
        for name in ("fft", "ifft"):
            made = getattr(ft.fft, name)(ft.tensor(x), dim=dim, norm="ortho").numpy()
            right = getattr(np.fft, name)(x.astype("complex128"), axis=dim, norm="ortho")
            found.append(float(abs(made - right).max() / abs(right).max()))
    return found


if __name__ == "__main__":
    ft.set_fallback("error")
    print(max(errors()))
