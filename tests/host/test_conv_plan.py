"""Convolutions that compute several samples in one product."""

from __future__ import annotations

import pytest

import ftensor as ft
from ftensor.execute.conv_plan import Tap, TapGroup, batch_vectors_are_cheaper
from ftensor.kernels.skeletons.conv import ConvKey

KEY = ConvKey("conv", ft.float32, 16, 8, 2, 8)  # tiles of 32 positions


@pytest.mark.parametrize(
    ("shape", "filters", "stride", "gains"),
    [
        ((4, 512, 2, 2), 512, 1, True),  # 6 positions of a plane in a tile, 24 positions of four planes
        ((4, 256, 4, 4), 512, 2, True),
        ((32, 64, 4, 4), 64, 1, True),
        ((1, 512, 2, 2), 512, 1, False),  # only one sample
        ((4, 64, 16, 16), 64, 1, False),  # the number of tiles stays the same
        ((4, 3, 64, 64), 64, 2, False),
        ((4, 64, 2, 2), 8, 1, False),  # packing would cost more than the product saves
    ],
)
def test_samples_in_one_product(shape: tuple[int, int, int, int], filters: int, stride: int, gains: bool) -> None:
    """Windows of 3 x 3 with a padding of 1."""
    taps = tuple(Tap(3 * k + j, (0, k - 1, j - 1)) for k in range(3) for j in range(3))
    counts = tuple((n - 1) // stride + 1 for n in (1, *shape[2:]))
    one = TapGroup((0, 0, 0), counts, (1, 1, 1), taps)
    assert batch_vectors_are_cheaper(KEY, shape, filters, [one], (1, stride, stride)) is gains
