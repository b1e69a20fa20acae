"""Tensors beyond 32-bit indexing are split into pieces, with nothing lost at the boundaries."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ftensor as ft
from ftensor.execute import pointwise
from ftensor.kernels import select

BEYOND = 2**31 + 77
split = pointwise.split


@pytest.mark.long
def test_more_than_two_to_the_31_elements() -> None:
    """Each has one byte. The values at both ends and at the boundary are checked."""
    total = ft.fpga.get_device_properties(0).total_memory
    if total < 4 * BEYOND:
        pytest.skip(f"needs {4 * BEYOND >> 30} GiB of device memory, this device has {total >> 30}")
    a = ft.tensor([3], dtype=ft.uint8).expand(BEYOND)
    result = a + 4
    assert result.shape == (BEYOND,)
    for at in (0, 1, 2**31 - 65, 2**31 - 1, 2**31, BEYOND - 1):
        assert result[at].item() == 7
    result[2**31 + 5 :].mul_(2)
    assert result[2**31 + 3 : 2**31 + 7].tolist() == [7, 7, 14, 14]


@settings(max_examples=30)
@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.integers(5, 40), st.booleans())
def test_pieces_cover_all_elements(shape: list[int], limit: int, transposed: bool) -> None:
    """The limit is small instead of 2^31, and every element is computed once."""
    a = ft.arange(ft.Size(shape).numel()).reshape(shape)
    if transposed:
        a = a.transpose(0, -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pointwise, "split", lambda s, t: split(s, t, limit))
        patch.setattr(select, "needs_split", lambda plan: True)
        a._storage.backend.launches.clear()
        twice = a + a
        a._storage.backend.launches.clear()
    assert twice.tolist() == (a * 2).tolist()
