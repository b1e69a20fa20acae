"""Each call checks its trace's assumptions: shared memory, offsets of windows, captured tensors,
advanced generators."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ftensor as ft

Function = Callable[..., Any]


def values(results: Any) -> Any:
    if isinstance(results, ft.Tensor):
        return results.tolist()
    return [values(part) for part in results] if isinstance(results, (tuple, list)) else results


def plain(function: Function) -> Function:
    return function


def outcome(call: Function, *args: Any) -> Any:
    """Returns the results or the error of a call."""
    try:
        return values(call(*args))
    except ft.GraphError:
        raise
    except Exception as error:  # noqa: BLE001 - which one is what is compared
        return type(error), str(error)


@pytest.mark.core
@pytest.mark.parametrize("first", ["apart", "the tensor itself", "a view of it"])
@pytest.mark.parametrize("written", ["outside", "argument"])
def test_argument_that_is_captured_too(first: str, written: str) -> None:
    """Whichever call is traced, a write to one is visible in the other."""

    def made(jit: Function) -> tuple[Function, ft.Tensor]:
        g = ft.zeros(4)

        def function(x: ft.Tensor) -> tuple[ft.Tensor, ...]:
            mine, other = (g, x) if written == "outside" else (x, g)
            before = other + 1
            mine.add_(1)
            return before, other * 2

        return jit(function), g

    def outcomes(jit: Function) -> Any:
        function, g = made(jit)
        order = {"apart": lambda: ft.ones(4), "the tensor itself": lambda: g, "a view of it": lambda: g[:]}
        calls = [order[first], *order.values()]
        return [(values(function(argument())), g.tolist()) for argument in calls]

    assert outcomes(plain) == outcomes(ft.jit)


def from_torch(array: np.ndarray) -> ft.Tensor:
    return ft.from_torch(pytest.importorskip("torch").from_numpy(array))


@pytest.mark.parametrize("of", [ft.from_numpy, ft.from_dlpack, from_torch], ids=["numpy", "dlpack", "torch"])
@pytest.mark.parametrize("start", [0, 1, 4])
def test_tensors_over_one_array(of: Function, start: int) -> None:
    """Arguments and a captured tensor share memory, found by its address."""

    def outcomes(jit: Function) -> Any:
        array = np.arange(8, dtype=np.float32)
        outside = of(array[:4])

        def two(x: ft.Tensor, y: ft.Tensor) -> tuple[ft.Tensor, ...]:
            before = x + 1
            y.add_(1)
            return before, x * 2

        def one(x: ft.Tensor, held: ft.Tensor = outside) -> tuple[ft.Tensor, ...]:
            return two(x, held)

        def both(x: ft.Tensor) -> tuple[ft.Tensor, ...]:
            return two(others[0], others[1])

        others = of(array[start : start + 4]), of(array[:4])
        got = []
        for function, calls in (
            (two, [(ft.ones(4), ft.ones(4)), (of(array[start : start + 4]), of(array[:4]))]),
            (lambda x: one(x), [(ft.ones(4),), (of(array[start : start + 4]),)]),
            (both, [(ft.ones(4),)]),
        ):
            jitted = jit(function)
            for arguments in calls:
                got.append([values(jitted(*arguments)), array.tolist()])
        return got

    assert outcomes(plain) == outcomes(ft.jit)


def test_one_tensor_or_two_tensors_of_its_memory() -> None:
    """The call determines which one is returned."""
    jitted = ft.jit(lambda x, y: (y, x))
    x = ft.ones(3)
    assert jitted(x, x)[0] is x
    y = x[:]
    assert jitted(x, y)[0] is y


@pytest.mark.parametrize("written", ["outside", "arguments", "one argument"])
def test_forty_tensors(written: str) -> None:
    """The last argument is one of the others, a captured tensor, or a view of the same array."""

    def outcomes(jit: Function) -> Any:
        array = np.arange(8, dtype=np.float32)
        outside = [ft.zeros(4) for _ in range(40)]

        def function(tensors: list[ft.Tensor]) -> list[ft.Tensor]:
            mine, others = (outside, tensors) if written == "outside" else (tensors, outside)
            mine, others = ([tensors[0]], tensors) if written == "one argument" else (mine, others)
            before = [t + 1 for t in others]
            for t in mine:
                t.add_(1)
            return [*before, *(t + 1 for t in others)]

        jitted, got = jit(function), []
        for last in (ft.ones(4), outside[0], outside[39], ft.from_numpy(array[:4]), ft.from_numpy(array[4:])):
            got.append(values(jitted([ft.from_numpy(array[:4]), *(ft.ones(4) * k for k in range(38)), last])))
            got += [values(outside), array.tolist()]
        return got

    assert outcomes(plain) == outcomes(ft.jit)


LAYOUTS: list[Function] = [
    lambda x: x.view(ft.int32),
    lambda x: x.view(ft.int32).fill_(-1),
    lambda x: (x.view(ft.int16), None)[1],
    lambda x: x[1:5].view(ft.int32),
    lambda x: ft.view_as_complex(x.view(ft.float16).view(-1, 2)).abs(),
    lambda x: x.as_strided((2, 2), (4, 1)),
    lambda x: x.as_strided((3,), (1,), 9).add_(1),
    lambda x: x.as_strided((20,), (1,)),
    lambda x: x[:2].clone().set_(x, 3, (2,), (1,)),
    lambda x: x[:4].resize_(10)[:8],  # the rest may be uninitialized memory
    lambda x: x + x.storage_offset(),
]


@pytest.mark.parametrize("function", LAYOUTS, ids=[str(k) for k in range(len(LAYOUTS))])
def test_windows_with_other_offsets(function: Function) -> None:
    """Results may depend on an argument's offset and on the memory behind it. They equal eager's:
    values, errors, and the surrounding memory."""

    def outcomes(jit: Function) -> Any:
        jitted, got = jit(function), []
        for start in (8, 8, 11, 0, 12, 24):
            base = ft.arange(32).to(ft.uint8)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got.append((outcome(jitted, base[start : start + 8]), base.tolist()))
        got.append(outcome(jitted, ft.arange(8).to(ft.uint8)))
        return got

    assert outcomes(plain) == outcomes(ft.jit)


DRAWN: list[Function] = [
    lambda x: x.normal_(),
    lambda x: x.uniform_(),
    lambda x: x.random_(0, 9),
    lambda x: x.bernoulli_(0.5),
    lambda x: x.exponential_(),
    lambda x: x.geometric_(0.5),
    lambda x: x.cauchy_(),
    lambda x: x.log_normal_(),
    lambda x: ft.nn.functional.dropout(x, 0.5, True, True),
    lambda x: ft.rand(x.shape, out=x),
    lambda x: ft.randn(x.shape, out=x),
    lambda x: ft.normal(0.0, 1.0, x.shape, out=x),
    lambda x: ft.arange(8.0, out=x),
    lambda x: ft.linspace(0, 1, 8, out=x),
]


@pytest.mark.parametrize("function", DRAWN, ids=[str(k) for k in range(len(DRAWN))])
@pytest.mark.parametrize("first", [0, 4])
def test_random_fill_of_a_moving_window(function: Function, first: int) -> None:
    """Numbers depend on the element's position in the tensor, not on the tensor's offset."""

    def outcomes(jit: Function) -> Any:
        jitted, got, base = jit(function), [], ft.zeros(40)
        for start in (first, 0, 1, 4, 13):
            base.copy_(ft.arange(40.0))
            ft.manual_seed(11)
            jitted(base[start : start + 8])
            got.append(base.tolist())
        return got

    assert outcomes(plain) == outcomes(ft.jit)


UNUSED: list[Function] = [
    lambda x: (ft.nn.functional.dropout(x, 0.5), x + 1)[1],
    lambda x: ft.rand(2) is None,
    lambda x: x[:0].normal_(),
    lambda x: (ft.randperm(0), x + 1)[1],
    lambda x: (x.clone().uniform_(), ft.rand(3))[1],
]


@pytest.mark.parametrize("function", UNUSED, ids=[str(k) for k in range(len(UNUSED))])
def test_unused_random_numbers(function: Function) -> None:
    """They still advance the generator."""

    def outcomes(jit: Function) -> Any:
        jitted, x = jit(function), ft.ones(4)
        ft.manual_seed(3)
        got = [values(jitted(x)) for _ in range(3)]
        return [got, ft.random.default_generator().get_offset(), ft.rand(2).tolist()]

    assert outcomes(plain) == outcomes(ft.jit)


CHANGES: list[Function] = [
    lambda g: ft.cat([ft.zeros(4), ft.ones(4)], out=g),
    lambda g: g.resize_(8).fill_(3),
    lambda g: g.resize_(2),
    lambda g: g.t_(),
    lambda g: g.unsqueeze_(0),
    lambda g: g.set_(ft.ones(2, 2)),
    lambda g: g.as_strided_((2,), (2,), 1),
    lambda g: g[0].unsqueeze_(0),
]


@pytest.mark.parametrize("change", CHANGES, ids=[str(k) for k in range(len(CHANGES))])
@pytest.mark.parametrize("part", [False, True])
def test_captured_tensor_gets_another_geometry(change: Function, part: bool) -> None:
    """The function may also read only a view of it."""

    def outcomes(jit: Function) -> Any:
        g = ft.arange(4.0).view(2, 2)
        outside = weakref.ref(g)  # not a name of the function
        function = jit(lambda x: x + (outside()[..., :1] if part else outside()))
        got = [values(function(ft.ones(1)))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            change(g)
        g.add_(1)
        return [*got, values(function(ft.ones(1))), values(function(ft.ones(1)))]

    assert outcomes(plain) == outcomes(ft.jit)


def test_shape_of_a_captured_tensor() -> None:
    """The tensor is captured itself, or is part of a captured object."""
    g, parts = ft.zeros(4), {"h": ft.zeros(4)}
    layer = SimpleNamespace(weight=ft.zeros(4))
    jitted = ft.jit(lambda x: x.expand_as(g) + ft.zeros_like(parts["h"]) * layer.weight.shape[0])
    assert jitted(ft.ones(1)).shape == (4,)
    for t in (g, parts["h"], layer.weight):
        t.resize_(2)
    assert jitted(ft.ones(1)).shape == (2,)


def test_offset_of_a_captured_tensor() -> None:
    """This includes a tensor that no kernel reads."""
    g = ft.arange(8.0)[:4]
    jitted = ft.jit(lambda x: (g.view(ft.float64), x + 1)[1])
    jitted(ft.ones(1))
    g.as_strided_((4,), (2,), 1)
    with pytest.raises(RuntimeError, match="last stride"):
        jitted(ft.ones(1))


def test_function_that_changes_a_captured_geometry() -> None:
    """It is refused and changes nothing, since each call would have to repeat the change."""
    g = ft.arange(6.0).view(2, 3)
    for function in (lambda x: x + g.t_(), lambda x: ft.cat([x, x], out=g), lambda x: g.unsqueeze_(0)):
        with warnings.catch_warnings(), pytest.raises(ft.GraphError, match="changes the shape, the layout"):
            warnings.simplefilter("ignore")
            ft.jit(function)(ft.ones(1))
        assert g.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert ft.jit(lambda x: x + g[0].unsqueeze_(0))(ft.ones(1)).tolist() == [[1.0, 2.0, 3.0]]
