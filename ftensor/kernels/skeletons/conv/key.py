"""What the skeletons of convolutions have in common: the key, its words, a dim of a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....dtypes import dtype
from ....iterator.shape import numel
from ... import ctype
from ...board_skeleton import BoardSkeleton
from ...skeleton import Skeleton
from ...words import Record, table_lines
from ...work import Ints
from ..elements import element_defines, element_helpers

# Terms that are summed before they join the totals.
DEPTH = 192


@dataclass(frozen=True)
class ConvKey:
    """One kernel: its skeleton, the dtype in memory, and the shape of a tile in registers."""

    skeleton: str
    dtype: dtype
    lanes: int
    rows: int  # filters
    vectors: int  # of positions
    block: int = 1  # panels of filters that share a tile's positions

    @property
    def columns(self) -> int:
        """The positions of a tile."""
        return self.lanes * self.vectors

    @property
    def entry(self) -> str:
        """The kernel's name in the program."""
        return f"ft_{self.skeleton}_{self.dtype.name}_{self.rows}x{self.columns}_{self.block}"


class Part(NamedTuple):
    """A dim of a packed plane: its elements of one phase, where the phases begin in the input, and
    the step from one element to the next there."""

    size: int
    phases: tuple[int, ...]
    stride: int


class Phase(NamedTuple):
    """A phase of a plane that is copied: its first element in the input and in the private plane,
    and its sizes."""

    first: int
    place: int
    deep: int
    high: int
    wide: int


class ConvSkeleton(Skeleton[ConvKey]):
    """What all skeletons of convolutions have in common."""

    def defines(self, key: ConvKey) -> dict[str, object]:
        """The element and the tile."""
        return {
            **element_defines(key.dtype),
            "FT_TILE_ROWS": key.rows,
            "FT_TILE_VECTORS": key.vectors,
            "FT_TILE_COLUMNS": key.columns,
            "FT_BLOCK": key.block,
            "FT_DEPTH": DEPTH,
        }

    def helpers(self, key: ConvKey) -> list[str]:
        """Elements as values."""
        return element_helpers(key.dtype, [])

    def flops(self, key: ConvKey, geometry: Ints, shapes: Sequence[Ints]) -> int:
        """A product and a sum for each result, channel and tap: of (results, planes, filters by
        groups)."""
        return 2 * numel(shapes[0]) * numel(shapes[2][2:])


class BoardConv(ConvSkeleton, BoardSkeleton[ConvKey]):
    """One of the two that images have."""

    word = "conv"

    def record(self, key: ConvKey) -> Record:
        """Which of the kernels, and its dtype."""
        of = key.dtype.name
        return Record(self.name, (of,), (of, of), "", of)

    def lines(self, key: ConvKey) -> tuple[str, ...]:
        """The dtype."""
        return table_lines(self.word, f'dtypes = ["{key.dtype.name}"]')


def serves(of: dtype) -> bool:
    """Whether there are kernels for a dtype."""
    return of.kind in "uif" and not of.bare


def number(key: ConvKey) -> str:
    """The C type that is computed with."""
    return ctype.scalar(key.dtype)
