"""Loops with feedback as stages of graphs: results of C simulation, XRT and Intel's emulator, their
sources and files, and the loops that cannot be stages."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

import ftensor as ft
from ftensor.boards import find
from ftensor.errors.build import InventoryError
from ftensor.kernels.graph_file import parse_json, parse_key
from ftensor.kernels.skeletons.feedback import feedback_key, steps_interval
from ftensor.kernels.staged import LOOP, StagedKey, Stages
from ftensor.kernels.workload import KernelLaunch
from ftensor.runtime.intel import emulator
from ftensor.toolchain.area.fit import area, board_shares
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import expand, parse, read, row_functions
from ftensor.toolchain.trace import recording
from ftensor.toolchain.vitis.source import copy_headers

from .. import forked, fuzz_loops
from ..fuzz_estimates import simulated
from ..ir.compiler import clang
from ..ir.findings import findings
from ..ir.intervals import intervals
from ..made_images import require_xrt
from . import emulation_host
from .loop_program import CHAINS, leaves, tensors

ROOT = Path(__file__).parents[2]
PROGRAM = ("-m", "tests.flow.loop_program")
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def bits(results: Any) -> list[bytes]:
    return [result.numpy().tobytes() for result in leaves(results)]


def exported(function: Any, *arguments: ft.Tensor, folder: Path) -> tuple[StagedKey, Any]:
    """Returns the only kernel of a function, and its files."""
    files = ft.jit(function).export(str(folder / "graph"), *arguments)
    (group,) = expand(read(files.inventory))
    return cast("StagedKey", group.members[0]), files


@needs
@pytest.mark.parametrize("name", ["gained", "counted", "channels"])
def test_kernel_of_stages_has_the_bits_of_the_ops(name: str) -> None:
    """In C simulation: rows after the loop that are no whole beats, integers of two inputs, several
    signals."""
    with simulated(), recording(1):
        jitted, arguments = ft.jit(CHAINS[name]), tensors(name)
        report = jitted.graph(*arguments).report()
        assert [line.split()[0] for line in report.splitlines()[2:]] == ["staged"] and "scan" in report
        results = bits(jitted(*arguments))
    with simulated():
        assert results == bits(CHAINS[name](*tensors(name)))


@needs
@pytest.mark.parametrize("seed", [6, 8])
def test_drawn_chains_have_the_bits_of_the_ops(seed: int) -> None:
    """`make fuzz` draws others."""
    assert fuzz_loops.trial(Random(seed)) == ""


@needs
@pytest.mark.long
def test_all_targets_have_the_bits_of_the_ops(tmp_path: Path) -> None:
    """An image of all chains runs in C simulation and on XRT with the software device, and on
    Intel's emulator, whose sine differs in the last bits."""

    def run(*words: str, **env: str) -> str:
        done = forked.run(*words, env={**os.environ, **env}, cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = run(*PROGRAM, "export", str(tmp_path), FTENSOR_DEVICE="csim")
    assert said.splitlines() == [f"{name} 1" for name in CHAINS]
    (tmp_path / "all.toml").write_text("".join(f'[[graph]]\nfile = "{name}.json"\n' for name in CHAINS))
    build = ("-m", "ftensor", "build", "--inventory", str(tmp_path / "all.toml"))
    run(*build, "--target", "csim", "--out", str(tmp_path / "all"))
    image = str(tmp_path / "all" / "all.xclbin")
    ops = run(*PROGRAM, "run", FTENSOR_DEVICE="csim").splitlines()
    wanted = run(*PROGRAM, "run", FTENSOR_DEVICE="csim", FTENSOR_IMAGE=image, FTENSOR_FALLBACK="error").splitlines()
    assert [line for line in wanted if line[0] != " "] == [f"{name} staged" for name in CHAINS]
    assert [line for line in wanted if line[0] == " "] == [line for line in ops if line[0] == " "]
    require_xrt()
    emulated = ("-m", "ftensor", "emulate", "--image", image, "--", sys.executable, *PROGRAM, "run")
    done = forked.run(*emulated, env=emulation_host.environment(FTENSOR_FALLBACK="error"), cwd=ROOT)
    assert (done.returncode, done.stdout.splitlines()) == (0, wanted), done.stderr
    if emulator.driver() is None:
        assert os.environ.get("FTENSOR_REQUIRE_TARGETS") != "1", "Intel's FPGA emulator is not here"
        pytest.skip(f"Intel's FPGA emulator is not in {emulator.default_folder()}")
    run(*build, "--target", "intel-emulator", "--out", str(tmp_path / "intel"))
    emulated = ("-m", "ftensor", "emulate", "--intel", "--image", str(tmp_path / "intel"), "--", sys.executable)
    found = run(*emulated, *PROGRAM, "run", FTENSOR_FALLBACK="error").splitlines()
    first = found.index("gained staged")
    assert found[first:] == wanted[first:] and found[0] == "receiver staged"
    for one, other in zip(found[:first], wanted[:first], strict=True):
        assert one.split()[2:] == other.split()[2:]  # the shape and the last elements


def test_filter_loop_and_decimation_are_one_kernel(tmp_path: Path) -> None:
    """A step starts when the state is available, in the model as in the source. No loop can be
    faster."""
    key, files = exported(CHAINS["receiver"], *tensors("receiver"), folder=tmp_path)
    kinds = [stage.kind for stage in Stages(key).stages]
    assert kinds.count(LOOP) == 1 and kinds.count("filter") == 2 and files.apart == ()
    (loop,) = key.loops
    interval = steps_interval(feedback_key(loop))
    source = files.source.read_text()
    assert source.count(f"#pragma HLS PIPELINE II={interval}\n") == 1 and interval > 30
    (group,) = expand(read(files.inventory))
    modelled = {one.name: one for one in group.kind.loops(KernelLaunch(key, 1, 100), 0, False)}
    (name,) = [stage.name for stage in Stages(key).stages if stage.kind == LOOP]
    assert (modelled[name].trips, modelled[name].interval) == (100 * 4 * key.length, interval)
    copy_headers(tmp_path)
    assert not findings(files.source, "graph")
    clang()
    least = max(one.cycles for one in intervals(files.source, "graph") if one.label == name)
    assert interval // 2 < least <= interval


def test_interleaved_signals_hide_the_latency_of_a_step(tmp_path: Path) -> None:
    """A step starts as many elements after the previous one as there are signals. 32 signals are
    nearly enough."""
    key, files = exported(CHAINS["channels"], *tensors("channels"), folder=tmp_path)
    (loop,) = key.loops
    assert (loop.signals, key.length, steps_interval(feedback_key(loop))) == (32, 32, 38)
    (group,) = expand(read(files.inventory))
    (name,) = [stage.name for stage in Stages(key).stages if stage.kind == LOOP]
    (modelled,) = [one for one in group.kind.loops(KernelLaunch(key, 1, 100), 0, False) if one.name == name]
    assert (modelled.trips, modelled.interval) == (3200, 2)
    copy_headers(tmp_path)
    assert not findings(files.source, "graph")
    clang()
    assert max(one.cycles for one in intervals(files.source, "graph") if one.label == name) == 2
    data = files.graph.read_bytes()
    assert parse_key(parse_json(data), data, row_functions) == key
    with pytest.raises(ValueError, match="a loop has 16 signals, and rows 32 elements"):
        parse_key(parse_json(data.replace(b'"signals": 32', b'"signals": 16')), data, row_functions)


def test_model_counts_a_step_once(tmp_path: Path) -> None:
    """With any number of lanes a loop has one step's operators; the other stages have them in each
    lane."""
    key, _ = exported(CHAINS["halves"], *tensors("halves"), folder=tmp_path)
    products = []
    for lanes in (1, 4):
        counted = area(KernelGroup("graph", (StagedKey(**{**vars(key), "lanes": lanes}),)))
        assert max(board_shares(counted.unit, find("kv260"))) < 0.8
        products.append({name: ops.dsp for name, ops in counted.ops})
    assert products[0]["mul"] == products[1]["mul"] > 0
    assert 4 * products[0]["sub"] == products[1]["sub"] > 0


def test_signal_is_not_divided_among_compute_units(tmp_path: Path) -> None:
    key, files = exported(CHAINS["gained"], *tensors("gained"), folder=tmp_path)
    (group,) = expand(read(files.inventory))
    loops = [group.kind.loops(KernelLaunch(key, 3, 3000), unit, False) for unit in range(3)]
    assert loops[:2] == [[], []] and max(one.trips for one in loops[2]) == 3000 * key.length


def test_file_has_the_loop(tmp_path: Path) -> None:
    """The key that is read equals the one written. No text of a file becomes code, and no call
    takes values that a stage does not provide."""
    key, files = exported(CHAINS["gained"], *tensors("gained"), folder=tmp_path)
    data = files.graph.read_bytes()
    assert parse_key(parse_json(data), data, row_functions) == key
    raw = json.loads(data)
    (loop,) = [unit for unit in raw["units"] if "scan" in unit]
    place, calls = raw["units"].index(loop), raw["calls"]
    (call,) = [one for one in calls if one["unit"] == place]
    last, ((signal, _),) = raw["outputs"][1]["value"], [p for p in enumerate(raw["inputs"]) if p[1]["lies"] == "rows"]

    def scan(raw: Any) -> Any:
        return raw["units"][place]["scan"]

    changed = {
        "no op that is known": lambda r: scan(r)["units"][0].update(name='x"; system("id"); //'),
        "is not what the op computes": lambda r: scan(r)["units"][0].update(body=["system(0)"]),
        "is no scan": lambda r: r["units"][place].update(body=["system(0)"]),
        "what call 0 takes is 99": lambda r: scan(r)["calls"][0].update(takes=[99, 0]),
        "the number of states is 2": lambda r: scan(r).update(states=2),
        "its states change": lambda r: scan(r).update(inputs=["int32", "float32"]),
        "a loop is within a loop": lambda r: scan(r)["units"].append(loop),
        "a loop's last state": lambda r: r["calls"][-1].update(takes=[last]),
        'an output lies "of rows"': lambda r: r["outputs"][1].update(lies="of rows"),
        'an output lies "one"': lambda r: r["outputs"][0].update(lies="one"),
        "begins with what is of elements": lambda r: r["calls"][calls.index(call)].update(takes=call["takes"][::-1]),
        "steps over what is of a row": lambda r: r["inputs"][signal].update(lies="one"),
    }
    for said, change in changed.items():
        one = json.loads(json.dumps(raw))
        change(one)
        (tmp_path / "loop.json").write_bytes(json.dumps(one, sort_keys=True, indent=1).encode() + b"\n")
        with pytest.raises(InventoryError, match=said):
            parse(b'[[graph]]\nfile = "loop.json"\n', tmp_path / "mine.toml")
    with pytest.raises(InventoryError, match="a graph with a loop with feedback, half"):
        parse(f'[[graph]]\nfile = "{files.graph.name}"\nstructure = "linked"\n'.encode(), tmp_path / "mine.toml")


def step(state: Any, x: Any) -> Any:
    return 0.5 * state + x, state


START = ft.zeros(64)
# Loops that cannot be stages, or whose graph is split next to them: the text of `apart`, and the
# kernels.
REFUSED = {
    "signals that are no rows": (
        lambda x: (lambda y: (y.amax(-1), ft.scan(step, START, y.view(24, 64))[1]))(x * 2 + 1),
        r"scan \(.*test_loop_stages.py:\d+: .*\): its 64 signals are no rows of 32, which are steps",
        ["staged", "feedback"],
    ),
    "the last step first": (
        lambda x: ft.scan(step, 0.0, (x * 2 + 1).view(-1), reverse=True)[1] * 3 - 1,
        "scan .*: it begins with the last step, and a stage with the first one",
        ["staged", "staged", "feedback"],
    ),
    "the last state beside elements": (
        lambda x: (lambda last, y: y * 2 + last)(*ft.scan(step, 0.0, (x * 2 + 1).view(-1))),
        r"add \(.*test_loop_stages.py:\d+: .*\): it reads a loop's last state, which needs all steps first",
        ["staged"],
    ),
    "the last state of a loop begins another": (
        lambda x: (lambda last, y: ft.scan(step, last, y))(*ft.scan(step, 0.0, (x * 2 + 1).view(-1))),
        "scan .*: it reads a loop's last state",
        ["staged", "feedback"],
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused_loops(why: str, tmp_path: Path) -> None:
    function, said, skeletons = REFUSED[why]
    files = ft.jit(function).export(str(tmp_path / "graph"), ft.randn(48, 32))
    groups = expand(read(files.inventory))
    assert sorted(group.members[0].skeleton for group in groups) == sorted(skeletons)  # type: ignore[attr-defined]
    assert any(re.match(said, one) for one in files.apart), files.apart
