"""After a graph's calls, arguments are unchanged and graphs keep nothing alive. Results hold
objects and numbers of any size."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.graph.lowering import Lowered

from .test_jit_guards import Function, outcome


def test_stored_arguments_are_those_of_the_call() -> None:
    """The function stores arguments or appends them to a list."""
    kept: list[ft.Tensor] = []

    @ft.jit
    def function(tensors: list[ft.Tensor], by: dict[str, ft.Tensor]) -> ft.Tensor:
        kept.extend((tensors[0], tensors[1][1:]))
        tensors.pop()
        by["more"] = tensors[0]
        return tensors[0] + by["x"]

    x, y = ft.ones(3), ft.arange(3.0)
    tensors, by = [x, y], {"x": y}
    assert function(tensors, by).tolist() == [1.0, 2.0, 3.0]
    assert len(tensors) == 1
    assert tensors[0] is x
    assert by["more"] is x
    kept[0].add_(1)
    kept[1].add_(1)
    assert (x.tolist(), y.tolist()) == ([2.0, 2.0, 2.0], [0.0, 2.0, 3.0])


def test_equal_arguments_of_different_type_or_sign() -> None:
    """Numbers of different types, and zeros of different signs, are equal."""
    jitted = ft.jit(lambda x, of: x * next(iter(of)))
    for of in ({2: 0}, {2.0: 0}, frozenset({1}), frozenset({True}), frozenset({1.5})):
        x = ft.ones(2, dtype=ft.int64)
        assert jitted(x, of).dtype is (x * next(iter(of))).dtype


def test_graphs_keep_nothing_alive() -> None:
    """They keep no functions or captured objects alive, no arguments, and no object of a method."""

    class Layer:
        def __init__(self) -> None:
            self.weight = ft.ones(2)

        @ft.jit
        def __call__(self, x: ft.Tensor, by: Any = None) -> ft.Tensor:
            return x * self.weight + ft.tensor([1.0, 2.0])

        def plain(self, x: ft.Tensor) -> ft.Tensor:
            return x * self.weight

    def gone() -> list[weakref.ref[Any]]:
        outside, layer, other = ft.ones(3), Layer(), Layer()
        closure = ft.jit(lambda x: x + outside)
        closure(ft.ones(1))
        layer(ft.ones(2))
        layer(ft.ones(2), other)
        ft.jit(layer.plain)(ft.ones(2))
        ft.jit(lambda x, f: f(x))(ft.ones(2), layer.plain)
        things = (outside, outside._storage, closure, layer, layer.weight._storage, other)
        return [weakref.ref(thing) for thing in things]

    references = gone()
    gc.collect()
    assert [reference() for reference in references] == [None] * len(references)


def test_graph_is_freed_with_its_function() -> None:
    """This includes its data, such as numbers that the function converts to tensors."""
    launches = default_backend().launches

    def once() -> str:
        jitted = ft.jit(lambda x: x + ft.tensor([1.0, 2.0]))
        for _ in range(2):
            assert jitted(ft.ones(2)).tolist() == [2.0, 3.0]
        return jitted.name

    for _ in range(5):
        name = once()
        gc.collect()
    left = [entry for entry in launches.values() if type(entry) is Lowered and entry.graph.name == name]
    assert len(left) <= 1, "the last one goes with the next that is kept"


def test_freed_captured_tensor_retraces() -> None:
    """The name is bound to another tensor after the first was freed."""
    space = {"w": ft.ones(2)}
    jitted = ft.jit(lambda x: x + space["w"])
    assert jitted(ft.ones(2)).tolist() == [2.0, 2.0]
    space["w"] = ft.zeros(2) - 3
    assert jitted(ft.ones(2)).tolist() == [-2.0, -2.0]


class Part:
    """An object that compares by identity."""

    def __init__(self, by: int) -> None:
        self.by = by


class Layer:
    """Methods that return the object, its attributes, or results computed from them."""

    def __init__(self) -> None:
        self.weight, self.more = ft.ones(2), Part(2)

    @ft.jit
    def itself(self, x: ft.Tensor) -> Any:
        return self, x * self.weight

    @ft.jit
    def a_method(self, x: ft.Tensor) -> Any:
        return [x * self.weight, self.plain]

    @ft.jit
    def a_part(self, x: ft.Tensor) -> Any:
        return {"x": x * self.weight, "more": (self.more, None, "text"), "again": self.more}

    @ft.jit
    def as_a_key(self, x: ft.Tensor) -> Any:
        return {self: x * self.weight}

    @ft.jit
    def in_a_closure(self, x: ft.Tensor) -> Any:
        return x * self.weight, lambda: self

    @ft.jit
    def in_an_object(self, x: ft.Tensor) -> Any:
        return x * self.weight, SimpleNamespace(of=[self.plain])

    def plain(self, x: ft.Tensor) -> Any:
        return x * self.weight, self


METHODS = [Layer.itself, Layer.a_method, Layer.a_part, Layer.as_a_key, Layer.in_a_closure, Layer.in_an_object]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_result_keeps_no_object_alive(method: Any) -> None:
    """The object's method is jitted, and may return anything."""

    def gone() -> list[weakref.ref[Any]]:
        layer = Layer()
        for _ in range(3):
            method(layer, ft.ones(2))
        jitted = ft.jit(layer.plain)
        assert jitted(ft.ones(2))[1] is layer
        assert jitted(ft.ones(2))[1] is layer
        return [weakref.ref(layer), weakref.ref(layer.more), weakref.ref(layer.weight._storage)]

    references = gone()
    gc.collect()
    assert [reference() for reference in references] == [None] * 3


def test_closures_that_return_captured_objects() -> None:
    """Of two hundred closures with 64 KB each, at most the last is kept."""

    class Block(bytearray):
        __hash__ = object.__hash__

    references = []
    for _ in range(200):
        block = Block(1 << 16)
        jitted = ft.jit(lambda x, block=block: (x + 1, block))
        assert jitted(ft.ones(2))[1] is block
        references.append(weakref.ref(block))
    del block, jitted
    gc.collect()
    assert sum(reference() is not None for reference in references) <= 1


def test_objects_in_results_are_those_of_the_call() -> None:
    """Results hold arguments, also if equal to the first call's, and the object's own parts and
    methods."""
    jitted = ft.jit(lambda x, of, by=None: (x * of.by, [of, None, by]))
    for k in (3, 3, 4):
        part, number = Part(k), Decimal("1.5")
        x, objects = jitted(ft.ones(2), part, by=number)
        assert x.tolist() == [k, k]
        assert objects[0] is part
        assert objects[2] is number
    layer = Layer()
    for _ in range(3):
        assert Layer.itself(layer, ft.ones(2))[0] is layer
        assert list(Layer.as_a_key(layer, ft.ones(2))) == [layer]
        assert Layer.a_method(layer, ft.ones(2))[1](ft.ones(2))[1] is layer
        assert Layer.in_a_closure(layer, ft.ones(2))[1]() is layer
        part = Layer.a_part(layer, ft.ones(2))
        assert part["more"] == (layer.more, None, "text")
        assert part["again"] is layer.more
    del part
    layer.more = Part(3)
    assert Layer.a_part(layer, ft.ones(2))["again"] is layer.more, "traced again, as nobody has the first"


def test_other_objects_in_results() -> None:
    """The graph stores such an object, and each call returns it."""

    def function(x: ft.Tensor) -> Any:
        made = {1, 2}
        return made, (x + 1, made), [x.dtype, x.device, 2.5]

    jitted = ft.jit(function)
    for _ in range(3):
        made, (x, same), rest = jitted(ft.ones(2))
        assert made is same
        assert (made, x.tolist(), rest) == ({1, 2}, [2.0, 2.0], [ft.float32, x.device, 2.5])


BEYOND: list[tuple[Function, Callable[[], ft.Tensor]]] = [
    (lambda x, p: x * p, lambda: ft.ones(0)),
    (lambda x, p: x.add_(p), lambda: ft.ones(0, dtype=ft.int64)),
    (lambda x, p: ft.cumulative_trapezoid(x, dx=p), lambda: ft.ones(1)),
    (lambda x, p: (x * p, x + 1)[1], lambda: ft.ones(2)),
    (lambda x, p: ft.full_like(x, p), lambda: ft.ones(0)),
]


@pytest.mark.parametrize(("function", "operand"), BEYOND, ids=[str(k) for k in range(len(BEYOND))])
def test_int_beyond_64_bits(function: Function, operand: Callable[[], ft.Tensor]) -> None:
    """It raises eager's error at the first and at a later call, even if no kernel gets the
    number."""
    for numbers in ((3, 10**30), (10**30, 3)):
        jitted = ft.jit(function)
        for number in numbers:
            assert outcome(jitted, operand(), number) == outcome(function, operand(), number)
