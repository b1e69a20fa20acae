"""Rows outside ftensor: an inventory imports their module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ftensor.ops.bind import add_rows
from ftensor.rows.catalogue import ROWS as ALL_ROWS
from ftensor.rows.op import Op
from ftensor.runtime.targets import csim_compiler
from ftensor.toolchain.inventory.read import expand, parse

ROWS = """
import ftensor as ft
from ftensor.ops.bind import add_rows, install
from ftensor.rows.op import Op, Promote, Reduce

add_rows(
    [
        Op(
            "halved_square",
            "halved_square(input, *, out=None) -> Tensor",
            "K(0.5) * a * a",
            promote=Promote.INT_TO_FLOAT,
            doc="Half of the square.",
        ),
        Reduce("sum_of_squares", "a * a", "x + y", "K(0)", promote=Promote.INT_TO_LONG),
    ]
)
install(ft)
"""
INVENTORY = """
imports = ["own_rows"]
[[kernel]]
ops = ["halved_square"]
layouts = ["linear"]
[[kernel]]
ops = ["sum_of_squares"]
layouts = ["inner", "strided"]
"""
PROGRAM = """
import own_rows
import ftensor as ft
ft.set_fallback("error")
print(ft.halved_square(ft.tensor([1.0, -3.0])).tolist())
print(ft.sum_of_squares(ft.tensor([1.0, -3.0])).tolist())
"""


def test_a_row_of_ones_own_gets_into_an_image(tmp_path: Path) -> None:
    if csim_compiler() is None:
        pytest.skip("needs g++")
    for name, text in (("own_rows.py", ROWS), ("own.toml", INVENTORY), ("program.py", PROGRAM)):
        (tmp_path / name).write_text(text)
    ftensor = [sys.executable, "-m", "ftensor"]
    built = [*ftensor, "build", "--target", "csim", "--inventory", "own.toml", "--out", "image"]
    traced = [*ftensor, "kernels", "own.toml", "--trace", "program.py"]
    root = str(Path(__file__).resolve().parents[2])
    run = ["env", f"PYTHONPATH={root}", "FTENSOR_DEVICE=csim"]
    for command, said in (
        (built, "4 entries,"),
        (traced, "has them all"),
        (["env", "FTENSOR_IMAGE=image", sys.executable, "program.py"], "[0.5, 4.5]\n10.0\n"),
    ):
        done = subprocess.run([*run, *command], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout


def test_a_bank_of_a_processor_has_a_name() -> None:
    """Boards with a processor name their ports, without brackets."""
    (group,) = expand(parse(b'[[kernel]]\nops = ["add"]\nbanks = "HP0"', Path("here.toml")))
    assert group.banks == "HP0"


def test_a_row_needs_a_name_of_its_own() -> None:
    for name in ("exp", "sum"):
        row = Op(name, f"{name}(input, *, out=None) -> Tensor", "a")
        with pytest.raises(ValueError, match=f"ftensor.{name} already"):
            add_rows([row], "own")
        assert row not in ALL_ROWS
