"""The programs of docs/images.md find their kernels in their images, and have the documented
results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ..docs_pages import ROOT, Block, blocks
from .test_docs_blocks import PRINTED
from .test_image_workflow import base, built, run  # noqa: F401

PROGRAMS = {block.name.partition(".")[0]: block for block in blocks(ROOT / "docs" / "images.md")}
EACH = [pytest.param(n, marks=[] if n == "radio" else pytest.mark.long) for n in PROGRAMS]


def program(block: Block, folder: Path) -> Path:
    (folder / block.name).write_text(block.text)
    return folder / block.name


@pytest.mark.parametrize("name", EACH)
def test_the_image_has_every_kernel_of_the_page(name: str, tmp_path: Path) -> None:
    """`--trace` ends with status 1 if a kernel is missing."""
    path = program(PROGRAMS[name], tmp_path)
    said = run("-m", "ftensor", "kernels", name, "--trace", path, FTENSOR_DEVICE="csim")
    assert "has them all" in said


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_runs_on_the_image(name: str, base: Path, tmp_path: Path) -> None:  # noqa: F811
    path = program(PROGRAMS[name], tmp_path)
    image = str(built(name, base))
    said = run(path, FTENSOR_DEVICE="csim", FTENSOR_IMAGE=image, FTENSOR_FALLBACK="error")
    assert said.splitlines() == PRINTED.findall(PROGRAMS[name].text)


def test_the_page_has_the_models_shares() -> None:
    from ftensor.boards import find
    from ftensor.toolchain.area.fit import WARNING_SHARE, fit
    from ftensor.toolchain.inventory.read import expand, read

    text = (ROOT / "docs" / "images.md").read_text()
    for name in PROGRAMS:
        fitted = fit(expand(read(name)), find("kv260" if name.endswith("_small") else "u55c"))
        assert max(fitted.shares.values()) < WARNING_SHARE
        row = f"| `{name}` | {len(fitted.groups)} | {fitted.ports} | {fitted.shares['lut']:.0%} |"
        assert re.search(re.escape(row), text), row
