"""conv_depthwise: convolutions of few filters in a group (hls/skeleton/conv_depthwise.h)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ....dtypes import dtype
from ...geometry import Each, Geometry, Long, Many
from ...key import lanes_for
from ...skeleton import register
from ...words import ROOMY, KernelTarget
from ...work import Ints
from ..conv.key import ConvKey, Phase
from .conv_direct import DirectConv


def depthwise_conv_key(of: dtype, target: KernelTarget) -> ConvKey:
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
    """All results of a group of a sample for each item."""

    name = "conv_depthwise"
    geometry = DepthwiseGeometry


register(DepthwiseConv())
