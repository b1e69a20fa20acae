"""Max pooling by vectors of windows, forward and backward, on every device, also where ops use
other kernels."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor._device import default_backend  # noqa: E402
from ftensor.execute import layers as execute  # noqa: E402
from ftensor.ops.nn.spatial.pool import pool_of  # noqa: E402
from ftensor.runtime.launch_cache import LaunchTable  # noqa: E402

from ..oracle import ours, same  # noqa: E402

# Shape, kernel, stride, dilation. Several rows in a vector, the last of which is moved back; planes
# of fewer windows than lanes; parts of rows that overlap; elements in no window; windows that share
# rows; vectors over several planes.
CASES: dict[str, tuple[Any, ...]] = {
    "rows together": ((3, 5, 6, 8), (2, 2)),
    "planes together": ((2, 9, 4, 4), (2, 2)),
    "one window a row": ((7, 6, 2), (3, 2)),
    "one window": ((1, 2, 2), (2, 2)),
    "parts of rows": ((2, 6, 74), (2, 2)),
    "elements left out": ((2, 3, 7, 15), (2, 2)),
    "rows of three elements": ((2, 3, 21), (3,)),
    "rows that windows share": ((2, 7, 12), (2, 2), (1, 2)),
    "lines apart": ((2, 9, 20), (2, 2), (3, 2), (3, 1)),
    "deep": ((2, 4, 3, 10), (2, 1, 2)),
    "flat": ((2, 3, 4, 8), (1, 2, 2)),
}
CORE = ("rows together", "parts of rows")


def inputs(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """Returns values with many ties, and NaNs, some of them in one window."""
    torch.manual_seed(0)
    x = torch.randint(-2, 3, shape).to(dtype)
    x.view(-1)[::11] = math.nan
    x.view(-1)[1::22] = math.nan
    return x


def check(
    dtype: torch.dtype,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...] | None = None,
    dilation: tuple[int, ...] | int = 1,
) -> None:
    """Compares the kernels themselves with torch."""
    if default_backend().images is not None:
        pytest.skip("images lack these kernels: ops go another way there")
    n, x = len(kernel), inputs(shape, dtype)
    call = getattr(torch.nn.functional, f"max_pool{n}d")
    wanted = call(x, kernel, stride, 0, dilation, return_indices=True)
    pool = pool_of("max_pool", n, ours(x), kernel, stride, 0, dilation, False)
    assert pool.plane_windows is not None
    results = execute.max_pool(ours(x), pool.plane_windows, pool.shape)
    same(results, wanted, exact=True)
    if not pool.tiles:
        return
    grad = torch.arange(1, wanted[0].numel() + 1).reshape(pool.shape).to(dtype)
    back = execute.max_pool_back(ours(grad), results[1], pool.plane_windows, shape)
    rows, places = torch.zeros(shape, dtype=dtype), wanted[1].flatten(-n)
    rows.flatten(-n).scatter_(-1, places, grad.flatten(-n))
    same(back, rows, exact=True)


@pytest.mark.parametrize("case", [pytest.param(c, marks=[pytest.mark.core] if c in CORE else []) for c in CASES])
def test_maxima_of_windows_are_torchs(case: str) -> None:
    check(torch.float32, *CASES[case])


DTYPES = {torch.float64: CORE[0], torch.float16: CORE[1], torch.bfloat16: CORE[0]}


@pytest.mark.parametrize("dtype", DTYPES)
def test_maxima_of_each_dtype_are_torchs(dtype: torch.dtype) -> None:
    check(dtype, *CASES[DTYPES[dtype]])


@pytest.mark.parametrize("case", CORE)
def test_vector_kernels_on_devices_without_their_launches(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both dialects compile the same text."""
    backend, key = default_backend(), execute.max_pool_key
    if backend.target.dialect != "vitis" or backend.images is not None:
        pytest.skip("vectors are tested by all other tests here, or an image lacks the kernels")
    monkeypatch.setattr(backend, "launches", LaunchTable(backend.synchronize))
    monkeypatch.setattr(execute, "max_pool_key", lambda *args: key(*args[:-1], True))
    check(torch.float32, *CASES[case])


def test_offsets_and_several_units(monkeypatch: pytest.MonkeyPatch) -> None:
    """The input has any offset, and there is work for all units."""
    monkeypatch.setattr(execute, "WINDOWS", 0.0005)
    x = inputs((4, 5, 6, 16), torch.float32).nan_to_num(7)
    whole = ours(x)
    mine = (ft.max_pool2d(whole[1:], 2), ft.nn.functional.max_pool2d(whole[1:], (1, 2), return_indices=True))
    wanted = (torch.max_pool2d(x[1:], 2), torch.nn.functional.max_pool2d(x[1:], (1, 2), return_indices=True))
    same(mine, wanted, exact=True)
