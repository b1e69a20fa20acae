"""A trace, the estimate and a written trace list the kernels that a run uses."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from .. import forked

HERE = Path(__file__).parent
INVENTORY, PROGRAM = str(HERE / "agreeing.toml"), str(HERE / "agreeing.py")
FTENSOR = ("-m", "ftensor")


def run(*words: str, image: str = "", status: int = 0) -> str:
    env = os.environ | {"FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": image}
    done = forked.run(*words, env=env)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> str:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    path = str(tmp_path_factory.mktemp("agreeing"))
    run(*FTENSOR, "build", "--target", "csim", "--inventory", INVENTORY, "--out", path)
    return path


@pytest.mark.long
def test_trace_and_run_find_the_same_kernels(image: str, tmp_path: Path) -> None:
    launched, lacking = map(set, json.loads(run(PROGRAM, image=image)))
    mine = str(tmp_path / "mine.toml")
    words = ("kernels", image, "--json", "--write", mine, "--trace", PROGRAM)
    traced = json.loads(run(*FTENSOR, *words, status=1).partition("\n")[2])
    assert {t["entry"] for t in traced if t["held"]} == launched
    assert {t["entry"] for t in traced if not t["held"]} == lacking
    # The estimate lists the same kernels, and so does a build of the written inventory.
    words = ("estimate", "--board", "u55c", "--inventory", INVENTORY, "--json", PROGRAM)
    missed = json.loads(run(*FTENSOR, *words))["not_in_inventory"]
    assert sum(missed.values()) == sum(t["launches"] for t in traced if not t["held"])
    run(*FTENSOR, "kernels", mine, "--trace", PROGRAM)  # its status means that no kernel is missing
