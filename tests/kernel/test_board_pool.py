"""Pooling as boards compute it, from strips of planes. It runs on devices that represent a board,
and is compared with torch everywhere."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor._device import default_backend  # noqa: E402
from ftensor.execute.sort import is_board as on_board  # noqa: E402
from ftensor.kernels.skeletons.pool import PoolKey  # noqa: E402
from ftensor.runtime.launch_cache import is_available  # noqa: E402
from ftensor.toolchain import trace  # noqa: E402

from ..oracle import ours, same  # noqa: E402

# Shape, kernel, stride, padding, dilation, ceil_mode. Groups of 8 and 16 windows, and single
# windows; windows that overlap, skip elements, or are partly outside the plane; planes of several
# strips.
CASES: dict[str, tuple[Any, ...]] = {
    "halves": ((3, 26, 37), 2),
    "shared": ((2, 2, 20, 35), 3, 2, 1),
    "every place": ((1, 2, 9, 40), 3, 1, 1),
    "apart": ((2, 9, 20), (2, 2), (3, 2), 0, (3, 1)),
    "one more": ((2, 15, 15), 2, 2, 0, 1, True),
    "a window": ((4, 7, 7), 7),
    "elements": ((2, 5, 40), 1, (2, 17)),
    "bands": ((1, 90, 200), 3, (2, 9), 1),
}
CORE = ("halves", "shared")
EACH = [pytest.param(c, marks=[pytest.mark.core] if c in CORE else []) for c in CASES]
F, T = ft.nn.functional, torch.nn.functional


def boards() -> bool:
    """Returns whether the device has the kernel."""
    return on_board(ft.zeros(1)) and is_available(default_backend(), PoolKey(ft.float32))


def planes(shape: tuple[int, ...]) -> torch.Tensor:
    """Returns values with many ties, and NaNs, some in one window. Libraries report different
    indices of NaNs."""
    torch.manual_seed(0)
    x = torch.randint(-2, 3, shape).float()
    if boards():
        x.view(-1)[::11] = math.nan
        x.view(-1)[1::22] = math.nan
    return x


@pytest.mark.parametrize("case", EACH)
def test_maxima_and_indices(case: str) -> None:
    shape, *window = CASES[case]
    x = planes(shape)
    wanted = T.max_pool2d(x, *window, return_indices=True)
    same(F.max_pool2d(ours(x), *window, return_indices=True), wanted, exact=True)
    same(F.max_pool2d(ours(x), *window), wanted[0], exact=True)


@pytest.mark.parametrize("case", [c for c in CASES if c != "apart"])
def test_averages_count_padding_as_torch(case: str) -> None:
    """With and without padding in the count, and with a given divisor. A board's kernel has torch's
    bits, since both sum a window's elements in order."""
    shape, kernel, *window = CASES[case]
    words = {"stride": window[0] if window else None, "padding": window[1] if len(window) > 1 else 0}
    x = planes(shape).nan_to_num(0.3) / 3
    for more in ({}, {"count_include_pad": False}, {"divisor_override": 3}):
        options = {**words, "ceil_mode": case == "one more", **more}
        wanted = T.avg_pool2d(x, kernel, **options)
        same(F.avg_pool2d(ours(x), kernel, **options), wanted, exact=boards())


@pytest.mark.parametrize("of", [torch.uint8, torch.float16])
def test_pools_of_each_dtype_are_torchs(of: torch.dtype) -> None:
    x = torch.arange(-5, 595).reshape(2, 20, 15).to(of)
    same(F.max_pool2d(ours(x), 2), T.max_pool2d(x, 2), exact=True)


def test_rows_and_a_slice() -> None:
    """One-dimensional windows, and planes that begin inside a beat."""
    x = planes((5, 3, 50))
    wanted = T.max_pool1d(x[1:], 3, 2, 1, return_indices=True)
    same(F.max_pool1d(ours(x)[1:], 3, 2, 1, return_indices=True), wanted, exact=True)


def test_board_uses_one_launch_if_a_strip_holds_the_windows() -> None:
    """It uses several launches otherwise: for planes with gaps, and for rows that are too long."""
    if not boards():
        pytest.skip("no board, or an image without a kernel for it")
    x = ours(planes((2, 12, 12)))
    with trace.recording(1) as seen:
        F.max_pool2d(x, 2, return_indices=True), F.avg_pool2d(x, 2)
    assert [launch.key.entry for launch in seen.launches] == ["ft_pool_float32"] * 2
    for refused in (x.transpose(1, 2), ft.zeros(1, 3, 5000)):
        with trace.recording(1) as seen:
            F.max_pool2d(refused, 2)
        assert "ft_pool_float32" not in [launch.key.entry for launch in seen.launches]
