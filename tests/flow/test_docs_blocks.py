"""Every fenced block of the documentation is run, parsed or compiled, depending on its language."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ftensor.image import description
from ftensor.kernels.source import hls_root

from .. import forked
from ..docs_pages import PAGES, README, Block, blocks, commands, environment, save, title

PRINTED = re.compile(r"^print\(.*\)\s+# (.*)$", re.M)
ALL = [block for page in PAGES for block in blocks(page)]
# Slowest pages: networks for an image, training, profiles. Each of these has its own tests.
LONG = (
    "images.md",
    "torch-device.md",
    "profiler.md",
    "own-kernels.md",
    "quantized.md",
    "dask.md",
    "with-other-libraries.md",
)
EXPAND = "import sys; from ftensor.toolchain.inventory.read import *; assert expand(read(sys.argv[1]))"


def blocks_in(language: str) -> list[Block]:
    return [block for block in ALL if block.language == language]


def where(block: Block) -> str:
    return f"{title(block.page)}:{block.line}"


def python(folder: Path, *words: str) -> str:
    done = forked.run(*words, cwd=folder, env=environment())
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_block_is_left_out() -> None:
    """A fence names one of the languages below and nothing else, and each language has blocks.

    C blocks are kernel sources, which the page's own programs compile.
    """
    counts = {language: len(blocks_in(language)) for language in ("python", "toml", "cpp", "c")}
    assert sum(counts.values()) == len(ALL), [where(b) for b in ALL if b.language not in counts]
    assert min(counts.values()) >= 1 and counts["python"] >= 10


def program(page: Path) -> str:
    """Returns a page's Python as one text, with each line at its line number in the page.

    A file that one of the page's commands runs is left to that command's test.
    """
    runs = re.findall(r"^\$ .*python (\S+)$", "".join(commands(page)), re.M)
    lines: list[str] = []
    for block in blocks(page, "python"):
        if block.name not in runs:
            lines += [""] * (block.line - 1 - len(lines)) + block.text.splitlines()
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] if page.name in LONG else [])
        for page in PAGES
        if program(page).strip()
    ],
    ids=title,
)
def test_python_blocks_run_and_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    """A page's blocks run in order. Each `print(...)  # text` prints exactly that text."""
    text = program(page)
    # Not the page's own name: docs/random.md would hide Python's module.
    (tmp_path / f"page_{page.stem}.py").write_text(text)
    save(page, tmp_path)
    said = python(tmp_path, f"page_{page.stem}.py")
    assert said.splitlines() == PRINTED.findall(text)


@pytest.mark.parametrize("block", blocks_in("toml"), ids=where)
def test_toml_blocks_are_valid_inventories(block: Block, tmp_path: Path) -> None:
    """An inventory's kernels exist, and a description of kernels is complete."""
    save(block.page, tmp_path)
    file = tmp_path / "block.toml"
    file.write_text(block.text)
    if "[[kernels]]" in block.text:
        assert description.read(file).kernels
    else:
        python(tmp_path, "-c", EXPAND, file.name)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
@pytest.mark.parametrize("block", blocks_in("cpp"), ids=where)
def test_cpp_blocks_compile(block: Block, tmp_path: Path) -> None:
    (tmp_path / "block.cpp").write_text(block.text)
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas")
    command = ["g++", *warnings, f"-I{hls_root() / 'standin'}", "-c", "block.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=600)


def test_tour_is_ten_lines() -> None:
    """The tour has about ten statements, as it promises."""
    tour = README.read_text().split("## A tour in ten lines")[1]
    (first, *_) = re.findall(r"^```python\n(.*?)^```", tour, re.M | re.S)
    assert len([line for line in first.splitlines() if line.strip()]) <= 12
