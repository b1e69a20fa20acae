"""Ops on lists of tensors: one kernel for sixteen tensors, with the bits of the separate ops."""

from __future__ import annotations

import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.execute.dispatch import observed
from ftensor.graph.fused import fused_foreach
from ftensor.graph.launch_merging import MAX_SAME_KERNEL

from .test_fused_ops import Kernels
from .test_graph_kernels import pytestmark  # noqa: F401

SIZES = ((3,), (70001,), (2, 5), (), (33, 65), (1000,), (16, 16), (1,))


@fused_foreach
def moved(xs: list[ft.Tensor], ys: list[ft.Tensor], rate: float, by: float) -> None:
    """Runs two ops on each tensor. The second needs the first."""
    for x, y in zip(xs, ys):
        y.mul_(rate).add_(x)
        x.sub_(y * by)


def lists(count: int) -> tuple[list[ft.Tensor], list[ft.Tensor]]:
    shapes = [SIZES[k % len(SIZES)] for k in range(count)]
    xs = [ft.arange(ft.empty(s).numel()).reshape(s) / 7 + k for k, s in enumerate(shapes)]
    return xs, [x.flip(0) + 1 if x.ndim else x + 1 for x in xs]


def check(xs: list[ft.Tensor], ys: list[ft.Tensor], rate: float, by: float) -> list[str]:
    """Compares with the separate ops; returns the kernels that ran."""
    wanted = []
    for x, y in zip(xs, ys):
        b = y * rate + x
        wanted.append((x - b * by, b))
    seen = Kernels()
    with observed(default_backend(), seen):
        moved(xs, ys, rate, by)
    for x, y, pair in zip(xs, ys, wanted):
        for got, one in zip((x, y), pair):
            assert got.numpy().tobytes() == one.numpy().tobytes()
    return seen.steps


@pytest.mark.parametrize("count", [1, 5, MAX_SAME_KERNEL, MAX_SAME_KERNEL + 3])
@pytest.mark.usefixtures("graphs_at_once")
def test_few_kernels_for_many_tensors(count: int) -> None:
    xs, ys = lists(count)
    for rate in (0.5, 0.25, -3.0):  # another number reuses the kernels
        steps = check(xs, ys, rate, rate / 4)
        if default_backend().target.processor:
            assert len(steps) == -(-count // MAX_SAME_KERNEL), steps


@pytest.mark.usefixtures("graphs_at_once")
def test_tensors_that_share_memory_are_written_in_order() -> None:
    x = ft.arange(6.0)
    y = [ft.ones(6), ft.full((6,), 2.0), ft.full((4,), 3.0)]
    moved([x, x, x[:4]], y, 0.5, 1.0)
    # Each iteration subtracts from the x of the previous one.
    first = ft.arange(6.0) - (ft.arange(6.0) + 0.5)
    second = first - (first + 1)
    assert y[0].tolist() == (ft.arange(6.0) + 0.5).tolist()
    assert y[1].tolist() == (first + 1).tolist() and y[2].tolist() == (second[:4] + 1.5).tolist()
    assert x.tolist() == [*(second[:4] - (second[:4] + 1.5)).tolist(), *second[4:].tolist()]


@pytest.mark.usefixtures("graphs_at_once")
def test_a_number_for_each_tensor() -> None:
    @fused_foreach
    def scaled(xs: list[ft.Tensor], by: list[float]) -> None:
        for x, number in zip(xs, by):
            x.mul_(number)

    for by in ([1.0, 2.0, 3.0], [0.5, 2.0, -0.5]):
        xs = [ft.ones(3), ft.ones(2, 2), ft.ones(3)]
        scaled(xs, by)
        assert [x.flatten()[0].item() for x in xs] == by


def test_foreach_of_empty_lists() -> None:
    moved([], [], 0.5, 1.0)
