"""The commands of the documentation: all parse, and those after "$ " print the shown output."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ftensor.cli import parser
from ftensor.emulation.environment import available

from .. import forked
from ..docs_pages import PAGES, commands, environment, save, title

RUN = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.M)
WALKS = [page for page in PAGES if any(map(RUN.search, commands(page)))]
# The pages with the longest builds, which other tests run too.
LONG = ("torch-device.md", "tutorial.md", "own-kernels.md", "tuning.md", "add-a-skeleton.md", "ci.md")
LONG += ("wrong-value.md", "slow-kernel.md")  # these import torch, or estimate a program
# Text that differs from run to run.
VOLATILE = re.compile(r"\b\d+ s\b|\b\d+(:\d\d)+\b|\b[\d.]+ KiB|\b[0-9a-f]{8}(-[0-9a-f]{4,12}){4}\b|\S*/(?=program.py)")


def test_the_commands_can_be_parsed() -> None:
    """The command line's grammar accepts each line that calls ftensor."""
    seen = 0
    for page in PAGES:
        for line in re.findall(r"^(?:\$ )?(ftensor (?!\w+:).*)$", "".join(commands(page)), re.M):
            words = shlex.split(line.replace("[", "").replace("]", ""), comments=True)[1:]
            parser().parse_args(words)  # otherwise SystemExit
            seen += 1
    assert seen > 25


def expected(shown: str) -> re.Pattern[str]:
    """Returns a pattern of a shown output. "..." replaces the rest of a line, or several lines."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n"
        for line in VOLATILE.sub("#", shown.strip("\n")).splitlines()
    ]
    return re.compile("".join(lines))


def shell(folder: Path) -> dict[str, str]:
    """Returns an environment with the commands, and without settings of this run's device."""
    (folder / "bin").mkdir()
    forked.asking(folder / "bin" / "python")
    forked.asking(folder / "bin" / "ftensor", "-m", "ftensor")
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    settings = ("FTENSOR_DEVICE", "FTENSOR_IMAGE", "FTENSOR_FALLBACK")
    kept = {key: value for key, value in environment().items() if key not in settings}
    return {**kept, "PATH": path, "PYTHONUNBUFFERED": "1"}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.long] if page.name in LONG else []) for page in WALKS], ids=title
)
def test_commands_of_a_page_print_the_shown_output(page: Path, tmp_path: Path) -> None:
    """The commands of a page run in order, in one folder."""
    lines = [match for block in commands(page) for match in RUN.findall(block)]
    lacking = "" if shutil.which("g++") else "g++ is not here"
    if any("ftensor emulate" in command for command, _ in lines):
        lacking = lacking or available()
    if lacking:
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", lacking
        pytest.skip(lacking)
    save(page, tmp_path)
    env = shell(tmp_path)
    for command, shown in lines:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env=env,
            text=True,
            timeout=600,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        said = VOLATILE.sub("#", done.stdout)
        assert expected(shown).fullmatch(said), f"{command}\n{done.stdout}"
