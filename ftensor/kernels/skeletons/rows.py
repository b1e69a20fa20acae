"""rows: operands with strides, row by row, also through index tensors (hls/skeleton/rows.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import Annotated, NamedTuple

from ..geometry import Geometry, Many
from ..inventory_terms import ANY, GATHER, ROWS, SCATTER, table_lines
from ..key import INDEX, LINEAR, LOCATED, ROW, STRIDED, KernelKey
from ..op_skeleton import OpSkeleton, memory_operands
from ..skeleton import register
from ..source import constant
from ..workload import (
    DEPTH,
    LATENCY,
    SCATTERS,
    Access,
    Ints,
    KernelLaunch,
    LocalMemory,
    Pieces,
    PipelinedLoop,
    distinct,
    members_in,
)

# A row is cut into chunks of this many elements when there are few rows.
ROW_CHUNK = 4096


@dataclass(frozen=True)
class RowsGeometry(Geometry):
    """What a launch is told. `strides` and `steps` (in the inner dim) are per operand. `ordered`:
    a row may read what one before it has written."""

    inner: int
    chunk: int
    chunks: int
    total: int  # rows * chunks
    ordered: bool
    shape: Annotated[Ints, Many("dims")]
    strides: Annotated[tuple[Ints, ...], Many("operands", "dims", packed=False)]
    steps: Annotated[Ints, Many("operands", packed=False)]

    @classmethod
    def of(cls, shape: Ints, strides: tuple[Ints, ...], units: int, ordered: bool = False) -> RowsGeometry:
        """The walk over `shape`, whose rows are cut where there are too few for the units."""
        inner, outer = shape[-1], shape[:-1]
        rows = prod(outer)
        chunk = inner if rows >= 4 * units or inner <= ROW_CHUNK else ROW_CHUNK
        chunks = -(-inner // chunk)
        outside, steps = tuple(s[:-1] for s in strides), tuple(s[-1] for s in strides)
        return cls(inner, chunk, chunks, rows * chunks, ordered, outer, outside, steps)

    def beats(self, lanes: int) -> int:
        """All whole beats of results."""
        return self.total // self.chunks * self.inner // lanes

    def pieces(self, lanes: int) -> bool:
        """Whether rows are cut into pieces: no whole beats, strides that lead off them, or short
        runs whose results lie in line. (Rows that begin off a beat by their offset alone are
        pieces, too, and not known here.)"""
        moving = [k for k, step in enumerate(self.steps) if step]
        if self.inner % lanes or any(n % lanes for k in moving for n in self.strides[k]):
            return True
        runs, kept = [self.runs(k, lanes) for k in moving], constant("vitis/runs.h", "FT_KEPT")
        apart = any(r.dims and r.times == 1 and r.length <= kept for r in runs)
        return apart and len(self.shape) <= 3 and not self.runs(0, lanes).dims

    def part(self, first: int, end: int, lanes: int) -> Pieces:
        """The pieces of a unit that makes the beats [first, end) of results."""
        elements = self.total // self.chunks * self.inner
        last = end == elements // lanes
        count = (end - first) * lanes + (elements % lanes if last else 0)
        return Pieces(first * lanes, count, self.inner, lanes, self.shape)

    def runs(self, k: int, lanes: int) -> Runs:
        """How operand k is walked in beats."""
        return Runs.join(self.shape, self.strides[k], self.steps[k], self.inner, lanes)


class Runs(NamedTuple):
    """How a wide kernel of rows walks an operand: `ft_runs` in hls/vitis/runs.h, in beats."""

    length: int
    times: int
    dims: int  # those that lead from run to run
    stride: int  # from a run to the next, in elements
    lanes: int

    @classmethod
    def join(cls, shape: Ints, strides: Ints, step: int, inner: int, lanes: int) -> Runs:
        """As `ft_join_runs`."""
        dims, length, times = len(shape), inner // lanes, 1
        while dims and strides[dims - 1] == step * length * lanes:
            dims -= 1
            length *= shape[dims]
        while dims and strides[dims - 1] == 0:
            dims -= 1
            times *= shape[dims]
        return cls(length, times, dims, strides[dims - 1] if dims else 0, lanes)

    def started(self, first: int, end: int) -> int:
        """Runs that a unit meets in its beats [first, end)."""
        return -(-end // self.length) - first // self.length if end > first else 0

    def fetched(self, first: int, end: int) -> int:
        """Beats that are read for single elements, which neighbouring runs may find in one."""
        shared = min(abs(self.stride), self.lanes) / (self.lanes * self.times)
        return min(1, end - first) if not self.dims else ceil(self.started(first, end) * shared)

    def kept(self, first: int, end: int) -> tuple[int, int]:
        """(how many, beats) of the runs in [first, end) that come out of local memory."""
        most = constant("vitis/runs.h", "FT_KEPT")
        if self.times == 1 or self.length > most or end <= first:
            return 0, 0
        run, part = divmod(first, self.length)
        last, over = divmod(end, self.length)
        # The first run is read, whichever turn it is, and again if it was not read whole.
        begin = run + 1 + (part > 0 and (run + 1) % self.times > 0)
        whole = members_in(begin, max(begin, last), self.times, 1, self.times)
        rest = int(over > 0 and last >= begin and last % self.times > 0)
        return whole + rest, whole * self.length + rest * over


class Rows(OpSkeleton):
    """Nested counters over the outer dims, vectors along the inner one.

    An image's kernel of one lane takes any strides, and indices; one of more takes rows in whole
    beats.
    """

    name = "rows"
    geometry = RowsGeometry
    layouts = (ROWS, ANY, GATHER, SCATTER)

    def kinds(self, word: str, outs: int, ins: int) -> str | None:
        """Those of "rows" and "strided"; what indices find may lie in many ways."""
        if word == ROWS.word:
            return LINEAR * outs + ROW * ins
        return STRIDED * (outs + ins) if word == ANY.word else None

    def layout(self, kinds: str, outs: int) -> str:
        """ "gather" and "scatter" where indices find an operand."""
        if LOCATED in kinds:
            return (SCATTER if LOCATED in kinds[:outs] else GATHER).word
        return super().layout(kinds, outs)

    def serves(self, kinds: str, outs: int) -> str:
        """Rows in whole beats also serve single values."""
        return ANY.word if STRIDED in kinds else ROWS.word

    def lanes(self, word: str, kinds: str, full: int) -> int:
        """One where any strides are taken."""
        return 1 if STRIDED in kinds else full

    def lines(self, key: KernelKey) -> tuple[str, ...]:
        """With indices: the dtype of what is moved, and those of the indices."""
        indices = [p for p in key.ins if p.sees == INDEX]
        if not indices:
            return super().lines(key)
        layout = SCATTER if key.outs[0].kind == LOCATED else GATHER
        return table_lines(
            key.name,
            f'dtypes = ["{key.outs[0].dtype.name}"]',
            f'layouts = ["{layout.word}"]',
            f'index = ["{indices[0].dtype.name}"]',
            f"indices = [{len(indices)}]",
        )

    def family(self, key: KernelKey) -> tuple[object, ...]:
        """Writes that join what is there go in order, one after another; plain ones needn't."""
        located = any(p.sees == INDEX for p in key.ins)
        return located, located and _joins(key)

    def short(self, key: KernelKey) -> str:
        """By what it can do."""
        if any(p.sees == INDEX for p in key.ins):
            return "join" if _joins(key) else "move"
        return "wide" if key.lanes > 1 else "rows"

    def mark(self, key: KernelKey) -> str:
        """Strides, or whole beats."""
        return "x" if key.lanes == 1 else "w"

    def structure(self, lanes: int, asked: str) -> str:
        """Whole beats go in stages."""
        return "dataflow" if lanes > 1 else "loop"

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Single elements; and where wide rows come in, they are short ones often enough."""
        return not (vector and written)

    def vitis(self, lanes: int) -> str:
        """One element a step, or whole beats."""
        return "rows" if lanes == 1 else "rows_wide"

    def intel(self) -> str:
        """A function for each op."""
        return "walking"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """One loop over all elements, and results by a process of their own; or a stage for each
        operand."""
        key, g = launch.key, RowsGeometry.unpack(launch.geometry)
        if key.lanes > 1:
            return _stages(g, *launch.slab(g.beats(key.lanes), unit), key.lanes)
        begin, end = launch.slab(g.total, unit)
        # What is found by an index and written to what an index finds may be the same place.
        ordered = key.outs[0].kind == LOCATED and any(p.kind == LOCATED for p in key.ins)
        # An element of 16 bytes is two.
        halves = max(1, *(p.dtype.itemsize // 8 for p in (*key.outs, *key.ins)))
        interval = 2 * LATENCY + DEPTH if ordered else halves
        first, last = (w // g.chunks * g.inner + w % g.chunks * g.chunk for w in (begin, end))
        # Rows along one dim are one pipeline, unless they go in order.
        block = g.inner * (1 if g.ordered or not g.shape else g.shape[-1])
        entries = -(-last // block) - first // block if last > first else 0
        walk = PipelinedLoop("elements", last - first, entries, interval, stage="walk")
        if key.outs[0].kind == LOCATED or launch.structure == SCATTERS:
            return [walk]
        # A burst that writes is answered before the next run begins.
        name = "in_line" if g.steps[0] == 1 else "apart"
        runs = entries if g.ordered else g.runs(0, 1).started(first, last)
        stage = "walk" if g.ordered else "leave"
        return [walk, PipelinedLoop(name, last - first, runs, halves, True, False, stage)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Single elements, or runs of beats."""
        key, g = launch.key, RowsGeometry.unpack(launch.geometry)
        elements = prod(g.shape) * g.inner
        accesses = []
        slabs = [launch.slab(g.beats(key.lanes), unit) for unit in range(launch.units)]
        for k, (name, p, write) in enumerate(memory_operands(key)):
            size, step = p.dtype.itemsize, g.steps[k]
            # One element a step, at an address that no compiler can foresee: nothing bursts. Of
            # what indices lead to, which may be anywhere, no more crosses than the elements found.
            there = distinct((*g.shape, g.inner), (*g.strides[k], step))
            crossing = elements if p.kind == LOCATED else there
            if key.lanes > 1 and g.pieces(key.lanes):
                stride, parts = g.strides[k], [g.part(*slab, key.lanes) for slab in slabs]
                in_line = write or parts[0].in_line(stride, step)
                beats = -(-elements // key.lanes)
                if not in_line:
                    beats = sum(part.steps(stride, step)[1] for part in parts)
                moved = (beats * key.lanes * size, beats, 0 if in_line else 1, crossing * size)
                accesses.append(Access(name, write, *moved, not write))
                continue
            if key.lanes > 1:
                runs = g.runs(k, key.lanes)
                if step == 0:
                    beats, burst = sum(runs.fetched(*slab) for slab in slabs), 1
                else:
                    beats = sum(end - first - runs.kept(first, end)[1] for first, end in slabs)
                    burst = runs.length
                moved = (beats * key.lanes * size, beats, burst, crossing * size)
                accesses.append(Access(name, write, *moved, not write))
                continue
            in_line = write and step == 1 and p.kind != LOCATED and launch.structure != SCATTERS
            burst = g.runs(k, 1).length if in_line else 1
            accesses.append(Access(name, write, elements * size, elements, burst, crossing * size, True))
        return accesses

    def memories(self, key: KernelKey, structure: str) -> list[LocalMemory]:
        """Runs that come again, of each input in whole beats."""
        if key.lanes == 1:
            return []
        kept = constant("vitis/runs.h", "FT_KEPT")
        inputs = [p.dtype.itemsize for _, p, write in memory_operands(key) if not write]
        return [LocalMemory(kept, 8 * size * key.lanes) for size in inputs]

    def divisions(self, launch: KernelLaunch, loops: object) -> int:
        """Where a unit's work begins, dim by dim."""
        return len(RowsGeometry.unpack(launch.geometry).shape) + 2

    def extent(self, launch: KernelLaunch) -> str:
        """The shape that is walked."""
        g = RowsGeometry.unpack(launch.geometry)
        return "x".join(map(str, (*g.shape, g.inner)))


def _joins(key: KernelKey) -> bool:
    """Whether what indices lead to is written, and the expression takes more than what is moved."""
    return key.outs[0].kind == LOCATED and sum(p.sees != INDEX for p in key.ins) > 1


def _stages(g: RowsGeometry, first: int, end: int, lanes: int) -> list[PipelinedLoop]:
    """The stages of a wide kernel; each operand has runs of its own, or pieces."""
    if g.pieces(lanes):
        return _in_pieces(g, first, end, lanes)
    beats, loops = end - first, []
    for k, step in enumerate(g.steps[1:], 1):
        runs, stage = g.runs(k, lanes), f"read{k}"
        loops.append(PipelinedLoop("pass", beats, min(beats, 1), 1, False, False, f"align{k}"))
        if step == 0:
            fetched = runs.fetched(first, end)
            loops.append(PipelinedLoop("repeat", beats, fetched, 1, True, False, stage))
            continue
        again, held = runs.kept(first, end)
        read = runs.started(first, end) - again
        loops.append(PipelinedLoop("read", beats - held, read, 1, True, False, stage))
        loops.append(PipelinedLoop("again", held, again, 1, False, False, stage))
    # A burst that writes is answered before the next run begins.
    written = g.runs(0, lanes).started(first, end)
    return [
        *loops,
        PipelinedLoop("compute", beats, min(beats, 1), 1, False, True, "compute"),
        PipelinedLoop("pass", beats, min(beats, 1), 1, False, False, "pack"),
        PipelinedLoop("write", beats, written, 1, True, False, "write"),
    ]


def _in_pieces(g: RowsGeometry, first: int, end: int, lanes: int) -> list[PipelinedLoop]:
    """The stages where rows are no whole beats."""
    part, loops = g.part(first, end, lanes), []
    count = len(part.where()[0])  # as `ft_pieces`
    once = min(count, 1)
    for k, step in enumerate(g.steps[1:], 1):
        stride = g.strides[k]
        steps = part.steps(stride, step)[0]
        read = PipelinedLoop("look_up", steps, once, 1, True, False, f"read{k}")
        if part.in_line(stride, step):
            beats = -(-(part.first + part.elements) // lanes) - part.first // lanes
            read = read._replace(name="line", trips=beats)
        loops += [read, PipelinedLoop("align", steps, once, 1, False, False, f"align{k}")]
    return [
        *loops,
        PipelinedLoop("compute", count, once, 1, False, True, "compute"),
        PipelinedLoop("pack", count, once, 1, False, False, "pack"),
        PipelinedLoop("write", end - first, once, 1, True, False, "write"),
    ]


register(Rows())
