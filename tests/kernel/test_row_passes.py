"""Reductions and maps over the same rows in one kernel have the bits of the separate ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.launch import enqueue
from ftensor.kernels.fused import Passes

from ..targets import pairs
from .fused_program import passes_launch, recorded, row_passes
from .test_fused import bits, drawn

pytestmark = pytest.mark.skipif(default_backend().images is not None, reason="images have no kernels of several units")

# Intel's emulator has its own functions.
OWN_FUNCTIONS = pytest.mark.skipif(
    default_backend().target.emulates == "an Intel FPGA",
    reason="the emulator's functions have other last bits in a kernel with several of them",
)

# (shape, dim): lanes along rows of several lengths, across rows, and one row for each lane.
WALKS = [
    pytest.param((5, 20_000), 1, marks=pytest.mark.core),
    pytest.param((37, 1003), 0, marks=pytest.mark.core),
    pytest.param((300, 5), 1, marks=pytest.mark.core),
    pytest.param((37, 1003), 1, marks=pytest.mark.long),
    pytest.param((70, 64), 1, marks=pytest.mark.long),
]


def agree(function: Callable[..., Any], dim: int, *inputs: ft.Tensor) -> None:
    """Asserts that each result has the bits of the separate ops."""
    for eager, passed in zip(*row_passes(function, dim, *inputs), strict=True):
        assert eager.dtype == passed.dtype and bits(eager) == bits(passed)


def softmax(x: ft.Tensor, dim: int) -> ft.Tensor:
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def log_softmax(x: ft.Tensor, dim: int) -> ft.Tensor:
    d = x - x.amax(dim, keepdim=True)
    return d - d.exp().sum(dim, keepdim=True).log()


def layer_norm(x: ft.Tensor, w: ft.Tensor, b: ft.Tensor, dim: int) -> tuple[ft.Tensor, ...]:
    mean = x.mean(dim, keepdim=True)
    d = x - mean
    rstd = (d.square().mean(dim, keepdim=True) + 1e-5).rsqrt()
    return d * rstd * w + b, mean, rstd


@pytest.mark.parametrize(("shape", "dim"), WALKS)
def test_softmax(shape: tuple[int, int], dim: int) -> None:
    x = drawn(*shape) * 3
    agree(lambda x: softmax(x, dim), dim, x)
    agree(lambda x: log_softmax(x, dim), dim, x)


@pytest.mark.parametrize(("shape", "dim"), WALKS)
def test_layer_norm_with_weight_and_bias(shape: tuple[int, int], dim: int) -> None:
    other = [shape[1]] if dim else [shape[0], 1]
    w, b = drawn(*other), drawn(*other, 1).reshape(other)
    agree(lambda x, w, b: layer_norm(x, w, b, dim), dim, drawn(*shape), w, b)


@pytest.mark.parametrize(("name", "dim"), pairs(("float16", "bfloat16", "float64", "complex64"), (0, 1)))
@OWN_FUNCTIONS
def test_row_passes_of_each_dtype_are_torchs(name: str, dim: int) -> None:
    x = drawn(37, 1003).to(getattr(ft, name))
    if x.is_complex():
        x = x * (1 + 0.5j)
        agree(lambda x: (x - x.mean(dim, keepdim=True)).exp(), dim, x)
        agree(lambda x: x / x.sum(dim, keepdim=True).abs(), dim, x)
    else:
        agree(lambda x: softmax(x, dim), dim, x)


# Few short rows, in which every device finds indices by reductions, and many rows.
@pytest.mark.parametrize(("shape", "dim"), [((7, 50), 1), ((5000, 20), 0)])
def test_reductions_of_one_pass(shape: tuple[int, int], dim: int) -> None:
    """One pass has several states of several types, one of them an index."""
    x, g = drawn(*shape), drawn(*shape) + 1

    def folds(x: ft.Tensor, g: ft.Tensor) -> tuple[ft.Tensor, ...]:
        s, t = (g * x).sum(dim, keepdim=True), (g > x).any(dim, keepdim=True)
        where = (x * g).argmax(dim, keepdim=True)
        return (g - s * x) * 0.5, (g - s) * t, where, (x - where) * s

    agree(folds, dim, x, g)


@pytest.mark.parametrize("dim", (0, 1))
def test_inputs_with_one_element_per_row(dim: int) -> None:
    """A result may depend only on such inputs."""
    x, k = drawn(37, 1003), drawn(37, 1) if dim else drawn(1, 1003)

    def rows(x: ft.Tensor, k: ft.Tensor) -> tuple[ft.Tensor, ...]:
        mean = x.mean(dim, keepdim=True)
        return (x - mean) * k, mean * 0.1 + k * 0.9

    agree(rows, dim, x, k)


def in_place(function: Callable[..., Any], x: ft.Tensor) -> bool:
    """Returns whether results that overwrite the input are right."""
    seen, eager = recorded(function, x)
    launch, _, program = passes_launch(seen, eager, [x], 1)
    y = x.clone()
    enqueue(launch, [y, y], program.scalars)
    assert bits(y) == bits(eager[0])
    return any(one.stored_values for one in Passes(launch.steps[0].key).passes)


def test_results_that_overwrite_an_input() -> None:
    """Expensive values are stored in the results' memory, unless a later pass reads an input that
    may share it."""
    x = drawn(37, 1003)
    assert in_place(lambda x: softmax(x, 1), x)
    assert not in_place(lambda x: softmax(x, 1) + x, x)
    assert not in_place(lambda x: log_softmax(x, 1), x)


def test_result_is_stored_after_the_last_read_of_its_memory() -> None:
    x = drawn(37, 1003)

    def several(x: ft.Tensor) -> tuple[ft.Tensor, ...]:
        return x + 1, x - x.mean(1, keepdim=True)

    seen, eager = recorded(several, x)
    launch, (_, second), program = passes_launch(seen, eager, [x], 1)
    y = x.clone()
    enqueue(launch, [y, second, y], program.scalars)
    assert bits(y) == bits(eager[0]) and bits(second) == bits(eager[1])
