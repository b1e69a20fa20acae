"""conv_pack: planes of an input and panels of filters (hls/skeleton/conv_pack.h)."""

from __future__ import annotations

from typing import NamedTuple

from ...skeleton import Parameter, register
from ...work import Access, Ints, Launch, Loop
from ..elements import element_type
from .key import ConvKey, ConvSkeleton, Part, number

CHANNELS = 16  # of an item of planes


def conv_pack_key(conv: ConvKey, unaligned: bool) -> ConvKey:
    """The kernel that makes what `conv` reads; its vectors begin anywhere, where that is right."""
    return ConvKey("conv_pack", conv.dtype, conv.lanes if unaligned else 1, conv.rows, 1)


class ConvPackGeometry(NamedTuple):
    """What a launch is told; a `batch` of 0 leaves the planes out. `x` has the input's strides
    (batch, channel, three dims), `w` the weights' (group, filter, channel)."""

    batch: int
    channels: int
    groups: int
    panels: int
    filters: int
    own: int  # channels of a group
    some: int  # of an item of panels
    plane: int  # elements
    parts: tuple[Part, ...]
    sizes: Ints
    x: Ints
    w: Ints
    bias: int
    taps: Ints

    @property
    def rows(self) -> int:
        """Rows of a plane."""
        found = 1
        for k, part in enumerate(self.parts):
            found *= len(part.phases) * (part.size if k < 2 else 1)
        return found

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
        deep, high, wide = self.parts
        row, h = divmod(row, high.size)
        phase, d = divmod(row, deep.size)
        phase, at_w = divmod(phase, len(wide.phases))
        y = d * deep.stride + deep.phases[phase // len(high.phases)]
        z = h * high.stride + high.phases[phase % len(high.phases)]
        if not (0 <= y < self.sizes[0] and 0 <= z < self.sizes[1]):
            return 0
        first = wide.phases[at_w]
        begin = max(0, -(first // wide.stride))
        end = min(wide.size, -((first - self.sizes[2]) // wide.stride))
        return max(0, end - begin)

    def pack(self) -> Ints:
        """The numbers that the kernel gets."""
        return (
            self.batch, self.rows, self.channels, self.groups, self.panels, self.filters, self.own,
            len(self.taps), self.some, self.plane, *[p.size for p in self.parts],
            *[len(p.phases) for p in self.parts], *[p.stride for p in self.parts], *self.sizes,
            *self.x, *self.w, self.bias, self.line,
            *[n for p in self.parts for n in p.phases], *self.taps,
        )  # fmt: skip

    @classmethod
    def read(cls, g: Ints) -> ConvPackGeometry:
        """From the numbers that the kernel gets."""
        batch, _, channels, groups, panels, filters, own, _, some, plane = g[:10]
        at, parts = 32, []
        for size, count, stride in zip(g[10:13], g[13:16], g[16:19]):
            parts.append(Part(size, g[at : at + count], stride))
            at += count
        return cls(
            batch, channels, groups, panels, filters, own, some, plane, tuple(parts), g[19:22],
            g[22:27], g[27:30], g[30], g[at:],
        )  # fmt: skip


class ConvPack(ConvSkeleton):
    """Rows of an input with zeros around them, and weights of some filters side by side."""

    name = "conv_pack"

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
        key, g = launch.key, ConvPackGeometry.read(launch.geometry)
        begin, end = launch.slab(g.of_planes + g.of_panels, unit)
        blocks, step = -(-g.channels // CHANNELS), g.parts[2].stride * g.x[4]
        inside = [g.inside(row) for row in range(g.rows)]
        values = zeros = entries = steps = 0
        for item in range(begin, min(end, g.of_planes)):
            left = g.channels - item % blocks * CHANNELS
            many, within = min(left, CHANNELS), inside[item // blocks % g.rows]
            values += many * within
            zeros += many * (g.parts[2].size - within)
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
        key, g = launch.key, ConvPackGeometry.read(launch.geometry)
        size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
        width = g.parts[2].size
        planes = g.batch * g.channels * g.rows * width
        read = g.batch * g.channels * sum(map(g.inside, range(g.rows)))
        panels = g.groups * g.panels * (1 + g.own * len(g.taps)) * key.rows
        weights = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        near = width if g.parts[2].stride * g.x[4] == 1 else 1
        return [
            Access("planes", True, planes * compute, planes, width, 0),
            Access("panels", True, panels * compute, panels, key.rows, 0),
            Access("x", False, read * size, read, near, read * size),
            Access("weight", False, weights * size, panels, 1, weights * size),
        ]

    def extent(self, launch: Launch) -> str:
        """Planes, their elements, and the weights."""
        g = ConvPackGeometry.read(launch.geometry)
        weights = g.groups * g.filters * g.own * len(g.taps) if g.panels else 0
        return f"{g.batch * g.channels}x{g.plane}+{weights}"


register(ConvPack())
