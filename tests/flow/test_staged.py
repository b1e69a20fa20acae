"""Graphs as kernels of stages: exported, built into an image, run as one launch."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import ftensor as ft
from ftensor.errors.build import InventoryError
from ftensor.estimate.model import loops
from ftensor.graph.partition import Exported
from ftensor.kernels.staged import StagedKey
from ftensor.kernels.workload import KernelLaunch
from ftensor.toolchain.area.fit import area
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import copy_headers, source

from .. import forked
from ..ir.findings import findings
from ..made_images import require_xrt
from . import emulation_host
from .staged_program import CASES, OF_PAIRS, SHALLOW, file, operands, shallow, spectrum

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.staged_program")
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def run(*words: str, **env: str) -> str:
    done = forked.run(*PROGRAM, *words, env={**os.environ, **env}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def exported(k: int, folder: Path) -> Exported:
    """Returns the files of a case of five rows."""
    arguments = [ft.from_numpy(a) for a in operands(k, 5)]
    return ft.jit(CASES[k][0]).export(str(folder / file(k)), *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the graphs, exported in C simulation, and their image."""
    path = tmp_path_factory.mktemp("staged")
    entries = run("export", str(path), FTENSOR_DEVICE="csim").split()
    (path / "entries").write_text("\n".join(entries))
    run("build", str(path), FTENSOR_DEVICE="csim")
    return path


@pytest.mark.long
@needs
def test_graph_is_one_launch_and_deadlocks_are_reported(folder: Path) -> None:
    """Any number of rows gives NumPy's results. Too shallow FIFOs are reported with their content,
    repeatedly, and the process continues."""
    image = {"FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(folder / "staged.xclbin")}
    one, two, three, four, *rest = run("stuck", **image).splitlines()
    assert one == two and three == four and len(rest) == 35
    message = "the stages of the kernel {} wait for each other, and none can go"
    assert one.startswith(message.format("shallow_640"))
    assert "v0_elements_1 4 of 4, its writer waits" in one
    assert "v1_elements_1 0 of 4, its reader waits" in one
    assert three.startswith(message.format("detector_128"))
    assert "v0_elements_2 4 of 4, its writer waits" in three
    assert "v2_elements_1 0 of 4, its reader waits" in three


@needs
@pytest.mark.long
def test_the_software_device_gives_the_same_bits(folder: Path) -> None:
    """XRT with the software device uses the same image. There a deadlock ends the program."""
    require_xrt()
    image = folder / "staged.xclbin"
    wanted = run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))

    def emulated(word: str) -> subprocess.CompletedProcess[str]:
        command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
        env = emulation_host.environment(FTENSOR_FALLBACK="error")
        return forked.run(*command, *PROGRAM, word, env=env, cwd=ROOT)

    done = emulated("run")
    assert (done.returncode, done.stdout) == (0, wanted), done.stderr
    done = emulated("stuck")
    assert done.returncode != 0
    assert "v0_elements_1 4 of 4, its writer waits" in done.stderr


def test_any_device_exports_the_same_graph(tmp_path: Path) -> None:
    """The entry is the digest of the graph file, and the inventory has the digest of the whole
    file."""
    csim = run("export", str(tmp_path / "csim"), FTENSOR_DEVICE="csim").split()
    for k, entry in enumerate(csim):
        files = exported(k, tmp_path)
        digest = hashlib.sha256(files.graph.read_bytes()).hexdigest()
        assert files.entry == entry and entry.endswith(digest[:16])
        (group,) = expand(read(files.inventory))
        assert group.members[0].entry == entry and digest in files.inventory.read_text()
        assert files.source.read_text() == source(group)


def test_the_sources_have_no_finding(tmp_path: Path) -> None:
    """v++ refuses nothing in them, and nothing becomes slow hardware."""
    copy_headers(tmp_path)
    for k in range(len(CASES))[:-SHALLOW]:
        files = exported(k, tmp_path)
        assert not findings(files.source, file(k))


# Refused functions, and the words of the message: the op and the reason.
REFUSED = {
    "a sort": (lambda x: x.sort(-1).values + 1, "sort is no stage .* needs all first"),
    "a product": (lambda x: x @ x.t(), "gemm.* is no stage"),
    "a running sum": (lambda x: x.cumsum(-1), "scan is no stage"),
    "a fold across rows": (lambda x: x.sum(0), "sum is no stage .* folds across rows"),
    "a transposed operand": (lambda x: x.t() + 1, "add is no stage .* is not laid out in rows"),
    "parts of rows": (lambda x: x[:, ::2] + 1, "add is no stage .* is not laid out in rows"),
    "an argument that is written": (lambda x: x.add_(1), "add is no stage .* to an argument"),
    "random numbers": (lambda x: x + ft.rand(3, 40), "is no stage .* draws random numbers"),
    "pairs of doubles": (lambda x: x.to(ft.complex128), "no stage has elements of complex128"),
    "a transform of another length": (
        lambda x: ft.fft.fft(x.to(ft.complex64)),
        "fft is no stage .* 40 numbers, .* 8 to 4096",
    ),
    "a transform across rows": (
        lambda x: ft.fft.fft(x[:2, :8].to(ft.complex64), dim=0),
        "fft is no stage .* all first",
    ),
    "nothing": (lambda x: x, "computes nothing"),
    "one row": (lambda x: x[:1] + 1, "got 1 rows of 40 elements"),
    "square data": (lambda x: ft.ones(40, 40) + x[:1], "got 40 rows of 40 elements"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_ops_that_no_stage_computes_are_refused(tmp_path: Path, case: str) -> None:
    """The error names the op and the line. Nothing is written, and the argument is unchanged."""
    function, said = REFUSED[case]
    x = ft.ones(3, 40)
    with pytest.raises(ft.GraphError, match=said):
        ft.jit(function).export(str(tmp_path / "no"), x)
    assert not list(tmp_path.iterdir()) and x.sum().item() == 120


def test_too_large_fifos_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ft.GraphError, match=r"hold \d+ bytes for rows of 4194304 elements, more"):
        ft.jit(shallow).export(str(tmp_path / "no"), ft.zeros(2, 1 << 22))


@pytest.mark.parametrize("name", ["two words", "a-b", "1st", "x" * 30])
def test_invalid_kernel_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is no name of a graph"):
        ft.jit(lambda x: x + 1).export(f"{tmp_path}/{name}", ft.ones(3, 40))


class Graph:
    """A graph file and its inventory, to be changed."""

    def __init__(self, folder: Path) -> None:
        self.files = ft.jit(lambda x: x.sum(-1) * 2).export(str(folder / "twice"), ft.ones(3, 40))
        self.text = self.files.graph.read_text()

    def refused(self, text: str, digest: bool = False) -> str:
        """Returns the error for another text, with or without its digest in the inventory."""
        self.files.graph.write_text(text)
        more = f'\nsha256 = "{hashlib.sha256(text.encode()).hexdigest()}"' if digest else ""
        self.files.inventory.write_text('[[graph]]\nfile = "twice.json"' + more)
        with pytest.raises(InventoryError) as caught:
            read(self.files.inventory)
        return str(caught.value)


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return Graph(tmp_path)


def test_changed_graph_file_is_refused(graph: Graph) -> None:
    inventory = graph.files.inventory.read_text()
    was = hashlib.sha256(graph.text.encode()).hexdigest()
    changed = graph.text.replace('"length": 40', '"length": 41')
    graph.files.graph.write_text(changed)
    with pytest.raises(InventoryError) as caught:
        read(graph.files.inventory)
    now = hashlib.sha256(changed.encode()).hexdigest()
    assert f"its SHA-256 is {now}, not {was}" in str(caught.value)
    assert graph.files.inventory.read_text() == inventory


# A change of a graph file, and its error.
BROKEN = {
    "no JSON": (lambda t: t[:-10], "it is no JSON"),
    "no graph": (lambda t: "[1, 2]\n", 'its format is not "ftensor graph 1"'),
    "too long": (lambda t: t + " " * (1 << 20), "and at most 1048576 are read"),
    "another spelling": (lambda t: t.replace("\n", "\n "), "not the one that its graph is written"),
    "no rows": (lambda t: t.replace('"length": 40', '"length": 0'), "its rows have 0 elements"),
    "long rows": (lambda t: t.replace('"length": 40', '"length": 1048577'), "1048577, not one from 0 to 1048576"),
    "odd lanes": (lambda t: t.replace('"lanes": 16', '"lanes": 12'), "it has 12 lanes"),
    "a value that is not there": (
        lambda t: t.replace('"value": 2', '"value": 9'),
        "an output is 9, not one from 0 to 2",
    ),
    "blocks without operands": (lambda t: t.replace('"period": 1', '"period": 3'), "its blocks have 3 rows"),
    "no such dtype": (lambda t: t.replace("float32", "float33"), "'float33' is no dtype of graphs"),
    "no such place": (lambda t: t.replace('"of rows"', '"of cats"'), "'of cats'"),
    "no such unit": (lambda t: t.replace('"unit": 1', '"unit": 7'), "7, not one from 0 to 1"),
    "a missing part": (lambda t: json.dumps({"format": "ftensor graph 1"}), "it has no 'inputs'"),
    "dtypes that differ": (lambda t: t.replace('"dtype": "float32"', '"dtype": "float64"', 1), "calls' dtypes"),
    "a text for a number": (lambda t: t.replace('"length": 40', '"length": "40"'), "'40', not one"),
    "a transform of such rows": (
        lambda t: t.replace('"fold": null', '"fold": null, "transform": {"inverse": false}'),
        "its unit 'mul' is no transform",
    ),
    "a name with code in it": (
        lambda t: t.replace('"name": "sum_mul"', '"name": "a(){}"'),
        "its name is 'a(){}', and that of its calls 'sum_mul'",
    ),
    "a row that is not there": (
        lambda t: t.replace('"name": "mul"', '"name": "mine"'),
        "its unit 'mine' in float32 is no op that is known",
    ),
    "another reduction's state": (
        lambda t: t.replace('"combine": "x + y"', '"combine": "x * y"'),
        "its unit 'sum' in float32 is not what the op computes here",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_malformed_graph_file_is_refused(graph: Graph, case: str) -> None:
    change, said = BROKEN[case]
    changed = change(graph.text)
    assert changed != graph.text
    for digest in (False, True):
        text = graph.refused(changed, digest)
        assert said in text and "twice.json is no graph file" in text


def test_missing_graph_file(graph: Graph) -> None:
    graph.files.graph.unlink()
    with pytest.raises(InventoryError, match=r"twice.json can't be read: No such file"):
        read(graph.files.inventory)


def test_the_model_has_the_loops_of_the_source(tmp_path: Path) -> None:
    """Loops are compared by their labels. Longer rows take more block RAM for FIFOs, and cycles in
    proportion."""
    for k, (function, _, _) in enumerate(CASES):
        areas = []
        for times in (1, 16 if function in OF_PAIRS else 256):
            arguments = [ft.from_numpy(np.tile(a, times)) for a in operands(k, 5)]
            files = ft.jit(function).export(str(tmp_path / file(k)), *arguments)
            (group,) = expand(read(files.inventory))
            key = cast("StagedKey", group.members[0])
            one = loops(KernelLaunch(key, 1, 1000), 0)
            labels = re.findall(r"^(\w+):$", files.source.read_text(), re.M)
            assert {x.name for x in one} == set(labels) and len(one) == len(labels)
            behind = key.transform_schedule.startup_beats if key.transforms else 0
            assert max(x.cycles for x in one) == 1000 * key.beats + behind
            areas.append(area(group))
        assert areas[0].memories.bram < areas[1].memories.bram
        assert len(areas[0].ops) >= 2 * (function is not spectrum)
        more = [one.skeleton.dsp for one in areas]
        assert more[0] < more[1] if function in OF_PAIRS else more == [0, 0]


TRACED = """
import ftensor as ft

@ft.jit
def norm(x):
    return x.abs().amax(-1)

print(norm(ft.tensor([[3.0, -4.0] * 9] * 3)).tolist())
"""


@needs
def test_traced_program_requests_its_graph(tmp_path: Path) -> None:
    """`ftensor kernels --trace` writes the file next to the inventory."""
    (tmp_path / "program.py").write_text(TRACED)
    words = ("-m", "ftensor", "kernels", "--trace", "program.py", "--write", "mine.toml")
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "PYTHONPATH": str(ROOT)}
    done = forked.run(*words, env=env, cwd=tmp_path)
    assert done.returncode == 0 and "[4.0, 4.0, 4.0]" in done.stderr, done.stderr
    (group,) = expand(read(tmp_path / "mine.toml"))
    files = ft.jit(lambda x: x.abs().amax(-1)).export(str(tmp_path / "again"), ft.ones(7, 18))
    assert group.members[0].entry == files.entry
