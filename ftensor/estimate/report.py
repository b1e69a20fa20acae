"""A program's estimate, launch by launch, with copies between memory banks, and its timeline; and the
image for which launches are estimated."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from ..boards import Board, Link
from ..errors.graph import GraphError
from ..kernels.key import Key
from ..kernels.network import NetworkKey
from ..kernels.network_processes import interval
from ..kernels.select import compute_units
from ..kernels.skeleton import board_skeleton_of
from ..kernels.staged import StagedKey
from ..kernels.user_kernels import is_user_kernel
from ..kernels.workload import KernelLaunch
from ..runtime.opencl.backend import SMALL_UPLOAD
from ..runtime.targets import CSIM
from ..toolchain.area.fit import Fit, area, board_shares, fit, fitting_subset, shares_text
from ..toolchain.folding import fold_network
from ..toolchain.group import KernelGroup, free_name
from ..toolchain.inventory.read import parts
from ..toolchain.row_parallel import choose_row_builds, seconds
from ..toolchain.trace import Trace
from ..toolchain.vitis import link
from .model import BoardConfig, Estimate, estimate, launch_overhead, transfer_seconds

MAX_DOUBLINGS = 8  # how often a network's cycles are doubled, to leave room for other kernels


@dataclass(frozen=True)
class PlacedImage:
    """The kernels of an image, and the kernels for which a board has no room.

    `requested` is the area of all kernels, `fitting` the area of those that fit. `from_inventory`
    is True for the kernels of an inventory, which are complete; otherwise an op without a kernel
    gets one.
    """

    requested: Fit
    fitting: Fit
    from_inventory: bool

    @property
    def left_out(self) -> tuple[KernelGroup, ...]:
        """The kernels that do not fit."""
        return tuple(g for g in self.requested.groups if g not in self.fitting.groups)

    def kernel_of(self, launch: KernelLaunch) -> KernelGroup | None:
        """Returns the kernel that serves a launch; None if the image has none."""
        return self._kernels_by_name.get(launch.key.entry) or self._kernels_by_name.get(_name_of(launch.key))

    @cached_property
    def _kernels_by_name(self) -> Mapping[str, KernelGroup]:
        holders = {m.entry: group for group in self.fitting.groups for m in group.members}
        if not self.from_inventory:  # a graph may have fewer lanes than its launches request
            holders |= {group.name: group for group in self.fitting.groups if group.members[0].skeleton == "staged"}
        return holders

    def on_kernel(self, launch: KernelLaunch, group: KernelGroup) -> KernelLaunch:
        """Returns the launch as the image's kernel runs it: with the kernel's lanes or folds, and
        its compute units."""
        key = launch.key
        if isinstance(key, (StagedKey, NetworkKey)):
            (key,) = [m for m in group.members if not self.from_inventory or m.entry == key.entry]
        if self.from_inventory:
            return launch._replace(key=key, units=min(launch.units, group.units), structure=group.moves)
        if isinstance(key, StagedKey):
            units = min(group.units, max(launch.n // key.together, 1))
            return launch._replace(key=key, units=compute_units(launch.n * key.length, units, CSIM, key.lanes))
        return launch._replace(key=key)

    def shares(self, group: KernelGroup) -> str:
        """Returns the shares of one kernel as text."""
        return shares_text(board_shares(area(group).whole, self.fitting.board))


def inventory_image(groups: Sequence[KernelGroup], board: Board) -> PlacedImage:
    """Returns the image of an inventory's kernels."""
    return _place(groups, board, True)


def program_image(launches: Mapping[KernelLaunch, int], board: Board, units: int | None = None) -> PlacedImage:
    """Returns an image for a program: a kernel for each kind of launch, graphs with the fastest
    lanes and units, networks with the best folds that fit beside them. Graphs that `export` refuses
    for the board do not fit.

    All kernels except networks have `units` compute units, if given; otherwise kernels of ops have
    the largest number of their launches.
    """
    launches = {launch: count for launch, count in launches.items() if not is_user_kernel(launch.key)}
    most = max([units or 1, *(launch.units for launch in launches)])
    work = Counter[Key]()  # rows or images
    for launch, count in launches.items():
        work[launch.key] += launch.n * count
    graphs = {_name_of(key): key for key in work if isinstance(key, StagedKey)}
    networks = [key for key in work if isinstance(key, NetworkKey)]
    ops: list[Key] = [key for key in work if not isinstance(key, (StagedKey, NetworkKey))]
    groups: list[KernelGroup] = []
    for name, members in parts(ops, "shared"):
        name = free_name(f"ft_{name}", [g.name for g in groups])
        structure = board_skeleton_of(members[0]).structure(members[0].lanes, "dataflow")
        groups.append(KernelGroup(name, members, structure, units=most))
    alone = {name: choose_row_builds({name: key}, board, units=units) for name, key in graphs.items()}
    large = [build.groups[0] for build in alone.values() if not build.fits]
    small = {name: graphs[name] for name, build in alone.items() if build.fits}
    groups += _fold_networks(groups, networks, small, board, work, units)
    return _place(groups, board, False, large)


def _name_of(key: Key) -> str:
    """Returns the name of a graph's or network's kernel, "" for other kernels: it does not depend
    on the lanes or folds."""
    if isinstance(key, (StagedKey, NetworkKey)):
        return f"{key.name[:12]}_{key.entry[-8:]}"
    return ""


def _fold_networks(
    groups: Sequence[KernelGroup],
    networks: Sequence[NetworkKey],
    graphs: Mapping[str, StagedKey],
    board: Board,
    work: Mapping[Key, int],
    units: int | None,
) -> list[KernelGroup]:
    """Returns kernels of networks and graphs that take the least time for their `work` beside
    `groups`.

    Networks get the fastest folds, or folds of twice the cycles, and so on; graphs get the rest of
    the board. If the board cannot hold all kernels, as many as possible fit.
    """
    weights = [float(max(work[key], 1)) for key in graphs.values()]
    folded = [_with_folds(key, board, None) for key in networks]
    best: list[KernelGroup] = []
    least: tuple[bool, int, float] | None = None  # (over the share, left out, s)
    for _ in range(MAX_DOUBLINGS + 1):
        cycles = sum(interval(key) * work[network] for key, network in zip(folded, networks, strict=True))
        time = cycles / (board.clock.value * 1e6)
        if least is not None and not any(least[:2]) and time >= least[2]:
            break
        kernels = [KernelGroup(_name_of(key), (key,)) for key in folded]
        build = choose_row_builds(graphs, board, [*groups, *kernels], weights, units)
        time += sum(seconds(group, board) * weight for group, weight in zip(build.groups, weights, strict=True))
        kernels += build.groups
        image = [*groups, *kernels]
        left_out = 0 if fit(image, board).fits else len(image) - len(fitting_subset(image, board).groups)
        rank = not build.fits, left_out, time
        if least is None or rank < least:
            best, least = kernels, rank
        slower = [_with_folds(key, board, 2 * interval(key)) for key in folded]
        if slower == folded or not (graphs or any(least[:2])):
            break
        folded = slower
    return best


def _with_folds(key: NetworkKey, board: Board, cycles: int | None) -> NetworkKey:
    try:
        return fold_network(key, board, cycles).key
    except GraphError:
        return key


def network_fits(key: Key, board: Board) -> bool:
    """True unless the key is a network that does not fit a board with any folds; its calls then run
    layer by layer."""
    if not isinstance(key, NetworkKey):
        return True
    try:
        return fold_network(key, board).fits
    except GraphError:
        return False


def _place(
    groups: Sequence[KernelGroup], board: Board, from_inventory: bool, large: Sequence[KernelGroup] = ()
) -> PlacedImage:
    """Returns the image of some kernels, without those in `large`."""
    fitting = fit(groups, board)
    fitting = fitting if fitting.fits else fitting_subset(groups, board)
    return PlacedImage(fit([*groups, *large], board), fitting, from_inventory)


@dataclass(frozen=True)
class LaunchLine:
    """Identical launches: their count, the estimate of one, and the kernels that the host starts
    for one."""

    count: int
    estimate: Estimate
    config: BoardConfig
    kernel_starts: int = 1

    @property
    def kernel(self) -> float:
        """Total seconds of the kernels."""
        return self.count * self.estimate.kernel

    def kernel_at(self, clock: float) -> float:
        """Returns the total seconds of the kernels at another clock, in MHz."""
        return self.count * estimate(self.estimate.launch, replace(self.config, clock=clock)).kernel

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

    config: BoardConfig
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
        link = self.config.board.link
        return sum(
            count * (copy_seconds(link, nbytes, False) + copy_seconds(link, nbytes, True))
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
        return self._launches(replayed=False)

    @property
    def replayed_launch(self) -> float:
        """`launch`, if the program replays its launches from a capture."""
        return self._launches(replayed=True)

    def _launches(self, replayed: bool) -> float:
        board, more = self.config.board, sum(x.count * (x.kernel_starts - 1) for x in self.lines)
        each = board.issue.value - (board.arguments.value if replayed else 0.0)
        return launch_overhead(board, self.count, self.in_flight, replayed) + more * each * 1e-6

    @property
    def kernels(self) -> float:
        """Seconds of all kernels."""
        return sum(line.kernel for line in self.lines)

    def resident_at(self, clock: float) -> float:
        """Returns the total seconds with residency if the kernels run at another clock, in MHz."""
        return self.resident_seconds - self.kernels + sum(line.kernel_at(clock) for line in self.lines)

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


def report(trace: Trace, config: BoardConfig, in_flight: int, groups: Sequence[KernelGroup] | None) -> ProgramEstimate:
    """Applies the model to a trace. Each launch uses the kernel of `groups` that contains it;
    without `groups`, the kernel that an image for the program would have. The host computes
    launches whose kernels do not fit."""
    if groups is None:
        image = program_image(trace.launches, config.board, config.units)
    else:
        image = inventory_image(groups, config.board)
    held = {m.entry: group for group in image.fitting.groups for m in group.members}
    starts = Counter(entry.partition("/")[0] for entry, group in held.items() if group.started)
    served, fallback_by_launch, missing = dict[KernelLaunch, LaunchLine](), dict[KernelLaunch, float](), Counter[str]()
    link = config.board.link
    for launch, count in trace.launches.items():
        placed, where = launch, config
        if not is_user_kernel(launch.key):
            group = image.kernel_of(launch)
            if group is None:
                missing[board_skeleton_of(launch.key).title(launch.key)] += count
                there = estimate(launch, config)
                fallback_by_launch[launch] = sum(copy_seconds(link, n, False) for n in there.to_board)
                fallback_by_launch[launch] += sum(copy_seconds(link, n, True) for n in there.to_host)
                continue
            placed = image.on_kernel(launch, group)
            divided = isinstance(placed.key, StagedKey) and placed.units > 1 and config.banks == "*"
            if image.from_inventory or divided:
                where = replace(config, banks=group.banks or config.board.one_memory or config.banks)
        served[launch] = LaunchLine(count, estimate(placed, where), where, starts.get(launch.key.entry, 1))
    lines = sorted(served.values(), key=lambda line: -(line.kernel + line.link_seconds))
    fallback = sum(trace.launches[launch] * seconds for launch, seconds in fallback_by_launch.items())
    up = sum(count * copy_seconds(link, n, True) for n, count in trace.uploads.items())
    down = sum(count * copy_seconds(link, n, False) for n, count in trace.downloads.items())
    settings = sum(count * copy_seconds(link, n, True) for n, count in trace.settings.items())
    copied = tuple(sum(n * c for n, c in x.items()) for x in (trace.uploads, trace.downloads))
    totals = up + down, settings, fallback, (copied[0], copied[1])
    moved = bank_copies(trace, groups, config.board) if groups is not None else Counter[int]()
    return ProgramEstimate(config, in_flight, tuple(lines), missing, *totals, served, fallback_by_launch, image, moved)


def copy_seconds(link: Link, nbytes: int, to_board: bool) -> float:
    """Returns the seconds of a copy by the runtime, which waits for all but small uploads."""
    return transfer_seconds(link, nbytes, to_board, not to_board or nbytes > SMALL_UPLOAD)


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
            row, parts = COPIES, (("link", copy_seconds(r.config.board.link, abs(event), event > 0)),)
        else:
            row = titles.setdefault(event, board_skeleton_of(event.key).title(event.key))
            if event in r.lines_by_launch:
                one = r.lines_by_launch[event].estimate
                parts = (("launch", each), (one.bound, one.kernel))
            else:
                parts = (("link", r.fallback_by_launch[event]),)
        for bound, duration in parts:
            yield Span(row, now, now + duration, bound)
            now += duration


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
