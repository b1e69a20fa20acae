"""The image of an estimate: graphs with lanes and units, networks with folding, kernels that do not
fit on a board."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import ftensor.quantized as Q
from ftensor.boards import find
from ftensor.estimate.model import BoardConfig
from ftensor.estimate.report import program_image, report
from ftensor.estimate.show import as_json, text
from ftensor.kernels.network import NetworkKey
from ftensor.kernels.user_kernels import UserKernelKey
from ftensor.kernels.workload import KernelLaunch
from ftensor.toolchain.folding import fold_network
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.trace import Trace

from .. import forked
from .known_networks import Weights

ROOT = Path(__file__).parents[2]
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

NETWORK = """
import numpy as np
import ftensor as ft

Q, rng = ft.quantized, np.random.default_rng(0)
weight, last = (ft.tensor(rng.integers(-127, 128, s).astype(np.int8)) for s in ((4, 1, 3, 3), (10, 64)))

@ft.jit
def net(x):
    x = Q.conv2d_relu(x, weight, padding=1, scale=0.1, input_scale=0.01, weight_scale=0.01)
    x = ft.nn.functional.max_pool2d(x, 2)
    return Q.linear(x.flatten(1), last, scale=0.9, zero_point=128, input_scale=0.1, weight_scale=0.01)

x = ft.tensor(rng.integers(0, 256, (3, 1, 8, 8)).astype(np.uint8))
wanted = net._function(x)
print(bool((np.array(net(x)) == np.array(wanted)).all()))
"""


def command(folder: Path, *words: str) -> str:
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "PYTHONPATH": str(ROOT)}
    done = forked.run("-m", "ftensor", *words, env=env, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@needs
@pytest.mark.long
def test_network_is_estimated_with_its_cycles_and_traced(tmp_path: Path) -> None:
    """The program's inventory has it too, with the folding for a U55C."""
    (tmp_path / "program.py").write_text(NETWORK)
    said = command(tmp_path, "estimate", "--json", "--board", "kv260", "program.py")
    found: dict[str, Any] = json.loads(said[said.index("{") : said.rindex("}") + 1])
    (line,) = [one for one in found["launches"] if one["skeleton"] == "network"]
    said = command(tmp_path, "kernels", "--write", "mine.toml", "--trace", "program.py")
    assert "True" in said
    (group,) = [g for g in expand(read(tmp_path / "mine.toml")) if isinstance(g.members[0], NetworkKey)]
    key = group.members[0]
    assert isinstance(key, NetworkKey)
    assert key == fold_network(key, find("u55c")).key
    assert key.entry == line["entry"] and line["size"] == "3 images"
    folded = fold_network(key, find("kv260")).key
    launch = KernelLaunch(folded, 1, 3)
    image = program_image({launch: 1}, find("kv260"))
    assert line["cycles"]["loop"] == max(x.cycles for x in group.kind.loops(launch, 0, False))
    kernels = found["area"]["kernels"]
    assert {one["name"] for one in kernels if one["placed"]} >= {
        g.name for g in image.fitting.groups
    } and image.fitting.groups
    assert all(set(one) == {"name", "lanes", "units", "shares", "placed"} for one in kernels)
    assert not image.left_out


def traced(*launches: KernelLaunch) -> Trace:
    trace = Trace()
    trace.launches.update(launches)
    return trace


def graph_of(function: Any, folder: Path, rows: int = 4096, length: int = 1024) -> KernelLaunch:
    import ftensor as ft

    (group,) = expand(read(ft.jit(function).export(str(folder / "graph"), ft.ones(5, length)).inventory))
    return KernelLaunch(group.members[0], 1, rows)


def norm(x: Any) -> Any:
    y = x - x.mean(-1, keepdim=True)
    return y * (y.square().mean(-1, keepdim=True) + 1e-5).rsqrt()


def expensive(x: Any) -> Any:
    for _ in range(12):
        x = (x.pow(1.5) + x.sum(-1, keepdim=True)).tanh()
    return x


def test_graph_has_the_units_that_fit(tmp_path: Path) -> None:
    launch = graph_of(norm, tmp_path)
    seconds = {name: report(traced(launch), BoardConfig(find(name), 300), 1, None) for name in ("u55c", "kv260")}
    (line,) = seconds["u55c"].lines
    assert line.estimate.launch.units >= 4 and line.estimate.kernel < 0.35e-3
    assert seconds["u55c"].image.fitting.shares["lut"] < 0.70
    (line,) = seconds["kv260"].lines
    assert line.estimate.launch.key.lanes < 16, "16 lanes have more beats than the KV260's memory"
    for units in (1, 2):
        fixed = report(traced(launch), BoardConfig(find("u55c"), 300, units=units), 1, None)
        assert fixed.lines[0].estimate.launch.units == units, "as --units says"
        assert [group.units for group in fixed.image.fitting.groups] == [units]
    two = report(traced(launch), BoardConfig(find("kv260"), 300, units=2), 1, None)
    assert two.lines[0].estimate.launch.units == 2 and two.lines[0].estimate.launch.key.lanes < 8
    few = report(traced(launch._replace(n=3)), BoardConfig(find("u55c"), 300), 1, None)
    assert few.lines[0].estimate.launch.units == 1, "rows that are worth one unit"


def test_kernels_too_large_for_a_board_are_not_estimated(tmp_path: Path) -> None:
    """The host computes them, and the copies are counted."""
    small, large = graph_of(norm, tmp_path), graph_of(expensive, tmp_path)
    found = report(traced(small, large), BoardConfig(find("kv260"), 300), 1, None)
    assert [line.estimate.launch.key.name for line in found.lines] == [small.key.name]
    assert list(found.missing.values()) == [1]
    copies = 2 * 4096 * 1024 * 4
    assert found.fallback > copies / 5e9
    said = text(found)
    assert "Its 2 kernels do not fit the Kria KV260: LUT " in said
    assert f"No room for {large.key.name[:12]}" in said and "(LUT " in said
    assert "Not in the image: " in said
    there = report(traced(small, large), BoardConfig(find("u55c"), 300), 1, None)
    assert len(there.lines) == 2 and not there.missing and "Area of its 2 kernels: LUT " in text(there)


def test_graph_too_large_for_export_does_not_fit(tmp_path: Path) -> None:
    """One limit applies to both, even if the graph alone takes less than an image may."""

    def large(x: Any) -> Any:
        for _ in range(5):
            x = (x.pow(1.5) + x.sum(-1, keepdim=True)).tanh()
        return x.exp() / 3

    launch = graph_of(large, tmp_path)
    found = report(traced(launch), BoardConfig(find("kv260"), 300), 1, None)
    assert found.image.requested.fits and 0.70 < max(found.image.requested.shares.values()) < 0.80
    assert not found.lines and found.image.left_out == found.image.requested.groups
    assert not as_json(found)["area"]["fits"]
    assert "Its 1 kernel does not fit" in text(found) and "at most LUT 70%, FF 70%, DSP 65%, BRAM 80%" in text(found)


def lenet(folder: Path, images: int = 64) -> KernelLaunch:
    import ftensor as ft

    of, pool = Weights(0), ft.nn.functional.max_pool2d
    c1, c2, f1, f2, f3 = (of.layer(*s) for s in ((6, 1, 5, 5), (16, 6, 5, 5), (120, 400), (84, 120), (10, 84)))

    def network(x: Any) -> Any:
        x = pool(Q.conv2d_relu(x, padding=2, **c1), 2)
        x = pool(Q.conv2d_relu(x, **c2), 2).flatten(1)
        return Q.linear(Q.linear_relu(Q.linear_relu(x, **f1), **f2), **f3)

    files = ft.jit(network).export(str(folder / "net"), ft.zeros(1, 1, 28, 28, dtype=ft.uint8))
    (group,) = expand(read(files.inventory))
    return KernelLaunch(group.members[0], 1, images)


def test_network_leaves_room_for_a_slower_graph(tmp_path: Path) -> None:
    network, graph, board = lenet(tmp_path), graph_of(norm, tmp_path), find("kv260")
    apart = {launch: report(traced(launch), BoardConfig(board, 300), 1, None).kernels for launch in (network, graph)}
    both = report(traced(network, graph), BoardConfig(board, 300), 1, None)
    assert not both.missing
    assert both.kernels < 1.2 * sum(apart.values())
    times = {line.estimate.launch.key.skeleton: line.kernel for line in both.lines}
    assert times["staged"] < 1.01 * apart[graph] and times["network"] > apart[network]
    many = report(traced(network._replace(n=1 << 20), graph), BoardConfig(board, 300), 1, None)
    (line,) = [line for line in many.lines if line.estimate.launch.key.skeleton == "network"]
    assert line.kernel / (1 << 20) < 0.7 * times["network"] / 64, "more images, and faster folds"


def test_units_of_ops_and_graphs(tmp_path: Path) -> None:
    """A network has one unit, and a user kernel says nothing about others."""
    network, graph, board = lenet(tmp_path), graph_of(norm, tmp_path), find("u55c")
    image = program_image({network: 1, graph: 1}, board, 4)
    assert {group.members[0].skeleton: group.units for group in image.fitting.groups} == {"network": 1, "staged": 4}
    (sums, *_) = expand(read("first"))
    own = KernelLaunch(UserKernelKey("mine", "mine.cpp", ()), 8, 0)
    image = program_image({KernelLaunch(sums.members[0], 2, 4096): 1, own: 1}, board)
    assert [group.units for group in image.fitting.groups] == [2]


def test_inventory_that_does_not_fit_is_reported(tmp_path: Path) -> None:
    launch = graph_of(expensive, tmp_path)
    groups = expand(read(tmp_path / "graph.toml"))
    found = report(traced(launch), BoardConfig(find("kv260"), 300), 1, groups)
    assert not found.lines and "Not in the inventory: " in text(found)
    assert found.image.left_out == groups
