"""Programs that commands run as files, modules and code strings, and the commands' JSON."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

import pytest

import ftensor as ft
from ftensor import doctor, logs
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
    """Restores the variable by which a trace chooses the C simulation for its process."""
    monkeypatch.setenv("FTENSOR_DEVICE", os.environ.get("FTENSOR_DEVICE", ""))


@pytest.fixture(params=["file", "module", "code"])
def words(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the same program as each kind of argument."""
    (tmp_path / "some_program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return {"file": ["some_program.py"], "module": ["-m", "some_program"], "code": ["-c", PROGRAM]}[request.param]


def test_program_arguments_and_exit_status(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
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


def test_trace_of_each_kind_of_program(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kernels", "--trace", *words]) == 3
    assert "failed" in capsys.readouterr().err


def test_trace_of_code(capsys: pytest.CaptureFixture[str]) -> None:
    code = "import ftensor as ft; ft.ones(3, dtype=ft.int32) * 2"
    assert main(["kernels", "--trace", "-c", code, "--json"]) == 0
    assert "mul" in {need["op"] for need in json.loads(capsys.readouterr().out)}


def test_program_arguments_may_begin_with_dashes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sums.py").write_text("import sys, ftensor as ft; ft.ones(3).sum(); assert sys.argv[1:] == ['--a']")
    program = str(tmp_path / "sums.py")
    for words in (["--", program, "--a"], [program, "--", "--a"]):
        assert main(["kernels", "--json", "--trace", *words]) == 0
        assert "sum" in {need["op"] for need in json.loads(capsys.readouterr().out)}


def test_program_arguments_of_a_trace_are_no_image(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command's options may follow the program. Then "--" starts the program's arguments."""
    text = "import sys, ftensor as ft; ft.ones(3).sum(); assert sys.argv[1:] == ['minimal', 'b', '--', 'c']"
    (tmp_path / "sums.py").write_text(text)
    words = [str(tmp_path / "sums.py"), "--write", str(tmp_path / "all.toml"), "--", "minimal", "b", "--", "c"]
    assert main(["kernels", "--trace", *words]) == 0
    assert "wrote" in capsys.readouterr().out and "sum" in (tmp_path / "all.toml").read_text()


@pytest.mark.parametrize(("end", "status"), [("sys.exit(3)", 3), ("os.kill(os.getpid(), 9)", 137)])
def test_warm_ends_like_the_program(end: str, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["warm", "--json", "-c", f"import os, sys; assert sys.argv == ['-c', 'x']; {end}", "x"]) == status
    assert json.loads(capfd.readouterr().out)["status"] == status


def test_message_of_sys_exit_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
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
def test_missing_program_is_an_error(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    assert capsys.readouterr().err.startswith(message)


def test_quiet_and_verbose(capfd: pytest.CaptureFixture[str]) -> None:
    """The options may stand before or after the command's name. Child processes inherit them."""
    code = "import ftensor as ft; ft.ones(3)"
    assert main(["warm", "--quiet", "-c", code]) == 0
    assert capfd.readouterr() == ("", "")
    for words in (["--verbose", "warm"], ["warm", "--verbose"]):
        assert main([*words, "-c", code]) == 0
        said = capfd.readouterr().err
        assert "INFO ftensor._device: fpga:0 is " in said and "DEBUG" in said
    assert main(["warm", "-c", code]) == 0
    assert capfd.readouterr().err.count("\n") == 1
    assert "FTENSOR_LOG" not in os.environ and logging.getLogger("ftensor").handlers == []


def test_quiet_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.toml").write_text('[[kernel]]\nops = ["neg"]\ndtypes = ["float32"]\nlayouts = ["linear"]\n')
    words = ["--inventory", str(tmp_path / "mine.toml"), "--target", "csim", "--out", str(tmp_path / "out")]
    assert main(["build", "--quiet", *words]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "out" / "mine.xclbin").is_file()


def test_records_reach_the_programs_own_logging(caplog: pytest.LogCaptureFixture) -> None:
    """Names below "ftensor" log the device, and each kernel that it lacks."""
    backend = ft.ones(1)._storage.backend
    backend.kernels.clear()
    backend.forget_launches()
    with caplog.at_level(logging.DEBUG, "ftensor"):
        ft.ones(5) + 1
    ready = [record for record in caplog.records if record.name == "ftensor.runtime.launch_cache"]
    assert any("ft_add_map" in record.getMessage() for record in ready)


def test_unknown_log_level(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FTENSOR_LOG", "loud")
    with pytest.raises(ValueError, match="FTENSOR_LOG='loud' is not one of debug, info"):
        logs.print_records()
    assert main(["devices", "--json"]) == 1
    assert "FTENSOR_LOG" in json.loads(capsys.readouterr().out)["invalid_settings"]


def test_devices_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    found = discovery.find()
    assert [device["selector"] for device in record["devices"]] == [discovery.selector(d, found) for d in found]
    assert [device["memory"] for device in record["devices"]] == [d.total_memory for d in found]
    assert record["problem"] is None


@pytest.mark.parametrize("problem", ["", "a result is wrong"])
def test_doctor_as_json(problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each device is tried. The status is that of the first one."""
    monkeypatch.setattr(doctor, "try_device", lambda selector: problem)
    assert main(["doctor", "--json"]) == int(bool(problem))
    record = json.loads(capsys.readouterr().out)
    assert record["versions"]["ftensor"] == ft.__version__
    assert {device["works"] for device in record["devices"]} == {not problem}
    assert {device["failure"] for device in record["devices"]} == {problem or None}


def test_invalid_setting_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FTENSOR_FUSE", "perhaps")
    assert main(["devices", "--json"]) == 1
    assert "FTENSOR_FUSE" in json.loads(capsys.readouterr().out)["invalid_settings"]


def test_warm_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm", "--ops", "neg", "--dtypes", "int32", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["kernels"] == record["cached"] + record["compiled"] > 0
    assert record["failed"] == 0


def test_dry_build_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["build", "--inventory", "first", "--target", "csim", "--out", str(tmp_path), "--dry-run"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["commands"] == lines
