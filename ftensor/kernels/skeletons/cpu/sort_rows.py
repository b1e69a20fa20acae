"""sort_rows: rows in order by merges, and elements of a rank (hls/skeleton/sort_rows.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated

from ....dtypes import dtype
from ...geometry import Geometry, Long, Many
from ...skeleton import Parameter, Skeleton, register
from ...work import Ints
from ..sort import BITS, bits, compared, words_of_order

RUN = 16  # elements that are inserted one by one
# Elements of a row that a unit sorts by itself where a row is for all units.
TILE = 1 << 15
WHOLE, TILES, MERGE, RESULTS, FIRST, RANK = range(6)  # what a launch does
MEDIAN, NANMEDIAN = -1, -2  # ranks that the kernel finds itself


@dataclass(frozen=True)
class SortRowsKey:
    """One kernel: a dtype; with `selects`, for processors, elements of a rank without a sort."""

    dtype: dtype
    lanes: int = 1
    selects: bool = False
    skeleton = "sort_rows"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_{'select' if self.selects else 'sort_rows'}_{self.dtype.name}"


def first_run(n: int) -> int:
    """The size of the runs that are made by insertion: with it, merges go there and back."""
    for run in (RUN, RUN // 2):
        size, passes = run, 0
        while size < n:
            size, passes = 2 * size, passes + 1
        if passes % 2 == 0:
            return run
    return RUN


@dataclass(frozen=True)
class SortRowsGeometry(Geometry):
    """What a launch is told, all in elements; steps are along a row."""

    derived = ("items",)
    mode: int
    tiles: int
    tile: int
    n: int
    run: int
    descending: bool
    read: Long
    written: Long
    shape: Annotated[Ints, Many("dims")]
    read_strides: Annotated[Ints, Many("dims")]
    written_strides: Annotated[Ints, Many("dims")]

    @property
    def items(self) -> int:
        """What the units share."""
        return prod(self.shape) * self.tiles


class SortRows(Skeleton[SortRowsKey]):
    """Runs of a row are merged until there is one."""

    name = "sort_rows"
    geometry = SortRowsGeometry
    exact_units = True  # each has memory of its own

    def parameters(self, key: SortRowsKey) -> tuple[Parameter, ...]:
        """Results, the input, what is compared and the places, twice; offsets; the geometry."""
        of, wide = bits(key.dtype), BITS[compared(key.dtype).itemsize]
        return (
            ("*", f"{of} *", "values"),
            ("*", "long *", "indices"),
            ("*", f"const {of} *", "in"),
            ("*", f"{wide} *", "a_keys"),
            ("*", "int *", "a_order"),
            ("*", f"{wide} *", "b_keys"),
            ("*", "int *", "b_order"),
            *(("long", "long ", f"{name}_offset") for name in ("values", "indices", "in")),
            ("*", "const long *", "geometry"),
        )

    def compute(self, key: SortRowsKey) -> dtype:
        """Whole numbers are compared."""
        return compared(key.dtype)

    def defines(self, key: SortRowsKey) -> dict[str, object]:
        """What lies in memory, and what of it is compared."""
        wide = compared(key.dtype).itemsize == 8
        return {
            **words_of_order(key.dtype),
            "FT_RUN": RUN,
            "FT_LARGEST": "0x7fffffffffffffffL" if wide else "0x7fffffff",
            "FT_SELECTS": int(key.selects),
        }

    def helpers(self, key: SortRowsKey) -> list[str]:
        """What is compared."""
        return ["order.h"]


register(SortRows())
