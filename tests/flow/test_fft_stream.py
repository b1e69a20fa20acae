"""Transforms and filters of an image: rows stream through stages, in C simulation and on XRT."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import ftensor as ft
from ftensor.emulation.environment import available
from ftensor.kernels.skeletons.fft import FftStream, FftStreamGeometry, FftStreamKey
from ftensor.kernels.skeletons.fir import FirKey
from ftensor.kernels.workload import KernelLaunch
from ftensor.toolchain.group import KernelGroup, call_tokens
from ftensor.toolchain.vitis.source import source

from .. import forked

HERE = Path(__file__).parent
FTENSOR = ("-m", "ftensor")


def run(*words: str, **env: str) -> str:
    done = forked.run(*words, env=os.environ | env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    folder = tmp_path_factory.mktemp("spectra")
    inventory = str(HERE / "spectra.toml")
    run(*FTENSOR, "build", "--target", "csim", "--inventory", inventory, "--out", str(folder))
    return folder


def test_in_c_simulation(image: Path) -> None:
    program = (str(HERE / "spectra.py"),)
    assert float(run(*program, FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))) < 1e-6


def test_streaming_transforms_run_on_xrt(image: Path) -> None:
    if lacking := available():
        pytest.skip(lacking)
    program = (sys.executable, str(HERE / "spectra.py"))
    assert float(run(*FTENSOR, "emulate", "--image", str(image), "--", *program)) < 1e-6


def test_one_circuit_filters_real_and_complex_numbers() -> None:
    """The opcode would select one of two circuits. float64 has two, since complex samples enter at
    half the rate."""
    real, pairs = FirKey(ft.float32, 16), FirKey(ft.complex64, 16)
    for members in ((real, pairs), (pairs, real)):
        group = KernelGroup("filters", members)
        assert group.bodies == (pairs,) and not group.shares_ports
        assert call_tokens(group, 0) == call_tokens(group, 1)
        assert all(f"//   serves {member.entry}\n" in source(group) for member in members)
    assert KernelGroup("filters", (real,)).bodies == (real,)
    doubles = (FirKey(ft.float64, 16), FirKey(ft.complex128, 16))
    assert KernelGroup("filters", doubles).bodies == doubles


def test_model_counts_the_rows_in_the_pipeline() -> None:
    """A stage is half an iteration and 32 pairs behind the previous one. Short rows share an
    iteration, and units share rows. Strided numbers arrive one in each cycle, and contiguous ones
    are written in one burst."""
    key = FftStreamKey(ft.complex64, 64)
    geometry = FftStreamGeometry(10, 5, 4, 32, 32, (1, 32), (1, 32))
    assert FftStreamGeometry.unpack(geometry.pack()) == geometry
    apart = replace(geometry, read=(10, 1))
    for g, pace in ((geometry, 1), (apart, 2)):
        launch = KernelLaunch(key, 4, geometry=g.pack())
        trips = [{x.name: x.trips for x in FftStream().loops(launch, k, False)} for k in range(4)]
        behind = (6 + 1) * (pace * 16 + 32)
        assert [x["butterflies"] for x in trips] == [pace * 32 * turns + behind for turns in (1, 2, 1, 2)]
        assert [x["write_beats"] for x in trips] == [8, 12, 8, 12]
        leaves = FftStream().traffic(launch, False)[0]
        assert (leaves.burst, leaves.short) == (0, False)
    moved = {a.name: a.nbytes for a in FftStream().traffic(launch, False)}
    assert moved == {"out": 10 * 32 * 8, "in": 10 * 32 * 8, "table": 4 * 32 * 8}
