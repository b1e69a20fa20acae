"""Programs of several kernels: much of what a compiler does, it does once for each program."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .parts import KernelSource

# Intel's CPU runtime takes 0.064 s of CPU for a simple kernel alone and 0.021 s in ten; what a
# process loads for one of them holds all.
MOST_TOGETHER = 10
# What the cache holds for a kernel that was compiled together with others: where they are.
JOINT = b"ftensor: compiled together, in "
# Where a text's own part begins: its holes and its skeleton, all of them macros and a kernel.
OWN = "\n#define FT_NAME "
DEFINED = re.compile(r"^#define (\w+)", re.M)


def groups(programs: Iterable[KernelSource]) -> list[list[KernelSource]]:
    """Programs that may be one: alike up to their own part, with dialect and helpers."""
    by_head: dict[str, list[list[KernelSource]]] = {}
    for program in programs:
        head, _, own = program.source.partition(OWN)
        one = OWN not in own and "#define FT_KERNEL" in head  # others have kernels as parts
        shared = head if own and one else program.source
        among = by_head.setdefault(shared, [[]])
        if len(among[-1]) == MOST_TOGETHER:
            among.append([])
        among[-1].append(program)
    return [group for among in by_head.values() for group in among]


def joined(programs: list[KernelSource]) -> str:
    """The text of a group: what they share, then each one's own part, whose words it takes back."""
    if len(programs) == 1:
        return programs[0].source
    parts = [programs[0].source.partition(OWN)[0]]
    for program in programs:
        own = OWN + program.source.partition(OWN)[2]
        parts += [own, *(f"#undef {name}" for name in dict.fromkeys(DEFINED.findall(own)))]
    return "\n".join(parts)
