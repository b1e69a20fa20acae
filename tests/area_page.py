"""The table of docs/area.md: what every shipped inventory takes of every board, by the model; and
what docs/inventory.md says is in `full`.

`make area` writes both; tests/host/test_area_page.py compares.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from ftensor.boards import BOARDS, Board
from ftensor.toolchain.area import fit
from ftensor.toolchain.group import Group
from ftensor.toolchain.inventory.read import expand, known, read

PAGE = Path(__file__).resolve().parent.parent / "docs" / "area.md"
BEGIN = "<!-- made by `make area` -->\n"
END = "<!-- end -->\n"
INVENTORIES = PAGE.with_name("inventory.md")
FULL = re.compile(r"\d+ kernels with \d+ members")
# `steps` places some of its ports by itself, to show it.
ORDER = ("first", "minimal", "steps", "cnn", "int8", "transformer", "radio", "stats", "cnn_small",
         "transformer_small", "radio_small", "stats_small", "full")  # fmt: skip
HEAD = (
    "| inventory | board | kernels | ports | most at one memory | LUT | FF | DSP | BRAM | |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n"
)


@cache
def groups(name: str) -> tuple[Group, ...]:
    """The kernels of an inventory."""
    return expand(read(name))


def row(name: str, groups: tuple[Group, ...], board: Board) -> str:
    """A line of the table."""
    fitted = fit.fit(groups, board)
    shares = " | ".join(f"{part:.0%}" for part in fitted.shares.values())
    crowded = max(fitted.shares.values()) > fit.FULL
    verdict = "fits, crowded" if crowded else "fits"
    if not fitted.fits:
        rest = fit.reduced(groups, board) if name != "full" else None
        verdict = f"no; {len(rest.groups)} of its kernels do" if rest else "no, for emulation"
    most = max(fitted.charged.values(), default=0)
    return f"| `{name}` | {board.title} | {len(groups)} | {fitted.ports} | {most} | {shares} | {verdict} |\n"


def text() -> str:
    """The whole table."""
    lines = []
    for name in sorted(known(), key=ORDER.index):
        free = tuple(replace(group, banks="") for group in groups(name))
        lines += [row(name, free, board) for board in BOARDS]
    return HEAD + "".join(lines)


def full() -> str:
    """How much is in `full`."""
    held = groups("full")
    return f"{len(held)} kernels with {sum(len(g.members) for g in held)} members"


def written() -> str:
    """The table that the page has."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + text() + END + rest.partition(END)[2])
    INVENTORIES.write_text(FULL.sub(full(), INVENTORIES.read_text()))
    sys.stdout.write(f"{PAGE} has the table of today, {INVENTORIES} the size of full\n")
