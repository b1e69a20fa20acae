"""The performance model: what one launch takes on a board, and what bounds it.

Estimates, computed from the loops' trip counts and published figures; nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..boards import Board
from ..kernels.board_skeleton import board_skeleton_of
from ..kernels.channels import channels, near, spreads
from ..kernels.operators import DEPTH, DIVIDE
from ..kernels.work import Access, KernelLaunch, Loop
from .bandwidth import DEFAULT, Parameters, bank_rate, cycles_of, port_share, transfer

# What can bound a launch, in the words of the report.
BOUNDS = {
    "port": "the ports' width and bursts",
    "bank": "a memory bank's bandwidth",
    "loop": "the loops' own cycles: a sum waits for the one before, or all operators are at work",
    "fill": "filling pipelines: short rows, few elements",
    "launch": "the cost of a launch",
    "link": "transfers between host and board",
}


@dataclass(frozen=True)
class Setup:
    """A board and how the kernels are placed on it.

    `clock` is MHz; `banks` is as `Group.banks`, with "*" for each pointer its own bank.
    """

    board: Board
    clock: float
    banks: str = "*"
    parameters: Parameters = field(default=DEFAULT)


@dataclass(frozen=True)
class Estimate:
    """One launch: cycles by cause, bytes, and seconds of the kernel and of crossing the link.

    The kernel takes `fill` and the largest of the other cycles, since loop, ports and banks work
    at the same time.
    """

    launch: KernelLaunch
    loops: tuple[Loop, ...]  # of the compute unit that takes longest
    fill: float
    loop: float
    port: float
    bank: float
    moved: int  # bytes between kernel and memory
    to_board: tuple[int, ...]  # bytes of each transfer, were nothing resident
    to_host: tuple[int, ...]
    kernel: float  # seconds
    crossing: float  # seconds

    @property
    def cycles(self) -> float:
        """The kernel's cycles."""
        return self.fill + max(self.loop, self.port, self.bank)

    @property
    def bound(self) -> str:
        """What the kernel waits for most; a tie goes to the memory, then to the port."""
        causes = {"bank": self.bank, "port": self.port, "loop": self.loop, "fill": self.fill}
        return max(causes, key=lambda name: causes[name])

    def slowest(self, launch: float, resident: bool) -> str:
        """The largest part of the whole: the kernel's bound, the launch, or the link (seconds)."""
        parts = {self.bound: self.kernel, "launch": launch}
        if not resident:
            parts["link"] = self.crossing
        return max(parts, key=lambda name: parts[name])


def loops(launch: KernelLaunch, unit: int, widened: bool = False) -> tuple[Loop, ...]:
    """The pipelined loops of one compute unit in a launch; those that never run are left out.

    `widened` as in `Parameters`.
    """
    nest = board_skeleton_of(launch.key).loops(launch, unit, widened)
    return tuple(loop for loop in nest if loop.trips)


def by_stage(loops: Iterable[Loop]) -> list[list[Loop]]:
    """The loops of each stage."""
    stages: dict[str, list[Loop]] = {}
    for loop in loops:
        stages.setdefault(loop.stage, []).append(loop)
    return list(stages.values())


def estimate(launch: KernelLaunch, setup: Setup) -> Estimate:
    """The model's view of one launch."""
    clock = setup.clock
    widened = setup.parameters.widened
    moves = board_skeleton_of(launch.key).traffic(launch, widened)
    units = [loops(launch, unit, widened) for unit in range(launch.units)]
    paces = [_pace(nest, setup) for nest in units]
    steady = [pace for pace, _ in paces]
    fills = [fill + _beginning(launch, nest, setup) for (_, fill), nest in zip(paces, units)]
    worst = max(range(launch.units), key=lambda u: fills[u] + steady[u])
    port = max((_port_cycles(a, launch, setup) for a in moves), default=0.0)
    bank = _bank_seconds(launch, moves, setup) * clock * 1e6
    cycles = fills[worst] + max(steady[worst], port, bank)
    to_board = tuple(a.crossing for a in moves if not a.write and a.crossing)
    to_host = tuple(a.crossing for a in moves if a.write and a.crossing)
    link = setup.board.link
    crossing = sum(transfer(link, n, True) for n in to_board)
    crossing += sum(transfer(link, n, False) for n in to_host)
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
        crossing,
    )


def _pace(loops: Sequence[Loop], setup: Setup) -> tuple[float, float]:
    """Cycles of the slowest stage's iterations, and those in which pipelines fill."""
    latency = cycles_of(setup.parameters.latency, setup.clock)

    def fill(stage: list[Loop]) -> float:
        return sum(x.entries * (latency * x.reads + DEPTH * x.computes) for x in stage)

    def steady(stage: list[Loop]) -> float:
        return sum(x.cycles for x in stage)

    stages = by_stage(loops)
    slowest = max(stages, key=lambda stage: fill(stage) + steady(stage), default=[])
    # The others fill as it does, but for the first time, when each waits for the one before.
    before = latency * (any(x.reads for x in loops) and not any(x.reads for x in slowest))
    before += DEPTH * (any(x.computes for x in loops) and not any(x.computes for x in slowest))
    return steady(slowest), fill(slowest) + before


def _beginning(launch: KernelLaunch, loops: Sequence[Loop], setup: Setup) -> float:
    """Cycles in which indices are divided, the geometry is read and the last write is answered."""
    latency = cycles_of(setup.parameters.latency, setup.clock)
    cycles = 0.0
    if launch.geometry:
        cycles += latency + len(launch.geometry)
    # Where a unit's work begins takes divisions, one dim after another.
    cycles += board_skeleton_of(launch.key).divisions(launch, loops) * DIVIDE
    return cycles + latency  # the last writes are answered


def _port_cycles(a: Access, launch: KernelLaunch, setup: Setup) -> float:
    """Cycles that an operand needs on its port, in each compute unit."""
    p = setup.parameters
    width = a.nbytes / max(a.beats, 1)
    most, under_way = p.burst_beats, p.outstanding
    if a.short:
        most, under_way = p.short_beats, p.short_outstanding
        most = min(most, int(p.outstanding_bytes / max(under_way * width, 1)))
    longest = max(1, min(most, int(p.burst_bytes / max(width, 1))))
    burst = min(a.burst or longest, longest)
    bursts = min(under_way, int(p.outstanding_bytes / max(longest * width, 1)))
    share = port_share(burst, bursts, setup.clock, a.write, p)
    # A beat wider than the way to the memory takes several cycles there.
    narrow = max(1.0, 8 * width / setup.board.port.value)
    return a.beats / launch.units / share * narrow


def _bank_seconds(launch: KernelLaunch, moves: Sequence[Access], setup: Setup) -> float:
    """Seconds of the busiest bank. A buffer lies in one bank, and all compute units share it; on a
    range of HBM's channels as the runtime places it: each operand in another channel, and those
    of a large map in slabs, next to the units."""
    board, memory = setup.board, setup.banks
    busy: dict[int, float] = {}
    count = int(board.banks.value)
    apart = channels(memory)
    key = launch.key
    kinds = "".join(p.kind for p in key.outs + key.ins) if key.skeleton == "map" else ""
    slabs = bool(apart) and spreads(key.skeleton, kinds, launch.n, key.lanes, launch.units)
    for k, a in enumerate(moves):
        least = a.beats * board.access.value if a.burst == 1 else 0
        wanted = max(a.nbytes, least)
        if slabs:
            for unit in range(launch.units):
                ways = near(unit, len(apart))
                bank = ways[k % len(ways)]
                busy[bank] = busy.get(bank, 0.0) + wanted / launch.units
            continue
        if apart:
            bank = k % len(apart)
        elif memory.endswith("*]") or memory == "*":
            bank = k % count
        else:
            bank = 0
        busy[bank] = busy.get(bank, 0.0) + wanted
    return max(busy.values(), default=0.0) / (bank_rate(board, setup.parameters) * 1e9)
