"""conv_depthwise: convolutions of few filters in a group (hls/skeleton/conv_depthwise.h)."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ....dtypes import dtype
from ...key import lanes_for
from ...skeleton import register
from ...words import ROOMY, Target
from ...work import Access, Ints, Launch, Loop
from .direct import DirectConv
from .key import ConvKey


def depthwise_conv_key(of: dtype, target: Target) -> ConvKey:
    """The kernel of a CPU: as many vectors of positions as it has registers for."""
    lanes = lanes_for([of.compute], of.compute, target.lanes_bytes)
    return ConvKey("conv_depthwise", of, lanes, 1, 8 if target.registers >= ROOMY else 4)


class DepthwiseGeometry(NamedTuple):
    """What a launch is told. Strides are in elements: `x` (sample, channel), then the steps of a
    phase in three dims, `w` (group, filter, channel), `out` (sample, filter, three dims), `planes`
    of a phase in the private plane (two dims); `counts` are the results' sizes, `phases` the first
    element of each in x and in the private plane, and its sizes."""

    items: int
    groups: int
    filters: int
    channels: int
    positions: int
    plane: int
    x: Ints
    w: Ints
    bias: int
    out: Ints
    counts: Ints
    planes: Ints
    phases: tuple[Ints, ...]
    offsets: Ints

    def pack(self) -> Ints:
        """The numbers that the kernel gets."""
        return (
            *self[:4], len(self.offsets), self.positions, self.plane, *self.x, *self.w, self.bias,
            *self.out, *self.counts, *self.planes, len(self.phases),
            *[n for p in self.phases for n in p], *self.offsets,
        )  # fmt: skip


class DepthwiseConv(DirectConv):
    """All results of a group of a sample for each item. CPUs have it, no image does."""

    name = "conv_depthwise"

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """The steps of all tiles, one after another."""
        items, _, filters, channels, taps, positions = launch.geometry[:6]
        begin, end = launch.slab(items, unit)
        tiles = (end - begin) * filters * -(-positions // launch.key.columns)
        return [Loop("steps", tiles * channels * taps, tiles)]

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """Everything comes once."""
        size, g = launch.key.dtype.itemsize, launch.geometry
        results = g[0] * g[2] * prod(g[21:24])
        read, weights = g[0] * g[3] * g[6], g[1] * g[2] * g[3] * g[4]
        return [
            Access("out", True, results * size, results, g[23], results * size),
            Access("x", False, read * size, read, g[23], read * size),
            Access("weight", False, weights * size, weights, 1, weights * size),
        ]


register(DepthwiseConv())
