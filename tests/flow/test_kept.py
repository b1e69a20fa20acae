"""Objects of g++ that the tests cache for the next run. Their keys cover all inputs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .. import kept, places

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def made(run: Path, header: str, *words: str) -> bytes:
    """Returns an object of a run of the tests with its own folder."""
    run.mkdir()
    env = places.environment("csim", run)
    assert env is not None
    (run / "source.cpp").write_text('#include "beside.h"\nint number() { return NUMBER; }\n')
    (run / "beside.h").write_text(header)
    command = ["g++", *words, "source.cpp", "-o", "made"]
    subprocess.run(command, cwd=run, env=env | {"KEEP_CXX": "1"}, check=True)
    return (run / "made").read_bytes()


def test_next_run_reuses_unchanged_objects(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An object depends on its options, and on headers next to its source."""
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(places, "headers_kept", lambda *words: [])
    objects = tmp_path / "cache" / "tests" / "objects"
    first = made(tmp_path / "first", "#define NUMBER 1\n", "-c")
    (one,) = objects.iterdir()
    assert one.read_bytes() == first
    one.write_bytes(b"as it was kept")
    assert made(tmp_path / "second", "#define NUMBER 1\n", "-c") == b"as it was kept"
    changed = made(tmp_path / "third", "#define NUMBER 2\n", "-c")
    assert changed not in (first, b"as it was kept")
    assert made(tmp_path / "fourth", "#define NUMBER 1\n", "-c", "-g") not in (first, b"as it was kept")
    assert len([*objects.iterdir()]) == 3


def test_path_with_special_characters_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The script in place of g++ passes its folder to a shell."""
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "a blank"))
    monkeypatch.setattr(kept.tempfile, "gettempdir", lambda: str(tmp_path))
    assert kept.kept("objects").parent.parent == tmp_path
