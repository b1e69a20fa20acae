"""Ops on two and three inputs against torch: special values, on every target."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import ftensor as ft

from ..oracle import agree_on, torch
from ..targets import pairs

INF, NAN = float("inf"), float("nan")
EDGES = {
    "float": [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.0, 1e30, -1e-30, INF, -INF, NAN],
    "int": [0, 1, -1, 2, -3, 7, 63, -64, 100, -128, 127],
    "byte": [0, 1, 2, 3, 7, 8, 100, 128, 255],
    "bool": [False, True],
}
DTYPES = {
    "float32": "float",
    "float64": "float",
    "int8": "int",
    "int32": "int",
    "int64": "int",
    "uint8": "byte",
    "bool": "bool",
}
PLAIN = [
    "add", "sub", "mul", "div", "true_divide", "atan2", "copysign", "maximum", "minimum",
    "fmax", "fmin", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or",
    "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
    "bitwise_right_shift", "hypot", "xlogy", "special.xlog1py", "logaddexp", "logaddexp2",
    "heaviside", "gcd", "lcm", "pow", "nextafter", "clamp_min", "clamp_max",
]  # fmt: skip
NONZERO = ("remainder", "fmod", "floor_divide")


def every_pair(kind: str, name: str) -> tuple[Any, Any]:
    values = EDGES[kind]
    first, second = zip(*itertools.product(values, values))
    of = getattr(torch, name)
    return torch.tensor(first, dtype=of), torch.tensor(second, dtype=of)


# These may return either zero: in torch, whole vectors and remainders differ.
OPEN_ZEROS = ("fmax", "fmin", "maximum", "minimum", "clamp_min", "clamp_max")


def compare(op: str, *args: Any, atol: float = 1e-30, **kwargs: Any) -> None:
    """Asserts equal dtype, values and signs of zeros, or the same kind of exception."""
    which = op not in OPEN_ZEROS
    agree_on(op, *args, how={"rtol": 1e-5, "atol": atol, "zeros": which}, **kwargs)


@pytest.mark.parametrize(("op", "name"), pairs(PLAIN, list(DTYPES)))
def test_every_pair_of_edges(op: str, name: str) -> None:
    compare(op, *every_pair(DTYPES[name], name), atol=1e-7 if op == "logaddexp2" else 1e-30)


@pytest.mark.parametrize(("op", "name"), pairs(NONZERO, list(DTYPES)))
def test_division_of_every_pair(op: str, name: str) -> None:
    a, b = every_pair(DTYPES[name], name)
    if b.is_floating_point():  # torch's vector code gives NaN if the quotient overflows
        kept = ~((a / b).isinf() & a.isfinite() & (b != 0))
    else:  # and torch refuses a tensor with zeros
        kept = b != 0
    a, b = a[kept], b[kept]
    compare(op, a, b)
    if op == "floor_divide":
        compare("div", a, b, rounding_mode="floor")
        compare("div", a, b, rounding_mode="trunc")


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_fmod_is_exact_for_any_bits(name: str) -> None:
    rng = np.random.default_rng(7)
    a, b = (rng.integers(0, 256, 4000 * np.dtype(name).itemsize, np.uint8).view(name) for _ in range(2))
    tiny = np.finfo(name).tiny  # devices may flush smaller numbers to zero
    kept = (np.abs(a) > tiny) & (np.abs(b) > tiny)
    a, b = a[kept], b[kept]
    with np.errstate(invalid="ignore"):
        expected = np.fmod(a, b)
    expected[np.abs(expected) < tiny] = 0
    result = ft.fmod(ft.from_numpy(a), ft.from_numpy(b)).numpy().copy()
    result[np.abs(result) < tiny] = 0
    np.testing.assert_array_equal(result, expected)


def test_integers_divided_by_a_tensor_with_zeros_do_not_trap() -> None:
    a = ft.from_torch(torch.tensor([5, -(2**63), 7]))
    b = ft.from_torch(torch.tensor([0, -1, 2]))
    assert (a // b).tolist() == [-1, -(2**63), 3]
    assert (a % b).tolist() == [5, 0, 1]


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_lanes_of_pow_are_independent(name: str) -> None:
    """In rows of every length the remainder computes 0 ** 0, which corrupts other lanes in one
    library."""
    of = getattr(torch, name)
    for n in range(1, 18):
        base = torch.linspace(0.5, 9.5, n, dtype=of)
        compare("pow", base, torch.full((n,), 2.4, dtype=of))
        compare("pow", torch.cat([base, base[:1] * 0]), torch.cat([base - 4, base[:1] * 0]))


POWERS = (
    "0 -0 1 -1 2 -2 0.5 -0.5 inf -inf nan 3 -3 2.5 -2.5 1e-40 -1e-40 3e38 -3e38 1e30 8388609 "
    "16777217 -16777215 0.99999994 1.0000001 -0.99999994 1e-5 -1e-5"
)


def test_powers_of_float32() -> None:
    """Each special base with each special exponent, including signs of zeros. Other powers are
    within an ulp of double precision: all magnitudes, subnormals, and bases near 1 with a large
    exponent."""
    some = torch.tensor([float(word) for word in POWERS.split()])
    base, exponent = (t.reshape(-1) for t in torch.meshgrid(some, some, indexing="ij"))
    result = ft.pow(ft.from_torch(base), ft.from_torch(exponent)).to_torch()
    wanted = torch.pow(base.double(), exponent.double())
    assert result.signbit().logical_or(result.isnan()).equal(wanted.signbit().logical_or(wanted.isnan()))
    torch.testing.assert_close(result, wanted.float(), rtol=2.0**-22, atol=0, equal_nan=True)

    random = torch.Generator().manual_seed(0)
    u, v, w = (torch.rand(5000, generator=random) * 2 - 1 for _ in range(3))
    near, bits = 1 + u * 1e-4, ((v + 1) * 2**22).int().view(torch.float32)
    for x, y in (((87 * u).exp(), 3 * v), (near, 1e6 * w), (1 + u / 2, 140 * w), (bits, 2 * w)):
        exact = torch.pow(x.double(), y.double())
        inside = (exact > 2.0**-126) & (exact < 3e38)
        power = ft.pow(ft.from_torch(x), ft.from_torch(y)).to_torch().double()
        ulp = torch.exp2(exact.log2().floor() - 23)
        assert ((power - exact).abs() / ulp)[inside].max() <= 1


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 1.0, -2.0])
def test_lerp_is_exact_at_both_ends(weight: float) -> None:
    a, b = torch.tensor([1.0, -3.0, 1e8]), torch.tensor([2.5, 7.0, 3.0])
    compare("lerp", a, b, weight, atol=1e-6)
    compare("lerp", a, b, torch.full((3,), weight), atol=1e-6)
    assert ft.lerp(ft.from_torch(a), ft.from_torch(b), 1.0).to_torch().equal(b)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_nextafter_returns_the_adjacent_float(name: str) -> None:
    of = getattr(torch, name)
    values = torch.tensor([0.0, 1.0, -1.0, 2**-14, 2**-15, 3e4, 65504.0, INF, -INF, NAN]).to(of)
    for towards in (INF, -INF, 0.0, 1.0):
        compare("nextafter", values, torch.full_like(values, towards))
