"""Loops are exchanged on CPUs if rows would be parts of vectors."""

from __future__ import annotations

from ftensor.kernels.select import LONG_ROW_VECTORS, MAX_CACHED_ELEMENTS, long_rows


def test_the_longest_dim_becomes_the_row_and_visits_the_same() -> None:
    shape, strides = long_rows((512, 4), ((4, 1), (16, 2), (0, 0)), 16)
    assert (shape, strides) == ((4, 512), ((1, 4), (2, 16), (0, 0)))


def test_a_dim_in_which_an_operand_is_contiguous_is_preferred_also_in_large_nests() -> None:
    for first in (128, MAX_CACHED_ELEMENTS):
        shape, strides = long_rows((first, 128, 9), ((1152, 9, 1), (1152, 1, 128)), 16)
        assert (shape, strides) == ((first, 9, 128), ((1152, 1, 9), (1152, 128, 1)))


def test_rows_that_are_long_or_many_or_alone_stay() -> None:
    for shape in ((512, 16), (MAX_CACHED_ELEMENTS, 4), (16 * LONG_ROW_VECTORS - 1, 4), (4,)):
        strides = (tuple(range(len(shape), 0, -1)),)
        assert long_rows(shape, strides, 16) == (shape, strides)
