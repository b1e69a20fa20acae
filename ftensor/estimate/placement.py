"""The image for which launches are estimated: its kernels, and those that do not fit the board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..boards import Board
from ..errors.graph import GraphError
from ..kernels.key import Key
from ..kernels.network import NetworkKey
from ..kernels.network_processes import interval
from ..kernels.select import compute_units
from ..kernels.skeleton import board_skeleton_of
from ..kernels.staged import StagedKey
from ..kernels.user_kernels import is_user_kernel
from ..kernels.workload import KernelLaunch
from ..runtime.targets import CSIM
from ..toolchain.area.fit import Fit, area, board_shares, fit, fitting_subset, shares_text
from ..toolchain.folding import fold_network
from ..toolchain.group import KernelGroup, free_name
from ..toolchain.inventory.read import parts
from ..toolchain.row_parallel import choose_row_builds, seconds

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
