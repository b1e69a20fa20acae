"""reduce_inner and reduce_outer: folds along rows, and across them (hls/skeleton/reduce_*.h)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated

from ..geometry import Geometry, ListField
from ..inventory_terms import ANY, INNER, OUTER
from ..key import LINEAR, SINGLE, STRIDED, KernelKey, Port, Reduction
from ..op_skeleton import OpSkeleton, memory_operands, reads_of_a_width
from ..skeleton import register
from ..source import constant
from ..workload import (
    COMPACT,
    Access,
    InterleavedRows,
    Ints,
    KernelLaunch,
    LocalMemory,
    PipelinedLoop,
    distinct_elements,
    interval,
    members_in,
    operator_cycles,
    pieces,
)

MAX_INTERLEAVED_ROW = 64  # most vectors of an interleaved row


@dataclass(frozen=True)
class FoldGeometry(Geometry):
    """Geometry buffer of a reduction. `strides`, `kept_strides` and `inner_strides` have an entry for each
    operand, outputs first; the strides of outputs in reduced dims are 0.

    `inner_strides` are the strides of the dim along which the lanes run: reduced for reduce_inner, kept for
    reduce_outer. `results` is the distance between the results of two splits.
    """

    splits: int
    items: int
    inner: int
    chunk: int
    chunks: int
    work: int
    results: int
    kept_shape: Annotated[Ints, ListField("kept")]
    kept_strides: Annotated[tuple[Ints, ...], ListField("operands", "kept", packed=False)]
    shape: Annotated[Ints, ListField("reduced")]
    strides: Annotated[tuple[Ints, ...], ListField("operands", "reduced", packed=False)]
    inner_strides: Annotated[Ints, ListField("operands", packed=False)]

    def turns(self, lanes: int, vectors: int) -> bool:
        """True if rows are short and equally spaced, so that reduce_inner interleaves the pieces of
        several rows (hls/vitis/interleaved_rows.h)."""
        # Interleaved rows read scattered single beats. For longer rows, parallel states keep the
        # pipeline of a row full.
        limit = MAX_INTERLEAVED_ROW // (1 + (vectors > 1)) * lanes
        plain = len(self.kept_shape) == 1 and not self.shape and self.splits == self.chunks == 1
        return plain and lanes > 1 and 0 < self.inner <= limit

    def work_of(self, split: int) -> tuple[int, int]:
        """Returns the range [begin, end) of the work that a split folds."""
        return self.work * split // self.splits, self.work * (split + 1) // self.splits


# Parallel states: neighbouring outputs, or neighbouring vectors of a long row.
OUTER_VECTORS = 8
INNER_VECTORS = 4
_STAGE = re.compile("_(whole|first|second)$")


class ReduceSkeleton(OpSkeleton):
    """Base of reduce_inner and reduce_outer."""

    geometry = FoldGeometry
    folds = True
    across = False  # True if the lanes span a kept dim

    def op(self, recorded: str) -> str:
        """Returns the op's name for a kernel that is recorded as "sum_first" or "sum_second": the
        two kernels of a sum in two stages are one op."""
        return _STAGE.sub("", recorded)

    def asked_further(self, key: KernelKey, layout: str) -> list[str]:
        """Returns the lines with the number of parallel states and, for two stages, `split`."""
        more, r = super().asked_further(key, layout), _reduction(key)
        if layout != ANY.word:
            more.append(f"vectors = [{r.vectors}]")
        return [*more, *(["split = true"] if r.stage != "whole" else [])]

    def in_beats(self, name: str, ports: Sequence[Port]) -> bool:
        """True for inputs that every member reads contiguously; kernels write results one at a
        time."""
        return name.startswith("in_") and all(port.kind == LINEAR for port in ports)

    def family(self, key: KernelKey) -> tuple[object, ...]:
        return _reduction(key).vectors, _reduction(key).stage

    def short(self, key: KernelKey) -> str:
        r = _reduction(key)
        stage = {"whole": "", "first": "a", "second": "b"}[r.stage]
        text = self.name.removeprefix("reduce_") + stage + (str(r.vectors) if r.vectors > 1 else "")
        return text + ("s" if any(p.kind not in (LINEAR, SINGLE) for p in key.ins) else "")

    def stem(self, key: KernelKey) -> str:
        """Returns the op name, without "_whole"."""
        return key.name.removesuffix("_whole")

    def mark(self, key: KernelKey) -> str:
        vectors = _reduction(key).vectors
        return self.name.removeprefix("reduce_")[0] + (str(vectors) if vectors > 1 else "")

    def short_bursts(self, vector: bool, written: bool) -> bool:
        return not vector

    def vitis_module(self, lanes: int) -> str:
        return "reduce"

    def intel_module(self) -> str:
        return "walking"

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns accesses by single elements for results, in beats for contiguous inputs."""
        key, g = launch.key, FoldGeometry.unpack(launch.geometry)
        r, outer = _reduction(key), self.across
        kept, reduced = self.spaces(g)
        results, elements = prod(kept) * g.splits, prod(kept) * prod(reduced)
        accesses = []
        for k, (name, p, write) in enumerate(memory_operands(key)):
            size = p.dtype.itemsize
            if write:
                # Kernels write results one by one, including the lanes at a row's end.
                crossing = 0 if r.stage == "first" else results * size
                accesses.append(Access(name, True, results * size, results, 1, crossing, True))
                continue
            kept_strides = (*g.kept_strides[k], g.inner_strides[k]) if outer else g.kept_strides[k]
            reduced_strides = g.strides[k] if outer else (*g.strides[k], g.inner_strides[k])
            distinct_bytes = distinct_elements((*kept, *reduced), (*kept_strides, *reduced_strides)) * size
            crossing = 0 if r.stage == "second" else distinct_bytes
            if p.kind == LINEAR:
                # The end of a row counts as a beat.
                lanes = key.lanes
                rows = prod(kept[:-1]) * prod(reduced) if outer else elements // max(g.inner, 1)
                beats = rows * -(-g.inner // lanes)
                longest = r.vectors if outer else max(1, g.chunk // lanes)
                moved = (beats * lanes * size, beats, longest, crossing, lanes == 1)
            else:
                beats = -(-elements // key.lanes) if p.kind == SINGLE else elements
                moved = (beats * size, beats, 1, crossing, True)
            accesses.append(Access(name, False, *moved))
        return accesses

    def spaces(self, g: FoldGeometry) -> tuple[Ints, Ints]:
        """Returns the shapes of the kept and the reduced dims."""
        if self.across:
            return (*g.kept_shape, g.inner), g.shape
        return g.kept_shape, (*g.shape, g.inner)

    def divisions(self, launch: KernelLaunch, loops: object) -> int:
        g = FoldGeometry.unpack(launch.geometry)
        return -(-g.items // launch.units) * (len(g.kept_shape) + len(g.shape))

    def extent(self, launch: KernelLaunch) -> str:
        kept, reduced = self.spaces(FoldGeometry.unpack(launch.geometry))
        return f"{'x'.join(map(str, kept)) or '1'} of {'x'.join(map(str, reduced)) or '1'}"


class ReduceInner(ReduceSkeleton):
    """Reduction with lanes along the innermost reduced dim; the lanes combine at a row's end."""

    name = "reduce_inner"
    layouts = (INNER, ANY)

    def kinds(self, word: str, outs: int, ins: int) -> str | None:
        """Returns SINGLE for inputs after the first: per-result values, such as a mean."""
        if word == INNER.word:
            return LINEAR * outs + LINEAR + SINGLE * (ins - 1)
        return LINEAR * outs + STRIDED * ins if word == ANY.word else None

    def lanes(self, word: str, kinds: str, full: int) -> int:
        return 1 if word == ANY.word else full

    def vectors(self, word: str, requested: tuple[int, ...]) -> tuple[int, ...]:
        if word == ANY.word:
            return (1,)
        return requested or ((INNER_VECTORS, 1) if word == INNER.word else (1,))

    def copies(self, key: KernelKey) -> Mapping[str, int]:
        """Returns the instances for three loops, in which steps of one recurrence share
        operators."""
        side, wait = _reduction(key).vectors, recurrence(key)
        loops = -(-side * key.lanes // wait) * (side > 1) + 2 * -(-key.lanes // wait)
        # The kernel combines rows, blocks of rows and lanes outside of the loops.
        return {"lift": loops, "combine": loops + 4, "finish": 1}

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """Returns the loops over parallel vectors, single vectors and the partial vector at a row's
        end; or the loops of interleaved rows."""
        key, g = launch.key, FoldGeometry.unpack(launch.geometry)
        side = _reduction(key).vectors
        if self._in_turns(key, g):
            return _interleaved_loops(key, g, *launch.slab(g.items, unit))
        wait, reads = recurrence(key), _reads(key)
        reads *= reads_of_a_width(key) if launch.structure == COMPACT else 1
        wide = PipelinedLoop("side_by_side", 0, 0, max(wait, side * reads))
        narrow, part = (PipelinedLoop(name, 0, 0, max(wait, reads)) for name in ("vectors", "part"))
        begin, end = launch.slab(g.items, unit)
        for split in range(g.splits):
            items = members_in(begin, end, g.splits, split, split + 1)
            for count, length in pieces(g.inner, g.chunk, g.chunks, *g.work_of(split)):
                vectors, rest = divmod(length, key.lanes)
                many, few = divmod(vectors, side) if side > 1 else (0, vectors)
                wide = wide.more(items * count * many, items * count * bool(many))
                narrow = narrow.more(items * count * few, items * count * bool(few))
                part = part.more(items * count * bool(rest), items * count * bool(rest))
        return [wide, narrow, part]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; for interleaved rows, results and per-result inputs are
        contiguous."""
        accesses = super().traffic(launch, widened)
        key, g = launch.key, FoldGeometry.unpack(launch.geometry)
        if not self._in_turns(key, g):
            return accesses
        outs, lanes = len(key.outs), key.lanes
        for k, a in enumerate(accesses):
            size = (*key.outs, *key.ins)[k].dtype.itemsize
            if k == outs:
                slabs = [launch.slab(g.items, unit) for unit in range(launch.units)]
                beats = sum(InterleavedRows.of(g, k, *slab, lanes).reads() for slab in slabs)
                burst = 0 if InterleavedRows.of(g, k, *slabs[0], lanes).in_line else 1
                moved = beats * lanes * size
                accesses[k] = a._replace(nbytes=moved, beats=beats, burst=burst, short=True)
            else:
                burst = 0 if g.kept_strides[k][0] == 1 else 1
                accesses[k] = a._replace(nbytes=g.items * size, beats=g.items, burst=burst)
        return accesses

    def divisions(self, launch: KernelLaunch, loops: object) -> int:
        in_turns = self._in_turns(launch.key, FoldGeometry.unpack(launch.geometry))
        return 0 if in_turns else super().divisions(launch, loops)

    def short_bursts(self, vector: bool, written: bool) -> bool:
        """Returns True, because interleaved rows are read one beat at a time."""
        return True

    def _in_turns(self, key: KernelKey, g: FoldGeometry) -> bool:
        first_input, *other_inputs = key.ins
        in_vectors = first_input.kind == LINEAR and all(p.kind == SINGLE for p in other_inputs)
        return in_vectors and g.turns(key.lanes, _reduction(key).vectors)


def _interleaved_loops(key: KernelKey, g: FoldGeometry, begin: int, end: int) -> list[PipelinedLoop]:
    """Returns the loops of the dataflow stages for interleaved rows."""
    outs, rows = len(key.outs), end - begin
    part = InterleavedRows.of(g, outs, begin, end, key.lanes)
    once, steps, among = min(rows, 1), part.steps(), constant("vitis/interleaved_rows.h", "FT_INTERLEAVED_ROWS")
    read = PipelinedLoop("read_pieces", steps, once, 1, True, False, "read")
    if part.in_line:
        read = read._replace(name="line", trips=part.reads())
    pieces = -(-g.inner // key.lanes)
    loops = [
        read,
        PipelinedLoop("align_pieces", steps, once, 1, False, False, "align"),
        PipelinedLoop("fold_interleaved", -(-rows // among) * among * pieces, once, 1, False, True, "turns"),
    ]
    for k in range(len(key.ins) - 1):
        loops.append(PipelinedLoop("read_rows", rows, once, 1, True, False, f"each{k}"))
    for k in range(outs):
        name = "contiguous" if g.kept_strides[k][0] == 1 else "strided"
        loops.append(PipelinedLoop(name, rows, once, 1, True, False, f"write{k}"))
    return loops


class ReduceOuter(ReduceSkeleton):
    """Reduction with lanes along the innermost kept dim: each lane folds its own output."""

    name = "reduce_outer"
    staged = True
    across = True
    layouts = (OUTER,)

    def kinds(self, word: str, outs: int, ins: int) -> str | None:
        return LINEAR * (outs + ins) if word == OUTER.word else None

    def vectors(self, word: str, requested: tuple[int, ...]) -> tuple[int, ...]:
        return requested or ((OUTER_VECTORS, 1) if word == OUTER.word else (1,))

    def copies(self, key: KernelKey) -> Mapping[str, int]:
        """Returns a lift per lane, and four combines per lane: rows, and 16, 256 and 4096 rows."""
        return {"lift": key.lanes, "combine": 4 * key.lanes + 3, "finish": 1}

    def memories(self, key: KernelKey, structure: str) -> list[LocalMemory]:
        bits = 8 * key.compute.itemsize + 32 * _reduction(key).arg
        return [LocalMemory(_reduction(key).vectors, bits, 4 * key.lanes)]

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        key, g = launch.key, FoldGeometry.unpack(launch.geometry)
        side, length, period = _reduction(key).vectors, g.shape[-1], g.splits * g.chunks
        first, last = launch.slab(g.items, unit)
        whole_rows = PipelinedLoop("whole_rows", 0, 0, side * _reads(key), computes=False, stage="fetch")
        edge = whole_rows._replace(name="edge_rows")
        steps = PipelinedLoop("rows", 0, 0, interval(recurrence(key), side), reads=False, stage="fold")
        leave = PipelinedLoop("results", 0, 0, reads=False, stage="fold")
        for split in range(g.splits):
            begin, end = g.work_of(split)
            items = members_in(first, last, g.splits, split, split + 1)
            # The partial block at a row's end.
            over, at = g.inner % (side * key.lanes), period - g.splits + split
            narrow = members_in(first, last, period, at, at + 1) if over else 0
            # Contiguous rows along the innermost reduced dim form one run.
            row_starts = (-(-end // length) - begin // length) * (end > begin)
            whole_rows = whole_rows.more((items - narrow) * (end - begin), (items - narrow) * row_starts)
            edge = edge.more(narrow * (end - begin), narrow * row_starts)
            steps = steps.more(items * (end - begin) * side, items)
            leave = leave.more((items - narrow) * side * key.lanes + narrow * over, items)
        return [whole_rows, edge, steps, leave]


def _reduction(key: KernelKey) -> Reduction:
    assert key.reduction is not None, key
    return key.reduction


def _reads(key: KernelKey) -> int:
    """Returns the port reads per vector: one if the vector is contiguous, else one or more per
    lane."""
    is_contiguous = key.ins[0].kind == LINEAR
    halves = max(1, *(p.dtype.itemsize // 8 for p in key.ins))
    return 1 if is_contiguous and key.lanes > 1 else key.lanes * halves


def recurrence(key: KernelKey) -> int:
    """Returns the cycles of the recurrence of a fold state, the least initiation interval."""
    r, cycles = _reduction(key), operator_cycles(key.compute)
    wait = cycles["compare"] if r.arg else 0
    if "ft_cmul" in r.combine:
        return wait + cycles["mul"] + cycles["add"]
    if "*" in r.combine:
        return wait + cycles["mul"]
    if "+" in r.combine or "ft_cadd" in r.combine:
        return wait + cycles["add"]
    return max(1, wait + cycles["compare"])


register(ReduceInner())
register(ReduceOuter())
