"""Writes the area model's figures into the pages: the table of docs/area.md (every shipped
inventory on every board), and the size of `full` in docs/inventory.md.

`make area` writes both. tests/host/test_area_page.py compares them with the model.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from ftensor.boards import BOARDS, Board
from ftensor.toolchain.area import fit
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import builtin_inventories, expand, read

PAGE = Path(__file__).resolve().parent.parent / "docs" / "area.md"
BEGIN = "<!-- made by `make area` -->\n"
END = "<!-- end -->\n"
INVENTORIES = PAGE.with_name("inventory.md")
FULL = re.compile(r"\d+ kernels with \d+ members")
# The order of the rows.
ORDER = ("first", "minimal", "steps", "cnn", "int8", "transformer", "radio", "stats", "cnn_small",
         "transformer_small", "radio_small", "stats_small", "full")  # fmt: skip
HEAD = (
    "| inventory | board | kernels | ports | most at one memory | LUT | FF | DSP | BRAM | result |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n"
)


@cache
def groups(name: str) -> tuple[KernelGroup, ...]:
    """Returns the kernels of an inventory."""
    return expand(read(name))


def row(name: str, groups: tuple[KernelGroup, ...], board: Board) -> str:
    """Returns the table's line of an inventory on a board."""
    fitted = fit.fit(groups, board)
    shares = " | ".join(f"{part:.0%}" for part in fitted.shares.values())
    crowded = max(fitted.shares.values()) > fit.WARNING_SHARE
    verdict = f"fits, above {fit.WARNING_SHARE:.0%}" if crowded else "fits"
    if not fitted.fits:
        rest = fit.fitting_subset(groups, board) if name != "full" else None
        verdict = f"too large; {len(rest.groups)} kernels fit" if rest else "too large, for emulation"
    most = max(fitted.charged.values(), default=0)
    return f"| `{name}` | {board.title} | {len(groups)} | {fitted.ports} | {most} | {shares} | {verdict} |\n"


def text() -> str:
    """Returns the table, with ports placed by the build's default."""
    lines = []
    for name in sorted(builtin_inventories(), key=ORDER.index):
        free = tuple(replace(group, banks="") for group in groups(name))
        lines += [row(name, free, board) for board in BOARDS]
    return HEAD + "".join(lines)


def full() -> str:
    """Returns the number of kernels and members of `full`, in words."""
    held = groups("full")
    return f"{len(held)} kernels with {sum(len(g.members) for g in held)} members"


def written() -> str:
    """Returns the table of the current page."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + text() + END + rest.partition(END)[2])
    INVENTORIES.write_text(FULL.sub(full(), INVENTORIES.read_text()))
    sys.stdout.write(f"wrote the table of {PAGE} and the size of full in {INVENTORIES}\n")
