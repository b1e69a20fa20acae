"""radix_sort, sort_rows: sorting of rows on CPUs (hls/skeleton/radix_sort.h, sort_rows.h)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Annotated

from .... import dtypes
from ....dtypes import dtype
from ...geometry import Geometry, ListField, Long
from ...inventory_terms import KernelTarget
from ...key import lanes_for
from ...skeleton import Parameter, Skeleton, c_parameters, register
from ...workload import Ints
from ..sort import BITS, FLOATS, comparison_dtype, memory_type, order_defines

NARROW, WIDE = 8, 11  # bits of a digit, for few and for many elements
RADIX_WHOLE, COUNT, PLACE, MOVE = range(4)  # modes of a launch
# C literals by bytes of an element: the sign bit, all bits.
_SIGN = {1: "0x80", 2: "0x8000", 4: "(-0x7fffffff - 1)", 8: "(-0x7fffffffffffffffL - 1)"}
_ALL = {1: "0xff", 2: "0xffff", 4: "-1", 8: "-1L"}


@dataclass(frozen=True)
class RadixKey:
    """Key of the radix sort of a dtype; with `places`, the kernel also returns indices."""

    dtype: dtype
    lanes: int
    places: bool
    skeleton = "radix_sort"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_radix_sort_{self.dtype.name}" + "_places" * self.places

    @property
    def packed(self) -> bool:
        """True if an element and its index share a word of 8 bytes."""
        return self.places and self.dtype.itemsize < 8

    @property
    def word(self) -> str:
        """The C type of a sorted word."""
        return "ulong" if self.packed else BITS[self.dtype.itemsize]

    @property
    def compared(self) -> dtypes.dtype:
        """The dtype of comparison keys."""
        return dtypes.int64 if self.dtype.itemsize == 8 else dtypes.int32


def radix_key(dtype: dtype, target: KernelTarget, indices: bool) -> RadixKey:
    """Returns the key for a dtype."""
    compared = RadixKey(dtype, 1, indices).compared
    return RadixKey(dtype, lanes_for([], compared, target.lanes_bytes), indices)


@dataclass(frozen=True)
class RadixGeometry(Geometry):
    """Geometry buffer of a radix sort, in elements. The launch performs pass `turn` of `passes`,
    over a digit of `width` bits. `kept` is the elements in each buffer; `read` and `written` are
    strides along a row."""

    derived = ("items",)
    mode: int
    parts: int
    n: int
    width: int
    passes: int
    turn: int
    kept: int
    lined: bool
    descending: bool
    read: Long
    written: Long
    shape: Annotated[Ints, ListField("dims")]
    read_strides: Annotated[Ints, ListField("dims")]
    written_strides: Annotated[Ints, ListField("dims")]

    @property
    def items(self) -> int:
        """Parts of rows, or rows, to share among the compute units."""
        return prod(self.shape) * (1 if self.mode == PLACE else self.parts)


class RadixSort(Skeleton[RadixKey]):
    """Radix sort with a pass over the elements for each digit."""

    name = "radix_sort"
    report_name = "sort"
    geometry = RadixGeometry
    exact_units = True  # each compute unit has a buffer of its own

    def parameters(self, key: RadixKey) -> tuple[Parameter, ...]:
        c, indices = BITS[key.dtype.itemsize], "long *indices, " * key.places
        buffers = f"{key.word} *a, {key.word} *b, {key.word} *lines, int *orders, int *digit_counts"
        offsets = "values indices in" if key.places else "values in"
        return c_parameters(f"{c} *values, {indices}const {c} *in, {buffers}", offsets)

    def compute(self, key: RadixKey) -> dtype:
        return key.compared

    def defines(self, key: RadixKey) -> dict[str, object]:
        size, compared = key.dtype.itemsize, BITS[key.compared.itemsize]
        words: dict[str, object] = {
            "FT_B": BITS[size],
            "FT_KEY": compared,
            "FT_UNSIGNED_B": f"u{BITS[size]}",
            "FT_LOW": f"{(1 << 8 * size) - 1:#x}ul",
            "FT_UNSIGNED_KEY": f"u{compared}",
            "FT_PASSES": -(-8 * size // WIDE) if size > 2 else 1,
            "FT_WITH_POSITIONS": int(key.places),
            "FT_PACKED": int(key.packed),
            "FT_BITS_OF_FLOAT": int(key.dtype.name in FLOATS),
            "FT_SIGN": _SIGN[size] if key.dtype.kind in "if" else "0",
            "FT_WHOLE": _ALL[size],
        }
        if key.dtype.name in FLOATS:
            words["FT_MAGNITUDE"], words["FT_INFINITE"] = FLOATS[key.dtype.name]
        return words


register(RadixSort())


RUN = 16  # elements of an insertion sort
# Elements of a row that one compute unit sorts if all units share a row.
TILE = 1 << 15
WHOLE, TILES, MERGE, RESULTS, FIRST, RANK = range(6)  # modes of a launch
MEDIAN, NANMEDIAN = -1, -2  # ranks that the kernel determines


@dataclass(frozen=True)
class SortRowsKey:
    """Key of the merge sort of a dtype; with `selects`, the kernel also finds elements by rank
    without sorting."""

    dtype: dtype
    lanes: int = 1
    selects: bool = False
    skeleton = "sort_rows"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_{'select' if self.selects else 'sort_rows'}_{self.dtype.name}"


def first_run(n: int) -> int:
    """Returns the size of the runs that are sorted by insertion, chosen so that the number of merge
    passes is even."""
    for run in (RUN, RUN // 2):
        size, passes = run, 0
        while size < n:
            size, passes = 2 * size, passes + 1
        if passes % 2 == 0:
            return run
    return RUN


@dataclass(frozen=True)
class SortRowsGeometry(Geometry):
    """Geometry buffer, in elements; `read` and `written` are strides along a row."""

    derived = ("items",)
    mode: int
    tiles: int
    tile: int
    n: int
    run: int
    descending: bool
    read: Long
    written: Long
    shape: Annotated[Ints, ListField("dims")]
    read_strides: Annotated[Ints, ListField("dims")]
    written_strides: Annotated[Ints, ListField("dims")]

    @property
    def items(self) -> int:
        """Tiles to share among the compute units."""
        return prod(self.shape) * self.tiles


class SortRows(Skeleton[SortRowsKey]):
    """Merge sort of rows."""

    name = "sort_rows"
    geometry = SortRowsGeometry
    exact_units = True  # each compute unit has a buffer of its own

    def parameters(self, key: SortRowsKey) -> tuple[Parameter, ...]:
        c, wide = memory_type(key.dtype), BITS[comparison_dtype(key.dtype).itemsize]
        buffers = f"{wide} *a_keys, int *a_order, {wide} *b_keys, int *b_order"
        return c_parameters(f"{c} *values, long *indices, const {c} *in, {buffers}", "values indices in")

    def compute(self, key: SortRowsKey) -> dtype:
        return comparison_dtype(key.dtype)

    def defines(self, key: SortRowsKey) -> dict[str, object]:
        wide = comparison_dtype(key.dtype).itemsize == 8
        return {
            **order_defines(key.dtype),
            "FT_RUN": RUN,
            "FT_LARGEST": "0x7fffffffffffffffL" if wide else "0x7fffffff",
            "FT_SELECTS": int(key.selects),
        }

    def helpers(self, key: SortRowsKey) -> list[str]:
        return ["sort_keys.h"]


register(SortRows())
