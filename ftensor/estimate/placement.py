"""The image in which a program's launches are estimated: its kernels, and what the board can't hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from ..toolchain.row_parallel import choose

SLOWER = 8  # times that a network's cycles are doubled, to leave room for other kernels


@dataclass(frozen=True)
class PlacedImage:
    """The kernels of an image, and the kernels that a board has no room for.

    `wanted` is the area of all, `held` of those that fit. `asked` is True for an inventory, whose
    kernels are all that there are.
    """

    wanted: Fit
    held: Fit
    asked: bool

    @property
    def left_out(self) -> tuple[KernelGroup, ...]:
        """The kernels without room."""
        return tuple(g for g in self.wanted.groups if g not in self.held.groups)

    def holder(self, launch: KernelLaunch) -> KernelGroup | None:
        """Returns the kernel that serves a launch; None if the image has none."""
        return self._holders.get(launch.key.entry) or self._holders.get(_name_of(launch.key))

    @cached_property
    def _holders(self) -> Mapping[str, KernelGroup]:
        holders = {m.entry: group for group in self.held.groups for m in group.members}
        if not self.asked:  # a graph may have fewer lanes than its launches ask for
            holders |= {group.name: group for group in self.held.groups if group.members[0].skeleton == "staged"}
        return holders

    def placed(self, launch: KernelLaunch, group: KernelGroup) -> KernelLaunch:
        """Returns the launch on the kernel that serves it: its lanes or folds, and its units."""
        key = launch.key
        if isinstance(key, (StagedKey, NetworkKey)):
            (key,) = [m for m in group.members if self.asked is False or m.entry == key.entry]
        if self.asked:
            return launch._replace(key=key, units=min(launch.units, group.units), structure=group.moves)
        if isinstance(key, StagedKey):
            units = min(group.units, max(launch.n // key.together, 1))
            units = compute_units(launch.n * key.length, units, CSIM, key.lanes)
            return launch._replace(key=key, units=max(units, launch.units))
        return launch._replace(key=key)

    def shares(self, group: KernelGroup) -> str:
        """Returns the shares of one kernel as text."""
        return shares_text(board_shares(area(group).whole, self.held.board))


def of_inventory(groups: Sequence[KernelGroup], board: Board) -> PlacedImage:
    """Returns the image of an inventory's kernels."""
    return _placed(groups, board, True)


def of_program(launches: Mapping[KernelLaunch, int], board: Board) -> PlacedImage:
    """Returns the image that `ftensor build` would make for a program: a kernel for the launches of a
    kind, graphs with the lanes and units that are fastest, networks with the best folds. If a launch
    has several compute units, all kernels have them."""
    keys = dict.fromkeys(launch.key for launch in launches if not is_user_kernel(launch.key))
    graphs = [key for key in keys if isinstance(key, StagedKey)]
    networks = [key for key in keys if isinstance(key, NetworkKey)]
    ops: list[Key] = [key for key in keys if key not in graphs and key not in networks]
    groups: list[KernelGroup] = []
    for name, members in parts(ops, "shared"):
        name = free_name(f"ft_{name}", [g.name for g in groups])
        structure = board_skeleton_of(members[0]).structure(members[0].lanes, "dataflow")
        groups.append(KernelGroup(name, members, structure))
    groups += _beside(groups, networks, board)
    units = max((launch.units for launch in launches), default=1)
    if units > 1:
        groups += [KernelGroup(_name_of(key), (key,)) for key in graphs]
        return _placed([replace(g, units=units) for g in groups], board, False)
    rows = Counter[Key]()
    for launch, count in launches.items():
        rows[launch.key] += launch.n * count
    weights = [float(max(rows[key], 1)) for key in graphs]
    chosen = choose({_name_of(key): key for key in graphs}, board, groups, weights).groups
    return _placed([*groups, *chosen], board, False)


def _name_of(key: Key) -> str:
    """Returns the name of a graph's or network's kernel, "" for other kernels: it does not depend on
    the lanes or folds."""
    if isinstance(key, (StagedKey, NetworkKey)):
        return f"{key.name[:12]}_{key.entry[-8:]}"
    return ""


def _beside(groups: Sequence[KernelGroup], networks: Sequence[NetworkKey], board: Board) -> list[KernelGroup]:
    """Returns kernels of networks with the fastest folds that leave room for `groups`; folds that take
    twice as long, and so on, are tried."""
    found = [_folded(key, board, None) for key in networks]
    for _ in range(SLOWER):
        kernels = [KernelGroup(_name_of(key), (key,)) for key in found]
        if not networks or fit([*groups, *kernels], board).fits:
            break
        found = [_folded(key, board, 2 * interval(key)) for key in found]
    return kernels


def _folded(key: NetworkKey, board: Board, cycles: int | None) -> NetworkKey:
    try:
        return fold_network(key, board, cycles).key
    except GraphError:
        return key


def fits(key: Key, board: Board) -> bool:
    """True unless the key is a network that no folds fit on a board; calls then run its layers."""
    if not isinstance(key, NetworkKey):
        return True
    try:
        return fold_network(key, board).fits
    except GraphError:
        return False


def _placed(groups: Iterable[KernelGroup], board: Board, asked: bool) -> PlacedImage:
    wanted = fit(tuple(groups), board)
    held = wanted if wanted.fits else fitting_subset(wanted.groups, board)
    return PlacedImage(wanted, held, asked)
