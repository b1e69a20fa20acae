"""Graphs with several compute units and fewer lanes: bits, slabs of rows, the model, the inventory."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import ftensor as ft
from ftensor.boards import find
from ftensor.errors.build import InventoryError
from ftensor.estimate.model import BoardConfig, estimate, loops
from ftensor.graph.partition import Exported
from ftensor.kernels.staged import StagedKey, lanes_of
from ftensor.kernels.workload import KernelLaunch
from ftensor.toolchain.inventory.read import expand, read

from .. import forked
from ..made_images import require_xrt
from . import emulation_host
from .graph_units_program import LENGTHS, ROWS, operands, rows_in_blocks, scaled

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.graph_units_program")
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def export(folder: Path, length: int) -> Exported:
    return ft.jit(scaled).export(str(folder / f"scaled_{length}"), *map(ft.from_numpy, operands(57, length)))


def key_of(folder: Path, length: int) -> StagedKey:
    (group,) = expand(read(export(folder, length).inventory))
    return cast("StagedKey", group.members[0])


def inventory(folder: Path, name: str, settings: str) -> Path:
    """Writes an inventory of the graphs of all lengths."""
    path = folder / f"{name}.toml"
    tables = [f'[[graph]]\nfile = "scaled_{length}.json"\n{settings}' for length in LENGTHS]
    path.write_text("\n".join(tables))
    return path


def build(path: Path) -> Path:
    out = path.with_suffix("")
    words = ("-m", "ftensor", "build", "--inventory", str(path), "--target", "csim", "--out", str(out))
    done = forked.run(*words, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return out / f"{path.stem}.xclbin"


def run(image: Path) -> list[str]:
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(image), "FTENSOR_FALLBACK": "error"}
    done = forked.run(*PROGRAM, env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("units")
    for length in LENGTHS:
        export(path, length)
    return path


@pytest.fixture(scope="module")
def four_units(folder: Path) -> tuple[Path, list[str]]:
    """An image of graphs with four compute units, and the program's output with it on C
    simulation."""
    path = inventory(folder, "four", 'units = 4\nbanks = "HBM[0:15]"\n')
    path.write_text(path.read_text() + "lanes = 4\n")
    image = build(path)
    return image, run(image)


@needs
@pytest.mark.long
def test_several_units_have_the_bits_of_one(four_units: tuple[Path, list[str]]) -> None:
    """Also for rows that start inside a beat, fewer rows than units, a remainder, and fewer
    lanes."""
    assert len(four_units[1]) == len(LENGTHS) * len(ROWS)


@needs
@pytest.mark.long
def test_slabs_of_units_on_xrt(four_units: tuple[Path, list[str]]) -> None:
    """The software device places rows and results in slabs, near the units."""
    require_xrt()
    image, one = four_units
    command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
    done = forked.run(*command, *PROGRAM, "banks", env=emulation_host.environment(FTENSOR_FALLBACK="error"), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == one
    banks = dict(line.split(": ") for line in done.stderr.splitlines() if line.startswith("bank of "))
    whole, sliced = "HBM[0:15]", "HBM[0:15] in 4 x 1000 x 8000"
    assert banks["bank of 2001 x 1000"] == f"{sliced}, {whole}, {sliced}, {whole}"
    assert banks["bank of 3 x 1000"] == ", ".join([whole] * 4), "too few rows for slabs"


def test_rows_of_units_start_at_beats(folder: Path) -> None:
    for length in (*LENGTHS, 18, 1):
        key = key_of(folder, length)
        for lanes in lanes_of(key):
            narrow = replace(key, lanes=lanes)
            assert narrow.together * length % lanes == 0
            for n in (1, 37, 64):
                launch = KernelLaunch(narrow, 4, n)
                trips = [max((x.trips for x in loops(launch, unit)), default=0) for unit in range(4)]
                assert sum(trips) == n * narrow.beats


def test_rows_start_at_beats_and_blocks(folder: Path) -> None:
    key = replace(key_of(folder, 1000), length=12, period=6)
    assert key.lanes == 16 and key.together == 12, "four rows end on a beat, six on a block"


def test_blocks_are_not_divided(tmp_path: Path) -> None:
    arguments = ft.ones(6, 32), ft.ones(5, 32)
    files = ft.jit(rows_in_blocks).export(str(tmp_path / "blocks"), *arguments)
    (group,) = expand(read(files.inventory))
    key = cast("StagedKey", group.members[0])
    assert key.period == key.together == 5


def test_four_units_take_a_quarter_of_the_time(folder: Path) -> None:
    """On a range of HBM, rows are in slabs. With one bank, the units would wait for it."""
    key, board = key_of(folder, 1024), find("u55c")
    seconds = {
        (units, banks): estimate(KernelLaunch(key, units, 4096), BoardConfig(board, 300, banks)).kernel
        for units in (1, 4)
        for banks in ("HBM[0:31]", "HBM[0]")
    }
    assert seconds[4, "HBM[0:31]"] < 0.26 * seconds[1, "HBM[0:31]"]
    assert seconds[4, "HBM[0:31]"] < 0.35e-3
    assert seconds[4, "HBM[0]"] > 0.9 * seconds[1, "HBM[0]"]


def test_elementwise_ops_on_one_dim_are_rows_of_a_beat(tmp_path: Path) -> None:
    """Units then share them, and any number of whole beats has one kernel."""
    entries = {
        ft.jit(lambda x: (x * 2 + 1).exp()).export(str(tmp_path / f"flat_{n}"), ft.ones(n)).entry for n in (64, 4096)
    }
    assert len(entries) == 1
    (group,) = expand(read(tmp_path / "flat_64.toml"))
    key = cast("StagedKey", group.members[0])
    assert (key.length, key.lanes, key.together) == (16, 16, 1)


def test_result_of_one_element_is_not_split(tmp_path: Path) -> None:
    """No store writes one element for all rows, so there are too few rows."""
    function = ft.jit(lambda x, s: (x * 2 * s, s + 1))
    with pytest.raises(ft.GraphError, match="1 rows of 1024"):
        function.export(str(tmp_path / "one"), ft.ones(1024), ft.ones(1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("units = 0", r"units = 0; it must be a number of compute units, 1 to 31"),
        ("units = 32", r"1 to 31"),
        ("lanes = 3", r"one of 16, 8, 4, 2, 1: the graph's lanes, or fewer"),
        ("lanes = 32", r"one of 16, 8, 4, 2, 1"),
        ('structure = "linked"\nunits = 2', r"1 for a graph in a kernel per stage"),
    ],
)
def test_invalid_graph_settings_are_refused(folder: Path, settings: str, message: str) -> None:
    with pytest.raises(InventoryError, match=message):
        read(inventory(folder, "wrong", settings))


def test_too_many_units_are_refused(folder: Path) -> None:
    tables = "\n".join(
        f'[[graph]]\nfile = "scaled_1024.json"\nname = "g{lanes}"\nlanes = {lanes}\nunits = 31'
        for lanes in (1, 2, 4, 8, 16)
    )
    path = folder / "many.toml"
    path.write_text(tables)
    with pytest.raises(InventoryError, match="155"):
        expand(read(path))


def test_transforms_keep_supported_lanes(tmp_path: Path) -> None:
    signal = ft.from_numpy(np.ones((3, 64), np.complex64))
    files = ft.jit(lambda x: ft.fft.fft(x) * 2).export(str(tmp_path / "spectrum"), signal)
    path = files.inventory
    path.write_text(path.read_text() + "lanes = 1\n")
    with pytest.raises(InventoryError, match="one of 8, 4, 2: the graph's lanes, or fewer"):
        read(path)
