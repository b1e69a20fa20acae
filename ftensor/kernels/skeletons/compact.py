"""compact: where the true elements of a mask are (hls/skeleton/compact.h)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dtypes import dtype, uint8
from ..inventory_terms import InventoryRequest, Record
from ..skeleton import BoardSkeleton, Parameter, register
from ..workload import Access, KernelLaunch, PipelinedLoop


@dataclass(frozen=True)
class CompactKey:
    """The one kernel there is."""

    dtype: dtype = uint8
    lanes: int = 1

    @property
    def skeleton(self) -> str:
        """Its skeleton."""
        return "compact"

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return "ft_compact"


class Compact(BoardSkeleton[CompactKey]):
    """Two launches over the same slabs: each unit counts its own, then writes their positions."""

    name = "compact"
    word = "compact"
    together = "search"  # whose places are as wide as these
    exact_units = True

    def parameters(self, key: CompactKey) -> tuple[Parameter, ...]:
        """The mask, the positions, each unit's count or first place, and which of the launches."""
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
        """It has no operands to choose from."""
        return Record(self.name, (), (), "", key.dtype.name)

    def keys(self, asked: InventoryRequest) -> Iterator[CompactKey]:
        """The one, whatever the dtypes."""
        yield CompactKey()

    def suffix(self, key: CompactKey) -> str:
        """Its name."""
        return self.name

    def title(self, key: CompactKey) -> str:
        """torch's name."""
        return "nonzero"

    def loops(self, launch: KernelLaunch, unit: int, widened: bool) -> list[PipelinedLoop]:
        """One over the elements."""
        begin, end = launch.slab(launch.n, unit)
        return [PipelinedLoop("elements", end - begin, 1)]

    def traffic(self, launch: KernelLaunch, widened: bool) -> list[Access]:
        """The mask once; how many positions there will be nobody knows."""
        n = launch.n
        return [Access("mask", False, n, n, 0, n), Access("out", True, 8, 1, 1, 8)]


register(Compact())
