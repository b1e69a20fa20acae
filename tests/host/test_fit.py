"""Assignment of ports to memories, utilization of a board, and the message for an image that does
not fit."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ftensor import dtypes
from ftensor.boards import BOARDS, find, of_platform
from ftensor.cli import main
from ftensor.errors.build import BuildError
from ftensor.estimate.model import loops
from ftensor.kernels.key import KernelKey, Port
from ftensor.kernels.skeletons.elementwise import RowsGeometry
from ftensor.kernels.workload import KernelLaunch
from ftensor.toolchain.area import fit
from ftensor.toolchain.area.cores import Resources
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import builtin_inventories, expand, parse, read
from ftensor.toolchain.vitis import source
from ftensor.toolchain.vitis.interface import bundles, masters, memories, place_ports

F = dtypes.float32
ADD = KernelKey("add", "map", F, 16, (Port(F, "v"),), (Port(F, "v"), Port(F, "v")), ("(a + b)",))
NAMES = tuple(builtin_inventories())
BOARD_NAMES = tuple(board.name for board in BOARDS)


def many(count: int, banks: str = "", units: int = 1) -> list[KernelGroup]:
    return [KernelGroup(f"k{i}", (ADD,), units=units, banks=banks) for i in range(count)]


def test_hbm_range_is_one_memory_with_ports_at_successive_channels() -> None:
    placed = place_ports(many(20, "HBM[0:31]"))
    assert {way.memory for way in placed.values()} == {"HBM[0:31]"}
    assert max(masters(placed).values()) == 2, "60 ports at 32 channels"
    assert placed["k1_1", "gmem0"].words == "HBM[0:31].3", "not from the beginning for each kernel"


def test_separate_channels_continue_from_kernel_to_kernel() -> None:
    placed = place_ports(many(2, "HBM[*]", units=2))
    assert memories(many(2, "HBM[*]")[1], place_ports(many(2, "HBM[*]")))["out0"] == "HBM[3]"
    assert placed["k0_1", "gmem1"] == placed["k0_2", "gmem1"], "units work on the same buffers"


def test_board_places_ports_without_named_memory() -> None:
    assert place_ports(many(2)) == {}
    hbm, ddr, kria = (place_ports(many(8), find(name)) for name in ("u55c", "u200", "kv260"))
    assert {way.memory for way in hbm.values()} == {"HBM[0:31]"}
    assert [ddr[f"k{i}_1", "gmem0"].words for i in range(8)] == ["DDR[0]"] * 5 + ["DDR[1]"] * 3
    assert all(len({ddr[f"k{i}_1", f"gmem{k}"] for k in range(3)}) == 1 for i in range(8))
    assert masters(kria) == {"HP0": 6, "HP1": 6, "HP2": 6, "HP3": 6}


@pytest.mark.parametrize("name", [n for n in NAMES if n != "full"])
@pytest.mark.parametrize("board", ["u50", "u55c", "u280"])
def test_no_channel_of_hbm_is_crowded(name: str, board: str) -> None:
    groups = [replace(g, banks="") for g in expand(read(name))]
    assert not fit.fit(groups, find(board)).crowded


def test_overfull_memory_error_suggests_a_placement() -> None:
    with pytest.raises(BuildError) as raised:
        fit.check("six", many(6, "DDR[0]"), find("u200"))
    assert "18 ports at DDR[0], of at most 15" in str(raised.value)
    assert "Without --banks" in str(raised.value)
    assert fit.check("six", many(6), find("u200")).fits


def test_too_large_image_error_names_what_fits() -> None:
    groups, kria = expand(read("minimal")), find("kv260")
    with pytest.raises(BuildError) as refusal:
        fit.check("minimal", groups, kria)
    text, rest = str(refusal.value), fit.fitting_subset(groups, kria)
    begins = r"minimal does not fit the Kria KV260: LUT \d+% of at most 80%, FF"
    assert re.match(begins, text.replace(";", ","))
    assert rest.fits and 0 < len(rest.groups) < len(groups)
    assert f"This fits: {rest.groups[0].name}" in text and "--fit" in text
    assert "ft_add_float32 (add)" in text
    fit.check("rest", rest.groups, kria)


@pytest.mark.parametrize(
    "name, boards",
    [
        ("first", BOARD_NAMES),
        ("minimal", ("u55c", "u280")),
        ("cnn", ("u55c", "u280")),
        ("int8", ("u55c", "u280")),
        ("transformer", ("u55c", "u250", "u280")),
        ("radio", ("u55c", "u280")),
        ("stats", ("u55c", "u280")),
    ],
)
def test_boards_that_fit_an_inventory(name: str, boards: tuple[str, ...]) -> None:
    groups = expand(read(name))
    for board in boards:
        assert fit.fit(groups, find(board)).fits, board


@pytest.mark.parametrize("lut, dsp, fits", [(0.79, 0.9, True), (0.81, 0.1, False), (0.1, 1.1, False)])
def test_utilization_limits(lut: float, dsp: float, fits: bool) -> None:
    """Tools can't place more than 80 % of the LUTs, or more than 100 % of other resources."""
    board = find("u55c")
    have = board.chip.left.value
    takes = Resources(lut=lut * have * board.chip.lut, dsp=dsp * have * board.chip.dsp)
    assert fit.Fit(board, (), takes, {}).fits is fits


def test_first_fits_the_default_memory_of_a_platform() -> None:
    groups = expand(read("first"))
    assert sum(len(bundles(group)) for group in groups) <= 15
    assert not fit.fit([replace(g, banks="HBM[0]") for g in groups], find("u55c")).crowded


def test_table_lists_each_kernel_and_warns() -> None:
    lines = fit.lines(fit.fit(expand(read("transformer")), find("u50")))
    assert len(lines) > 12 and "transformer_gemm_float32" in lines[2]
    assert "Above 70% of LUT" in lines[-1]
    quiet = fit.lines(fit.fit(expand(read("first")), find("u55c")))
    assert not any("Above" in line for line in quiet)


def test_board_follows_from_the_platform() -> None:
    board = of_platform("/opt/xilinx/platforms/xilinx_u55c_gen3x16_xdma_3_202210_1.xpfm")
    assert board is not None and board.name == "u55c"
    assert of_platform("my_vck190") is None


def test_small_board_gets_compact_kernels(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A dry run says so. A large board gets the requested inventory. Both get the memory that the
    command names."""
    for platform, name, bank in (("kv260", "radio_small", "DDR[1]"), ("u55c", "radio", "HBM[*]")):
        words = ["build", "--target", "hw", "--dry-run", "--platform", platform, "--banks", bank]
        assert main([*words, "--inventory", "radio", "--out", str(tmp_path / platform)]) == 0
        said = capsys.readouterr().out
        assert f"{name}.xclbin" in said
        assert ("its form for small boards" in said) == (platform == "kv260")
        lines = (tmp_path / platform / "link.cfg").read_text().splitlines()
        where = {line.rpartition(":")[2] for line in lines if line.startswith("sp=")}
        assert where == {bank} if platform == "kv260" else len(where) > 1


@pytest.mark.parametrize("name", [n for n in NAMES if n.endswith("_small")])
def test_compact_forms_leave_room(name: str) -> None:
    fitted = fit.fit(expand(read(name)), find("kv260"))
    assert max(fitted.shares.values()) < fit.WARNING_SHARE
    assert len(fitted.groups) >= 3


COMPACT = """
structure = "compact"
[[kernel]]
ops = ["mul", "exp", "sum"]
dtypes = ["float32", "complex64"]
layouts = ["linear", "strided"]
[[kernel]]
ops = ["copy"]
layouts = ["gather"]
"""


def test_operands_of_one_width_share_a_port_of_compact_kernels() -> None:
    """One process reads through the port and one writes. Vector kernels have a port for each
    operand."""
    groups, usual = (
        expand(parse(text.encode(), Path("mine.toml"))) for text in (COMPACT, COMPACT.replace("compact", "dataflow"))
    )
    shared = {group.name: [bundle.pointers for bundle in bundles(group)] for group in groups}
    assert shared["ft_rows_4_4x4"] == [("out0", "in_a", "in_b", "geometry")]
    assert shared["ft_rows_8_8x8"] == [("out0", "in_a", "in_b"), ("geometry",)]
    assert shared["ft_inners_4_4"] == [("out0", "in_a", "geometry")]
    assert shared["ft_move_4_4x8"] == [("out0", "in_a", "geometry"), ("in_b",), ("bad",)]
    assert [len(pointers) for pointers in shared["ft_map_4_4x4"]] == [1, 1, 1]
    for group, one in zip(groups, usual, strict=True):
        assert group.members == one.members and fit.area(group).unit.lut <= fit.area(one).unit.lut
    both = next(group for group in groups if group.name == "ft_rows_4_4x4")
    assert "#pragma HLS PIPELINE II=2" in source.source(both)
    (width,) = {bundle.writes for bundle in bundles(both)} - {(0, 0)}
    assert f"num_write_outstanding={width[1]}" in source.source(both)


def test_compact_kernel_reads_operands_in_turn() -> None:
    (group,) = expand(
        parse(b'structure = "compact"\n[[kernel]]\nops = ["mul"]\nlayouts = ["strided"]\n', Path("m.toml"))
    )
    geometry = RowsGeometry.of((4, 8), ((8, 1), (8, 1), (8, 1)), 1).pack()
    intervals = {}
    for structure in ("loop", group.moves):
        launch = KernelLaunch(group.members[0], 1, 0, geometry, structure)
        intervals[structure] = {loop.name: loop.interval for loop in loops(launch, 0)}
    assert intervals == {"loop": {"elements": 1, "write": 1}, "compact": {"elements": 2, "write": 1}}
