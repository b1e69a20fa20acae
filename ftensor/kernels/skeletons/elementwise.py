"""map: every operand is one contiguous run, or a single value (hls/skeleton/map.h). rows: strided
operands, row by row, also by index tensors (hls/skeleton/rows.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import Annotated, NamedTuple

from ..geometry import Geometry, ListField
from ..inventory_terms import ANY, GATHER, ROWS, SCATTER, table_lines
from ..inventory_terms import LINEAR as RUNS
from ..key import BY_VALUE, INDEX, LINEAR, LOCATED, ROW_VECTORS, SINGLE, STRIDED, KernelKey
from ..op_skeleton import OpSkeleton, memory_operands, reads_of_a_width
from ..skeleton import register
from ..source import constant, is_positional
from ..workload import (
    COMPACT,
    MEMORY_LATENCY,
    PIPELINE_DEPTH,
    SCATTERS,
    Access,
    Ints,
    KernelLaunch,
    LocalMemory,
    PipelinedLoop,
    RowPieces,
    block_beats,
    distinct_elements,
    members_in,
)


class Map(OpSkeleton):
    """Contiguous runs of n elements, in vectors; n is a kernel argument."""

    name = "map"
    walks = False
    layouts = (RUNS,)

    def kinds(self, word: str, outs: int, ins: int) -> str | None:
        return LINEAR * (outs + ins) if word == RUNS.word else None

    def serves(self, kinds: str, outs: int) -> str:
        """Returns the layout, which names the access kinds if operands are single values."""
        return self.layout(kinds, outs)

    def asked_further(self, key: KernelKey, layout: str) -> list[str]:
        """Returns the layout and lanes for ops that depend on the position: only linear layouts."""
        if is_positional(key.body, key.lets):
            return [f'layouts = ["{RUNS.word}"]', f"lanes = {key.lanes}"]
        return super().asked_further(key, layout)

    def structure(self, lanes: int, requested: str) -> str:
        return "loop" if requested == COMPACT else requested

    def vitis_module(self, lanes: int) -> str:
        return "map"

    def intel_module(self) -> str:
        return "map"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns a loop for each input and one each for arithmetic and writes; with structure
        "loop", a single loop."""
        key: KernelKey = launch.key
        beats, rest = divmod(launch.n, key.lanes)
        begin, end = launch.slab(beats, unit)
        # The last compute unit reads and computes the elements of a partial beat as one more beat,
        # and writes them one by one outside the loop.
        count, part = end - begin, int(unit == launch.units - 1 and rest > 0)
        if launch.structure == "loop":
            return [PipelinedLoop("each_beat", count, 1)]
        total = count + part
        blocks = -(-total // _block(key)) if launch.structure == "burst" else 1
        names = {LINEAR: "read", SINGLE: "repeat_beat"}
        inputs = [p for p in key.ins if p.kind != BY_VALUE]
        loops = [PipelinedLoop(names[p.kind], total, blocks, 1, True, False) for p in inputs]
        loops += [
            PipelinedLoop("compute", total, blocks, 1, False, True),
            PipelinedLoop("write", count, blocks, 1, False, False),
        ]
        if launch.structure == "dataflow":
            loops = [loop._replace(stage=f"{loop.name}{k}") for k, loop in enumerate(loops)]
        return loops

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns one access for each operand, in whole beats."""
        key: KernelKey = launch.key
        accesses = []
        for name, p, write in memory_operands(key):
            size = p.dtype.itemsize
            many = p.kind == LINEAR
            n = launch.n if many else 1
            beats = -(-n // key.lanes)
            burst = min(_block(key), beats) if launch.structure == "burst" else 0
            if launch.structure == "loop" and not many:
                # A single value is read again for every beat in this loop.
                beats, burst = -(-launch.n // key.lanes), 1
            accesses.append(Access(name, write, n * size, beats, burst if many else 1, n * size))
        return accesses

    def memories(self, key: KernelKey, structure: str) -> list[LocalMemory]:
        if structure != "burst":
            return []
        sizes = [p.dtype.itemsize for _, p, _ in memory_operands(key)]
        return [LocalMemory(_block(key), 8 * size * key.lanes) for size in sizes]


def _block(key: KernelKey) -> int:
    """Returns the beats of a block in local memory, as if the kernel had no other op."""
    return block_beats(max(p.dtype.itemsize for _, p, _ in memory_operands(key)), key.lanes)


register(Map())


# Elements of a chunk: rows are cut into chunks if there are few rows.
ROW_CHUNK = 4096


@dataclass(frozen=True)
class RowsGeometry(Geometry):
    """Geometry buffer of strided rows. `strides` (of the outer dims) and `inner_strides` (of the inner dim)
    have an entry for each operand. `ordered` is True if a row may read elements that an earlier row
    writes."""

    inner: int
    chunk: int
    chunks: int
    total: int  # rows * chunks
    ordered: bool
    shape: Annotated[Ints, ListField("dims")]
    strides: Annotated[tuple[Ints, ...], ListField("operands", "dims", packed=False)]
    inner_strides: Annotated[Ints, ListField("operands", packed=False)]

    @classmethod
    def of(cls, shape: Ints, strides: tuple[Ints, ...], units: int, ordered: bool = False) -> RowsGeometry:
        """Returns the geometry of `shape`; cuts rows into chunks if there are few for the units."""
        inner, outer = shape[-1], shape[:-1]
        rows = prod(outer)
        chunk = inner if rows >= 4 * units or inner <= ROW_CHUNK else ROW_CHUNK
        chunks = -(-inner // chunk)
        outside, steps = tuple(s[:-1] for s in strides), tuple(s[-1] for s in strides)
        return cls(inner, chunk, chunks, rows * chunks, ordered, outer, outside, steps)

    def beats(self, lanes: int) -> int:
        """Returns the whole beats of all results."""
        return self.total // self.chunks * self.inner // lanes

    def pieces(self, lanes: int) -> bool:
        """True if the kernel processes rows in pieces: rows or strides are not multiples of a beat,
        or the runs are short and the results contiguous.

        An offset that is not a multiple of a beat also requires pieces, but is unknown here.
        """
        moving = [k for k, step in enumerate(self.inner_strides) if step]
        if self.inner % lanes or any(n % lanes for k in moving for n in self.strides[k]):
            return True
        operand_runs, cached_beats = (
            [self.runs(k, lanes) for k in moving],
            constant("vitis/beat_runs.h", "FT_MAX_CACHED_BEATS"),
        )
        apart = any(r.dims and r.times == 1 and r.length <= cached_beats for r in operand_runs)
        return apart and len(self.shape) <= 3 and not self.runs(0, lanes).dims

    def part(self, first: int, end: int, lanes: int) -> RowPieces:
        """Returns the pieces of a compute unit with the result beats [first, end)."""
        elements = self.total // self.chunks * self.inner
        last = end == elements // lanes
        count = (end - first) * lanes + (elements % lanes if last else 0)
        return RowPieces(first * lanes, count, self.inner, lanes, self.shape)

    def runs(self, k: int, lanes: int) -> BeatRuns:
        """Returns the runs of operand k."""
        return BeatRuns.join(self.shape, self.strides[k], self.inner_strides[k], self.inner, lanes)


class BeatRuns(NamedTuple):
    """Runs of beats in which a wide kernel accesses an operand (`ft_runs` in hls/vitis/beat_runs.h)."""

    length: int
    times: int
    dims: int  # the outer dims that advance from run to run
    stride: int  # distance between runs in elements
    lanes: int

    @classmethod
    def join(cls, shape: Ints, strides: Ints, step: int, inner: int, lanes: int) -> BeatRuns:
        """Returns the runs of a loop nest, as `ft_join_runs`."""
        dims, length, times = len(shape), inner // lanes, 1
        while dims and strides[dims - 1] == step * length * lanes:
            dims -= 1
            length *= shape[dims]
        while dims and strides[dims - 1] == 0:
            dims -= 1
            times *= shape[dims]
        return cls(length, times, dims, strides[dims - 1] if dims else 0, lanes)

    def started(self, first: int, end: int) -> int:
        """Returns the number of runs that overlap the beats [first, end)."""
        return -(-end // self.length) - first // self.length if end > first else 0

    def fetched(self, first: int, end: int) -> int:
        """Returns the beats read for single elements; adjacent runs may share a beat."""
        shared = min(abs(self.stride), self.lanes) / (self.lanes * self.times)
        return min(1, end - first) if not self.dims else ceil(self.started(first, end) * shared)

    def kept(self, first: int, end: int) -> tuple[int, int]:
        """Returns (runs, beats) in [first, end) that the kernel reads from local memory instead of
        the port."""
        most = constant("vitis/beat_runs.h", "FT_MAX_CACHED_BEATS")
        if self.times == 1 or self.length > most or end <= first:
            return 0, 0
        run, part = divmod(first, self.length)
        last, over = divmod(end, self.length)
        # The first run is read from the port in every turn, and once more if only part of it was
        # read.
        begin = run + 1 + (part > 0 and (run + 1) % self.times > 0)
        whole_periods = members_in(begin, max(begin, last), self.times, 1, self.times)
        rest = int(over > 0 and last >= begin and last % self.times > 0)
        return whole_periods + rest, whole_periods * self.length + rest * over


class Rows(OpSkeleton):
    """Nested counters over the outer dims, vectors along the inner dim.

    In an image, a kernel with one lane accepts any strides and indices; a kernel with several lanes
    reads rows in whole beats.
    """

    name = "rows"
    geometry = RowsGeometry
    layouts = (ROWS, ANY, GATHER, SCATTER)

    def kinds(self, word: str, outs: int, ins: int) -> str | None:
        """Returns the access kinds, a letter for each operand, of the layout word "rows" or
        "strided"; None for indexed layouts, whose kinds vary."""
        if word == ROWS.word:
            return LINEAR * outs + ROW_VECTORS * ins
        return STRIDED * (outs + ins) if word == ANY.word else None

    def layout(self, kinds: str, outs: int) -> str:
        if LOCATED in kinds:
            return (SCATTER if LOCATED in kinds[:outs] else GATHER).word
        return super().layout(kinds, outs)

    def serves(self, kinds: str, outs: int) -> str:
        """Returns the layout ROWS, also for single values."""
        return ANY.word if STRIDED in kinds else ROWS.word

    def lanes(self, word: str, kinds: str, full: int) -> int:
        return 1 if STRIDED in kinds else full

    def lines(self, key: KernelKey) -> tuple[str, ...]:
        """Returns the table; with indices, it has the dtype of elements and of indices."""
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
        """Returns (indexed, combining): kernels that combine with existing values write in
        order."""
        located = any(p.sees == INDEX for p in key.ins)
        return located, located and _combines(key)

    def short(self, key: KernelKey) -> str:
        if any(p.sees == INDEX for p in key.ins):
            return "join" if _combines(key) else "move"
        return "wide" if key.lanes > 1 else "rows"

    def mark(self, key: KernelKey) -> str:
        return "x" if key.lanes == 1 else "w"

    def structure(self, lanes: int, requested: str) -> str:
        return "dataflow" if lanes > 1 else super().structure(lanes, requested)

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Returns True except for vector outputs: rows that wide kernels read are often short."""
        return not (vector and written)

    def vitis_module(self, lanes: int) -> str:
        return "rows" if lanes == 1 else "rows_wide"

    def intel_module(self) -> str:
        return "walking"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns a loop over all elements and a loop for results in a process of its own; for wide
        kernels, the loops of a stage for each operand."""
        key, g = launch.key, RowsGeometry.unpack(launch.geometry)
        if key.lanes > 1:
            return _stages(g, *launch.slab(g.beats(key.lanes), unit), key.lanes)
        begin, end = launch.slab(g.total, unit)
        # A gathered and a scattered element may have the same address.
        ordered = key.outs[0].kind == LOCATED and any(p.kind == LOCATED for p in key.ins)
        # An element of 16 bytes is two words.
        halves = max(1, *(p.dtype.itemsize // 8 for p in (*key.outs, *key.ins)))
        reads = reads_of_a_width(key) if launch.structure == COMPACT else 1
        interval = 2 * MEMORY_LATENCY + PIPELINE_DEPTH if ordered else halves * reads
        first, last = (w // g.chunks * g.inner + w % g.chunks * g.chunk for w in (begin, end))
        # Rows along one dim share a pipeline, unless rows are ordered.
        block = g.inner * (1 if g.ordered or not g.shape else g.shape[-1])
        entries = -(-last // block) - first // block if last > first else 0
        walk = PipelinedLoop("elements", last - first, entries, interval, stage="walk")
        if key.outs[0].kind == LOCATED or launch.structure == SCATTERS:
            return [walk]
        # A write burst is acknowledged before the next run begins.
        name = "write" if g.inner_strides[0] == 1 else "strided"
        run_count = entries if g.ordered else g.runs(0, 1).started(first, last)
        stage = "walk" if g.ordered else "write_results"
        return [walk, PipelinedLoop(name, last - first, run_count, halves, True, False, stage)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        key, g = launch.key, RowsGeometry.unpack(launch.geometry)
        elements = prod(g.shape) * g.inner
        accesses = []
        slabs = [launch.slab(g.beats(key.lanes), unit) for unit in range(launch.units)]
        for k, (name, p, write) in enumerate(memory_operands(key)):
            size, step = p.dtype.itemsize, g.inner_strides[k]
            # One element per iteration, at an unpredictable address, never bursts. Indexed elements
            # may be anywhere, so only the elements found cross the link.
            distinct_bytes = distinct_elements((*g.shape, g.inner), (*g.strides[k], step))
            crossing = elements if p.kind == LOCATED else distinct_bytes
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
        if key.lanes == 1:
            return []
        kept = constant("vitis/beat_runs.h", "FT_MAX_CACHED_BEATS")
        inputs = [p.dtype.itemsize for _, p, write in memory_operands(key) if not write]
        return [LocalMemory(kept, 8 * size * key.lanes) for size in inputs]

    def divisions(self, launch: KernelLaunch, loops: object) -> int:
        """Returns the divisions that locate a compute unit's first row: one per dim, and two."""
        return len(RowsGeometry.unpack(launch.geometry).shape) + 2

    def extent(self, launch: KernelLaunch) -> str:
        g = RowsGeometry.unpack(launch.geometry)
        return "x".join(map(str, (*g.shape, g.inner)))


def _combines(key: KernelKey) -> bool:
    """True if a scatter combines: the expression has more operands than the element to write."""
    return key.outs[0].kind == LOCATED and sum(p.sees != INDEX for p in key.ins) > 1


def _stages(g: RowsGeometry, first: int, end: int, lanes: int) -> list[PipelinedLoop]:
    """Returns the loops of a wide kernel's stages, by runs or by pieces."""
    if g.pieces(lanes):
        return _in_pieces(g, first, end, lanes)
    beats, loops = end - first, []
    for k, step in enumerate(g.inner_strides[1:], 1):
        runs, stage = g.runs(k, lanes), f"read{k}"
        loops.append(PipelinedLoop("forward_beats", beats, min(beats, 1), 1, False, False, f"align{k}"))
        if step == 0:
            fetched = runs.fetched(first, end)
            loops.append(PipelinedLoop("repeat_beat", beats, fetched, 1, True, False, stage))
            continue
        cached_runs, cached_beats = runs.kept(first, end)
        read = runs.started(first, end) - cached_runs
        loops.append(PipelinedLoop("read", beats - cached_beats, read, 1, True, False, stage))
        loops.append(PipelinedLoop("repeat_run", cached_beats, cached_runs, 1, False, False, stage))
    # A write burst is acknowledged before the next run begins.
    written = g.runs(0, lanes).started(first, end)
    return [
        *loops,
        PipelinedLoop("compute", beats, min(beats, 1), 1, False, True, "compute"),
        PipelinedLoop("forward_beats", beats, min(beats, 1), 1, False, False, "pack"),
        PipelinedLoop("write", beats, written, 1, True, False, "write"),
    ]


def _in_pieces(g: RowsGeometry, first: int, end: int, lanes: int) -> list[PipelinedLoop]:
    """Returns the loops of the stages for pieces."""
    part, loops = g.part(first, end, lanes), []
    count = len(part.where()[0])  # as `ft_count_pieces`
    once = min(count, 1)
    for k, step in enumerate(g.inner_strides[1:], 1):
        stride = g.strides[k]
        steps = part.steps(stride, step)[0]
        read = PipelinedLoop("read_pieces", steps, once, 1, True, False, f"read{k}")
        if part.in_line(stride, step):
            beats = -(-(part.first + part.elements) // lanes) - part.first // lanes
            read = read._replace(name="line", trips=beats)
        loops += [read, PipelinedLoop("align_pieces", steps, once, 1, False, False, f"align{k}")]
    return [
        *loops,
        PipelinedLoop("compute", count, once, 1, False, True, "compute"),
        PipelinedLoop("pack", count, once, 1, False, False, "pack"),
        PipelinedLoop("write", end - first, once, 1, True, False, "write"),
    ]


register(Rows())
