"""Images: what is checked before a driver sees one, and kernels taken from them in C simulation."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftensor.build import xclbin
from ftensor.build.manifest import Manifest
from ftensor.build.pack import content_uuid, pack
from ftensor.build.parts import KernelDescription
from ftensor.build.xclbin import Kind, Mode, Section
from ftensor.errors.image import ImageError
from ftensor.runtime import call_tokens, image_file, targets
from ftensor.runtime.backend import Backend
from ftensor.runtime.csim import CSimBackend
from ftensor.storage import Storage

from .made_images import KERNELS, PARAMS, ROOT, describe, library, make

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    return tmp_path_factory.mktemp("images")


@pytest.fixture
def backend() -> Iterator[CSimBackend]:
    made = CSimBackend(targets.CSIM)
    yield made
    made.synchronize()


def put(backend: Backend, array: np.ndarray) -> Storage:
    storage = backend.allocate(array.nbytes)
    backend.upload(storage, 0, array)
    return storage


def axpy(backend: CSimBackend, units: int = 1) -> list[float]:
    """2 * (0, 1, ..., 63) + 1 by the image's kernel."""
    images = backend.images
    assert images is not None
    x = put(backend, np.arange(64, dtype=np.float32))
    y = put(backend, np.ones(64, np.float32))
    z = backend.allocate(256)
    run = images.kernel("axpy", PARAMS["axpy"])
    assert run is not None
    run(backend.current_stream(), units, z.handle, x.handle, y.handle, 2.0, 64)
    found = np.empty(64, np.float32)
    backend.download(z, 0, found)
    return found.tolist()


WANTED = [2.0 * k + 1 for k in range(64)]


# C simulation


@pytest.mark.parametrize("units", [1, 3])
def test_kernels_come_from_the_image(folder: Path, backend: CSimBackend, units: int) -> None:
    """By the manifest's tokens, over units; what is not there is None, with the nearest named."""
    assert backend.load_image(make(folder, "one", ("axpy", "bits"))).manifest.name == "one"
    assert axpy(backend, units) == WANTED
    images = backend.images
    assert images is not None
    assert images.has("bits") and not images.has("nap")
    assert images.kernel("nap", PARAMS["nap"]) is None
    assert set(images.entries) == {"axpy", "add_five", "bits"}


def test_the_folder_of_a_build_is_an_image(folder: Path, backend: CSimBackend) -> None:
    """Its manifest.json says which file."""
    build = folder / "build"
    build.mkdir()
    path = make(build, "inside", ("axpy",))
    with pytest.raises(ImageError, match="no image was built"):
        backend.load_image(build)
    manifest = image_file.read(path).manifest
    manifest.write(build / "manifest.json")
    assert backend.load_image(build).name == "inside.xclbin"
    assert axpy(backend) == WANTED


def test_several_images_and_the_report(folder: Path, backend: CSimBackend) -> None:
    """The last loaded goes first, an image is known once, and what only one has is found."""
    one, two = make(folder, "one", ("axpy",)), make(folder, "two", ("axpy", "bits"))
    backend.load_image(one)
    backend.load_image(two)
    assert axpy(backend) == WANTED
    backend.load_image(one)
    images = backend.images
    assert images is not None
    report = images.report()
    assert [(r.name, r.kernels, r.entries, r.active) for r in report.images] == [
        ("one.xclbin", 1, 2, True),
        ("two.xclbin", 2, 3, False),
    ]
    assert images.has("bits")
    out = backend.allocate(48)
    run = images.kernel("bits", PARAMS["bits"])
    assert run is not None
    run(backend.current_stream(), 1, out.handle, 1.0, 1.0, 2**63, 1.5, -3)
    found = np.empty(6, np.int64)
    backend.download(out, 0, found)
    assert found.tolist() == [0x3F800000, 0x3FF0000000000000, -(2**63), 3, -3, 1]
    assert "one.xclbin" in str(report) and "0 reloads" in str(report)


def test_nearest_is_of_the_same_op(folder: Path, backend: CSimBackend) -> None:
    """A message may say what there is instead."""
    description, manifest = describe("near", ("axpy",))
    record = manifest.kernels[0]
    names = ("ft_add_map_float32_v", "ft_add_map_float64_v", "ft_sub_map_float32_v")
    members = tuple(
        replace(record.members[0], entry=name, op=name.split("_")[1], opcode=k)
        for k, name in enumerate(names)
    )
    manifest = replace(manifest, kernels=(replace(record, members=members),))
    path = folder / "near.xclbin"
    path.write_bytes(pack(description, library(folder), manifest.to_json()))
    backend.load_image(path)
    assert backend.images is not None
    assert backend.images.nearest("ft_add_map_float64_x") == "ft_add_map_float64_v"
    assert backend.images.nearest("ft_exp_map_float32_v") is None


def test_devices_that_compile_take_no_image(folder: Path, backend: CSimBackend) -> None:
    """The error says where images are for."""
    with pytest.raises(ImageError, match="ftensor emulate"):
        Backend.load_image(backend, folder / "any.xclbin")


def test_a_library_without_the_kernel(folder: Path, backend: CSimBackend) -> None:
    """The description promises a function that the shared object lacks."""
    description, manifest = describe("hollow", ("axpy",))
    renamed = replace(description.kernels[0], name="absent")
    description = replace(description, kernels=(renamed,))
    manifest = replace(manifest, kernels=(replace(manifest.kernels[0], name="absent"),))
    path = folder / "hollow.xclbin"
    path.write_bytes(pack(description, library(folder), manifest.to_json()))
    backend.load_image(path)
    assert backend.images is not None
    with pytest.raises(ImageError, match="absent"):
        backend.images.kernel("axpy", PARAMS["axpy"])


PROGRAM = """
import ftensor as ft
from ftensor.device import default_backend
print([r.name for r in (default_backend(), ft.fpga.image_report())[1].images])
print([r.active for r in ft.fpga.image_report().images])
"""


def test_images_in_the_environment(folder: Path) -> None:
    """FTENSOR_IMAGE is a list of paths, the first one is active; a bad one is one error."""
    one, two = make(folder, "one", ("axpy",)), make(folder, "two", ("axpy", "bits"))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "FTENSOR_DEVICE": "csim"}
    # A folder without OpenCL runtimes: no board is there whose images these might be.
    env["OCL_ICD_VENDORS"] = f"{folder}/"

    def run(paths: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**env, "FTENSOR_IMAGE": paths}, text=True,
            capture_output=True, timeout=120,
        )  # fmt: skip

    done = run(f"{one}{os.pathsep}{two}")
    assert done.stdout.splitlines() == ["['one.xclbin', 'two.xclbin']", "[True, False]"], done
    done = run(str(folder / "nowhere.xclbin"))
    assert done.returncode != 0
    assert "nowhere.xclbin" in done.stderr.splitlines()[-1]


# What is checked before a driver sees an image


def written(folder: Path, change: Any) -> Path:
    """An image of axpy after `change(description, manifest, xclbin)` -> the same three."""
    description, manifest = describe("checked", ("axpy",), 2, platform="maker_board_gen3_1")
    code = library(folder)
    manifest = replace(manifest, uuid=str(content_uuid(description, code)))
    image = xclbin.read(pack(description, code, manifest.to_json()))
    description, manifest, image = change(description, manifest, image)
    parts = [s for s in image.sections if s.kind != Kind.USER_METADATA]
    if manifest is not None:
        text = manifest if isinstance(manifest, str) else manifest.to_json()
        parts.append(Section(Kind.USER_METADATA, "manifest", text.encode()))
    path = folder / "checked.xclbin"
    path.write_bytes(xclbin.write(image.with_sections(parts)))
    return path


def kernel_of(manifest: Manifest, **changes: Any) -> Manifest:
    return replace(manifest, kernels=(replace(manifest.kernels[0], **changes),))


def argument_of(manifest: Manifest, k: int, **changes: Any) -> Manifest:
    arguments = list(manifest.kernels[0].arguments)
    arguments[k] = replace(arguments[k], **changes)
    return kernel_of(manifest, arguments=tuple(arguments))


def versioned(manifest: Manifest, version: int) -> str:
    return json.dumps({**json.loads(manifest.to_json()), "version": version})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d, m, x: (d, None, x), "no ftensor manifest"),
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
    """Before anything is loaded, with the file's name."""
    path = written(folder, change)
    with pytest.raises(ImageError, match=says) as failure:
        image_file.read(path)
    assert "checked.xclbin" in str(failure.value)


def test_a_whole_image_passes(folder: Path) -> None:
    """What the cases above start from is in order."""
    file = image_file.read(written(folder, lambda d, m, x: (d, m, x)))
    assert file.emulated
    assert file.platform == "maker_board_gen3_1"
    assert (file.bank("axpy", 0), file.memory) == ("DDR[0]", 1 << 30)


def test_a_kernel_with_fewer_arguments(folder: Path) -> None:
    """Made by another version, perhaps."""

    def change(d: Any, m: Manifest, x: Any) -> Any:
        record = m.kernels[0]
        member = replace(record.members[0], call="0 1 2 f3 =0")
        arguments = record.arguments[:5] + record.arguments[6:]
        return d, kernel_of(m, arguments=arguments, members=(member,)), x

    with pytest.raises(ImageError, match="takes 8 arguments, its manifest says 7"):
        image_file.read(written(folder, change))


def test_changed_code_is_noticed(folder: Path) -> None:
    """The UUID of an image for emulation is a digest of what is in it."""

    def change(d: Any, m: Manifest, x: Any) -> Any:
        parts = [
            replace(s, data=s.data[:-1] + b"!") if s.kind == Kind.BITSTREAM else s
            for s in x.sections
        ]
        return d, m, x.with_sections(parts)

    with pytest.raises(ImageError, match="changed since it was built"):
        image_file.read(written(folder, change))


def test_the_manifest_may_lie_beside(folder: Path) -> None:
    """As `ftensor build` leaves it for hardware; one of another file is refused."""
    alone = folder / "alone"
    alone.mkdir()
    manifests: list[Manifest] = []

    def change(d: Any, m: Manifest, x: Any) -> Any:
        manifests.append(replace(m, file="checked.xclbin", target="hw"))
        return d, None, replace(x, mode=Mode.PR)

    path = written(alone, change)
    manifests[0].write(alone / "manifest.json")
    assert image_file.read(path).manifest == manifests[0]
    replace(manifests[0], file="another.xclbin").write(alone / "manifest.json")
    with pytest.raises(ImageError, match=r"another\.xclbin"):
        image_file.read(path)


def test_boards_and_emulation_want_different_images(folder: Path) -> None:
    """Told by the file's mode; boards by the platform's first two words."""
    soft = image_file.read(written(folder, lambda d, m, x: (d, m, x)))
    hard = image_file.read(
        written(folder, lambda d, m, x: (d, replace(m, target="hw"), replace(x, mode=Mode.PR)))
    )
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


# Tokens


@given(
    st.floats(width=32, allow_nan=False),
    st.floats(allow_nan=False),
    st.integers(0, 2**64 - 1),
)
def test_bits_travel_as_longs(small: float, large: float, whole: int) -> None:
    """The 64 bits of a long hold each value."""
    packed = struct.pack("<q", call_tokens.float_bits(small))
    assert struct.unpack("<f", packed[:4])[0] == small and packed[4:] == bytes(4)
    assert struct.unpack("<d", struct.pack("<q", call_tokens.double_bits(large)))[0] == large
    assert struct.unpack("<Q", struct.pack("<q", call_tokens.signed(whole)))[0] == whole


@pytest.mark.parametrize(
    "call",
    [
        "0 1 2 f3 =0 9", "0 1 2 3 =0 4", "0 1 f2 f3 =0 4", "0 1 3 f3 =0 4", "=0 1 2 f3 =0 4",
        "0 1 2 d3 =0 4", "0 1 2 q3 =0 4", "0 1 2 f3 =x 4", "0 1 2 f3 =0 -1", "0 1 2 z3 =0 4",
        "0 1 2 f3 =0 ٣", "0 1 2 f3 =0 __import__('os')", "@ 1 2 f3 =0 4", "0 1 2 f =0 4",
    ],
)  # fmt: skip
def test_a_call_that_is_none_of_the_launch(call: str) -> None:
    """Every token must name an argument that the launch has, of the right kind."""
    _, manifest = describe("calls", ("axpy",))
    record = manifest.kernels[0]
    if len(call.split()) != len(KERNELS["axpy"][0]):
        pytest.fail("a case with another number of tokens is refused earlier")
    member = replace(record.members[0], call=call)
    with pytest.raises(ImageError, match="build the image again"):
        call_tokens.expressions("x.xclbin", record, member, PARAMS["axpy"])


@given(st.lists(st.text("0123456789@fdq=-", min_size=1, max_size=6), min_size=6, max_size=6))
def test_any_tokens_are_understood_or_refused(tokens: list[str]) -> None:
    """Nothing but names of arguments and numbers gets into the launcher's code."""
    _, manifest = describe("calls", ("axpy",))
    record = manifest.kernels[0]
    member = replace(record.members[0], call=" ".join(tokens))
    try:
        found = call_tokens.expressions("x.xclbin", record, member, PARAMS["axpy"])
    except ImageError:
        return
    names = {f"a{k}" for k in range(5)} | set(call_tokens.SCOPE)
    for text in found:
        words = text.replace("(", " ").replace(")", " ").split()
        assert all(w in names or w.lstrip("-").isdecimal() for w in words)


def test_a_description_is_only_needed_by_xclbins() -> None:
    """An image without one has no banks."""
    _, manifest = describe("plain", ("axpy",))
    file = image_file.ImageFile(Path("plain.aocx"), manifest, b"")
    assert (file.bank("axpy", 0), file.memory, file.emulated) == ("", 0, False)
    assert file.description.kernel("axpy") is None
    assert KernelDescription("k", ()).units == ()
