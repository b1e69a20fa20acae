"""Conversions between dtypes give torch's bits: rounding to nearest even, NaN, overflow, wrap."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402

REALS = ("float64", "float32", "float16", "bfloat16")


def every_kind(of: torch.dtype) -> torch.Tensor:
    """Halves between neighbouring 16-bit floats, random bits, subnormals, infinities, NaN."""
    torch.manual_seed(0)
    bits = torch.randint(-(2**31), 2**31 - 1, (4000,), dtype=torch.int32).view(torch.float32)
    ties = torch.arange(-600, 600, dtype=torch.int32) * 0x8000 + 0x3F800000
    halves = torch.arange(-600, 600, dtype=torch.int32) * 0x1000 + 0x3F800000
    edges = torch.tensor([0.0, -0.0, 1e-40, 6e-8, 65504, 65519.9, 65520, 3.4e38, torch.inf])
    parts = [bits, ties.view(torch.float32), halves.view(torch.float32), edges, -edges]
    return torch.cat([*parts, torch.tensor([torch.nan])]).to(of)


@pytest.mark.parametrize("source", REALS)
@pytest.mark.parametrize("target", REALS)
def test_floats_are_rounded_to_nearest_even(source: str, target: str) -> None:
    """No tolerance: the values are the same, also where two neighbours are equally near."""
    x = every_kind(getattr(torch, source))
    got = ft.from_torch(x).to(getattr(ft, target)).to_torch()
    torch.testing.assert_close(got, x.to(getattr(torch, target)), rtol=0, atol=0, equal_nan=True)
