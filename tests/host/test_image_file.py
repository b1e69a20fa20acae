"""Checks of an image file before a driver reads it."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from ftensor.errors.image import ImageError
from ftensor.image import file as image_file
from ftensor.image import xclbin
from ftensor.image.contents import KernelDescription
from ftensor.image.description import content_uuid, pack
from ftensor.image.manifest import Manifest, manifest_digest
from ftensor.image.xclbin import Mode, Section, SectionKind
from ftensor.runtime import targets
from ftensor.runtime.csim.backend import CSimBackend

from ..made_images import describe, library, make


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    return tmp_path_factory.mktemp("images")


def written(folder: Path, change: Any) -> Path:
    """Returns an image of axpy after `change(description, manifest, xclbin)` -> the same three."""
    description, manifest = describe("checked", ("axpy",), 2, platform="maker_board_gen3_1")
    code = library(folder)
    manifest = replace(manifest, uuid=str(content_uuid(description, code)))
    image = xclbin.read(pack(description, code, manifest.to_json()))
    description, manifest, image = change(description, manifest, image)
    parts = [s for s in image.sections if s.kind != SectionKind.USER_METADATA]
    if manifest is not None:
        text = manifest if isinstance(manifest, str) else manifest.to_json()
        parts.append(Section(SectionKind.USER_METADATA, "manifest", text.encode()))
    path = folder / "checked.xclbin"
    path.write_bytes(xclbin.write(image.with_sections(parts)))
    return path


def kernel_of(manifest: Manifest, **changes: Any) -> Manifest:
    return replace(manifest, kernels=(replace(manifest.kernels[0], **changes),))


def argument_of(manifest: Manifest, k: int, **changes: Any) -> Manifest:
    arguments = list(manifest.kernels[0].arguments)
    arguments[k] = replace(arguments[k], **changes)
    return kernel_of(manifest, arguments=tuple(arguments))


def signed(raw: dict[str, Any]) -> str:
    """Returns an invalid manifest with a valid digest."""
    said = {k: v for k, v in raw.items() if k not in ("format", "version", "digest")}
    return json.dumps({**raw, "digest": manifest_digest(said)})


def versioned(manifest: Manifest, version: int) -> str:
    return json.dumps({**json.loads(manifest.to_json()), "version": version})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d, m, x: (d, versioned(m, 99), x), "version 99"),
        (lambda d, m, x: (d, "{}", x), "ftensor-image"),
        (lambda d, m, x: (d, replace(m, uuid=str(UUID(int=7))), x), "one build"),
        (lambda d, m, x: (d, kernel_of(m, name="other"), x), "no kernel 'other'"),
        (lambda d, m, x: (d, kernel_of(m, units=3), x), "2 compute units"),
        (lambda d, m, x: (d, argument_of(m, 0, name="o"), x), "argument 0 of kernel 'axpy'"),
        (lambda d, m, x: (d, argument_of(m, 3, what="int"), x), "argument 3 of kernel 'axpy'"),
        (lambda d, m, x: (d, argument_of(m, 1, what="long"), x), "argument 1 of kernel 'axpy'"),
    ],
)
def test_a_mismatch_is_explained(folder: Path, change: Any, says: str) -> None:
    """The error comes before anything is loaded, and names the file."""
    path = written(folder, change)
    with pytest.raises(ImageError, match=says) as failure:
        image_file.read(path)
    assert "checked.xclbin" in str(failure.value)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"units": "1: __import__('os')"}, "units is"),
        ({"units": 0}, "0 units"),
        ({"lanes": None}, "lanes is None"),
        ({"name": 3}, "name is 3"),
    ],
)
def test_invalid_kernel_fields_are_refused(folder: Path, changed: dict[str, Any], says: str) -> None:
    """Launchers would be generated from these fields."""

    def change(d: Any, m: Manifest, x: Any) -> Any:
        raw = json.loads(m.to_json())
        raw["kernels"][0].update(changed)
        return d, signed(raw), x

    with pytest.raises(ImageError, match=says):
        image_file.read(written(folder, change))


def test_a_changed_manifest_is_refused(folder: Path) -> None:
    """With another op's opcode the kernel would compute that op."""

    def change(d: Any, m: Manifest, x: Any) -> Any:
        raw = json.loads(m.to_json())
        raw["kernels"][0]["members"][0]["opcode"] += 1
        return d, json.dumps(raw), x

    def bare(d: Any, m: Manifest, x: Any) -> Any:
        raw = json.loads(m.to_json())
        del raw["digest"]
        return d, json.dumps(raw), x

    for one in (change, bare):
        with pytest.raises(ImageError, match=r"checked\.xclbin: .*changed.*ftensor build"):
            image_file.read(written(folder, one))


def test_valid_image_is_accepted(folder: Path) -> None:
    """The starting point of the cases above is valid."""
    file = image_file.read(written(folder, lambda d, m, x: (d, m, x)))
    assert file.emulated
    assert file.platform == "maker_board_gen3_1"
    assert (file.bank("axpy", 0), file.memory) == ("DDR[0]", 1 << 30)


def test_banks_of_one_address_range_are_merged(folder: Path) -> None:
    """The runtime compares bank names and adds up bank sizes."""
    banks = {"out": "HP0", "a": "HP1", "b": "HP2"}
    file = image_file.read(make(folder, "shared", ("axpy",), banks=banks, shared=True))
    assert [file.bank("axpy", k) for k in range(3)] == ["HP0"] * 3
    assert ([b.name for b in file.banks], file.memory) == (["HP0"], 1 << 30)
    file = image_file.read(make(folder, "apart", ("axpy",), banks=banks))
    assert [file.bank("axpy", k) for k in range(3)] == ["HP0", "HP1", "HP2"]
    assert file.memory == 3 << 30


def test_a_kernel_with_fewer_arguments(folder: Path) -> None:
    """Another version may have made the image."""

    def change(d: Any, m: Manifest, x: Any) -> Any:
        record = m.kernels[0]
        member = replace(record.members[0], call="0 1 2 f3 =0")
        arguments = record.arguments[:5] + record.arguments[6:]
        return d, kernel_of(m, arguments=arguments, members=(member,)), x

    with pytest.raises(ImageError, match="takes 8 arguments, its manifest says 7"):
        image_file.read(written(folder, change))


def test_changed_code_is_detected(folder: Path) -> None:
    """The UUID of an emulation image is a digest of its content."""

    def change(d: Any, m: Manifest, x: Any) -> Any:
        parts = [replace(s, data=s.data[:-1] + b"!") if s.kind == SectionKind.BITSTREAM else s for s in x.sections]
        return d, m, x.with_sections(parts)

    with pytest.raises(ImageError, match="changed since it was built"):
        image_file.read(written(folder, change))


def test_manifest_in_a_separate_file(folder: Path) -> None:
    """`ftensor build` writes this for hardware. The manifest of another file is refused."""
    alone = folder / "alone"
    alone.mkdir()
    manifests: list[Manifest] = []

    def change(d: Any, m: Manifest, x: Any) -> Any:
        manifests.append(replace(m, file="checked.xclbin", target="hw"))
        return d, None, replace(x, mode=Mode.PR)

    path = written(alone, change)
    manifest_file = alone / "manifest.json"
    manifest_file.write_text(manifests[0].to_json())
    assert image_file.read(path).manifest == manifests[0]
    manifest_file.write_text(replace(manifests[0], file="another.xclbin").to_json())
    with pytest.raises(ImageError, match=r"another\.xclbin"):
        image_file.read(path)


def test_boards_and_emulation_need_different_images(folder: Path) -> None:
    """The file's mode decides; for boards also the first two words of the platform."""
    soft = image_file.read(written(folder, lambda d, m, x: (d, m, x)))
    hard = image_file.read(written(folder, lambda d, m, x: (d, replace(m, target="hw"), replace(x, mode=Mode.PR))))
    image_file.check_device(soft, "any_name", "sw_emu")
    image_file.check_device(hard, "maker_board_gen3_base_2", "")
    with pytest.raises(ImageError, match="ftensor emulate"):
        image_file.check_device(soft, "maker_board_gen3_1", "")
    with pytest.raises(ImageError, match="--target csim"):
        image_file.check_device(hard, "any_name", "sw_emu")
    with pytest.raises(ImageError, match="maker_other_gen3_1"):
        image_file.check_device(hard, "maker_other_gen3_1", "")
    with pytest.raises(ImageError, match="board"):
        CSimBackend(targets.CSIM).load_image(hard.path)


def test_a_description_is_only_needed_by_xclbins() -> None:
    """An image without a description has no banks."""
    _, manifest = describe("plain", ("axpy",))
    file = image_file.ImageFile(Path("plain.aocx"), manifest, b"")
    assert (file.bank("axpy", 0), file.memory, file.emulated) == ("", 0, False)
    assert file.description.kernel("axpy") is None
    assert KernelDescription("k", ()).units == ()
