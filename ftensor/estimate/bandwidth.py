"""How fast data moves: through a port, out of a bank, over the link; and what a launch costs.

Everything here is a formula with the parameters of `Parameters`, the same for every board. No
parameter belongs to one published figure: `published.py` shows how far off each comes out.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..boards import Board, Link
from ..kernels.ports import (
    BURST_BEATS,
    BURST_BYTES,
    LATENCY,
    OUTSTANDING,
    OUTSTANDING_BYTES,
    SHORT_BEATS,
    SHORT_OUTSTANDING,
)


@dataclass(frozen=True)
class Parameters:
    """What the model assumes, in few numbers."""

    # Nanoseconds from a read request to its data. Vitis HLS itself plans with 64 cycles for an
    # m_axi port (UG1399); at the 300 MHz of its platforms that is 213 ns.
    latency: float = LATENCY / 0.3
    # Cycles in which a port that writes moves no data between two bursts. From the 256-bit rows
    # of axi_burst_performance: 4, 16 and 32 beats reach 50 %, 80 % and 89 % of the port.
    write_gap: int = 4
    # What a bank sustains of its peak, refresh and opening rows taken off. From hbm_bandwidth on a
    # U280: 421.3 GB/s through all 32 pseudo channels of 460 GB/s.
    bank_efficiency: float = 0.916
    # Bytes and beats of the longest burst, and bursts and bytes under way on one port, as the
    # kernels' ports ask for them.
    burst_bytes: int = BURST_BYTES
    burst_beats: int = BURST_BEATS
    outstanding: int = OUTSTANDING
    outstanding_bytes: int = OUTSTANDING_BYTES
    # The same of ports for single elements and short rows.
    short_beats: int = SHORT_BEATS
    short_outstanding: int = SHORT_OUTSTANDING
    # Whether neighbouring elements become one access where the port's type is no vector: of
    # products, whose addresses a compiler cannot prove to be aligned.
    widened: bool = False


DEFAULT = Parameters()


def cycles_of(nanoseconds: float, clock: float) -> float:
    """Nanoseconds as cycles of a clock in MHz."""
    return nanoseconds * clock * 1e-3


def port_share(burst: int, outstanding: int, clock: float, write: bool, p: Parameters = DEFAULT) -> float:
    """The share of its cycles in which a port moves data, between 0 and 1.

    A round trip is the latency and one burst; `outstanding` bursts fit into it. Between bursts
    that write lies a gap.
    """
    beats = burst + (p.write_gap if write else 0)
    round_trip = cycles_of(p.latency, clock) + beats
    return min(burst / beats, outstanding * burst / round_trip)


def port_rate(
    board: Board, width: int, burst: int, outstanding: int, clock: float, write: bool, p: Parameters = DEFAULT
) -> float:
    """GB/s through one port of `width` bits from one bank."""
    bits = min(width, int(board.port.value))
    through = bits / 8 * clock * 1e-3 * port_share(burst, outstanding, clock, write, p)
    return min(through, bank_rate(board, p))


def bank_rate(board: Board, p: Parameters = DEFAULT) -> float:
    """GB/s that one bank sustains."""
    return board.bank_rate.value * p.bank_efficiency


def transfer(link: Link, nbytes: int, to_board: bool) -> float:
    """Seconds of one transfer between host and board."""
    rate = (link.to_board if to_board else link.to_host).value
    return link.setup.value * 1e-6 + nbytes / (rate * 1e9)


def launches(board: Board, count: int, in_flight: int) -> float:
    """Seconds that `count` launches cost beside their kernels' own work.

    With `in_flight` of them queued before the host waits, one latency is paid for each queue full.
    """
    waits = -(-count // in_flight)
    return (waits * board.launch.value + (count - waits) * board.issue.value) * 1e-6
