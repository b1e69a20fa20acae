"""Functions that ft.jit refuses: the error names the line, and no state changes."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import ftensor as ft

KEPT: list[ft.Tensor] = []


def branches(x: ft.Tensor) -> ft.Tensor:
    x += 1
    ft.rand(3)
    return x if x.sum() > 0 else -x


def keeps(x: ft.Tensor) -> ft.Tensor:
    KEPT.append(x * 3)
    return x + 1


def transposes(x: ft.Tensor) -> ft.Tensor:
    return x.t_()


def leaves_the_device(x: ft.Tensor) -> ft.Tensor:
    return x + ft.ones(2, 3, device="cpu").to(x.device) + x.cpu().to(x.device)


def other_stream(x: ft.Tensor) -> ft.Tensor:
    with ft.fpga.stream(ft.fpga.Stream()):
        return x * 2


def saves_the_state(x: ft.Tensor) -> ft.Tensor:
    state = ft.get_rng_state()
    x = x + ft.rand(3)
    ft.set_rng_state(state)
    return x


STATE = ft.Generator().get_state()
REFUSED: list[tuple[Callable[..., Any], str]] = [
    (branches, r"__bool__ reads a value while branches is traced.*x if x.sum\(\) > 0"),
    (lambda x: x.item() if x.numel() == 1 else x.tolist(), "tolist reads a value"),
    (lambda x: x.numpy(), "numpy reads a value"),
    (lambda x: ft.nonzero(x), "nonzero reads a value"),
    (lambda x: repr(x), "__repr__ reads a value"),
    (keeps, r"is kept after the call but was not returned.*KEPT.append"),
    (transposes, r"changes the shape.*shape \(2, 3\), then \(3, 2\)"),
    (other_stream, "another stream inside other_stream"),
    (saves_the_state, r"get_rng_state moves the state of a generator.*state = ft.get_rng_state\(\)"),
    (lambda x: ft.set_rng_state(STATE), "set_rng_state moves the state"),
    (lambda x: ft.fpga.set_rng_state(STATE), "set_rng_state moves the state"),
    (lambda x: ft.seed(), "^seed moves the state"),
    (lambda x: ft.fpga.seed_all(), "seed_all moves the state"),
    (lambda x: ft.rand(ft.Generator().initial_seed() % 3), "initial_seed moves the state"),
    (lambda x: ft.Generator().get_offset(), "get_offset moves the state"),
    (lambda x: ft.Generator().seed(), "^seed moves the state"),
]


@pytest.mark.parametrize(("function", "text"), REFUSED)
def test_untraceable_functions_are_refused(function: Callable[..., Any], text: str) -> None:
    """A GraphError names the op and the line. Arguments and generators are unchanged."""
    x = ft.arange(6.0).view(2, 3)
    ft.manual_seed(1)
    with pytest.raises(ft.GraphError, match=text):
        ft.jit(function)(x)
    assert (x.tolist(), x.shape) == ([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], (2, 3))
    assert ft.random.default_generator().get_offset() == 0


@pytest.mark.parametrize("argument", [True, False])
def test_resized_argument_that_is_captured_too(argument: bool) -> None:
    """The error is a GraphError, not that of the shape that the other name still has in the
    trace."""
    g = ft.arange(16.0)

    def function(x: ft.Tensor, y: ft.Tensor) -> ft.Tensor:
        changed, other = (x, g) if argument else (g, x)
        changed.resize_(4)
        return other.mul_(y)

    with pytest.raises(ft.GraphError, match=r"shape \(16,\), then \(4,\)"):
        ft.jit(function)(g, ft.ones(4))
    assert g.tolist() == ft.arange(16.0).tolist()
    assert function(g, ft.ones(4)).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_tensor_of_a_trace_cannot_be_used() -> None:
    """It has no memory, so using it after a GraphError is an error."""
    KEPT.clear()
    with pytest.raises(ft.GraphError):
        ft.jit(keeps)(ft.ones(2))
    with pytest.raises(ft.GraphError, match="has no memory"):
        KEPT[0] + 1
    with pytest.raises(ft.GraphError, match="has no memory"):
        KEPT[0].tolist()
    KEPT.clear()


@pytest.mark.parametrize("op", [ft.nonzero, ft.unique, ft.Tensor.item], ids=lambda op: op.__name__)
def test_jit_of_an_op(op: Callable[..., Any]) -> None:
    """The error names it, not its caller."""
    with pytest.raises(ft.GraphError, match=rf"^{op.__name__} reads a value"):
        ft.jit(op)(ft.ones(1))


STATISTICS: dict[str, Callable[[ft.Tensor], Any]] = {
    "quantile": lambda x: ft.quantile(x, 0.75),
    "histc": lambda x: ft.histc(x, 4, -1.0, 1.0),
    "histc of integers": lambda x: ft.histc((4 * x).to(ft.int32), 4, -3, 3),
    "histogram": lambda x: ft.histogram(x, 4, range=(-1.0, 1.0), weight=x.abs())[0],
}


@pytest.mark.parametrize("name", STATISTICS)
def test_histogram_statistics_read_no_value(name: str) -> None:
    """Elements outside the bins, including infinities, are not counted."""
    x = ft.tensor([-2.0, -1.0, -0.25, 0.0, 0.6, 1.0, 1.5])
    function = STATISTICS[name]
    assert ft.jit(function)(x).tolist() == function(x).tolist()
    assert ft.histc(ft.tensor([float("inf"), 0.5, float("nan")]), 2, 0.0, 1.0).tolist() == [0, 1]


def test_two_devices() -> None:
    """The error names both."""
    with pytest.raises(ft.GraphError, match="tensors on cpu and fpga:0"):
        ft.jit(lambda x, y: (x + 1, y + 1))(ft.ones(2), ft.ones(2, device="cpu"))


def test_errors_of_the_function_are_raised() -> None:
    """Nothing is cached, and the function still runs eagerly."""
    calls = []

    @ft.jit
    def fails(x: ft.Tensor) -> ft.Tensor:
        calls.append(1)
        x += 1
        raise KeyError("mine")

    x = ft.zeros(2)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            fails(x)
    assert (len(calls), x.tolist(), (x + 1).tolist()) == (2, [0.0, 0.0], [1.0, 1.0])


def views_and_raises(x: ft.Tensor) -> ft.Tensor:
    view = x[0]
    raise KeyError(view.shape)


RAISING: list[Callable[[ft.Tensor], Any]] = [
    ft.jit(views_and_raises),
    lambda x: ft.nn.functional.layer_norm(x, ft.tensor([3])),  # type: ignore[arg-type]
    lambda x: ft.nn.functional.scaled_dot_product_attention(x, x[:, :2], x),
    lambda x: ft.nn.functional.mse_loss(x, x.t()),
]


@pytest.mark.parametrize("call", RAISING, ids=[str(k) for k in range(len(RAISING))])
def test_error_does_not_collect_garbage(call: Callable[[ft.Tensor], Any]) -> None:
    """A collection takes 50 ms and more in a large program, and the error's frames would keep the
    garbage alive."""
    x, collections = ft.arange(6.0).view(2, 3), []

    def note(phase: str, info: Any) -> None:
        collections.append(phase)

    gc.disable()
    gc.callbacks.append(note)
    try:
        with warnings.catch_warnings(), pytest.raises((KeyError, TypeError, RuntimeError)):
            warnings.simplefilter("ignore")
            call(x)
    finally:
        gc.callbacks.remove(note)
        gc.enable()
    assert not collections
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_objects_that_jit_refuses() -> None:
    """Coroutines, generators, and objects that are no functions."""

    async def later() -> None:
        await asyncio.sleep(0)

    def several() -> Iterator[int]:
        yield 1

    with pytest.raises(TypeError, match="later: it is a coroutine function"):
        ft.jit(later)
    with pytest.raises(TypeError, match="several: it is a generator function"):
        ft.jit(several)
    with pytest.raises(TypeError, match="takes a function, not int"):
        ft.jit(3)  # type: ignore[arg-type]


def test_unhashable_arguments() -> None:
    """The error names it and suggests an alternative."""
    with pytest.raises(TypeError, match=r"got set \{1\} for by"):
        ft.jit(lambda x, by: x)(ft.ones(2), by={1})


def test_read_only_memory() -> None:
    """It is refused, as without jit."""
    import numpy as np

    array = np.ones(64, np.float32)
    array.flags.writeable = False
    x = ft.from_numpy(array)
    jitted = ft.jit(lambda x: x.add_(1))
    assert jitted(ft.zeros(64)).tolist() == [1.0] * 64
    if x._storage.readonly:
        with pytest.raises(RuntimeError, match="read-only"):
            jitted(x)
    assert array.tolist() == [1.0] * 64


def test_many_traces_name_the_value() -> None:
    """Eight traces that differ in one number give a single warning. Traces that differ in shape or
    in two numbers give none, and numbers that are graph arguments make no traces."""

    @ft.jit
    def jitted(x: ft.Tensor, scale: int, *more: object, **options: object) -> tuple[ft.Tensor, int]:
        return x * scale, len(f"{scale} {more} {options}")

    free = ft.jit(lambda x, scale, *more: x * scale)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1, 20):
            jitted(ft.ones(k), 2, 3)
            jitted(ft.ones(3), k, more=k)
            free(ft.ones(3), k, [k / 2])
        for k in range(30, 37):
            jitted(ft.ones(3), 2, 3, [1, {"a": k}])
    with pytest.warns(UserWarning, match=r"8 times for different values of more\[1\]\[1\]\['a'\]") as seen:
        jitted(ft.ones(3), 2, 3, [1, {"a": 50}])
    assert [w.filename for w in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jitted(ft.ones(3), 2, 3, [1, {"a": 51}])
