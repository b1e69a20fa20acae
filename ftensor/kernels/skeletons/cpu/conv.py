"""Convolutions of small planes on CPUs (hls/skeleton/conv_direct.h, conv_depthwise.h, conv_weight.h)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ....dtypes import dtype
from ....iterator.shape import numel
from ...costs import PROCESSOR
from ...geometry import Each, Geometry, Long, Many
from ...inventory_terms import ROOMY, KernelTarget
from ...key import lanes_for
from ...skeleton import Parameter, register
from ...workload import Ints
from ..conv.key import ConvKey, ConvSkeleton, Phase
from ..elements import element_type

COSTS = PROCESSOR.convolutions
# Elements of an item's planes, which stay in a processor's nearest caches.
PLANES = 8192
# Filters that share what is laid side by side of them.
FILTERS = 48


def panel_rows(target: KernelTarget, rows: int) -> int:
    """The rows of a panel, a vector of sums each: of the sizes for which a CPU has registers, that
    which leaves the fewest of so many rows' unused."""
    shapes, busy = ((16, 12, 8, 4), 8) if target.registers >= ROOMY else ((6, 4), 4)

    def cost(size: int) -> float:
        return -(-rows // size) * (max(size, busy) + COSTS.panel)

    return min((size for size in shapes if size <= rows), key=cost, default=shapes[-1])


def direct_conv_key(of: dtype, target: KernelTarget, filters: int) -> ConvKey:
    """The kernel of a CPU for so many filters of a group, up to 48 at once."""
    lanes = lanes_for([of.compute], of.compute, target.lanes_bytes)
    rows = panel_rows(target, filters)
    return ConvKey("conv_direct", of, lanes, rows, 1, FILTERS // rows)


class Copies(NamedTuple):
    """The runs of neighbours that a tile's positions are copied by: elements of each, the end of
    each tile's, and for each piece its place in the tile and in a plane."""

    wide: int
    ends: Ints
    places: tuple[tuple[int, int], ...]

    @property
    def copies(self) -> float:
        """What a tile's cost for each step, in products of a vector."""
        each = len(self.places) / len(self.ends)
        if self.wide == 4:
            return COSTS.fours * max(1, each / 4)
        return (COSTS.eight if each <= 2 else COSTS.eights) * each


@dataclass(frozen=True)
class DirectConvGeometry(Geometry):
    """What a launch is told, as `DepthwiseGeometry`; `most` are the panels of a block. Of `Copies`,
    `ends` are each tile's last."""

    items: int
    groups: int
    blocks: int
    most: int
    filters: int
    channels: int
    positions: int
    plane: int
    x: Annotated[Ints, Each("sample channel deep high wide")]
    w: Annotated[Ints, Each("group filter channel")]
    bias: Long
    out: Annotated[Ints, Each("sample filter position")]
    planes: Annotated[Ints, Each("deep high")]
    phases: Annotated[tuple[Phase, ...], Many("phase_count")]
    offsets: Annotated[Ints, Many("taps")]
    wide: int
    ends: Annotated[Ints, Many("tiles")]
    pieces: Annotated[tuple[tuple[int, int], ...], Many("", 2)]


class DirectConv(ConvSkeleton):
    """All positions of a sample by some filters for each item."""

    name = "conv_direct"
    geometry: type[Geometry] = DirectConvGeometry

    def defines(self, key: ConvKey) -> dict[str, object]:
        """The room for planes."""
        return {**super().defines(key), "FT_PLANES": PLANES}

    def helpers(self, key: ConvKey) -> list[str]:
        """Elements as values, and copies of planes."""
        return [*super().helpers(key), "planes.h"]

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        """Results, the operands, the offset of each, the geometry."""
        element, names = element_type(key.dtype), ("x", "weight", "bias")
        return (
            ("*", f"{element} *", "out"),
            *[("*", f"const {element} *", name) for name in names],
            *[("long", "long ", f"{name}_offset") for name in ("out", *names)],
            ("*", "const long *", "geometry"),
        )


register(DirectConv())


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


# Positions whose gradients are summed at once, and the rows of an item: what stays in a processor's
# nearest caches beside the planes.
STEPS, ROWS = 256, 288


def conv_weight_key(of: dtype, target: KernelTarget, rows: int) -> ConvKey:
    """The kernel of a CPU for so many rows (channels and taps)."""
    lanes = lanes_for([of.compute], of.compute, target.lanes_bytes)
    return ConvKey("conv_weight", of, lanes, panel_rows(target, rows), 1)


@dataclass(frozen=True)
class ConvWeightGeometry(Geometry):
    """What a launch is told: an item is a share of the samples by a part of the rows (channels and
    taps), `most` panels, by a vector of filters; `some` samples go at once. Strides as in
    `DepthwiseGeometry`; `offsets` are those of taps, `places` those of positions."""

    items: int
    groups: int
    vectors: int
    parts: int
    shares: int
    most: int
    rows: int
    filters: int
    channels: int
    samples: int
    some: int
    plane: int
    x: Annotated[Ints, Each("sample channel deep high wide")]
    grad: Annotated[Ints, Each("sample filter")]
    planes: Annotated[Ints, Each("deep high")]
    bias: bool
    phases: Annotated[tuple[Phase, ...], Many("phase_count")]
    offsets: Annotated[Ints, Many("taps")]
    places: Annotated[Ints, Many("positions")]


class ConvWeight(ConvSkeleton):
    """Some rows by a vector of filters for each item."""

    name = "conv_weight"
    geometry = ConvWeightGeometry

    def defines(self, key: ConvKey) -> dict[str, object]:
        """The rooms of an item."""
        more = {"FT_PLANES": PLANES, "FT_STEPS": STEPS, "FT_ROWS": ROWS}
        return {**super().defines(key), **more}

    def helpers(self, key: ConvKey) -> list[str]:
        """Elements as values, and copies of planes."""
        return [*super().helpers(key), "planes.h"]

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """A product and a sum for each position, filter, channel and tap: of (filters by shares,
        bias, results, planes)."""
        return 2 * numel(shapes[2]) * numel(shapes[0][1 - len(shapes[3]) :])

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        """Both results, the operands, the offset of each, the geometry."""
        element = element_type(key.dtype)
        return (
            *[("*", f"{element} *", name) for name in ("out", "bias")],
            *[("*", f"const {element} *", name) for name in ("grad", "x")],
            *[("long", "long ", f"{name}_offset") for name in ("grad", "x")],
            ("*", "const long *", "geometry"),
        )


register(ConvWeight())
