"""The board example: XRT classifies the digits as this machine's device does."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from .. import forked
from ..made_images import require_xrt

pytest.importorskip("PIL.Image")
pytest.importorskip("sklearn")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.long
ESTIMATE = re.compile(r"^Board: Alveo U55C, (?:.*\n)*  total +[\d.]+ +[\d.]+$", re.M)


def run(name: str, folder: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("FTENSOR_DEVICE", "FTENSOR_IMAGE")}
    words = (str(ROOT / "examples" / name), "--out", str(folder), *words)
    return forked.run(*words, env=kept | {"PYTHONPATH": str(ROOT), **settings}, cwd=folder)


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of digits.py."""
    folder = tmp_path_factory.mktemp("digits")
    done = run("digits.py", folder, "--once")
    assert done.returncode == 0, done.stderr
    return folder


def test_xrt_gives_the_same_labels(digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_xrt()
    if shutil.which("g++") is None:
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", "g++ is not here"
        pytest.skip("needs g++")
    shutil.copy(digits / "names.npy", tmp_path)
    done = run("board.py", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ftensor's device: ftensor_emulated_1 " in done.stdout
    assert "XRT gives all 797 digits the names" in done.stdout
    assert ESTIMATE.search(done.stdout)
    assert done.stdout.endswith(f"picture: {tmp_path / 'board.png'}\n")
    assert (tmp_path / "board.png").read_bytes().startswith(b"\x89PNG")
    # With one label changed, the comparison fails.
    names = np.load(tmp_path / "names.npy")
    names[5] += 1
    np.save(tmp_path / "names.npy", names)
    on_xrt = runpy.run_path(str(ROOT / "examples" / "board.py"))["on_xrt"]
    monkeypatch.setitem(on_xrt.__globals__, "run", lambda *words: "")  # XRT's labels exist
    with pytest.raises(SystemExit, match="1 of 797 names differ"):
        on_xrt(tmp_path)


def test_missing_compiler_error_names_the_command(digits: Path, tmp_path: Path) -> None:
    """The rest continues, and the estimate uses the available device."""
    shutil.copy(digits / "names.npy", tmp_path)
    done = run("board.py", tmp_path, CXX="no-such-compiler")
    assert done.returncode == 0, done.stderr
    assert "apt-get install g++ libxrt1 libxrt-utils" in done.stdout
    assert "ftensor emulate -- python" in done.stdout
    assert ESTIMATE.search(done.stdout)
    none = run("board.py", tmp_path / "..")
    assert none.returncode == 1 and "holds no names yet" in none.stderr
