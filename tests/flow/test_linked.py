"""Graphs with a kernel for each stage, connected by streams: built, run, changed."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.boards import find
from ftensor.errors.build import InventoryError
from ftensor.errors.image import ImageError
from ftensor.image.description import pack
from ftensor.image.file import read as image_of
from ftensor.kernels.linked_keys import MIN_DEPTH
from ftensor.toolchain.area import fit
from ftensor.toolchain.area.fit import area
from ftensor.toolchain.csim import CSim
from ftensor.toolchain.group import KernelGroup, StreamConnection, arguments
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.jobs.progress import Progress
from ftensor.toolchain.make import Request, build, commands, prepare
from ftensor.toolchain.vitis.source import copy_headers, source
from ftensor.toolchain.vitis.target import Vitis

from .. import forked
from ..ir.findings import findings
from ..made_images import require_xrt
from . import emulation_host
from .linked_program import LENGTH, centred

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.linked_program")
PLATFORM = "xilinx_u55c_gen3x16_xdma_3_202210_1"
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
HEAD = '[[graph]]\nfile = "{}.json"\nstructure = "{}"\n'


def exported(
    folder: Path, name: str, function: Callable[..., ft.Tensor], structure: str = "linked"
) -> tuple[KernelGroup, ...]:
    """Returns the kernels of a graph over rows."""
    ft.jit(function).export(str(folder / name), ft.ones(3, LENGTH))
    inventory = folder / f"{name}_{structure}.toml"
    inventory.write_text(HEAD.format(name, structure))
    return expand(read(inventory))


def run(image: Path, word: str = "run") -> str:
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(image)}
    done = forked.run(*PROGRAM, word, env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image of one graph with a kernel for each stage."""
    path = tmp_path_factory.mktemp("linked")
    groups = exported(path, "centred", centred)
    built = build(Request("linked", groups, "", path / "out"), CSim(), Progress())
    assert built.image is not None, [o.job.log.read_text() for o in built.failures]
    return path


@pytest.mark.long
@needs
def test_graph_has_the_same_bits_in_one_kernel_and_in_several(folder: Path) -> None:
    """It is one entry of the image, with two free-running kernels and three that the host
    starts."""
    image = folder / "out" / "linked.xclbin"
    one = exported(folder, "centred", centred, "dataflow")
    built = build(Request("whole", one, "", folder / "whole"), CSim(), Progress())
    assert built.image is not None
    assert run(image) == run(built.image)
    manifest = image_of(image).manifest
    assert manifest.entries == (one[0].members[0].entry,)
    started = [record.name for record, _ in manifest.kernels_of(manifest.entries[0])]
    assert started == ["centred_begin", "centred_in0", "centred_out0"]
    assert [k.name for k in manifest.kernels if not k.members] == [
        g.name for g in exported(folder, "centred", centred)[3:]
    ]


@needs
def test_launches_of_several_threads_do_not_interfere(folder: Path) -> None:
    assert run(folder / "out" / "linked.xclbin", "threads") == f"{[True] * 4}\n"


@needs
def test_interrupted_launch_does_not_affect_the_next(folder: Path) -> None:
    assert run(folder / "out" / "linked.xclbin", "interrupted") == "[True, True]\n"


@needs
def test_linked_image_without_manifest_is_reported(folder: Path, tmp_path: Path) -> None:
    """It is recognized by its kernels, whose streams have the compute unit's number."""
    image = image_of(folder / "out" / "linked.xclbin")
    path = tmp_path / "lost.xclbin"
    path.write_bytes(pack(image.description, image.library))
    with pytest.raises(ImageError, match="manifest"):
        image_of(path)


@needs
def test_too_shallow_streams_are_reported(folder: Path) -> None:
    """Each call reports the content of each FIFO. The kernels' own texts are unchanged."""
    groups = exported(folder, "centred", centred)
    joins = tuple(replace(join, depth=MIN_DEPTH) for join in groups[0].joins)
    assert joins != groups[0].joins
    shallow = (replace(groups[0], joins=joins), *groups[1:])
    built = build(Request("shallow", shallow, "", folder / "out"), CSim(), Progress())
    assert {o.result for o in built.outcomes} == {"reused"} and built.image is not None
    said = run(built.image, "stuck").splitlines()
    assert len(said) == 2 and said[0] == said[1]
    assert said[0].startswith("the stages of the kernel centred_begin wait for each other")
    assert "v0_elements_1 16 of 16, its writer waits" in said[0]


@needs
@pytest.mark.long
def test_xrt_starts_the_kernels_of_a_graph_together(folder: Path) -> None:
    require_xrt()
    image = folder / "out" / "linked.xclbin"
    command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
    env = emulation_host.environment(FTENSOR_FALLBACK="error")
    for word in ("run", "threads"):
        done = forked.run(*command, *PROGRAM, word, env=env, cwd=ROOT)
        assert (done.returncode, done.stdout) == (0, run(image, word)), done.stderr
    done = forked.run(*command, *PROGRAM, "signalled", env=env, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, f"{[True] * 3}\n"), done.stderr


@needs
def test_changed_graph_compiles_only_changed_stages(tmp_path: Path) -> None:
    """The build's jobs report it. Another number changes no text. Another op at the end recompiles
    only the stage after the reduction, and one before the reduction only that stage."""
    functions = {
        "as it was": lambda x: (x - x.mean(-1, keepdim=True)) * 2,
        "a number": lambda x: (x - x.mean(-1, keepdim=True)) * 3,
        "an op": lambda x: (x - x.mean(-1, keepdim=True)) / 2,
        "one before": lambda x: (x - x.abs().mean(-1, keepdim=True)) * 2,
    }
    jobs = {}
    for name, function in functions.items():
        groups = exported(tmp_path, "graph", function)
        request = Request("graph", groups, "", tmp_path / "out")
        jobs[name] = {job.output.name for job in prepare(request, CSim()).kernels}
    kinds = lambda names: sorted(re.sub(r"_[0-9a-f]{12}", "", n.rpartition("-")[0]) for n in names)  # noqa: E731
    before = jobs["as it was"]
    assert kinds(before) == ["ft_elements", "ft_fold", "graph_begin", "graph_in0", "graph_out0"]
    assert jobs["a number"] == before
    assert kinds(jobs["an op"] - before) == ["ft_elements"]
    assert kinds(jobs["one before"] - before) == ["ft_elements", "graph_begin"]


def test_two_graphs_share_the_kernels_of_equal_stages(tmp_path: Path) -> None:
    """They are units of these kernels. Equal stages of one graph are separate kernels, since none
    may feed itself."""
    exported(tmp_path, "one", centred)
    exported(tmp_path, "other", lambda x: x.mean(-1, keepdim=True) + x)
    exported(tmp_path, "twice", lambda x: centred(centred(x)))
    both = tmp_path / "both.toml"
    names = ("one", "other", "twice")
    both.write_text("".join(HEAD.format(name, "linked") for name in names))
    groups = expand(read(both))
    units = {g.name: g.units for g in groups}
    (fold,) = [name for name in units if re.fullmatch(r"ft_fold_[0-9a-f]{12}", name)]
    assert units[fold] == 3 and units[f"{fold}x2"] == 1
    for begin in ("one_begin", "other_begin", "twice_begin"):
        assert units[begin] == 1
    ends = [end for g in groups for join in g.joins for end in (join.source, join.to)]
    assert len(ends) == len(set(ends))
    there = {f"{g.name}_{k + 1}" for g in groups for k in range(g.units)}
    assert {end.partition(".")[0] for end in ends} == there


@pytest.fixture
def groups(tmp_path: Path) -> tuple[KernelGroup, ...]:
    return exported(tmp_path, "centred", centred)


def test_link_options_connect_the_kernels(groups: tuple[KernelGroup, ...], tmp_path: Path) -> None:
    """Loads and stores have the memory ports, and computing kernels have only streams."""
    chain = Vitis("hw", PLATFORM, dry=True)
    shown = "\n".join(commands(Request("linked", groups, "", tmp_path / "hw"), chain))
    assert all(f" -k {g.name} " in shown for g in groups) and shown.count("v++ -c ") == 5
    lines = (tmp_path / "hw" / "link.cfg").read_text().splitlines()
    assert sum(line.startswith("sp=") for line in lines) == 2
    joined = [line for line in lines if line.startswith("stream_connect=")]
    assert len(joined) == len(groups[0].joins) == 6
    fold, elements = groups[3].name, groups[4].name
    assert f"stream_connect=centred_begin_1.command_0:{fold}_1.command:16" in joined
    deep = f"stream_connect=centred_in0_1.v0_store_out1:{elements}_1.v0_elements_0:256"
    assert deep in joined
    for group in groups:
        text = (tmp_path / "hw" / "sources" / f"{group.name}.cpp").read_text()
        free = "ap_ctrl_none port=return" in text
        assert free == (group.name in (fold, elements)) and group.started != free
        assert ("m_axi" in text) == (group.name in ("centred_in0", "centred_out0"))
        assert not (free and arguments(group)) and "INTERFACE axis port=" in text


@needs
@pytest.mark.long
def test_vitis_connects_ports_of_one_type(
    groups: tuple[KernelGroup, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stand-in of v++ checks that each stream port is connected once, to a port of its type,
    with a depth of a power of two beats. A device accepts the image."""
    standin = Path(__file__).parent / "standin" / "v++"
    (tmp_path / "v++").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{standin}" "$@"\n')
    (tmp_path / "v++").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    built = build(Request("hw", groups, "", tmp_path / "hw"), Vitis("hw", PLATFORM), Progress())
    assert built.image is not None, [o.job.log.read_text() for o in built.failures]
    image = image_of(built.image)
    assert len(image.manifest.kernels_of(image.manifest.entries[0])) == 3
    cut = replace(groups[0], joins=groups[0].joins[1:])
    request = Request("cut", (cut, *groups[1:]), "", tmp_path / "hw")
    (failed,) = build(request, Vitis("hw", PLATFORM), Progress()).failures
    assert "nothing is connected to" in failed.job.log.read_text()


def test_the_sources_have_no_finding(groups: tuple[KernelGroup, ...], tmp_path: Path) -> None:
    copy_headers(tmp_path)
    for group in groups:
        path = tmp_path / f"{group.name}.cpp"
        path.write_text(source(group))
        assert not findings(path, group.name)


def test_board_has_the_whole_graph_or_nothing(groups: tuple[KernelGroup, ...], tmp_path: Path) -> None:
    """Its FIFOs count, and its resources are close to those of the graph as one kernel."""
    board = find("u55c")
    deeper = tuple(replace(join, depth=1 << 15) for join in groups[0].joins)
    begin = replace(groups[0], joins=deeper)
    assert area(begin).memories.bram > area(groups[0]).memories.bram
    (one,) = exported(tmp_path, "centred", centred, "dataflow")
    whole, parts = area(one).whole, [area(g).whole for g in groups]
    assert whole.dsp == sum(part.dsp for part in parts) > 0
    assert whole.lut < sum(part.lut for part in parts) < 2 * whole.lut
    many = (replace(begin, joins=(StreamConnection("a.b", "c.d", 1 << 15, 1 << 16),)), *groups[1:], one)
    assert not fit.fit(many, board).fits
    assert fit.fitting_subset(many, board).groups == (one,)


def test_invalid_inventory_settings_are_refused(tmp_path: Path) -> None:
    exported(tmp_path, "centred", centred)
    path = tmp_path / "wrong.toml"
    path.write_text(HEAD.format("centred", "loop"))
    with pytest.raises(InventoryError, match=r"wrong.toml:3: structure = 'loop'.*'linked'"):
        read(path)
    ft.jit(centred).export(str(tmp_path / "long"), ft.zeros(3, 600_000))
    path.write_text(HEAD.format("long", "linked"))
    with pytest.raises(InventoryError, match=r"needs 65536 beats, but .* hold 32768"):
        expand(read(path))
