"""Images for the software device, and a check that it leaves nothing behind."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def xrt_image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the image of tests/flow/emulation_host.py's kernels. Skips without XRT or the
    compiler; under FTENSOR_REQUIRE_TARGETS=1 it fails."""
    from ftensor.emulation import environment

    from .emulation_host import DESCRIPTION, KERNELS, build

    lacking = environment.available() or ("" if shutil.which("g++") else "g++ is not here")
    if lacking and os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1":
        pytest.fail(lacking)
    if lacking:
        pytest.skip(lacking)
    return build(tmp_path_factory.mktemp("image"), "kernels", KERNELS, DESCRIPTION)


@pytest.fixture(scope="session")
def xrt_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of the images of tests/made_images.py. Skips without XRT or the
    compiler."""
    from ..made_images import require_xrt

    require_xrt()
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    return tmp_path_factory.mktemp("images")


@pytest.fixture(scope="session")
def four_units(xrt_folder: Path) -> Path:
    """Returns an image of three kernels with four units each, and a small memory."""
    from ..made_images import make

    return make(xrt_folder, "four", ("nap", "axpy", "bits"), units=4, bank_bytes=256 << 20)


@pytest.fixture(scope="session")
def three_banks(xrt_folder: Path) -> Path:
    """Returns an image with one memory for each port."""
    from ..made_images import make

    banks = {"out": "HBM[0]", "a": "HBM[1]", "b": "HBM[2]"}
    return make(xrt_folder, "three", ("axpy", "bits"), banks=banks)


@pytest.fixture(scope="session")
def three_ways(xrt_folder: Path) -> Path:
    """Returns an image whose ports reach one memory by different banks, as on a Kria."""
    from ..made_images import make

    banks = {"out": "HP0", "a": "HP1", "b": "HP2"}
    return make(xrt_folder, "ways", ("axpy", "bits"), banks=banks, shared=True)


@pytest.fixture(scope="session")
def many_channels(xrt_folder: Path) -> Path:
    """Returns an image of a kernel of four units, whose ports all reach 16 channels of a MiB."""
    from ..made_images import make

    banks = dict.fromkeys(("out", "a", "b"), "HBM[0:15]")
    return make(xrt_folder, "many", ("axpy",), units=4, banks=banks, bank_bytes=16 << 20)


@pytest.fixture(scope="session")
def one_of_many_channels(xrt_folder: Path) -> Path:
    """Returns the same image with one unit."""
    from ..made_images import make

    banks = dict.fromkeys(("out", "a", "b"), "HBM[0:15]")
    return make(xrt_folder, "one_of_many", ("axpy",), banks=banks, bank_bytes=16 << 20)


@pytest.fixture(scope="package", autouse=True)
def kept_objects() -> Iterator[None]:
    """Shares g++'s results of a kernel between folders (tests/places.py)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEEP_CXX", "1")
        yield


@pytest.fixture(autouse=True)
def unpoisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves programs' memory uninitialized, as for users; tests/run.py fills it in all other
    tests."""
    monkeypatch.delenv("FTENSOR_POISON", raising=False)


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Checks that every emulation removes its folder, however it ends. Other emulations may be
    running."""
    from ftensor.emulation import environment

    def folders() -> set[Path]:
        return set(environment.ROOT.glob(environment.PREFIX + "*"))

    def in_use(folder: Path) -> bool:
        try:
            with open(folder / "lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, FileNotFoundError):
            return True
        return folder.exists()

    before = folders()
    yield
    # The folder of a run that another test has killed exists until that test starts its next run.
    deadline = time.monotonic() + 600
    while left := [folder for folder in folders() - before if not in_use(folder)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
