"""The README's code blocks run, each on its own, and print what their comments say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
PRINTED = re.compile(r"^print\(.*\)\s+# (.*)$", re.M)


def blocks() -> list[str]:
    """The python blocks, in order."""
    return BLOCK.findall(README.read_text())


def test_readme_has_blocks_to_run() -> None:
    """A change of the README's form must not leave the next test without anything to do."""
    assert len(blocks()) >= 3
    assert all(PRINTED.search(block) for block in blocks())


@pytest.mark.parametrize("number", range(len(blocks())))
def test_readme_block(number: int) -> None:
    """Every `print(...)  # text` of a block prints that text."""
    block = blocks()[number]
    names = {"__name__": "__readme__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block, f"{README.name}, block {number}", "exec"), names)
    assert printed.getvalue().splitlines() == PRINTED.findall(block)


def test_tour_is_ten_lines() -> None:
    """The tour keeps its promise, give or take: statements, not blank lines."""
    lines = [line for line in blocks()[0].splitlines() if line.strip()]
    assert len(lines) <= 12
