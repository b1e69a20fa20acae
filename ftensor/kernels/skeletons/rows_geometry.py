"""What launches of rows are told, and how an operand's rows lie in beats."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod
from typing import Annotated, NamedTuple

from ..geometry import Geometry, Many
from ..pieces import Pieces
from ..source import constant
from ..work import Ints, members_in

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
