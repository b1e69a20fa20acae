"""Kernels that a user writes as C expressions."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ftensor as ft
from ftensor._device import default_backend

from ..oracle import same


def both(values: Any, dtype: str = "float32") -> tuple[ft.Tensor, torch.Tensor]:
    return ft.tensor(values, dtype=getattr(ft, dtype)), torch.tensor(values, dtype=getattr(torch, dtype))


@pytest.mark.core
def test_expression_is_computed_and_broadcast() -> None:
    kernel = ft.fpga.elementwise("T x, T y", "T z", "z = x * y + 1")
    x, tx = both([[1.5, -2.0, 3.0], [0.0, 4.0, 7.0]])
    y, ty = both([[2.0], [-1.0]])
    same(kernel(x, y), tx * ty + 1)
    same(kernel(x.t(), 3), tx.t() * 3 + 1)
    assert "x * y + 1" in kernel.operation


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_integers_wrap_in_their_width(dtype: str) -> None:
    kernel = ft.fpga.elementwise("T x, T y", "T z", "z = (x + y) / 2 + x % y - (x >> 1) + (x & 6)")
    x, tx = both([100, 101, 120, 7], dtype)
    y, ty = both([27, 3, 7, 5], dtype)
    quotient = torch.div(tx + ty, 2, rounding_mode="trunc")
    same(kernel(x, y), quotient + tx.fmod(ty) - (tx >> 1) + (tx & 6))


def test_literals_fit_the_dtype() -> None:
    least = ft.fpga.elementwise("T x", "T y", "y = x + -128")
    same(least(ft.zeros(3, dtype=ft.int8)), torch.full((3,), -128, dtype=torch.int8))
    same(ft.fpga.elementwise("T x", "T y", "y = x + -1")(ft.zeros(2, dtype=ft.uint8)), torch.full((2,), 255).byte())
    for text, problem in (("x + 128", "128, which is above 127"), ("x + -129", "-129, which is below -128")):
        with pytest.raises(TypeError, match=problem):
            ft.fpga.elementwise("T x", "T y", f"y = {text}")(ft.zeros(3, dtype=ft.int8))


def test_division_by_zero_is_defined() -> None:
    kernel = ft.fpga.elementwise("T x, T y", "T z, T w", "z = x / y; w = x % y")
    quotient, remainder = kernel(ft.tensor([7, -7, 5]), ft.tensor([0, 2, -3]))
    assert quotient.tolist() == [-1, -3, -1]  # like div() with rounding_mode="trunc"
    assert remainder.tolist() == [7, -1, 2]


def test_variables_conditions_and_several_results() -> None:
    kernel = ft.fpga.elementwise(
        "T x, bool m",
        "T z, bool w",
        "T d = m ? x : -x; bool big = fabs(d) > 2; z = d * d; w = big && z > 1 || isnan(x)",
    )
    x, tx = both([1.0, -3.0, 2.5, float("nan")])
    m, tm = both([True, False, True, False], "bool")
    squares, mask = kernel(x, m)
    d = torch.where(tm, tx, -tx)
    same(squares, d * d)
    same(mask, (d.abs() > 2) | tx.isnan())


@pytest.mark.parametrize("name", ["exp", "log1p", "sin", "tanh", "sqrt", "floor", "erf"])
def test_functions_are_the_ops(name: str) -> None:
    x = ft.tensor([0.1, 0.7, 1.9])
    kernel = ft.fpga.elementwise("T x", "T z", f"z = {name}(x)")
    mine, ops = kernel(x).to_torch(), getattr(ft, name)(x).to_torch()
    if default_backend().images is None:
        assert torch.equal(mine, ops)
    else:  # an image lacks the expression, so the host computes it with its own functions
        assert torch.allclose(mine, ops, rtol=3e-7, atol=0)


def test_complex_numbers() -> None:
    kernel = ft.fpga.elementwise("T x, T y", "T z", "z = x * y - x / 2 + exp(y)")
    x, tx = both([1 + 2j, -3j], "complex64")
    y, ty = both([0.5 - 1j, 2 + 0j], "complex64")
    assert torch.allclose(kernel(x, y).to_torch(), tx * ty - tx / 2 + ty.exp())


def test_a_result_of_another_dtype() -> None:
    with pytest.raises(ValueError, match="the type T of 'w' is not the type of an input"):
        ft.fpga.elementwise("float32 x", "T w", "w = x")
    kernel = ft.fpga.elementwise("float32 x, int y", "int z, float w", "z = x * 2.5; w = x + y")
    z, w = kernel(ft.tensor([1.0, -3.0]), ft.tensor([1, 2], dtype=ft.int32))
    assert (z.tolist(), z.dtype) == ([2, -7], ft.int32)
    assert (w.tolist(), w.dtype) == ([2.0, -1.0], ft.float32)


def test_results_are_written_to_given_tensors() -> None:
    kernel = ft.fpga.elementwise("T x", "T z", "z = x + 1")
    x = ft.arange(3.0)
    kernel(x, x)  # as in CuPy: after the inputs
    assert x.tolist() == [1.0, 2.0, 3.0]
    y = ft.empty(0)
    assert kernel(x, out=y) is y
    assert y.tolist() == [2.0, 3.0, 4.0]


def test_a_jitted_function_fuses_the_kernel() -> None:
    kernel = ft.fpga.elementwise("T x, T y", "T z", "T d = x - y; z = d * d")

    @ft.jit
    def distance(x: ft.Tensor, y: ft.Tensor) -> ft.Tensor:
        return kernel(x, y).sum(-1).sqrt()

    x, y = ft.rand(4, 8), ft.rand(4, 8)
    assert torch.allclose(distance(x, y).to_torch(), (x.to_torch() - y.to_torch()).norm(dim=-1))
    assert distance(x, y).tolist() == distance(x, y).tolist()


@pytest.mark.core
def test_a_reduction() -> None:
    norm = ft.fpga.reduction("T x", "T y", "x * x", "a + b", "y = sqrt(a)", 0, "own_norm")
    x, tx = both([[3.0, 4.0], [0.0, -2.0], [1.0, 1.0]])
    assert torch.allclose(norm(x, dim=1).to_torch(), tx.norm(dim=1))
    same(norm(x, axis=0, keepdims=True), tx.norm(dim=0, keepdim=True))
    same(norm(x), tx.norm())
    same(norm(ft.empty(0)), torch.tensor(0.0))


def test_reductions_of_several_inputs_and_of_integers() -> None:
    dot = ft.fpga.reduction("T x, T y", "double z", "x * y", "a + b", "z = a / n", 0)
    x, tx = both([1.0, 2.0, 3.5])
    assert dot(x, 2).item() == pytest.approx((tx * 2).double().mean().item())
    most = ft.fpga.reduction("T x", "T y", "x", "max(a, b)", "", "LOWEST")
    assert most(ft.tensor([[1, 5], [-7, -9]], dtype=ft.int16), dim=1).tolist() == [5, -7]


def test_invalid_calls_are_refused() -> None:
    kernel = ft.fpga.elementwise("T x, T y", "T z", "z = x * y % 3", "own_product")
    i = ft.ones(2, dtype=ft.int64)
    for args, text in (
        ((i,), r"own_product takes 2 inputs \(T x, T y\), not 1"),
        ((i, i.int()), "`y` is ftensor.int32, but T is ftensor.int64 by `x`"),
        ((i, 1.5), r"`y` is 1.5, which ftensor.int64 can't hold"),
        ((i, "a"), "`y` must be a tensor or a number, not str"),
        ((2, 3), "own_product needs a tensor among its arguments"),
        ((i > 0, i > 0), "does not compute in bool"),
        ((i.float(), 2), "% is not defined for floating-point numbers: use fmod()"),
    ):
        with pytest.raises(TypeError, match=text):
            kernel(*args)
    with pytest.raises(RuntimeError, match=r"\(2,\), \(3,\)"):
        kernel(i, ft.ones(3, dtype=ft.int64))
    with pytest.raises(TypeError, match="it holds 300, which is above 255"):
        ft.fpga.elementwise("T x", "T z", "z = x + 300")(ft.ones(2, dtype=ft.uint8))
    with pytest.raises(TypeError, match=r"`z` must be ftensor.int64, not ftensor\.float32"):
        kernel(i, i, out=ft.empty(2))
    with pytest.raises(IndexError):
        ft.fpga.reduction("T x", "T y", "x", "a + b", "y = a", 0)(i, dim=3)
