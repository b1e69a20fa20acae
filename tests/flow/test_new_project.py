"""`ftensor new`: a project that works at once, and the names that it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ftensor import new_project
from ftensor.cli import main

from .. import forked

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_tests_of_a_new_project_pass(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "my-filter.2"]) == 0
    files = capsys.readouterr().out.splitlines()[:-1]
    project = here / "my-filter.2"
    assert sorted(files) == sorted(str(p.relative_to(here)) for p in project.rglob("*") if p.is_file())
    assert {"my-filter.2/ci.sh", "my-filter.2/src/fir.cpp", "my-filter.2/.github/workflows/test.yml"} <= set(files)
    assert [file for file in files if "hls_project" in (here / file).read_text()] == []
    env = {**os.environ, "FTENSOR_DEVICE": "csim", "PYTHONPATH": str(ROOT)}
    done = forked.run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project, env=env)
    assert "5 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "-x", ".x", "a b", "a\n", "é", "x" * 65])
def test_invalid_names_are_refused(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--", name]) == 2
    assert "cannot name a project" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_nothing_is_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "there").symlink_to("nowhere")
    assert main(["new", "there"]) == 2
    assert capsys.readouterr().err == "ftensor new: there exists; choose another name, or remove it\n"
    assert [path.name for path in here.iterdir()] == ["there"]


def test_unwritable_folder(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir("/proc")  # even root can't write there
    assert main(["new", "mine"]) == 2
    assert "mine cannot be written: " in capsys.readouterr().err


def test_the_script_names_the_repository(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip installed ftensor from it. A folder of this machine would be of no use to a CI runner."""
    for name, record, wanted in (
        ("git", {"url": "https://host/ft", "vcs_info": {"vcs": "git", "commit_id": "c0"}}, "git+https://host/ft@c0"),
        ("local", {"url": "file:///here", "vcs_info": {"vcs": "git", "commit_id": "c0"}}, ""),
        ("shell", {"url": "https://h/$(touch x)", "vcs_info": {"vcs": "git", "commit_id": "c0"}}, ""),
        ("folder", {"url": "file:///here", "dir_info": {}}, ""),
        ("nowhere", {}, ""),
    ):
        installed = SimpleNamespace(read_text=lambda file, record=record: json.dumps(record))
        monkeypatch.setattr(new_project, "distribution", lambda name, installed=installed: installed)
        new_project.write(name, here)
        assert f"\nFTENSOR=${{FTENSOR:-{wanted}}}\n" in (here / name / "ci.sh").read_text()
