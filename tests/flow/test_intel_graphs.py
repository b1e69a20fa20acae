"""Graphs as OpenCL C for Intel FPGAs: sources, manifests, and graphs without an OpenCL form."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

import ftensor as ft
from ftensor.errors.image import ImageError
from ftensor.image.manifest import Manifest, manifest_digest
from ftensor.kernels.staged import StagedKey, Stages
from ftensor.toolchain.group import KernelGroup, arguments, manifest_record
from ftensor.toolchain.intel.staged import with_stages
from ftensor.toolchain.intel.target import source
from ftensor.toolchain.inventory.read import expand, read

from . import intel_graphs
from .staged_program import detector, softmax

HEAD = re.compile(r"^FT_KERNEL void (\w+)\(([^)]*)\)", re.M)


@pytest.fixture(scope="module", params=["softmax", "folded", "distances", "detector"])
def group(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KernelGroup:
    """Returns an exported graph whose OpenCL C is next to its HLS C++."""
    folder, name = tmp_path_factory.mktemp("graph"), request.param
    if name == "softmax":
        files = ft.jit(softmax).export(str(folder / name), ft.ones(3, 150))
    elif name == "detector":
        rows = ft.ones(3, 64, dtype=ft.complex64)
        files = ft.jit(detector).export(str(folder / name), rows, rows[0].clone())
    else:
        files = intel_graphs.export(folder, [f.__name__ for f, *_ in intel_graphs.CASES].index(name))
    (whole,) = expand(read(files.inventory), shares_ports=False)
    assert files.opencl is not None and files.opencl.read_text() == source(whole)
    assert files.entry in source(whole)
    return whole


def test_each_stage_is_a_kernel_with_its_arguments(group: KernelGroup) -> None:
    parameters = {name: tuple(re.findall(r"(\w+)(?:,|$)", declared)) for name, declared in HEAD.findall(source(group))}
    stages = with_stages(manifest_record(group, ""), group).stages
    assert parameters == {stage.name: stage.arguments for stage in stages}
    names = [a.name for a in arguments(group)]
    assert {a for stage in stages for a in stage.arguments} == set(names)


def test_channels_have_the_computed_depths_and_connect_two_kernels(group: KernelGroup) -> None:
    """Each kernel comes after those that it reads from."""
    text, key = source(group), cast("StagedKey", group.members[0])
    counted = {f"{group.name}_{f.name}": f.depth for f in Stages(key).fifos}
    depths = re.findall(r"^channel \w+ (\w+) __attribute__\(\(depth\((\d+)\)\)\);$", text, re.M)
    assert [(name, str(max(depth, 512))) for name, depth in counted.items()] == depths
    bodies = text.split("FT_KERNEL void ")[1:]
    for name, _ in depths:
        writers = [k for k, body in enumerate(bodies) if f"write_channel_intel({name}," in body]
        readers = [k for k, body in enumerate(bodies) if f"read_channel_intel({name})" in body]
        assert len(writers) == len(readers) == text.count(f"intel({name}") - 1 == 1
        assert writers < readers


def test_manifest_names_the_stages(group: KernelGroup) -> None:
    """It also has the number of rows that the shallowest channel holds. Other kernels have no such
    entry."""
    kernel = with_stages(manifest_record(group, ""), group)
    manifest = Manifest("one", "intel", "", "", "one.aocx", (kernel,))
    assert Manifest.from_json(manifest.to_json()) == manifest
    assert kernel.held == 510 // cast("StagedKey", group.members[0]).beats
    raw = json.loads(manifest.to_json())
    raw["kernels"][0]["stages"][0]["arguments"][0] = "nobody"
    said = {k: v for k, v in raw.items() if k not in ("format", "version", "digest")}
    with pytest.raises(ImageError, match=r"takes .*nobody.*, which"):
        Manifest.from_json(json.dumps(raw | {"digest": manifest_digest(said)}))
    plain = replace(manifest, kernels=(manifest_record(group, ""),)).to_json()
    assert "stages" not in plain and "held" not in plain


def test_rows_too_long_for_channels_run_concurrently(tmp_path: Path) -> None:
    files = ft.jit(lambda x: x * 2).export(str(tmp_path / "long"), ft.ones(2, 8192))
    (group,) = expand(read(files.inventory), shares_ports=False)
    assert with_stages(manifest_record(group, ""), group).held == 0


def test_unsupported_stages_are_refused_with_an_alternative(
    group: KernelGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = Stages(cast("StagedKey", group.members[0])).stages
    more = (replace(stages[0], name="sort_3", kind="sort"), *stages[1:])
    monkeypatch.setattr(Stages, "stages", more)
    with pytest.raises(ValueError, match="its stage sort_3 has no text in Intel's OpenCL C; build"):
        source(group)
