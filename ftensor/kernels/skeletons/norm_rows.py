"""norm_rows, norm_rows_back, norm_rows_factors: rows normalized, and its derivatives
(hls/skeleton/norm_rows*.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...dtypes import dtype
from .. import ctype
from ..geometry import Geometry
from ..key import lanes_for
from ..skeleton import Parameter, Skeleton, register
from ..words import Asked, Record, Target
from ..work import Access, Launch, Loop
from .elements import element_defines, element_helpers, element_type

# Steps that are summed before they join a total.
DEPTH = 64


@dataclass(frozen=True)
class NormKey:
    """One kernel, of elements of a dtype that is computed in."""

    skeleton: str
    dtype: dtype
    lanes: int

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_{self.skeleton}_{self.dtype.name}_{self.lanes}"


def norm_key(name: str, of: dtype, target: Target, n: int) -> NormKey:
    """The kernel for rows of n elements: of no more lanes than these fill."""
    lanes = lanes_for([of], of.compute, target.lanes_bytes)
    while lanes > 4 and n <= lanes // 2:
        lanes //= 2
    return NormKey(name, of, lanes)


@dataclass(frozen=True)
class NormGeometry(Geometry):
    """What a launch is told: rows (of the factors' kernel: vectors of columns), elements of a row,
    whether there is a weight, a bias; and `rows` of the factors' kernel."""

    items: int
    n: int
    weighted: bool = False
    shifted: bool = False
    rows: int = 0


class NormRows(Skeleton[NormKey]):
    """One of the three, by the operands that it writes and reads, whether it takes `eps`, and its
    loops with how often each goes over a row."""

    geometry = NormGeometry

    def __init__(self, name: str, outs: str, ins: str, loops: str, scaled: bool = False) -> None:
        self.name = self.word = name
        self.outs, self.ins = tuple(outs.split()), tuple(ins.split())
        self.passes, self.scaled = tuple(loops.split()), scaled

    def parameters(self, key: NormKey) -> tuple[Parameter, ...]:
        """Results, operands, their offsets, the number, the geometry."""
        of = element_type(key.dtype)
        found: list[Parameter] = [("*", f"{of} *", name) for name in self.outs]
        found += [("*", f"const {of} *", name) for name in self.ins]
        found += [("long", "long ", f"{name}_offset") for name in (*self.outs, *self.ins)]
        if self.scaled:
            real = ctype.scalar(key.dtype)
            found.append((real, f"{real} ", "eps"))
        return (*found, ("*", "const long *", "geometry"))

    def defines(self, key: NormKey) -> dict[str, object]:
        """The element, and how many steps are summed at once."""
        return {**element_defines(key.dtype), "FT_DEPTH": DEPTH}

    def helpers(self, key: NormKey) -> list[str]:
        """Elements, what lanes are together, parts of rows."""
        return [*element_helpers(key.dtype, []), "across.h", "norm.h"]

    def record(self, key: NormKey) -> Record:
        """Its dtype."""
        of = key.dtype.name
        return Record(self.name, (of,) * len(self.outs), (of,) * len(self.ins), "", of)

    def keys(self, asked: Asked) -> Iterator[NormKey]:
        """None: no launch on a board asks for it."""
        return iter(())

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """Each over all parts of the unit's rows, or all rows of its columns."""
        g = NormGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.items, unit)
        along = self.name != "norm_rows_factors"
        steps = -(-g.n // launch.key.lanes) if along else g.rows
        return [Loop(name, (end - begin) * steps, end - begin) for name in self.passes]

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """Rows once for each pass."""
        g, size = NormGeometry.unpack(launch.geometry), launch.key.dtype.itemsize
        rows = g.rows if self.name == "norm_rows_factors" else g.items
        whole = {"out", "x", "grad"}
        each = {name: rows * g.n if name in whole else g.n for name in (*self.outs, *self.ins)}
        each |= {name: rows for name in ("mean", "rstd") if name in each}
        return [
            Access(name, name in self.outs, n * size, n, 0, n * size) for name, n in each.items()
        ]

    def operators(self, key: NormKey) -> Mapping[tuple[str, str], int]:
        """Sums and products, in every lane."""
        kind = ctype.scalar(key.dtype)
        return {("add", kind): 4 * key.lanes, ("mul", kind): 4 * key.lanes}

    def extent(self, launch: Launch) -> str:
        """Rows, and how long one is."""
        g = NormGeometry.unpack(launch.geometry)
        return f"{g.items}x{g.n}"


register(NormRows("norm_rows", "out mean rstd", "x weight bias", "sum squares results", True))
register(NormRows("norm_rows_back", "out", "grad x mean rstd weight", "sums results"))
register(NormRows("norm_rows_factors", "weight bias", "grad x mean rstd", "sums"))
