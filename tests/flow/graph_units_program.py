"""Program of the tests of graphs with several compute units. It prints a digest of each result,
whose rows have the bits of calls with that row alone. With the word "banks" it also prints the
banks of the operands to stderr."""

from __future__ import annotations

import sys
from hashlib import sha256

import numpy as np

import ftensor as ft

# Rows of whole beats, and rows of which every second one starts inside a beat.
LENGTHS = (1000, 1024)
ROWS = (1, 3, 57, 2001, 4100)


def scaled(x: ft.Tensor, w: ft.Tensor) -> tuple[ft.Tensor, ft.Tensor]:
    means = x.mean(-1, keepdim=True)
    return (x - means) * w, means.squeeze(-1)


def rows_in_blocks(x: ft.Tensor, w: ft.Tensor) -> ft.Tensor:
    d = x[:, None] - w
    return (d * d).amax(-1)


def operands(rows: int, length: int) -> list[np.ndarray]:
    draw = np.random.default_rng(rows + length).standard_normal
    return [draw(shape).astype(np.float32) for shape in ((rows, length), (length,))]


def main() -> None:
    function = ft.jit(scaled)
    for length in LENGTHS:
        for rows in ROWS:
            given = operands(rows, length)
            tensors = [ft.from_numpy(a) for a in given]
            result, means = function(*tensors)
            (kernel,) = function.graph(*tensors).kernels
            assert kernel.startswith("staged"), kernel
            if "banks" in sys.argv:
                banks = [t._storage.handle.bank for t in (result, means, *tensors)]
                print(f"bank of {rows} x {length}: {', '.join(banks)}", file=sys.stderr)
            for row in {0, rows // 4, rows // 2, rows - 1}:
                alone, mean = function(ft.from_numpy(given[0][row : row + 1].copy()), tensors[1])
                assert (np.array(alone) == np.array(result)[row]).all(), (rows, length, row)
                assert np.array(mean) == np.array(means)[row], (rows, length, row)
            wanted = given[0].mean(-1, keepdims=True)
            assert np.allclose(np.array(result), (given[0] - wanted) * given[1], atol=1e-5), (rows, length)
            digest = sha256(np.array(result).tobytes() + np.array(means).tobytes()).hexdigest()
            print(rows, length, digest[:16])


if __name__ == "__main__":
    main()
