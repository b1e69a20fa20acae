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
from ..ports import PORT_BYTES
from ..skeleton import Parameter, register
from ..words import Argument, Asked, Option, table_lines
from ..work import Access, Ints, KernelLaunch, LocalMemory, Loop
from .fft import passed

# What an inventory may ask for: powers of two up to this one.
MOST_POINTS = 4096
# Pairs of numbers in a turn, at the least: more than a butterfly and its memories take cycles.
LEAST = 32
# A bit of `ends`: tables have factors of what comes and of what leaves.
FACTORS = 16
POINTS = Option("points", default=(1024,), low=8, high=MOST_POINTS)


@dataclass(frozen=True)
class FftStreamKey:
    """One kernel for all powers of two up to `points`."""

    dtype: dtype
    points: int
    skeleton = "fft_stream"

    @property
    def lanes(self) -> int:
        """Parts of numbers in a port's beat."""
        return PORT_BYTES // self.dtype.to_real().itemsize

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_fft_stream_{self.dtype.name}_{self.points}"

    @property
    def stages(self) -> int:
        """How many butterflies stand side by side."""
        return self.points.bit_length() - 1

    @property
    def slot(self) -> int:
        """Numbers of a turn in one of the two memories behind a stage."""
        return max(self.points // 2, LEAST)


@dataclass(frozen=True)
class FftStreamGeometry(Geometry):
    """What a launch is told: `stages` are log2 of a row's length, of which so many numbers `come`,
    and then zeros, and so many `leave`; steps in elements; `ends` as in `fft`, and FACTORS."""

    rows: int
    stages: int
    ends: int
    come: int
    leave: int
    read: Annotated[Ints, Each("step row")]
    written: Annotated[Ints, Each("step row")]

    @property
    def line_out(self) -> bool:
        """Whether results leave in beats."""
        whole = self.rows == 1 or self.written[1] == self.leave
        return self.written[0] == 1 and self.leave % 2 == 0 and whole

    @property
    def in_line(self) -> bool:
        """Whether two numbers a cycle come and go, as of rows that begin on an even number."""
        return self.read[0] == 1 and self.read[1] % 2 == 0 and self.line_out


class FftStream(BoardSkeleton[FftStreamKey]):
    """A stage for each factor of two."""

    name = word = "fft_stream"
    geometry = FftStreamGeometry
    staged = True
    options = (POINTS,)

    def parameters(self, key: FftStreamKey) -> tuple[Parameter, ...]:
        """Those of all transforms."""
        return passed(key.dtype)

    def defines(self, key: FftStreamKey) -> dict[str, object]:
        """The longest row."""
        return {"FT_POINTS": key.points, "FT_STAGES": key.stages, "FT_LEAST": LEAST, "FT_SLOT": key.slot}

    def beats(self, key: FftStreamKey) -> Mapping[str, int]:
        """Rows and tables move in beats."""
        return dict.fromkeys(("out", "in", "table"), key.lanes)

    def arguments(self, key: FftStreamKey) -> tuple[Argument, ...]:
        """Results that are no rows in line leave by a port of single numbers."""
        own = super().arguments(key)
        numbers = f"hls::vector<{ctype.scalar(key.dtype)}, 2> *"
        return (*own[:3], Argument("out_numbers", "*", numbers, "out"), *own[3:])

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """A beat is asked for when its first number is wanted; those that leave are one burst."""
        return vector and not written

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

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """Every row comes in, and the last one goes through all stages."""
        g, key = FftStreamGeometry.unpack(launch.geometry), launch.key
        begin, end = launch.slab(g.rows, unit)
        half, factors = 1 << g.stages >> 1, int(bool(g.ends & FACTORS))
        many = max(LEAST // half, 1)
        turn = half * many * (1 if g.in_line else 2)
        behind = (key.stages + 1) * (turn // 2 + LEAST) if end > begin else 0
        trips = -(-(end - begin) // many) * turn + behind
        number = key.lanes // 2
        beats = end * g.leave // number + begin * g.leave // -number if g.line_out else 0
        beats = max(beats, 0)
        return [
            Loop("roots", key.points // 4, 1, computes=False, stage="rows"),
            Loop("factors", 2 * key.points * factors, factors, computes=False, stage="rows"),
            Loop("butterflies", trips, min(trips, 1), stage="rows"),
            Loop("beats", beats, min(beats, 1), reads=False, computes=False, stage="store"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Every row in and out, and the roots for each unit."""
        g, key = FftStreamGeometry.unpack(launch.geometry), launch.key
        size = key.dtype.itemsize
        came, left = g.rows * g.come * size, g.rows * g.leave * size
        table = key.points // 2 * (5 if g.ends & FACTORS else 1) * launch.units * size
        beats = -(-came // (PORT_BYTES if g.read[0] == 1 else size))
        read = beats * PORT_BYTES if g.read[0] == 1 else came
        gone = -(-left // (PORT_BYTES if g.line_out else size))
        return [
            Access("out", True, left, gone, 0 if g.line_out else 1, left),
            Access("in", False, read, beats, 1, came, short=True),
            Access("table", False, table, table // PORT_BYTES, 1, table, short=True),
        ]

    def operators(self, key: FftStreamKey) -> Mapping[tuple[str, str], int]:
        """A butterfly for each stage, the scale of two numbers and four factors; a number is that
        of one of two memories."""
        kind = ctype.scalar(key.dtype)
        return {
            ("mul", kind): 4 * key.stages + 20,
            ("add", kind): 6 * key.stages + 8,
            ("choose", kind): 12 * key.stages,
        }

    def memories(self, key: FftStreamKey, structure: str) -> list[LocalMemory]:
        """Two memories of three turns before, between and behind the stages; roots for each."""
        bits = 4 * key.dtype.itemsize
        return [
            LocalMemory(3 * key.slot, bits, 4 * (key.stages + 1)),
            LocalMemory(key.points // 2, bits, 2 * key.stages + 8),
            LocalMemory(64, 8 * PORT_BYTES),
        ]

    def extent(self, launch: KernelLaunch) -> str:
        """Rows and their length."""
        g = FftStreamGeometry.unpack(launch.geometry)
        return f"{g.rows}x{g.come} of {1 << g.stages}" if g.ends & FACTORS else f"{g.rows}x{g.come}"


register(FftStream())
