"""`ftensor docs`: prints, lists and searches the pages of the documentation, which the package includes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .terminal import complain, counted, guess, painted, table


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
    parser.add_argument("--search", nargs="+", metavar="WORD", help="list the sections that have all these words")


@dataclass(frozen=True)
class PageSection:
    """A section of a page: its headings joined by " > ", and the lines below the last of them."""

    page: str
    title: str
    lines: tuple[str, ...]

    def rank(self, words: Sequence[str]) -> int:
        """Returns how well the section fits words in lower case; 0 if it lacks one of them.

        A word in the title counts as ten in the text, where more than ten count as ten.
        """
        title, text = self.title.lower(), " ".join(self.lines).lower()
        counts = [10 * title.count(word) + min(text.count(word), 10) for word in words]
        return sum(counts) if all(counts) else 0

    def excerpt(self, words: Sequence[str]) -> str:
        """Returns the line of the section with most of the words, "" if only the title has any."""
        found = [(sum(word in line.lower() for word in words), line.strip(" |-#")) for line in self.lines]
        count, line = max(found, key=lambda one: one[0], default=(0, ""))
        return line if count else ""


def sections() -> Iterator[PageSection]:
    """Yields the sections of all pages."""
    for name, path in pages().items():
        headings: list[str] = []
        lines: list[str] = []
        fenced = False
        for line in path.read_text(encoding="utf-8").splitlines():
            fenced ^= line.startswith("```")
            heading = None if fenced else re.match(r"(#+) (.*)", line)
            if heading is None:
                lines.append(line)
                continue
            if headings:
                yield PageSection(name, " > ".join(headings), tuple(lines))
            headings, lines = [*headings[: len(heading[1]) - 1], heading[2]], []
        yield PageSection(name, " > ".join(headings), tuple(lines))


FOUND = 10  # sections in the answer
PLAIN_WORDS = re.compile(r"\w\S*( +\w\S*)+")


def search(words: Sequence[str]) -> list[PageSection]:
    """Returns the sections that have all words, in any case and also within longer words, those
    that fit best first. A word may have blanks: "half precision"."""
    wanted = [word.lower() for word in words]
    ranked = [(section.rank(wanted), section) for section in sections()] if all(wanted) else []
    return [section for rank, section in sorted(ranked, key=lambda one: -one[0]) if rank]


def _search(words: Sequence[str]) -> int:
    found = search(words)
    if not found and PLAIN_WORDS.fullmatch(text := " ".join(words)):  # no section has them side by side
        found, words = search(text.split()), text.split()
    if not found:
        complain("ftensor docs", f"no section has {' and '.join(map(repr, words))}; `ftensor docs` lists the pages")
        return 1
    wanted = [word.lower() for word in words]
    for section in found[:FOUND]:
        print(f"{painted(section.page, 'bold')}: {section.title}")
        if excerpt := section.excerpt(wanted):
            print(f"    {excerpt}")
    if len(found) > FOUND:
        print(f"... and {counted(len(found) - FOUND, 'more section')}; more words find fewer")
    return 0


def command(arguments: argparse.Namespace) -> int:
    """Prints a page, the list of pages, or what a search finds.

    Returns 2 for an unknown page, 1 if a search finds nothing, else 0.
    """
    known = pages()
    if arguments.search is not None:
        if arguments.page is not None:
            complain("ftensor docs", f"a page or --search, not both: {arguments.page!r} and --search")
            return 2
        return _search(arguments.search)
    if arguments.page is None:
        titles = [(name, page.open().readline().strip("# \n")) for name, page in known.items()]
        print(table(titles, indent=""))
        return 0
    name = arguments.page.removeprefix("docs/").removesuffix(".md")
    if name not in known:
        near = guess(name, known) or "; `ftensor docs` lists them, `ftensor docs --search WORDS` searches them"
        complain("ftensor docs", f"there is no page {name!r}{near}")
        return 2
    print(known[name].read_text(), end="")
    return 0
