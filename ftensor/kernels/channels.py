"""Where a large tensor lies on a board with HBM: in slabs, one for each compute unit, in the
channels that are next to it. The runtime places by these rules, the build joins ports by them, and
the performance model charges by them.

The switch in front of HBM joins four channels and the ports that enter there without a detour, so
a compute unit keeps to the four that its number says: its ports enter there, and so do its slabs
lie. Operands of one launch lie in different ones of the four.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .key import SINGLE

SWITCH = 4  # channels that a part of HBM's switch joins
LEAST_BEATS = 1024  # of a slab: below, a launch costs more than its memory
_RANGE = re.compile(r"HBM\[(\d+):(\d+)\]")
_ONE = re.compile(r"HBM\[(\d+)\]")


def channels(memory: str) -> tuple[int, ...]:
    """The channels of a memory that is made of many: a range by its name, or the names of all, with
    blanks between. None for other memories."""
    ranged = _RANGE.fullmatch(memory)
    if ranged:
        return tuple(range(int(ranged[1]), int(ranged[2]) + 1))
    each = [_ONE.fullmatch(name) for name in memory.split()]
    numbers = tuple(int(match[1]) for match in each if match)
    whole = len(numbers) == len(each) > 1
    return numbers if whole and numbers == tuple(range(numbers[0], numbers[-1] + 1)) else ()


def nearest_channels(unit: int, count: int) -> range:
    """Of `count` channels in a row those that are next to a compute unit; all where a memory has
    fewer than two parts of the switch."""
    parts = count // SWITCH
    if parts < 2:
        return range(count)
    first = unit % parts * SWITCH
    return range(first, first + SWITCH)


class SlabCut(NamedTuple):
    """How a tensor is divided: beats of so many bytes, over so many compute units."""

    beats: int
    beat: int  # bytes
    units: int

    def starts(self) -> tuple[int, ...]:
        """The byte at which each unit's slab begins, as `ft_slab` says."""
        return tuple(self.beats * k // self.units * self.beat for k in range(self.units))


def splits_into_slabs(skeleton: str, kinds: str, n: int, lanes: int, units: int) -> bool:
    """Whether a launch's operands are taken in slabs: of a map, whose units each go through one run
    of all operands."""
    if skeleton != "map" or units < 2 or SINGLE in kinds:
        return False
    return n // lanes >= LEAST_BEATS * units
