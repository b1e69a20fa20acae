"""A board's ports to memory: what the kernels' pragmas ask for, and the model counts with."""

from __future__ import annotations

# The width of a port in bytes, which inventories fill unless told otherwise.
PORT_BYTES = 64
# A port has so many requests under way: enough to hide the memory's latency of some 64 cycles.
LATENCY, OUTSTANDING = 64, 16
# What may be under way is kept in block RAM, so wide ports ask for less: 512 beats of 512 bits, as
# deep as a block RAM is, for eight of them.
OUTSTANDING_BYTES = 32768
# AXI's limits for one burst.
BURST_BYTES, BURST_BEATS = 4096, 256
# Where elements or beats come one by one, from addresses that no compiler foresees, nothing bursts:
# as many requests as the latency has cycles, of short bursts, for no more memory.
SHORT_BEATS, SHORT_OUTSTANDING = 16, 64


def requests(width: int, short: bool) -> tuple[int, int]:
    """(beats of the longest burst, bursts under way) on a port of `width` bytes."""
    if short:
        beats = OUTSTANDING_BYTES // (SHORT_OUTSTANDING * width)
        return min(SHORT_BEATS, beats), SHORT_OUTSTANDING
    beats = min(BURST_BYTES // width, BURST_BEATS)
    return beats, min(OUTSTANDING, OUTSTANDING_BYTES // (beats * width))


def block_beats(widest: int, lanes: int) -> int:
    """Beats of a block in local memory, where the widest element of a port has so many bytes.

    A block holds what one burst may carry: AXI's bursts end at every 4 KiB.
    """
    return BURST_BYTES // (widest * lanes)
