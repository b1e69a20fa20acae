"""Seeds inside jitted functions: each call leaves generators in the states that eager would."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import ftensor as ft

from .test_jit_guards import Function, plain, values

Seeded = Callable[[ft.Tensor, ft.Generator, int], Any]


def seeds(x: ft.Tensor, g: ft.Generator, k: int) -> Any:
    before = ft.rand(3)
    ft.manual_seed(5)
    return before, x + ft.rand(3), ft.rand(3, generator=g)


def seeds_alone(x: ft.Tensor, g: ft.Generator, k: int) -> Any:
    ft.manual_seed(7)


def by_a_number(x: ft.Tensor, g: ft.Generator, k: int) -> Any:
    ft.manual_seed(k)
    g.set_offset(k)
    return x + k


def seeds_another(x: ft.Tensor, g: ft.Generator, k: int) -> Any:
    g.manual_seed(-3)
    return x * ft.rand(3, generator=g)


def forks(x: ft.Tensor, g: ft.Generator, k: int) -> Any:
    with ft.random.fork_rng():
        inside = ft.rand(3)
        ft.manual_seed(3)
        with ft.random.fork_rng():
            x = x + ft.rand(3)
        x = x + ft.rand(3)
    return x, inside, ft.rand(3)


def makes_generators(x: ft.Tensor, g: ft.Generator, k: int) -> Any:
    own, clone = ft.Generator(x.device), g.clone_state()
    return ft.rand(3, generator=own) + ft.rand(3, generator=own), ft.rand(3, generator=clone), ft.rand(3, generator=g)


def of_devices(x: ft.Tensor, g: ft.Generator, k: int) -> Any:
    ft.fpga.manual_seed(k)
    drawn = ft.rand(3)
    ft.fpga.manual_seed_all(4)
    return drawn, ft.nn.functional.dropout(x, 0.5)


FUNCTIONS: list[Seeded] = [seeds, seeds_alone, by_a_number, seeds_another, forks, makes_generators, of_devices]


@pytest.mark.core
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_each_call_seeds(function: Seeded) -> None:
    """Compares the numbers, and the states of all generators after each call."""

    def outcomes(jit: Function) -> Any:
        ft.manual_seed(1)
        g, got = ft.Generator().manual_seed(2), []
        jitted = jit(function)
        for k in (3, 3, 4, 3):
            got.append(values(jitted(ft.ones(3), g, k)))
            states = [generator.get_state().tolist() for generator in (ft.random.default_generator(), g)]
            got += [states, ft.rand(2).tolist(), ft.rand(2, generator=g).tolist()]
        return got

    assert outcomes(plain) == outcomes(ft.jit)


def test_trace_does_not_change_generators() -> None:
    """This includes default generators of devices, if a function seeds, draws and fails."""
    ft.manual_seed(1)
    g = ft.Generator().manual_seed(2)
    ft.rand(2)
    ft.rand(2, generator=g)
    states = [generator.get_state().tolist() for generator in (ft.random.default_generator(), g)]

    @ft.jit
    def fails(x: ft.Tensor) -> None:
        ft.rand(2)
        ft.manual_seed(3)
        with ft.random.fork_rng():
            ft.rand(2, generator=g.manual_seed(4))
            g.set_offset(9)
            raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            fails(ft.ones(1))
        assert [generator.get_state().tolist() for generator in (ft.random.default_generator(), g)] == states
    assert ft.initial_seed() == 1


def test_generator_made_by_the_function_in_threads() -> None:
    """Each call draws the first numbers of its seed, whatever other threads do."""

    @ft.jit
    def draws(x: ft.Tensor) -> tuple[ft.Tensor, ...]:
        own = ft.Generator(x.device).manual_seed(3)
        return tuple(x * ft.rand(4, generator=own) for _ in range(4))

    want = values(draws(ft.ones(4)))
    wrong: list[Any] = []

    def calls() -> None:
        for _ in range(100):
            got = values(draws(ft.ones(4)))
            if got != want:
                wrong.append(got)

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
