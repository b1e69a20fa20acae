"""conv_pack: planes of an input and panels of filters (hls/skeleton/conv_pack.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated

from ...geometry import Each, Geometry, Long, Many
from ...skeleton import Parameter, register
from ...words import Argument
from ...work import Access, Ints, KernelLaunch, LocalMemory, Loop
from ..elements import element_type
from .key import DEPTH, BoardConv, ConvKey, number

CHANNELS = 16  # of an item of planes


def conv_pack_key(conv: ConvKey, unaligned: bool) -> ConvKey:
    """The kernel that makes what `conv` reads; its vectors begin anywhere, where that is right."""
    return ConvKey("conv_pack", conv.dtype, conv.lanes if unaligned else 1, conv.rows, 1)


@dataclass(frozen=True)
class ConvPackGeometry(Geometry):
    """What a launch is told; a `batch` of 0 leaves the planes out. Of the three dims of a plane the
    elements of a part, the steps from one to the next in the input and its sizes, and where each
    part's phases begin there; `bias` is -1 where there is none; of bytes `zero` lies around an
    input, whose highest bits `flip` turns, as of unsigned ones; `taps` are each tap's weight."""

    derived = ("rows", "line", "dense")
    batch: int
    channels: int
    groups: int
    panels: int
    filters: int
    own: int  # channels of a group
    some: int  # of an item of panels
    plane: int  # elements
    part: Annotated[Ints, Each("deep high wide")]
    step: Annotated[Ints, Each("deep high wide")]
    input: Annotated[Ints, Each("deep high wide")]
    x: Annotated[Ints, Each("sample channel deep high wide")]
    w: Annotated[Ints, Each("group filter channel")]
    bias: Long
    zero: int
    flip: bool
    deep: Annotated[Ints, Many("deep_phases")]
    high: Annotated[Ints, Many("high_phases")]
    wide: Annotated[Ints, Many("wide_phases")]
    taps: Annotated[Ints, Many("tap_count")]

    @property
    def rows(self) -> int:
        """Rows of a plane."""
        phases = len(self.deep) * len(self.high) * len(self.wide)
        return phases * self.part[0] * self.part[1]

    @property
    def line(self) -> int:
        """1 where the weights of a filter are neighbours, in the order of channels and taps, 2
        where those of each channel are."""
        if self.taps != tuple(range(len(self.taps))):
            return 0
        return 1 if self.w[2] == len(self.taps) else 2

    @property
    def dense(self) -> bool:
        """Whether an input lies in line, and all of it comes, in order."""
        one = all(len(phases) == 1 for phases in (self.deep, self.high, self.wide))
        if not one or set(self.step) != {1} or not prod(self.input):
            return False
        size, lies = 1, True
        for n, step in zip((*self.input[::-1], self.channels, self.batch), self.x[::-1]):
            lies &= n <= 1 or step == size
            size *= n
        begins = (self.deep[0], self.high[0], self.wide[0])
        whole = zip(begins, self.part, self.input)
        return lies and all(b <= 0 and b + n >= m for b, n, m in whole)

    @property
    def of_planes(self) -> int:
        """The items that make planes."""
        return self.batch * self.rows * -(-self.channels // CHANNELS)

    @property
    def of_panels(self) -> int:
        """The items that make panels."""
        return self.groups * self.panels * -(-self.own // self.some)

    def pieces(self, lanes: int) -> int:
        """Of a plane, on a board: those of its rows, and of what is left to a beat's end."""
        gap = self.plane - self.rows * self.part[2]
        return self.rows * -(-self.part[2] // lanes) + -(-gap // lanes)


class ConvPack(BoardConv):
    """Rows of an input with zeros around them, and weights of some filters side by side."""

    name = "conv_pack"
    geometry = ConvPackGeometry
    staged = True
    template = "conv_pack.cpp"

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Packing has none."""
        return 0

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        """Planes, panels, the operands, their offsets, the geometry."""
        element = element_type(key.dtype)
        names = ("x", "weight", "bias")
        return (
            *[("*", f"{number(key)} *", name) for name in ("planes", "panels")],
            *[("*", f"const {element} *", name) for name in names],
            *[("long", "long ", f"{name}_offset") for name in names],
            ("*", "const long *", "geometry"),
        )

    def beats(self, key: ConvKey) -> Mapping[str, int]:
        """Planes and panels go in vectors."""
        return dict.fromkeys(("planes", "panels", "x"), key.rows)

    def arguments(self, key: ConvKey) -> tuple[Argument, ...]:
        """The input by a port for each way."""
        own = super().arguments(key)
        at = [a.name for a in own].index("x") + 1
        return (*own[:at], self.by_elements(key, "x"), *own[at:])

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """Pieces of planes in stages, and panels beside them."""
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        lanes, reads = key.rows, "read_panels"
        begin, stop = launch.slab(g.groups * g.panels, unit)
        panels, chunks, each = stop - begin, -(-g.own // g.some), g.own * len(g.taps)
        return [
            *self.plane_loops(launch, unit),
            Loop("bias", panels * lanes, panels, 1, True, False, reads),
            Loop("weights", panels * lanes * each, panels * chunks * lanes, 1, True, False, reads),
            Loop("steps", panels * each, panels * chunks, 1, False, False, reads),
            Loop("panels", panels * (1 + each), min(panels, 1), 1, True, False, "write_panels"),
        ]

    def plane_loops(self, launch: KernelLaunch, unit: int) -> list[Loop]:
        """The stages of planes: read, put into place, packed, written."""
        g, lanes = ConvPackGeometry.unpack(launch.geometry), self.beats(launch.key)["planes"]
        first, end = launch.slab(g.batch * g.channels, unit)
        planes, size = end - first, prod(g.input)
        beats = -(-(first * size % lanes + planes * size) // lanes) if g.dense else 0
        pieces, once = planes * g.pieces(lanes), min(planes, 1)
        way, placed = ("pieces", pieces) if g.dense else ("elements", planes * g.plane)
        return [
            Loop("line", beats, once, 1, True, False, "read"),
            Loop(way, placed, once, 1, not g.dense, False, "place"),
            Loop("pack", pieces, once, 1, False, False, "pack"),
            Loop("planes", planes * g.plane // lanes, once, 1, True, False, "write"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Each value once; of filters that fill a panel the first one's."""
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        size, compute, lanes = key.dtype.itemsize, key.dtype.compute.itemsize, key.rows
        planes = g.batch * g.channels * g.plane
        read = g.batch * g.channels * (prod(g.input) if g.dense else g.plane)
        steps = g.groups * g.panels * (1 + g.own * len(g.taps))
        weights = g.groups * g.panels * lanes * g.own * len(g.taps)
        once = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        near = {0: 1, 1: min(g.some, g.own) * len(g.taps), 2: len(g.taps)}[g.line]
        x = -(-read // lanes) if g.dense else read
        return [
            Access("planes", True, planes * compute, planes // lanes, 0, 0),
            Access("panels", True, steps * lanes * compute, steps, 0, 0),
            Access("x", False, read * size, x, 0 if g.dense else 1, read * size, not g.dense),
            Access("weight", False, weights * size, weights, near, once * size),
        ]

    def memories(self, key: ConvKey, structure: str) -> list[LocalMemory]:
        """The weights of a panel's filters, of some channels."""
        return [LocalMemory(DEPTH, 8 * key.dtype.compute.itemsize, key.rows)]

    def operators(self, key: ConvKey) -> Mapping[tuple[str, str], int]:
        """What moves a piece into place, twice, and puts it beside others; addresses."""
        of = {"float32": "float", "float64": "double"}.get(key.dtype.compute.name, key.dtype.name)
        turned = key.rows * (3 * key.rows.bit_length() + 3)
        return {("choose", of.removeprefix("u")): turned, ("mul", "int32"): 6, ("add", "int32"): 24}

    def extent(self, launch: KernelLaunch) -> str:
        """Planes, their elements, and the weights."""
        g = ConvPackGeometry.unpack(launch.geometry)
        weights = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        return f"{g.batch * g.channels}x{g.plane}+{weights}"


register(ConvPack())
