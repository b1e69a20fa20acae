"""Programs that commands run as files, modules and texts, and the commands' JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import ftensor as ft
from ftensor import doctor
from ftensor.cli import main
from ftensor.runtime import discovery

PROGRAM = """
import sys
import ftensor as ft

print(sys.argv[1:], __name__, sys.modules["__main__"].__dict__ is globals())
(ft.ones(8) + 1).sum()
sys.exit(3)
"""


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace chooses the C simulation for its process by this variable."""
    monkeypatch.setenv("FTENSOR_DEVICE", os.environ.get("FTENSOR_DEVICE", ""))


@pytest.fixture(params=["file", "module", "code"])
def words(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The same program as each kind of argument."""
    (tmp_path / "some_program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return {"file": ["some_program.py"], "module": ["-m", "some_program"], "code": ["-c", PROGRAM]}[request.param]


def test_the_program_gets_its_arguments_and_the_command_its_status(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = list(sys.argv), list(sys.path), sys.modules["__main__"]
    assert main(["top", "--rows", "2", *words, "--rows", "-x", "y"]) == 3
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("['--rows', '-x', 'y'] __main__")
    assert (list(sys.argv), list(sys.path), sys.modules["__main__"]) == before


def test_top_as_json(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--json", *words]) == 3
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert {"add", "sum"} <= {op["op"] for op in record["ops"]}
    assert all(op["launches"] >= 1 and op["seconds"] > 0 for op in record["ops"])
    assert captured.err.startswith("[] __main__")  # the program's own output


def test_a_trace_of_each_kind(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", "--trace", *words]) == 3
    assert "failed" in capsys.readouterr().err


def test_a_trace_of_code(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import ftensor as ft; ft.ones(3, dtype=ft.int32) * 2"
    assert main(["kernels", "--trace", "-c", code, "--json"]) == 0
    assert "mul" in {need["op"] for need in json.loads(capsys.readouterr().out)}


def test_the_text_of_sys_exit_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "-c", "raise SystemExit('no input')"]) == 1
    assert capsys.readouterr().err == "no input\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["top"], "ftensor top: name the program: ftensor top [options] program.py"),
        (["top", "-m"], "ftensor top: -m: names no module"),
        (["top", "-m", "gone.sub"], "ftensor top: gone.sub: no such module"),
        (["estimate", "-c"], "ftensor estimate: -c: has no code"),
        (["estimate", "gone.py"], "ftensor estimate: gone.py: no such file"),
        (["kernels", "--trace", "-m"], "ftensor kernels: -m: names no module"),
    ],
)
def test_no_program(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    assert capsys.readouterr().err.startswith(message)


def test_devices_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    found = discovery.find()
    assert [device["selector"] for device in record["devices"]] == [discovery.selector(d, found) for d in found]
    assert [device["memory"] for device in record["devices"]] == [d.total_memory for d in found]
    assert record["problem"] is None


@pytest.mark.parametrize("problem", ["", "a result is wrong"])
def test_doctor_as_json(problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each device is tried; the status is that of the first one."""
    monkeypatch.setattr(doctor, "try_device", lambda selector: problem)
    assert main(["doctor", "--json"]) == int(bool(problem))
    record = json.loads(capsys.readouterr().out)
    assert record["versions"]["ftensor"] == ft.__version__
    assert {device["works"] for device in record["devices"]} == {not problem}
    assert {device["failure"] for device in record["devices"]} == {problem or None}


def test_a_setting_that_makes_no_sense_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FTENSOR_FUSE", "perhaps")
    assert main(["devices", "--json"]) == 1
    assert "FTENSOR_FUSE" in json.loads(capsys.readouterr().out)["invalid_settings"]


def test_warm_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm", "--ops", "neg", "--dtypes", "int32", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["kernels"] == record["cached"] + record["compiled"] > 0
    assert record["failed"] == 0


def test_a_dry_build_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["build", "--inventory", "first", "--target", "csim", "--out", str(tmp_path), "--dry-run"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["commands"] == lines
