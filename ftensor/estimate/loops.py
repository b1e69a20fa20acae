"""The loops of each skeleton: how often they go round, in one compute unit, for one launch.

The counts are those of the kernels' own texts, which `tests/flow/test_estimate.py` checks by
counting: a pipelined loop of a skeleton is a `Loop` here, with the same name and exactly as many
trips.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..kernels.gemm import GemmKey
from ..kernels.key import BY_VALUE, LINEAR, LOCATED, SINGLE, KernelKey
from ..kernels.wanted import PORT_BYTES
from ..toolchain.vitis.interface import LATENCY
from .launch import (  # fmt: skip
    GROUP,
    PACK_CHUNK,
    Fold,
    Launch,
    Pack,
    Product,
    Rows,
    blocks,
    members_in,
    pack_loops,
)
from .operators import DEPTH, distance, interval, recurrence


@dataclass(frozen=True)
class Loop:
    """A pipelined loop in one compute unit, by its label.

    `trips` iterations in all, started from an empty pipeline `entries` times; between two
    iterations lie at least `interval` cycles, because a sum waits for the one before. `reads`:
    its first iteration waits for memory; `computes`: its pipeline holds the op's arithmetic.
    Loops of one `stage` run one after another; stages run at the same time, joined by FIFOs.
    A step that stands outside of the loops, for the end of a row, counts as one of its own.
    """

    name: str
    trips: int
    entries: int
    interval: int = 1
    reads: bool = True
    computes: bool = True
    stage: str = ""

    @property
    def cycles(self) -> int:
        """Cycles of the iterations, without filling the pipeline."""
        return self.trips * self.interval


def by_stage(found: Iterable[Loop]) -> list[list[Loop]]:
    """The loops of each stage."""
    stages: dict[str, list[Loop]] = {}
    for loop in found:
        stages.setdefault(loop.stage, []).append(loop)
    return list(stages.values())


def loops(launch: Launch, unit: int, widened: bool = False) -> tuple[Loop, ...]:
    """The pipelined loops of one compute unit in a launch; those that never run are left out.

    `widened` as in `Parameters`.
    """
    found = _COUNTERS[launch.skeleton](launch, unit, widened)
    return tuple(loop for loop in found if loop.trips)


def _map(launch: Launch, unit: int, widened: bool) -> list[Loop]:
    key = launch.member
    assert isinstance(key, KernelKey)
    beats, rest = divmod(launch.n, launch.lanes)
    begin, end = launch.slab(beats, unit)
    # The last unit's elements that fill no beat are read and computed as one more, and written
    # one by one outside the loop.
    count, part = end - begin, int(unit == launch.units - 1 and rest > 0)
    if launch.structure == "loop":
        return [Loop("each_beat", count, 1)]
    total = count + part
    blocks = -(-total // launch.block) if launch.structure == "burst" else 1
    names = {LINEAR: "read", SINGLE: "repeat"}
    inputs = [p for p in key.ins if p.kind != BY_VALUE]
    found = [Loop(names[p.kind], total, blocks, 1, True, False) for p in inputs]
    found += [
        Loop("compute", total, blocks, 1, False, True),
        Loop("write", count, blocks, 1, False, False),
    ]
    if launch.structure == "dataflow":
        found = [replace(loop, stage=f"{loop.name}{k}") for k, loop in enumerate(found)]
    return found


def _pieces(
    inner: int, chunk: int, chunks: int, begin: int, end: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    """(how many, how long) of the whole chunks in [begin, end), and of those that end a row."""
    last = members_in(begin, end, chunks, chunks - 1, chunks)
    return (end - begin - last, chunk), (last, inner - (chunks - 1) * chunk)


def _rows(launch: Launch, unit: int, widened: bool) -> list[Loop]:
    key = launch.member
    assert isinstance(key, KernelKey)
    g = Rows.read(launch.geometry, _operands(key))
    if launch.wide_rows:
        return _rows_of_beats(g, *launch.slab(g.beats(key.lanes), unit), key.lanes)
    begin, end = launch.slab(g.total, unit)
    pieces = _pieces(g.inner, g.chunk, g.chunks, begin, end)
    elements = sum(count * length for count, length in pieces)
    # What is found by an index and written to what an index finds may be the same place.
    ordered = key.outs[0].kind == LOCATED and any(p.kind == LOCATED for p in key.ins)
    interval = 2 * LATENCY + DEPTH if ordered else 1
    return [Loop("elements", elements, end - begin, interval)]


def _rows_of_beats(g: Rows, first: int, end: int, lanes: int) -> list[Loop]:
    """The stages of a kernel of rows in whole beats; each operand has runs of its own."""
    beats, found = end - first, []
    for k, step in enumerate(g.steps[1:], 1):
        runs, stage = g.runs(k, lanes), f"read{k}"
        if step == 0:
            fetched = runs.fetched(first, end)
            found.append(Loop("repeat", beats, fetched, 1, True, False, stage))
            continue
        again, held = runs.kept(first, end)
        read = runs.started(first, end) - again
        found.append(Loop("read", beats - held, read, 1, True, False, stage))
        found.append(Loop("again", held, again, 1, False, False, stage))
    # A burst that writes is answered before the next run begins.
    written = g.runs(0, lanes).started(first, end)
    return [
        *found,
        Loop("compute", beats, min(beats, 1), 1, False, True, "compute"),
        Loop("write", beats, written, 1, True, False, "write"),
    ]


def _operands(key: KernelKey) -> int:
    return len(key.outs) + sum(p.kind != BY_VALUE for p in key.ins)


def _of_splits(launch: Launch, g: Fold, unit: int) -> list[tuple[int, int, int]]:
    """(items of this unit, where their work begins, where it ends) for each split."""
    begin, end = launch.slab(g.items, unit)
    found = []
    for split in range(g.splits):
        count = members_in(begin, end, g.splits, split, split + 1)
        if count:
            found.append((count, *g.work_of(split)))
    return found


def _reduce_inner(launch: Launch, unit: int, widened: bool) -> list[Loop]:
    key = launch.member
    assert isinstance(key, KernelKey) and key.reduction is not None
    g = Fold.read(launch.geometry, _operands(key))
    side = key.reduction.vectors
    wide = narrow = part = wides = narrows = 0
    for items, begin, end in _of_splits(launch, g, unit):
        for count, length in _pieces(g.inner, g.chunk, g.chunks, begin, end):
            vectors, rest = divmod(length, key.lanes)
            many, few = divmod(vectors, side) if side > 1 else (0, vectors)
            wide += items * count * many
            narrow += items * count * few
            part += items * count * bool(rest)
            wides += items * count * bool(many)
            narrows += items * count * bool(few)
    wait = recurrence(key)
    return [
        Loop("side_by_side", wide, wides, wait),
        Loop("vectors", narrow, narrows, wait),
        Loop("part", part, part, wait),
    ]


def _reduce_outer(launch: Launch, unit: int, widened: bool) -> list[Loop]:
    key = launch.member
    assert isinstance(key, KernelKey) and key.reduction is not None
    g = Fold.read(launch.geometry, _operands(key))
    side, length, period = key.reduction.vectors, g.shape[-1], g.splits * g.chunks
    first, last = launch.slab(g.items, unit)
    whole, edge, steps = Loop("whole_rows", 0, 0), Loop("edge_rows", 0, 0), Loop("rows", 0, 0)
    for split in range(g.splits):
        begin, end = g.work_of(split)
        items = members_in(first, last, g.splits, split, split + 1)
        narrow = 0  # the block at a row's end
        if g.inner % (side * key.lanes):
            at = period - g.splits + split
            narrow = members_in(first, last, period, at, at + 1)
        # Rows in line along the innermost reduced dim are one run.
        runs = (-(-end // length) - begin // length) * (end > begin)
        whole = _more(whole, (items - narrow) * (end - begin), (items - narrow) * runs)
        edge = _more(edge, narrow * (end - begin), narrow * runs)
        steps = _more(steps, items * (end - begin) * side, items)
    return [
        *(replace(x, interval=side, computes=False, stage="fetch") for x in (whole, edge)),
        replace(steps, interval=interval(key, side), reads=False, stage="fold"),
    ]


def _more(loop: Loop, trips: int, entries: int) -> Loop:
    return replace(loop, trips=loop.trips + trips, entries=loop.entries + entries)


def _gemm(launch: Launch, unit: int, widened: bool) -> list[Loop]:
    key = launch.member
    assert isinstance(key, GemmKey)
    g = Product.read(launch.geometry)
    begin, end = launch.slab(g.items, unit)
    parts = 2 if key.dtype.is_complex else 1
    groups, rest = divmod(g.depth, GROUP)
    sums, items = max(1, -(-g.depth // key.depth)), end - begin
    beats = -(-key.columns * key.dtype.compute.itemsize // PORT_BYTES)
    found = {
        loop.name: loop
        for loop in (
            Loop("whole_groups", 0, 0, GROUP, True, False, "a"),
            Loop("last_group", 0, 0, 1, True, False, "a"),
            Loop("columns", items * g.depth * beats, items, 1, True, False, "b"),
            Loop("first_group", 0, 0, 1, False, False, "sums"),
            Loop("depth", 0, 0, 1, False, True, "sums"),
            Loop("join", 0, 0, 1, False, True, "sums"),
            Loop("vectors", 0, 0, key.vectors, False, False, "store"),
            Loop("lines", 0, 0, key.columns * parts, False, False, "store"),
            Loop("elements", 0, 0, parts, False, False, "store"),
        )
    }
    for x in blocks(key, g, begin, end):
        wide = x.columns if x.way == "elements" else 1
        for name, trips, entries in (
            ("whole_groups", groups * x.panels, 1),
            ("last_group", rest * x.panels, 1),
            ("first_group", min(g.depth, GROUP) * x.panels, 1),
            ("depth", g.depth * max(x.panels, distance(key)), sums),
            ("join", sums * x.rows, sums),
            (x.way, x.rows * wide, 1),
        ):
            found[name] = _more(found[name], x.count * trips, x.count * entries)
    return list(found.values())


def _gemm_direct(launch: Launch, unit: int, widened: bool) -> list[Loop]:
    key = launch.member
    assert isinstance(key, GemmKey)
    g = Product.read(launch.geometry)
    begin, end = launch.slab(g.items, unit)
    items, period = end - begin, g.column_blocks * g.row_blocks
    below = members_in(begin, end, period, period - g.column_blocks, period)
    results = (items - below) * key.rows + below * (g.rows - (g.row_blocks - 1) * key.rows)
    entries = items * -(-g.depth // key.depth)
    return [
        Loop("depth", items * g.depth, entries, recurrence(key)),
        _results(key, results, items, widened),
    ]


def _results(key: GemmKey, vectors: int, items: int, widened: bool) -> Loop:
    """Vectors of results on their way out, lane by lane where the port is not widened."""
    return Loop("results", vectors, items, 1 if widened else key.lanes, False)


def _gemm_pack(launch: Launch, unit: int, widened: bool) -> list[Loop]:
    key = launch.member
    assert isinstance(key, GemmKey)
    parts, size = 2 if key.dtype.is_complex else 1, key.dtype.compute.itemsize
    found = []
    for stage, g, width in zip("ab", Pack.read(launch.geometry), (key.rows, key.columns)):
        chunks = -(-g.depth // PACK_CHUNK)
        begin, end = launch.slab(g.panels * g.matrices * chunks, unit)
        beats = -(-width * size // PORT_BYTES)
        # The last panel may have fewer rows, the last chunk of each fewer steps.
        period, rows = g.panels * chunks, g.rows - (g.panels - 1) * width
        steps = g.depth - (chunks - 1) * PACK_CHUNK
        below = members_in(begin, end, period, period - chunks, period)
        last = members_in(begin, end, chunks, chunks - 1, chunks)
        corner = members_in(begin, end, period, period - 1, period)
        for items, m, n in (
            (end - begin - below - last + corner, width, PACK_CHUNK),
            (below - corner, rows, PACK_CHUNK),
            (last - corner, width, steps),
            (corner, rows, steps),
        ):
            found += [
                Loop(name, items * trips, items, interval, True, False, stage)
                for name, trips, interval in pack_loops(g, width, m, n, parts)
            ]
            found.append(Loop("steps", items * n * beats, items, 1, False, False, stage))
    return found


def _compact(launch: Launch, unit: int, widened: bool) -> list[Loop]:
    begin, end = launch.slab(launch.n, unit)
    return [Loop("elements", end - begin, 1)]


_COUNTERS = {
    "map": _map,
    "rows": _rows,
    "reduce_inner": _reduce_inner,
    "reduce_outer": _reduce_outer,
    "gemm": _gemm,
    "gemm_direct": _gemm_direct,
    "gemm_pack": _gemm_pack,
    "compact": _compact,
}
