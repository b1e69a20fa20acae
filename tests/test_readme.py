"""The code blocks of the README and the guides run, each on its own, and print what they say."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from ftensor.cli import parser

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
GUIDES = (README, ROOT / "docs" / "add-an-op.md")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
PRINTED = re.compile(r"^print\(.*\)\s+# (.*)$", re.M)


def blocks(guide: Path = README) -> list[str]:
    """The python blocks, in order."""
    return BLOCK.findall(guide.read_text())


def test_readme_has_blocks_to_run() -> None:
    """A change of a guide's form must not leave the next test without anything to do."""
    assert len(blocks()) >= 3
    assert all(blocks(guide) for guide in GUIDES)
    assert all(PRINTED.search(block) for guide in GUIDES for block in blocks(guide))


CASES = [(guide, number) for guide in GUIDES for number in range(len(blocks(guide)))]


@pytest.mark.parametrize(("guide", "number"), CASES, ids=[f"{g.stem}-{n}" for g, n in CASES])
def test_block(guide: Path, number: int) -> None:
    """Every `print(...)  # text` of a block prints that text."""
    block = blocks(guide)[number]
    names = {"__name__": "__readme__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, f"{guide.name}, block {number}", "exec"), names)
    assert printed.getvalue().splitlines() == PRINTED.findall(block)


def test_the_commands_of_the_guides_exist() -> None:
    """Each command line of README and docs is one that the command line's grammar takes."""
    seen = 0
    for guide in (README, *sorted((ROOT / "docs").glob("*.md"))):
        for line in re.findall(r"^    (?:\$ )?(ftensor (?!emulate:).*)$", guide.read_text(), re.M):
            words = shlex.split(line.replace("[", "").replace("]", ""), comments=True)[1:]
            parser().parse_args(words)  # SystemExit otherwise
            seen += 1
    assert seen > 15


def test_tour_is_ten_lines() -> None:
    """The tour keeps its promise, give or take: statements, not blank lines."""
    lines = [line for line in blocks()[0].splitlines() if line.strip()]
    assert len(lines) <= 12
