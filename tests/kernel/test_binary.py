"""Ops on two and three inputs against torch: special values, numbers, promotion, refusals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import ftensor as ft

torch = pytest.importorskip("torch")

INF, NAN = float("inf"), float("nan")
EDGES = {
    "float": [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.0, 1e30, -1e-30, INF, -INF, NAN],
    "int": [0, 1, -1, 2, -3, 7, 63, -64, 100, -128, 127],
    "byte": [0, 1, 2, 3, 7, 8, 100, 128, 255],
    "bool": [False, True],
}
DTYPES = {
    "float32": "float", "float64": "float", "int8": "int", "int32": "int", "int64": "int",
    "uint8": "byte", "bool": "bool",
}  # fmt: skip
PLAIN = [
    "add", "sub", "mul", "div", "true_divide", "atan2", "copysign", "maximum", "minimum",
    "fmax", "fmin", "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or",
    "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
    "bitwise_right_shift", "hypot", "xlogy", "special.xlog1py", "logaddexp", "logaddexp2",
    "heaviside", "gcd", "lcm", "pow", "nextafter", "clamp_min", "clamp_max",
]  # fmt: skip
NONZERO = ("remainder", "fmod", "floor_divide")


def pairs(kind: str, name: str) -> tuple[Any, Any]:
    values = EDGES[kind]
    first, second = zip(*itertools.product(values, values))
    of = getattr(torch, name)
    return torch.tensor(first, dtype=of), torch.tensor(second, dtype=of)


def compare(op: str, *args: Any, atol: float = 1e-30, **kwargs: Any) -> None:
    """The same call in both libraries: equal dtype and values, or the same kind of refusal."""
    theirs, ours = torch, ft
    for part in op.split("."):
        theirs, ours = getattr(theirs, part), getattr(ours, part)
    given = [ft.from_torch(a) if isinstance(a, torch.Tensor) else a for a in args]
    try:
        expected = theirs(*args, **kwargs)
    except (RuntimeError, TypeError) as e:
        with pytest.raises(RuntimeError if isinstance(e, RuntimeError) else TypeError):
            ours(*given, **kwargs)
        return
    found = ours(*given, **kwargs).to_torch()
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found, expected, equal_nan=True, rtol=1e-5, atol=atol)
    if not expected.is_complex() and op not in ("fmax", "fmin", "maximum", "minimum"):
        zero = expected == 0
        assert torch.equal(found.signbit() & zero, expected.signbit() & zero), "sign of a zero"


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("op", PLAIN)
def test_every_pair_of_edges(op: str, name: str) -> None:
    compare(op, *pairs(DTYPES[name], name), atol=1e-7 if op == "logaddexp2" else 1e-30)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("op", NONZERO)
def test_division_of_every_pair(op: str, name: str) -> None:
    a, b = pairs(DTYPES[name], name)
    if b.is_floating_point():  # torch's vector code has NaN where the quotient overflows
        kept = ~((a / b).isinf() & a.isfinite() & (b != 0))
    else:  # and refuses a tensor with zeros
        kept = b != 0
    a, b = a[kept], b[kept]
    compare(op, a, b)
    if op == "floor_divide":
        compare("div", a, b, rounding_mode="floor")
        compare("div", a, b, rounding_mode="trunc")


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_fmod_is_exact_for_any_bits(name: str) -> None:
    rng = np.random.default_rng(7)
    a, b = (
        rng.integers(0, 256, 4000 * np.dtype(name).itemsize, np.uint8).view(name) for _ in range(2)
    )
    tiny = np.finfo(name).tiny  # devices may flush what is smaller
    kept = (np.abs(a) > tiny) & (np.abs(b) > tiny)
    a, b = a[kept], b[kept]
    with np.errstate(invalid="ignore"):
        expected = np.fmod(a, b)
    expected[np.abs(expected) < tiny] = 0
    found = ft.fmod(ft.from_numpy(a), ft.from_numpy(b)).numpy().copy()
    found[np.abs(found) < tiny] = 0
    np.testing.assert_array_equal(found, expected)


def test_integers_divided_by_a_tensor_with_zeros_do_not_trap() -> None:
    a = ft.from_torch(torch.tensor([5, -(2**63), 7]))
    b = ft.from_torch(torch.tensor([0, -1, 2]))
    assert (a // b).tolist() == [-1, -(2**63), 3]
    assert (a % b).tolist() == [5, 0, 1]


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_lanes_of_a_power_do_not_meet(name: str) -> None:
    """Rows of every length, so that the rest of the vector is 0 ** 0, which one library spoils."""
    of = getattr(torch, name)
    for n in range(1, 18):
        base = torch.linspace(0.5, 9.5, n, dtype=of)
        compare("pow", base, torch.full((n,), 2.4, dtype=of))
        compare("pow", torch.cat([base, base[:1] * 0]), torch.cat([base - 4, base[:1] * 0]))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, -1, -2, 0.5, -0.5, 2.0, 1.7, -3.0, 1j, True])
@pytest.mark.parametrize("name", ["float32", "float16", "int32", "uint8", "bool", "complex64"])
def test_powers_by_numbers(name: str, exponent: Any) -> None:
    if name == "float16" and isinstance(exponent, complex):
        pytest.skip("torch has complex32")
    base = torch.tensor([0.0, 1.0, 2.0, 3.0, 0.25]).to(getattr(torch, name))
    if name.startswith("float"):
        base = torch.cat([base, torch.tensor([-0.0, -1.0, INF, -INF, NAN]).to(base.dtype)])
    if name == "complex64":
        base = base[1:] + 1j
    compare("pow", base, exponent)
    if not isinstance(exponent, complex) and name != "bool":
        compare("pow", exponent, base)


@pytest.mark.parametrize("number", [0, 3, -1, 300, 0.1, 2.5, True, 1j, NAN, 2**63, 2**64])
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int32", "uint8", "bool"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "eq", "lt", "clamp_min", "bitwise_and"])
def test_numbers_promote_wrap_and_overflow(op: str, name: str, number: Any) -> None:
    tensor = torch.tensor([0.0, 1.0, 3.0, 0.1, 44.0]).to(getattr(torch, name))
    if (name == "float16" and number == 1j) or (name == "bool" and number == 2**63):
        pytest.skip("torch has complex32 and uint64")
    if number == 2**64:
        with pytest.raises((OverflowError, RuntimeError)):
            getattr(ft, op)(ft.from_torch(tensor), number)
        return
    compare(op, tensor, number)


@pytest.mark.parametrize("alpha", [1, 2, 0, True, 1.5, 2j])
@pytest.mark.parametrize("name", ["float32", "int32", "bool", "complex64"])
@pytest.mark.parametrize("op", ["add", "sub", "rsub"])
def test_alpha(op: str, name: str, alpha: Any) -> None:
    a = torch.tensor([0, 1, 2]).to(getattr(torch, name))
    compare(op, a, a.flip(0), alpha=alpha)


def test_in_place_forms_write_their_tensor_and_no_other() -> None:
    a = ft.from_torch(torch.tensor([1.0, 2.0, 3.0]))
    same = a
    a += 1
    a.sub_(a, alpha=0.5).mul_(4).div_(3, rounding_mode="floor").clamp_(max=2).pow_(2)
    assert a is same
    assert a.tolist() == [1.0, 4.0, 4.0]
    with pytest.raises(RuntimeError):
        a.add_(ft.from_torch(torch.ones(2, 3)))
    with pytest.raises(RuntimeError):
        ft.from_torch(torch.tensor([1])).div_(2)
    with pytest.raises(TypeError):
        a.add_(1, out=a)


def test_comparisons_with_strangers() -> None:
    a = ft.from_torch(torch.tensor([1]))
    assert (a == "a") is False
    assert (a != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        a < "a"
    with pytest.raises(TypeError):
        a + [1]


def test_where_takes_numbers_and_refuses_what_is_no_condition() -> None:
    mask = torch.tensor([True, False])
    for choices in ((1, 2), (1.0, 2), (True, 1j), (torch.tensor([1, 5]), 2.5)):
        compare("where", mask, *choices)
    compare("where", torch.tensor([1.0, 0.0]), 1, 2)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 1.0, -2.0])
def test_lerp_meets_both_ends(weight: float) -> None:
    a, b = torch.tensor([1.0, -3.0, 1e8]), torch.tensor([2.5, 7.0, 3.0])
    compare("lerp", a, b, weight, atol=1e-6)
    compare("lerp", a, b, torch.full((3,), weight), atol=1e-6)
    assert ft.lerp(ft.from_torch(a), ft.from_torch(b), 1.0).to_torch().equal(b)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_nextafter_steps_once(name: str) -> None:
    of = getattr(torch, name)
    values = torch.tensor([0.0, 1.0, -1.0, 2**-14, 2**-15, 3e4, 65504.0, INF, -INF, NAN]).to(of)
    for towards in (INF, -INF, 0.0, 1.0):
        compare("nextafter", values, torch.full_like(values, towards))
