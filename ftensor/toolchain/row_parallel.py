"""Lanes and compute units of graphs for a board: the fastest that the area model places.

A graph's time is that of the slowest stage, divided among its compute units, or that of the memory
banks; `seconds` has both, without latencies, since they are the same for all choices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from ..boards import Board
from ..kernels.channels import channels, slab_channel
from ..kernels.skeleton import board_skeleton_of
from ..kernels.staged import ONE_SIGNAL, StagedKey, lanes_of
from ..kernels.workload import KernelLaunch
from ..terminal import table
from . import counting
from .area.cores import NONE, Resources
from .area.fit import area, board_shares, fit, shares_text, titled
from .folding import SHARE
from .group import MAX_KERNEL_UNITS, MAX_UNITS, KernelGroup
from .vitis.interface import bundles

# The rows of the launch for which choices are compared.
ROWS = 1 << 16


class GraphChoice(NamedTuple):
    """One choice of lanes and compute units for a graph's kernel: the seconds of a row, the
    resources of all units, and the sum of their shares of the board."""

    group: KernelGroup
    seconds: float
    resources: Resources
    cost: float


class RowBuild(NamedTuple):
    """The kernels chosen for some graphs on a board. `shares` are the parts of its LUTs, FFs, DSPs
    and BRAMs that these kernels take together with the image's other kernels."""

    groups: tuple[KernelGroup, ...]
    board: Board
    shares: tuple[float, ...]
    fits: bool


def choose_row_builds(
    graphs: Mapping[str, StagedKey],
    board: Board,
    other_kernels: Sequence[KernelGroup] = (),
    rows: Sequence[float] = (),
    units: int | None = None,
) -> RowBuild:
    """Chooses the lanes and compute units of each graph's kernel, by name, so that the graphs take
    the least time on a board.

    Finds the least time T for which the kernels fit beside `other_kernels`: each graph gets the
    cheapest kernel that takes at most T for its `rows` (by default one each). With `units`, only
    the lanes are chosen. If even the cheapest kernels do not fit, the result has `fits` False.
    """
    if not graphs:
        return RowBuild((), board, (0.0,) * len(SHARE), True)
    weights = list(rows) or [1.0] * len(graphs)
    used = sum((area(g).whole for g in other_kernels), NONE)
    choices: list[list[GraphChoice]] = []
    for name, key in graphs.items():
        every = _choices(name, key, board, units)
        # Levels come from choices that fit alone. Other choices may have a smaller sum and hide
        # them.
        fitting = [c for c in every if _fits([c], board, other_kernels, used)]
        choices.append(fitting or [min(every, key=lambda c: c.cost)])
    best = [min(of, key=lambda c: c.cost) for of in choices]
    fits = _fits(best, board, other_kernels, used)
    for level in sorted({c.seconds * w for of, w in zip(choices, weights) for c in of}) if fits else ():
        now = [_cheapest(of, level / w) for of, w in zip(choices, weights)]
        if _fits(now, board, other_kernels, used):
            best = now
            break
    shares = board_shares(sum((c.resources for c in best), used), board)
    return RowBuild(tuple(c.group for c in best), board, shares, fits)


def _cheapest(choices: Sequence[GraphChoice], seconds: float) -> GraphChoice:
    """Returns the cheapest choice that takes at most `seconds` per row; if there is none, the
    fastest."""
    fast = [c for c in choices if c.seconds <= seconds * 1.0001]
    return min(fast or choices, key=lambda c: (c.cost if fast else c.seconds, c.seconds, c.cost))


def _fits(chosen: Sequence[GraphChoice], board: Board, other_kernels: Sequence[KernelGroup], used: Resources) -> bool:
    shares = board_shares(sum((c.resources for c in chosen), used), board)
    if any(part > most for part, most in zip(shares, SHARE)):
        return False
    groups = [*other_kernels, *(c.group for c in chosen)]
    return sum(g.units for g in groups) <= MAX_UNITS and not fit(groups, board).crowded


def _choices(name: str, key: StagedKey, board: Board, fixed: int | None) -> list[GraphChoice]:
    choices = []
    for lanes in lanes_of(key):
        one = KernelGroup(name, (replace(key, lanes=lanes),))
        resources = area(one).unit
        for units in range(1, MAX_KERNEL_UNITS + 1) if fixed is None else (fixed,):
            shares = board_shares(resources * units, board)
            if fixed is None and units > 1 and (max(shares) > 1 or key.together == ONE_SIGNAL):
                break
            group = replace(one, units=units)
            choices.append(GraphChoice(group, seconds(group, board), resources * units, sum(shares)))
    return choices


def seconds(group: KernelGroup, board: Board) -> float:
    """Returns the seconds of a row of a graph in a launch of many rows."""
    key = group.members[0]
    return max(_cycles(key, group.units) / (board.clock.value * 1e6), _bank_seconds(key, group.units, board))


@cache
def _cycles(key: StagedKey, units: int) -> float:
    launch = KernelLaunch(key, units, ROWS)
    return max(x.cycles for unit in (0, units - 1) for x in counting.loops(launch, unit)) / ROWS


@cache
def _bank_seconds(key: StagedKey, units: int, board: Board) -> float:
    """Returns the seconds of the busiest bank for a row: slabs of HBM's channels, else one bank for
    all operands."""
    launch, skeleton = KernelLaunch(key, units, ROWS), board_skeleton_of(key)
    rate, count = board.bank_rate.value * 1e9, len(channels(board.one_memory))
    moves = counting.traffic(launch)
    if not count:
        return sum(a.nbytes for a in moves) / ROWS / rate
    slabs, busy = skeleton.row_slabs(key), [0.0] * count
    assert slabs is not None
    for k, (a, divided) in enumerate(zip(moves, slabs.nbytes, strict=True)):
        for unit in range(units if divided and units > 1 else 1):
            busy[slab_channel(unit, k, count) if units > 1 else k % count] += a.nbytes / (units if divided else 1)
    return max(busy) / ROWS / rate


def report(build: RowBuild) -> str:
    """Returns a table of the graphs' kernels on a board."""
    board = build.board
    rows: list[tuple[object, ...]] = [
        ("kernel", "lanes", "units", "ports", "cycles a row", *[title for title, _ in titled(build.shares)], "bound by")
    ]
    for group in build.groups:
        key = group.members[0]
        parts = [f"{part:.0%}" for _, part in titled(board_shares(area(group).whole, board))]
        whole, cycles = seconds(group, board), _cycles(key, group.units)
        bound = "memory" if whole > cycles / (board.clock.value * 1e6) * 1.001 else "its stages"
        counts = (group.lanes, group.units, group.units * len(bundles(group)))
        rows.append((group.name, *counts, f"{whole * board.clock.value * 1e6:.3g}", *parts, bound))
    return "\n".join(
        [
            f"{board.title} at {board.clock.value:g} MHz, by the area model:",
            table(rows),
            f"in all {shares_text(build.shares)}",
        ]
    )
