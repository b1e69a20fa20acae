"""compact: positions of the true elements of a mask (hls/skeleton/compact.h)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dtypes import dtype, uint8
from ..inventory_terms import InventoryRequest, Record
from ..skeleton import BoardSkeleton, Parameter, register
from ..workload import Access, KernelLaunch, PipelinedLoop


@dataclass(frozen=True)
class CompactKey:
    """Key of the only kernel; all fields have their defaults."""

    dtype: dtype = uint8
    lanes: int = 1

    @property
    def skeleton(self) -> str:
        """Name of the skeleton."""
        return "compact"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return "ft_compact"


class Compact(BoardSkeleton[CompactKey]):
    """Two launches over the same slabs: each compute unit counts its true elements, then writes
    their positions."""

    name = "compact"
    word = "compact"
    together = "search"  # has positions of the same width
    exact_units = True

    def parameters(self, key: CompactKey) -> tuple[Parameter, ...]:
        """Returns mask, results, first index per unit, mask offset, base position, size, and a flag
        that is 1 in the counting launch."""
        return (
            ("*", "const uchar *", "mask"),
            ("*", "long *", "out"),
            ("*", "const long *", "starts"),
            ("long", "long ", "mask_offset"),
            ("long", "long ", "first"),
            ("int", "int ", "n"),
            ("int", "int ", "count"),
        )

    def record(self, key: CompactKey) -> Record:
        return Record(self.name, (), (), "", key.dtype.name)

    def keys(self, asked: InventoryRequest) -> Iterator[CompactKey]:
        yield CompactKey()

    def suffix(self, key: CompactKey) -> str:
        return self.name

    def title(self, key: CompactKey) -> str:
        return "nonzero"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        begin, end = launch.slab(launch.n, unit)
        return [PipelinedLoop("elements", end - begin, 1)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """Returns the accesses; the number of positions is unknown, so `out` counts as one."""
        n = launch.n
        return [Access("mask", False, n, n, 0, n), Access("out", True, 8, 1, 1, 8)]


register(Compact())
