"""pytest's plugin: `pytest --ftensor-emulate` runs the tests on an emulated board.

The module is outside of the package `ftensor`, so that a run of pytest without the option imports
neither ftensor nor pyopencl.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

OPTION = "--ftensor-emulate"
HELP = (
    "run the tests under `ftensor emulate`: with an image (.xclbin, or a build's folder), with kernels in C++ "
    "(.cpp), or, without a value, with kernels that ftensor builds when a test needs them. May be given several times"
)
SHUFFLE = "--ftensor-shuffle"
SHUFFLE_HELP = f"with {OPTION}: run launches that have no order in another one, by a seed; shows missing waits"
SOURCES = (".cpp", ".cc", ".cxx")
EMULATION = "FTENSOR_EMULATION"  # the folder of the emulation, in the environment of its program


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ftensor")
    group.addoption(OPTION, action="append", nargs="?", const="", metavar="FILE", help=HELP)
    group.addoption(SHUFFLE, type=int, metavar="SEED", help=SHUFFLE_HELP)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption(SHUFFLE) is not None and not config.getoption(OPTION):
        raise pytest.UsageError(f"{SHUFFLE} needs {OPTION}")
    config.addinivalue_line("markers", "emulated: runs only on an emulated board (pytest --ftensor-emulate)")
    config.addinivalue_line("markers", "board: needs a board, real or emulated; is skipped without one")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, Any]:
    """Starts the same run under `ftensor emulate`, before pytest captures output or loads a
    conftest.py."""
    # A value follows "=" only: in `pytest --ftensor-emulate tests` the folder holds the tests.
    args[:] = _with_equals(args)
    if not any(word.startswith(f"{OPTION}=") for word in args) or EMULATION in os.environ:
        return (yield)
    seed = early_config.known_args_namespace.ftensor_shuffle
    raise SystemExit(_emulate(args, _with_equals(early_config.invocation_params.args), seed))


def _with_equals(words: Any) -> list[str]:
    return [f"{OPTION}=" if word == OPTION else str(word) for word in words]


def _emulate(options: list[str], words: list[str], seed: int | None) -> int:
    """Runs pytest with these words on an emulated board; returns its exit status."""
    from ftensor.cli import main

    files = [word.partition("=")[2] for word in options if word.startswith(f"{OPTION}=")]
    with tempfile.TemporaryDirectory(prefix="ftensor-pytest-") as folder:
        images = []
        for number, file in enumerate(filter(None, files)):
            if file.endswith(SOURCES):
                packed = Path(folder, str(number), f"{Path(file).stem}.xclbin")
                packed.parent.mkdir()
                if status := main(["image", "pack", file, str(packed)]):
                    return status
                file = str(packed)
            images.append(f"--image={file}")
        shuffled = [f"--shuffle={seed}"] if seed is not None else []
        return main(["emulate", *images, *shuffled, "--", sys.executable, "-m", "pytest", *words])


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("emulated") and EMULATION not in os.environ:
        pytest.skip(f"needs an emulated board: pytest {OPTION}")
    if item.get_closest_marker("board") and EMULATION not in os.environ and not _boards():
        pytest.skip(f"needs a board, or pytest {OPTION}")


def _boards() -> bool:
    """True if a device that ftensor uses by default runs images of Xilinx."""
    import ftensor

    fpga = ftensor.fpga
    return any(fpga.get_device_properties(n).platform == "Xilinx" for n in range(fpga.device_count()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Waits for the launches of the test, so that the failure of one is this test's."""
    if not item.config.getoption(OPTION):
        return (yield)
    scratch = os.environ[EMULATION]
    before = set(Path(scratch).glob("report-*.txt"))
    try:
        result = yield
    except BaseException:
        _add_reports(item, scratch, before)
        raise
    if "ftensor" in sys.modules:
        sys.modules["ftensor"].fpga.synchronize()
    if reports := _add_reports(item, scratch, before):
        pytest.fail("the device failed:\n" + "\n".join(reports), pytrace=False)
    return result


def _add_reports(item: pytest.Item, scratch: str, before: set[Path]) -> list[str]:
    """Adds the reports of devices that failed during the test to it; returns them.

    These are the devices of processes that the test started: the failure of its own ends pytest.
    """
    reports = [path.read_text() for path in sorted(set(Path(scratch).glob("report-*.txt")) - before)]
    for report in reports:
        item.add_report_section("call", "ftensor emulate", report)
    return reports


@pytest.fixture(scope="session")
def ftensor_device() -> Any:
    """The device `fpga` of ftensor; the test is skipped if there is none."""
    import ftensor

    if not ftensor.fpga.is_available():
        pytest.skip(f"no device matches ftensor's mapping; pytest {OPTION} emulates a board")
    return ftensor.device("fpga")


@pytest.fixture(scope="session")
def ftensor_image() -> Path:
    """The path of the image that the run was given, for host programs that load it themselves."""
    if EMULATION not in os.environ or not os.environ.get("FTENSOR_IMAGE"):
        pytest.skip(f"needs an image: pytest {OPTION}=FILE")
    return Path(os.environ["FTENSOR_IMAGE"].split(os.pathsep)[0])
