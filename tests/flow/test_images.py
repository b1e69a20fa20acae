"""Kernels loaded from images in C simulation."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ftensor.errors.image import ImageError
from ftensor.image import file as image_file
from ftensor.image.description import pack
from ftensor.runtime import targets
from ftensor.runtime.backend import Backend
from ftensor.runtime.csim.backend import CSimBackend
from ftensor.runtime.pool import Storage

from .. import forked
from ..made_images import PARAMS, ROOT, describe, library, make


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    return tmp_path_factory.mktemp("images")


@pytest.fixture
def backend() -> Iterator[CSimBackend]:
    csim = CSimBackend(targets.CSIM)
    yield csim
    csim.synchronize()


def put(backend: Backend, array: np.ndarray) -> Storage:
    storage = backend.allocate(array.nbytes)
    backend.upload(storage, 0, array)
    return storage


def axpy(backend: CSimBackend, units: int = 1) -> list[float]:
    """Returns 2 * (0, 1, ..., 63) + 1 by the image's kernel."""
    images = backend.images
    assert images is not None
    x = put(backend, np.arange(64, dtype=np.float32))
    y = put(backend, np.ones(64, np.float32))
    z = backend.allocate(256)
    run = images.kernel("axpy", PARAMS["axpy"])
    assert run is not None
    run(backend.current_stream(), units, z.handle, x.handle, y.handle, 2.0, 64)
    values = np.empty(64, np.float32)
    backend.download(z, 0, values)
    return values.tolist()


WANTED = [2.0 * k + 1 for k in range(64)]


@pytest.mark.parametrize("units", [1, 3])
def test_kernels_come_from_the_image(folder: Path, backend: CSimBackend, units: int) -> None:
    """Arguments follow the manifest's tokens, on several units. A missing kernel is None, with the
    nearest one named."""
    assert backend.load_image(make(folder, "one", ("axpy", "bits"))).manifest.name == "one"
    assert axpy(backend, units) == WANTED
    images = backend.images
    assert images is not None
    assert images.has("bits") and not images.has("nap")
    assert images.kernel("nap", PARAMS["nap"]) is None
    assert set(images.entries) == {"axpy", "add_five", "bits"}


def test_the_folder_of_a_build_is_an_image(folder: Path, backend: CSimBackend) -> None:
    """Its manifest.json names the file."""
    build = folder / "build"
    build.mkdir()
    path = make(build, "inside", ("axpy",))
    with pytest.raises(ImageError, match="no image was built"):
        backend.load_image(build)
    manifest = image_file.read(path).manifest
    (build / "manifest.json").write_text(manifest.to_json())
    assert backend.load_image(build).name == "inside.xclbin"
    assert axpy(backend) == WANTED


def test_several_images_and_the_report(folder: Path, backend: CSimBackend) -> None:
    """The last loaded image is searched first, an image is registered once, and a kernel of only
    one image is found."""
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
    values = np.empty(6, np.int64)
    backend.download(out, 0, values)
    assert values.tolist() == [0x3F800000, 0x3FF0000000000000, -(2**63), 3, -3, 1]
    assert "one.xclbin" in str(report) and "0 reloads" in str(report)


def test_nearest_is_of_the_same_op(folder: Path, backend: CSimBackend) -> None:
    """A message may suggest an existing kernel."""
    description, manifest = describe("near", ("axpy",))
    record = manifest.kernels[0]
    names = ("ft_add_map_float32_v", "ft_add_map_float64_v", "ft_sub_map_float32_v")
    members = tuple(
        replace(record.members[0], entry=name, op=name.split("_")[1], opcode=k) for k, name in enumerate(names)
    )
    manifest = replace(manifest, kernels=(replace(record, members=members),))
    path = folder / "near.xclbin"
    path.write_bytes(pack(description, library(folder), manifest.to_json()))
    backend.load_image(path)
    assert backend.images is not None
    assert backend.images.nearest("ft_add_map_float64_x") == "ft_add_map_float64_v"
    assert backend.images.nearest("ft_exp_map_float32_v") is None


def test_devices_that_compile_take_no_image(folder: Path, backend: CSimBackend) -> None:
    """The error names the devices that take images."""
    with pytest.raises(ImageError, match="ftensor emulate"):
        Backend.load_image(backend, folder / "any.xclbin")


def test_library_without_the_kernel(folder: Path, backend: CSimBackend) -> None:
    """The shared object lacks a function that the description names."""
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
from ftensor._device import default_backend
print([r.name for r in (default_backend(), ft.fpga.image_report())[1].images])
print([r.active for r in ft.fpga.image_report().images])
"""


def test_images_in_the_environment(folder: Path) -> None:
    """FTENSOR_IMAGE is a list of paths, and the first one is active. An invalid path gives one
    error."""
    one, two = make(folder, "one", ("axpy",)), make(folder, "two", ("axpy", "bits"))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "FTENSOR_DEVICE": "csim"}
    # A folder without OpenCL runtimes: there is no board for which these images might be.
    env["OCL_ICD_VENDORS"] = f"{folder}/"

    def run(paths: str) -> subprocess.CompletedProcess[str]:
        return forked.run("-c", PROGRAM, env={**env, "FTENSOR_IMAGE": paths})

    done = run(f"{one}{os.pathsep}{two}")
    assert done.stdout.splitlines() == ["['one.xclbin', 'two.xclbin']", "[True, False]"], done
    done = run(str(folder / "nowhere.xclbin"))
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert "nowhere.xclbin" in last and "FTENSOR_IMAGE in the environment names it" in last
