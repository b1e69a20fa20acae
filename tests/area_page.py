"""The table of docs/area.md: what every shipped inventory takes of every board, by the model.

`make area` writes it; tests/host/test_area_page.py compares.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from ftensor.boards import BOARDS, Board
from ftensor.toolchain.area import fit
from ftensor.toolchain.group import Group
from ftensor.toolchain.inventory.read import expand, known, read

PAGE = Path(__file__).resolve().parent.parent / "docs" / "area.md"
BEGIN = "<!-- made by `make area` -->\n"
END = "<!-- end -->\n"
# `steps` places some of its ports by itself, to show it.
HEAD = (
    "| inventory | board | kernels | ports | most at one memory | LUT | FF | DSP | BRAM | |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n"
)


def row(name: str, groups: tuple[Group, ...], board: Board) -> str:
    """A line of the table."""
    found = fit.fit(groups, board)
    shares = " | ".join(f"{part:.0%}" for part in found.shares.values())
    full = max(found.shares.values()) > fit.FULL
    verdict = "fits, crowded" if full else "fits"
    if not found.fits:
        rest = fit.reduced(groups, board) if name != "full" else None
        verdict = f"no; {len(rest.groups)} of its kernels do" if rest else "no, for emulation"
    most = max(found.charged.values(), default=0)
    return (
        f"| `{name}` | {board.title} | {len(groups)} | {found.ports} | {most} | {shares} | "
        f"{verdict} |\n"
    )


def text() -> str:
    """The whole table."""
    lines = []
    for name in sorted(known(), key=("first", "minimal", "steps", "dsp", "nn", "full").index):
        groups = tuple(replace(group, banks="") for group in expand(read(name)))
        lines += [row(name, groups, board) for board in BOARDS]
    return HEAD + "".join(lines)


def written() -> str:
    """The table that the page has."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + text() + END + rest.partition(END)[2])
    sys.stdout.write(f"{PAGE} has the table of today\n")
