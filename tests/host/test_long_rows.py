"""CPUs interchange loops if rows would be shorter than vectors."""

from __future__ import annotations

from ftensor.kernels.select import LONG_ROW_VECTORS, MAX_CACHED_ELEMENTS, long_rows


def test_longest_dim_becomes_innermost() -> None:
    shape, strides = long_rows((512, 4), ((4, 1), (16, 2), (0, 0)), 16)
    assert (shape, strides) == ((4, 512), ((1, 4), (2, 16), (0, 0)))


def test_contiguous_dim_is_preferred_in_large_nests() -> None:
    for first in (128, MAX_CACHED_ELEMENTS):
        shape, strides = long_rows((first, 128, 9), ((1152, 9, 1), (1152, 1, 128)), 16)
        assert (shape, strides) == ((first, 9, 128), ((1152, 1, 9), (1152, 128, 1)))


def test_long_many_or_single_rows_are_not_interchanged() -> None:
    for shape in ((512, 16), (MAX_CACHED_ELEMENTS, 4), (16 * LONG_ROW_VECTORS - 1, 4), (4,)):
        strides = (tuple(range(len(shape), 0, -1)),)
        assert long_rows(shape, strides, 16) == (shape, strides)
