"""Geometries: pack and unpack agree, and a kernel's macros find every number."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import pytest

from ftensor.kernels.geometry import Geometry, ListField, Long, NamedFields
from ftensor.kernels.skeleton import skeletons
from ftensor.kernels.workload import Ints


class Pointer:
    """Behaves like a C pointer."""

    def __init__(self, numbers: Ints, at: int = 0) -> None:
        self.numbers, self.at = numbers, at

    def __add__(self, n: int) -> Pointer:
        return Pointer(self.numbers, self.at + n)

    def __getitem__(self, k: int) -> int:
        return self.numbers[self.at + k]


def words(of: type[Geometry]) -> dict[str, Any]:
    """Returns the macros of a geometry as functions."""
    functions: dict[str, Any] = {}
    for word, text in of.words().items():
        name, _, passed = word.rstrip(")").partition("(")
        functions[name] = eval(f"lambda {passed}: {text.replace('(int)', '')}", functions)
    return functions


class Spot(NamedTuple):
    row: int
    column: int


@dataclass(frozen=True)
class Part(Geometry):
    prefix = "P"
    length: int
    steps: Annotated[Ints, ListField("step_count")] = ()


@dataclass(frozen=True)
class All(Geometry):
    derived = ("twice",)
    n: int
    step: Long
    x: Annotated[Ints, NamedFields("sample channel")]
    spot: Spot
    yes: bool
    taps: Annotated[Ints, ListField("tap_count")]
    spots: Annotated[tuple[Spot, ...], ListField("spot_count")]
    strides: Annotated[tuple[Ints, ...], ListField("operands", "tap_count", packed=False)]
    first: Part
    second: Part
    parts: Annotated[tuple[Part, ...], ListField("part_count")]

    @property
    def twice(self) -> int:
        return 2 * self.n


def example(taps: int, operands: int) -> All:
    spots = tuple(Spot(k, -k) for k in range(2 * taps))
    strides = tuple(tuple(range(k, k + taps)) for k in range(operands))
    parts = Part(7, (1, 2)), Part(8), Part(9, (3,)), Part(10, (4,) * taps)
    return All(
        3, 1 << 40, (4, 5), Spot(6, 7), True, tuple(range(50, 50 + taps)), spots, strides, parts[0], parts[1], parts[2:]
    )


@pytest.mark.parametrize("taps, operands", [(0, 2), (1, 1), (3, 2)])
def test_pack_and_unpack_agree_and_macros_find_each_number(taps: int, operands: int) -> None:
    geometry = example(taps, operands)
    numbers = geometry.pack()
    assert All.unpack(numbers, operands=operands) == geometry
    c: dict[str, Callable[..., Any]] = words(All)
    g = Pointer(numbers)
    assert (c["G_N"](g), c["G_STEP"](g), c["G_YES"](g), c["G_TWICE"](g)) == (3, 1 << 40, 1, 6)
    assert (c["G_X"](g)[1], c["G_X_CHANNEL"](g), c["G_SPOT_COLUMN"](g)) == (5, 5, 7)
    assert (c["G_TAP_COUNT"](g), c["G_SPOT_COUNT"](g)) == (taps, 2 * taps)
    for k in range(taps):
        assert c["G_TAPS"](g)[k] == 50 + k and c["G_SPOTS_COLUMN"](g, 2 * k) == -2 * k
        assert c["G_STRIDES"](g)[(operands - 1) * taps + k] == operands - 1 + k
    second, part = c["G_SECOND"](g, operands), c["G_PARTS"](g, operands)
    assert c["P_SIZE"](second) == 2 and c["P_LENGTH"](second) == 8
    assert c["P_STEP_COUNT"](part) == 1 and c["P_STEPS"](part)[0] == 3
    assert c["P_STEP_COUNT"](part + 3) == taps


def test_unstored_length_follows_from_the_total() -> None:
    @dataclass(frozen=True)
    class Walk(Geometry):
        shape: Annotated[Ints, ListField("dims")]
        strides: Annotated[tuple[Ints, ...], ListField("operands", "dims", packed=False)]
        rest: Annotated[Ints, ListField("operands", packed=False)]

    globals()["Walk"] = Walk
    walk = Walk((2, 3), ((1, 2), (3, 4), (5, 6)), (7, 8, 9))
    assert Walk.unpack(walk.pack()) == walk


@pytest.mark.parametrize("of", sorted({s.geometry for s in skeletons() if s.geometry}, key=lambda g: g.__name__))
def test_kernels_use_defined_macros(of: type[Geometry]) -> None:
    for skeleton in [s for s in skeletons() if s.geometry is of]:
        text = skeleton.text()
        used = set(re.findall(r"\b[GS]_[A-Z_]+\b", text))
        assert used, "its numbers have names"
        known = {word.partition("(")[0] for word in of.words()}
        assert used <= known, used - known
        assert not re.search(r"\bg\[|\bg \+", text), "a number without a name"
