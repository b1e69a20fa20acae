"""A program's estimate, launch by launch, with copies between memory banks, and its timeline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ..boards import Board
from ..kernels.skeleton import board_skeleton_of
from ..kernels.staged import StagedKey
from ..kernels.user_kernels import is_user_kernel
from ..kernels.workload import KernelLaunch
from ..toolchain.group import KernelGroup
from ..toolchain.trace import Trace
from ..toolchain.vitis import link
from .model import Estimate, Setup, estimate, launch_overhead, transfer_seconds
from .placement import PlacedImage, inventory_image, program_image


@dataclass(frozen=True)
class LaunchLine:
    """Identical launches: their count, the estimate of one, and the kernels that the host starts
    for one."""

    count: int
    estimate: Estimate
    kernel_starts: int = 1

    @property
    def kernel(self) -> float:
        """Total seconds of the kernels."""
        return self.count * self.estimate.kernel

    @property
    def link_seconds(self) -> float:
        """Total seconds on the link if every launch fetched its inputs from the host and returned
        its results."""
        return self.count * self.estimate.link_seconds


@dataclass(frozen=True)
class ProgramEstimate:
    """The estimate of a program: its lines, most expensive first, and its seconds by cause.

    `copies` are the program's own copies, `geometry_seconds` those of geometry buffers, `fallback`
    those of ops that run on the host because the inventory lacks them (without the host's own
    work). `bank_copies` counts the copies between memory banks by their bytes. `fallback_by_launch`
    has the seconds of a fallback by launch, `lines_by_launch` the lines by launch of the trace.
    """

    setup: Setup
    in_flight: int
    lines: tuple[LaunchLine, ...]
    missing: Mapping[str, int]  # launches by op for which the image has no kernel
    copies: float
    geometry_seconds: float
    fallback: float
    copied_bytes: tuple[int, int]  # bytes of the program's copies, to the board and to the host
    lines_by_launch: Mapping[KernelLaunch, LaunchLine]
    fallback_by_launch: Mapping[KernelLaunch, float]
    image: PlacedImage
    bank_copies: Mapping[int, int] = field(default_factory=dict)

    @property
    def bank_copy_seconds(self) -> float:
        """Seconds of the copies between banks, each of which passes through the host."""
        link = self.setup.board.link
        return sum(
            count * (transfer_seconds(link, nbytes, False) + transfer_seconds(link, nbytes, True))
            for nbytes, count in self.bank_copies.items()
        )

    @property
    def count(self) -> int:
        """The number of launches."""
        return sum(line.count for line in self.lines)

    @property
    def launch(self) -> float:
        """Seconds of launch overhead, without kernels. If one launch starts several kernels, those
        after the first are queued."""
        board, more = self.setup.board, sum(x.count * (x.kernel_starts - 1) for x in self.lines)
        return launch_overhead(board, self.count, self.in_flight) + more * board.issue.value * 1e-6

    @property
    def kernels(self) -> float:
        """Seconds of all kernels."""
        return sum(line.kernel for line in self.lines)

    @property
    def link_seconds(self) -> float:
        """Seconds on the link if every launch fetched its inputs from the host and returned its
        results."""
        return sum(line.link_seconds for line in self.lines)

    @property
    def resident_seconds(self) -> float:
        """Total seconds if data stays on the board between launches."""
        return self.kernels + self.launch + self.geometry_seconds + self.copies + self.fallback + self.bank_copy_seconds

    @property
    def refetch_seconds(self) -> float:
        """Total seconds if every launch fetched its inputs from the host and returned its
        results."""
        return self.kernels + self.launch + self.geometry_seconds + self.link_seconds

    def bounds(self) -> dict[str, float]:
        """Returns the seconds by bound, with residency."""
        link = self.copies + self.geometry_seconds + self.fallback + self.bank_copy_seconds
        seconds = {"launch": self.launch, "link": link}
        for line in self.lines:
            seconds[line.estimate.bound] = seconds.get(line.estimate.bound, 0.0) + line.kernel
        return seconds


def report(trace: Trace, setup: Setup, in_flight: int, groups: Sequence[KernelGroup] | None) -> ProgramEstimate:
    """Applies the model to a trace. Each launch uses the kernel of `groups` that contains it;
    without `groups`, the kernel that an image for the program would have. The host computes
    launches whose kernels do not fit."""
    if groups is None:
        image = program_image(trace.launches, setup.board, setup.units)
    else:
        image = inventory_image(groups, setup.board)
    held = {m.entry: group for group in image.fitting.groups for m in group.members}
    starts = Counter(entry.partition("/")[0] for entry, group in held.items() if group.started)
    served, fallback_by_launch, missing = dict[KernelLaunch, LaunchLine](), dict[KernelLaunch, float](), Counter[str]()
    link = setup.board.link
    for launch, count in trace.launches.items():
        placed, where = launch, setup
        if not is_user_kernel(launch.key):
            group = image.kernel_of(launch)
            if group is None:
                missing[board_skeleton_of(launch.key).title(launch.key)] += count
                there = estimate(launch, setup)
                fallback_by_launch[launch] = sum(transfer_seconds(link, n, False) for n in there.to_board)
                fallback_by_launch[launch] += sum(transfer_seconds(link, n, True) for n in there.to_host)
                continue
            placed = image.on_kernel(launch, group)
            divided = isinstance(placed.key, StagedKey) and placed.units > 1 and setup.banks == "*"
            if image.from_inventory or divided:
                where = replace(setup, banks=group.banks or setup.board.one_memory or setup.banks)
        served[launch] = LaunchLine(count, estimate(placed, where), starts.get(launch.key.entry, 1))
    lines = sorted(served.values(), key=lambda line: -(line.kernel + line.link_seconds))
    fallback = sum(trace.launches[launch] * seconds for launch, seconds in fallback_by_launch.items())
    up = sum(count * transfer_seconds(link, n, True) for n, count in trace.uploads.items())
    down = sum(count * transfer_seconds(link, n, False) for n, count in trace.downloads.items())
    settings = sum(count * transfer_seconds(link, n, True) for n, count in trace.settings.items())
    copied = tuple(sum(n * c for n, c in x.items()) for x in (trace.uploads, trace.downloads))
    totals = up + down, settings, fallback, (copied[0], copied[1])
    moved = bank_copies(trace, groups, setup.board) if groups is not None else Counter[int]()
    return ProgramEstimate(setup, in_flight, tuple(lines), missing, *totals, served, fallback_by_launch, image, moved)


COPIES, OTHERS = "copies", "others"


class Span(NamedTuple):
    """An interval of the timeline, in seconds: the title of its row, and its bound."""

    row: str
    begin: float
    end: float
    bound: str


def spans(r: ProgramEstimate, order: Sequence[KernelLaunch | int]) -> Iterator[Span]:
    """Yields the timeline of a trace's `order`, with data that stays on the board. Each launch
    begins with its overhead."""
    each = r.launch / r.count if r.count else 0.0
    titles: dict[KernelLaunch, str] = {}
    parts: tuple[tuple[str, float], ...]
    now = 0.0
    for event in order:
        if isinstance(event, int):
            row, parts = COPIES, (("link", transfer_seconds(r.setup.board.link, abs(event), event > 0)),)
        else:
            row = titles.setdefault(event, board_skeleton_of(event.key).title(event.key))
            if event in r.lines_by_launch:
                one = r.lines_by_launch[event].estimate
                parts = (("launch", each), (one.bound, one.kernel))
            else:
                parts = (("link", r.fallback_by_launch[event]),)
        for bound, seconds in parts:
            yield Span(row, now, now + seconds, bound)
            now += seconds


def bin_spans(spans: Sequence[Span], bins: int, most: int) -> dict[str, list[dict[str, float]]]:
    """Returns the seconds by bound in each of `bins` equal time intervals, for each row.

    Returns at most `most` rows, ordered by their start. The most expensive rows keep their names;
    the rest are merged.
    """
    whole: dict[str, float] = defaultdict(float)
    for span in spans:
        whole[span.row] += span.end - span.begin
    named = {row for row, _ in sorted(whole.items(), key=lambda item: -item[1])[: most - (len(whole) > most)]}
    width = max(spans[-1].end, 1e-12) / bins
    rows: dict[str, list[dict[str, float]]] = {}
    for span in spans:
        row = rows.setdefault(span.row if span.row in named else OTHERS, [defaultdict(float) for _ in range(bins)])
        first, last = int(span.begin / width), min(int(span.end / width), bins - 1)
        for k in range(first, last + 1):
            seconds = min(span.end, (k + 1) * width) - max(span.begin, k * width)
            row[k][span.bound] += max(seconds, 0.0)
    return rows


def kernel_banks(groups: Sequence[KernelGroup], board: Board) -> dict[str, str]:
    """Returns the bank of each kernel, by the entries that it holds.

    Empty if all kernels reach one memory. Omits kernels whose pointers are in several banks.
    """
    if board.banks.value == 1:
        return {}
    placed = {name: set(banks.values()) for name, banks in link.banks(groups, board).items()}
    if len({bank for banks in placed.values() for bank in banks}) == 1:
        return {}
    return {m.entry: "".join(placed[g.name]) for g in groups for m in g.members if len(placed[g.name]) == 1}


def bank_copies(trace: Trace, groups: Sequence[KernelGroup], board: Board) -> Counter[int]:
    """Returns how many buffers the runtime copies between banks, by size in bytes.

    As in the runtime, a buffer is placed in the bank of the first kernel that uses it, and moves
    when a kernel in another bank uses it.
    """
    banks = kernel_banks(groups, board)
    copies: Counter[int] = Counter()
    if not banks:
        return copies
    where: dict[int, str] = {}
    launches = (event for event in trace.order if isinstance(event, KernelLaunch))
    for launch, buffers in zip(launches, trace.buffers, strict=True):
        bank = banks.get(launch.key.entry)
        if bank is None:
            continue
        for number, nbytes in dict.fromkeys(buffers):
            if where.setdefault(number, bank) != bank:
                copies[nbytes] += 1
                where[number] = bank
    return copies
