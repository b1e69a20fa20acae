"""fft, fft_stream: discrete Fourier transforms (hls/skeleton/fft.h, fft_stream.h)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2, prod
from typing import Annotated, NamedTuple

import numpy as np

from ...dtypes import dtype
from ...iterator.shape import numel
from .. import source
from ..geometry import Geometry, ListField, Long, NamedFields
from ..inventory_terms import ROOMY_REGISTERS, InventoryRequest, KernelArgument, KernelTarget, Option
from ..key import EntryName
from ..skeleton import BoardSkeleton, Parameter, c_parameters, register
from ..workload import MEMORY_LATENCY, PORT_BYTES, Access, Ints, KernelLaunch, LocalMemory, PipelinedLoop

# Radices with unrolled butterflies.
RADICES = (16, 8, 4, 2, 3, 5)
# The largest prime radix of a pass.
MAX_RADIX = 61
# Values of `FftStep.what` that are not a radix.
TIMES, FORTH, BACK = 1, 0, -1
# Values of `FftStage.kind`.
GROUPS, ROW_FORTH, ROW_BACK = 0, 1, 2
# Bits of `ends`: swap real and imaginary parts on read, on write; scale; conjugate the spectrum.
SWAP_IN, SWAP_OUT, SCALE, CONJ = 1, 2, 4, 8
# Bits of `mode`: the input has no imaginary parts; the input is half of a spectrum.
REAL, HALF = 1, 2


# Cycles of an iteration (read, compute, write): these loops are for CPUs, and are not pipelined on
# boards.
ROUND_TRIP = 2 * MEMORY_LATENCY


@dataclass(frozen=True)
class FftKey:
    """Key of the kernel for all lengths of a complex dtype."""

    dtype: dtype
    lanes: int
    skeleton = "fft"
    entry = EntryName("ft_fft_{0.dtype.name}_{0.lanes}")


def fft_key(dtype: dtype, target: KernelTarget) -> FftKey:
    """Returns the key for a complex dtype: one lane if vectors must be aligned, half a vector's
    lanes if there are few vector registers."""
    if not getattr(target, "unaligned", False):
        return FftKey(dtype, 1)
    width = target.lanes_bytes if target.registers >= ROOMY_REGISTERS else target.lanes_bytes // 2
    return FftKey(dtype, min(16, width // dtype.to_real().itemsize))


class FftStep(NamedTuple):
    """One step on the numbers of a group.

    what: the radix of a pass, or the kind of another step
    length: of the transforms before a pass; for other kinds, option bits and the end of the zeros
    n: count of numbers
    table: where the step's table begins
    """

    what: int
    length: int
    n: int
    table: int


class StageLayout(NamedTuple):
    """Layout of a stage's numbers. `memory` is their offset in the compute unit's working memory,
    -1 if they are in the tensor. `step`, `lane` and `im` are the strides between numbers, lanes,
    and real and imaginary parts; `size` is the count of numbers."""

    memory: int
    step: int
    lane: int
    im: int
    size: int


@dataclass(frozen=True)
class FftStage(Geometry):
    """Stage of `lanes` transforms of `n` numbers each."""

    prefix = "S"
    kind: int
    lanes: int
    n: int
    ends: int
    read: StageLayout
    mode: int
    work: Long
    written: StageLayout
    real: int
    half: Long  # from one half of the working memory to the other
    table: Long  # start of the roots that scale the results, -1: none
    steps: Annotated[tuple[FftStep, ...], ListField("step_count")]


@dataclass(frozen=True)
class FftGeometry(Geometry):
    """Geometry buffer of transforms, with strides in real numbers. `work` is the size of a compute
    unit's working memory."""

    items: int
    pieces: int
    work: Long
    parts: Annotated[Ints, NamedFields("read written")]  # real numbers of an element
    shape: Annotated[Ints, ListField("dims")]
    read: Annotated[Ints, ListField("dims")]
    written: Annotated[Ints, ListField("dims")]
    stages: Annotated[tuple[FftStage, ...], ListField("stage_count")]


def radices(n: int) -> Ints | None:
    """Returns the radices of the passes for length n; None if a prime factor exceeds MAX_RADIX.

    Powers of two use as few passes as possible, with similar radices.
    """
    factors: list[int] = []
    rest, twos = n, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    if twos:
        passes = -(-twos // 4) if twos in (4, 8) else -(-twos // 3)
        factors += [1 << (twos + k) // passes for k in range(passes)][::-1]
    for r in range(3, MAX_RADIX + 1, 2):
        while rest % r == 0:
            factors.append(r)
            rest //= r
    return tuple(factors) if rest == 1 else None


def roots_in(radix: int, length: int) -> int:
    """Returns the number of roots of unity that a pass reads."""
    return (radix - 1) * length * (length > 1) + (radix not in RADICES) * radix


def launch_operands(dtype: dtype, memory: str = "") -> tuple[Parameter, ...]:
    """Returns the kernel parameters of transforms: results, input, table of roots of unity,
    `memory`, offsets, scale, geometry."""
    c = source.scalar(dtype)
    pointers = f"{c} *out, const {c} *in, const {c} *table{memory}"
    return c_parameters(pointers, "out in", f"{c} scale, const long *geometry")


class Fft(BoardSkeleton[FftKey]):
    """Transforms of any length, in stages of groups of transforms."""

    name = word = "fft"
    geometry = FftGeometry

    def flops(self, key: FftKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """Returns the conventional 5 n log2 n for each transform."""
        stages = FftGeometry.unpack(geometry).stages
        return round(5 * max(map(numel, shapes[:2])) * sum(log2(s.n) for s in stages))

    def parameters(self, key: FftKey) -> tuple[Parameter, ...]:
        return launch_operands(key.dtype, f", {source.scalar(key.dtype)} *scratch")

    def defines(self, key: FftKey) -> dict[str, object]:
        return {"FT_MAX_RADIX": MAX_RADIX}

    def helpers(self, key: FftKey) -> list[str]:
        return ["math.h", "complex.h", "fft.h"]

    def keys(self, request: InventoryRequest) -> Iterator[FftKey]:
        for d in request.dtypes:
            if d.is_complex:
                yield fft_key(d, request.target)

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        g, lanes = FftGeometry.unpack(launch.geometry), launch.key.lanes
        begin, end = launch.slab(g.items * g.pieces, unit)
        loops = []
        for s in g.stages:
            groups = -(-s.lanes // lanes) * (end - begin) // g.pieces
            if s.kind != GROUPS:
                loops.append(PipelinedLoop("real", groups, end - begin, ROUND_TRIP))
                continue
            loops.append(PipelinedLoop("read", groups * s.read.size, groups, ROUND_TRIP))
            for step in s.steps:
                radix = max(step.what, 1)
                turns = groups * step.n // radix
                loops.append(PipelinedLoop(f"step {step.what}", turns, groups, ROUND_TRIP + radix))
            loops.append(PipelinedLoop("written", groups * s.written.size, groups, ROUND_TRIP))
        return loops

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; each step reads and writes working memory, each group reads
        tables."""
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
        g = FftGeometry.unpack(launch.geometry)
        stages = [s for s in g.stages if s.kind == GROUPS]
        n = prod(s.n for s in stages)
        return f"{g.items * (stages[0].lanes if len(stages) == 1 else 1)}x{n}"


register(Fft())


# The largest `points` of an inventory; all are powers of two.
MAX_POINTS = 4096
# Fewest pairs of numbers in a turn: more than the latency of a butterfly and its memories.
LEAST = 32
# Bit of `ends`: the table has factors for inputs and for results.
FACTORS = 16
POINTS = Option("points", default=(1024,), low=8, high=MAX_POINTS)


@dataclass(frozen=True)
class FftStreamKey:
    """Key of the kernel for rows of all powers of two up to `points`."""

    dtype: dtype
    points: int
    skeleton = "fft_stream"

    @property
    def lanes(self) -> int:
        """Real numbers in a beat of a port."""
        return PORT_BYTES // self.dtype.to_real().itemsize

    entry = EntryName("ft_fft_stream_{0.dtype.name}_{0.points}")

    @property
    def stages(self) -> int:
        """Parallel butterflies, one for each factor of two."""
        return self.points.bit_length() - 1

    @property
    def table_cycles(self) -> tuple[int, int]:
        """Cycles in which a beat of roots, and a beat of factors, enters its memories."""
        return self.lanes // 4, self.lanes // 2

    @property
    def slot(self) -> int:
        """Numbers of one half row in each of the two memories that follow a stage."""
        return max(self.points // 2, LEAST)


@dataclass(frozen=True)
class FftStreamGeometry(Geometry):
    """Geometry buffer of streaming transforms. For each of `rows` rows of 2 ** `stages` points, the
    kernel reads `come` numbers, appends zeros, and writes `leave` numbers.

    `read` and `written` are strides in elements. `ends` has bits as in `fft`, and FACTORS.
    """

    rows: int
    stages: int
    ends: int
    come: int
    leave: int
    read: Annotated[Ints, NamedFields("step row")]
    written: Annotated[Ints, NamedFields("step row")]

    @property
    def line_out(self) -> bool:
        """True if the kernel writes results in beats."""
        is_contiguous = self.rows == 1 or self.written[1] == self.leave
        return self.written[0] == 1 and self.leave % 2 == 0 and is_contiguous

    @property
    def apart(self) -> bool:
        """True if the input is no single run of numbers."""
        return self.read[0] != 1 or (self.read[1] != self.come and self.rows > 1)

    def beats_in(self, lanes: int, begin: int, end: int) -> int:
        """Returns the beats that the rows from `begin` to `end` read, if the input begins on a
        beat."""
        if self.read[0] != 1:
            return (end - begin) * self.come
        row = np.arange(begin, end) if self.apart else np.arange(begin, end)[:1]
        first, come = 2 * row * self.read[1], self.come if self.apart else (end - begin) * self.come
        return int(((first + 2 * come - 1) // lanes - first // lanes + 1).sum())

    @property
    def in_line(self) -> bool:
        """True if the kernel reads and writes two numbers a cycle: rows are contiguous and begin at
        an even number."""
        return self.read[0] == 1 and self.read[1] % 2 == 0 and self.line_out


class FftStream(BoardSkeleton[FftStreamKey]):
    """Streaming transforms, with a hardware stage for each factor of two."""

    name = word = "fft_stream"
    geometry = FftStreamGeometry
    staged = True
    reads_few_beats = True  # of numbers and rows that are apart
    options = (POINTS,)

    def parameters(self, key: FftStreamKey) -> tuple[Parameter, ...]:
        return launch_operands(key.dtype)

    def defines(self, key: FftStreamKey) -> dict[str, object]:
        roots, factors = key.table_cycles
        return {
            "FT_POINTS": key.points,
            "FT_STAGES": key.stages,
            "FT_LEAST": LEAST,
            "FT_SLOT": key.slot,
            "FT_ROOT_CYCLES": roots,
            "FT_FACTOR_CYCLES": factors,
        }

    def beats(self, key: FftStreamKey) -> Mapping[str, int]:
        return dict.fromkeys(("out", "in", "table"), key.lanes)

    def arguments(self, key: FftStreamKey) -> tuple[KernelArgument, ...]:
        own = super().arguments(key)
        numbers = f"hls::vector<{source.scalar(key.dtype)}, 2> *"
        return (*own[:3], KernelArgument("out_numbers", "*", numbers, "out"), *own[3:])

    def keys(self, request: InventoryRequest) -> Iterator[FftStreamKey]:
        for d in request.dtypes:
            for points in request.options["points"] if d.is_complex else ():
                if points & (points - 1) == 0:
                    yield FftStreamKey(d, points)

    def lines(self, key: FftStreamKey) -> tuple[str, ...]:
        return (*super().lines(key), f"points = [{key.points}]")

    def suffix(self, key: FftStreamKey) -> str:
        return f"fft{key.points}_{key.dtype.name}"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns the loops; the trip count of butterflies includes the drain of the last row."""
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
        apart = g.read[0] != 1 or (g.read[1] != g.come and end - begin > 1)
        read, (roots, own) = g.beats_in(key.lanes, begin, end), key.table_cycles
        table = (max(key.points // key.lanes, 1), 4 * key.points // key.lanes * factors)
        return [
            PipelinedLoop("read_rows" if apart else "read_beats", read, min(read, 1), computes=False, stage="read"),
            PipelinedLoop("roots", table[0], 1, roots, computes=False, stage="rows"),
            PipelinedLoop("factors", table[1], factors, own, computes=False, stage="rows"),
            PipelinedLoop("butterflies", trips, min(trips, 1), reads=False, stage="rows"),
            PipelinedLoop("write_beats", beats, min(beats, 1), reads=False, computes=False, stage="store"),
        ]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; each compute unit reads the roots."""
        g, key = FftStreamGeometry.unpack(launch.geometry), launch.key
        size = key.dtype.itemsize
        read_numbers, written_numbers = g.rows * g.come * size, g.rows * g.leave * size
        table = key.points // 2 * (5 if g.ends & FACTORS else 1) * launch.units * size
        beats = -(-read_numbers // (PORT_BYTES if g.read[0] == 1 else size))
        read = beats * PORT_BYTES if g.read[0] == 1 else read_numbers
        written_beats = -(-written_numbers // (PORT_BYTES if g.line_out else size))
        return [
            Access("out", True, written_numbers, written_beats, 0 if g.line_out else 1, written_numbers),
            Access("in", False, read, beats, 1 if g.apart else 0, read_numbers, short=True),
            Access("table", False, table, table // PORT_BYTES, 0, table, short=True),
        ]

    def operators(self, key: FftStreamKey) -> Mapping[tuple[str, str], int]:
        """Returns the number of multipliers, adders and selectors for the area model: a butterfly
        for each stage, the scaling of both results, four twiddle factors, and the selections
        between the two memories of a stage."""
        kind = source.scalar(key.dtype)
        return {
            ("mul", kind): 4 * key.stages + 20,
            ("add", kind): 6 * key.stages + 8,
            ("choose", kind): 12 * key.stages,
        }

    def memories(self, key: FftStreamKey, structure: str) -> list[LocalMemory]:
        bits = 4 * key.dtype.itemsize
        return [
            LocalMemory(3 * key.slot, bits, 4 * (key.stages + 1)),
            LocalMemory(key.points // 2, bits, 2 * key.stages + 8),
            LocalMemory(64, 8 * PORT_BYTES),
        ]

    def extent(self, launch: KernelLaunch) -> str:
        g = FftStreamGeometry.unpack(launch.geometry)
        return f"{g.rows}x{g.come} of {1 << g.stages}" if g.ends & FACTORS else f"{g.rows}x{g.come}"


register(FftStream())
