"""The configuration of v++'s linker."""

from __future__ import annotations

from collections import Counter

import pytest

from ftensor import dtypes
from ftensor.boards import find
from ftensor.errors.build import BuildError
from ftensor.image.description import complete
from ftensor.kernels.key import KernelKey, Port
from ftensor.kernels.skeletons.gemm import GemmKey
from ftensor.toolchain import csim
from ftensor.toolchain.group import KernelGroup, StreamConnection
from ftensor.toolchain.vitis import link

F = dtypes.float32
ADD = KernelKey("add", "map", F, 16, (Port(F, "v"),), (Port(F, "v"), Port(F, "v")), ("(a + b)",))


def group(name: str, units: int = 1, banks: str = "") -> KernelGroup:
    return KernelGroup(name, (ADD,), units=units, banks=banks)


def banks(one: KernelGroup) -> dict[str, str]:
    return link.banks([one])[one.name]


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("version, names", [((2021, 2), "k_1.k_2"), ((2022, 1), "k_1,k_2"), ((2024, 2), "k_1,k_2")])
def test_compute_units_are_named_as_the_version_wants(version, names):
    text = link.configuration([group("k", 2), group("m")], version)
    assert rows(text) == ["[connectivity]", f"nk=k:2:{names}", "nk=m:1:m_1"]


@pytest.mark.parametrize(
    "platform, memories",
    [
        ("xilinx_kv260_base_202220_1", [(f"HP{k}", 4 << 30, 0) for k in range(3)]),
        ("xilinx_u200_gen3x16_xdma_2_202110_1", [(f"DDR[{k}]", 16 << 30, k * (16 << 30)) for k in range(2)]),
        ("xilinx_u55c_gen3x16_xdma_3_202210_1", [("HBM[0:31]", 512 << 20, 0)]),
        ("mine", [("DDR[0]", 16 << 30, 0)]),
    ],
)
def test_csim_has_the_memories_of_the_platform(platform, memories):
    """The runtime can then choose memories as on a board, and emulation shows the copies."""
    groups = [group(f"k{n}", 4) for n in range(2)]  # 24 ports, more than one bank takes
    described = complete(csim.describe(groups, "image", platform, 300.0))
    assert [(b.name, b.size, b.base) for b in described.banks] == memories


def test_banks_with_one_address_range_are_one_memory():
    described = complete(csim.describe([group("k")], "image", "xilinx_kv260_base_202220_1", 300.0))
    assert [a.banks for a in described.kernels[0].arguments[:3]] == [("HP0",), ("HP1",), ("HP2",)]
    folded = described.folded()
    assert [b.name for b in folded.banks] == ["HP0"]
    assert [a.banks for a in folded.kernels[0].arguments[:3]] == [("HP0",)] * 3


def test_every_unit_of_a_kernel_reaches_the_same_memories():
    text = link.configuration([group("k", 2, "DDR[1]"), group("m", 1, "HBM[0:31]")], (2022, 2))
    assert [r for r in rows(text) if r.startswith("sp=")] == [
        *(f"sp=k_{u}.{a}:DDR[1]" for u in (1, 2) for a in ("out0", "in_a", "in_b")),
        *(f"sp=m_1.{a}:HBM[0:31].{k}" for k, a in enumerate(("out0", "in_a", "in_b"))),
    ]


def test_each_pointer_of_a_port_reaches_its_memory():
    """The geometry argument shares the port of an operand of the same width."""
    of = dtypes.int32
    key = KernelKey("add", "rows", of, 1, (Port(of, "x"),), (Port(of, "x"), Port(of, "x")), ("(a + b)",))
    text = link.configuration([KernelGroup("k", (key,), banks="DDR[1]")], (2022, 2))
    there = [r for r in rows(text) if r.startswith("sp=")]
    assert there == [f"sp=k_1.{a}:DDR[1]" for a in ("out0", "in_a", "geometry", "in_b")]


def test_units_are_spread_over_the_dies_of_a_chip_with_hbm():
    """The largest unit comes first, and each goes to the die with the most room. DDR banks are next
    to every die."""
    groups, board = [group("big", 1), *(group(f"k{i}", 2) for i in range(4))], find("u55c")
    of = link.dies(groups, board)
    assert set(of) == {unit for g in groups for unit in link.compute_unit_names(g)}
    counts = Counter(of.values())
    assert set(counts) == {"SLR0", "SLR1", "SLR2"} and max(counts.values()) == 3
    assert f"slr=big_1:{of['big_1']}" in link.configuration(groups, (2022, 2), board=board)
    assert not link.dies(groups, find("u200")) and not link.dies(groups, find("kv260"))


def test_pointers_are_spread_over_hbm():
    assert banks(group("k", 1, "HBM[*]")) == {"out0": "HBM[0]", "in_a": "HBM[1]", "in_b": "HBM[2]"}
    of = KernelGroup("g", (GemmKey("gemm", F, 16, 8, 2, 16),), banks="HBM[*]")
    both = banks(of)
    assert both["out_elements"] == both["out"] != both["a_panels"]  # two ports to one buffer
    assert banks(group("k")) == {}
    assert banks(group("k", 1, "HP0"))["in_a"] == "HP0"


@pytest.mark.parametrize("bank", ["DDR[x]", "SSD[0]", "HBM[1:]", "DDR[0]\nnk=a:1", "HBM[*] "])
def test_unknown_memory_is_refused(bank):
    with pytest.raises(BuildError, match=r"kernel k: .* is no memory; take DDR"):
        link.configuration([group("k", 1, bank)], (2022, 2))


def test_streams_join_two_kernels():
    streams = [StreamConnection("a_1.out", "b_1.in", 64), StreamConnection("a_1.more", "b_1.rest")]
    text = link.configuration([group("a"), group("b")], (2022, 2), None, streams)
    assert rows(text)[-2:] == ["stream_connect=a_1.out:b_1.in:64", "stream_connect=a_1.more:b_1.rest"]
    with pytest.raises(BuildError, match="from a kernel to itself"):
        link.configuration([group("a", 2)], (2022, 2), None, [StreamConnection("a_1.out", "a_2.in")])


def test_a_clock_in_hertz():
    assert rows(link.configuration([group("k")], (2022, 2), 250.5))[-2:] == ["[clock]", "defaultFreqHz=250500000"]


def test_limits_of_the_tools():
    with pytest.raises(BuildError, match="kernel k has 32 compute units, and at most 31"):
        link.configuration([group("k", 32)], (2022, 2))
    with pytest.raises(BuildError, match="the image has 129 compute units, and at most 128"):
        link.configuration([group(f"k{i}") for i in range(129)], (2022, 2))
