"""A source's directives for its loops: labels, pragmas, and dependence distances of memories."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

# As written in sources, or by the macros of their helpers.
PRAGMA = re.compile(r"(?:HLS |^ *FT_)(PIPELINE|UNROLL)\b(?!.*\boff\b)")
_LOOP = re.compile(r"\b(?:for|while) \(|^ *FT_EACH_LANE\b")
_LABEL = re.compile(r"\s*(?:(\w+):|FT_LOOP\((\w+)\))\s*$")
_PARTITION = re.compile(r"HLS ARRAY_PARTITION variable=(\w+)(?: dim=(\d+)| complete| type=complete)+ *$", re.M)
_APART = re.compile(
    r"HLS DEPENDENCE variable=(\w+) inter (?:(false)|RAW distance=(\d+))"
    r"|HLS DEPENDENCE class=pointer inter false|\bFT_NO_POINTER_DEPENDENCE\b"
)
_INTRA = re.compile(r"HLS DEPENDENCE variable=(\w+) intra false")
POINTERS = "*"  # all ports; one pragma applies to all of them


@dataclass(frozen=True)
class Directives:
    """The directives of a loop: its label, pipelining or unrolling, the dependence distances of
    local memories in iterations (0: none), and the memories without a dependence inside an
    iteration."""

    label: str
    pragmas: frozenset[str]
    apart: tuple[tuple[str, int], ...]
    intra: frozenset[str] = frozenset()


@cache
def partitions(path: Path) -> dict[str, frozenset[int]]:
    """Returns for each array of a file the dims that are completely partitioned (0: all of
    them)."""
    dims: dict[str, set[int]] = defaultdict(set)
    for found in _PARTITION.finditer(path.read_text()):
        if "complete" in found[0]:
            dims[found[1]].add(int(found[2] or 0))
    return {name: frozenset(some) for name, some in dims.items()}


@cache
def directives(path: Path) -> dict[int, Directives]:
    """Returns the directives of each line with a `for` or `while`."""
    lines = path.read_text().splitlines()
    loops, at = {}, 0
    for number, line in enumerate(lines, 1):
        if _LOOP.search(line) and "#define" not in line:
            label = _LABEL.match(lines[number - 2]) if number > 1 else None
            name = (label[1] or label[2]) if label else ""
            at, loops[number] = number, Directives(name, frozenset(), ())
        elif at:
            was = loops[at]
            if name := PRAGMA.search(line):
                loops[at] = replace(was, pragmas=was.pragmas | {name[1]})
            if one := _APART.search(line):
                apart = (one[1], int(one[3] or 0)) if one[1] else (POINTERS, 0)
                loops[at] = replace(was, apart=(*was.apart, apart))
            if one := _INTRA.search(line):
                loops[at] = replace(was, intra=was.intra | {one[1]})
    return loops


NOTHING = Directives("", frozenset(), ())
