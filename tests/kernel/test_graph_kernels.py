"""The number of kernels of expressions, which have eager's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ftensor as ft
import ftensor.nn.functional as F
from ftensor._device import default_backend
from ftensor.execute.packed_weights import MAX_CACHED_BYTES, constant_of

from ..targets import some

pytestmark = pytest.mark.skipif(
    not default_backend().target.unaligned or default_backend().target.grid == "stride",
    reason="kernels are built ahead there, or their units are single work-items",
)


def drawn(*shape: int) -> ft.Tensor:
    return ft.randn(*shape, generator=ft.Generator().manual_seed(sum(shape)))


def softmax(x: ft.Tensor, dim: int = -1) -> ft.Tensor:
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def layer_norm(x: ft.Tensor, w: ft.Tensor) -> ft.Tensor:
    d = x - x.mean(-1, keepdim=True)
    return d * (d.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w


def gated(x: ft.Tensor, w: ft.Tensor) -> ft.Tensor:
    return F.silu(x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * w) * x


def in_place(x: ft.Tensor) -> ft.Tensor:
    y = x.clone()
    y -= y.mean(-1, keepdim=True)
    return y * y.square().mean(-1, keepdim=True)


def resized(x: ft.Tensor, mode: str) -> ft.Tensor:
    return F.interpolate(x, scale_factor=2.0, mode=mode)


X, ROWS, W = drawn(37, 300), drawn(5, 3, 4, 70), drawn(300)
IMAGES = drawn(2, 3, 10, 12)
# The computation, its operands, and the number of kernels.
CASES: list[tuple[str, Callable[..., Any], tuple[ft.Tensor, ...], int]] = [
    ("elements", lambda x, y: ft.tanh(x * y + x) * ft.exp(-y) + 0.5, (X, X + 1), 1),
    ("a smaller one first", lambda x, w: ft.tanh(x * w + x) * ft.exp(-w) + 0.5, (X, W), 2),
    ("several results", lambda x: (x + 1, (x + 1).abs(), x > 0), (X,), 1),
    ("mixed dtypes", lambda x: ((x > 0).to(ft.int64) * 3 + x.to(ft.float16)).to(ft.bool), (X,), 1),
    ("complex", lambda x: ft.complex(x, -x).abs().square() > 0.5, (X,), 1),
    ("transposed", lambda x: (x.t() * 2 + 1).t() - x, (X,), 1),
    ("reshaped", lambda x: (x.view(-1) * 2).view(37, 10, 30).abs(), (X,), 1),
    ("row by row", lambda x, w: (x - w).square() * w.neg(), (X, W), 2),
    ("fold of elements", lambda x, w: (x * w).sum(-1) + 1, (X, W), 1),
    ("fold across", lambda x: (x * 2).amax(0).neg(), (X,), 1),
    ("several folds", lambda x: (x.sum(-1), x.square().sum(-1).sqrt(), x.amax(-1)), (X,), 1),
    ("fold of all", lambda x: (x * x).mean(), (X,), 1),
    ("distances", lambda x, y: (x[:, None] - y).square().sum(-1), (X[:9], X[9:16]), 1),
    ("softmax", softmax, (X,), 1),
    ("softmax across", lambda x: softmax(x, 0), (X,), 1),
    ("softmax of many dims", softmax, (ROWS,), 1),
    ("masked softmax", lambda x, w: softmax(x * 0.5 + w), (X, W), 1),
    ("log_softmax", lambda x: x - x.exp().sum(-1, keepdim=True).log(), (X,), 1),
    ("layer_norm", layer_norm, (X, W), 1),
    ("rms_norm with a gate", gated, (X, W), 1),
    ("variance", lambda x: x.var(-1), (X,), 1),
    ("rows that are not near", softmax, (drawn(2, 200_000),), 4),
    ("in place", lambda x: x.mul_(2).add_(1).sum(-1), (X,), 1),
    ("rows in place", in_place, (X,), 1),
    ("the same twice", lambda x: x.cumsum(0) - x.cumsum(0), (X,), 2),
    ("the same, written between", lambda x: (x.cumsum(0) + x.mul_(2).cumsum(0)).abs(), (X,), 4),
    ("the same, returned", lambda x: (x.cumsum(0), x.cumsum(0)), (X,), 2),
    ("bilinear", lambda x: resized(x, "bilinear"), (IMAGES,), 2),
    ("bicubic", lambda x: resized(x, "bicubic"), (IMAGES,), 4),
    ("linear in half precision", lambda x: resized(x, "linear"), (IMAGES[0].to(ft.float16),), 3),
    ("nearest", lambda x: resized(x, "nearest"), (IMAGES,), 2),
    ("reflected", lambda x: F.pad(x, (1, 2), "reflect"), (IMAGES[0],), 1),
    ("nothing needed", lambda x: (x + 1, x.sum())[0], (X,), 1),
]


@pytest.mark.parametrize(
    ("name", "function", "operands", "count"), some([pytest.param(*case, id=case[0]) for case in CASES], 3, always=True)
)
def test_graph_uses_few_kernels_and_keeps_the_results(
    name: str, function: Callable[..., Any], operands: tuple[ft.Tensor, ...], count: int
) -> None:
    jitted = ft.jit(function)
    fresh = [x.clone() for x in operands]
    plan = jitted.graph(*fresh)
    assert len(plan.kernels) == count, plan.report()
    for _ in range(2):
        mine, theirs = [x.clone() for x in operands], [x.clone() for x in operands]
        got, wanted = jitted(*mine), function(*theirs)
        pairs = zip(got, wanted) if isinstance(got, tuple) else [(got, wanted)]
        for a, b in [*pairs, *zip(mine, theirs)]:
            assert (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype)
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_graph_prints_its_kernels() -> None:
    plan = ft.jit(softmax).graph(X)
    assert repr(plan) == f"<graph of softmax, 1 kernel: {plan.kernels[0]}>"


def test_equal_constants_are_one_tensor() -> None:
    """They are compared by dtype, shape and values. A large one is uploaded each time."""
    x, table = ft.zeros(1), np.arange(6, dtype=np.float32)
    kept = constant_of(table, x)
    assert constant_of(table.copy(), x) is kept and kept.tolist() == table.tolist()
    for other in (table.astype(np.int64), table.reshape(2, 3), table + 1):
        constant = constant_of(other, x)
        assert constant is not kept and constant.tolist() == other.tolist()
    large = np.zeros(MAX_CACHED_BYTES + 1, np.uint8)
    assert constant_of(large, x) is not constant_of(large, x)
