"""Program of tests/flow/test_every_dtype.py: fills, copies, converts, compares and writes parts of
tensors of every dtype.

python tests/flow/dtypes_program.py OUT.npz [DTYPE...]    all dtypes, unless some are named
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

import ftensor as ft

DTYPES = tuple(sorted({str(d)[8:] for d in vars(ft).values() if isinstance(d, ft.dtype)}))
# Every dtype can represent these values exactly.
VALUES = [0, 1, 2, 1, 3, 0, 2, 1]


def steps(d: ft.dtype) -> Iterator[tuple[str, ft.Tensor]]:
    """Runs the program in a dtype, and returns its tensors by name."""
    x = ft.tensor(VALUES, dtype=ft.float32).to(d)
    yield "fill", ft.full((6,), 2, dtype=d)
    yield "zeros", ft.zeros(6, dtype=d)
    yield "copy", x.clone()
    yield "strided copy", x.view(2, 4).t().contiguous()
    yield "from float32", x
    yield "from int64", ft.arange(4).to(d)
    yield "to float32", (x.to(ft.complex64).real.clone() if d.is_complex else x.to(ft.float32))
    yield "to bool", x.to(ft.bool)
    yield "compare", x == x.roll(1)
    yield "compare with a number", x != 1
    for what, key, value in (
        ("number", 2, 1),
        ("steps", slice(1, 7, 2), 0),
        ("part", slice(0, 4), x[4:]),
        ("list", ft.tensor([0, 3]), x[2:4]),
    ):
        y = x.clone()
        y[key] = value
        yield f"setitem of a {what}", y
    if d in (ft.uint16, ft.uint32, ft.uint64):
        yield "arithmetic", (x * 3 - 1) >> 1
        yield "amax", (x - 1).amax(0, keepdim=True)
        yield "cumsum", x.cumsum(0, dtype=d)
        yield "sort", (x - 1).sort().values


if __name__ == "__main__":
    names = sys.argv[2:] or DTYPES
    results = {f"{name}, {what}": t for name in names for what, t in steps(getattr(ft, name))}
    np.savez(sys.argv[1], **{name: t.view(ft.uint8).numpy() for name, t in results.items()})
