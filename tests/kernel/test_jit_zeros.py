"""Zeros of both signs in fused kernels. A maximum of 0 and -0 is the first of them in the order of
the op's own kernel. Each value between two ops has the sign that memory would have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ftensor as ft

from .test_jit_guards import Function


def half(x: ft.Tensor, y: ft.Tensor) -> Any:
    x.lerp_(x, 0.5)
    return x.amax(0), x.amin(1), x


def quarter(x: ft.Tensor, y: ft.Tensor) -> Any:
    x.lerp_(y, 0.25)
    return x.amax(0), x.amax(1), x


def product(x: ft.Tensor, y: ft.Tensor) -> Any:
    x.mul_(-1)
    return ft.maximum(x, y).amax(0), ft.minimum(x, y).amin(0)


def first_index(x: ft.Tensor, y: ft.Tensor) -> Any:
    return (-ft.nn.functional.relu(x - y)).max(0)


# Sizes below, at and beyond the lanes of a vector; a row in a lane, and rows of several vectors.
SIZES = [(3, 17), (16, 16), (15, 33), (33, 1), (129, 31), (257, 5), (5, 257)]
# Zeros, and subnormal numbers whose products are zeros.
VALUES = np.array([0.0, -0.0, 0.0, -0.0, 1e-40, -1e-40], np.float32)


def tensor_in_layout(values: np.ndarray, layout: str) -> ft.Tensor:
    """Returns a bfloat16 tensor of these values: contiguous, transposed, or a transposed window."""
    if layout == "contiguous":
        return ft.tensor(values).to(ft.bfloat16)
    rows = ft.tensor(np.ascontiguousarray(values.T)).to(ft.bfloat16)
    if layout == "window":
        wide = ft.zeros(rows.shape[0], rows.shape[1] + 5, dtype=ft.bfloat16)
        wide[:, 3 : rows.shape[1] + 3] = rows
        rows = wide[:, 3 : rows.shape[1] + 3]
    return rows.t()


def bits(t: ft.Tensor) -> Any:
    return t.contiguous().view(ft.int16).tolist() if t.dtype is ft.bfloat16 else t.tolist()


CASES = [(half, "transposed"), (half, "window"), (quarter, "transposed")]
MORE = [(half, "contiguous"), (quarter, "window"), (quarter, "contiguous")]
MORE += [(function, layout) for function in (product, first_index) for layout in ("transposed", "window", "contiguous")]


@pytest.mark.core
@pytest.mark.parametrize(
    ("function", "layout"),
    [*CASES, *(pytest.param(*case, marks=pytest.mark.long) for case in MORE)],
    ids=lambda of: of if isinstance(of, str) else of.__name__,
)
def test_signs_of_zeros(function: Function, layout: str) -> None:
    """All bits equal those of the separate ops."""
    draw = np.random.default_rng(17)
    jitted = ft.jit(function)
    signs = set()
    for size in SIZES:
        for kinds in (2, 6):
            values, others = (VALUES[draw.integers(0, kinds, size)] for _ in range(2))
            eager = function(tensor_in_layout(values, layout), tensor_in_layout(others, "transposed"))
            graph = jitted(tensor_in_layout(values, layout), tensor_in_layout(others, "transposed"))
            assert list(map(bits, graph)) == list(map(bits, eager)), (size, kinds)
            signs |= {bit for row in eager for bit in np.ravel(bits(row)).tolist()}
    assert function is first_index or {0, -(1 << 15)} <= signs, "zeros of both signs"
