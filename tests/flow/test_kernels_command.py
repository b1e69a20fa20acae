"""`ftensor kernels`: coverage of inventories and images, and missing kernels of a traced program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.cli import main
from ftensor.image.manifest import Manifest
from ftensor.kernels.skeleton import board_skeleton_of
from ftensor.toolchain import coverage
from ftensor.toolchain.group import manifest_record
from ftensor.toolchain.inventory.read import builtin_inventories, expand, read
from ftensor.toolchain.inventory.text import inventory_text

from .. import forked

INVENTORY = """
description = "three ops"
[[kernel]]
name = "few"
ops = ["add()", "mul", "sum"]
dtypes = ["float32"]
layouts = ["linear", "scalar", "inner"]
"""
PROGRAM = """
import sys
import ftensor as ft
a = ft.ones(64) + ft.ones(64)
for _ in range(3):
    a = a * 2
print("the program says", float(a.sum()), sys.argv[1:])
b = a.exp().reshape(8, 8).t() + a[:8]
"""
needs_cxx = pytest.mark.skipif(shutil.which("g++") is None, reason="tracing runs on the C simulation, which needs g++")


@pytest.fixture
def few(tmp_path: Path) -> Path:
    path = tmp_path / "few.toml"
    path.write_text(INVENTORY)
    return path


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def traced(*words: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(ft.__file__).parent.parent)}
    env["FTENSOR_DEVICE"] = "csim"
    env.pop("FTENSOR_IMAGE", None)
    env.update(more)
    return forked.run("-m", "ftensor", "kernels", *words, env=env)


def cells(text: str) -> dict[str, dict[str, str]]:
    """Returns the printed matrix: op and dtype to letters."""
    head, *rows = text.split("\n\n")[0].splitlines()
    starts = [head.index(name) for name in head.split()] + [999]
    names = head.split()[1:]
    return {
        row[: starts[1]].strip(): {name: row[a:b].strip() for name, a, b in zip(names, starts[1:], starts[2:])}
        for row in rows
    }


def test_matrix_of_an_inventory(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", str(few)]) == 0
    out = capsys.readouterr().out
    assert cells(out) == {"add": {"float32": "ln"}, "mul": {"float32": "ln"}, "sum": {"float32": "i"}}
    assert "8 kernels of ops in 3 kernels, 3 compute units" in out


def test_letters_of_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", "full"]) == 0
    shown = cells(capsys.readouterr().out)
    assert shown["copy"]["int64"] == "lrsgp"
    assert shown["add"]["complex64"] == "lrsn"
    assert shown["exp"]["bool"] == "ls"
    assert shown["remainder"]["complex64"] == ""
    assert shown["sum"]["float32"] == "ios"
    assert shown["matmul"]["float32"] == "l"
    # A kernel of several bodies: each has its own row.
    assert {"search", "compact", "dense_lu", "dense_cholesky"} <= shown.keys()


def test_kernels_of_one_op_are_listed(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", str(few), "--op", "mul"]) == 0
    head, *lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    assert head[0] == "op" and len(lines) == 3
    words = [" ".join(line).split() for line in lines]
    assert words[0][1:4] == ["float32(float32,", "float32)", "linear"]
    (group,) = [g for g in expand(read(few)) if g.skeleton == "map"]
    for line in words:
        assert line[0] == "mul"
        name, opcode, units = line[-3:]
        assert (name, units) == (group.name, "1")
        assert group.keys[int(opcode)].name == "mul"
    assert main(["kernels", str(few), "--op", "muul"]) == 1
    assert "no kernel of 'muul'; did you mean 'mul'" in capsys.readouterr().err


def test_op_with_a_number_is_listed_separately(capsys: pytest.CaptureFixture[str]) -> None:
    def ops(word: str) -> set[str]:
        assert main(["kernels", "cnn", "--op", word]) == 0
        return {line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[1:]}

    assert ops("add") == {"add", "add(alpha)"}
    assert ops("add(alpha)") == {"add(alpha)"}


def test_kernels_are_listed_as_json(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", str(few), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    entries = {m.entry for g in expand(read(few)) for m in g.keys}
    assert {one["entry"] for one in rows} == entries
    assert {one["layout"] for one in rows} == {"linear", "inner"}


def test_available_inventories_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if line and not line.startswith("ftensor")]
    assert names == ["inventory", *sorted(builtin_inventories())]


def _manifest(folder: Path, few: Path) -> Path:
    kernels = tuple(manifest_record(group, "0" * 64) for group in expand(read(few)))
    path = folder / "manifest.json"
    path.write_text(Manifest("few", "csim", "", "", "few.xclbin", kernels).to_json())
    return path


def test_manifest_lists_the_kernels_of_its_inventory(
    tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _manifest(tmp_path, few)
    assert main(["kernels", str(few), "--json"]) == 0
    of_inventory = capsys.readouterr().out
    assert main(["kernels", str(path), "--json"]) == 0
    assert capsys.readouterr().out == of_inventory


@needs_cxx
def test_image_lists_the_kernels_of_its_inventory(
    tmp_path: Path, few: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    words = ["build", "--target", "csim", "--inventory", str(few), "--out", str(out)]
    assert main(words) == 0
    capsys.readouterr()
    assert main(["kernels", str(few), "--json"]) == 0
    wanted_text = capsys.readouterr().out
    for source in (out, out / "few.xclbin"):
        assert main(["kernels", str(source), "--json"]) == 0
        assert capsys.readouterr().out == wanted_text
    monkeypatch.setenv("FTENSOR_IMAGE", str(out / "few.xclbin"))
    assert main(["kernels", "--json"]) == 0
    assert capsys.readouterr().out == wanted_text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "there is no inventory 'nothing'"),
        (["/no/image.xclbin"], "No such file"),
        (["/no/manifest.json"], "No such file"),
        (["minimal", "--trace", "/no/program.py"], "no such file"),
        (["minimal", "--trace", "/no/program.py", "--json", "--", "--json"], "no such file"),
        (["minimal", "--trace"], "which program"),
        (["minimal", "--write", "new.toml"], "--trace PROGRAM"),
    ],
)
def test_invalid_arguments_are_named(words: Sequence[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", *words]) == 1
    caught = capsys.readouterr()
    assert caught.out == "" and said in caught.err and caught.err.startswith("ftensor kernels: ")


def test_manifest_of_another_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the file, and does not suggest another copy of it."""
    path = tmp_path / "manifest.json"
    path.write_text('{"format": "ftensor-image", "version": 99}')
    for source in (path, tmp_path):
        assert main(["kernels", str(source)]) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"ftensor kernels: {path}: ") and "version 99" in said
        assert "copy" not in said


@needs_cxx
def test_trace_lists_missing_kernels(few: Path, program: Path) -> None:
    done = traced(few, "--trace", program, "one", "--json")
    assert done.returncode == 1
    assert "the program says 1024.0 ['one', '--json']" in done.stderr
    assert "lacks 3 of them, at 4 launches" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    missed = {row[0]: row[-1] for row in rows if row and row[0] in ("fill", "exp", "add", "mul")}
    assert missed == {"fill": "2", "exp": "1", "add": "1"}


@needs_cxx
def test_trace_against_the_loaded_image(tmp_path: Path, few: Path, program: Path) -> None:
    out = tmp_path / "out"
    assert main(["build", "--target", "csim", "--inventory", str(few), "--out", str(out)]) == 0
    done = traced("--trace", program, FTENSOR_IMAGE=str(out / "few.xclbin"))
    assert done.returncode == 1
    assert "few.xclbin lacks 3 of them, at 4 launches" in done.stdout


@needs_cxx
def test_suggested_lines_add_the_missing_kernels(few: Path, program: Path) -> None:
    lines = traced(few, "--trace", program).stdout.partition("inventory:\n")[2]
    few.write_text(INVENTORY + lines)
    done = traced(few, "--trace", program)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0)
    assert "has them all" in done.stdout


@needs_cxx
def test_write_an_inventory_for_a_program(tmp_path: Path, program: Path) -> None:
    mine = tmp_path / "mine.toml"
    done = traced("--trace", program, "--write", mine)
    assert done.returncode == 0 and f"wrote {mine}" in done.stdout
    done = traced(mine, "--trace", program, "--json")
    assert done.returncode == 0
    rows = json.loads(done.stdout)
    assert all(one["held"] for one in rows) and len(rows) >= 6
    ops = {key.name.removesuffix("_whole") for g in expand(read(mine)) for key in g.keys}
    assert ops == {"fill", "add", "mul", "sum", "exp"}


@needs_cxx
def test_failing_program(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("import ftensor as ft\nft.ones(2) + ft.ones(3)\n")
    done = traced("minimal", "--trace", bad)
    assert done.returncode == 1 and "RuntimeError" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("ftensor kernels: ")


@pytest.mark.parametrize(
    "name", ["minimal", *(pytest.param(name, marks=pytest.mark.long) for name in ("radio", "cnn"))]
)
def test_suggested_lines_add_any_member(name: str, tmp_path: Path) -> None:
    """The lines that a message suggests for a kernel add it, or the strided one."""
    from ftensor.kernels.key import KernelKey
    from ftensor.toolchain.inventory.keys import fallback_key

    members = [m for g in expand(read(name)) for m in g.members]
    path = tmp_path / "mine.toml"
    path.write_text(inventory_text([board_skeleton_of(m).in_words(m) for m in members], 'what "it" needs'))
    assert read(path).description == 'what "it" needs'
    held = {m for g in expand(read(path)) for m in g.members}
    lost = [m for m in members if m not in held and not (isinstance(m, KernelKey) and fallback_key(m) in held)]
    assert lost == []


def test_layouts_in_words() -> None:
    words = {one.layout for kernel in coverage.records("full") for one in coverage.members(kernel)}
    assert words == {"linear", "rows", "strided", "inner", "outer", "gather", "scatter"}


BOARD_PROGRAM = """
import numpy as np
import ftensor as ft
x = ft.from_numpy(np.linspace(-1, 1, 4096, dtype=np.float32))
y = x.tanh() * x.exp() + ft.fft.ifft(ft.fft.fft(x, 5000)).abs()[:4096]
z = x.double().sum()
y = y + (x + 2).lgamma().sort().values
print("the program says", round((y.sum().double() + z).item()))
"""


@needs_cxx
def test_trace_for_a_board(tmp_path: Path) -> None:
    """Each inventory fits the board, and together they have all kernels of the program. The lines
    state why they are large."""
    program, mine = tmp_path / "program.py", tmp_path / "mine.toml"
    program.write_text(BOARD_PROGRAM)
    done = traced("--board", "kv260", "--trace", program, "--write", mine, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert len(said["images"]) == 1 and all(part <= 0.8 for i in said["images"] for part in i["shares"].values())
    assert said["narrowed"] >= 3 and said["switches"] == 0 and not said["too_large"]
    lines = {one["line"].partition(": ")[2]: one["ops"] for one in said["lines"]}
    (ops,) = [ops for line, ops in lines.items() if line.startswith("y = x.tanh()")]
    on_host = {op for one in said["host"] for op in one["ops"]}
    assert on_host and {"tanh", "exp", "mul"} <= {*ops, *on_host}
    assert 0 < sum(one["seconds"] for one in said["host"]) < said["seconds"]
    assert next(one["line"].partition(": ")[2] for one in said["float64"]) in (
        "z = x.double().sum()",
        'print("the program says", round((y.sum().double() + z).item()))',
    )
    (odd,) = said["transforms"]
    assert "fft(x, 5000)" in odd
    # A board would find each of its launches in this image, or the report says that the host
    # computes it.
    done = traced(mine, "--trace", program, "--json")
    missing = [one for one in json.loads(done.stdout) if not one["held"]]
    assert {one["op"] for one in missing} == on_host
    assert {(one["op"], one["dtypes"], one["layout"]) for one in missing} == {
        (step.op, step.dtypes, step.layout) for step in read(mine).host
    }


def test_board_option_needs_a_trace_without_an_image(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--board", "kv260"], ["minimal", "--board", "kv260", "--trace", "program.py"]):
        assert main(["kernels", *words]) == 1
        assert "--board needs --trace PROGRAM" in capsys.readouterr().err
    assert main(["kernels", "--board", "kv26", "--trace", "program.py"]) == 1
    assert "has no board 'kv26'" in capsys.readouterr().err
