"""The area of kernels, and the check that an image fits a board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil

from ...boards import Board
from ...errors import build as errors
from ...image.manifest import LINKED
from ...kernels.byte_tables import byte_tables
from ...kernels.linked_keys import BEGIN, StageKey
from ...kernels.row_loop import RowLoop
from ...kernels.signal_stages import RowFilter, RowTransform, SliceScatter, Window
from ...kernels.skeleton import board_skeleton_of
from ...kernels.skeletons.feedback import FeedbackKey, feedback_key
from ...kernels.staged import StagedKey, Stages
from ...kernels.workload import LocalMemory
from ...terminal import counted, table
from ..group import KernelGroup, arguments
from ..vitis import interface, member, reduce
from ..vitis.interface import bundles, masters, place_ports
from ..vitis.text import FIFO_DEPTH, dropped_bits, identifiers
from .cores import ARGUMENT, INTERCONNECT, KERNEL, NAMES, NONE, PORT, PORT_BIT, SHARED_PORT, SHARED_PORT_BIT, Resources
from .count import Counts, helpers, resources_of

# The name of the operators that convert operands and results.
CONVERSIONS = "conversions"
_MAX_LUTRAM_WORDS = 32  # words of one bit in a LUT


@dataclass(frozen=True)
class Area:
    """The resources of a compute unit: ops (largest first), the skeleton's own operators, ports,
    local memory, and control.

    `lanes` is the number of lanes of the ops.
    """

    name: str
    units: int
    lanes: int
    ops: tuple[tuple[str, Resources], ...]
    skeleton: Resources
    ports: Resources
    memories: Resources
    control: Resources

    @property
    def unit(self) -> Resources:
        """The resources of one compute unit."""
        parts = (self.skeleton, self.ports, self.memories, self.control)
        return sum(parts, sum((r for _, r in self.ops), NONE))

    @property
    def whole(self) -> Resources:
        """The resources of all compute units."""
        return self.unit * self.units


@cache
def area(group: KernelGroup) -> Area:
    """Returns the area of a kernel. Raises ValueError for a helper that the model cannot parse."""
    ops: dict[str, Resources] = {}
    for name, counts, times in _functions(group):
        total = interconnect(resources_of(counts)) * times
        ops[name] = ops.get(name, NONE) + total
    key = group.members[0]
    # Members behind an opcode share the skeleton's operators; each body has its own.
    each = [(board_skeleton_of(m), m) for m in group.bodies or group.members]
    counted = [Counts(dict(skeleton.operators(m))) for skeleton, m in each]
    skeleton_counts = sum(counted, Counts()) if group.shares_ports else max(counted, key=lambda c: c.total())
    memory_list = [skeleton.memories(m, group.structure) for skeleton, m in each]
    memories = max(memory_list, key=lambda total_memory: sum(m.words * m.bits * m.copies for m in total_memory))
    if group.shares_ports:
        memories = [m for total_memory in memory_list for m in total_memory]
    memories = [*memories, *(LocalMemory(j.depth, j.bits) for j in group.joins)]
    bundles = interface.bundles(group)
    if interface.structure(group) == "dataflow":
        memories = [*memories, *(LocalMemory(FIFO_DEPTH, b.bits) for b in bundles)]
    return Area(
        group.name,
        group.units,
        key.lanes,
        tuple(sorted(ops.items(), key=lambda one: -one[1].lut)),
        interconnect(resources_of(skeleton_counts)),
        sum((_port(b) for b in bundles), NONE),
        sum((memory_resources(m) for m in memories), NONE),
        KERNEL + ARGUMENT * len(arguments(group)),
    )


def interconnect(resources: Resources) -> Resources:
    """Returns the resources of operators together with the logic that connects them."""
    return Resources(*(x * y for x, y in zip(resources.values(), INTERCONNECT.values())))


def _functions(group: KernelGroup) -> Iterator[tuple[str, Counts, int]]:
    """Yields (function, operator counts, copies) for each op in a kernel's hardware."""
    for key in group.bodies:
        graph = key.graph if isinstance(key, StageKey) and key.kind != BEGIN else key
        if isinstance(graph, (StagedKey, FeedbackKey)):
            for one in _calls(graph):
                yield from _functions(one)
    if not group.keys:
        return
    if group.kind.folds:  # type: ignore[attr-defined]
        yield from _folds(group)
        return
    members, ops = member.members_of(group)
    for member_text in members:
        if member_text.shared:
            continue
        texts = [line for text in ops[member_text.space].values() for line in text]
        known_helpers = helpers(member_text.key.compute, dropped_bits(member_text.key))
        counting = known_helpers.counting("\n".join([*texts, *member_text.text]), {})
        times = group.kind.copies(member_text.key)["body"]  # type: ignore[attr-defined]
        rest = Counts(counting.operators_of(member_text.name))
        called = identifiers(" ".join(member_text.lines))
        for function in [name for name in ops[member_text.space] if name in called]:
            rest.subtract(counting.operators_of(function))
            yield function.rpartition(f"_{member_text.key.compute.name}")[0], counting.operators_of(function), times
        yield CONVERSIONS, +rest, times


def _calls(key: StagedKey | FeedbackKey) -> Iterator[KernelGroup]:
    """Yields a graph's calls as kernels: calls on elements in every lane, calls on rows and for entries
    of tables in one."""
    entries, elements = list[int](), [*range(len(key.calls))]
    if isinstance(key, StagedKey):
        tables = [byte_tables(key, stage) for stage in Stages(key).stages]
        entries, elements = ([k for one in tables for k in one[which]] for which in (1, 2))
    for k, lanes in [*[(k, 1) for k in entries], *[(k, key.lanes) for k in elements]]:
        call = key.calls[k]
        function = call.function
        if isinstance(function, RowLoop):
            yield from _calls(feedback_key(function))
            continue
        if isinstance(function, (RowTransform, RowFilter, Window, SliceScatter)):
            continue  # the skeleton counts their operators
        row = isinstance(key, FeedbackKey) or (
            function.reduction is None and all(key.is_per_row[v] for v in call.operands)
        )
        function_key = function.key(1 if row else lanes)
        if function.reduction is not None:
            function_key = replace(function_key, skeleton="reduce_inner")
        for out, text in zip(function_key.outs, function_key.body, strict=True):
            yield KernelGroup("call", (replace(function_key, outs=(out,), body=(text,)),))


def _folds(group: KernelGroup) -> Iterator[tuple[str, Counts, int]]:
    """Yields (monoid function, operator counts, copies) of a reduction's hardware."""
    parts = reduce.monoid_functions(group)
    firsts = reduce.shared(parts)
    structs = {reduce.state_name(key): reduce.state_fields(key) for key in group.keys}
    for part in parts:
        key = group.keys[part.opcode]
        if firsts[part] is not part or part.role == "identity":
            continue
        text = "\n".join(reduce.function_text(part))
        counts = helpers(key.compute, dropped_bits(key)).counting(text, structs).operators_of(part.name)
        times = group.kind.copies(key)[part.role]  # type: ignore[attr-defined]
        yield group.kind.op(key.name), counts, times


def memory_resources(memory: LocalMemory) -> Resources:
    """Returns UltraRAM if the source requests it, LUTs for a shallow memory, else block RAM."""
    if memory.uram:
        return Resources(uram=memory.ultra_rams)
    if memory.words <= _MAX_LUTRAM_WORDS or memory.words * memory.bits <= 1024:
        return Resources(lut=memory.bits * ceil(memory.words / _MAX_LUTRAM_WORDS) * memory.copies)
    return Resources(bram=memory.block_rams)


def _port(bundle: interface.Bundle) -> Resources:
    """Returns a port's adapter, its buffers, and its connection to a memory.

    The buffers hold the outstanding bursts: bursts x beats x width, for reads and for writes
    (UG1399).
    """
    total = PORT + PORT_BIT * bundle.bits + SHARED_PORT + SHARED_PORT_BIT * bundle.bits
    for beats, bursts in (bundle.reads, bundle.writes):
        if beats:
            total += memory_resources(LocalMemory(beats * bursts, bundle.bits))
    return total


# Shares of a board's resources for kernels. Above WARNING_SHARE the tools rarely place everything
# and meet the clock, above MAX_SHARES they never do.
WARNING_SHARE = 0.70
MAX_SHARES = {"lut": 0.80, "ff": 1.0, "dsp": 1.0, "bram": 1.0, "uram": 1.0}
TITLES = {"lut": "LUT", "ff": "FF", "dsp": "DSP", "bram": "BRAM", "uram": "URAM"}


@dataclass(frozen=True)
class Fit:
    """An image on a board: its resources, and the number of ports that enter at each memory."""

    board: Board
    groups: tuple[KernelGroup, ...]
    resources: Resources
    charged: Mapping[str, int]

    @property
    def shares(self) -> dict[str, float]:
        """The shares of the resources that the platform leaves to kernels."""
        return dict(zip(NAMES, board_shares(self.resources, self.board)))

    @property
    def dies(self) -> dict[int, tuple[float, ...]]:
        """The shares that kernels with a die take of it, by die, in the order of NAMES."""
        takes: dict[int, Resources] = {}
        for group in self.groups:
            if group.die is not None and group.die < self.board.chip.slrs > 1:
                takes[group.die] = takes.get(group.die, NONE) + area(group).whole
        return {die: board_shares(one * self.board.chip.slrs, self.board) for die, one in sorted(takes.items())}

    @property
    def full_dies(self) -> list[str]:
        """The resources of dies of which kernels take more than placement can reach, with the share."""
        return [
            f"{TITLES[name]} {part:.0%} of at most {MAX_SHARES[name]:.0%} on SLR{die}"
            for die, shares in self.dies.items()
            for name, part in zip(NAMES, shares)
            if part > MAX_SHARES[name]
        ]

    @property
    def ports(self) -> int:
        """The number of ports of all compute units."""
        return sum(group.units * len(bundles(group)) for group in self.groups)

    @property
    def crowded(self) -> dict[str, int]:
        """The memories at which more ports enter than the board allows."""
        most = self.board.masters.value
        return {name: count for name, count in self.charged.items() if count > most}

    @property
    def fits(self) -> bool:
        """True if neither a resource nor a die nor a memory is full."""
        return not self.full and not self.full_dies and not self.crowded

    @property
    def full(self) -> tuple[str, ...]:
        """The resources of which the image takes more than placement can reach."""
        return tuple(name for name, part in self.shares.items() if part > MAX_SHARES[name])

    def __str__(self) -> str:
        shown = shares_text(tuple(self.shares.values()))
        most = max(self.charged.values(), default=0)
        return f"{shown}; {counted(self.ports, 'port')}, at most {most} at one memory"


def board_shares(resources: Resources, board: Board) -> tuple[float, ...]:
    """Returns the shares of a board's LUT, flip-flops, DSP, block RAM and UltraRAM."""
    chip = board.chip
    have = (chip.lut, chip.ff, chip.dsp, chip.bram, chip.uram)
    return tuple(x / (y * chip.left.value) for x, y in zip(resources.values(), have))


def shares_text(shares: Sequence[float]) -> str:
    """Returns shares in the order of NAMES as text, UltraRAM only where it is used."""
    return ", ".join(f"{title} {part:.0%}" for title, part in titled(shares))


def titled(shares: Sequence[float]) -> list[tuple[str, float]]:
    """Returns (title, share) in the order of NAMES, UltraRAM only where it is used."""
    return [(title, part) for title, part in zip(TITLES.values(), shares) if part or title != TITLES["uram"]]


def fit(groups: Sequence[KernelGroup], board: Board) -> Fit:
    """Returns the `Fit` of these kernels on a board."""
    resources = sum((area(group).whole for group in groups), NONE)
    placed = place_ports(groups, board)
    return Fit(board, tuple(groups), resources, Counter(masters(placed)))


def fitting_subset(groups: Sequence[KernelGroup], board: Board) -> Fit:
    """Returns the `Fit` of the kernels that fit.

    Leaves out the largest kernels first, then adds back kernels that fit after all. Kernels of
    linked graphs are left out all together.
    """
    kept = list(groups)
    while kept and not (usage := fit(kept, board)).fits:
        worst = max(range(len(NAMES)), key=lambda k: usage.shares[NAMES[k]] / MAX_SHARES[NAMES[k]])
        if usage.crowded and not usage.full:
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


def check(name: str, groups: Sequence[KernelGroup], board: Board) -> Fit:
    """Returns the `Fit` of an image. Raises BuildError with the numbers and a subset that fits, if
    the image does not fit."""
    usage = fit(groups, board)
    if usage.fits:
        return usage
    most = int(board.masters.value)
    parts = usage.shares
    problems = [f"{TITLES[n]} {parts[n]:.0%} of at most {MAX_SHARES[n]:.0%}" for n in usage.full] + usage.full_dies
    if usage.crowded:
        memory = max(usage.crowded, key=lambda name: usage.crowded[name])
        other_memories = len(usage.crowded) - 1
        more = f" and more than {most} at {other_memories} others" if other_memories else ""
        problems.append(f"{usage.crowded[memory]} ports at {memory}, of at most {most}{more}")
    free = [replace(group, banks="") for group in groups]
    if free != list(groups) and (other := fit(free, board)).fits:
        raise errors.crowded(name, board.title, problems, _spread(other))
    rest = fitting_subset(free, board)
    kept = [group.name for group in rest.groups]
    raise errors.does_not_fit(
        name,
        board.title,
        problems,
        [f"{area(g).name} ({_largest_ops(g)})" for g in groups if g.name not in kept],
        kept,
        str(rest),
    )


def _spread(usage: Fit) -> str:
    counts = Counter(usage.charged.values())
    return ", ".join(f"{counted(n, 'memory')} with {k} ports" for k, n in sorted(counts.items()))


def _largest_ops(group: KernelGroup) -> str:
    ops = [op for op, resources in area(group).ops if op != CONVERSIONS and resources.lut]
    return ", ".join(ops[:3]) + (", ..." if len(ops) > 3 else "") if ops else group.skeleton


def lines(usage: Fit) -> list[str]:
    """Returns a table of the shares of the kernels and of the image, and warnings."""
    board = usage.board
    titles = [title for title, _ in titled(tuple(usage.shares.values()))]
    head = ("kernel", "lanes", "units", "ports", *titles)
    rows: list[tuple[object, ...]] = [head]
    for group in sorted(usage.groups, key=lambda g: -area(g).whole.lut):
        one = area(group)
        parts = [f"{part:.1%}" for part in board_shares(one.whole, board)[: len(titles)]]
        rows.append((group.name, one.lanes, one.units, len(bundles(group)), *parts))
    parts = [f"{part:.1%}" for _, part in titled(tuple(usage.shares.values()))]
    units = sum(group.units for group in usage.groups)
    rows.append(("all", "", units, usage.ports, *parts))
    report = [
        f"Shares of the {board.title} by the area model, of what its platform leaves to kernels:",
        *table(rows).splitlines(),
        f"At most {max(usage.charged.values(), default=0)} of {board.masters.value:g} ports enter "
        f"at one of {counted(len(board.memories()), 'memory')}.",
        *(f"SLR{die}: {shares_text(shares)} of the die." for die, shares in usage.dies.items()),
    ]
    full = [TITLES[n] for n, part in usage.shares.items() if part > WARNING_SHARE]
    if full:
        largest = max(usage.groups, key=lambda g: area(g).whole.lut)
        report.append(
            f"Above {WARNING_SHARE:.0%} of {' and '.join(full)} the tools may find no place for all, or "
            f"a lower clock: take ops or lanes from the dearest ({largest.name}: {_largest_ops(largest)})."
        )
    return report
