"""A small case of every kind of kernel for the run under Oclgrind: edges, remainders, odd layouts.

Oclgrind interprets each instruction and reports accesses outside a buffer and data races (see
conftest.py). Sizes are near the vector width, where kernels tend to overrun. On other devices the
same cases check only values.
"""

from __future__ import annotations

import numpy as np
import pytest

import ftensor as ft

pytestmark = pytest.mark.core

# Near the lanes of 64 bytes (16 float32, 64 uint8, 8 float64), and more than one slab.
SIZES = (1, 15, 16, 17, 67, 257)


def ramp(*shape: int, dtype: type = np.float32) -> np.ndarray:
    """Returns 1, 2, 3, ... in a shape, so that every element is unique."""
    return (np.arange(1, np.prod(shape, dtype=int) + 1) % 120).astype(dtype).reshape(shape)


def check(mine: ft.Tensor, expected: np.ndarray, tolerance: float = 1e-6) -> None:
    """Asserts equal shapes and values."""
    assert tuple(mine.shape) == np.shape(expected)
    np.testing.assert_allclose(mine.numpy(), expected, rtol=tolerance)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64, np.float16, np.complex64])
def test_map(size: int, dtype: type) -> None:
    """Whole vectors and a remainder, with lanes of every width."""
    a = ramp(size, dtype=dtype)
    check(ft.tensor(a) + ft.tensor(a), a + a, 1e-3)


@pytest.mark.parametrize("size", SIZES)
def test_map_with_a_scalar_and_a_mask(size: int) -> None:
    """A stride-0 operand, and bool results and operands."""
    a = ramp(size)
    t = ft.tensor(a)
    check(t * 2, a * 2)
    check(ft.where(t > 3, t, ft.tensor(-1.0)), np.where(a > 3, a, np.float32(-1)))


@pytest.mark.parametrize("offset", [1, 3])
def test_map_of_unaligned_views(offset: int) -> None:
    """A view that starts and ends inside a vector is read, and written in place."""
    a = ramp(50)
    t = ft.tensor(a)
    t[offset:-offset].add_(t[offset:-offset])
    a[offset:-offset] *= 2
    check(t, a)


def test_rows_and_strides() -> None:
    """Broadcast rows and columns, a transposed operand, and steps."""
    a, row, column = ramp(5, 19), ramp(19), ramp(5, 1)
    t = ft.tensor(a)
    check(t + ft.tensor(row), a + row)
    check(t * ft.tensor(column), a * column)
    check(t.t() + ft.tensor(ramp(19, 5)), a.T + ramp(19, 5))
    check(t[::2, ::3] + 1, a[::2, ::3] + 1)
    check(ft.tensor(ramp(2, 3, 4, 5)).permute(3, 1, 0, 2) * 2, ramp(2, 3, 4, 5).transpose(3, 1, 0, 2) * 2)


@pytest.mark.parametrize("dim", [0, 1, 2, (0, 2), (0, 1, 2)])
def test_reduce(dim: int | tuple[int, ...]) -> None:
    """Inner, outer, middle and all dims, with lengths that are no multiple of the lanes."""
    a = ramp(3, 7, 21)
    t = ft.tensor(a)
    check(t.sum(dim), a.sum(dim))
    check(t.amax(dim), a.max(dim))
    check(t.permute(2, 0, 1).sum(), a.sum())


@pytest.mark.parametrize("size", SIZES)
def test_reduce_to_one_and_find(size: int) -> None:
    """Slabs combine to one value; the index of the largest is found."""
    a = ramp(size)
    t = ft.tensor(a)
    check(t.sum(), a.sum(dtype=np.float64))
    assert t.argmax().item() == a.argmax()
    check(ft.tensor(ramp(4, size)).argmin(1), ramp(4, size).argmin(1))


@pytest.mark.parametrize("dtype", [ft.float64, ft.int32, ft.uint8, ft.bool, ft.bfloat16])
def test_convert_and_copy(dtype: ft.dtype) -> None:
    """Lanes of two widths, and a copy into a strided view."""
    a = ramp(3, 17)
    t = ft.tensor(a)
    check(t.to(dtype).to(ft.float32), a != 0 if dtype is ft.bool else a)
    target = ft.zeros(17, 3)
    target.t().copy_(t)
    check(target, a.T)


def test_gather_and_scatter() -> None:
    """Reads and writes by integers and masks, including first and last elements."""
    a = ramp(7, 9)
    index = np.array([6, 0, 3, 6])
    t, i = ft.tensor(a), ft.tensor(index)
    check(t[i], a[index])
    check(t[:, i], a[:, index])
    check(t[t > 30], a[a > 30])
    t[ft.tensor([0, 6])] = -1.0
    a[[0, 6]] = -1
    check(t, a)
    check(ft.cat([t, t[:2]]), np.concatenate([a, a[:2]]))
    check(t.flip(0).roll(2, 1), np.roll(a[::-1], 2, 1))


@pytest.mark.parametrize(("n", "k", "m"), [(1, 1, 1), (5, 17, 9), (33, 8, 20)])
def test_matmul(n: int, k: int, m: int) -> None:
    """The matrix does not fill its blocks."""
    a, b = ramp(n, k), ramp(m, k)
    check(ft.tensor(a) @ ft.tensor(b).t(), a @ b.T, 1e-5)
    check(ft.tensor(a).mv(ft.tensor(b[0])), a @ b[0], 1e-5)


def test_empty_tensors() -> None:
    none = ft.zeros(0, 3)
    check(none + 1, np.zeros((0, 3)))
    check(none.sum(0), np.zeros(3))
    check(none.sum(1), np.zeros(0))
