"""conv_depthwise: convolutions of few filters in a group (hls/skeleton/conv_depthwise.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated

from ....dtypes import dtype
from ...geometry import Each, Geometry, Long, Many
from ...key import lanes_for
from ...skeleton import register
from ...words import ROOMY, Target
from ...work import Access, Ints, Launch, Loop
from .direct import DirectConv
from .key import ConvKey, Phase


def depthwise_conv_key(of: dtype, target: Target) -> ConvKey:
    """The kernel of a CPU: as many vectors of positions as it has registers for."""
    lanes = lanes_for([of.compute], of.compute, target.lanes_bytes)
    return ConvKey("conv_depthwise", of, lanes, 1, 8 if target.registers >= ROOMY else 4)


@dataclass(frozen=True)
class DepthwiseGeometry(Geometry):
    """What a launch is told. Strides are in elements: those of `x` in three dims are steps of a
    phase, `planes` those of a phase in the private plane; `counts` are the results' sizes, `bias`
    is -1 where there is none."""

    items: int
    groups: int
    filters: int
    channels: int
    positions: int
    plane: int
    x: Annotated[Ints, Each("sample channel deep high wide")]
    w: Annotated[Ints, Each("group filter channel")]
    bias: Long
    out: Annotated[Ints, Each("sample filter deep high wide")]
    counts: Annotated[Ints, Each("deep high wide")]
    planes: Annotated[Ints, Each("deep high")]
    phases: Annotated[tuple[Phase, ...], Many("phase_count")]
    offsets: Annotated[Ints, Many("taps")]


class DepthwiseConv(DirectConv):
    """All results of a group of a sample for each item. CPUs have it, no image does."""

    name = "conv_depthwise"
    geometry = DepthwiseGeometry

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """The steps of all tiles, one after another."""
        g = DepthwiseGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        tiles = (end - begin) * g.filters * -(-g.positions // launch.key.columns)
        return [Loop("steps", tiles * g.channels * len(g.offsets), tiles)]

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """Everything comes once."""
        size, g = launch.key.dtype.itemsize, DepthwiseGeometry.unpack(launch.geometry)
        results = g.items * g.filters * prod(g.counts)
        read, wide = g.items * g.channels * g.plane, g.counts[2]
        weights = g.groups * g.filters * g.channels * len(g.offsets)
        return [
            Access("out", True, results * size, results, wide, results * size),
            Access("x", False, read * size, read, wide, read * size),
            Access("weight", False, weights * size, weights, 1, weights * size),
        ]


register(DepthwiseConv())
