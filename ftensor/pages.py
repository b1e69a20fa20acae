"""`ftensor docs`: prints pages of the documentation, which the package includes."""

from __future__ import annotations

import argparse
from functools import cache
from pathlib import Path

from .terminal import complain, guess, table


@cache
def folder() -> Path:
    """Returns the folder of the pages: inside an installed package, next to it in a checkout."""
    package = Path(__file__).resolve().parent
    inside = package / "docs"
    return inside if inside.is_dir() else package.parent / "docs"


def pages() -> dict[str, Path]:
    """Returns paths by page name, such as "boards" or "adr/0002-geometry-in-a-buffer"."""
    paths = sorted(folder().rglob("*.md"), key=lambda page: (page.parent != folder(), page))
    return {str(page.relative_to(folder()).with_suffix("")): page for page in paths}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments to a parser."""
    parser.add_argument("page", nargs="?", metavar="PAGE", help="its name, or docs/PAGE.md")


def command(arguments: argparse.Namespace) -> int:
    """Prints a page or the list of pages; returns 1 for an unknown page, else 0."""
    known = pages()
    if arguments.page is None:
        titles = [(name, page.open().readline().strip("# \n")) for name, page in known.items()]
        print(table(titles, indent=""))
        return 0
    name = arguments.page.removeprefix("docs/").removesuffix(".md")
    if name not in known:
        near = guess(name, known) or "; `ftensor docs` lists them"
        complain("ftensor docs", f"there is no page {name!r}{near}")
        return 1
    print(known[name].read_text(), end="")
    return 0
