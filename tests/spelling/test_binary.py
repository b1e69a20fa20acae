"""Numbers as operands, promotion, in-place forms and errors of ops on two inputs."""

from __future__ import annotations

from typing import Any

import pytest

import ftensor as ft

from ..oracle import agree_on, torch

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, -1, -2, 0.5, -0.5, 2.0, 1.7, -3.0, 1j, True])
@pytest.mark.parametrize("name", ["float32", "float16", "int32", "uint8", "bool", "complex64"])
def test_powers_by_numbers(name: str, exponent: Any) -> None:
    base = torch.tensor([0.0, 1.0, 2.0, 3.0, 0.25]).to(getattr(torch, name))
    if name.startswith("float"):
        base = torch.cat([base, torch.tensor([-0.0, -1.0, INF, -INF, NAN]).to(base.dtype)])
    if name == "complex64":
        base = base[1:] + 1j
    agree_on("pow", base, exponent)
    if not isinstance(exponent, complex) and name != "bool":
        agree_on("pow", exponent, base)


@pytest.mark.parametrize("number", [0, 3, -1, 300, 0.1, 2.5, True, 1j, NAN, 2**63, 2**64])
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int32", "uint8", "bool"])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "eq", "lt", "clamp_min", "bitwise_and"])
def test_numbers_promote_wrap_and_overflow(op: str, name: str, number: Any) -> None:
    tensor = torch.tensor([0.0, 1.0, 3.0, 0.1, 44.0]).to(getattr(torch, name))
    if name == "bool" and number == 2**63:
        pytest.skip("torch makes uint64 of it")
    if number == 2**64:
        with pytest.raises((OverflowError, RuntimeError)):
            getattr(ft, op)(ft.from_torch(tensor), number)
        return
    agree_on(op, tensor, number)


@pytest.mark.parametrize("alpha", [1, 2, 0, True, 1.5, 2j])
@pytest.mark.parametrize("name", ["float32", "int32", "bool", "complex64"])
@pytest.mark.parametrize("op", ["add", "sub", "rsub"])
def test_alpha(op: str, name: str, alpha: Any) -> None:
    a = torch.tensor([0, 1, 2]).to(getattr(torch, name))
    agree_on(op, a, a.flip(0), alpha=alpha)


@pytest.mark.parametrize("numbers", [(5, 2), (-7, 2.5), (True, False), (1.5, 2j), (7, 0), (True, 2)])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "true_divide", "floor_divide"])
def test_ops_of_two_numbers(op: str, numbers: Any) -> None:
    agree_on(op, *numbers)
    for name in ("pow", "fmod", "maximum", "eq", "hypot"):
        with pytest.raises(TypeError):
            getattr(ft, name)(*numbers)


def test_in_place_forms_write_only_their_tensor() -> None:
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


def test_comparisons_with_objects_of_other_classes() -> None:
    a = ft.from_torch(torch.tensor([1]))
    assert (a == "a") is False
    assert (a != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        a < "a"
    with pytest.raises(TypeError):
        a + [1]


def test_where_takes_numbers_and_refuses_invalid_conditions() -> None:
    mask = torch.tensor([True, False])
    for choices in ((1, 2), (1.0, 2), (True, 1j), (torch.tensor([1, 5]), 2.5)):
        agree_on("where", mask, *choices)
    agree_on("where", torch.tensor([1.0, 0.0]), 1, 2)
