"""Conversions between dtypes have torch's bits: round to nearest even, NaN, overflow, wrap."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="torch is the oracle of these tests")

import ftensor as ft  # noqa: E402

from ..targets import EVERY_CASE, TURN  # noqa: E402

REALS = ("float64", "float32", "float16", "bfloat16")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64", "bool")
# Near the limits of each integer dtype, and far beyond.
ENDS = [s * (2.0**k + d) for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, 0, 1) for s in (1, -1)]
OUTSIDE = [*ENDS, torch.inf, -torch.inf, torch.nan, 1e30, -1e30, 3e9 + 5, -3e9 - 5, -0.5, -1.5, 300.9]


def every_kind(of: torch.dtype) -> torch.Tensor:
    """Returns halves between neighbouring 16-bit floats, random bits, subnormals, infinities,
    NaN."""
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
    """Values are equal without a tolerance, also halfway between two neighbours."""
    x = every_kind(getattr(torch, source))
    got = ft.from_torch(x).to(getattr(ft, target)).to_torch()
    torch.testing.assert_close(got, x.to(getattr(torch, target)), rtol=0, atol=0, equal_nan=True)


@pytest.mark.core
@pytest.mark.parametrize("source", REALS)
def test_out_of_range_conversions_agree_on_every_device(source: str) -> None:
    """C leaves the result undefined. torch on x86 has the instruction's result, and every device
    has the same.

    Rows use whole vectors; a strided view is compared, too.
    """
    x = torch.tensor(OUTSIDE, dtype=torch.float64).to(getattr(torch, source))
    mine = ft.from_torch(x)
    for target in INTEGERS if EVERY_CASE else INTEGERS[TURN % 2 :: 2]:
        into, of = getattr(ft, target), getattr(torch, target)
        assert mine.to(into).tolist() == x.to(of).tolist(), target
    assert mine[::3].to(ft.int16).tolist() == x[::3].to(torch.int16).tolist()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("size", [1, 7])
def test_layer_norm_of_16_bit_rounds_as_torch(dtype: torch.dtype, size: int) -> None:
    """For one element the rounding error of its product remains, as in torch."""
    torch.manual_seed(size)
    x, *factors = [(torch.rand(n, size) * 18 - 9).to(dtype) for n in (5, 1, 1)]
    weight, bias = (t[0] for t in factors)
    expected = torch.nn.functional.layer_norm(x, (size,), weight, None)
    mine = [ft.from_torch(t) for t in (x, weight, bias)]
    got = ft.nn.functional.layer_norm(mine[0], (size,), mine[1])
    torch.testing.assert_close(got.to_torch(), expected)
    expected = torch.nn.functional.layer_norm(x, (size,), weight, bias)
    torch.testing.assert_close(ft.nn.functional.layer_norm(mine[0], (size,), *mine[1:]).to_torch(), expected)
