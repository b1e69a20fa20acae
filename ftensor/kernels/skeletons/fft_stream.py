"""fft_stream: Fourier transforms of rows that flow through a chain of stages
(hls/skeleton/fft_stream.h), for images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from ...dtypes import dtype
from .. import ctype
from ..board_skeleton import BoardSkeleton
from ..geometry import Each, Geometry
from ..skeleton import Parameter, register
from ..words import Asked, Option, table_lines
from ..work import Access, Ints, Launch, Loop, Memory
from .fft import passed

# What an inventory may ask for: powers of two up to this one.
MOST_POINTS = 4096
POINTS = Option("points", default=(1024,), low=8, high=MOST_POINTS)


@dataclass(frozen=True)
class FftStreamKey:
    """One kernel for all powers of two up to `points`."""

    dtype: dtype
    points: int
    lanes: int = 1
    skeleton = "fft_stream"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_fft_stream_{self.dtype.name}_{self.points}"

    @property
    def stages(self) -> int:
        """How many butterflies stand side by side."""
        return self.points.bit_length() - 1


@dataclass(frozen=True)
class FftStreamGeometry(Geometry):
    """What a launch is told: `stages` are log2 of a row's length; steps in elements; `ends` as in
    `fft`."""

    rows: int
    stages: int
    ends: int
    read: Annotated[Ints, Each("step row")]
    written: Annotated[Ints, Each("step row")]


class FftStream(BoardSkeleton[FftStreamKey]):
    """A stage for each factor of two."""

    name = word = "fft_stream"
    geometry = FftStreamGeometry
    options = (POINTS,)

    def parameters(self, key: FftStreamKey) -> tuple[Parameter, ...]:
        """Those of all transforms."""
        return passed(key.dtype)

    def defines(self, key: FftStreamKey) -> dict[str, object]:
        """The longest row."""
        return {"FT_POINTS": key.points, "FT_STAGES": key.stages}

    def keys(self, asked: Asked) -> Iterator[FftStreamKey]:
        """One for each complex dtype and length."""
        for of in asked.dtypes:
            for points in asked.options["points"] if of.is_complex else ():
                if points & (points - 1) == 0:
                    yield FftStreamKey(of, points)

    def lines(self, key: FftStreamKey) -> tuple[str, ...]:
        """The dtype and the longest row."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]', f"points = [{key.points}]")

    def suffix(self, key: FftStreamKey) -> str:
        """The longest row and the dtype."""
        return f"fft{key.points}_{key.dtype.name}"

    def loops(self, launch: Launch, unit: int, widened: bool) -> list[Loop]:
        """Every row comes in, and the last one goes through all stages."""
        g, key = FftStreamGeometry.unpack(launch.geometry), launch.key
        begin, end = launch.slab(g.rows, unit)
        turns = end - begin + key.stages + 1 if end > begin else 0
        # Two numbers, of two parts each, through one port in and one out.
        trips = turns << g.stages >> 1
        return [
            Loop("roots", key.points // 2, 1, 2),
            Loop("butterflies", trips, turns, 4),
        ]

    def traffic(self, launch: Launch, widened: bool) -> list[Access]:
        """Every row in and out, and the roots for each unit."""
        g, key = FftStreamGeometry.unpack(launch.geometry), launch.key
        size, count = key.dtype.itemsize, g.rows << g.stages
        moved, table = count * size, key.points // 2 * launch.units
        # A step that is told when it runs is no burst: only the parts of a number lie side by side.
        return [
            Access("out", True, moved, 2 * count, 2, moved),
            Access("in", False, moved, 2 * count, 2, moved),
            Access("table", False, table * size, 2 * table, 0, key.points // 2 * size),
        ]

    def operators(self, key: FftStreamKey) -> Mapping[tuple[str, str], int]:
        """A butterfly for each stage, and the scale of two numbers."""
        kind = ctype.scalar(key.dtype)
        return {("mul", kind): 4 * key.stages + 4, ("add", kind): 6 * key.stages}

    def memories(self, key: FftStreamKey, structure: str) -> list[Memory]:
        """Two memories before, between and behind the stages, and roots for each."""
        bits = 4 * key.dtype.itemsize
        return [
            Memory(key.points, bits, 4 * (key.stages + 1)),
            Memory(key.points // 2, bits, 2 * key.stages),
        ]

    def extent(self, launch: Launch) -> str:
        """Rows and their length."""
        g = FftStreamGeometry.unpack(launch.geometry)
        return f"{g.rows}x{1 << g.stages}"


register(FftStream())
