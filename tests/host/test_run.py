"""`make test ARGS=...` runs the tests that its arguments name, and no others."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .. import run


def asked(monkeypatch: pytest.MonkeyPatch, *words: str, failing: bool = False) -> list[str]:
    """Returns the targets that tests/run.py prepares for these words, and its passes."""
    done = []

    def place(target: str, folder: object) -> run.Place:
        done.append(f"ready {target}")
        return run.Place(target, {}, [], target, "a device")

    def run_pass(one: run.Pass, at: run.Place, arguments: list[str]) -> None:
        done.append(f"{one.name}: {' '.join(arguments)}")
        one.failed = failing

    monkeypatch.delenv("FTENSOR_CI_TARGETS", raising=False)
    monkeypatch.delenv("FTENSOR_TESTS_DONE", raising=False)
    monkeypatch.setattr(run, "place", place)
    monkeypatch.setattr(run, "run_pass", run_pass)
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    assert run.main() == int(failing)
    return done


def test_a_file_runs_on_the_default_device_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unlike for XRT, no image is built."""
    assert asked(monkeypatch, "tests/kernel/test_reduce.py") == [
        "ready default",
        "tests on default: tests/kernel/test_reduce.py",
    ]


def test_exitfirst_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--all", "-x", "tests/kernel")
    assert asked(monkeypatch, *words, failing=True) == ["ready default", "tests on default: -x tests/kernel"]
    assert len(asked(monkeypatch, *words)) > 4


def test_without_arguments_every_folder_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done = asked(monkeypatch)
    assert done.count("not long on default: ") == 1
    folders = Path(run.__file__).parent.iterdir()
    groups = {str(folder) for folder in folders if [*folder.glob("test_*.py")]}
    assert {*run.Pass("default", "not long").paths()} == groups
    assert "core on csim: " in done and not any("xrt" in word for word in done)


def test_long_tests_run_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The `long` pass has each file with such tests."""
    assert "long on default: " in asked(monkeypatch, "--all")
    there = {
        str(file)
        for file in Path(run.__file__).parent.glob("*/*.py")
        if re.search(run.MARKED["long"], file.read_text()) and file != Path(__file__)
    }
    assert {*run.Pass("default", "long").paths()} == there


def test_continued_run_checks_the_csim_core_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run checks it under g++'s sanitizers. Without sanitizers or a second run, the core
    runs plainly."""
    targets = ["intel", "pocl", "csim", "sanitized"]

    def cores(everything: bool, goes_on: bool) -> list[str]:
        return [one.target for one in run.plan(targets, everything, [], goes_on) if one.tests == "core"]

    monkeypatch.setattr(run, "sanitizer_libraries", lambda: {"asan": "here"})
    assert cores(False, False) == ["pocl", "csim"]
    assert cores(False, True) == ["pocl"]
    assert cores(True, True) == cores(True, False) == ["pocl", "sanitized"]
    monkeypatch.setattr(run, "sanitizer_libraries", lambda: None)
    assert "csim" in cores(True, True) and "csim" in cores(False, True)


def test_kernels_are_compiled_before_an_incomplete_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(run, "compile_before", lambda under, env, tests: asked.append(tests))
    said = [sys.executable, "-c", "print('1 passed in 1.0s')"]  # followed by pytest's command
    at = run.Place("csim", {}, said, "a row", "a device")
    for tests in ("not long", "core", "not long", "long", "long", *["kernel and not core"] * 2):
        one = run.Pass("csim", tests)
        run.run_pass(one, at, [])
        assert (one.failed, one.counts["passed"]) == (False, 1)
    assert asked == ["not long", "long", "kernel and not core"]


def test_silent_program_is_killed_with_its_children(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import subprocess; print('begun', flush=True); subprocess.run(['sleep', '1000'])"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        lines = list(run.lines_of(process, 3))
    assert [line for line in lines if line] == ["begun", "no output for 3 seconds: the pass is ended"]
    assert "the pass is ended" in capsys.readouterr().out
    assert process.returncode == -signal.SIGKILL


def test_output_without_final_newline_is_complete(capsys: pytest.CaptureFixture[str]) -> None:
    with subprocess.Popen([sys.executable, "-c", "print('a\\nb', end='')"], stdout=subprocess.PIPE) as process:
        assert list(run.lines_of(process, None)) == ["a", "b"]
    assert capsys.readouterr().out == "a\nb"


def test_xrt_pass_is_repeated_if_a_worker_died(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other passes are not repeated."""
    done: list[str] = []

    def run_pass(one: run.Pass, at: run.Place, arguments: list[str]) -> None:
        done.append(one.name)
        one.crashed = one.failed = done.count(one.name) == 1 and one.target in dead

    monkeypatch.setattr(run, "place", lambda target, folder: run.Place(target, {}, [], target, "a device"))
    monkeypatch.setattr(run, "run_pass", run_pass)
    monkeypatch.setattr(sys, "argv", ["run.py", "--all", "tests/kernel"])
    monkeypatch.delenv("FTENSOR_TESTS_DONE", raising=False)
    monkeypatch.setenv("FTENSOR_CI_TARGETS", "default,pocl,xrt")
    dead: set[str] = set()
    for target, status in ("xrt", 0), ("pocl", 1):
        dead.add(target)
        done.clear()
        assert run.main() == status
        assert done == ["tests on default", "kernel on pocl", "kernel on xrt", "kernel on xrt"]
