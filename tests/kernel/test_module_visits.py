"""The number of ftensor's modules that a call visits: for a cached launch, and for kernels that are
built but have a new geometry."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest

import ftensor as ft
from ftensor._device import default_backend

from .. import forked

PACKAGE = str(Path(ft.__file__).parent) + "/"


def module_visits(call: Callable[[], object]) -> list[str]:
    """Returns the module of each function that calls or is called, in order. Repetitions in a row
    count once.

    Generated code and other packages count as the module that calls them.
    """
    visited: list[str] = []

    def module_of(frame: FrameType | None) -> str | None:
        while frame is not None and frame.f_code is not call.__code__:  # type: ignore[attr-defined]
            if frame.f_code.co_filename.startswith(PACKAGE):
                return frame.f_code.co_filename.removeprefix(PACKAGE)
            frame = frame.f_back
        return None

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            for module in (module_of(frame.f_back), module_of(frame)):
                if module is not None and module != (visited or [None])[-1]:
                    visited.append(module)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return visited


@pytest.fixture(autouse=True)
def compiles() -> None:
    if default_backend().images is not None:
        pytest.skip("a device with images also asks the images for the kernel")


class Walk(NamedTuple):
    """A call, and the largest number of visits and of different modules."""

    call: Callable[[ft.Tensor], object]
    cached: tuple[int, int]
    aligned: tuple[int, int]  # with a cached launch, on a device that checks the operands' alignment
    prepared: tuple[int, int]  # with another geometry


WALKS = {
    "add": Walk(lambda x: ft.add(x, x), (4, 4), (10, 6), (75, 17)),
    "sum": Walk(lambda x: ft.sum(x), (8, 6), (11, 8), (100, 19)),
}


def check(walked: list[str], limits: tuple[int, int]) -> None:
    most, modules = limits
    assert len(walked) <= most, walked
    assert len(set(walked)) <= modules, sorted(set(walked))


def print_walks(name: str) -> None:
    """Prints the visits of a call with a cached launch, and of one with another shape."""
    call = WALKS[name].call
    x = ft.ones(8)
    for _ in range(2):
        call(x)
    cached = module_visits(lambda: call(x))
    for n in (24, 40):  # the kernels are built
        call(ft.ones(n))
    y = ft.ones(56)
    print(json.dumps([cached, module_visits(lambda: call(y))]))


@pytest.mark.parametrize("name", WALKS)
def test_modules_visited_by_a_call(name: str) -> None:
    """The call runs in its own process, where no other test has allocated memory or filled a cache,
    and where new memory is not poisoned."""
    program = f"from tests.kernel.test_module_visits import print_walks; print_walks({name!r})"
    env = {name: value for name, value in os.environ.items() if name != "FTENSOR_POISON"}
    done = forked.run("-c", program, env=env, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    cached, prepared = json.loads(done.stdout)
    walk, aligned = WALKS[name], default_backend().target.is_board
    check(cached, walk.aligned if aligned else walk.cached)
    check(prepared, walk.prepared)


def test_module_visits_are_counted() -> None:
    """A visit is counted when a call enters a module, or returns to it before it enters another
    one."""
    x = ft.ones(8)
    assert module_visits(lambda: None) == []
    assert module_visits(lambda: ft.broadcast_shapes((1,), (2,)))[-1] == "iterator/shape.py"
    walked = module_visits(lambda: [x.numel(), ft.broadcast_shapes((1,), (2,)), x.numel()])
    assert walked.count(walked[0]) > 1
