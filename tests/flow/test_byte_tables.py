"""Functions of a byte as lookup tables in a stage: which calls use them, what the lanes read, and
their loop and memory in the models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

import ftensor as ft
from ftensor.kernels.byte_tables import ByteTables, byte_tables
from ftensor.kernels.skeleton import board_skeleton_of
from ftensor.kernels.staged import StagedKey, Stages
from ftensor.kernels.workload import KernelLaunch, LocalMemory
from ftensor.toolchain.area.fit import area
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.inventory.read import expand, read


@ft.jit
def develop(x: ft.Tensor, y: ft.Tensor, z: ft.Tensor) -> tuple[ft.Tensor, ft.Tensor]:
    light = (x.float() / 255) ** 2.2
    return light * 3 + light * z, (x.float() - y.float()).exp2()


@pytest.fixture
def key(tmp_path: Path) -> StagedKey:
    x, y = ft.ones(12, 64, dtype=ft.uint8), ft.ones(12, 64, dtype=ft.uint8)
    files = develop.export(str(tmp_path / "developed"), x, y, ft.ones(12, 64))
    (group,) = expand(read(files.inventory))
    source = files.source.read_text()
    assert source.count("][256];") == 2 and source.count("elements_0_tables:") == 1
    return cast("StagedKey", group.members[0])


def names(key: StagedKey, calls: tuple[int, ...]) -> list[str]:
    return [key.calls[k].function.name for k in calls]


def tables_of(key: StagedKey) -> ByteTables:
    (stage,) = [stage for stage in Stages(key).stages if stage.kind == "elements"]
    return byte_tables(key, stage)


def test_expensive_functions_of_one_byte_are_tables(key: StagedKey) -> None:
    """Both powers depend on one byte. The difference depends on two, and a conversion alone is
    cheap."""
    tables = tables_of(key)
    assert names(key, tables.entry_calls) == ["copy", "true_divide", "pow", "mul"]
    assert sorted(names(key, tables.element_calls)) == ["add", "copy", "copy", "exp2", "mul", "sub"]
    assert tables.memories(key) == [LocalMemory(256, 32, key.lanes // 2)] * 2


def test_the_models_count_entries_once(key: StagedKey) -> None:
    skeleton, two_lanes = board_skeleton_of(key), replace(key, lanes=2)
    trips = {loop.name: loop.trips for loop in skeleton.loops(KernelLaunch(key, 1, 12, ()), 0, False)}
    assert trips["elements_0_tables"] == 256
    assert not tables_of(two_lanes).bytes_of, "an entry's lane would cost as much as a lane of elements"
    wide, narrow = (dict(area(KernelGroup("graph", (k,))).ops) for k in (key, two_lanes))
    assert wide["pow"] * 2 == narrow["pow"]
    assert wide["exp2"].lut == narrow["exp2"].lut * key.lanes / 2
