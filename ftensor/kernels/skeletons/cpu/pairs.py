"""pairs: the distances of all pairs of points (hls/skeleton/pairs.h)."""

from __future__ import annotations

from dataclasses import dataclass

from ....dtypes import dtype
from ... import source
from ...geometry import Geometry
from ...key import EntryName, lanes_for
from ...skeleton import Parameter, Skeleton, c_parameters, register

# The norms: a step with one coordinate's distance d, and the result of the last step. "p" is any
# other norm.
_NORMS = {
    "0": ("(s) + ((d) != (d) ? (d) : (d) != K(0) ? K(1) : K(0))", "(s)"),
    "1": ("(s) + (d)", "(s)"),
    "2": ("fma(d, d, s)", "sqrt(s)"),
    "inf": ("((d) > (s) || (d) != (d) ? (d) : (s))", "(s)"),
    "p": ("(s) + pow(d, K(p))", "pow(s, K(1) / K(p))"),
}


@dataclass(frozen=True)
class PairsKey:
    """Key of a pairs kernel: dtype and norm."""

    dtype: dtype
    lanes: int
    norm: str
    skeleton = "pairs"
    entry = EntryName("ft_pairs_{0.norm}_{0.dtype.name}_{0.lanes}")


def pairs_key(dtype: dtype, n: int, p: float, lanes_bytes: int) -> PairsKey:
    """Returns the key for `n` points and a norm, with vectors of at most `n` lanes."""
    lanes = lanes_for([dtype], dtype, lanes_bytes)
    while lanes > n:
        lanes //= 2
    name = f"{p:g}"
    return PairsKey(dtype, lanes, name if name in _NORMS else "p")


@dataclass(frozen=True)
class PairsGeometry(Geometry):
    """Geometry buffer: `n` points of `coordinates` coordinates."""

    n: int
    coordinates: int


class Pairs(Skeleton[PairsKey]):
    """Vectors of distances from one point."""

    name = "pairs"
    report_name = "pdist"
    geometry = PairsGeometry

    def parameters(self, key: PairsKey) -> tuple[Parameter, ...]:
        c = source.scalar(key.dtype)
        return c_parameters(f"{c} *out, const {c} *x", "out x", f"{c} p, const long *geometry")

    def defines(self, key: PairsKey) -> dict[str, object]:
        step, finish = _NORMS[key.norm]
        return {"FT_STEP(s, d)": step, "FT_FINISH(s)": finish}

    def helpers(self, key: PairsKey) -> list[str]:
        return ["math.h"]


register(Pairs())
