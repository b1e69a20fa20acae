"""Files and folders with names that compilers, shells and loaders read in their own way."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from .. import forked

ROOT = Path(__file__).parents[2]
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
KERNEL = 'extern "C" void k(float *o, int n) { for (int i = 0; i < n; i++) o[i] = 1; }\n'
INVENTORY = '[[kernel]]\nops = ["neg"]\n'
# Names of files that g++ would take for options, and what a shell would run.
NAMES = ("-DX.cpp", "-o.cpp", "@list.cpp", "a b'\"$(touch ran)größe\n.cpp")
OWN = """
import ftensor as ft
for name in {names!r}:
    o = ft.zeros(2)
    ft.fpga.source(name)(o, 2)
    assert o.tolist() == [1, 1], name
"""


@needs
def test_sources_of_any_name_are_compiled(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(KERNEL)
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "PYTHONPATH": str(ROOT)}
    done = forked.run("-c", OWN.format(names=NAMES), env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(NAMES)


@needs
@pytest.mark.parametrize("folder", ["-o", "@list", "a b'\"$(touch ran)größe"])
def test_images_are_built_into_any_folder(tmp_path: Path, folder: str) -> None:
    """And used from there."""
    (tmp_path / "mine.toml").write_text(INVENTORY)
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "PYTHONPATH": str(ROOT)}
    words = ("build", "--inventory", "mine.toml", "--target", "csim", f"--out={folder}")
    done = forked.run("-m", "ftensor", *words, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    env["FTENSOR_IMAGE"] = f"{folder}/mine.xclbin"
    done = forked.run("-c", "import ftensor as ft; print(ft.ones(3).neg().tolist())", env=env, cwd=tmp_path)
    assert done.stdout.strip() == "[-1.0, -1.0, -1.0]", done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([folder, "mine.toml"])
