"""Random number generators: seeds, states, devices, threads."""

from __future__ import annotations

import threading

import pytest

import ftensor as ft

from ..oracle import agree, torch
from .test_random import source


def test_generators() -> None:
    """They have torch's methods, and numbers depend only on the state."""
    g = ft.Generator()
    assert g.device == ft.get_default_device() and g.manual_seed(-1) is g
    assert g.initial_seed() == 2**64 - 1
    state = g.get_state()
    assert state.dtype is ft.uint8 and state.device.type == "cpu"
    a, b = ft.rand(5, generator=g), ft.rand(5, generator=g)
    assert not a.equal(b)
    other = g.clone_state()
    assert ft.rand(3, generator=other).equal(ft.rand(3, generator=g))
    g.set_state(state)
    assert ft.rand(5, generator=g).equal(a) and ft.rand(5, generator=g).equal(b)
    assert g.seed() == g.initial_seed() != 2**64 - 1


def test_default_generators() -> None:
    with ft.random.fork_rng():
        ft.manual_seed(3)
        assert ft.initial_seed() == 3
        a = ft.randn(4)
        state = ft.get_rng_state()
        b = ft.randn(4)
        ft.set_rng_state(state)
        assert ft.randn(4).equal(b) and not a.equal(b)
        ft.fpga.manual_seed_all(3)
        assert ft.randn(4).equal(a)
        ft.fpga.set_rng_state_all(ft.fpga.get_rng_state_all())
        assert ft.randn(4).equal(b)
        with ft.random.fork_rng():
            c = ft.randn(4)
        assert ft.randn(4).equal(c)
        assert ft.seed() == ft.initial_seed() == ft.fpga.initial_seed()
    with ft.random.fork_rng():
        ft.manual_seed(3)
        assert ft.rand_like(ft.empty(2, 3).t()).shape == (3, 2)


def test_threads_share_a_generator() -> None:
    """No call gets numbers of another call."""
    g = source(9)
    expected = {tuple(ft.randint(2**40, (3,), generator=g).tolist()) for _ in range(200)}
    g.set_offset(0)
    drawn: list[tuple[int, ...]] = []

    def draw() -> None:
        for _ in range(50):
            drawn.append(tuple(ft.randint(2**40, (3,), generator=g).tolist()))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 200 and set(drawn) == expected


def test_invalid_uses_of_generators() -> None:
    for seed, error in ((1.5, RuntimeError), ("a", RuntimeError), (2**64, ValueError)):
        agree(lambda s=seed: ft.Generator().manual_seed(s), lambda s=seed: torch.Generator().manual_seed(s))
        with pytest.raises(error):
            ft.Generator().manual_seed(seed)  # type: ignore[arg-type]
    for state in (3, ft.ones(16), ft.ones(4, dtype=ft.uint8), ft.full((16,), 255, dtype=ft.uint8)):
        with pytest.raises((TypeError, RuntimeError), match="generator's"):
            ft.Generator().set_state(state)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="device"):
        ft.rand(2, generator=ft.Generator("cpu"), device="fpga")
    with pytest.raises(RuntimeError, match="offset"):
        ft.Generator().set_offset(2**48)
