"""`ftensor build --target hw` against a stand-in for v++ that checks its arguments."""

from __future__ import annotations

import os
import shutil
import signal

import pytest

from ftensor.cli import main
from ftensor.image import xclbin
from ftensor.image.manifest import Manifest

from .build_flow import Flow, wait_for

pytestmark = [pytest.mark.skipif(shutil.which("g++") is None, reason="the compilers here end in g++")]

KERNELS = ["ft_abs_float32", "ft_mul_float32", "ft_neg_float32"]
BOARD = ("--target", "hw", "--platform", "xilinx_u55c_gen3x16_xdma_3_202210_1")


@pytest.fixture
def flow(tmp_path):
    return Flow(tmp_path)


@pytest.mark.parametrize(
    "target, mode", [("hw", xclbin.Mode.FLAT), pytest.param("hw_emu", xclbin.Mode.HW_EMU, marks=pytest.mark.long)]
)
def test_inventory_is_built_into_an_image(flow, target, mode, capsys):
    done = flow.build(*BOARD, "--target", target, "--clock", "250", "--jobs", "2")
    assert flow.ran() == [*KERNELS, "link"]
    image = xclbin.read((flow.out / "three.xclbin").read_bytes())
    assert image.mode == mode
    manifest = Manifest.read(flow.out / "manifest.json")
    embedded = image.section(xclbin.SectionKind.USER_METADATA)
    assert embedded is not None and Manifest.from_json(embedded.decode()) == manifest
    assert manifest.uuid == str(image.uuid) and manifest.target == target
    assert manifest.platform == "xilinx_u55c_gen3x16_xdma_3_202210_1"
    assert manifest.tools["v++"] == "2022.2 build 3671529" and manifest.clock_mhz == 250
    assert main(["image", "info", str(flow.out / "three.xclbin")]) == 0
    output = capsys.readouterr().out
    assert all(name in output for name in KERNELS) and "DDR[0]" in output
    row = next(r for r in done.stdout.splitlines() if r.startswith("ft_mul_float32"))
    assert row.split()[5:] == ["146..134217802", "2", "2.433", "4543", "8302", "32", "16", "0"]
    assert "Timing: worst slack 0.021 ns, hold 0.010 ns: met." in done.stdout
    assert "3 kernels: 3 compiled, 0 reused" in done.stdout


@pytest.mark.parametrize("version, between", [pytest.param("2021.2", ".", marks=pytest.mark.long), ("2023.2", ",")])
def test_link_options_of_units_and_memories_fit_the_version(flow, version, between):
    flow.inventory.write_text(flow.inventory.read_text() + "units = 2\n")
    flow.build(*BOARD, STANDIN_VERSION=version)
    text = (flow.out / "link.cfg").read_text()
    assert f"nk=ft_mul_float32:2:ft_mul_float32_1{between}ft_mul_float32_2" in text
    assert "sp=ft_mul_float32_2.in_b:DDR[0]" in text and "[clock]" not in text


def test_clock_and_version_are_part_of_the_key(flow):
    flow.build(*BOARD)
    flow.ran()
    assert "0 compiled, 3 reused" in flow.build(*BOARD).stdout
    assert flow.ran() == []
    flow.build(*BOARD, "--clock", "200")
    assert flow.ran() == [*KERNELS, "link"]
    flow.build(*BOARD, STANDIN_VERSION="2023.1")
    assert flow.ran() == [*KERNELS, "link"]
    # Another memory affects only the linker.
    flow.inventory.write_text(flow.inventory.read_text().replace("DDR[0]", "HBM[0:31]"))
    flow.build(*BOARD)
    assert flow.ran() == ["link"]


def test_failing_kernel_prevents_the_link(flow):
    done = flow.build(*BOARD, status=1, STANDIN_FAIL="ft_neg_float32")
    assert flow.ran() == KERNELS
    assert "ft_neg_float32: the compiler ended with status 1; the whole log is" in done.stderr
    assert "ERROR: [v++ 60-600] Pre-synthesis failed for ft_neg_float32" in done.stderr
    assert "2 compiled, 0 reused, 1 failed" in done.stdout
    assert not (flow.out / "three.xclbin").exists()
    flow.build(*BOARD)
    assert flow.ran() == ["ft_neg_float32", "link"]


def test_failed_link_is_retried_without_compiling(flow):
    done = flow.build(*BOARD, status=1, STANDIN_FAIL="link")
    assert "link of three: the compiler ended with status 1" in done.stderr
    flow.ran()
    flow.build(*BOARD)
    assert flow.ran() == ["link"]


def test_killed_build_resumes(flow):
    first = flow.start(*BOARD, "--jobs", "1", STANDIN_HANG_BEHIND="1")
    wait_for(lambda: flow.objects() and len(flow.log.read_text().split()) >= 2)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate(timeout=600)
    wait_for(lambda: not flow.processes())
    done = flow.objects()
    assert len(done) == 1
    flow.ran()
    flow.build(*BOARD)
    assert flow.ran() == [*(n for n in KERNELS if n not in done), "link"]


def test_negative_slack_is_reported(flow):
    done = flow.build(*BOARD, STANDIN_SLACK="-0.313")
    assert "worst slack -0.313 ns, hold 0.010 ns: NOT met" in done.stdout


def test_linker_without_xclbin_gives_one_message(flow):
    done = flow.build(*BOARD, status=1, STANDIN_GARBAGE="1")
    assert "cannot be taken as an image: not a usable xclbin" in done.stderr


def test_a_dry_run_needs_no_vitis(flow):
    done = flow.build(*BOARD, "--clock", "300", "--dry-run", PATH="/usr/bin:/bin")
    compiles = [line for line in done.stdout.splitlines() if line.startswith("v++ -c ")]
    (link,) = [line for line in done.stdout.splitlines() if line.startswith("v++ -l ")]
    assert len(compiles) == 3 and all("--hls.clock 300000000:ft_" in line for line in compiles)
    assert f"--config {flow.out / 'link.cfg'}" in link
    assert "defaultFreqHz=300000000" in (flow.out / "link.cfg").read_text()
    assert (flow.out / "sources" / "ft_mul_float32.cpp").is_file()
    assert flow.ran() == []


def test_banks_of_the_command_override_the_inventory(flow):
    """So an inventory of ftensor can be built for a board with HBM."""
    flow.build(*BOARD, "--banks", "HBM[0:31]", "--dry-run")
    text = (flow.out / "link.cfg").read_text()
    assert "sp=ft_mul_float32_1.in_b:HBM[0:31]" in text and "DDR" not in text
    done = flow.build(*BOARD, "--banks", "HBM", status=1)
    assert done.stderr.startswith("ftensor build: --banks 'HBM' must be a memory such as")


def test_missing_platform_gives_a_message(flow):
    done = flow.build("--target", "hw", status=1)
    assert done.stderr.startswith("ftensor build: the target hw needs the board's platform")


def test_compiler_without_version_gives_a_message(flow):
    (flow.bin / "v++").write_text("#!/bin/sh\necho no licence >&2; exit 3\n")
    done = flow.build(*BOARD, status=1)
    assert done.stderr == "ftensor build: v++ --version ended with status 3: no licence\n"
