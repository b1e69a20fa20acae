"""The configuration of `v++ --link`: compute units, memories, streams, clock.

`nk=` sets the number and names of a kernel's compute units, `sp=` the memory of a pointer argument,
`slr=` the die of a compute unit, `stream_connect=` two connected stream ports.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...boards import Board
from ...errors.build import feeds_itself, too_many_units
from ..area.fit import area
from ..group import MAX_KERNEL_UNITS, MAX_UNITS, KernelGroup, StreamConnection
from .interface import bundles, compute_unit_names, memories, place_ports

# Since this version, commas separate the names of a kernel's compute units.
COMMAS = (2022, 1)


def banks(groups: Sequence[KernelGroup], board: Board | None = None) -> dict[str, dict[str, str]]:
    """Returns the memory of each kernel's pointer arguments by name; empty if the platform
    chooses."""
    placement = place_ports(groups, board)
    return {group.name: memories(group, placement) for group in groups}


def configuration(
    groups: Sequence[KernelGroup],
    version: tuple[int, int],
    clock_mhz: float | None = None,
    streams: Sequence[StreamConnection] = (),
    board: Board | None = None,
) -> str:
    """Returns the text of link.cfg. Raises BuildError if v++ or XRT would refuse it.

    `version` is v++'s (year, number). Without a clock, the platform's default clock applies;
    without a board, the platform chooses the memories of kernels that name none.
    """
    between = "," if version >= COMMAS else "."
    lines = ["# Written by ftensor build: changes are overwritten.", "[connectivity]"]
    for group in groups:
        if group.units > MAX_KERNEL_UNITS:
            raise too_many_units(f"kernel {group.name}", group.units, MAX_KERNEL_UNITS)
        names = compute_unit_names(group)
        lines.append(f"nk={group.name}:{group.units}:{between.join(names)}")
    total = sum(group.units for group in groups)
    if total > MAX_UNITS:
        raise too_many_units("the image", total, MAX_UNITS)
    placement = place_ports(groups, board)
    for group in groups:
        for unit in compute_unit_names(group):
            for port in bundles(group):
                placement_of_port = placement.get((unit, port.name))
                lines += [f"sp={unit}.{name}:{placement_of_port.words}" for name in port.pointers if placement_of_port]
    lines += [f"slr={unit}:{die}" for unit, die in dies(groups, board).items()]
    kernel_of = {unit: group.name for group in groups for unit in compute_unit_names(group)}
    for stream in (*(one for group in groups for one in group.joins), *streams):
        ends = [kernel_of.get(end.partition(".")[0], end) for end in (stream.source, stream.to)]
        if ends[0] == ends[1]:
            raise feeds_itself(stream.source, stream.to)
        depth = f":{stream.depth}" if stream.depth else ""
        lines.append(f"stream_connect={stream.source}:{stream.to}{depth}")
    if clock_mhz is not None:
        lines += ["", "[clock]", f"defaultFreqHz={hertz(clock_mhz)}"]
    return "\n".join(lines) + "\n"


def dies(groups: Sequence[KernelGroup], board: Board | None) -> dict[str, str]:
    """Assigns each compute unit to a die of a board with HBM, and kernels that have a die to that one.

    Places the largest units first, each on the die with the most free LUTs; ties go to the first
    die, next to the HBM. A unit larger than the free LUTs of every die is omitted, so that v++ may
    spread it over dies. Without HBM, where every die has its own DDR banks, only kernels that have a
    die get one.
    """
    if board is None or board.chip.slrs == 1:
        return {}
    room = [board.chip.lut * board.chip.left.value / board.chip.slrs] * board.chip.slrs
    die_of = {}
    luts = {unit: area(g).whole.lut / g.units for g in groups for unit in compute_unit_names(g)}
    for group in groups:
        if group.die is not None and group.die < board.chip.slrs:
            for unit in compute_unit_names(group):
                die_of[unit] = f"SLR{group.die}"
                room[group.die] -= luts.pop(unit)
    if board.memory != "HBM":
        return die_of
    for unit in sorted(luts, key=lambda unit: -luts[unit]):
        k = max(range(len(room)), key=lambda k: room[k])
        if luts[unit] <= room[k]:
            die_of[unit] = f"SLR{k}"
            room[k] -= luts[unit]
    return die_of


def hertz(mhz: float) -> int:
    """Converts MHz to Hz, the unit of v++'s clocks."""
    return round(mhz * 1_000_000)
