"""Parses the pages of the documentation: fenced blocks, indented commands, prose.

A fenced block whose first line is a comment with a file's name is that file.
tests/flow/test_docs_commands.py runs each command line that begins with "$ ", and the text below it
is its output.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = (
    README,
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "hls" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
)
_FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.M)
_NAME = re.compile(r"(?:#|//) (\w+\.\w+)\n")
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n|\n(?= {4}))+")
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block. `language` is the text on the fence's line."""

    page: Path
    line: int  # of its first line of text
    language: str
    text: str

    @property
    def name(self) -> str:
        """Returns the file name in the block's first line, or ""."""
        match = _NAME.match(self.text)
        return match[1] if match else ""


def title(page: Path) -> str:
    """Returns a page's name for a test's id."""
    return str(page.relative_to(ROOT).with_suffix(""))


def blocks(page: Path, language: str = "") -> list[Block]:
    """Returns a page's fenced blocks, in order."""
    text = page.read_text()
    fences = [
        Block(page, text.count("\n", 0, match.start()) + 2, match[1], match[2]) for match in _FENCE.finditer(text)
    ]
    return [block for block in fences if language in ("", block.language)]


def commands(page: Path) -> list[str]:
    """Returns a page's indented blocks, without their indentation."""
    indented = _INDENTED.findall(_FENCE.sub("", page.read_text()))
    return [re.sub(r"^ {4}", "", block, flags=re.M) for block in indented]


def inline(page: Path) -> list[str]:
    """Returns the texts between single backquotes."""
    return _INLINE.findall(_INDENTED.sub("", _FENCE.sub("", page.read_text())))


def save(page: Path, folder: Path) -> None:
    """Writes the blocks that are files."""
    for block in blocks(page):
        if block.name:
            (folder / block.name).write_text(block.text)


def environment() -> dict[str, str]:
    """Returns an environment for programs that import this ftensor from any folder."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


@contextmanager
def site_modules() -> Iterator[dict[str, ModuleType]]:
    """Returns the modules of pages/, which make the site, by their names."""
    folder = ROOT / "pages"
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    try:
        names = [path.stem for path in folder.glob("*.py") if path.stem != "conf"]
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path[:] = before
