"""What every test gets: where Oclgrind is the device, its findings are failures."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

OCLGRIND_LOG = os.environ.get("OCLGRIND_LOG")
HANG = 1200  # seconds after which a test is taken to hang, on the slowest machine


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, bool, bool]:
    """A test that hangs fails, and the others go on. Earlier, and also where the hang is not in
    Python, faulthandler_timeout in pyproject.toml shows every thread's stack.
    """

    def fail(number: int, frame: object) -> None:
        pytest.fail(f"{item.nodeid} took longer than {HANG} seconds")

    if not hasattr(signal, "SIGALRM"):
        return (yield)
    signal.signal(signal.SIGALRM, fail)
    signal.alarm(HANG)
    try:
        return (yield)
    finally:
        signal.alarm(0)


@pytest.fixture(autouse=OCLGRIND_LOG is not None)
def oclgrind_findings() -> Iterator[None]:
    """Fails the test during which Oclgrind saw a bad access, a data race or a wrong API call."""
    import ftensor as ft

    log = Path(OCLGRIND_LOG or os.devnull)
    before = log.stat().st_size if log.is_file() else 0
    yield
    ft.synchronize()
    findings = log.read_bytes()[before:].decode(errors="replace") if log.is_file() else ""
    if findings.strip():
        pytest.fail(f"Oclgrind reports:\n{findings[:4000]}", pytrace=False)


@pytest.fixture(scope="session")
def xrt_image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image of tests/flow/emulation_host.py's kernels; skips without XRT or the compiler.

    Under FTENSOR_REQUIRE_TARGETS=1 that fails.
    """
    from ftensor.emulation import environment

    from .flow.emulation_host import DESCRIPTION, KERNELS, build

    lacking = environment.available() or ("" if shutil.which("g++") else "g++ is not here")
    if lacking and os.environ.get("FTENSOR_REQUIRE_TARGETS") == "1":
        pytest.fail(lacking)
    if lacking:
        pytest.skip(lacking)
    return build(tmp_path_factory.mktemp("image"), "kernels", KERNELS, DESCRIPTION)


@pytest.fixture(scope="session")
def xrt_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where images of tests/made_images.py lie; skips where XRT or the compiler is not there."""
    from .made_images import require_xrt

    require_xrt()
    if shutil.which("g++") is None:
        pytest.skip("needs g++")
    return tmp_path_factory.mktemp("images")


@pytest.fixture(scope="session")
def four_units(xrt_folder: Path) -> Path:
    """An image of three kernels, four units each."""
    from .made_images import make

    return make(xrt_folder, "four", ("nap", "axpy", "bits"), units=4)


@pytest.fixture(scope="session")
def three_banks(xrt_folder: Path) -> Path:
    """An image with one memory for each port."""
    from .made_images import make

    banks = {"out": "HBM[0]", "a": "HBM[1]", "b": "HBM[2]"}
    return make(xrt_folder, "three", ("axpy", "bits"), banks=banks)


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """Every emulation removes its folder, however it ends; others may be running."""
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
    # One of a run that another test has killed is there until that test starts its next run.
    deadline = time.monotonic() + 600
    while left := [folder for folder in folders() - before if not in_use(folder)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
