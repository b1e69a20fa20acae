"""Failures under `ftensor emulate` are reported with the launch's line, and with the pytest
test."""

from __future__ import annotations

from pathlib import Path

import pytest

from ftensor.emulation.crash import mark, with_call_site
from ftensor.errors.image import ImageError
from ftensor.errors.message import Caller, caller
from ftensor.runtime.xrt.deferred import DeferredCommand, _with_call_site
from ftensor.runtime.xrt.images import SLOTS, Calls

from .emulation_host import emulate

TESTS = """
import numpy as np
import ftensor as ft

def reach(at):
    out = ft.from_numpy(np.zeros(4, np.int32))
    ft.fpga.kernel({image!r}, "reach")(out, at)  # here
    return out

def test_good():
    assert reach(1).tolist() == [0, 1, 0, 0]

def test_bad():
    out = reach(5000)
    reach(2)
    out.tolist()
"""


@pytest.mark.usefixtures("nothing_left")
def test_a_crash_in_pytest(xrt_image: Path, tmp_path: Path) -> None:
    file = tmp_path / "test_reach.py"
    file.write_text(TESTS.format(image=str(xrt_image)))
    done = emulate("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", file)
    assert done.returncode and "was ended by SIGSEGV" in done.stderr
    launched = f'launched at {file}:7: ft.fpga.kernel({str(xrt_image)!r}, "reach")(out, at)  # here (in the test '
    assert launched in done.stderr
    assert "test_reach.py::test_bad (call))" in done.stderr and "test_good" not in done.stderr


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Calls, Path]:
    monkeypatch.setattr("ftensor.runtime.xrt.images.os.getpid", lambda: 7)
    calls = Calls(tmp_path)
    return calls, tmp_path / "calls-7"


def launch(calls: Calls, line: int, stream: int = 1, units: int = 1, kernel: str = "k") -> None:
    calls.made_by = Caller("none.py", line, "")
    calls.note([(kernel, 2)], units, stream)
    calls.record_enqueued([(kernel, 2)], units)


def test_launch_of_a_command_number(notes: tuple[Calls, Path]) -> None:
    """Every command counts. Launches of another kernel, and launches that failed before the
    enqueue, do not."""
    calls, file = notes
    launch(calls, 1)
    launch(calls, 2, units=5)  # of two units that exist
    calls.note([("k", 2)], 1, 1)
    launch(calls, 3, kernel="other")
    launch(calls, 4)
    lines = [with_call_site("text" + mark("k", number), file) for number in range(5)]
    assert lines[:4] == [f"text\n    launched at none.py:{line}" for line in (1, 2, 2, 4)]
    assert lines[4] == with_call_site("text", file) == with_call_site("text" + mark("none", 0), file) == "text"
    assert (
        with_call_site("text" + mark("k", 0), file.with_name("none"))
        == with_call_site("text" + mark("k", 0), None)
        == "text"
    )
    assert with_call_site("text" + mark("k", 10)[:-2], file) == "text"  # truncated
    for k in range(SLOTS):  # the first ones were dropped
        launch(calls, 10 + k)
    assert with_call_site("text" + mark("k", 3), file) == "text"
    assert with_call_site("text" + mark("k", 4 + SLOTS - 1), file).endswith(f"none.py:{9 + SLOTS}")
    calls.clear()
    launch(calls, 5)
    assert with_call_site("text" + mark("k", 4 + SLOTS), file) == "text"


def test_concurrent_streams(notes: tuple[Calls, Path]) -> None:
    """The order on the device is unknown, so all launches are listed."""
    calls, file = notes
    launch(calls, 1, stream=1)
    launch(calls, 2, stream=2)
    assert (
        with_call_site("text" + mark("k", 0), file) == "text\n    launched at one of\n      none.py:1\n      none.py:2"
    )


def test_deferred_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next wait reports the launch's line, and the test."""
    by = caller()
    assert by.test.startswith("tests/flow/test_emulation_calls.py::test_deferred_launches")
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    plain = str(caller())
    assert plain.startswith(__file__) and plain.endswith(": plain = str(caller())")
    command = DeferredCommand(lambda: None, None, by)  # type: ignore[arg-type]
    assert str(_with_call_site(ValueError("why"), command)) == f"why\nIt was launched at {by}"
    lacking = str(_with_call_site(ImageError("why"), command._replace(lacking=True)))
    assert lacking == f"why\nIt was asked for at {by}"
    assert str(_with_call_site(ValueError("why"), command._replace(made_by=None))) == "why"
