"""search: where values belong in sorted rows (hls/skeleton/search.h)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dtypes import dtype
from ..board_skeleton import BoardSkeleton
from ..geometry import Geometry, Long
from ..ports import LATENCY
from ..skeleton import Parameter, register
from ..words import Asked, Record, table_lines
from ..work import Access, KernelLaunch, Loop
from .elements import element_defines, element_helpers, element_type


@dataclass(frozen=True)
class SearchKey:
    """One kernel: the dtype of rows and values."""

    dtype: dtype
    lanes: int = 1
    skeleton = "search"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_search_{self.dtype.name}"


@dataclass(frozen=True)
class SearchGeometry(Geometry):
    """What a launch is told: values, those that share a row, its elements and the step from one row
    to the next (0: all use one); whether places are right of equal ones, an order of the rows is
    given; how often a row is halved."""

    n: int
    each: int
    row: int
    step: Long
    right: bool
    sorted: bool
    halves: int


class Search(BoardSkeleton[SearchKey]):
    """A row is halved until one place is left."""

    name = "search"
    word = "search"
    together = "search"
    geometry = SearchGeometry

    def parameters(self, key: SearchKey) -> tuple[Parameter, ...]:
        """Places, rows, values, the order of the rows; offsets; the geometry."""
        of = element_type(key.dtype)
        return (
            ("*", "long *", "out"),
            ("*", f"const {of} *", "row"),
            ("*", f"const {of} *", "values"),
            ("*", "const long *", "sorter"),
            *(("long", "long ", f"{name}_offset") for name in ("out", "row", "values", "sorter")),
            ("*", "const long *", "geometry"),
        )

    def defines(self, key: SearchKey) -> dict[str, object]:
        """What an element is."""
        return element_defines(key.dtype)

    def helpers(self, key: SearchKey) -> list[str]:
        """Elements."""
        return element_helpers(key.dtype, [])

    def record(self, key: SearchKey) -> Record:
        """Its dtype."""
        of = key.dtype.name
        return Record(self.name, ("int64",), (of, of), "", of)

    def keys(self, asked: Asked) -> Iterator[SearchKey]:
        """One for each dtype."""
        yield from (SearchKey(of) for of in asked.dtypes if not of.is_complex)

    def lines(self, key: SearchKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')

    def suffix(self, key: SearchKey) -> str:
        """The dtype."""
        return f"search_{key.dtype.name}"

    def title(self, key: SearchKey) -> str:
        """torch's name."""
        return "searchsorted"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[Loop]:
        """Each half waits for the middle element of the one before, found through `sorter`."""
        g = SearchGeometry.unpack(launch.geometry)
        begin, end = launch.slab(g.n, unit)
        return [Loop("halves", (end - begin) * g.halves, end - begin, 2 * LATENCY + 2)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """A value, its place, and single elements of a row."""
        g, size = SearchGeometry.unpack(launch.geometry), launch.key.dtype.itemsize
        n, looked = g.n, g.n * g.halves
        indices = looked * g.sorted
        return [
            Access("out", True, n * 8, n, 1, n * 8),
            Access("row", False, looked * size, looked, 1, looked * size),
            Access("values", False, n * size, n, 1, n * size),
            Access("sorter", False, indices * 8, indices, 1, indices * 8),
        ]

    def extent(self, launch: KernelLaunch) -> str:
        """How many values, and how long a row."""
        g = SearchGeometry.unpack(launch.geometry)
        return f"{g.n} in {g.row}"


register(Search())
