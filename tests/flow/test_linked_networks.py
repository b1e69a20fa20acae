"""Networks in several kernels connected by streams, one on each die. test_loaded_networks.py
compares their bits."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

import ftensor as ft
from ftensor.boards import Board, find
from ftensor.errors.build import BuildError, InventoryError
from ftensor.graph.network import NetworkBuilder
from ftensor.kernels.network import NetworkKey
from ftensor.kernels.network_parts import NetworkPart, cuts_of, parts_of_network, streams_of
from ftensor.kernels.network_processes import interval
from ftensor.toolchain.area.fit import area, check, fit, lines
from ftensor.toolchain.csim import CSim
from ftensor.toolchain.folding import Folding, fold_network
from ftensor.toolchain.group import KernelGroup, arguments
from ftensor.toolchain.intel import target as intel
from ftensor.toolchain.inventory.read import expand, read
from ftensor.toolchain.make import Request, commands, prepare
from ftensor.toolchain.network_dies import on_dies, report
from ftensor.toolchain.vitis.source import copy_headers, source
from ftensor.toolchain.vitis.target import Vitis

from .. import fuzz_linked_networks
from ..ir.findings import findings
from .network_program import LINKED, digits, images

PLATFORM = "xilinx_u55c_gen3x16_xdma_3_202210_1"
needs = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def linked(folder: Path, seed: int = 3, text: str = LINKED) -> tuple[KernelGroup, ...]:
    ft.jit(digits(seed)).export(str(folder / "digits"), images(2), target="kv260")
    inventory = folder / "linked.toml"
    inventory.write_text(text)
    return expand(read(inventory))


def test_link_places_each_part_on_a_die(tmp_path: Path) -> None:
    """The first part reads memory, the last one writes it, and the part between them is
    free-running."""
    groups = linked(tmp_path)
    commands(Request("digits", groups, "", tmp_path / "hw"), Vitis("hw", PLATFORM, dry=True))
    lines = (tmp_path / "hw" / "link.cfg").read_text().splitlines()
    assert [line for line in lines if line.startswith("slr=")] == [f"slr=digits_{k + 1}_1:SLR{k}" for k in range(3)]
    assert [line.partition(":")[0] for line in lines if line.startswith("sp=")] == [
        "sp=digits_1_1.in_0",
        "sp=digits_3_1.out0",
    ]
    assert [line.partition("=")[2] for line in lines if line.startswith("stream_connect=")] == [
        "digits_1_1.command_0:digits_2_1.command:16",
        "digits_1_1.from_conv2d_0_requantize:digits_2_1.images:32",
        "digits_2_1.from_linear_3_requantize:digits_3_1.images:32",
    ]
    assert [bool(arguments(group)) for group in groups] == [True, False, True]
    copy_headers(tmp_path)
    for group in groups:
        path = tmp_path / f"{group.name}.cpp"
        path.write_text(source(group))
        assert not findings(path, group.name)
        assert ("ap_ctrl_none port=return" in path.read_text()) == (group.name == "digits_2")


@needs
def test_changed_weights_compile_the_kernel_of_their_layer(tmp_path: Path) -> None:
    """No other kernel is compiled, neither before nor after it."""
    groups = linked(tmp_path)
    jobs = prepare(Request("digits", groups, "", tmp_path / "out"), CSim()).kernels
    key = groups[0].members[0].whole  # type: ignore[attr-defined]
    constants = bytearray(key.constants)
    constants[-300:-200] = bytes(100)  # the weights of linear_4
    changed = parts_of_network(replace(key, constants=bytes(constants)), (1, 5))
    again = tuple(replace(group, members=(part,)) for group, part in zip(groups, changed, strict=True))
    later = prepare(Request("digits", again, "", tmp_path / "out"), CSim()).kernels
    assert [a.output == b.output for a, b in zip(jobs, later, strict=True)] == [True, False, True]


@needs
@pytest.mark.long
@pytest.mark.parametrize("seed", [7, 14, 64])
def test_random_linked_networks_by_gpp(seed: int) -> None:
    """They have two to four kernels. `make fuzz` draws others."""
    assert fuzz_linked_networks.trial(Random(seed)) == ""


def test_parts_take_the_area_of_the_whole(tmp_path: Path) -> None:
    """All DSP blocks are in one of them, and a launch's entry is that of the network."""
    groups = linked(tmp_path)
    parts = [group.members[0] for group in groups]
    assert all(isinstance(part, NetworkPart) for part in parts)
    key = parts[0].whole  # type: ignore[attr-defined]
    assert isinstance(key, NetworkKey) and [parts[0].entry, parts[2].entry] == [key.entry, f"{key.entry}/out0"]
    whole, each = area(KernelGroup("whole", (key,))).whole, [area(group).whole for group in groups]
    assert whole.dsp == sum(one.dsp for one in each) > 0 and min(one.dsp for one in each) > 0
    assert whole.lut < sum(one.lut for one in each) < 1.5 * whole.lut
    assert cuts_of(key) == [1, 2, 4, 5]  # the sum reads the pool and the convolution after it
    pool = parts_of_network(key.without_constants(), (1, 2))[1]  # it forwards the weights of others
    assert len(pool.stream_names) == len(set(pool.stream_names)) == 5
    two = parts_of_network(key, (4,))
    assert [stream.name for stream in streams_of(two)] == ["images_1"]


def test_no_kernel_starts_inside_a_residual_block() -> None:
    """Layer k - 1 computes value k. The sum, layer 3, reads values 3 and 1."""
    key = SimpleNamespace(layers=[SimpleNamespace(inputs=read) for read in ((0,), (1,), (2,), (3, 1), (4,))])
    assert cuts_of(key) == [1, 4]  # type: ignore[arg-type]


CUTS = {
    "no cuts": ("", 'the setting "cuts" is missing|cuts'),
    "inside a sum's branches": ("cuts = [3]", r"of \[1, 2, 4, 5\], at which another kernel begins"),
    "out of order": ("cuts = [5, 1]", "layers in order"),
    "twice": ("cuts = [1, 1]", "layers in order"),
    "beyond the end": ("cuts = [6]", "layers in order"),
    "no list": ("cuts = 4", "layers in order"),
    "lists": ("cuts = [[1]]", "layers in order"),
    "words": ('cuts = ["conv2d_0"]', "layers in order"),
    "no layer": ("cuts = []", "layers in order"),
    "a bool": ("cuts = [true]", "layers in order"),
}


@pytest.mark.parametrize("case", CUTS)
def test_layers_where_no_kernel_may_start(tmp_path: Path, case: str) -> None:
    line, said = CUTS[case]
    with pytest.raises(InventoryError, match=said):
        linked(tmp_path, text=re.sub("cuts = .*", line, LINKED))


def test_one_kernel_has_no_cuts(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=r"cuts = .* absent here"):
        linked(tmp_path, text=LINKED.replace("linked", "dataflow"))


def board(luts: float) -> Board:
    """A Kria KV260 whose chip has three dies, with a part of its LUTs."""
    kv260 = find("kv260")
    return replace(kv260, chip=replace(kv260.chip, slrs=3, lut=kv260.chip.lut * luts))


def folded(luts: float) -> tuple[NetworkKey, Folding]:
    x = images(1)
    key = NetworkBuilder(ft.jit(digits())._trace_only(x._storage.backend, [x], (x,), {})).key
    return key, fold_network(key, board(luts))


def test_network_uses_as_many_dies_as_it_needs() -> None:
    """It is linked if its parts fit at the same speed; on request, also at a lower one."""
    key, found = folded(1)
    split = on_dies(found, key, None, None, {})
    assert (interval(split.key), split.cuts) == (interval(found.key), (1, 4)) and split.fits_dies
    assert report(split).splitlines()[2].startswith("SLR1: max_pool2d_1 to add_3, LUT ")
    assert on_dies(found, key, "dataflow", None, {}) == found
    assert on_dies(fold_network(key, find("u55c"), 500), key, None, None, {}).cuts == ()
    key, found = folded(0.5)
    assert on_dies(found, key, None, None, {}) == found
    split = on_dies(found, key, "linked", None, {})
    assert interval(split.key) == 2 * interval(found.key) and split.fits_dies and len(split.dies) == 3


def test_network_too_large_for_the_dies_is_refused_with_numbers() -> None:
    key, found = folded(0.35)
    with pytest.raises(ft.GraphError, match=r"one by one, a kernel on each die: SLR0 LUT .*its first 2 layers do"):
        on_dies(found, key, "linked", None, {})
    with pytest.raises(ft.GraphError, match=r"even with 400 cycles an image, a kernel .*; no part of it does"):
        on_dies(found, key, "linked", 400, {})


def test_area_of_an_image_is_reported_for_each_die(tmp_path: Path) -> None:
    """An image with an overfull die is refused."""
    usage = fit(linked(tmp_path), find("u55c"))
    assert [line[:9] for line in lines(usage) if "of the die." in line] == ["SLR0: LUT", "SLR1: LUT", "SLR2: LUT"]
    assert usage.fits and sum(shares[2] for shares in usage.dies.values()) == pytest.approx(3 * usage.shares["dsp"])
    with pytest.raises(BuildError, match=r"LUT \d+% of at most 80% on SLR0"):
        check("digits", linked(tmp_path), board(0.4))


def test_intels_boards_have_no_networks(tmp_path: Path) -> None:
    """The build refuses them, whether they have one kernel or several."""
    linked(tmp_path)
    for name in ("digits", "linked"):
        (group,) = expand(read(tmp_path / f"{name}.toml"), shares_ports=False)
        with pytest.raises(ValueError, match=r"a form in HLS C.. for Xilinx's boards only"):
            intel.source(group)


def test_exported_network_is_linked(tmp_path: Path) -> None:
    jitted, x = ft.jit(digits()), images(2)
    exported = jitted.export(str(tmp_path / "digits"), x, target="u55c", structure="linked")
    assert [group.name for group in expand(read(exported.inventory))] == ["digits_1", "digits_2", "digits_3"]
    assert "\nSLR2: " in exported.report
    assert "cuts" not in jitted.export(str(tmp_path / "one"), x, target="u55c", cycles=500).inventory.read_text()
    with pytest.raises(ft.GraphError, match="can't have a kernel on each die of a Kria KV260"):
        jitted.export(str(tmp_path / "no"), x, target="kv260", structure="linked")
    with pytest.raises(ValueError, match=r"structure= is .*, not 'loop'"):
        jitted.export(str(tmp_path / "no"), x, structure="loop")
