"""What the tests keep for the next run: objects of g++, by all that they depend on."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from .. import kept, places

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def made(run: Path, header: str, *words: str) -> bytes:
    """An object of a run of the tests with a folder of its own."""
    run.mkdir()
    env = places.environment("csim", run)
    assert env is not None
    (run / "source.cpp").write_text('#include "beside.h"\nint number() { return NUMBER; }\n')
    (run / "beside.h").write_text(header)
    command = ["g++", *words, "source.cpp", "-o", "made"]
    subprocess.run(command, cwd=run, env=env | {"KEEP_CXX": "1"}, check=True)
    return (run / "made").read_bytes()


def test_the_next_run_has_what_did_not_change(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An object follows its options, and headers beside its source."""
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


def test_a_path_that_is_no_word_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The script that is g++ names its folder to a shell."""
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "a blank"))
    monkeypatch.setattr(kept.tempfile, "gettempdir", lambda: str(tmp_path))
    assert kept.kept("objects").parent.parent == tmp_path
