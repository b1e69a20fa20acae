"""Filters as stages of graphs: drawn chains on C simulation, XRT and Intel's emulator, in linked
kernels; filters that no stage computes; the model's cycles."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

import ftensor as ft
from ftensor.boards import BOARDS
from ftensor.kernels.graph_file import parse_json, parse_key
from ftensor.kernels.signal_stages import FilterSchedule, RowFilter, row_filter
from ftensor.kernels.staged import StagedKey, Stages
from ftensor.kernels.workload import KernelLaunch
from ftensor.runtime.intel import emulator
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.vitis.source import copy_headers

from .. import forked
from ..ir.findings import findings
from ..made_images import require_xrt
from . import emulation_host
from .filter_program import Chain, chains

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.filter_program")
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
conv1d = ft.nn.functional.conv1d


def run(*words: str, **env: str) -> str:
    done = forked.run(*PROGRAM, *words, env={**os.environ, **env}, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the chains, exported in C simulation, and their image."""
    path = tmp_path_factory.mktemp("filters")
    run("export", str(path), FTENSOR_DEVICE="csim")
    run("build", str(path), FTENSOR_DEVICE="csim")
    return path


@needs
@pytest.mark.long
def test_chains_have_the_bits_of_the_stated_order(folder: Path) -> None:
    """In C simulation, whose FIFOs have the computed depths, and on XRT with the software
    device."""
    image = folder / "filters.xclbin"
    wanted = run("run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image))
    assert len(wanted.splitlines()) == 2 * len(chains())
    require_xrt()
    command = ("-m", "ftensor", "emulate", "--image", str(image), "--", sys.executable)
    env = emulation_host.environment(FTENSOR_FALLBACK="error")
    done = forked.run(*command, *PROGRAM, "run", env=env, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, wanted), done.stderr


@needs
@pytest.mark.long
def test_linked_kernels_have_the_same_bits(folder: Path) -> None:
    """One chain of two filters has a kernel for each stage."""
    chain = chains()[7]
    table = f'[[graph]]\nfile = "{chain.name}.json"\nstructure = "linked"\n'
    (folder / "linked.toml").write_text(table)
    build = ("-m", "ftensor", "build", "--inventory", str(folder / "linked.toml"), "--target", "csim")
    done = forked.run(*build, "--out", str(folder / "linked"), env=dict(os.environ), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    images = [folder / "filters.xclbin", folder / "linked" / "linked.xclbin"]
    whole, linked = (run("run", "7", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=str(image)) for image in images)
    assert whole == linked and len(whole.splitlines()) == 2


@needs
@pytest.mark.long
def test_intels_emulator_adds_in_the_stated_order(folder: Path) -> None:
    """Kernels connected by channels: a filter alone, before a transform, two filters, several
    signals."""
    if emulator.driver() is None:
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", "Intel's FPGA emulator is not here"
        pytest.skip(f"Intel's FPGA emulator is not in {emulator.default_folder()}")
    some = [chains()[k] for k in (0, 1, 7, 9)]
    (folder / "intel.toml").write_text("".join(f'[[graph]]\nfile = "{chain.name}.json"\n' for chain in some))
    build = ("-m", "ftensor", "build", "--inventory", str(folder / "intel.toml"), "--target", "intel-emulator")
    done = forked.run(*build, "--out", str(folder / "intel"), env=dict(os.environ), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    command = ("-m", "ftensor", "emulate", "--intel", "--image", str(folder / "intel"), "--", sys.executable)
    env = {**os.environ, "FTENSOR_FALLBACK": "error"}
    done = forked.run(*command, *PROGRAM, "run", *(str(chain.k) for chain in some), env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2 * len(some)


@pytest.mark.parametrize("k", [0, 1, 8, 9, 12])
def test_the_sources_have_no_finding(k: int, tmp_path: Path) -> None:
    """Every loop of a stage takes one cycle for each iteration."""
    copy_headers(tmp_path)
    chain = chains()[k]
    files = chain.function.export(str(tmp_path / chain.name), *map(ft.from_numpy, chain.operands(6)))
    assert not findings(files.source, chain.name)


def exported(function: object, *arguments: ft.Tensor, folder: Path) -> StagedKey:
    files = ft.jit(function).export(str(folder / "graph"), *arguments)
    (group,) = expand(read(files.inventory))
    return cast("StagedKey", group.members[0])


# Refused filters of rows of 64 samples, and the words of the message.
REFUSED = {
    "other counts": (
        lambda x, t: conv1d(x, t, stride=4),
        "64 samples give 15 results, and a stage gives one for each 4 samples, as padding=2 does",
    ),
    "an even filter of each sample": (lambda x, t: conv1d(x, t, padding=4), "give 65 results.* padding='same'"),
    "dilation": (lambda x, t: conv1d(x, t, stride=4, padding=5, dilation=2), "its dilation is 2"),
    "taps that are computed": (lambda x, t: conv1d(x, t * 2, stride=4, padding=2), "taps are computed in the function"),
    "a bank": (
        lambda x, t: conv1d(x, t.expand(3, 1, 8), padding=4).narrow(1, 0, 1),
        "it has 1 channels and 3 filters, and a stage has one of each: call conv1d for each",
    ),
    "channels": (
        lambda x, t: conv1d(x.view(1, 5, 64), t.expand(5, 1, 8), groups=5, padding=4).view(5, 1, -1),
        "it has 5 channels and 5 filters",
    ),
    "parts of signals": (lambda x, t: conv1d((x * 2)[..., :32], t, stride=4, padding=2), "densely|rows"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused_filters(why: str, tmp_path: Path) -> None:
    """The error names the op, the line, the reason and an alternative."""
    function, message = REFUSED[why]
    x, taps = ft.randn(5, 64), ft.randn(8)

    def chain(x: ft.Tensor, taps: ft.Tensor) -> ft.Tensor:
        return (function(x[:, None], taps[None, None]).abs() + 1).sqrt().squeeze(1)

    files = None
    try:
        files = ft.jit(chain).export(str(tmp_path / "graph"), x, taps)
    except ft.GraphError as error:
        said = str(error)
    if files is not None:
        said = "\n".join(files.apart)
    assert "test_filters.py" in said and "conv1d" in said
    assert re.search(message, said), said


def test_filters_with_parts_of_one_tensor_as_taps(tmp_path: Path) -> None:
    """A port reads one number of taps, so the filters are kernels of their own."""

    def chain(x: ft.Tensor, w: ft.Tensor) -> ft.Tensor:
        x = conv1d(x[:, None], w[None, None, :7], padding=3).abs()
        return conv1d(x, w[None, None, :3], padding=1).abs()[:, 0]

    files = ft.jit(chain).export(str(tmp_path / "graph"), ft.randn(5, 64), ft.randn(8))
    graphs = read(files.inventory).graphs
    assert [key.taps_of(1) for key in (cast("StagedKey", graph.key) for graph in graphs)] == [7, 3]


def test_filter_bank_is_several_filters_of_one_signal(tmp_path: Path) -> None:
    """This is the alternative that the error names: one kernel with a result for each filter."""
    x, taps = ft.randn(5, 64), ft.randn(3, 9)

    def bank(x: ft.Tensor, taps: ft.Tensor) -> list[ft.Tensor]:
        return [conv1d(x[:, None], row[None, None], padding="same")[:, 0].abs() for row in taps.unbind(0)]

    files = ft.jit(bank).export(str(tmp_path / "bank"), x, taps)
    (group,) = expand(read(files.inventory))
    key = cast("StagedKey", group.members[0])
    filters = [call for call in key.calls if isinstance(call.function, RowFilter)]
    assert not files.apart and len(key.outs) == len(filters) == 3


def test_filters_of_a_graph_file_are_checked(tmp_path: Path) -> None:
    """A file with other taps than its filter, or rows of another length, is refused."""
    x, taps = ft.randn(5, 64), ft.randn(8)
    files = ft.jit(lambda x, t: conv1d((x * 2)[:, None], t[None, None], stride=4, padding=2)[:, 0].abs()).export(
        str(tmp_path / "graph"), x, taps
    )
    data = files.graph.read_bytes()
    (group,) = expand(read(files.inventory))
    key = cast("StagedKey", group.members[0])
    assert key.spans == (4, 8) and key.factors == (4, 1, 4, 1, 1) and key.length == 16
    for old, new, why in (
        (b'"taps": 8', b'"taps": 9', "a filter of 9 taps has others"),
        (b'"stride": 4', b'"stride": 3', "decimates rows that are too short"),
        (b'"stride": 4', b'"stride": 8', "decimates rows that are too short"),
        (b'"before": 2', b'"before": 8', "zeros before a signal"),
        (b'"span": 8', b'"span": 0', "a span is 0"),
    ):
        assert data.count(old) == 1, old
        bad = data.replace(old, new)
        with pytest.raises(ValueError, match=why):
            parse_key(parse_json(bad), bad, lambda *of: [u for u in key.functions if u.name == of[0]])


def test_cycles_and_products_of_the_schedule(tmp_path: Path) -> None:
    """The stage takes a beat of samples in each cycle, with no more products than needed."""
    unit = row_filter(ft.complex64, ft.float32, 64, 4, 30, 1)
    for lanes, products, results, phases in ((2, 32, 1, 2), (4, 64, 1, 1), (8, 128, 2, 1)):
        s = FilterSchedule(unit, lanes)
        assert (s.products, s.results, s.phases) == (products, results, phases)
        assert s.operators()["mul", "float"] == 2 * products
    third = row_filter(ft.complex64, ft.float32, 64, 3, 31, 1)
    for lanes, results in ((2, 1), (4, 2), (8, 3)):
        s = FilterSchedule(third, lanes)
        assert (s.products, s.results, s.phases) == (64 * results, results, 1)
    chain = Chain(0, "spectrum", True, False, 64, 4, 64, False)
    files = chain.function.export(str(tmp_path / chain.name), *map(ft.from_numpy, chain.operands(6)))
    (group,) = expand(read(files.inventory))
    key = replace(cast("StagedKey", group.members[0]), lanes=4)
    cycles = {one.name: one.trips for one in group.kind.loops(KernelLaunch(key, 1, 1000), 0, False)}
    assert max(cycles.values()) == cycles["filter_1_fir"] == 1000 * 64 + FilterSchedule(unit, 4).delay
    assert Stages(key).fifo_bytes < 1 << 16


@pytest.mark.parametrize(("board", "stride", "rate"), [("u55c", 4, 1000e6), ("kv260", 4, 480e6), ("u55c", 3, 1000e6)])
def test_radio_chain_fits_boards(board: str, stride: int, rate: float, tmp_path: Path) -> None:
    """Mix, 64 taps, every fourth or third sample (48 kHz to 16 kHz), transform of 1024, power,
    detection: a kernel that takes more than `rate` samples a second."""

    def radio(x: ft.Tensor, carrier: ft.Tensor, taps: ft.Tensor, threshold: float) -> ft.Tensor:
        mixed, padding = (x * carrier)[:, None], (65 - stride) // 2
        s = ft.fft.fft(conv1d(mixed, taps.to(ft.complex64)[None, None], stride=stride, padding=padding)[:, 0])
        return s.real.square() + s.imag.square() > threshold

    x, carrier = (ft.zeros(shape, dtype=ft.complex64) for shape in ((6, 1024 * stride), (1024 * stride,)))
    files = ft.jit(radio).export(str(tmp_path / "radio"), x, carrier, ft.zeros(64), 2.0, target=board)
    assert not files.apart
    (group,) = expand(read(files.inventory))
    (of,) = [b for b in BOARDS if b.name == board]
    launch = KernelLaunch(group.members[0], group.units, 1 << 16)
    cycles = max(one.cycles for unit in range(group.units) for one in group.kind.loops(launch, unit, False))
    assert 1024 * stride * launch.n / cycles * of.clock.value * 1e6 > rate


CAUSAL = """
import sys
import numpy as np
import ftensor as ft
from tests.flow.filter_program import in_order
random = np.random.default_rng(0)
x, taps = (random.standard_normal(shape).astype(np.float32) for shape in ((9, 64), (8,)))


def causal(x, taps):
    signals = ft.nn.functional.pad(x[:, None], (7, 0))
    return ft.nn.functional.conv1d(signals, taps[None, None], stride=4).squeeze(1) * 2


call = ft.jit(causal)
arguments = ft.from_numpy(x), ft.from_numpy(taps)
if sys.argv[1:]:
    files = call.export(sys.argv[1], *arguments)
    print(files.entry.rpartition("_")[0], files.apart)
else:
    print(call.graph(*arguments).kernels[0].split()[0])
    np.testing.assert_array_equal(call(*arguments).numpy(), 2 * in_order(x, taps, 4, 7))
"""


@needs
def test_causal_filter_is_a_stage(tmp_path: Path) -> None:
    """`pad` puts zeros only before the signals."""
    (tmp_path / "causal.py").write_text(CAUSAL)
    done = forked.run(str(tmp_path / "causal.py"), str(tmp_path / "graph"), env=dict(os.environ), cwd=ROOT)
    assert done.stdout == "ft_fir_mul_staged ()\n", done.stdout + done.stderr
    build = ("-m", "ftensor", "build", "--inventory", str(tmp_path / "graph.toml"), "--target", "csim")
    done = forked.run(*build, "--out", str(tmp_path / "image"), env=dict(os.environ), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "FTENSOR_IMAGE": str(tmp_path / "image" / "graph.xclbin")}
    done = forked.run(str(tmp_path / "causal.py"), env=env, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "staged\n"), done.stdout + done.stderr
