"""Copies between memory banks: a board with several DDR banks gives each kernel one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..boards import Board
from ..kernels.workload import KernelLaunch
from ..toolchain.group import KernelGroup
from ..toolchain.trace import Trace
from ..toolchain.vitis import link


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
    """Returns the number of buffers, by size in bytes, that the runtime copies between banks.

    As in the runtime, a buffer gets its bank from the first kernel that uses it, and moves when a
    kernel in another bank uses it.
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
