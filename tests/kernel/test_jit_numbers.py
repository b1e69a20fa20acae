"""Numbers passed to a jitted call become arguments of its graph, unless Python code reads them."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

import ftensor as ft
from ftensor._device import default_backend

from .test_jit import equal


def scaled(x: ft.Tensor, by: list[Any], how: dict[str, Any], *, shift: Any = 0) -> ft.Tensor:
    z = (x * by[0] + shift).add(x, alpha=how["alpha"])
    return ft.where(x > by[1], z, z * by[0]).sum(-1)


INF, NAN = float("inf"), float("nan")
# In turn: numbers that a kernel rounds, numbers that it wraps, and special values.
FLOATS = [0.1, -0.0, INF, NAN, 1e-42, 2.0**53 + 1, 0.0]
INTS = [3, -1, 2**53 + 1, 2**63, -(2**63), 0]


@pytest.mark.parametrize("numbers", [FLOATS, INTS], ids=["floats", "ints"])
@pytest.mark.parametrize("dtype", [ft.float32, ft.float16, ft.int32], ids=str)
def test_numbers_are_arguments(dtype: ft.dtype, numbers: list[Any]) -> None:
    """Numbers in lists, dicts and keywords need one trace, and have eager's bits and errors at each
    value."""
    traces = []

    def counted(*args: Any, **kwargs: Any) -> ft.Tensor:
        traces.append(1)
        return scaled(*args, **kwargs)

    def arguments(k: int) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
        a, b, c, d = (numbers[(k + j) % len(numbers)] for j in range(4))
        return [a, b], {"alpha": c}, {"shift": d}

    jitted, x, refused = ft.jit(counted), ft.arange(-6, 6).reshape(3, 4).to(dtype), 0
    for k in range(len(numbers)):
        by, how, more = arguments(k)
        try:
            wanted = scaled(x, by, how, **more)
        except RuntimeError as error:
            refused += 1
            with pytest.raises(RuntimeError, match=re.escape(str(error))):
                jitted(x, by, how, **more)
            continue
        equal(jitted(x, by, how, **more), wanted)
    # An int `alpha` is compared with 1. If an op refuses a number, the error is raised in a
    # separate trace, which is dropped. If an image lacks a kernel, the function runs eagerly.
    traced = default_backend().images is None
    assert not traced or len(traces) <= (1 if numbers is FLOATS else len(numbers)) + 2 * refused


def test_complex_numbers_are_arguments() -> None:
    """Both parts keep their sign."""
    traces = []
    jitted = ft.jit(lambda x, by: traces.append(1) or x * by)
    x = ft.complex(ft.ones(2), ft.tensor([0.0, -0.0]))
    for by in (1 + 2j, complex(0.0, -0.0), complex(-0.0, 0.0), 3j):
        for result, wanted in zip((jitted(x, by).real, jitted(x, by).imag), ((x * by).real, (x * by).imag)):
            equal(result.signbit(), wanted.signbit())
            equal(result, wanted)
    assert len(traces) == 1


def test_numbers_read_by_python_are_part_of_the_signature() -> None:
    """Code compares them, computes with them, or uses them as a dim, key or text. Bools and other
    branches count, too."""
    traces = []

    @ft.jit
    def f(x: ft.Tensor, rate: float, dim: int, flag: bool, power: float) -> ft.Tensor:
        traces.append(1)
        y = x.sum(dim) * rate + (1 if flag else 2)
        if rate > 1:
            y = y * math.sqrt(power)
        return y + {2: 5, 3: 7}.get(dim, 0) + len(f"{dim}") + 2 * power

    def expected(*args: Any) -> Any:
        kept = traces.copy()
        result = f.__wrapped__(*args)
        traces[:] = kept
        return result

    x = ft.arange(6.0).reshape(2, 3)
    calls = [
        (0.5, 0, True, 1.0),
        (0.5, 1, True, 1.0),
        (0.5, 1, False, 1.0),
        (2.0, 1, False, 1.0),
        (2.0, 1, False, 4.0),
        (0.5, 1, False, 4.0),
    ]
    for k, call in enumerate(calls):
        for _ in range(2):
            equal(f(x, *call), expected(x, *call))
        assert len(traces) == k + 1


def test_stored_and_returned_numbers() -> None:
    """A function stores a plain number, and returns this call's number."""
    kept: list[Any] = []

    @ft.jit
    def f(x: ft.Tensor, by: float, others: list[Any]) -> Any:
        kept.append(by)
        others.append(by)
        return x * by, by, {"times": others[0]}

    for by in (2.0, 3.0):
        others = [1]
        result = f(ft.ones(2), by, others)
        equal(result[0], ft.full((2,), by))
        assert result[1:] == (by, {"times": 1})
        assert type(result[1]) is type(kept[-1]) is type(others[-1]) is float


def test_random_numbers_and_number_arguments() -> None:
    """A graph that draws random numbers gets them separately."""
    jitted = ft.jit(lambda x, a, b: (x + ft.rand(4)) * a + ft.randn(4) * b)
    calls = [(0.5, 2), (0.25, 3), (1.5, -1)]
    ft.manual_seed(1)
    eager = [(ft.ones(4) + ft.rand(4)) * a + ft.randn(4) * b for a, b in calls]
    ft.manual_seed(1)
    for numbers, wanted in zip(calls, eager):
        equal(jitted(ft.ones(4), *numbers), wanted)


def test_equal_numbers_are_separate_arguments() -> None:
    """A later call may pass two different numbers."""
    jitted = ft.jit(lambda x, a, b: (x * a, x * b, x * 2.0))
    for a, b in ((2.0, 2.0), (3.0, 4.0)):
        equal(jitted(ft.ones(2), a, b), tuple(ft.full((2,), by) for by in (a, b, 2.0)))
