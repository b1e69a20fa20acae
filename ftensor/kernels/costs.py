"""Cost tables of device families, by which launches choose between kernels.

A figure holds for all devices of the family. Each table names the command that measures its
figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Calls of expensive functions in expressions, and the cost of one call in additions of elements in
# memory: python benchmarks/bench.py --only medium.
STEEP = re.compile(r"\b(?:ft[xkgor]_\w+|\w*(?:exp|log|pow|sin|cos|tan|erf|gamma|hypot)\w*)\(")
STEEP_ADDITIONS = 2


@dataclass(frozen=True)
class Convolutions:
    """Costs of convolutions of small planes, in vector products: python benchmarks/conv.py."""

    # A row of a panel that reads the planes unpacked; the start of a panel.
    lying_row: float = 1.1
    panel: float = 0.4
    # Copies of a step: four pieces of 4 elements; a piece of 8 among at most two; a piece of 8
    # among more.
    fours: float = 5.0
    eight: float = 1.5
    eights: float = 2.5
    # Six rows of packed panels; the overhead of a tile of packed panels; packing an element.
    packed_rows: float = 6.1
    packed_tile: float = 2.0
    packed: float = 1.5
    # Packing an element that is not contiguous with its neighbours; the overhead of packing a row.
    apart: float = 9.0
    packed_row: float = 10.0
    # A tile along whole planes, which skips the elements between results; a tile along a row costs
    # 1.
    whole_planes: float = 1.02


@dataclass(frozen=True)
class Transforms:
    """Costs of Fourier transforms, in vectors that a pass reads and writes: python
    benchmarks/bench.py --only spectral."""

    # Bytes of a compute unit's working memory that fit the first and the second cache, and the
    # factor of a pass beyond each.
    near: int = 48 << 10
    far: int = 3 << 19
    beyond_near: float = 1.6
    beyond_far: float = 4.0
    # A pass of a radix r without a butterfly of its own takes `plain_radix` * r times as long.
    plain_radix: float = 1 / 4
    # Overhead of a group; a number read by itself; the factor if all numbers are; another launch.
    group: int = 10
    picked: int = 4
    all_picked: int = 3
    launch: int = 20000


@dataclass(frozen=True)
class Costs:
    """Cost tables of a device family."""

    convolutions: Convolutions = Convolutions()
    transforms: Transforms = Transforms()


PROCESSOR = Costs()


def additions(texts: Iterable[str]) -> int:
    """Returns the approximate cost of these expressions, in additions of elements in memory."""
    return 1 + STEEP_ADDITIONS * sum(len(STEEP.findall(text)) for text in texts)
