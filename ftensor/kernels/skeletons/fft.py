"""fft: discrete Fourier transforms, side by side in the lanes of vectors (hls/skeleton/fft.h)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2, prod
from typing import Annotated, NamedTuple

from ...dtypes import dtype
from ...iterator.shape import numel
from .. import ctype
from ..board_skeleton import BoardSkeleton
from ..geometry import Each, Geometry, Long, Many
from ..ports import LATENCY
from ..skeleton import Parameter, register
from ..words import ROOMY, Asked, KernelTarget, table_lines
from ..work import Access, Ints, KernelLaunch, Loop

# Radices whose butterflies are written out.
RADICES = (16, 8, 4, 2, 3, 5)
# The largest prime that a pass takes as its radix.
MOST_RADIX = 61
# What a step is: a pass of a radix above these, or
TIMES, FORTH, BACK = 1, 0, -1
# What a stage is.
GROUPS, ROW_FORTH, ROW_BACK = 0, 1, 2
# Bits of `ends`: swap the parts that are read, that are written; scale; the spectrum's conjugate.
SWAP_IN, SWAP_OUT, SCALE, CONJ = 1, 2, 4, 8
# Bits of `mode`: what is read has no imaginary parts, is one half of a spectrum.
REAL, HALF = 1, 2


# Its loops are a processor's, none of them pipelined: a turn reads, computes, and writes.
TURN = 2 * LATENCY


@dataclass(frozen=True)
class FftKey:
    """One kernel for all lengths of a complex dtype."""

    dtype: dtype
    lanes: int
    skeleton = "fft"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_fft_{self.dtype.name}_{self.lanes}"


def fft_key(of: dtype, target: KernelTarget) -> FftKey:
    """The kernel for a complex dtype: one lane where a vector cannot begin at any element, half a
    vector's where few of them are at hand."""
    if not getattr(target, "unaligned", False):
        return FftKey(of, 1)
    width = target.lanes_bytes if target.registers >= ROOMY else target.lanes_bytes // 2
    return FftKey(of, min(16, width // of.to_real().itemsize))


class FftStep(NamedTuple):
    """One step on a group's numbers: its kind or radix, the length before a pass (of others, bits
    and where zeros end), how many numbers, and where its table begins."""

    what: int
    length: int
    n: int
    table: int


class Side(NamedTuple):
    """How a stage's numbers lie: in which memory (a unit's own from here on, -1: the tensor's), how
    far neighbours, lanes, imaginary parts are apart, and how many numbers there are."""

    memory: int
    step: int
    lane: int
    im: int
    size: int


@dataclass(frozen=True)
class Stage(Geometry):
    """Transforms of `n` numbers each, as many as there are lanes."""

    prefix = "S"
    kind: int
    lanes: int
    n: int
    ends: int
    read: Side
    mode: int
    work: Long
    written: Side
    real: int
    half: Long  # from one half of the working memory to the other
    table: Long  # roots that results are multiplied by, -1: none
    steps: Annotated[tuple[FftStep, ...], Many("step_count")]


@dataclass(frozen=True)
class FftGeometry(Geometry):
    """What a launch is told: all strides in real numbers, `work` is a unit's working memory."""

    items: int
    pieces: int
    work: Long
    parts: Annotated[Ints, Each("read written")]  # real numbers of an element
    shape: Annotated[Ints, Many("dims")]
    read: Annotated[Ints, Many("dims")]
    written: Annotated[Ints, Many("dims")]
    stages: Annotated[tuple[Stage, ...], Many("stage_count")]


def radices(n: int) -> Ints | None:
    """The radices of a length's passes; None where a prime factor is too large for one.

    Powers of two as few passes as there can be, of radices that are near each other.
    """
    factors: list[int] = []
    rest, twos = n, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    if twos:
        passes = -(-twos // 4) if twos in (4, 8) else -(-twos // 3)
        factors += [1 << (twos + k) // passes for k in range(passes)][::-1]
    for r in range(3, MOST_RADIX + 1, 2):
        while rest % r == 0:
            factors.append(r)
            rest //= r
    return tuple(factors) if rest == 1 else None


def roots_in(radix: int, length: int) -> int:
    """How many roots of unity a pass reads."""
    return (radix - 1) * length * (length > 1) + (radix not in RADICES) * radix


def passed(of: dtype, *memory: Parameter) -> tuple[Parameter, ...]:
    """What a launch of transforms passes: results, what is transformed, a table of roots of unity,
    `memory`, offsets, what results are scaled by."""
    real = ctype.scalar(of)
    return (
        ("*", f"{real} *", "out"),
        ("*", f"const {real} *", "in"),
        ("*", f"const {real} *", "table"),
        *memory,
        ("long", "long ", "out_offset"),
        ("long", "long ", "in_offset"),
        (real, f"{real} ", "scale"),
        ("*", "const long *", "geometry"),
    )


class Fft(BoardSkeleton[FftKey]):
    """Stages of groups of transforms."""

    name = word = "fft"
    geometry = FftGeometry

    def flops(self, key: FftKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """As usual in comparisons: 5 n log2 n of a transform."""
        stages = FftGeometry.unpack(geometry).stages
        return round(5 * max(map(numel, shapes[:2])) * sum(log2(s.n) for s in stages))

    def parameters(self, key: FftKey) -> tuple[Parameter, ...]:
        """With working memory."""
        return passed(key.dtype, ("*", f"{ctype.scalar(key.dtype)} *", "scratch"))

    def defines(self, key: FftKey) -> dict[str, object]:
        """The largest radix."""
        return {"FT_MOST_RADIX": MOST_RADIX}

    def helpers(self, key: FftKey) -> list[str]:
        """The butterflies."""
        return ["math.h", "complex.h", "fft.h"]

    def keys(self, asked: Asked) -> Iterator[FftKey]:
        """One for each complex dtype."""
        for of in asked.dtypes:
            if of.is_complex:
                yield fft_key(of, asked.target)

    def lines(self, key: FftKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """One for each step, and the ways in and out."""
        g, lanes = FftGeometry.unpack(launch.geometry), launch.key.lanes
        begin, end = launch.slab(g.items * g.pieces, unit)
        loops = []
        for s in g.stages:
            groups = -(-s.lanes // lanes) * (end - begin) // g.pieces
            if s.kind != GROUPS:
                loops.append(Loop("real", groups, end - begin, TURN))
                continue
            loops.append(Loop("read", groups * s.read.size, groups, TURN))
            for step in s.steps:
                radix = max(step.what, 1)
                turns = groups * step.n // radix
                loops.append(Loop(f"step {step.what}", turns, groups, TURN + radix))
            loops.append(Loop("written", groups * s.written.size, groups, TURN))
        return loops

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Every step reads and writes the working memory; tables are read for each group."""
        g, lanes = FftGeometry.unpack(launch.geometry), launch.key.lanes
        size = launch.key.dtype.itemsize // 2
        moved = {"in": 0, "out": 0, "between": 0, "tables": 0}
        for s in g.stages:
            groups = g.items * -(-s.lanes // lanes)
            read = g.items * s.lanes * s.read.size * (1 if s.mode & REAL else 2)
            written = g.items * s.lanes * s.written.size * (1 if s.real else 2)
            moved["in" if s.read.memory < 0 else "between"] += read
            moved["out" if s.written.memory < 0 else "between"] += written
            moved["between"] += 2 * groups * lanes * (s.read.size + s.written.size)
            for step in s.steps:
                moved["between"] += 4 * groups * lanes * step.n
                moved["tables"] += 2 * groups * (step.n if step.what <= 1 else 0)
                if step.what > 1:
                    moved["tables"] += 2 * groups * roots_in(step.what, step.length)
            if s.table >= 0:
                moved["tables"] += 2 * s.n * s.lanes
        first, last = g.stages[0].read, g.stages[-1].written
        burst_in = first.size if first.step == 2 else 1
        burst_out = last.size if last.step == 2 else 1
        names = (("out", True, burst_out), ("in", False, burst_in), ("tables", False, 1))
        accesses = [
            Access(name, to, moved[name] * size, moved[name], burst, moved[name] * size) for name, to, burst in names
        ]
        between = moved["between"]
        return [*accesses, Access("scratch", True, between * size, between, lanes, 0)]

    def extent(self, launch: KernelLaunch) -> str:
        """Transforms and their length."""
        g = FftGeometry.unpack(launch.geometry)
        stages = [s for s in g.stages if s.kind == GROUPS]
        n = prod(s.n for s in stages)
        return f"{g.items * (stages[0].lanes if len(stages) == 1 else 1)}x{n}"


register(Fft())
