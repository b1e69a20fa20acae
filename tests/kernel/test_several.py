"""Pointwise rows with several results, where kernels are compiled when they are needed."""

from __future__ import annotations

import numpy as np
import pytest

import ftensor as ft
from ftensor.execute.choices import specializes
from ftensor.execute.several import Several, several

# The quotient of a by b cut off, and what is left over, of which a part is a result, too.
DIVIDED = Several(
    "divided", ("whole", "a - whole * b", "(a - whole * b) * part"), ("part",),
    (("whole", "trunc(a / b)"),),
)  # fmt: skip


def divided(a: ft.Tensor, b: ft.Tensor, outs: tuple[ft.Tensor, ...]) -> list[np.ndarray]:
    if not specializes(a):
        pytest.skip("a device of few kernels, where no op asks for several results")
    several(DIVIDED, (a, b), (0.5,), outs, ft.float32)
    return [out.numpy() for out in outs]


def expected(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    whole = np.trunc(a / b)
    return [whole, a - whole * b, (a - whole * b) / 2]


@pytest.mark.parametrize("times", [1, 2])  # prepared, and found again
@pytest.mark.parametrize("shapes", [((5,), (5,)), ((3, 1, 4), (5, 1)), ((2, 70, 33), ())])
def test_inputs_broadcast(shapes: tuple[tuple[int, ...], ...], times: int) -> None:
    whole = np.broadcast_shapes(*shapes)
    a, b = (np.arange(1.0, 1 + np.prod(s)).reshape(s).astype(np.float32) for s in shapes)
    for turn in range(times):
        outs = tuple(ft.empty(whole, dtype=d) for d in (ft.int64, ft.float32, ft.float32))
        made = divided(ft.tensor(a) + turn, ft.tensor(b), outs)
        for one, other in zip(made, expected(np.broadcast_to(a + turn, whole), b), strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_output_is_an_input_and_others_are_strided() -> None:
    a, b = np.arange(60, dtype=np.float32).reshape(4, 15), np.float32(7)
    x, room = ft.tensor(a), ft.full((15, 12), -1.0)
    made = divided(x, ft.tensor(b), (room[:, :8:2].T, x, room[:, 1:8:2].T))
    for one, other in zip(made, expected(a, b), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (room[:, 8:].numpy() == -1).all()


def test_nothing_to_do() -> None:
    outs = tuple(ft.empty(0, 3) for _ in range(3))
    assert [made.shape for made in divided(ft.ones(0, 3), ft.ones(3), outs)] == [(0, 3)] * 3


def test_another_device_is_refused() -> None:
    outs = (ft.empty(3, device="cpu"), ft.empty(3), ft.empty(3))
    with pytest.raises(RuntimeError, match="device"):
        divided(ft.ones(3), ft.ones(3), outs)
