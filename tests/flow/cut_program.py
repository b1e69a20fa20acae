"""Program of tests/flow/test_split_graphs.py: graphs that are split at an op that needs all its data first.
It prints the kernels and a digest of each result; "ranked" runs an op that the image lacks."""

from __future__ import annotations

import sys
from hashlib import sha256

import numpy as np

import ftensor as ft


def attended(x: ft.Tensor, w: ft.Tensor) -> tuple[ft.Tensor, ...]:
    """Rows of 40, a product, rows of 48. Ops that the product does not need are grouped with those
    before it."""
    y = (x - x.amax(-1, keepdim=True)).square()
    z = y @ w
    z = (z - z.amin(-1, keepdim=True)) * 0.5
    return z, x.abs().amax(-1) + 1


def ranked(x: ft.Tensor) -> ft.Tensor:
    """Starts like `attended` and ends with an op whose kernel no image has."""
    return (x - x.amax(-1, keepdim=True)).square().cumsum(-1)


def operands() -> tuple[np.ndarray, np.ndarray]:
    """Returns small integers, so that sums are exact in any order."""
    random = np.random.default_rng(0)
    x, w = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((20, 40), (40, 48)))
    return x, w


def wanted() -> tuple[np.ndarray, ...]:
    """Returns `attended` computed by NumPy."""
    x, w = operands()
    z = (x - x.max(-1, keepdims=True)) ** 2 @ w
    return (z - z.min(-1, keepdims=True)) * np.float32(0.5), np.abs(x).max(-1) + 1


def main() -> None:
    """Runs the graph that an image has, and prints its kernels."""
    x, w = map(ft.from_numpy, operands())
    jitted = ft.jit(attended)
    print(*[kernel.split()[0] for kernel in jitted.graph(x, w).kernels])
    for result, right in zip(jitted(x, w), wanted(), strict=True):
        np.testing.assert_array_equal(result.numpy(), right)
        print(sha256(result.numpy().tobytes()).hexdigest())


def lacking() -> None:
    """Runs the function with an op that no image has, twice."""
    array, _ = operands()
    right = ((array - array.max(-1, keepdims=True)) ** 2).cumsum(-1)
    for _ in range(2):
        np.testing.assert_array_equal(ft.jit(ranked)(ft.from_numpy(array)).numpy(), right)


if __name__ == "__main__":
    lacking() if sys.argv[1:] == ["ranked"] else main()
