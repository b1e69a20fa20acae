"""Convolutions of small planes on CPUs (hls/skeleton/conv_direct.h, conv_depthwise.h,
conv_weight.h)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ....dtypes import dtype
from ....iterator.shape import numel
from ...geometry import Geometry, ListField, Long, NamedFields
from ...inventory_terms import ROOMY_REGISTERS, KernelTarget
from ...key import lanes_for
from ...select import PROCESSOR
from ...skeleton import Parameter, c_parameters, register
from ...source import element_type
from ...workload import Ints
from ..conv.key import ConvKey, ConvSkeleton, Phase

COSTS = PROCESSOR.convolutions
# Limit of an item's plane elements, which fit the first caches of a CPU.
PLANES = 8192
# Filters that share copied positions.
FILTERS = 48


def panel_rows(target: KernelTarget, rows: int) -> int:
    """Returns the rows of a panel (one vector of sums each): the size of least cost for `rows`
    rows, among the sizes for which the CPU has registers."""
    shapes, busy = ((16, 12, 8, 4), 8) if target.registers >= ROOMY_REGISTERS else ((6, 4), 4)

    def cost(size: int) -> float:
        return -(-rows // size) * (max(size, busy) + COSTS.panel)

    return min((size for size in shapes if size <= rows), key=cost, default=shapes[-1])


def direct_conv_key(dtype: dtype, target: KernelTarget, filters: int) -> ConvKey:
    """Returns the key of a CPU for `filters` filters of a group, up to 48 at once."""
    lanes = lanes_for([dtype.compute], dtype.compute, target.lanes_bytes)
    rows = panel_rows(target, filters)
    return ConvKey("conv_direct", dtype, lanes, rows, 1, FILTERS // rows)


class TileCopies(NamedTuple):
    """Copies of input elements into tiles, in pieces of `wide` contiguous elements.

    places: (offset in the tile, offset in the input plane) of each piece
    ends: for each tile, the index in `places` after its last piece
    """

    wide: int
    ends: Ints
    places: tuple[tuple[int, int], ...]

    @property
    def copies(self) -> float:
        """Cost of the copies into a tile, for each of its steps, in vector products."""
        each = len(self.places) / len(self.ends)
        if self.wide == 4:
            return COSTS.fours * max(1, each / 4)
        return (COSTS.eight if each <= 2 else COSTS.eights) * each


@dataclass(frozen=True)
class DirectConvGeometry(Geometry):
    """Geometry buffer of a direct convolution; fields that are not named here are as in
    `DepthwiseGeometry`. A block has up to `most` panels. `wide`, `ends` and `pieces` are those of
    `TileCopies`."""

    items: int
    groups: int
    blocks: int
    most: int
    filters: int
    channels: int
    positions: int
    plane: int
    x: Annotated[Ints, NamedFields("sample channel deep high wide")]
    w: Annotated[Ints, NamedFields("group filter channel")]
    bias: Long
    out: Annotated[Ints, NamedFields("sample filter position")]
    planes: Annotated[Ints, NamedFields("deep high")]
    phases: Annotated[tuple[Phase, ...], ListField("phase_count")]
    offsets: Annotated[Ints, ListField("taps")]
    wide: int
    ends: Annotated[Ints, ListField("tiles")]
    pieces: Annotated[tuple[tuple[int, int], ...], ListField("", 2)]


class DirectConv(ConvSkeleton):
    """Direct convolution. An item is some filters at all positions of a sample."""

    name = "conv_direct"
    geometry: type[Geometry] = DirectConvGeometry

    def defines(self, key: ConvKey) -> dict[str, object]:
        return {**super().defines(key), "FT_PLANES": PLANES}

    def helpers(self, key: ConvKey) -> list[str]:
        return [*super().helpers(key), "planes.h"]

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        c = element_type(key.dtype)
        pointers = f"{c} *out, const {c} *x, const {c} *weight, const {c} *bias"
        return c_parameters(pointers, "out x weight bias")


register(DirectConv())


def depthwise_conv_key(dtype: dtype, target: KernelTarget) -> ConvKey:
    """Returns the key of a CPU. The tile has all vectors of positions that fit the registers."""
    lanes = lanes_for([dtype.compute], dtype.compute, target.lanes_bytes)
    return ConvKey("conv_depthwise", dtype, lanes, 1, 8 if target.registers >= ROOMY_REGISTERS else 4)


@dataclass(frozen=True)
class DepthwiseGeometry(Geometry):
    """Geometry buffer of a depthwise convolution; all strides are in elements.

    x: strides of the input; in the dims of a plane, those of one phase
    w, out: strides of the weight and of the results
    counts: sizes of the results
    planes: strides of a phase in the plane in local memory
    bias: offset of the bias, -1 without one
    phases: the blocks of the input that are copied to the plane
    offsets: of the taps
    """

    items: int
    groups: int
    filters: int
    channels: int
    positions: int
    plane: int
    x: Annotated[Ints, NamedFields("sample channel deep high wide")]
    w: Annotated[Ints, NamedFields("group filter channel")]
    bias: Long
    out: Annotated[Ints, NamedFields("sample filter deep high wide")]
    counts: Annotated[Ints, NamedFields("deep high wide")]
    planes: Annotated[Ints, NamedFields("deep high")]
    phases: Annotated[tuple[Phase, ...], ListField("phase_count")]
    offsets: Annotated[Ints, ListField("taps")]


class DepthwiseConv(DirectConv):
    """Depthwise convolution. An item is all results of a group of a sample."""

    name = "conv_depthwise"
    geometry = DepthwiseGeometry


register(DepthwiseConv())


# Positions per partial sum of gradients, and rows of an item: together with the planes, they fit
# the first caches of a CPU.
STEPS, ROWS = 256, 288


def conv_weight_key(dtype: dtype, target: KernelTarget, rows: int) -> ConvKey:
    """Returns the key of a CPU for `rows` rows (channels times taps)."""
    lanes = lanes_for([dtype.compute], dtype.compute, target.lanes_bytes)
    return ConvKey("conv_weight", dtype, lanes, panel_rows(target, rows), 1)


@dataclass(frozen=True)
class ConvWeightGeometry(Geometry):
    """Geometry buffer of a weight's gradient. An item is a share of the samples, by up to `most`
    panels of rows (channels times taps), by a vector of filters.

    The kernel processes `some` samples at once. Strides are as in `DepthwiseGeometry`. `offsets`
    are those of the taps, `places` those of the positions.
    """

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
    x: Annotated[Ints, NamedFields("sample channel deep high wide")]
    grad: Annotated[Ints, NamedFields("sample filter")]
    planes: Annotated[Ints, NamedFields("deep high")]
    bias: bool
    phases: Annotated[tuple[Phase, ...], ListField("phase_count")]
    offsets: Annotated[Ints, ListField("taps")]
    places: Annotated[Ints, ListField("positions")]


class ConvWeight(ConvSkeleton):
    """Gradient of the weight. An item is some rows by a vector of filters."""

    name = "conv_weight"
    geometry = ConvWeightGeometry

    def defines(self, key: ConvKey) -> dict[str, object]:
        more = {"FT_PLANES": PLANES, "FT_STEPS": STEPS, "FT_ROWS": ROWS}
        return {**super().defines(key), **more}

    def helpers(self, key: ConvKey) -> list[str]:
        return [*super().helpers(key), "planes.h"]

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns a product and an addition for each position, filter, channel and tap. `shapes`
        are filters by shares, bias, results, and planes."""
        return 2 * numel(shapes[2]) * numel(shapes[0][1 - len(shapes[3]) :])

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        c = element_type(key.dtype)
        return c_parameters(f"{c} *out, {c} *bias, const {c} *grad, const {c} *x", "grad x")


register(ConvWeight())
