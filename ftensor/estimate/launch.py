"""A launch as the model sees it: the kernel, over how many units, on what geometry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod

from ..kernels.gemm import GemmKey
from ..kernels.key import BY_VALUE, KernelKey
from ..toolchain.vitis.map import block_beats

Ints = tuple[int, ...]
# As FT_KEPT in hls/vitis/runs.h: beats of a run that is kept for its next turn.
KEPT = 64
# As GROUP in hls/vitis/gemm.cpp: steps of a row panel that are one burst.
GROUP = 16
# As CHUNK in hls/vitis/gemm_pack.cpp.
PACK_CHUNK = 256
Member = KernelKey | GemmKey | str


@dataclass(frozen=True)
class Launch:
    """One launch. `n` is a map's (or ft_compact's) size; the others have a geometry.

    `structure` is how a map moves its data, as in `Group`.
    """

    member: Member
    units: int
    n: int = 0
    geometry: Ints = ()
    structure: str = "dataflow"

    @property
    def op(self) -> str:
        """The op's name, without what tells its stages apart."""
        m = self.member
        if isinstance(m, str):
            return "nonzero"
        if isinstance(m, GemmKey):
            return "matmul"
        return m.name.removesuffix("_" + m.reduction.stage) if m.reduction else m.name

    @property
    def skeleton(self) -> str:
        """The skeleton's name."""
        m = self.member
        return m.removeprefix("ft_") if isinstance(m, str) else m.skeleton

    @property
    def lanes(self) -> int:
        """Elements of one vector access."""
        return 1 if isinstance(self.member, str) else self.member.lanes

    @property
    def block(self) -> int:
        """Beats of one block of a map that moves its data so, as if the kernel had no other op."""
        assert isinstance(self.member, KernelKey)
        ports = [p for p in (*self.member.outs, *self.member.ins) if p.kind != BY_VALUE]
        return block_beats(max(p.dtype.itemsize for p in ports), self.lanes)

    @property
    def wide_rows(self) -> bool:
        """Whether this goes to a kernel that walks rows in whole beats."""
        return self.skeleton == "rows" and self.lanes > 1

    def slab(self, size: int, unit: int) -> tuple[int, int]:
        """What compute unit `unit` takes of [0, size), as `ft_slab` in the kernels."""
        return size * unit // self.units, size * (unit + 1) // self.units


@dataclass(frozen=True)
class Rows:
    """The geometry of the rows skeleton, by name."""

    inner: int
    chunk: int
    chunks: int
    total: int
    shape: Ints
    strides: tuple[Ints, ...]  # per operand
    steps: Ints  # per operand, in the inner dim

    def beats(self, lanes: int) -> int:
        """All beats, where rows are whole ones."""
        return self.total // self.chunks * (self.inner // lanes)

    def runs(self, k: int, lanes: int) -> Runs:
        """How operand k is walked in beats."""
        return Runs.join(self.shape, self.strides[k], self.steps[k], self.inner, lanes)

    @classmethod
    def read(cls, g: Ints, operands: int) -> Rows:
        """From the numbers that the kernel gets."""
        dims = g[0]
        at = 5 + dims
        strides = tuple(_cut(g[at:], dims, operands))
        at += dims * operands
        inner, chunk, chunks, total = g[1:5]
        steps = g[at : at + operands]
        return cls(inner, chunk, chunks, total, g[5 : 5 + dims], strides, steps)


@dataclass(frozen=True)
class Runs:
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
        if self.times == 1 or self.length > KEPT or end <= first:
            return 0, 0
        run, part = divmod(first, self.length)
        last, over = divmod(end, self.length)
        # The first run is read, whichever turn it is, and again if it was not read whole.
        begin = run + 1 + (part > 0 and (run + 1) % self.times > 0)
        whole = members_in(begin, max(begin, last), self.times, 1, self.times)
        cut = int(over > 0 and last >= begin and last % self.times > 0)
        return whole + cut, whole * self.length + cut * over


@dataclass(frozen=True)
class Fold:
    """The geometry of both reduce skeletons, by name."""

    splits: int
    items: int
    inner: int
    chunk: int
    chunks: int
    work: int
    kept_shape: Ints
    kept_strides: tuple[Ints, ...]
    shape: Ints
    strides: tuple[Ints, ...]
    steps: Ints

    @classmethod
    def read(cls, g: Ints, operands: int) -> Fold:
        """From the numbers that the kernel gets."""
        kept, reduced = g[0], g[1]
        at = 9 + kept
        kept_strides = tuple(_cut(g[at:], kept, operands))
        at += kept * operands
        shape = g[at : at + reduced]
        at += reduced
        strides = tuple(_cut(g[at:], reduced, operands))
        at += reduced * operands
        splits, items, inner, chunk, chunks, work = g[2:8]
        kept_shape, steps = g[9 : 9 + kept], g[at : at + operands]
        return cls(
            splits, items, inner, chunk, chunks, work, kept_shape, kept_strides, shape, strides,
            steps,
        )  # fmt: skip

    @property
    def blocks(self) -> int:
        """Items that differ in more than their split."""
        return self.items // self.splits

    def work_of(self, split: int) -> tuple[int, int]:
        """The part of the work that a split folds."""
        return self.work * split // self.splits, self.work * (split + 1) // self.splits


@dataclass(frozen=True)
class Product:
    """The geometry of gemm and gemm_direct, by name."""

    items: int
    row_blocks: int
    column_blocks: int
    most: int
    rows: int
    columns: int
    depth: int
    mode: int
    whole: int
    out_step: int
    added_step: int

    @classmethod
    def read(cls, g: Ints) -> Product:
        """From the numbers that the kernel gets."""
        return cls(*(*g[:9], g[10], g[12]))

    @property
    def blocks(self) -> int:
        """Blocks of row panels (gemm only)."""
        return -(-self.row_blocks // self.most)

    @property
    def batch(self) -> int:
        """How many products; of gemm."""
        return self.items // (self.blocks * self.column_blocks)


@dataclass(frozen=True)
class Block:
    """Items of a packed product that are alike: how many, and of each its rows and columns.

    `way` is how results leave: "vectors", "lines" or "elements", as in hls/vitis/gemm.cpp.
    """

    count: int
    panels: int
    rows: int
    columns: int
    way: str


def blocks(key: GemmKey, g: Product, begin: int, end: int) -> list[Block]:
    """The items [begin, end) of a packed product."""
    across, period = g.column_blocks, g.column_blocks * g.blocks
    # Items of the last block have fewer row panels, those of the last column panel fewer columns.
    below = members_in(begin, end, period, period - across, period)
    right = members_in(begin, end, across, across - 1, across)
    corner = members_in(begin, end, period, period - 1, period)
    rows = g.most * key.rows
    tall = (g.most, rows)
    last = (g.row_blocks - (g.blocks - 1) * g.most, g.rows - (g.blocks - 1) * rows)
    narrow = g.columns - (across - 1) * key.columns
    found = []
    for count, (panels, height), width in (
        (end - begin - below - right + corner, tall, key.columns),
        (below - corner, last, key.columns),
        (right - corner, tall, narrow),
        (corner, last, narrow),
    ):
        way = "elements"
        if g.whole and g.mode != 2 and width % key.lanes == 0:
            way = "vectors"
        elif g.out_step == 1 and width == key.columns and (g.mode != 2 or g.added_step == 1):
            way = "lines"
        if count:
            found.append(Block(count, panels, height, width, way))
    return found


@dataclass(frozen=True)
class Pack:
    """One half of the geometry of gemm_pack."""

    rows: int
    panels: int
    depth: int
    across: int
    along: int
    dims: int
    matrices: int

    @classmethod
    def read(cls, g: Ints) -> tuple[Pack, Pack]:
        """Both halves, from the numbers that the kernel gets."""
        return cls(*g[:7]), cls(*g[7:14])


def pack_loops(g: Pack, width: int, m: int, n: int, parts: int) -> list[tuple[str, int, int]]:
    """(name, trips, interval) of the loops that read m rows of n elements for a panel."""
    if g.along == 1:
        whole, rest = divmod(n, GROUP)
        return [("rows_in_line", m * whole, GROUP * parts), ("ends_of_rows", m * rest, parts)]
    if g.across == 1 and m == width:
        return [("columns_in_line", n, width * parts)]
    return [("elements", m * n, parts)]


def _cut(g: Ints, size: int, count: int) -> Iterator[Ints]:
    return (g[k * size : (k + 1) * size] for k in range(count))


def members_below(end: int, period: int, first: int, last: int) -> int:
    """How many i in [0, end) have first <= i % period < last."""
    whole, rest = divmod(end, period)
    return whole * (last - first) + min(max(rest - first, 0), last - first)


def members_in(begin: int, end: int, period: int, first: int, last: int) -> int:
    """How many i in [begin, end) have first <= i % period < last."""
    return members_below(end, period, first, last) - members_below(begin, period, first, last)


def distinct(shape: Ints, strides: Ints) -> int:
    """Elements that a walk over `shape` touches, where stride 0 repeats."""
    return prod(n for n, s in zip(shape, strides) if s)
