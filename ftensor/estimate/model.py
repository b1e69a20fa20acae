"""The performance model: the time of one launch on a board, and its bound."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..boards import Board, Link
from ..kernels.channels import channels, slab_channel, splits_into_slabs
from ..kernels.skeleton import board_skeleton_of
from ..kernels.workload import (
    BURST_BEATS,
    BURST_BYTES,
    DIVISION_CYCLES,
    MEMORY_LATENCY,
    OUTSTANDING,
    OUTSTANDING_BYTES,
    PIPELINE_DEPTH,
    SHORT_BEATS,
    SHORT_OUTSTANDING,
    Access,
    KernelLaunch,
    PipelinedLoop,
)
from ..toolchain import counting


@dataclass(frozen=True)
class Parameters:
    """The model's assumptions."""

    # Nanoseconds from a read request to its data. Vitis HLS assumes 64 cycles for an m_axi port
    # (UG1399); at the 300 MHz of its platforms that is 213 ns.
    latency: float = MEMORY_LATENCY / 0.3
    # Cycles without data between two write bursts of a port. From the 256-bit rows of
    # axi_burst_performance: 4, 16 and 32 beats reach 50 %, 80 % and 89 % of the port.
    write_gap: int = 4
    # The sustained share of a bank's peak, after refresh and row activation. From hbm_bandwidth on
    # a U280: 421.3 GB/s through all 32 pseudo channels of 460 GB/s.
    bank_efficiency: float = 0.916
    # Bytes and beats of the longest burst, and outstanding bursts and bytes on one port, as set by
    # the kernels' ports.
    burst_bytes: int = BURST_BYTES
    burst_beats: int = BURST_BEATS
    outstanding: int = OUTSTANDING
    outstanding_bytes: int = OUTSTANDING_BYTES
    # The same for ports of single elements and short rows.
    short_beats: int = SHORT_BEATS
    short_outstanding: int = SHORT_OUTSTANDING
    # True if the compiler merges neighbouring elements into one access although the port's type is
    # no vector. Applies to products, whose addresses a compiler cannot prove to be aligned.
    widened: bool = False


DEFAULT = Parameters()


def cycles_of(nanoseconds: float, clock: float) -> float:
    """Converts nanoseconds to cycles of a clock in MHz."""
    return nanoseconds * clock * 1e-3


def port_share(burst: int, outstanding: int, clock: float, write: bool, p: Parameters = DEFAULT) -> float:
    """Returns the share of cycles in which a port moves data, between 0 and 1.

    A round trip is the latency and one burst; `outstanding` bursts fit into it. Write bursts have a
    gap between them.
    """
    beats = burst + (p.write_gap if write else 0)
    round_trip = cycles_of(p.latency, clock) + beats
    return min(burst / beats, outstanding * burst / round_trip)


def port_rate(
    board: Board, width: int, burst: int, outstanding: int, clock: float, write: bool, p: Parameters = DEFAULT
) -> float:
    """Returns GB/s through one port of `width` bits from one bank."""
    bits = min(width, int(board.port.value))
    through = bits / 8 * clock * 1e-3 * port_share(burst, outstanding, clock, write, p)
    return min(through, bank_rate(board, p))


def bank_rate(board: Board, p: Parameters = DEFAULT) -> float:
    """Returns the GB/s that one bank sustains."""
    return board.bank_rate.value * p.bank_efficiency


def transfer_seconds(link: Link, nbytes: int, to_board: bool, waits: bool = False) -> float:
    """Returns the seconds of one transfer between host and board. With `waits`, the host does
    nothing else until it ends; otherwise transfers are queued one after another."""
    rate = (link.to_board if to_board else link.to_host).value
    return (link.setup.value + waits * link.wait.value) * 1e-6 + nbytes / (rate * 1e9)


# The clock that published designs reach by themselves falls with the board's share that they take.
def clock_by_area(clock: float, share: float) -> float:
    """Returns the clock in MHz that a design without a floorplan reaches if the platform allows
    `clock` and the design takes `share` of its most used resource: a straight line through Vitis
    BLAS's product (15 %, 242 MHz) and AutoSA's int8 array (50 %, 136 MHz)."""
    return clock * (1 - min(share, 1.0))


def launch_overhead(board: Board, count: int, in_flight: int, replayed: bool = False) -> float:
    """Returns the seconds of overhead of `count` launches, without their kernels.

    If the host waits after every `in_flight` queued launches, each such batch costs one latency.
    Launches that are `replayed` from a capture set no arguments.
    """
    waits = -(-count // in_flight)
    saved = count * board.arguments.value if replayed else 0.0
    return (waits * board.launch.value + (count - waits) * board.issue.value - saved) * 1e-6


# The possible bounds of a launch, as worded in the report.
BOUNDS = {
    "port": "the ports' width and bursts",
    "bank": "a memory bank's bandwidth",
    "loop": "the loops' own cycles: a sum waits for the one before, or all operators are at work",
    "fill": "filling pipelines: short rows, few elements",
    "launch": "the cost of a launch",
    "link": "transfers between host and board",
}


@dataclass(frozen=True)
class BoardConfig:
    """A board, and how kernels are placed on it. `clock` is in MHz. `banks` is as in
    `KernelGroup.banks`; "*" gives each pointer its own bank. `units` is the number of compute units
    of every kernel; None leaves the choice to the model."""

    board: Board
    clock: float
    banks: str = "*"
    parameters: Parameters = field(default=DEFAULT)
    units: int | None = None


@dataclass(frozen=True)
class Estimate:
    """One launch: cycles by cause, bytes, and seconds of the kernel and on the link.

    The kernel takes `fill` plus the largest of the other cycles, since loop, ports and banks work
    concurrently.
    """

    launch: KernelLaunch
    loops: tuple[PipelinedLoop, ...]  # loops of the slowest compute unit
    fill: float
    loop: float
    port: float
    bank: float
    moved_bytes: int  # bytes between kernel and memory
    to_board: tuple[int, ...]  # bytes of each transfer if no data were resident
    to_host: tuple[int, ...]
    kernel: float  # seconds
    link_seconds: float

    @property
    def cycles(self) -> float:
        """The kernel's cycles."""
        return self.fill + max(self.loop, self.port, self.bank)

    @property
    def bound(self) -> str:
        """The kernel's bound; a tie goes to the bank, then to the port."""
        causes = {"bank": self.bank, "port": self.port, "loop": self.loop, "fill": self.fill}
        return max(causes, key=lambda name: causes[name])

    def largest_part(self, launch: float, resident: bool) -> str:
        """Returns the largest part of the time: the kernel's bound, "launch" (its overhead takes
        `launch` seconds), or "link". With `resident`, data stays on the board, and the link does
        not count."""
        parts = {self.bound: self.kernel, "launch": launch}
        if not resident:
            parts["link"] = self.link_seconds
        return max(parts, key=lambda name: parts[name])


def loops(launch: KernelLaunch, unit: int, widened: bool = False) -> tuple[PipelinedLoop, ...]:
    """Returns the pipelined loops of one compute unit in a launch, without those that never run.

    `widened` is as in `Parameters`.
    """
    return tuple(loop for loop in counting.loops(launch, unit, widened) if loop.trips)


def loops_by_stage(loops: Iterable[PipelinedLoop]) -> list[list[PipelinedLoop]]:
    """Groups the loops by stage."""
    stages: dict[str, list[PipelinedLoop]] = {}
    for loop in loops:
        stages.setdefault(loop.stage, []).append(loop)
    return list(stages.values())


def estimate(launch: KernelLaunch, config: BoardConfig) -> Estimate:
    """Applies the model to one launch."""
    clock = config.clock
    widened = config.parameters.widened
    moves = counting.traffic(launch, widened)
    units = [loops(launch, unit, widened) for unit in range(launch.units)]
    stage_cycles = [_stage_cycles(nest, config) for nest in units]
    steady = [steady for steady, _ in stage_cycles]
    fills = [fill + _start_cycles(launch, nest, config) for (_, fill), nest in zip(stage_cycles, units)]
    worst = max(range(launch.units), key=lambda u: fills[u] + steady[u])
    port = max((_port_cycles(a, launch, config) for a in moves), default=0.0)
    bank = _bank_seconds(launch, moves, config) * clock * 1e6
    cycles = fills[worst] + max(steady[worst], port, bank)
    to_board = tuple(a.crossing for a in moves if not a.write and a.crossing)
    to_host = tuple(a.crossing for a in moves if a.write and a.crossing)
    link = config.board.link
    link_seconds = sum(transfer_seconds(link, n, True) for n in to_board)
    link_seconds += sum(transfer_seconds(link, n, False) for n in to_host)
    return Estimate(
        launch,
        units[worst],
        fills[worst],
        steady[worst],
        port,
        bank,
        sum(a.nbytes for a in moves),
        to_board,
        to_host,
        cycles / (clock * 1e6),
        link_seconds,
    )


def _stage_cycles(loops: Sequence[PipelinedLoop], config: BoardConfig) -> tuple[float, float]:
    """Returns the cycles of the slowest stage's iterations, and the cycles for filling
    pipelines."""
    latency = cycles_of(config.parameters.latency, config.clock)

    def fill(stage: list[PipelinedLoop]) -> float:
        return sum(x.entries * (latency * x.reads + PIPELINE_DEPTH * x.computes) for x in stage)

    def steady(stage: list[PipelinedLoop]) -> float:
        return sum(x.cycles for x in stage)

    stages = loops_by_stage(loops)
    slowest = max(stages, key=lambda stage: fill(stage) + steady(stage), default=[])
    # The other stages fill at the same time, except at first, when each waits for the previous one.
    before = latency * (any(x.reads for x in loops) and not any(x.reads for x in slowest))
    before += PIPELINE_DEPTH * (any(x.computes for x in loops) and not any(x.computes for x in slowest))
    return steady(slowest), fill(slowest) + before


def _start_cycles(launch: KernelLaunch, loops: Sequence[PipelinedLoop], config: BoardConfig) -> float:
    """Returns the cycles before and after a kernel's loops: index divisions, the read of the
    geometry buffer, and the last write response."""
    latency = cycles_of(config.parameters.latency, config.clock)
    cycles = 0.0
    if launch.geometry:
        cycles += latency + len(launch.geometry)
    # The start of a unit's work takes divisions, one dim after another.
    cycles += board_skeleton_of(launch.key).divisions(launch, loops) * DIVISION_CYCLES
    return cycles + latency  # the response to the last writes


def _port_cycles(a: Access, launch: KernelLaunch, config: BoardConfig) -> float:
    """Returns the cycles that an operand needs on its port, in each compute unit."""
    p = config.parameters
    width = a.nbytes / max(a.beats, 1)
    most, under_way = p.burst_beats, p.outstanding
    if a.short:
        most, under_way = p.short_beats, p.short_outstanding
        most = min(most, int(p.outstanding_bytes / max(under_way * width, 1)))
    longest = max(1, min(most, int(p.burst_bytes / max(width, 1))))
    burst = min(a.burst or longest, longest)
    bursts = min(under_way, int(p.outstanding_bytes / max(longest * width, 1)))
    share = port_share(burst, bursts, config.clock, a.write, p)
    # A beat wider than the memory port takes several cycles there.
    narrow = max(1.0, 8 * width / config.board.port.value)
    return a.beats / launch.units / share * narrow


def _slabs(launch: KernelLaunch) -> tuple[bool, ...]:
    """Returns, for each operand, True if the runtime places it in slabs on memories with
    channels."""
    key, units = launch.key, launch.units
    by_rows = board_skeleton_of(key).row_slabs(key)
    if by_rows is not None:
        divided = units > 1 and launch.n >= by_rows.min_rows_per_unit * units
        return tuple(divided and n > 0 for n in by_rows.nbytes)
    kinds = "".join(p.kind for p in key.outs + key.ins) if key.skeleton == "map" else ""
    divided = splits_into_slabs(key.skeleton, kinds, launch.n, key.lanes, units)
    return (divided,) * len(kinds)


def _bank_seconds(launch: KernelLaunch, moves: Sequence[Access], config: BoardConfig) -> float:
    """Returns the seconds of the busiest bank.

    A buffer is in one bank, which all compute units share. On a range of HBM channels, buffers are
    placed as by the runtime: each operand in another channel, and operands of a large map in slabs
    next to the units.
    """
    board, memory = config.board, config.banks
    busy: dict[int, float] = {}
    count = int(board.banks.value)
    apart = channels(memory)
    slabs = _slabs(launch) if apart else ()
    for k, a in enumerate(moves):
        least = a.beats * board.access.value if a.burst == 1 else 0
        wanted = max(a.nbytes, least)
        if slabs and slabs[k]:
            for unit in range(launch.units):
                bank = slab_channel(unit, k, len(apart))
                busy[bank] = busy.get(bank, 0.0) + wanted / launch.units
            continue
        if apart:
            bank = k % len(apart)
        elif memory.endswith("*]") or memory == "*":
            bank = k % count
        else:
            bank = 0
        busy[bank] = busy.get(bank, 0.0) + wanted
    return max(busy.values(), default=0.0) / (bank_rate(board, config.parameters) * 1e9)
