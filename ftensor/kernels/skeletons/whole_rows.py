"""whole_rows: softmax, log_softmax and layer norm with rows in local memory, for boards
(hls/skeleton/whole_rows.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd

from ...dtypes import dtype, float32
from ..geometry import Geometry
from ..inventory_terms import InventoryRequest
from ..key import EntryName
from ..skeleton import BoardSkeleton, Parameter, c_parameters, register
from ..source import constant
from ..workload import Access, KernelLaunch, LocalMemory, PipelinedLoop

# Constants of hls/vitis/whole_rows.cpp.
LANES = constant("vitis/whole_rows.cpp", "LANES")
TURNS = constant("vitis/whole_rows.cpp", "TURNS")
BEATS = constant("vitis/whole_rows.cpp", "BEATS")
# Depth of a FIFO in beats: a row, and the beats that arrive while its states combine.
FIFO = 512
# Code of each op in the kernel text.
OPS = {"softmax": 0, "log_softmax": 1, "layer_norm": 2}


@dataclass(frozen=True)
class WholeRowsKey:
    """Key of the kernel for all ops."""

    dtype: dtype
    lanes: int = 1
    skeleton = "whole_rows"
    entry = EntryName("ft_whole_rows_{0.dtype.name}")


@dataclass(frozen=True)
class WholeRowsGeometry(Geometry):
    """Geometry buffer of whole rows: `rows` rows of `n` elements. `op` is a code (OPS). `together`
    is the smallest number of rows that fill whole beats. `weighted` and `shifted` tell if layer
    norm has a weight and a bias."""

    derived = ("items",)
    op: int
    n: int
    rows: int
    together: int
    weighted: bool
    shifted: bool

    @classmethod
    def of(cls, op: str, n: int, rows: int, weighted: bool = False, shifted: bool = False) -> WholeRowsGeometry:
        """Returns the geometry, in which compute units begin at beat boundaries."""
        return cls(OPS[op], n, rows, LANES // gcd(n, LANES), weighted, shifted)

    @property
    def items(self) -> int:
        """Groups of `together` rows to share among the compute units."""
        return -(-self.rows // self.together)

    def part(self, launch: KernelLaunch, unit: int) -> int:
        """Returns the rows of a compute unit."""
        begin, end = launch.slab(self.items, unit)
        return max(0, min(end * self.together, self.rows) - begin * self.together)


class WholeRows(BoardSkeleton[WholeRowsKey]):
    """Rows stream through three passes in a pipeline of stages."""

    name = word = "whole_rows"
    geometry = WholeRowsGeometry
    staged = True
    template = "whole_rows.cpp"

    def parameters(self, key: WholeRowsKey) -> tuple[Parameter, ...]:
        pointers = "float *out, float *mean, float *rstd, const float *x, const float *weight, const float *bias"
        return c_parameters(pointers, "out mean rstd x weight bias", "float eps, const int *geometry")

    def beats(self, key: WholeRowsKey) -> Mapping[str, int]:
        return {"out": LANES, "x": LANES}

    def helpers(self, key: WholeRowsKey) -> list[str]:
        return ["math.h", "whole_rows.h"]

    def keys(self, request: InventoryRequest) -> Iterator[WholeRowsKey]:
        yield from (WholeRowsKey(of) for of in request.dtypes if of is float32)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns the loops: one beat of a row per cycle and stage; TURNS cycles to combine
        states."""
        g = WholeRowsGeometry.unpack(launch.geometry)
        rows = g.part(launch, unit)
        once, beats = min(rows, 1), rows * -(-g.n // LANES)
        moved, norm = -(-rows * g.n // LANES), g.op == OPS["layer_norm"]
        stages = [
            PipelinedLoop(name, beats, once, 1, False, name not in ("align", "pack"), name)
            for name in ("align", "fold_values", "fold_centered", "normalize", "pack")
        ]
        return [
            PipelinedLoop("line", moved, once, 1, True, False, "read"),
            *stages,
            PipelinedLoop("load_factors", once * g.n, once, 1, True, False, "normalize"),
            PipelinedLoop("combine_states", rows, once, TURNS, False, True, "combine_states"),
            PipelinedLoop("row_scales", rows, once, TURNS, False, True, "row_scales"),
            PipelinedLoop("write", rows * g.n // LANES, once, 1, True, False, "store"),
            PipelinedLoop("write_statistics", rows * norm, once * norm, 1, True, False, "write_statistics"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        g = WholeRowsGeometry.unpack(launch.geometry)
        count, statistics = g.rows * g.n, g.rows * (g.op == OPS["layer_norm"])
        beats = -(-count // LANES)
        weight, bias = (g.n * launch.units * present for present in (g.weighted, g.shifted))
        return [
            Access("out", True, count * 4, beats, 0, count * 4),
            Access("mean", True, statistics * 4, statistics, 0, statistics * 4),
            Access("rstd", True, statistics * 4, statistics, 0, statistics * 4),
            Access("x", False, count * 4, beats, 0, count * 4),
            Access("weight", False, weight * 4, weight, 0, g.n * 4 * g.weighted),
            Access("bias", False, bias * 4, bias, 0, g.n * 4 * g.shifted),
        ]

    def extent(self, launch: KernelLaunch) -> str:
        g = WholeRowsGeometry.unpack(launch.geometry)
        return f"{list(OPS)[g.op]} {g.rows}x{g.n}"

    def operators(self, key: WholeRowsKey) -> Mapping[tuple[str, str], int]:
        """Returns, for each lane, selection, comparison, two fold additions, difference,
        exponential, square, scale and shift; for a row, two trees of states at one addition per
        cycle, and the per-row operators."""
        return {
            ("compare", "float"): LANES + 1,
            ("add", "float"): 4 * LANES + 3,
            ("mul", "float"): 4 * LANES + 1,
            ("exp", "float"): LANES,
            ("div", "float"): 3,
            ("log", "float"): 1,
            ("sqrt", "float"): 1,
            ("choose", "float"): 26 * LANES,
        }

    def memories(self, key: WholeRowsKey, structure: str) -> list[LocalMemory]:
        return [LocalMemory(FIFO, 32 * LANES, 2), LocalMemory(BEATS, 32, 2 * LANES), LocalMemory(TURNS, 32, 2)]


register(WholeRows())
