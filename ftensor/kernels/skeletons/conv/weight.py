"""conv_weight: gradients of small convolutions' weights and bias (hls/skeleton/conv_weight.h)."""

from __future__ import annotations

from typing import NamedTuple

from ....dtypes import dtype
from ...key import lanes_for
from ...skeleton import Parameter, register
from ...words import Target
from ...work import Access, Ints, Launch, Loop
from ..elements import element_type
from .direct import PLANES, panel_rows
from .key import ConvKey, ConvSkeleton

# Positions whose gradients are summed at once, and the rows of an item: what stays in a processor's
# nearest caches beside the planes.
STEPS, ROWS = 256, 288


def conv_weight_key(of: dtype, target: Target, rows: int) -> ConvKey:
    """The kernel of a CPU for so many rows (channels and taps)."""
    lanes = lanes_for([of.compute], of.compute, target.lanes_bytes)
    return ConvKey("conv_weight", of, lanes, panel_rows(target, rows), 1)


class ConvWeightGeometry(NamedTuple):
    """What a launch is told. Strides are in elements: `x` (sample, channel), then the steps of a
    phase in three dims, `grad` (sample, filter), `planes` of a phase in the private plane (two
    dims); `phases` are the first element of each in x and in the private plane, and its sizes."""

    items: int
    groups: int
    vectors: int
    parts: int
    shares: int
    most: int
    rows: int
    filters: int
    channels: int
    taps: int
    samples: int
    some: int
    positions: int
    plane: int
    x: Ints
    grad: Ints
    planes: Ints
    bias: bool
    phases: tuple[Ints, ...]
    offsets: Ints
    places: Ints

    def pack(self) -> Ints:
        """The numbers that the kernel gets."""
        return (
            *self[:14], *self.x, *self.grad, *self.planes, len(self.phases), int(self.bias),
            *[n for p in self.phases for n in p], *self.offsets, *self.places,
        )  # fmt: skip


class ConvWeight(ConvSkeleton):
    """Some rows by a vector of filters for each item. CPUs have it, no image does."""

    name = "conv_weight"

    def defines(self, key: ConvKey) -> dict[str, object]:
        """The rooms of an item."""
        more = {"FT_PLANES": PLANES, "FT_STEPS": STEPS, "FT_ROWS": ROWS}
        return {**super().defines(key), **more}

    def helpers(self, key: ConvKey) -> list[str]:
        """Elements as values, and copies of planes."""
        return [*super().helpers(key), "planes.h"]

    def parameters(self, key: ConvKey) -> tuple[Parameter, ...]:
        """Both results, the operands, the offset of each, the geometry."""
        element = element_type(key.dtype)
        return (
            *[("*", f"{element} *", name) for name in ("out", "bias")],
            *[("*", f"const {element} *", name) for name in ("grad", "x")],
            *[("long", "long ", f"{name}_offset") for name in ("grad", "x")],
            ("*", "const long *", "geometry"),
        )

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """The steps of all panels, one after another."""
        g = launch.geometry
        begin, end = launch.slab(g[0], unit)
        panels = (end - begin) * g[5]
        return [Loop("steps", panels * g[10] * g[12] // g[4], panels)]

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """Every item reads its samples anew."""
        size, g = launch.key.dtype.itemsize, launch.geometry
        weights = g[4] * g[1] * g[7] * g[6]
        grads, planes = g[10] * g[1] * g[7] * g[12], g[10] * g[1] * g[8] * g[13]
        return [
            Access("out", True, weights * size, weights, 1, weights * size),
            Access("grad", False, g[3] * grads * size, g[3] * grads, 1, grads * size),
            Access("x", False, g[2] * planes * size, g[2] * planes, 1, planes * size),
        ]


register(ConvWeight())
