"""Placement of large tensors on boards with HBM: one slab for each compute unit, in the nearest
channels. The runtime, the build (port connections) and the performance model share these rules.

A part of the switch in front of HBM connects four channels and their ports without a detour. A
compute unit uses the four channels that follow from its index, for its ports and for its slabs. The
operands of one launch are in different channels of the four.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .key import SINGLE
from .workload import PORT_BYTES

CHANNELS_PER_SWITCH = 4  # channels that a part of HBM's switch joins
MIN_BEATS = 1024  # least beats of a slab; in smaller slabs, launch overhead exceeds memory time
_RANGE = re.compile(r"HBM\[(\d+):(\d+)\]")
_ONE = re.compile(r"HBM\[(\d+)\]")


def channels(memory: str) -> tuple[int, ...]:
    """Returns the channels of a memory: a range name such as "HBM[0:3]", or consecutive channel
    names separated by blanks. Returns () for other memories."""
    range_match = _RANGE.fullmatch(memory)
    if range_match:
        return tuple(range(int(range_match[1]), int(range_match[2]) + 1))
    each = [_ONE.fullmatch(single_match) for single_match in memory.split()]
    numbers = tuple(int(match[1]) for match in each if match)
    has_all_numbers = len(numbers) == len(each) > 1
    return numbers if has_all_numbers and numbers == tuple(range(numbers[0], numbers[-1] + 1)) else ()


def nearest_channels(unit: int, count: int) -> range:
    """Returns the channels next to a compute unit, out of `count` consecutive channels; all
    channels if they span fewer than two parts of the switch."""
    slabs = count // CHANNELS_PER_SWITCH
    if slabs < 2:
        return range(count)
    first = unit % slabs * CHANNELS_PER_SWITCH
    return range(first, first + CHANNELS_PER_SWITCH)


def slab_channel(unit: int, turn: int, count: int) -> int:
    """Returns the channel of a compute unit's slab of the operand whose turn it is, out of `count`
    consecutive channels. Units next to the same channels use them in another order, so that their
    slabs of one operand are in different channels."""
    ways, slabs = nearest_channels(unit, count), count // CHANNELS_PER_SWITCH
    round_ = unit // slabs if slabs > 1 else 0
    return ways[(turn + len(ways) // 2 * round_) % len(ways)]


class SlabCut(NamedTuple):
    """Division of a tensor of `beats` beats of `beat` bytes over `units` compute units."""

    beats: int
    beat: int  # bytes
    units: int

    def starts(self) -> tuple[int, ...]:
        """Returns the byte offset of each compute unit's slab, as `ft_slab` computes it."""
        return tuple(self.beats * k // self.units * self.beat for k in range(self.units))


class RowSlabs(NamedTuple):
    """How a kernel over rows divides its operands into slabs, one for each compute unit.

    The number of rows in a slab is a multiple of `rows`. `nbytes` has, for each pointer, the bytes
    that `rows` rows take; 0 for an operand that all compute units share.
    """

    rows: int
    nbytes: tuple[int, ...]

    @property
    def min_rows_per_unit(self) -> int:
        """The smallest number of rows per compute unit for which a slab of its own pays."""
        return -(-MIN_BEATS * PORT_BYTES // max(*self.nbytes, 1)) * self.rows


def splits_into_slabs(skeleton: str, kinds: str, n: int, lanes: int, units: int) -> bool:
    """True if a launch divides its operands into slabs: only maps with several compute units, each
    of which accesses one contiguous run of every operand."""
    if skeleton != "map" or units < 2 or SINGLE in kinds:
        return False
    return n // lanes >= MIN_BEATS * units
