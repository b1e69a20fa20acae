"""HBM pseudo-channels: their grouping, the partition of memory, and the model's figures."""

from __future__ import annotations

import random
from typing import Any, ClassVar

import numpy as np
import pytest

from ftensor import dtypes
from ftensor.boards import find
from ftensor.estimate.model import BoardConfig, estimate
from ftensor.kernels.channels import SlabCut, channels, nearest_channels, slab_channel, splits_into_slabs
from ftensor.kernels.key import KernelKey, Port
from ftensor.kernels.workload import KernelLaunch
from ftensor.runtime.xrt.banks import PAGE, BankedBuffer, Space, place_in_slabs
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.vitis.interface import place_ports

F = dtypes.float32
ADD = KernelKey("add", "map", F, 16, (Port(F, "v"),), (Port(F, "v"), Port(F, "v")), ("(a + b)",))


@pytest.mark.parametrize(
    ("memory", "numbers"),
    [
        ("HBM[0:3]", (0, 1, 2, 3)),
        ("HBM[4] HBM[5] HBM[6]", (4, 5, 6)),
        ("HBM[4] HBM[6]", ()),
        ("HBM[7]", ()),
        ("DDR[0:1]", ()),
        ("", ()),
    ],
)
def test_channels_by_name(memory: str, numbers: tuple[int, ...]) -> None:
    assert channels(memory) == numbers


def test_units_share_the_switch_segments() -> None:
    assert [nearest_channels(unit, 32).start for unit in (0, 1, 7, 8)] == [0, 4, 28, 0]
    assert list(nearest_channels(3, 4)) == [0, 1, 2, 3]


def test_units_near_the_same_channels_use_different_ones() -> None:
    """Sixteen units with 32 channels: the slabs of two operands occupy all 32."""
    used = [slab_channel(unit, turn, 32) for unit in range(16) for turn in range(2)]
    assert sorted(used) == list(range(32))
    assert all(slab_channel(unit, turn, 32) in nearest_channels(unit, 32) for unit in range(24) for turn in range(4))
    assert [slab_channel(unit, 1, 4) for unit in range(3)] == [1, 1, 1], "one part of the switch, for all operands"


def test_partition_equals_the_kernels() -> None:
    assert SlabCut(1001, 64, 4).starts() == (0, 250 * 64, 500 * 64, 750 * 64)


def test_only_large_maps_are_split_into_slabs() -> None:
    large = 1 << 20
    assert splits_into_slabs("map", "vvk", large, 16, 8)
    assert not splits_into_slabs("map", "vvs", large, 16, 8), "one element for all units"
    assert not splits_into_slabs("map", "vvv", 16 * 1024 * 8 - 1, 16, 8)
    assert not splits_into_slabs("map", "vvv", large, 16, 1)
    assert not splits_into_slabs("rows", "vv", large, 16, 8)


def test_pages_are_allocated_and_freed() -> None:
    """Compared with a plain list of pages: no page is allocated twice, and all freed space is one
    piece again."""
    space, rng = Space(3 * PAGE, 103 * PAGE), random.Random(0)
    held: dict[int, int] = {}
    used: set[int] = set()
    refused = 0
    for _ in range(2000):
        if held and rng.random() < 0.5:
            at = rng.choice(list(held))
            nbytes = held.pop(at)
            used -= set(range(at // PAGE, -(-(at + nbytes) // PAGE)))
            space.release(at, nbytes)
            continue
        nbytes, begin = rng.randrange(1, 9 * PAGE), rng.randrange(110 * PAGE)
        end = begin + rng.randrange(60 * PAGE)
        pages = -(-nbytes // PAGE)
        fits = [
            p
            for p in range(max(3, -(-begin // PAGE)), 104 - pages)
            if (p + pages) * PAGE <= end and not used & set(range(p, p + pages))
        ]
        taken = space.take(nbytes, begin, end)
        assert taken == (fits[0] * PAGE if fits else None)
        refused += taken is None
        if taken is not None:
            used |= set(range(taken // PAGE, taken // PAGE + pages))
            held[taken] = nbytes
    assert 100 < refused < 1900
    for at, nbytes in held.items():
        space.release(at, nbytes)
    assert space.take(100 * PAGE, 0, 1 << 40) == 3 * PAGE


def test_ports_connect_near_their_units() -> None:
    placed = place_ports([KernelGroup(f"k{i}", (ADD,), units=8) for i in range(2)], find("u55c"))
    for (unit, _), way in placed.items():
        number = int(unit.rpartition("_")[2]) - 1
        assert way.memory == "HBM[0:31]"
        assert int(way.entry[4:-1]) // 4 == number


def test_modelled_time_of_a_large_sum() -> None:
    """64 MB of float32: one channel for all operands, one channel for each, and slabs next to eight
    units."""
    n = 1 << 24
    rates = {}
    whole = "HBM[0:31]"
    for units, banks in ((1, "HBM[0]"), (1, whole), (8, "*"), (2, whole), (8, whole)):
        cost = estimate(KernelLaunch(ADD, units, n), BoardConfig(find("u55c"), 300.0, banks))
        rates[units, banks] = cost.moved_bytes / cost.kernel / 1e9
    assert rates[1, "HBM[0]"] == pytest.approx(13.2, abs=0.1)
    assert rates[1, "HBM[0:31]"] == pytest.approx(39.5, abs=0.1)
    assert rates[8, "*"] == pytest.approx(39.5, abs=0.1)
    assert rates[2, "HBM[0:31]"] == pytest.approx(79, abs=2), "two units take less than their ports"
    assert rates[8, "HBM[0:31]"] > 200
    small = estimate(KernelLaunch(ADD, 8, 1 << 10), BoardConfig(find("u55c"), 300.0, "HBM[0:31]"))
    assert small.bank > 0


def test_storage_has_one_partition() -> None:
    """Two operands with different element sizes share a storage. A unit's part of one starts
    elsewhere than its part of the other, so the storage stays contiguous."""

    class Board:
        in_line: ClassVar[set[int]] = set()

        def arena(self, kernel: object, port: object) -> object:
            return self

    handle = BankedBuffer(1 << 20)
    handle.write_host(0, np.zeros(1 << 20, np.uint8))
    ports = [(k, "HBM[0:15]", k == 0) for k in range(2)]
    cuts = [SlabCut(1 << 14, beat, 4) for beat in (64, 32)]
    board: Any = Board()
    assert not place_in_slabs(board, None, None, [handle, handle], ports, cuts)  # type: ignore[arg-type]
    assert handle.cl is None
    assert handle.defined
