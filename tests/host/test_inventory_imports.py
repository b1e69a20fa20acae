"""Rows defined outside ftensor: an inventory imports their module."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.errors.build import InventoryError
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
            "input",
            "K(0.5) * a * a",
            promote=Promote.INT_TO_FLOAT,
            doc="Half of the square.",
        ),
        Reduce("sum_of_squares", "a * a", "x + y", "K(0)", promote=Promote.INT_TO_LONG),
    ]
)
install(ft)
clipped = ft.fpga.elementwise("T x, T y", "T z", "z = min(x * y + 1, 5)", "own_clipped")
norm = ft.fpga.reduction("T x", "T y", "x * x", "a + b", "y = sqrt(a)", 0, "own_norm_of_rows")
"""
INVENTORY = """
imports = ["own_rows"]
[[kernel]]
ops = ["halved_square", "own_clipped"]
layouts = ["linear"]
[[kernel]]
ops = ["sum_of_squares", "own_norm_of_rows"]
layouts = ["inner", "strided"]
"""
PROGRAM = """
import own_rows
import ftensor as ft
ft.set_fallback("error")
print(ft.halved_square(ft.tensor([1.0, -3.0])).tolist())
print(ft.sum_of_squares(ft.tensor([1.0, -3.0])).tolist())
print(own_rows.clipped(ft.tensor([1.0, 3.0]), ft.tensor([1.5, 2.0])).tolist())
print(own_rows.norm(ft.tensor([4.0, -3.0])).tolist())
"""


def test_imported_row_is_built_into_an_image(tmp_path: Path) -> None:
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
        (built, "8 entries,"),
        (traced, "has them all"),
        (["env", "FTENSOR_IMAGE=image", sys.executable, "program.py"], "[0.5, 4.5]\n10.0\n[2.5, 5.0]\n5.0\n"),
    ):
        done = subprocess.run([*run, *command], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert said in done.stdout


def test_imported_row_is_not_in_all() -> None:
    """Another process that builds the same inventory does not have it."""
    ft.fpga.elementwise("T x", "T y", "y = x + 2", "own_in_all")
    text = '[[kernel]]\nops = ["{}"]\ndtypes = ["float32"]\nlayouts = ["linear"]\n'
    names = {word: {k.name for g in expand(parse(text.format(word).encode(), Path("here.toml"))) for k in g.keys}
             for word in ("*", "@own")}  # fmt: skip
    assert "own_in_all" in names["@own"] and not names["*"] & names["@own"]
    assert "exp" in names["*"]


def test_bank_without_brackets() -> None:
    """Boards with a processor name their ports without brackets."""
    (group,) = expand(parse(b'[[kernel]]\nops = ["add"]\nbanks = "HP0"', Path("here.toml")))
    assert group.banks == "HP0"


def test_row_needs_a_unique_name() -> None:
    for name in ("exp", "sum"):
        row = Op(name, "input", "a")
        with pytest.raises(ValueError, match=f"ftensor.{name} already"):
            add_rows([row], "own")
        assert row not in ALL_ROWS


@pytest.mark.parametrize("name", ["", "../own", "own-rows", "own rows", "a..b", "import", "own;os", "own\\n"])
def test_imports_must_be_module_names(name: str) -> None:
    text = f'imports = ["{name}"]\n[[kernel]]\nops = ["add"]\n'
    with pytest.raises(InventoryError, match=r"imports = .*must be names of modules"):
        parse(text.encode(), Path("here.toml"))


EXPORTING = """
import math, sys
import ftensor as ft
{imported}
def both(x):
    return (ft.halved_square(x) + 1).exp()
values = [[k / 32 for k in range(row, row + 16)] for row in (0, 16)]
x = ft.tensor(values)
if sys.argv[1:] == ["export"]:
    ft.jit(both).export("both", x)
else:
    ft.set_fallback("error")
    for row, found in zip(values, ft.jit(both)(x).tolist()):
        assert all(math.isclose(math.exp(v * v / 2 + 1), y, rel_tol=1e-5) for v, y in zip(row, found))
    print("computed")
"""


def exporting(folder: Path, imported: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program whose op is imported, or defined in the program itself."""
    (folder / "program.py").write_text(EXPORTING.format(imported=imported))
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), **environment}
    command = [sys.executable, "program.py", *words]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


def test_an_exported_graph_names_the_modules_of_its_ops(tmp_path: Path) -> None:
    """The exported inventory builds and runs without edits."""
    if csim_compiler() is None:
        pytest.skip("needs g++")
    (tmp_path / "own_rows.py").write_text(ROWS)
    done = exporting(tmp_path, "import own_rows", "export")
    assert done.returncode == 0, done.stderr
    assert 'imports = ["own_rows"]' in (tmp_path / "both.toml").read_text().splitlines()
    build = [sys.executable, "-m", "ftensor", "build", "--target", "csim", "--inventory", "both.toml", "--out", "image"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    built = subprocess.run(build, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stdout + built.stderr
    done = exporting(tmp_path, "import own_rows", FTENSOR_DEVICE="csim", FTENSOR_IMAGE="image")
    assert done.stdout == "computed\n", done.stderr


@pytest.mark.parametrize("imported", [ROWS, "import own_rows\nown_rows.add()"], ids=["__main__", "function"])
def test_an_op_that_no_import_adds_is_not_exported(imported: str, tmp_path: Path) -> None:
    body = "".join(f"    {line}\n" for line in ROWS.splitlines())
    (tmp_path / "own_rows.py").write_text(f"def add():\n{body}")
    done = exporting(tmp_path, imported, "export")
    assert done.returncode == 1
    assert "has the op halved_square, which no import adds" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "both.toml").exists()
