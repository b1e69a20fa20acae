"""Where the ports of an image go: which memory each reaches, and where it is charged.

v++ takes so many ports of kernels at one memory (15, UG1393), and charges a port that reaches a
range of HBM's channels to one of them: the first, unless `sp=` names another behind the range
(`HBM[0:31].7` enters the switch at channel 7 and reaches all).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...boards import Board
from ...errors.build import bad_bank
from ...kernels.channels import channels, near
from ..group import BANKS, Group, arguments
from .interface import Bundle, bundles

HBM_BANKS = 32
_RANGE = re.compile(r"(\w+)\[(\d+):(\d+)\]")


class Way(NamedTuple):
    """How a port gets to memory: which one, as a manifest names it, and where it enters."""

    memory: str
    entry: str

    @property
    def words(self) -> str:
        """What stands behind `sp=`."""
        if not self.memory.startswith("HBM") or not _RANGE.fullmatch(self.memory):
            return self.memory
        return f"{self.memory}.{re.sub(r'[^0-9]', '', self.entry)}"


# By compute unit and bundle.
Placement = Mapping[tuple[str, str], Way]


def unit_names(group: Group) -> tuple[str, ...]:
    """The names of a kernel's compute units, as v++ itself would choose them."""
    return tuple(f"{group.name}_{k + 1}" for k in range(group.units))


def place(groups: Sequence[Group], board: Board | None = None) -> Placement:
    """The ports of all kernels. Where a kernel names no memory its board decides; without one it is
    left out, and the platform does.

    All channels of HBM are one memory for every port, so an op's result is where the next op reads
    it; ports enter one channel after another, those of kernels with several compute units next to
    the slabs that the runtime gives each unit (`kernels.channels`). Of several banks of DDR a whole
    kernel has one.
    BuildError for a memory that is none.
    """
    ways: dict[tuple[str, str], Way] = {}
    charged: Counter[str] = Counter()
    for group in groups:
        ports = bundles(group)
        memory, entries = _asked(group, len(ports), board, charged)
        apart = group.units > 1 and bool(channels(memory))
        for number, unit in enumerate(unit_names(group) if entries else ()):
            here = [entries[k] for k in near(number, len(entries))] if apart else entries
            for port in ports:
                twin = _twin(group, port, memory)
                way = ways.get(twin) if twin else None
                if way is None:
                    entry = min(here, key=lambda e: charged[e])
                    way = Way(memory or entry, entry)
                ways[unit, port.name] = way
                charged[way.entry] += 1
    return ways


def _asked(group: Group, ports: int, board: Board | None, charged: Mapping[str, int]) -> tuple[str, Sequence[str]]:
    """The memory that a kernel's ports reach ("": the one at which each enters), and where they may
    enter."""
    asked = group.banks
    if not asked and board is not None:
        ways = board.memories()
        if board.one_memory:
            asked = board.one_memory
        elif ways[0].startswith("HP"):
            return "", ways  # many ways to one memory
        else:
            room = board.masters.value - group.units * ports
            fits = [way for way in ways if charged[way] <= room]
            asked = fits[0] if fits else min(ways, key=lambda way: charged[way])
    if not asked:
        return "", ()
    if not BANKS.fullmatch(asked):
        raise bad_bank(group.name, asked)
    if asked == "HBM[*]":
        return "", [f"HBM[{k}]" for k in range(HBM_BANKS)]
    ranged = _RANGE.fullmatch(asked)
    if ranged is None:
        return asked, (asked,)
    first, last = int(ranged[2]), int(ranged[3])
    channels = [f"{ranged[1]}[{k}]" for k in range(first, last + 1)]
    return asked, channels if ranged[1] == "HBM" else channels[:1]


def _twin(group: Group, port: Bundle, memory: str) -> tuple[str, str] | None:
    """The port that has the same buffers, where each port has a memory of its own: of the first
    compute unit, or of a kernel with two ports to one operand."""
    if memory or group.banks != "HBM[*]":
        return None
    of = {a.name: a.of for a in arguments(group) if a.what == "*"}[port.pointers[0]]
    name = next((p.name for p in bundles(group) if of in p.pointers), "") if of else port.name
    return unit_names(group)[0], name


def memories(group: Group, placement: Placement) -> dict[str, str]:
    """The memory of each of a kernel's pointers, by its name; empty: the platform's choice."""
    unit = unit_names(group)[0]
    return {
        name: placement[unit, port.name].memory
        for port in bundles(group)
        for name in port.pointers
        if (unit, port.name) in placement
    }


def masters(placement: Placement) -> Counter[str]:
    """How many ports are charged to each memory."""
    return Counter(way.entry for way in placement.values())
