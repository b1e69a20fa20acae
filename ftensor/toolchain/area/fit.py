"""Whether an image fits a board, what each kernel's share is, and what to leave out where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...boards import Board
from ...errors import build as errors
from ...image.manifest import LINKED
from ...table import counted, table
from ..group import Group
from ..vitis.interface import bundles
from ..vitis.placement import masters, place
from .cores import NAMES, NONE, Resources
from .kernel import CONVERSIONS, area

# Shares of what a board has for kernels: above the first the tools rarely find a place and a clock
# for everything, above these they do not.
FULL = 0.70
MOST = {"lut": 0.80, "ff": 1.0, "dsp": 1.0, "bram": 1.0}
TITLES = {"lut": "LUT", "ff": "FF", "dsp": "DSP", "bram": "BRAM"}


@dataclass(frozen=True)
class Fit:
    """An image on a board: what it takes, and its ports by the memory at which they enter."""

    board: Board
    groups: tuple[Group, ...]
    takes: Resources
    charged: Mapping[str, int]

    @property
    def shares(self) -> dict[str, float]:
        """Of what the platform leaves of each resource."""
        return dict(zip(NAMES, share(self.takes, self.board)))

    @property
    def ports(self) -> int:
        """All ports of all compute units."""
        return sum(group.units * len(bundles(group)) for group in self.groups)

    @property
    def crowded(self) -> dict[str, int]:
        """Memories with more ports than they take."""
        most = self.board.masters.value
        return {name: count for name, count in self.charged.items() if count > most}

    @property
    def fits(self) -> bool:
        """Whether neither logic nor a memory is full."""
        return not self.full and not self.crowded

    @property
    def full(self) -> tuple[str, ...]:
        """The resources of which it takes more than can be placed."""
        return tuple(name for name, part in self.shares.items() if part > MOST[name])

    def __str__(self) -> str:
        shown = ", ".join(f"{TITLES[name]} {part:.0%}" for name, part in self.shares.items())
        most = max(self.charged.values(), default=0)
        return f"{shown}; {counted(self.ports, 'port')}, at most {most} at one memory"


def share(takes: Resources, board: Board) -> tuple[float, ...]:
    """The parts of a board's LUT, flip-flops, DSP and block RAM."""
    chip = board.chip
    have = (chip.lut, chip.ff, chip.dsp, chip.bram)
    return tuple(x / (y * chip.left.value) for x, y in zip(takes.values(), have))


def fit(groups: Sequence[Group], board: Board) -> Fit:
    """The image of these kernels on a board."""
    takes = sum((area(group).whole for group in groups), NONE)
    placed = place(groups, board)
    return Fit(board, tuple(groups), takes, Counter(masters(placed)))


def reduced(groups: Sequence[Group], board: Board) -> Fit:
    """As many of the kernels as fit: the dearest are left out first, and those taken in again that
    find room then. Kernels that streams join are left out all together."""
    kept = list(groups)
    while kept and not (usage := fit(kept, board)).fits:
        worst = max(range(len(NAMES)), key=lambda k: usage.shares[NAMES[k]] / MOST[NAMES[k]])
        if not usage.full:
            dearest = max(kept, key=lambda g: g.units * len(bundles(g)))
        else:
            dearest = max(kept, key=lambda g: area(g).whole.values()[worst])
        joined = dearest.structure == LINKED
        kept = [g for g in kept if g is not dearest and not (joined and g.structure == LINKED)]
    for group in groups:
        joined = group.structure == LINKED
        if not joined and group not in kept and fit([*kept, group], board).fits:
            kept.append(group)
    return fit([group for group in groups if group in kept], board)


def check(name: str, groups: Sequence[Group], board: Board) -> Fit:
    """The image on a board. BuildError, with the numbers and what fits, where it does not fit."""
    usage = fit(groups, board)
    if usage.fits:
        return usage
    most = int(board.masters.value)
    parts = usage.shares
    problems = [f"{TITLES[n]} {parts[n]:.0%} of at most {MOST[n]:.0%}" for n in usage.full]
    if usage.crowded:
        where = max(usage.crowded, key=lambda name: usage.crowded[name])
        others = len(usage.crowded) - 1
        more = f" and more than {most} at {others} others" if others else ""
        problems.append(f"{usage.crowded[where]} ports at {where}, of at most {most}{more}")
    free = [replace(group, banks="") for group in groups]
    if free != list(groups) and (other := fit(free, board)).fits:
        raise errors.crowded(name, board.title, problems, _spread(other))
    rest = reduced(free, board)
    kept = [group.name for group in rest.groups]
    raise errors.does_not_fit(
        name,
        board.title,
        problems,
        [f"{area(g).name} ({_dear(g)})" for g in groups if g.name not in kept],
        kept,
        str(rest),
    )


def _spread(usage: Fit) -> str:
    counts = Counter(usage.charged.values())
    return ", ".join(f"{counted(n, 'memory')} with {k} ports" for k, n in sorted(counts.items()))


def _dear(group: Group) -> str:
    """The ops that take most of a kernel."""
    ops = [op for op, takes in area(group).ops if op != CONVERSIONS and takes.lut]
    return ", ".join(ops[:3]) + (", ..." if len(ops) > 3 else "") if ops else group.skeleton


def lines(usage: Fit) -> list[str]:
    """A table of the kernels' shares of the board, the image's, and what is to be said of them."""
    board = usage.board
    head = ("kernel", "lanes", "units", "ports", *TITLES.values())
    rows: list[tuple[object, ...]] = [head]
    for group in sorted(usage.groups, key=lambda g: -area(g).whole.lut):
        one = area(group)
        parts = [f"{part:.1%}" for part in share(one.whole, board)]
        rows.append((group.name, one.lanes, one.units, len(bundles(group)), *parts))
    parts = [f"{part:.1%}" for part in usage.shares.values()]
    units = sum(group.units for group in usage.groups)
    rows.append(("all", "", units, usage.ports, *parts))
    report = [
        f"Shares of the {board.title} by the area model, of what its platform leaves to kernels:",
        *table(rows).splitlines(),
        f"At most {max(usage.charged.values(), default=0)} of {board.masters.value:g} ports enter "
        f"at one of {counted(len(board.memories()), 'memory')}.",
    ]
    full = [TITLES[n] for n, part in usage.shares.items() if part > FULL]
    if full:
        dear = max(usage.groups, key=lambda g: area(g).whole.lut)
        report.append(
            f"Above {FULL:.0%} of {' and '.join(full)} the tools may find no place for all, or "
            f"a lower clock: take ops or lanes from the dearest ({dear.name}: {_dear(dear)})."
        )
    return report
