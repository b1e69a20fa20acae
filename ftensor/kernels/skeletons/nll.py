"""nll, nll_input: negative log-likelihood loss and its derivative (hls/skeleton/nll.h,
nll_input.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...dtypes import dtype
from .. import source
from ..geometry import Geometry
from ..inventory_terms import InventoryRequest
from ..key import lanes_for
from ..skeleton import BoardSkeleton, Parameter, c_parameters, register
from ..source import element_defines, element_helpers, element_type
from ..workload import Access, KernelLaunch, PipelinedLoop, interval, operator_cycles


@dataclass(frozen=True)
class NllKey:
    """Key of the loss or of its derivative; `wide` sums in float64."""

    skeleton: str
    dtype: dtype
    lanes: int = 1
    wide: bool = False

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_{self.skeleton}_{self.dtype.name}_{self.lanes}" + ("_wide" if self.wide else "")


@dataclass(frozen=True)
class NllGeometry(Geometry):
    """Geometry buffer of the loss or of its derivative. `inner` is the number of targets per
    sample; `weighted` is 1 if there are weights.

    Loss: `items` are the targets, and `kind` is 0 for a loss per target, 1 for the mean, 2 for the
    sum.

    Derivative: `items` are the samples; `kind` is 1 if each target has its own gradient, and `mean`
    is 1 for the derivative of a mean.
    """

    items: int
    classes: int
    inner: int
    weighted: int
    kind: int
    mean: int = 0


class Nll(BoardSkeleton[NllKey]):
    """Loss: one sequential loop over the targets."""

    name = word = "nll"
    report_name = "nll_loss"
    result_dtypes: tuple[str | None, ...] = (None, None)
    operand_dtypes: tuple[str | None, ...] = (None, "int64", None)
    geometry = NllGeometry

    def parameters(self, key: NllKey) -> tuple[Parameter, ...]:
        c, last = element_type(key.dtype), "long ignored, const long *geometry"
        pointers = f"{c} *out, {c} *total, const {c} *x, const long *target, const {c} *weight, long *bad"
        return c_parameters(pointers, "out total x target weight", last)

    def defines(self, key: NllKey) -> dict[str, object]:
        wide = "double" if key.wide else source.scalar(key.dtype)
        return {**element_defines(key.dtype), "FT_SUM": wide}

    def helpers(self, key: NllKey) -> list[str]:
        return element_helpers(key.dtype, [])

    def keys(self, request: InventoryRequest) -> Iterator[NllKey]:
        yield from (NllKey("nll", of) for of in request.dtypes if of.kind == "f")

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns a loop over the targets; its recurrence is the addition to the sum."""
        begin, end = launch.slab(NllGeometry.unpack(launch.geometry).items, unit)
        wait = interval(operator_cycles(launch.key.dtype.compute)["add"], 1)
        return [PipelinedLoop("is", end - begin, 1, wait)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; `x` counts one element for each target."""
        g, size = NllGeometry.unpack(launch.geometry), launch.key.dtype.itemsize
        n = g.items
        results = 1 if g.kind else n
        return [
            Access("out", True, results * size, results, 1, results * size),
            Access("total", True, size, 1, 1, size),
            Access("x", False, n * size, n, 1, n * g.classes * size),
            Access("target", False, n * 8, n, n, n * 8),
            Access("weight", False, g.weighted * n * size, g.weighted * n, 1, g.classes * size),
            Access("bad", True, 0, 0, 0, 0),
        ]

    def operators(self, key: NllKey) -> Mapping[tuple[str, str], int]:
        kind = source.scalar(key.dtype)
        return {("mul", kind): 1, ("add", kind): 2, ("div", kind): 1}

    def extent(self, launch: KernelLaunch) -> str:
        g = NllGeometry.unpack(launch.geometry)
        return f"{g.items} of {g.classes}"


class NllInput(Nll):
    """Derivative: fills the result with zeros, then writes one element for each target."""

    name = word = "nll_input"
    report_name = "nll_loss_backward"
    result_dtypes, operand_dtypes = (None,), (None, "int64", None, None)

    def parameters(self, key: NllKey) -> tuple[Parameter, ...]:
        c, last = element_type(key.dtype), "long ignored, const long *geometry"
        pointers = f"{c} *out, const {c} *grad, const long *target, const {c} *weight, const {c} *total"
        return c_parameters(pointers, "out grad target weight total", last)

    def defines(self, key: NllKey) -> dict[str, object]:
        return element_defines(key.dtype)

    def keys(self, request: InventoryRequest) -> Iterator[NllKey]:
        for d in request.dtypes:
            if d.kind == "f":
                lanes = lanes_for([d], d.compute, request.target.lanes_bytes)
                yield NllKey("nll_input", d, lanes)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        g = NllGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        size = (end - begin) * g.classes * g.inner
        return [
            PipelinedLoop("zeros", size // launch.key.lanes, 1, computes=False),
            PipelinedLoop("targets", (end - begin) * g.inner, end - begin),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; `out` counts the zeros, in vectors, and one element per target."""
        key, g = launch.key, NllGeometry.unpack(launch.geometry)
        size, n = key.dtype.itemsize, g.items * g.inner
        zeros, grads = n * g.classes, n if g.kind else 1
        return [
            Access("out", True, zeros * size, zeros // key.lanes + n, 0, zeros * size),
            Access("grad", False, grads * size, grads, grads, grads * size),
            Access("target", False, n * 8, n, g.inner, n * 8),
            Access("weight", False, g.weighted * n * size, g.weighted * n, 1, g.classes * size),
            Access("total", False, size, 1, 1, size),
        ]

    def operators(self, key: NllKey) -> Mapping[tuple[str, str], int]:
        kind = source.scalar(key.dtype)
        return {("mul", kind): 1, ("div", kind): 1}


register(Nll())
register(NllInput())
