"""conv_pack: planes of an input and panels of filters (hls/skeleton/conv_pack.h)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ...geometry import Each, Geometry, Long, Many
from ...skeleton import Parameter, register
from ...work import Access, Ints, Launch, Loop
from ..elements import element_type
from .key import BoardConv, ConvKey, number

CHANNELS = 16  # of an item of planes


def conv_pack_key(conv: ConvKey, unaligned: bool) -> ConvKey:
    """The kernel that makes what `conv` reads; its vectors begin anywhere, where that is right."""
    return ConvKey("conv_pack", conv.dtype, conv.lanes if unaligned else 1, conv.rows, 1)


@dataclass(frozen=True)
class ConvPackGeometry(Geometry):
    """What a launch is told; a `batch` of 0 leaves the planes out. Of the three dims of a plane the
    elements of a part, the steps from one to the next in the input and its sizes, and where each
    part's phases begin there; `bias` is -1 where there is none; `taps` are each tap's weight."""

    derived = ("rows", "line")
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
    def of_planes(self) -> int:
        """The items that make planes."""
        return self.batch * self.rows * -(-self.channels // CHANNELS)

    @property
    def of_panels(self) -> int:
        """The items that make panels."""
        return self.groups * self.panels * -(-self.own // self.some)

    def inside(self, row: int) -> int:
        """The elements of a row of a plane that lie within the input."""
        row, h = divmod(row, self.part[1])
        phase, d = divmod(row, self.part[0])
        phase, at_w = divmod(phase, len(self.wide))
        y = d * self.step[0] + self.deep[phase // len(self.high)]
        z = h * self.step[1] + self.high[phase % len(self.high)]
        if not (0 <= y < self.input[0] and 0 <= z < self.input[1]):
            return 0
        first, step = self.wide[at_w], self.step[2]
        begin = max(0, -(first // step))
        end = min(self.part[2], -((first - self.input[2]) // step))
        return max(0, end - begin)


class ConvPack(BoardConv):
    """Rows of an input with zeros around them, and weights of some filters side by side."""

    name = "conv_pack"
    geometry = ConvPackGeometry

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

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """Values of the input, zeros around them, and the steps of panels."""
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.of_planes + g.of_panels, unit)
        blocks, step = -(-g.channels // CHANNELS), g.step[2] * g.x[4]
        inside = [g.inside(row) for row in range(g.rows)]
        values = zeros = entries = steps = 0
        for item in range(begin, min(end, g.of_planes)):
            left = g.channels - item % blocks * CHANNELS
            many, within = min(left, CHANNELS), inside[item // blocks % g.rows]
            values += many * within
            zeros += many * (g.part[2] - within)
            entries += many
        chunks = -(-g.own // g.some)
        for item in range(max(begin, g.of_planes) - g.of_planes, end - g.of_planes):
            chunk = item % chunks
            steps += min(g.some, g.own - chunk * g.some) * len(g.taps) + (chunk == 0)
        read = "values" if step == 1 else "picked_values"
        return [
            Loop(read, values, entries),
            Loop("zeros", zeros, 2 * entries, 1, False, False),
            Loop("filters", steps * key.rows, steps),
        ]

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """Each value once."""
        key, g = launch.key, ConvPackGeometry.unpack(launch.geometry)
        size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
        width = g.part[2]
        planes = g.batch * g.channels * g.rows * width
        read = g.batch * g.channels * sum(map(g.inside, range(g.rows)))
        panels = g.groups * g.panels * (1 + g.own * len(g.taps)) * key.rows
        weights = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        near = width if g.step[2] * g.x[4] == 1 else 1
        return [
            Access("planes", True, planes * compute, planes, width, 0),
            Access("panels", True, panels * compute, panels, key.rows, 0),
            Access("x", False, read * size, read, near, read * size),
            Access("weight", False, weights * size, panels, 1, weights * size),
        ]

    def extent(self, launch: Launch) -> str:
        """Planes, their elements, and the weights."""
        g = ConvPackGeometry.unpack(launch.geometry)
        weights = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        return f"{g.batch * g.channels}x{g.plane}+{weights}"


register(ConvPack())
