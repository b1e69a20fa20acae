"""What the tests of linked graphs run: "run", which prints a digest of each result, and "stuck"."""

from __future__ import annotations

import sys
from hashlib import sha256

import numpy as np

import ftensor as ft

LENGTH = 600  # in rows of 38 beats, the last one filled up


def centred(x: ft.Tensor) -> ft.Tensor:
    """A fold, whose order is the kernel's own and which takes a number, and elements behind it."""
    return x - x.mean(-1, keepdim=True)


def drawn(rows: int) -> np.ndarray:
    return np.random.default_rng(rows).standard_normal((rows, LENGTH)).astype(np.float32)


def run() -> None:
    jitted = ft.jit(centred)
    for rows in (1, 2, 9):
        x = drawn(rows)
        (kernel,) = jitted.graph(ft.from_numpy(x)).kernels
        assert kernel.startswith("staged "), kernel
        got = jitted(ft.from_numpy(x)).numpy()
        np.testing.assert_allclose(got, x - x.mean(-1, keepdims=True), rtol=1e-4, atol=1e-6)
        print(rows, sha256(got.tobytes()).hexdigest())


def stuck() -> None:
    x = ft.from_numpy(drawn(3))
    for _ in range(2):
        try:
            ft.jit(centred)(x)
        except RuntimeError as error:
            print(error)


if __name__ == "__main__":
    {"run": run, "stuck": stuck}[sys.argv[1]]()
