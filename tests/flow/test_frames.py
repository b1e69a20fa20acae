"""Overlapping frames of a signal as operands of graphs: chains on C simulation, XRT and Intel's
emulator; frames that no stage reads; the model's traffic."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

import ftensor as ft
from ftensor.errors.build import InventoryError
from ftensor.kernels.graph_file import parse_json, parse_key
from ftensor.kernels.graph_text import FRAMES, REFLECTED
from ftensor.kernels.skeleton import board_skeleton_of
from ftensor.kernels.staged import StagedKey
from ftensor.kernels.workload import KernelLaunch
from ftensor.runtime.intel import emulator
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import expand, read, row_functions
from ftensor.toolchain.vitis.source import copy_headers
from ftensor.toolchain.vitis.staged import source

from .. import forked
from ..ir.findings import findings
from ..made_images import require_xrt
from . import emulation_host
from .frame_program import CHAINS, Chain, arguments

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.frame_program")
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def run(*words: str, **env: str) -> str:
    done = forked.run(*PROGRAM, *words, env={**os.environ, **env}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the chains, exported in C simulation."""
    path = tmp_path_factory.mktemp("frames")
    run("export", str(path), FTENSOR_DEVICE="csim")
    return path


@needs
@pytest.mark.long
def test_chains_agree_with_numpy(folder: Path) -> None:
    """In C simulation, whose FIFOs have the computed depths, and on XRT with the software
    device."""
    run("build", str(folder), FTENSOR_DEVICE="csim")
    image = folder / "frames.xclbin"
    wanted = run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))
    assert len(wanted.splitlines()) == 2 * len(CHAINS)
    require_xrt()
    command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
    env = emulation_host.environment(FTENSOR_FALLBACK="error")
    done = forked.run(*command, *PROGRAM, "run", env=env, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, wanted), done.stderr


@needs
@pytest.mark.long
def test_intels_emulator_agrees_with_numpy(folder: Path) -> None:
    """Kernels connected by channels, with frames before a transform and before reductions."""
    if emulator.driver() is None:
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", "Intel's FPGA emulator is not here"
        pytest.skip(f"Intel's FPGA emulator is not in {emulator.default_folder()}")
    (folder / "intel.toml").write_text("".join(f'[[graph]]\nfile = "{CHAINS[k].name}.json"\n' for k in (0, 3)))
    build = ("-m", "ftensor", "build", "--inventory", str(folder / "intel.toml"), "--target", "intel-emulator")
    done = forked.run(*build, "--out", str(folder / "intel"), env=dict(os.environ), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    command = ("-m", "ftensor", "emulate", "--intel", "--image", str(folder / "intel"), "--", sys.executable)
    env = {**os.environ, "FTENSOR_FALLBACK": "error"}
    done = forked.run(*command, *PROGRAM, "run", "0", "3", env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4


@pytest.mark.parametrize(
    "chain",
    [CHAINS[0], CHAINS[2], CHAINS[3], CHAINS[6], CHAINS[7], CHAINS[8], Chain("complex", 32, 8)],
    ids=lambda chain: chain.name,
)
def test_the_sources_have_no_finding(chain: Chain, tmp_path: Path) -> None:
    """Every loop of a stage takes one cycle for each iteration."""
    copy_headers(tmp_path)
    files = chain.function.export(str(tmp_path / chain.name), *arguments(chain, 6))
    assert not findings(files.source, chain.name)


def exported(function: object, *arguments: ft.Tensor, folder: Path) -> StagedKey:
    files = ft.jit(function).export(str(folder / "graph"), *arguments)
    (group,) = expand(read(files.inventory))
    return cast("StagedKey", group.members[0])


# Rows that are no frames of a stage, and the reason.
REFUSED = {
    "gaps": (lambda x: x.unfold(0, 64, 80), "an operand is not laid out in rows"),
    "several distances": (lambda x: x.view(3, 4, 100)[:, :3].unfold(2, 64, 12), "signals at several distances"),
    "the same frames again": (lambda x: x.unfold(0, 64, 16).expand(2, -1, 64), "signals at several distances"),
    "no whole beats": (lambda x: x.unfold(0, 62, 16), "its frames of 62 elements, one each 16, are no whole beats"),
    "two lengths": (lambda x: _two_lengths(x * 2), "1200 elements, where there are"),
}


def _two_lengths(x: ft.Tensor) -> ft.Tensor:
    return x.unfold(0, 64, 16).abs() + x.unfold(0, 32, 16)[:-2].amax(-1, keepdim=True)


@pytest.mark.parametrize("why", REFUSED)
def test_refused_frames(why: str, tmp_path: Path) -> None:
    """The error, or the reason for the split, names the op, the line and the reason."""
    function, message = REFUSED[why]

    def chain(x: ft.Tensor) -> ft.Tensor:
        return function(x).abs() + 1

    try:
        said = "\n".join(ft.jit(chain).export(str(tmp_path / "graph"), ft.randn(1200)).apart)
    except ft.GraphError as error:
        said = str(error)
    assert re.search(message, said), said
    assert said.startswith(("abs is no stage", "mul (")) and "test_frames.py:" in said


# Ops that do not take half spectra, the kernels, and the op between them.
HALVES = {
    "a fold": (lambda x, h: ft.fft.rfft(x).abs().mean(-1), "ft_rfft_abs_staged mean ("),
    "another one": (lambda x, h: ft.fft.rfft(x).abs() * h, "ft_rfft_abs_staged mul ("),
    "a conjugated one": (lambda x, h: (ft.fft.ihfft(x).abs() + 1).sqrt(), "ft_abs_add_sqrt_staged fft ("),
    "a part of it": (lambda x, h: ft.fft.rfft(x * 2).abs()[:, :32].sqrt(), "ft_mul_rfft_abs_staged sqrt ("),
}


@pytest.mark.parametrize("why", HALVES)
def test_graph_is_split_where_no_stage_takes_half_spectra(why: str, tmp_path: Path) -> None:
    function, wanted = HALVES[why]
    files = ft.jit(function).export(str(tmp_path / "graph"), ft.randn(100, 64), ft.randn(100, 33))
    assert f"{files.entry.rpartition('_')[0]} {files.apart[0]}".startswith(wanted)


def test_row_shared_by_half_spectra_is_read_once(tmp_path: Path) -> None:
    """No beat after its elements is read: 33 of 64 are five beats of eight."""
    key = exported(CHAINS[7].chain, *arguments(CHAINS[7], 6), folder=tmp_path)
    (k,) = [k for k, half in enumerate(key.is_half[: len(key.ins)]) if half]
    assert (key.lanes, key.cached_beats(k), key.row_length(k)) == (8, 5, 33)
    assert "b < 5" in source(KernelGroup("power", (key,)))


def test_half_spectra_have_no_linked_kernels(tmp_path: Path) -> None:
    files = CHAINS[5].function.export(str(tmp_path / "half"), *arguments(CHAINS[5], 6))
    assert files.opencl is None
    path = tmp_path / "linked.toml"
    path.write_text('[[graph]]\nfile = "half.json"\nstructure = "linked"\n')
    with pytest.raises(InventoryError, match='set structure = "dataflow"'):
        read(path)


# Reflected signals that no stage reads, and the reason.
CENTERED: dict[str, tuple[int, Callable[[ft.Tensor], ft.Tensor], str]] = {
    "rest": (1000, lambda x: ft.stft(x, 64, 16, return_complex=True), r"of 1000 elements has 63 frames, one each 16"),
    "more": (1024, lambda x: _frames(_reflected(x, 64)), "64 elements are reflected at each end, .* half of 64"),
    "part": (1024, lambda x: _frames(_reflected(x, 32)[32:]), "otherwise than in frames, from the first one on"),
    "beats": (1024, lambda x: _reflected(x, 12).unfold(0, 24, 8), "half a frame of 24 elements is no whole beats of"),
}


def _reflected(x: ft.Tensor, count: int) -> ft.Tensor:
    return ft.nn.functional.pad(x[None, None], (count, count), "reflect")[0, 0]


def _frames(x: ft.Tensor) -> ft.Tensor:
    return ft.fft.rfft(x.unfold(0, 64, 16))


@pytest.mark.parametrize("why", CENTERED)
def test_reflected_signals_that_are_copied(why: str, tmp_path: Path) -> None:
    """The reason names the op that reflects and its line. The kernel reads the copy."""
    size, function, message = CENTERED[why]
    files = ft.jit(lambda x: function(x).abs().square()).export(str(tmp_path / "graph"), ft.randn(size))
    said = "\n".join(files.apart)
    assert re.search(message, said), said
    assert "test_frames.py:" in said
    assert files.entry


def test_units_reflect_their_own_frames(tmp_path: Path) -> None:
    """A unit knows its first frame, and reads the beats of its 16 frames once."""
    key = exported(CHAINS[8].chain, *arguments(CHAINS[8], 36), folder=tmp_path)
    text = source(KernelGroup("frames", (key,), units=2))
    assert ", n, first, total)" in text and ", begin, n);" in text
    (k,) = [k for k, p in enumerate(key.ins) if p.kind == REFLECTED]
    skeleton = board_skeleton_of(key)
    (signal,) = [a for a in skeleton.traffic(KernelLaunch(key, 2, 36, ()), False) if a.name == f"in_{k}"]
    assert signal.nbytes == 4 * (36 * 16 + 2 * 48)
    trips = {loop.name: loop.trips for loop in skeleton.loops(KernelLaunch(key, 2, 36, ()), 0, False)}
    assert trips[f"load_in_{k}_signal"] == (15 * 16 + 64) // key.lanes


def test_beat_of_the_signal_is_read_once_by_each_unit(tmp_path: Path) -> None:
    """Each of two compute units starts at its first frame, and reads a whole frame there."""
    key = exported(CHAINS[0].chain, *arguments(CHAINS[0], 6), folder=tmp_path)
    (k,) = [k for k, p in enumerate(key.ins) if p.kind == FRAMES]
    for units in (1, 2):
        traffic = board_skeleton_of(key).traffic(KernelLaunch(key, units, 100, ()), False)
        (signal,) = [access for access in traffic if access.name == f"in_{k}"]
        assert signal.nbytes == 4 * (100 * 16 + units * 48)
    assert f"in_{k}_offset + (long)begin * 16" in source(KernelGroup("frames", (key,), units=2))


def test_units_have_whole_signals(tmp_path: Path) -> None:
    """A unit reads each of its signals once. A graph file of signals that start inside beats is
    refused."""
    files = CHAINS[2].function.export(str(tmp_path / "graph"), *arguments(CHAINS[2], 6))
    (group,) = expand(read(files.inventory))
    key = cast("StagedKey", group.members[0])
    assert (key.period, key.signal, key.together % 6) == (6, 5 * 8 + 128, 0)
    (k,) = [k for k, p in enumerate(key.ins) if p.kind == FRAMES]
    for units in (1, 2):
        traffic = board_skeleton_of(key).traffic(KernelLaunch(key, units, 10 * 6, ()), False)
        (signal,) = [access for access in traffic if access.name == f"in_{k}"]
        assert signal.nbytes == 4 * 10 * key.signal
    data = files.graph.read_text().replace('"signal": 168', '"signal": 166').encode()
    with pytest.raises(ValueError, match="signals 166 elements apart begin within beats"):
        parse_key(parse_json(data), data, row_functions)


def test_graph_file_with_a_changed_hop_is_refused(tmp_path: Path) -> None:
    """Frames start at beats, and overlap."""
    chain = CHAINS[0]
    text = chain.function.export(str(tmp_path / "graph"), *arguments(chain, 6)).graph.read_text()
    for hop in (12, 64, 128, 0):
        data = text.replace('"span": 16', f'"span": {hop}').encode()
        with pytest.raises(ValueError, match=r"frames of 64 elements, one each|a span is"):
            parse_key(parse_json(data), data, row_functions)
