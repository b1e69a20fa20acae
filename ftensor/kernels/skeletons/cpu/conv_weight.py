"""conv_weight: gradients of small convolutions' weights and bias (hls/skeleton/conv_weight.h)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ....dtypes import dtype
from ....iterator.shape import numel
from ...geometry import Each, Geometry, Many
from ...key import lanes_for
from ...skeleton import Parameter, register
from ...words import KernelTarget
from ...work import Ints
from ..conv.key import ConvKey, ConvSkeleton, Phase
from ..elements import element_type
from .conv_direct import PLANES, panel_rows

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
