"""norm_rows, norm_rows_back, norm_rows_factors: rows normalized, and its derivatives
(hls/skeleton/norm_rows*.h)."""

from __future__ import annotations

from dataclasses import dataclass

from ....dtypes import dtype
from ... import ctype
from ...geometry import Geometry
from ...key import lanes_for
from ...skeleton import Parameter, Skeleton, register
from ...words import Target
from ..elements import element_defines, element_helpers, element_type

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
    """One of the three, by the operands that it writes and reads, and whether it takes `eps`."""

    geometry = NormGeometry

    def __init__(self, name: str, outs: str, ins: str, scaled: bool = False) -> None:
        self.name, self.scaled = name, scaled
        self.outs, self.ins = tuple(outs.split()), tuple(ins.split())

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


register(NormRows("norm_rows", "out mean rstd", "x weight bias", True))
register(NormRows("norm_rows_back", "out", "grad x mean rstd weight"))
register(NormRows("norm_rows_factors", "weight bias", "grad x mean rstd"))
