"""Sources for Intel FPGAs, and `ftensor build --target intel` against a stand-in for aoc."""

from __future__ import annotations

import os
import re
import sys
from itertools import chain
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.cli import main
from ftensor.image.file import stages, uses_channels
from ftensor.image.manifest import Manifest
from ftensor.kernels import source as kernel_text
from ftensor.kernels.key import KernelKey
from ftensor.rows.op import Op
from ftensor.toolchain.group import KernelGroup, arguments
from ftensor.toolchain.intel.target import source
from ftensor.toolchain.inventory import keys
from ftensor.toolchain.inventory import read as inventory

from .build_flow import Flow

KERNELS = ["ft_abs_float32", "ft_mul_float32", "ft_neg_float32"]
STANDIN = Path(__file__).parent / "standin" / "aoc"
HEAD = re.compile(r"^FT_KERNEL void (\w+)\(([^)]*)\)", re.M)
BOARD = ("--target", "intel", "--platform", "a10gx")


def groups() -> list[KernelGroup]:
    here = Path(__file__).with_name("intel_image.toml")
    named = [inventory.read(name) for name in (here, "minimal", "radio")]
    return [group for one in named for group in inventory.expand(one)]


@pytest.mark.parametrize("group", groups(), ids=lambda group: group.name)
def test_every_unit_and_stage_is_a_kernel_with_its_arguments(group):
    text = source(group)
    parameters = {
        name: tuple(re.findall(r"(\w+)(?:,|$)", " ".join(declared.split()))) for name, declared in HEAD.findall(text)
    }
    names = [a.name for a in arguments(group)]
    wanted = [
        stage
        for copy in range(group.units)
        for stage in stages(group.name, group.skeleton, group.structure, names, copy)
    ]
    assert parameters == {stage.name: stage.arguments for stage in wanted}
    # Together the stages take every argument, and each is one work-item.
    assert {a for stage in wanted for a in stage.arguments} == set(names)
    assert "max_global_work_dim(0)" in text and "get_global_id" not in text
    for opcode, member in enumerate(group.members):
        if isinstance(member, KernelKey):
            assert f"opcode_{opcode}_{member.name}(" in text and member.entry in text


@pytest.mark.parametrize("group", groups(), ids=lambda group: group.name)
def test_every_channel_has_one_writer_and_one_reader(group):
    text = source(group)
    channels = re.findall(r"^channel \w+ (\w+) ", text, re.M)
    assert bool(channels) is uses_channels(group.skeleton, group.structure)
    for end in ("write", "read"):
        used = re.findall(rf"{end}_channel_intel\((\w+)", text)
        assert sorted(used) == sorted(channels)


def test_map_with_two_outputs_has_no_source():
    group = next(g for g in groups() if g.skeleton == "map")
    key = group.keys[0]
    two = KernelGroup("two", (KernelKey(**{**vars(key), "outs": key.outs * 2, "body": key.body * 2}),))
    with pytest.raises(ValueError, match="has 2 outputs"):
        source(two)


FLOATING = {"exp", "expm1", "log", "log1p", "sqrt", "fabs", "ft_tanh", "floor", "rint", "INFINITY"}


def test_rows_refuse_integers_that_their_expressions_do_not_support():
    """C++ converts the int argument of exp to double; OpenCL C rejects it."""
    for row in chain.from_iterable(keys.rows().values()):
        for of in (ft.int32, ft.uint8, ft.bool) if isinstance(row, Op) else ():
            signature = keys.pointwise(row, of)
            if signature is not None and signature.compute.kind in "bui":
                text = row.expression(signature.compute)
                assert not FLOATING & set(re.findall(r"\w+", text)), (row.name, of.name)


@pytest.mark.parametrize("dialect", ["opencl", "intel"])
def test_dialects_share_the_macros_of_lanes(dialect):
    """They differ in the numbering of units and in the widest memory access."""
    group = next(g for g in groups() if g.skeleton == "map")
    text = group.kind.program(group.keys[0], dialect, float64=True, grid="slab")
    lanes = kernel_text.kernel_file("dialect/opencl_lanes.h")
    assert lanes in text and '#include "' not in text
    assert ("get_global_id" in text) is (dialect == "opencl")
    parameters = text.split("#define FT_UNIT_PARAMS")[1].splitlines()[0]
    assert parameters == (" , int ft_unit, int ft_units" if dialect == "intel" else "")


@pytest.fixture
def flow(tmp_path):
    vendor = Flow(tmp_path)
    vendor._program("aoc", f'#!/bin/sh\nexec "{sys.executable}" "{STANDIN}" "$@"\n')
    return vendor


def build(flow, *options, **settings):
    return flow.build(*options, STANDIN_BOARD="a10gx", **settings)


def test_aoc_makes_an_image_with_a_manifest_once(flow):
    build(flow, *BOARD)
    assert flow.ran() == [*KERNELS, "link"]
    manifest = Manifest.read(flow.out / "manifest.json")
    assert (manifest.target, manifest.platform, manifest.file) == ("intel", "a10gx", "three.aocx")
    assert manifest.tools["aoc"] == "Version 20.3.0 Build 158"
    assert (flow.out / manifest.file).read_bytes().count(b"object of") == 3
    done = build(flow, *BOARD)
    assert flow.ran() == [] and "0 compiled, 3 reused" in done.stdout


def test_kernel_refused_by_aoc_is_reported_and_nothing_is_linked(flow):
    done = build(flow, *BOARD, status=1, STANDIN_FAILS="ft_neg_float32")
    assert "does not fit" in done.stderr and "link" not in flow.ran()
    build(flow, *BOARD)
    assert flow.ran() == ["ft_neg_float32", "link"]


def test_dry_run_prints_the_commands_of_aoc_without_aoc(flow):
    (flow.bin / "aoc").unlink()
    lines = flow.build(*BOARD, "--dry-run").stdout.splitlines()
    compiles = [line for line in lines if line.startswith("aoc -c -board=a10gx ")]
    assert sorted(Path(line.split()[-1]).stem for line in compiles) == KERNELS
    assert sum(line.startswith("aoc -board=a10gx -o ") for line in lines) == 1
    assert all((flow.out / "sources" / f"{name}.cl").is_file() for name in KERNELS)


@pytest.mark.parametrize(
    "options, message",
    [
        (BOARD, "there is no aoc on the PATH"),
        (("--target", "intel", "--dry-run"), "aoc -list-boards"),
        (("--target", "intel-emulator"), "ftensor emulate --intel --install"),
    ],
)
def test_invalid_arguments_give_one_message(flow, options, message):
    (flow.bin / "aoc").unlink()
    empty = str(flow.folder / "nothing")
    done = flow.build(*options, status=1, PATH=f"{flow.bin}{os.pathsep}/bin", FTENSOR_INTEL_FPGA_EMULATOR=empty)
    assert message in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (["--intel", "--", "true"], "is not installed"),
        (["--intel"], "no program to run"),
        (["--install", "--", "true"], "add --intel"),
        (["--folder", "x", "--", "true"], "add --intel"),
    ],
)
def test_emulate_names_missing_tools(words, message, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("FTENSOR_INTEL_FPGA_EMULATOR", str(tmp_path / "nothing"))
    assert main(["emulate", *words]) == 2
    errors = capsys.readouterr().err
    assert message in errors and len(errors.splitlines()) == 1


def test_emulator_is_not_installed_into_a_used_folder(monkeypatch, capsys, tmp_path):
    (tmp_path / "mine").write_text("kept")
    assert main(["emulate", "--intel", "--install", "--folder", str(tmp_path)]) == 2
    assert "holds something else" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "kept"
