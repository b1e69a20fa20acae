"""Loops with feedback: ft.scan against a NumPy loop, and functions that it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.errors.graph import GraphError

if default_backend().images is not None:
    pytest.skip("an image has the loops of one program: tests/flow/test_scan_images.py", allow_module_level=True)

RNG = np.random.default_rng(39)


def biquad(state: Any, x: Any) -> Any:
    first, second = state
    y = 0.2 * x + first
    return (0.4 * x - -0.3 * y + second, 0.2 * x - 0.5 * y), y


def agc(gain: Any, x: Any) -> Any:
    y = gain * x
    return gain + 0.01 * (1 - y * y), {"out": y, "gain": gain}


def pll(state: Any, x: Any) -> Any:
    phase, step = state["phase"], state["step"]
    error = x * -np_or_ft(x).sin(phase)
    step = step + 0.001 * error
    return {"phase": phase + step + 0.05 * error, "step": step}, [error]


def costas(state: Any, x: Any) -> Any:
    phase, step = state
    space = np_or_ft(phase)
    y = x * (space.cos(phase) - 1j * space.sin(phase))
    error = space.where(y.real > 0, y.imag, -y.imag)
    step = step + 0.01 * error
    return (phase + step + 0.1 * error, step), (y, error)


def counted(state: Any, x: Any) -> Any:
    total = state + x
    return total, np_or_ft(x).where(total > 100, total - 100, total)


def previous(state: Any, x: Any) -> Any:
    return x, state


def np_or_ft(x: Any) -> Any:
    return ft if isinstance(x, ft.Tensor) else np


def loop(f: Any, state: Any, xs: Any, reverse: bool = False) -> tuple[Any, list[Any]]:
    results = []
    for x in xs[::-1] if reverse else xs:
        state, y = f(state, x)
        results.append(y)
    return state, results[::-1] if reverse else results


def leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        tree = list(tree.values())
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, (tuple, list)) else [tree]


@pytest.mark.parametrize(
    ("f", "init", "dtype"),
    [
        pytest.param(biquad, (0.0, 0.0), np.float32, marks=pytest.mark.core),
        (agc, 1.0, np.float32),
        (pll, {"phase": 0.5, "step": 0.1}, np.float32),
        (costas, (0.0, 0.0), np.complex64),
        (counted, 3, np.int64),
        (previous, 0.0, np.float32),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_scan_equals_a_loop(f: Any, init: Any, dtype: Any) -> None:
    shape = (300, 3)
    xs = (RNG.standard_normal(shape) + (1j * RNG.standard_normal(shape) if dtype is np.complex64 else 0)) * 3
    xs = xs.astype(dtype)
    last, ys = ft.scan(f, init, ft.from_numpy(xs))
    wide = xs.astype({np.float32: np.float64, np.complex64: np.complex128}.get(dtype, dtype))
    expected_last, rows = loop(f, init, wide)
    for k, y in enumerate(leaves(ys)):
        expected = np.stack([np.broadcast_to(leaves(row)[k], shape[1:]) for row in rows])
        assert y.shape == shape and np.allclose(y.numpy(), expected, rtol=1e-3, atol=1e-3), k
    for state, value in zip(leaves(last), leaves(expected_last), strict=True):
        assert np.allclose(state.numpy(), value, rtol=1e-3, atol=1e-3)


def test_both_directions_and_signals_of_any_dims() -> None:
    xs = ft.arange(24, dtype=ft.int32).reshape(4, 2, 3).transpose(1, 2)  # strided
    last, ys = ft.scan(lambda s, x: (s + x, s), ft.zeros(3, 2, dtype=ft.int32), xs, reverse=True)
    assert ft.equal(last, xs.sum(0).to(ft.int32))
    assert ft.equal(ys, (xs.flip(0).cumsum(0).flip(0) - xs).to(ft.int32))
    last, ys = ft.scan(previous, ft.tensor(7.0), ft.arange(3.0))
    assert (last.item(), ys.tolist()) == (2.0, [7.0, 0.0, 1.0])
    last, ys = ft.scan(previous, 7.0, ft.zeros(0, 2))
    assert last.tolist() == [7.0, 7.0] and ys.shape == (0, 2)
    last, nothing = ft.scan(lambda s, x: (s * x[0] + x[1], None), 1.0, (ft.full((5,), 2.0), ft.ones(5)))
    assert (last.item(), nothing) == (63.0, None)


@pytest.mark.parametrize("dtype", [ft.float16, ft.bfloat16])
def test_a_state_has_the_precision_of_its_dtype(dtype: Any) -> None:
    xs = ft.tensor([0.3, 0.1, 0.7] * 4).to(dtype)

    def f(s: Any, x: Any) -> Any:
        s = s * x * 3 + x
        return s, s

    last, ys = ft.scan(f, ft.ones((), dtype=dtype), xs)
    state, rows = ft.ones((), dtype=dtype), []
    for x in xs:
        state, y = f(state, x)
        rows.append(y)
    assert ft.equal(ys, ft.stack(rows)) and ft.equal(last, state)


def test_scan_is_one_launch_and_can_be_jitted() -> None:
    @ft.jit
    def gained(x: ft.Tensor) -> ft.Tensor:
        return ft.scan(agc, 1.0, x * 2)[1]["out"] + 1

    x = ft.from_numpy(RNG.standard_normal(50).astype(np.float32))
    for _ in range(2):
        assert ft.allclose(gained(x), ft.scan(agc, 1.0, x * 2)[1]["out"] + 1)
    kernels = gained.graph(x).kernels
    assert [name.split()[0] for name in kernels].count("feedback") == 1


OUTSIDE = ft.ones(2)


def writes(s: Any, x: Any) -> Any:
    x.add_(1)
    return s, x


def writes_outside(s: Any, x: Any) -> Any:
    OUTSIDE.copy_(x)
    return s, x


REFUSED: list[tuple[Any, Any, type[Exception], str]] = [
    (lambda s, x: (s + x if x[0] > 0 else s, s), 0.0, GraphError, r"reads a value .*test_feedback.py:\d+"),
    (lambda s, x: (s + x.item(), s), 0.0, RuntimeError, "one element|reads a value"),
    (writes, 0.0, GraphError, r"add writes into .*test_feedback.py:\d+.*x.add_\(1\)"),
    (writes_outside, 0.0, GraphError, r"copy writes into .*test_feedback.py"),
    (lambda s, x: (s + x.sum(), s), 0.0, GraphError, r"in .*<lambda>, sum is not elementwise \(.*test_feedback.py"),
    (lambda s, x: (s + x.cumsum(0), s), 0.0, GraphError, "cumsum is not elementwise"),
    (lambda s, x: (s + x.flip(0), s), 0.0, GraphError, "flip is not elementwise"),
    (lambda s, x: (s + OUTSIDE, s), 0.0, GraphError, r"finds outside.*\(.*test_feedback.py"),
    (lambda s, x: (s + ft.rand(2), s), 0.0, GraphError, "random"),
    (lambda s, x: (s + x.double(), s), 0.0, ValueError, r"state 0 as .*float64 .* and got it as .*float32 .*\.to\("),
    (lambda s, x: ((s + x)[None], s), 0.0, ValueError, r"shape \(1, 2\)"),
    (lambda s, x: (s, x, s), 0.0, TypeError, "must return"),
    (lambda s, x: s + x, 0.0, TypeError, "must return"),
    (lambda s, x: ((s, x), s), 0.0, TypeError, "another structure"),
    (lambda s, x: (s, 3), 0.0, TypeError, "a number"),
    (lambda s, x: (s, x[0]), 0.0, TypeError, "a result of shape"),
    (lambda s, x: (s, x), "zero", TypeError, "init must hold tensors, not str"),
    (lambda s, x: (s, x), (), TypeError, "init must hold"),
    (lambda s, x: (s, x), ft.zeros(3), ValueError, r"init 0 has shape \(3,\); a step of xs has shape \(2,\)"),
]


@pytest.mark.parametrize(("f", "init", "error", "said"), REFUSED, ids=map(str, range(len(REFUSED))))
def test_invalid_step_functions_are_refused_with_the_line(f: Any, init: Any, error: Any, said: str) -> None:
    before = OUTSIDE.tolist()
    with pytest.raises(error, match=said):
        ft.scan(f, init, ft.ones(4, 2))
    assert OUTSIDE.tolist() == before


@pytest.mark.parametrize("part", [lambda x: x.mT.real, lambda x: x.real.mT, lambda x: ft.view_as_real(x)[0]])
def test_real_and_imaginary_parts_in_another_order_are_refused(part: Any) -> None:
    """They are elements only in the elements' order, even if the shape is the same."""
    x = ft.complex(ft.randn(3, 2, 2), ft.randn(3, 2, 2))
    with pytest.raises(GraphError, match="add is not elementwise"):
        ft.scan(lambda s, x: (s + part(x), s), ft.zeros(2, 2), x)


def test_inputs_without_steps_are_refused() -> None:
    for xs, error, said in (
        (3.0, TypeError, "xs must hold tensors, not float"),
        (ft.tensor(3.0), TypeError, r"a tensor of xs has shape \(\), and steps are in dim 0"),
        ((), TypeError, "xs must hold"),
        ((ft.ones(3), ft.ones(4)), ValueError, r"\[3, 4\] steps"),
        ((ft.ones(3, 2), ft.ones(3)), ValueError, "shape"),
    ):
        with pytest.raises(error, match=said):
            ft.scan(previous, 0.0, xs)
