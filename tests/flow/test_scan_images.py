"""Loops with feedback as kernels of images: their files, sources, model, and a run."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor._device import default_backend
from ftensor.boards import find
from ftensor.errors.build import InventoryError
from ftensor.execute.dispatch import Observer, observed
from ftensor.kernels.graph_file import parse_feedback, parse_json
from ftensor.kernels.skeleton import board_skeleton_of
from ftensor.kernels.skeletons.feedback import FeedbackKey, steps_interval, text
from ftensor.kernels.workload import KernelLaunch
from ftensor.toolchain.area.fit import area, board_shares
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.intel import target as intel
from ftensor.toolchain.inventory.read import expand, parse, row_functions
from ftensor.toolchain.vitis import source as vitis

from .. import forked

STEPS, SIGNALS = 50, 3
PROGRAM = """
import numpy as np
import ftensor as ft

def agc(state, x):
    gain, power = state
    y = gain * x
    power = 0.75 * power + 0.25 * (y * y)
    return (gain + 0.01 * (1 - power), power), y

def mixed(phase, z):
    y = z * (phase.cos() - 1j * phase.sin())
    return phase + 0.1 * ft.where(y.real > 0, y.imag, -y.imag), y

x = np.random.default_rng(3).standard_normal((50, 3)).astype("f4")
z = (x + 1j * x[::-1]).astype("c8")
(gain, power), y = ft.scan(agc, (1.0, 0.0), ft.from_numpy(x))
phase, w = ft.scan(mixed, 0.0, ft.from_numpy(z), reverse=True)
np.savez(OUT, gain=gain.numpy(), power=power.numpy(), y=y.numpy(), phase=phase.numpy(), w=w.numpy())
"""


class _Keys(Observer):
    def __init__(self) -> None:
        self.launches: list[KernelLaunch] = []

    def launch(self, launch: Any, stream: Any, tensors: Any, scalars: Any) -> None:
        for step in launch.steps:
            if isinstance(step.key, FeedbackKey):
                self.launches.append(KernelLaunch(step.key, step.units, 0, step.geometry))
        super().launch(launch, stream, tensors, scalars)


def agc(state: Any, x: Any) -> Any:
    gain, power = state
    y = gain * x
    power = 0.75 * power + 0.25 * (y * y)
    return (gain + 0.01 * (1 - power), power), y


def mixed(phase: Any, z: Any) -> Any:
    y = z * (phase.cos() - 1j * phase.sin())
    return phase + 0.1 * ft.where(y.real > 0, y.imag, -y.imag), y


@pytest.fixture(scope="module")
def launches() -> list[KernelLaunch]:
    """Returns the launches of both loops."""
    if default_backend().images is not None:
        pytest.skip("the loops are recorded on a device that compiles")
    seen = _Keys()
    with observed(default_backend(), seen):
        ft.scan(agc, (1.0, 0.0), ft.ones(STEPS, SIGNALS))
        ft.scan(mixed, 0.0, ft.ones(STEPS, dtype=ft.complex64))
    assert len(seen.launches) == 2
    return seen.launches


def test_file_has_the_whole_loop(launches: list[KernelLaunch]) -> None:
    for key in (launch.key for launch in launches):
        data = text(key).encode()
        again = parse_feedback(parse_json(data), data, row_functions)
        assert again == key and again.entry == key.entry


def test_changed_file_is_refused(launches: list[KernelLaunch], tmp_path: Path) -> None:
    """A file names ops of the catalogue and values. None of its text becomes code."""
    raw = json.loads(text(launches[0].key))
    changed = {
        "no op that is known": lambda r: r["units"][0].update(name='x"; system("id"); //'),
        "is not what the op computes": lambda r: r["units"][0].update(body=["system(0)"]),
        "what call 0 takes is 99": lambda r: r["calls"][0].update(takes=[99, 0]),
        "an output is -1": lambda r: r.update(outputs=[-1, *r["outputs"][1:]]),
        "the number of states": lambda r: r.update(states=3),
        "no dtype": lambda r: r.update(inputs=["float33", *r["inputs"][1:]]),
        "another type": lambda r: r.update(calls=7),
        "its text is not": lambda r: r.update(more=1),
        "its states change": lambda r: r.update(inputs=["int32", *r["inputs"][1:]]),
        "dtypes don't fit": lambda r: r.update(inputs=[*r["inputs"][:2], "int32"]),
        "it has no": lambda r: r.pop("calls"),
    }
    for said, change in changed.items():
        one = json.loads(json.dumps(raw))
        change(one)
        data = json.dumps(one, sort_keys=True, indent=1).encode() + b"\n"
        (tmp_path / "loop.json").write_bytes(data)
        with pytest.raises(InventoryError, match=said):
            parse(b'[[graph]]\nfile = "loop.json"\n', tmp_path / "mine.toml")


def test_inventory_lines_request_a_loop(launches: list[KernelLaunch], tmp_path: Path) -> None:
    for key in (launch.key for launch in launches):
        (tmp_path / key.file_name).write_text(text(key))
        lines = board_skeleton_of(key).in_words(key).lines
        (group,) = expand(parse("\n".join(lines).encode(), tmp_path / "mine.toml"))
        assert group.members == (key,)
    with pytest.raises(InventoryError, match="units"):
        parse("\n".join([*lines, "units = 2"]).encode(), tmp_path / "mine.toml")


def test_step_starts_when_the_state_is_available(launches: list[KernelLaunch]) -> None:
    """The longest path from state to state: y = gain * x, y * y, times 0.25, the sum, 1 - power,
    times 0.01, the gain. It has 4 products of 4 cycles, 3 sums of 7, and a cycle for the
    register."""
    launch = launches[0]
    assert steps_interval(launch.key) == 4 * 4 + 3 * 7 + 1
    (loop,) = board_skeleton_of(launch.key).loops(launch, 0, False)
    assert (loop.name, loop.trips, loop.entries) == ("steps", STEPS * SIGNALS, SIGNALS)
    assert loop.interval == steps_interval(launch.key)
    moved = {a.name: a.nbytes for a in board_skeleton_of(launch.key).traffic(launch, False)}
    assert moved["in_2"] == moved["out2"] == 4 * STEPS * SIGNALS and moved["in_0"] == moved["out1"] == 4 * SIGNALS


def test_sources_and_area(launches: list[KernelLaunch]) -> None:
    for key in (launch.key for launch in launches):
        group = KernelGroup("loop", (key,))
        hls = vitis.source(group)
        assert f"#pragma HLS PIPELINE II={steps_interval(key)}" in hls and "steps:" in hls
        assert "#define FT_NAME loop_body" in intel.source(group)
        assert max(board_shares(area(group).unit, find("kv260"))) < 0.5
    ops = {name for name, counted in area(KernelGroup("loop", (launches[0].key,))).ops if counted.dsp}
    assert {"mul", "add", "sub"} <= ops


@pytest.mark.skipif(shutil.which("g++") is None, reason="the C simulation needs g++")
def test_traced_image_runs_the_loops(tmp_path: Path) -> None:
    """The program is traced, built and run, with no step on the host. The results are those of
    NumPy loops."""
    program, mine, out = tmp_path / "program.py", tmp_path / "mine.toml", tmp_path / "out.npz"
    program.write_text(f"OUT = {str(out)!r}\n{PROGRAM}")
    env = {**os.environ, "PYTHONPATH": str(Path(ft.__file__).parents[1]), "FTENSOR_DEVICE": "csim"}
    env.pop("FTENSOR_IMAGE", None)
    forked.run("-m", "ftensor", "kernels", "--trace", program, "--write", mine, env=env).check_returncode()
    assert mine.read_text().count('file = "scan_') == 2
    image = tmp_path / "image"
    words = ("build", "--target", "csim", "--inventory", mine, "--out", image)
    forked.run("-m", "ftensor", *words, env=env).check_returncode()
    out.unlink()
    env |= {"FTENSOR_IMAGE": str(image / "mine.xclbin"), "FTENSOR_FALLBACK": "error"}
    done = forked.run(program, env=env)
    assert done.returncode == 0, done.stderr
    x = np.random.default_rng(3).standard_normal((STEPS, SIGNALS)).astype("f4")
    gain, power, ys = np.ones(SIGNALS), np.zeros(SIGNALS), []
    for row in x.astype("f8"):
        ys.append(gain * row)
        power = 0.75 * power + 0.25 * ys[-1] ** 2
        gain = gain + 0.01 * (1 - power)
    found = np.load(out)
    np.testing.assert_allclose(found["y"], ys, 1e-5, 1e-6)
    np.testing.assert_allclose(found["gain"], gain, 1e-5)
    phase, ws = np.zeros(SIGNALS), []
    for row in (x + 1j * x[::-1])[::-1]:
        ws.append(row * np.exp(-1j * phase))
        phase = phase + 0.1 * np.where(ws[-1].real > 0, ws[-1].imag, -ws[-1].imag)
    np.testing.assert_allclose(found["w"], ws[::-1], 1e-4, 1e-4)
    np.testing.assert_allclose(found["phase"], phase, 1e-4, 1e-4)
    # An image without the loop refuses it and says how to get one.
    env["FTENSOR_FALLBACK"] = "warn"
    program.write_text("import ftensor as ft\nft.scan(lambda s, x: (s - x, s), 0.0, ft.ones(9))\n")
    done = forked.run(program, env=env)
    assert done.returncode == 1 and "no image holds a scan of <lambda>" in done.stderr
    assert "ftensor kernels --trace" in done.stderr


CHAIN = """
import sys
import numpy as np
import ftensor as ft

def agc(gain, x):
    y = gain * x
    return gain + 0.01 * (1 - y * y), y

@ft.jit
def chain(x, w, gain):
    last, y = ft.scan(agc, gain, (x * w + 1).reshape(-1), reverse=True)
    return (y.reshape(x.shape) + 1).square().sum(-1), last

x = ft.from_numpy(np.random.default_rng(5).standard_normal((6, 32)).astype("f4"))
arguments = x, ft.from_numpy(x.numpy()[::-1].copy()), ft.from_numpy(np.float32([1])).reshape(())
if sys.argv[1:]:
    files = chain.export(sys.argv[1], *arguments, target="kv260")
    print(len(files.kernels), files.kernels[-1].entry, *files.apart)
else:
    sums, last = chain(*arguments)
    print(*sums.tolist(), last.item())
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="the C simulation needs g++")
def test_loop_between_stages_is_exported_with_them(tmp_path: Path) -> None:
    """If a loop cannot be a stage, one inventory has the loop and both parts of the graph, and says
    why. Its image runs the call with no step on the host."""
    program, image = tmp_path / "chain.py", tmp_path / "image"
    program.write_text(CHAIN)
    env = {**os.environ, "PYTHONPATH": str(Path(ft.__file__).parents[1]), "FTENSOR_DEVICE": "csim"}
    env.pop("FTENSOR_IMAGE", None)
    done = forked.run(program, tmp_path / "chain", env=env)
    assert done.returncode == 0, done.stderr
    count, entry, *apart = done.stdout.split()
    groups = expand(parse((tmp_path / "chain.toml").read_bytes(), tmp_path / "chain.toml"))
    kinds = [group.skeleton for group in groups]
    assert (count, kinds) == ("3", ["staged", "staged", "feedback"])
    assert re.fullmatch(r"scan \(.*chain.py:12: .*\): it begins with the last step.*", " ".join(apart))
    assert groups[-1].members[0].entry == entry
    words = ("build", "--target", "csim", "--inventory", tmp_path / "chain.toml", "--out", image)
    forked.run("-m", "ftensor", *words, env=env).check_returncode()
    env |= {"FTENSOR_IMAGE": str(image / "chain.xclbin"), "FTENSOR_FALLBACK": "error"}
    done = forked.run(program, env=env)
    assert done.returncode == 0, done.stderr
    x = np.random.default_rng(5).standard_normal((6, 32)).astype("f4").astype("f8")
    gain, ys = 1.0, []
    for value in (x * x[::-1] + 1).ravel()[::-1]:
        ys.append(gain * value)
        gain += 0.01 * (1 - ys[-1] ** 2)
    *sums, last = map(float, done.stdout.split())
    np.testing.assert_allclose(sums, ((np.reshape(ys[::-1], x.shape) + 1) ** 2).sum(1), 1e-4)
    assert last == pytest.approx(gain, rel=1e-5)
