"""What a launch moves: for each operand its bytes, its beats on a port, and how they burst."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..kernels.gemm import GemmKey
from ..kernels.holes import NAMES
from ..kernels.key import BY_VALUE, LINEAR, LOCATED, SINGLE, KernelKey, Port
from ..kernels.wanted import PORT_BYTES
from .launch import GROUP, Fold, Ints, Launch, Pack, Product, Rows, blocks, distinct


@dataclass(frozen=True)
class Access:
    """One operand in one launch, all compute units together.

    `beats` is how often its port is used, `burst` how many beats one request brings at most
    (0: as many as the port's setting says), `nbytes` what is wanted of the bank, `crossing` the
    bytes that cross the link when the operand does not live on the board.
    """

    name: str
    write: bool
    nbytes: int
    beats: int
    burst: int
    crossing: int


def accesses(launch: Launch, widened: bool) -> tuple[Access, ...]:
    """The operands of a launch, in the order of the kernel's pointers.

    `widened`: where a port is no vector by its type, the compiler makes one access of neighbours.
    """
    return tuple(_TRAFFIC[launch.skeleton](launch, widened))


def _operands(key: KernelKey) -> list[tuple[str, Port, bool]]:
    outs = [(f"out{k}", p, True) for k, p in enumerate(key.outs)]
    ins = [(f"in_{NAMES[k]}", p, False) for k, p in enumerate(key.ins) if p.kind != BY_VALUE]
    return outs + ins


def _map(launch: Launch, widened: bool) -> list[Access]:
    key = launch.member
    assert isinstance(key, KernelKey)
    found = []
    for name, p, write in _operands(key):
        size = p.dtype.itemsize
        many = p.kind == LINEAR
        n = launch.n if many else 1
        beats = -(-n // key.lanes)
        burst = min(launch.block, beats) if launch.structure == "burst" else 0
        if launch.structure == "loop" and not many:
            # Read again for every beat.
            beats, burst = -(-launch.n // key.lanes), 1
        found.append(Access(name, write, n * size, beats, burst if many else 1, n * size))
    return found


def _rows(launch: Launch, widened: bool) -> list[Access]:
    key = launch.member
    assert isinstance(key, KernelKey)
    operands = _operands(key)
    g = Rows.read(launch.geometry, len(operands))
    elements = prod(g.shape) * g.inner
    found = []
    slabs = [launch.slab(g.beats(key.lanes), unit) for unit in range(launch.units)]
    for k, ((name, p, write), strides, step) in enumerate(zip(operands, g.strides, g.steps)):
        size = p.dtype.itemsize
        # One element a step, at an address that no compiler can foresee: nothing bursts. Of what
        # indices lead to, which may be anywhere, no more crosses than the elements found.
        there = distinct((*g.shape, g.inner), (*strides, step))
        crossing = elements if p.kind == LOCATED else there
        if launch.wide_rows:
            runs = g.runs(k, key.lanes)
            if step == 0:
                beats, burst = sum(runs.fetched(*slab) for slab in slabs), 1
            else:
                beats = sum(end - first - runs.kept(first, end)[1] for first, end in slabs)
                burst = runs.length
            moved = beats * key.lanes * size
            found.append(Access(name, write, moved, beats, burst, crossing * size))
            continue
        found.append(Access(name, write, elements * size, elements, 1, crossing * size))
    return found


def _fold(launch: Launch, widened: bool) -> list[Access]:
    key = launch.member
    assert isinstance(key, KernelKey) and key.reduction is not None
    operands, side = _operands(key), key.reduction.vectors
    g = Fold.read(launch.geometry, len(operands))
    outer = launch.skeleton == "reduce_outer"
    kept: Ints = (*g.kept_shape, g.inner) if outer else g.kept_shape
    reduced: Ints = g.shape if outer else (*g.shape, g.inner)
    results, elements = prod(kept) * g.splits, prod(kept) * prod(reduced)
    found = []
    for k, (name, p, write) in enumerate(operands):
        size = p.dtype.itemsize
        if write:
            # Results leave one by one, the lanes of a row's end among them.
            crossing = 0 if key.reduction.stage == "first" else results * size
            found.append(Access(name, True, results * size, results, 1, crossing))
            continue
        mine = (*g.kept_strides[k], g.steps[k]) if outer else g.kept_strides[k]
        along = g.strides[k] if outer else (*g.strides[k], g.steps[k])
        there = distinct((*kept, *reduced), (*mine, *along)) * size
        crossing = 0 if key.reduction.stage == "second" else there
        if p.kind == LINEAR:
            # Rows end with a beat of their own.
            lanes = key.lanes
            rows = prod(kept[:-1]) * prod(reduced) if outer else elements // max(g.inner, 1)
            beats = rows * -(-g.inner // lanes)
            longest = side if outer else max(1, g.chunk // lanes)
            found.append(Access(name, False, beats * lanes * size, beats, longest, crossing))
        else:
            beats = -(-elements // key.lanes) if p.kind == SINGLE else elements
            found.append(Access(name, False, beats * size, beats, 1, crossing))
    return found


def _gemm(launch: Launch, widened: bool) -> list[Access]:
    key = launch.member
    assert isinstance(key, GemmKey)
    g = Product.read(launch.geometry)
    size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
    tiles = g.batch * g.row_blocks * g.column_blocks
    step = key.columns * compute
    found = [
        Access("a", False, tiles * g.depth * key.rows * compute, tiles * g.depth,
               GROUP if g.depth >= GROUP else 1, 0),
        Access("b", False, g.items * g.depth * step, g.items * g.depth * -(-step // PORT_BYTES),
               0, 0),
    ]  # fmt: skip
    parts = 2 if key.dtype.is_complex else 1
    blocks_ = blocks(key, g, 0, g.items)
    for way, lanes, burst in (
        ("vectors", key.lanes * parts, 1),
        ("lines", 1, key.columns * parts),
        ("elements", 1, parts),
    ):
        count = sum(x.count * x.rows * x.columns for x in blocks_ if x.way == way)
        if count:
            results = (count * size, count * parts // lanes, burst, count * size)
            found.append(Access("out", True, *results))
            if g.mode == 2:
                found.append(Access("added", False, *results))
    return found


def _direct(launch: Launch, widened: bool) -> list[Access]:
    key = launch.member
    assert isinstance(key, GemmKey)
    g = Product.read(launch.geometry)
    size = key.dtype.itemsize
    batch, steps = g.items // (g.row_blocks * g.column_blocks), g.items * g.depth
    lanes = key.lanes if widened else 1
    wide = key.lanes // lanes
    results = batch * g.rows * g.columns * size
    beats = batch * g.rows * -(-g.columns // lanes)
    longest = max(1, g.columns // lanes)
    found = [
        Access("out", True, results, beats, longest, results),
        Access("a", False, steps * key.rows * size, steps * key.rows, key.rows,
               batch * g.rows * g.depth * size),
        Access("b", False, steps * key.columns * size, steps * wide, wide,
               batch * g.columns * g.depth * size),
    ]  # fmt: skip
    if g.mode == 2:
        found.append(Access("added", False, results, beats, longest, results))
    return found


def _pack(launch: Launch, widened: bool) -> list[Access]:
    key = launch.member
    assert isinstance(key, GemmKey)
    size, compute = key.dtype.itemsize, key.dtype.compute.itemsize
    found = []
    a, b = Pack.read(launch.geometry)
    parts = 2 if key.dtype.is_complex else 1
    for name, g, width in (("a", a, key.rows), ("b", b, key.columns)):
        steps, elements = g.matrices * g.panels * g.depth, g.matrices * g.rows * g.depth
        step = width * compute
        beats = steps * -(-step // PORT_BYTES)
        found.append(Access(f"{name}_panels", True, steps * step, beats, 0, 0))
        burst = GROUP if g.along == 1 else width if g.across == 1 else 1
        moved = elements * size
        found.append(Access(name, False, moved, elements * parts, burst * parts, moved))
    return found


def _compact(launch: Launch, widened: bool) -> list[Access]:
    n = launch.n
    return [Access("mask", False, n, n, 0, n), Access("out", True, 8, 1, 1, 8)]


_TRAFFIC = {
    "map": _map,
    "rows": _rows,
    "reduce_inner": _fold,
    "reduce_outer": _fold,
    "gemm": _gemm,
    "gemm_direct": _direct,
    "gemm_pack": _pack,
    "compact": _compact,
}
