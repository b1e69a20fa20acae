"""Shifted views of planes as windows of rows: stencils on C simulation and XRT, in slabs with
halos; windows that no kernel computes; their files, cycles and memory."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

import ftensor as ft
from ftensor.errors.build import InventoryError
from ftensor.kernels.graph_file import parse_json, parse_key
from ftensor.kernels.skeleton import board_skeleton_of
from ftensor.kernels.staged import StagedKey, Stages
from ftensor.kernels.workload import KernelLaunch
from ftensor.toolchain.inventory.read import expand, read, row_functions
from ftensor.toolchain.vitis.source import copy_headers

from .. import forked, fuzz_exports
from ..ir.findings import findings
from ..made_images import require_xrt
from . import emulation_host
from .stencil_program import ROWS, STENCILS, Stencil, arguments, below, edged, heat, heat_in_place, written

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.stencil_program")
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def run(*words: str, **env: str) -> str:
    done = forked.run(*PROGRAM, *words, env={**os.environ, **env}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs
@pytest.mark.long
def test_stencils_agree_with_numpy(tmp_path: Path) -> None:
    """In C simulation, whose FIFOs have the computed depths, and on XRT with the software device,
    where a unit reads the rows after its own from the slab of the next unit."""
    run("export", str(tmp_path), FTENSOR_DEVICE="csim")
    run("build", str(tmp_path), FTENSOR_DEVICE="csim")
    image = tmp_path / "stencils.xclbin"
    wanted = run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))
    assert len(wanted.splitlines()) == len(STENCILS) * len(ROWS)
    require_xrt()
    command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
    env = emulation_host.environment(FTENSOR_FALLBACK="error")
    done = forked.run(*command, *PROGRAM, "banks", env=env, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, wanted), done.stderr
    assert "bank of heat 1030: HBM[0:7] in 3 x" in done.stderr


@needs
@pytest.mark.long
@pytest.mark.parametrize("number", (27, 38))
def test_drawn_graphs_with_windows_agree_with_eager(number: int) -> None:
    """They pad planes. `make fuzz` draws others."""
    assert fuzz_exports.trial(Random(f"5:exports:{number}")) == ""


@pytest.mark.parametrize("stencil", STENCILS, ids=lambda stencil: stencil.name)
def test_the_sources_have_no_finding(stencil: Stencil, tmp_path: Path) -> None:
    """Every loop of a stage takes one cycle for each iteration."""
    copy_headers(tmp_path)
    files = stencil.jitted.export(str(tmp_path / stencil.name), *arguments(stencil, 12))
    assert not findings(files.source, stencil.name)


def exported(function: Callable[..., object], *planes: ft.Tensor, folder: Path) -> StagedKey:
    files = ft.jit(function).export(str(folder / "graph"), *planes)
    assert not files.apart
    (group,) = expand(read(files.inventory))
    return cast("StagedKey", group.members[0])


def test_steps_are_chained_in_one_kernel(tmp_path: Path) -> None:
    """Three steps read three rows above and below. No step reads the last element of the last
    row."""
    key = exported(heat, ft.ones(40, 64), folder=tmp_path)
    assert (key.length, key.width, key.halo) == (64, 58, 6)
    assert [stage.kind for stage in Stages(key).stages].count("window") == 3
    assert key.unread_beats(0) == 0
    assert replace(key, lanes=1).unread_beats(0) == 64 - 58 - 3


def test_units_read_their_halo(tmp_path: Path) -> None:
    """Each compute unit computes its rows and six more, and reads these from the next slab."""
    key = exported(heat, ft.ones(40, 64), folder=tmp_path)
    skeleton = board_skeleton_of(key)
    assert key.together == 8, "rows of 58 elements end on a beat after eight, and a halo has six"
    for units in (1, 2):
        launch = KernelLaunch(key, units, 64, ())
        out, plane, halo = skeleton.traffic(launch, False)
        assert (out.nbytes, plane.nbytes, halo.nbytes) == (4 * 64 * 58, 4 * 64 * 64, 4 * units * 6 * 64)
        trips = {loop.name: loop.trips for loop in skeleton.loops(launch, 0, False)}
        beats = (64 // units + 6) * 4
        assert trips["load_in_0"] == trips["store_out0"] == beats
        assert trips["window_0_window"] == beats + 2 * 4 + 1


def test_units_read_rows_above(tmp_path: Path) -> None:
    """Each written step moves the plane by a row and a column. Results start at a beat, and a unit
    reads as much of the previous slab."""
    key = exported(heat_in_place, ft.ones(40, 64), folder=tmp_path)
    assert (key.width, key.above, key.halo) == (64, 3 * 64 + 16, 7)
    launch = KernelLaunch(key, 2, 64, ())
    *_, halo, above = board_skeleton_of(key).traffic(launch, False)
    assert (halo.nbytes, above.nbytes) == (4 * 2 * 7 * 64, 4 * 2 * key.above)


def test_written_argument_is_computed_on_a_copy(tmp_path: Path) -> None:
    """The kernel is that of a function that clones the argument, followed by a copy back. An
    argument with gaps, and one that a view of another dtype writes, are written in place."""
    plane = ft.ones(48, 64)[4:44]
    files = ft.jit(written).export(str(tmp_path / "graph"), plane)
    assert len(files.apart) == 1 and re.match(r"copy .*copies the result back to the argument", files.apart[0])
    assert files.entry == exported(lambda p: _stepped(p.clone()), plane, folder=tmp_path).entry
    assert (plane == 1).all(), "an export runs nothing"
    for function, argument in ((_as_bits, plane), (written, ft.ones(40, 65)[:, :64])):
        (why, *_) = ft.jit(function).export(str(tmp_path / "graph"), argument).apart
        assert re.search(r"writes to an argument.*: write to a clone\(\), and copy that back", why), why


def _stepped(p: Any) -> Any:
    written(p)
    return p


def _as_bits(p: Any) -> Any:
    p.view(ft.int32)[1:-1] += 1
    return written(p)


def test_planes_start_with_their_argument(tmp_path: Path) -> None:
    """An argument that starts inside a memory uses the same kernel as any other. Arguments of one
    memory start with the first. Inside a beat, the windows cannot be stages."""
    memory = ft.ones(48, 64)
    for function in (heat, heat_in_place):
        whole = exported(function, ft.ones(40, 64), folder=tmp_path)
        assert exported(function, memory[2:42], folder=tmp_path) == whole
    shifted = exported(lambda p, q: p[1:, 1:] + q[:-1, :-1] * 2, memory[:40], memory[3:43], folder=tmp_path)
    assert shifted.halo == 3
    apart = ft.jit(heat).export(str(tmp_path / "graph"), memory.view(-1)[1 : 1 + 40 * 64].view(40, 64)).apart
    assert apart[0].endswith("an operand begins at byte 4, not on a beat")


# Windows that no kernel computes, and the reason.
REFUSED = {
    "a fold": (lambda p: (p[1:, 1:] - p[:-1, :-1]).amax(-1), "amax .*not elementwise, and a kernel with windows"),
    "steps": (lambda p: p[1:, 1::2] + p[:-1, :-1:2] + 1, "add .*an operand is no view of a plane's rows"),
    "sizes": (lambda p: (p[1:, 1:] + 1, p[2:, 1:] + 1), "results differ in size"),
    "transposed": (lambda p: p[1:, 1:].t() + p[:-1, :-1].t() + 1, "add .*an operand is no view of a plane's rows"),
    "in place": (lambda p: _written(ft.empty_like(p), p), "copy .*it writes a part of a plane that no op before wrote"),
    "an argument": (lambda p: _written(p, p + 1), "copy .*it writes to an argument"),
    "rows behind": (
        lambda p: _added(p[:-2].clone(), p[3:-1]),
        "add .*it reads 99 rows of an argument, and writes to parts of 98",
    ),
    "one value": (
        lambda p: _filled(ft.zeros_like(p)) + p,
        "fill .*it writes one value to a part of a plane of one value",
    ),
    "far": (lambda p: p[65:, 1:] + p[:-65, :-1] + 1, "a neighbour is 65 rows and 1 columns away"),
}


def _written(p: ft.Tensor, q: ft.Tensor) -> ft.Tensor:
    p[1:-1, 1:-1] = q[:-2, 1:-1]
    return p


def _added(p: ft.Tensor, q: ft.Tensor) -> ft.Tensor:
    p[1:-1] += q
    return p


@pytest.mark.parametrize("why", REFUSED)
def test_refused_windows(why: str, tmp_path: Path) -> None:
    """The error, or the reason for the split, names the op, the line and the reason."""
    function, message = REFUSED[why]
    try:
        said = "\n".join(ft.jit(function).export(str(tmp_path / "graph"), ft.ones(100, 64)).apart)
    except ft.GraphError as error:
        said = str(error)
    assert re.search(message, said), said
    assert "test_stencils.py:" in said


PAD = ft.nn.functional.pad
# Planes with a border of zeros, and whether a kernel computes the border, too.
PADDED = {
    "columns": (lambda p: PAD(p, (0, 16)) * 2 + 1, False),
    "both": (lambda p: PAD(p, (16, 16, 1, 0)) * 2 + 1, False),
    "rows below": (lambda p: PAD(p, (0, 0, 0, 3)) * 2 + 1, False),
    "rows above": (lambda p: PAD(p, (0, 0, 2, 3)).sqrt() * 2 + 1, False),
    "columns and neighbours": (lambda p: _sum_of_neighbours(PAD(p, (1, 1)), 1), False),
    "rows and neighbours": (lambda p: _sum_of_neighbours(PAD(p, (0, 0, 1, 1)), 0), False),
    "moved": (lambda p: PAD(p[:-2], (0, 0, 2, 0)) * 2 + p, True),
}


def _sum_of_neighbours(p: ft.Tensor, dim: int) -> ft.Tensor:
    n = p.shape[dim] - 2
    return p.narrow(dim, 2, n) + p.narrow(dim, 0, n) * 2


@pytest.mark.parametrize("border", PADDED)
def test_files_of_padded_planes_are_read(border: str, tmp_path: Path) -> None:
    """A kernel reads as many rows of its argument as its results have, of the same length. Where an
    argument is smaller, the graph is split."""
    function, is_one_kernel = PADDED[border]
    files = ft.jit(function).export(str(tmp_path / "graph"), ft.ones(8, 64))
    assert len(read(tmp_path / "graph.toml").graphs) == 1
    assert (not files.apart) == is_one_kernel


def _filled(p: ft.Tensor) -> ft.Tensor:
    p[1:, 1:] = 2
    return p


# Changes of the file of `below`, and the reason why it is then no graph file.
CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "wider": (lambda raw: raw.update(width=33), "results have 33 elements a row, of 32"),
    "no width": (lambda raw: raw.pop("width"), "results have 0 elements a row"),
    "no number": (lambda raw: raw.update(width="32"), "a number is '32'"),
    "order": (lambda raw: _window(raw).reverse(), "the offsets of a window are not in order"),
    "negative": (lambda raw: _window(raw).insert(0, [-1, 0]), "a number is -1"),
    "far": (lambda raw: _window(raw)[1].__setitem__(0, 65), "a neighbour is 65 rows"),
    "beyond the row": (lambda raw: _window(raw)[1].__setitem__(1, 1), "results of 32 elements reach 1 further"),
    "no halo": (lambda raw: raw["inputs"][1].update(lies="one"), "its halos are not those of its rows"),
    "another halo": (lambda raw: raw["inputs"][1].update(dtype="int32"), "its halos are not those of its rows"),
    "lanes": (lambda raw: raw.update(lanes=64), "its rows of 32 are no whole beats of 64"),
    "a row for all": (lambda raw: raw["inputs"][0].update(lies="every row"), "neither rows nor one element"),
}


# Changes of the file of `edged`.
SCATTER_CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "within a beat": (lambda raw: raw.update(above=raw["above"] + 1), "elements above its rows, no beats of"),
    "too far": (lambda raw: raw.update(above=24 * 9), "it begins 216 elements above its rows"),
    "no halo above": (lambda raw: raw["inputs"][-1].update(lies="halo"), "its halos are not those of its rows"),
    "negative": (lambda raw: _scatter(raw)["rows"].__setitem__(1, -1), "a number is -1"),
    "wide": (lambda raw: _scatter(raw)["columns"].__setitem__(1, 25), "it writes up to column 25 of rows of 24"),
    "three": (lambda raw: _scatter(raw)["rows"].append(1), "too many values"),
    "no write": (lambda raw: raw["units"].pop(_scatter_at(raw)), "a number is"),
}


def _scatter_at(raw: dict[str, Any]) -> int:
    return ["scatter" in unit for unit in raw["units"]].index(True)


def _scatter(raw: dict[str, Any]) -> Any:
    return raw["units"][_scatter_at(raw)]["scatter"]


def _window(raw: dict[str, Any]) -> Any:
    (function,) = [unit for unit in raw["units"] if "window" in unit]
    return function["window"]["offsets"]


@pytest.mark.parametrize("change", [*CHANGES, *[f"scatter {name}" for name in SCATTER_CHANGES]])
def test_changed_file_of_a_stencil_is_refused(change: str, tmp_path: Path) -> None:
    scatter = change.startswith("scatter ")
    plane = ft.ones(12, 24, dtype=ft.int16) if scatter else ft.ones(12, 32)
    raw = json.loads(ft.jit(edged if scatter else below).export(str(tmp_path / "graph"), plane).graph.read_text())
    function, message = SCATTER_CHANGES[change.removeprefix("scatter ")] if scatter else CHANGES[change]
    function(raw)
    with pytest.raises(ValueError, match=message):
        data = (json.dumps(raw, sort_keys=True, indent=1) + "\n").encode()
        parse_key(parse_json(data), data, row_functions)


def test_windows_have_no_linked_kernels(tmp_path: Path) -> None:
    files = STENCILS[0].jitted.export(str(tmp_path / "heat"), *arguments(STENCILS[0], 12))
    assert files.opencl is None
    path = tmp_path / "linked.toml"
    path.write_text('[[graph]]\nfile = "heat.json"\nstructure = "linked"\n')
    with pytest.raises(
        InventoryError, match='windows or a reflected signal has no kernel for each stage; set structure = "dataflow"'
    ):
        read(path)
