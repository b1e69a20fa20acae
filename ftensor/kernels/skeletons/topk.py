"""topk: the first elements of rows in their order, in registers (hls/skeleton/topk.h)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Annotated

from ...dtypes import dtype
from ..geometry import Geometry, Long, Many
from ..ports import PORT_BYTES
from ..skeleton import Parameter, register
from ..work import Access, Ints, KernelLaunch, Loop
from .sort import OfOrder, bits, compared, words_of_order

FIRST = 64  # registers, and so the most elements of a row that are asked for


@dataclass(frozen=True)
class TopkKey:
    """One kernel for each dtype."""

    dtype: dtype
    skeleton = "topk"

    @property
    def lanes(self) -> int:
        """Elements of a beat."""
        return min(16, PORT_BYTES // self.dtype.itemsize)

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_topk_{self.dtype.name}"


@dataclass(frozen=True)
class TopkGeometry(Geometry):
    """What a launch is told, all in elements: so `many` results of each row; steps are along it."""

    derived = ("items",)
    n: int
    many: int
    descending: bool
    read: Long
    written: Long
    shape: Annotated[Ints, Many("dims")]
    read_strides: Annotated[Ints, Many("dims")]
    written_strides: Annotated[Ints, Many("dims")]

    @property
    def items(self) -> int:
        """The rows, which the units share."""
        return prod(self.shape)


class Topk(OfOrder[TopkKey]):
    """A row of registers takes an element a cycle."""

    name = word = "topk"
    geometry = TopkGeometry
    key = TopkKey

    def parameters(self, key: TopkKey) -> tuple[Parameter, ...]:
        """Results, their places, the input; offsets; the geometry."""
        of = bits(key.dtype)
        return (
            ("*", f"{of} *", "values"),
            ("*", "long *", "indices"),
            ("*", f"const {of} *", "in"),
            *(("long", "long ", f"{name}_offset") for name in ("values", "indices", "in")),
            ("*", "const long *", "geometry"),
        )

    def beats(self, key: TopkKey) -> Mapping[str, int]:
        """Elements come in beats."""
        return {"in": key.lanes}

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """A beat is asked for when an element of it is wanted, and few results are written."""
        return True

    def defines(self, key: TopkKey) -> dict[str, object]:
        """The registers, and what is compared."""
        return {"FT_FIRST": FIRST, **words_of_order(key.dtype)}

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """An element a cycle, and then the results of a row."""
        g = TopkGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        rows = end - begin
        return [Loop("elements", rows * g.n, rows), Loop("results", rows * g.many, rows, reads=False, computes=False)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """The input once, as many elements of a beat as lie in it; the results."""
        key, g = launch.key, TopkGeometry.unpack(launch.geometry)
        size, elements, results = key.dtype.itemsize, g.items * g.n, g.items * g.many
        beats = -(-elements * min(abs(g.read), key.lanes) // key.lanes)
        moved = beats * key.lanes * size
        return [
            Access("values", True, results * size, results, 1, results * size, short=True),
            Access("indices", True, results * 8, results, 1, results * 8, short=True),
            Access("in", False, moved, beats, 1, elements * size, short=True),
        ]

    def divisions(self, launch: KernelLaunch, loops: object) -> int:
        """A row's place in each dim."""
        g = TopkGeometry.unpack(launch.geometry)
        return len(g.shape) * -(-g.items // launch.units)

    def operators(self, key: TopkKey) -> Mapping[tuple[str, str], int]:
        """Each register compares, and takes what comes, what is before it, or stays."""
        return {
            ("compare", compared(key.dtype).name): FIRST,
            ("choose", compared(key.dtype).name): 4 * FIRST,
            ("choose", "int32"): 2 * FIRST,
        }

    def extent(self, launch: KernelLaunch) -> str:
        """How many of how many, of how many rows."""
        g = TopkGeometry.unpack(launch.geometry)
        return f"{g.items}x{g.many} of {g.n}"


register(Topk())
