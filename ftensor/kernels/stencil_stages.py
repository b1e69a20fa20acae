"""Windows of rows as dataflow stages: each element beside its neighbours, for stencils; and writes
to a part of a plane."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import dtype
from .element_function import ElementFunction
from .key import VALUE
from .workload import LocalMemory

# The farthest neighbour in rows: the kernel keeps the rows between in local memory.
MAX_ROWS = 64
# The most rows of inputs that a kernel reads beyond the rows of its results.
MAX_HALO = 256
# The most neighbours of an element. Each is a FIFO.
MAX_NEIGHBOURS = 64


@dataclass(frozen=True)
class Window(ElementFunction):
    """The neighbours of each element: output k is the element `offsets[k]` = (rows, columns) below
    and to the right. A neighbour beyond the last column is the next row's; no result depends on
    one. The body is empty, since an output depends on another element."""

    offsets: tuple[tuple[int, int], ...] = ()


def window(element: dtype, offsets: tuple[tuple[int, int], ...]) -> Window:
    """Returns the window of rows of the dtype `element`."""
    outs = ((element, VALUE),) * len(offsets)
    return Window("window", element.compute, outs, ((element, VALUE),), (), offsets=offsets)


@dataclass(frozen=True)
class SliceScatter(ElementFunction):
    """A plane after a write to a part of it: the first input inside the part, the second outside.
    The part has the rows from `rows[0]` to the last `rows[1]`, and the columns from `columns[0]` to
    `columns[1]`. Beside the beat of element (0, 0) of an input, the stage has the beat of the plane's
    element `anchor`. The body is empty, since a result depends on the element's position."""

    anchor: tuple[int, int] = (0, 0)
    rows: tuple[int, int] = (0, 0)
    columns: tuple[int, int] = (0, 0)


def slice_scatter(
    element: dtype, anchor: tuple[int, int], rows: tuple[int, int], columns: tuple[int, int]
) -> SliceScatter:
    """Returns the write to a part of a plane of the dtype `element`."""
    ins = ((element, VALUE), (element, VALUE))
    name, outs = "slice_scatter", ((element, VALUE),)
    return SliceScatter(name, element.compute, outs, ins, (), anchor=anchor, rows=rows, columns=columns)


def window_refusal(function: Window, length: int) -> str:
    """Returns the reason why no dataflow stage computes a window of rows of `length`; "" if a stage
    does."""
    rows, columns = (max(offset[k] for offset in function.offsets) for k in (0, 1))
    if len(function.offsets) > MAX_NEIGHBOURS:
        return f"its elements have {len(function.offsets)} neighbours, and stages at most {MAX_NEIGHBOURS}"
    if rows > MAX_ROWS or columns >= length:
        return f"a neighbour is {rows} rows and {columns} columns away, and stages reach {MAX_ROWS} rows of {length}"
    return ""


def halo_refusal(rows: int) -> str:
    """Returns the reason why no kernel reads `rows` rows more than it has results; "" if one does."""
    return f"its results reach {rows} rows below, and kernels {MAX_HALO}" if rows > MAX_HALO else ""


@dataclass(frozen=True)
class WindowSchedule:
    """Schedule of a window of rows of `beats` beats. The stage holds `span + 1` beats of each row
    with a neighbour in registers, and the beats between these rows in memories."""

    offsets: tuple[tuple[int, int], ...]
    beats: int
    lanes: int

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows with neighbours, relative to the element's row."""
        return tuple(sorted({row for row, _ in self.offsets}))

    @property
    def span(self) -> int:
        """Beats to the right of an element's beat that neighbours are in."""
        return max(-(-column // self.lanes) for _, column in self.offsets)

    @property
    def ahead(self) -> int:
        """Beats that enter before the first beat leaves."""
        return self.rows[-1] * self.beats + self.span

    @property
    def delays(self) -> tuple[int, ...]:
        """Beats between each row with neighbours and the next one."""
        return tuple([(b - a) * self.beats for a, b in zip(self.rows, self.rows[1:])])

    def memories(self, bits: int) -> list[LocalMemory]:
        """Returns the memories between rows, and the registers; `bits` are those of an element."""
        memories = [LocalMemory(delay, bits * self.lanes) for delay in self.delays]
        return memories + [LocalMemory(self.span + 1, bits, self.lanes) for _ in self.rows]
