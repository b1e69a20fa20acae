"""Resized images with two neighbours along a dim: one kernel for each dim, with the bits of the
separate ops that a device without this kernel runs."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402
from ftensor._device import default_backend  # noqa: E402
from ftensor.execute.dispatch import observed  # noqa: E402
from ftensor.ops.nn.spatial import interpolate  # noqa: E402

from ..oracle import ours  # noqa: E402
from .test_fused_ops import Kernels  # noqa: E402

CASES: list[tuple[tuple[int, ...], tuple[int, ...], str]] = [
    ((2, 3, 9), (14,), "linear"),
    ((1, 2, 9), (4,), "linear"),
    ((1, 3, 7, 6), (14, 12), "bilinear"),
    ((2, 1, 7, 6), (3, 11), "bilinear"),
    ((1, 2, 1, 5), (3, 1), "bilinear"),
    ((1, 1, 1, 1), (4, 4), "bilinear"),
    ((1, 2, 2, 2), (7, 2), "bilinear"),
    ((1, 2, 3, 4, 5), (6, 5, 3), "trilinear"),
]
# In torch, uint8 images have two spatial dims.
EACH = [(*case, torch.float32) for case in CASES] + [
    (*case, dtype) for case in CASES[2:5] for dtype in (torch.float64, torch.float16, torch.uint8)
]


def image(shape: tuple[int, ...], dtype: torch.dtype) -> Any:
    torch.manual_seed(len(shape))
    values = torch.randn(shape) * 40
    return values.abs().clamp(0, 255).to(dtype) if dtype is torch.uint8 else values.to(dtype)


def resized(source: Any, how: dict[str, Any]) -> tuple[Any, list[str]]:
    """Returns the result and the kernels that ran."""
    x, seen = ours(source), Kernels()
    with observed(default_backend(), seen):
        result = ft.nn.functional.interpolate(x, **how)
    return result.to_torch(), seen.steps


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize(("shape", "size", "mode", "dtype"), EACH)
def test_one_kernel_for_each_dim(
    shape: tuple[int, ...],
    size: tuple[int, ...],
    mode: str,
    dtype: torch.dtype,
    corners: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, how = image(shape, dtype), {"size": size, "mode": mode, "align_corners": corners}
    result, steps = resized(source, how)
    torch.testing.assert_close(result, torch.nn.functional.interpolate(source, **how))
    plain = dtype in (torch.float32, torch.float64)  # other dtypes are converted; bytes are rounded, too
    if default_backend().images is None:
        assert [s for s in steps if plain or s == "lerp_at"] == ["lerp_at"] * len(size)
    if plain:  # zero times infinity is NaN, except where there is no second neighbour
        source[..., -1], source[..., 0] = float("inf"), float("nan")
        result, _ = resized(source, how)
    monkeypatch.setattr(interpolate, "is_supported", lambda *_: False)
    parts, steps = resized(source, how)
    assert "lerp_at" not in steps
    torch.testing.assert_close(result, parts, rtol=0, atol=0, equal_nan=True)


def test_other_neighbours_use_separate_ops() -> None:
    """Antialiased results, and results with one neighbour or neighbours that are not adjacent."""
    how = {"size": (4, 4), "mode": "bilinear", "antialias": True}
    assert "lerp_at" not in resized(image((1, 2, 6, 6), torch.float32), how)[1]
