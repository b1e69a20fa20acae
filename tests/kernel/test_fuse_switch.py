"""FTENSOR_FUSE=0: each op has its own launch, with the bits of a fused kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ftensor as ft
import ftensor.nn.functional as F
from ftensor._device import default_backend
from ftensor.execute.dispatch import observed

from .test_fused_ops import Kernels
from .test_graph_kernels import drawn, pytestmark  # noqa: F401


def chain(x: ft.Tensor, y: ft.Tensor) -> ft.Tensor:
    return ((x + y) * y).exp() - x


# Name, function, operands (of shapes that no other test has), the number of launches of the parts.
CASES: list[tuple[str, Callable[..., Any], tuple[ft.Tensor, ...], list[str]]] = [
    ("jit", ft.jit(chain), (drawn(11, 37), drawn(11, 37)), ["add", "mul", "exp", "sub"]),
    ("hinge", F.hinge_embedding_loss, (drawn(11, 37), drawn(11, 37).sign()), []),
    ("softmax", lambda x: ft.softmax(x, -1), (drawn(11, 43),), []),
    ("layer_norm", lambda x: F.layer_norm(x, (47,)), (drawn(11, 47),), []),
]


@pytest.mark.parametrize(("name", "function", "operands", "parts"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.usefixtures("graphs_at_once")
def test_ops_run_one_by_one(
    name: str, function: Callable[..., Any], operands: Any, parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FTENSOR_FUSE", "0")
    apart = Kernels()
    with observed(default_backend(), apart):
        wanted = function(*operands)
        function(*operands)  # nothing is cached that the second call would use
    first, second = apart.steps[: len(apart.steps) // 2], apart.steps[len(apart.steps) // 2 :]
    assert first == second
    monkeypatch.delenv("FTENSOR_FUSE")
    function(*operands)
    fused = Kernels()
    with observed(default_backend(), fused):
        got = function(*operands)
    assert len(fused.steps) < len(first), (fused.steps, first)
    if parts:
        assert len(first) == len(parts), first
    np.testing.assert_array_equal(got.numpy(), wanted.numpy())


def test_jitted_function_is_called_eagerly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a graph, reading a value is no error."""
    monkeypatch.setenv("FTENSOR_FUSE", "0")
    seen: list[float] = []

    @ft.jit
    def reads(x: ft.Tensor) -> ft.Tensor:
        seen.append(x.sum().item())
        return x + 1

    for _ in range(2):
        assert reads(ft.ones(5)).tolist() == [2.0] * 5
    assert seen == [5.0, 5.0]


def test_another_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FTENSOR_FUSE", "off")
    with pytest.raises(ValueError, match=r"FTENSOR_FUSE='off' is not 0 or 1"):
        ft.jit(chain)(drawn(3, 41), drawn(3, 41))
