"""What kernels cost on a family of devices, where launches choose between several by it.

A figure holds for all devices of the family; the command beside a table measures what was chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Calls of functions that take many steps, as expressions name them, and for how many additions of
# elements in memory one counts: python benchmarks/bench.py --only medium.
STEEP = re.compile(r"\b(?:ft[xkgor]_\w+|\w*(?:exp|log|pow|sin|cos|tan|erf|gamma|hypot)\w*)\(")
STEEP_ADDITIONS = 2


@dataclass(frozen=True)
class Convolutions:
    """Of small planes, in products of a vector: python benchmarks/conv.py."""

    # A row of a panel where planes are read where they lie; the beginning of a panel.
    lying_row: float = 1.1
    panel: float = 0.4
    # Copies of a step: of four pieces of 4 elements; of a piece of 8, one of two and one of many.
    fours: float = 5.0
    eight: float = 1.5
    eights: float = 2.5
    # Six rows of packed panels, and what a tile of these costs besides; an element that is packed.
    packed_rows: float = 6.1
    packed_tile: float = 2.0
    packed: float = 1.5
    # One that lies apart from its neighbours, and what a row that is packed takes besides.
    apart: float = 9.0
    packed_row: float = 10.0
    # A tile along whole planes, whose results are told apart from what lies between them, where one
    # along a row is 1.
    whole_planes: float = 1.02


@dataclass(frozen=True)
class Transforms:
    """Of Fourier, in vectors that a pass reads and writes: python benchmarks/bench.py --only
    spectral."""

    # Bytes of a unit's working memory that the two nearest caches hold, and how much longer a pass
    # takes beyond each.
    near: int = 48 << 10
    far: int = 3 << 19
    beyond_near: float = 1.6
    beyond_far: float = 4.0
    # A pass of a radix r without a butterfly of its own is so many times r as long as others.
    plain_radix: float = 1 / 4
    # A group besides its passes, a number that is picked by itself, how much longer all of them so
    # take, a whole launch more.
    group: int = 10
    picked: int = 4
    all_picked: int = 3
    launch: int = 20000


@dataclass(frozen=True)
class Costs:
    """The tables of a family."""

    convolutions: Convolutions = Convolutions()
    transforms: Transforms = Transforms()


PROCESSOR = Costs()


def additions(texts: Iterable[str]) -> int:
    """About how many additions of elements in memory take as long as these expressions do."""
    return 1 + STEEP_ADDITIONS * sum(len(STEEP.findall(text)) for text in texts)
