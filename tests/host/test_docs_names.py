"""Names in the documentation exist: links, files, options, variables, functions, make targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.cli import options_of, parser

from ..docs_pages import PAGES, README, ROOT, blocks, commands, inline, title

FOLDERS = ("ftensor", "ftensor_pytest", "hls", "docs", "tests", "examples", "benchmarks")
FILES = {
    path.relative_to(ROOT) for path in (*ROOT.iterdir(), *(p for folder in FOLDERS for p in (ROOT / folder).rglob("*")))
}
# Outputs of a reader and of a command, and two modules of a design that were not built.
MADE = {
    "INVENTORY.toml",
    "lenet.toml",
    "power.toml",
    "pulse.toml",
    "steps/sources/vadd_dataflow.cpp",
    "dtype.py",
    "errors.py",
    "norm.cpp",
    "norm.toml",
    "pipe.cpp",
    "test_reach.py",
    "vadd_host.cpp",
}
# Options of other programs: pytest, pip, the vendors' tools, the examples.
FOREIGN = {
    "--base",
    "--bursts",
    "--device",
    "--export",
    "--ftensor-emulate",
    "--ftensor-shuffle",
    "--ignore-installed",
    "--list",
    "--minimum-size",
    "--model",
    "--no-install-recommends",
    "--once",
    "--prefix",
    "--quick",
    "--report",
    "--seconds",
    "--small",
    "--user",
}
PATH = re.compile(r"(?<![\w./<-])(?:[\w*-]+/)*[\w*+-]+\.(?:py|h|cpp|toml|md)\b(?!/)")
FOLDER = re.compile(rf"(?<![\w./-])(?:{'|'.join(FOLDERS)})/(?:\w+/)*(?=\W|$)")
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def code(page: Path) -> str:
    """Returns everything except prose, one piece in a line."""
    return "\n".join([*inline(page), *commands(page), *(block.text for block in blocks(page))])


def anchors(page: Path) -> set[str]:
    """Returns the anchors of a page's headings."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_links_resolve(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        if link.startswith("http"):
            continue
        path, _, anchor = link.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), link
        assert not anchor or anchor in anchors(there), link


def test_every_page_is_linked_from_the_readme() -> None:
    reached, left = {README}, [README]
    while left:
        page = left.pop()
        links = {(page.parent / link.split("#")[0]).resolve() for link in LINK.findall(page.read_text())}
        new = {there for there in links & set(PAGES) if there not in reached}
        reached |= new
        left += new
    assert sorted(map(title, reached)) == sorted(map(title, PAGES))


def file_exists(name: str) -> bool:
    """Returns whether the repository has a file of this path or path suffix; "*" matches any
    characters."""
    return any(path.match(name) for path in FILES)


def test_files_exist() -> None:
    own = {block.name for page in PAGES for block in blocks(page)}
    named = {name for page in PAGES for name in PATH.findall(code(page))}
    folders = {name for page in PAGES for name in FOLDER.findall(code(page))}
    assert len(named) > 60 and len(folders) > 10
    assert {name for name in named | folders if not file_exists(name)} - own == MADE


def test_every_package_is_described() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    rooms = [p.parent for p in (ROOT / "ftensor").glob("*/__init__.py")]
    modules = [p for p in (ROOT / "ftensor").glob("*.py") if not p.name.startswith("_")]
    assert len(rooms) > 9 and len(modules) > 5
    assert [room.name for room in rooms if f"| `ftensor/{room.name}/`" not in text] == []
    assert [module.name for module in modules if f"`ftensor/{module.name}`" not in text] == []


def test_options_exist() -> None:
    named = {o for page in PAGES for o in re.findall(r"(?<![\w-])--[a-z][\w-]*", code(page))}
    assert named - set(options_of(parser())) == FOREIGN


def test_variables_exist() -> None:
    """Every variable that ftensor reads has a row in docs/settings.md, except internal ones."""
    variable = re.compile(r"\bFTENSOR_\w+")
    read = {v for p in (ROOT / "ftensor").rglob("*.py") for v in variable.findall(p.read_text())}
    named = {v for page in PAGES for v in variable.findall(page.read_text())}
    rows = re.findall(r"^\| `(FTENSOR_\w+)` \| ", (ROOT / "docs/settings.md").read_text(), re.M)
    assert named == read - {"FTENSOR_EMULATION", "FTENSOR_EMULATION_P2P", "FTENSOR_EMULATION_SHUFFLE"}
    assert named == set(rows)


def test_functions_exist() -> None:
    named = {n for page in PAGES for n in re.findall(r"\bft\.([a-zA-Z_][\w.]*\w)", code(page))}
    assert len(named) > 20
    for name in named - {"half_square", "softsign", "sum_of_squares"}:  # added by the pages
        member: object = ft
        for part in name.split("."):
            member = getattr(member, part)


def test_make_targets_exist() -> None:
    named = set(re.findall(r"\bmake ([a-z]+)\b", code(README)))
    assert len(named) >= 3
    assert named <= set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))


def test_named_tests_exist() -> None:
    """docs/reliability.md names `file::test`, or `::test` of the file before it."""
    tables = re.findall(
        r"^\| promise \| tests \|\n\|---\|---\|\n((?:\|.*\n)+)", (ROOT / "docs/reliability.md").read_text(), re.M
    )
    rows = [row for table in tables for row in table.splitlines()]
    assert len(tables) > 8 and len(rows) > 30
    for row in rows:
        file = Path()
        named = re.findall(r"`(tests/[\w/]+\.py)?::(test_\w+)`", row)
        assert named, row
        for path, test in named:
            file = ROOT / path if path else file
            assert f"\ndef {test}(" in file.read_text(), (file, test)


def test_paths_in_where_exist() -> None:
    """docs/where.md: each job names a file or folder by its path from the root."""
    rows = [row.split(" | ") for row in (ROOT / "docs/where.md").read_text().splitlines() if row.startswith("| ")]
    jobs = [row for row in rows if row != ["| job", "file |"]]
    assert len(jobs) > 60
    for job, *places in jobs:
        named = re.findall(r"`(\w+/[\w./-]*)`", " ".join(places))
        assert named, job
        assert [path for path in named if not (ROOT / path).exists()] == [], job


def test_the_changelog_is_for_users() -> None:
    """Entries name changes. Durations measured on some machine belong on other pages."""
    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.findall(r"^.*\d ?(?:ms|us|µs)\b.*$", text, re.M) == []
    assert [line for line in text.splitlines() if len(line) > 200] == []
