"""Two installers at once: the second accepts the folder that the first made."""

from __future__ import annotations

import subprocess
import types
from pathlib import Path
from typing import Any

import pytest

from ftensor.emulation import intel
from ftensor.toolchain.vitis import headers


def filled(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "library").write_text("")


@pytest.mark.parametrize("other", [True, False])
def test_the_emulator_of_another_process_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, other: bool
) -> None:
    folder = tmp_path / "emulator"

    def pip(command: list[str], **options: Any) -> Any:
        filled(Path(command[command.index("--prefix") + 1]))
        if other:
            filled(folder)  # between the check and the rename
        else:
            tmp_path.joinpath("emulator").write_text("a file")
        return types.SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setattr(intel, "driver", lambda place: next(iter(Path(place).glob("library")), None))
    assert intel.install(folder) == (0 if other else 2)
    assert ("done" in capsys.readouterr().out) == other
    assert [path.name for path in tmp_path.iterdir()] == ["emulator"]


@pytest.mark.parametrize("other", [True, False])
def test_headers_of_another_process_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: bool) -> None:
    folder = tmp_path / "headers"

    def unpack(wheel: Path, target: Path) -> Path:
        filled(target)
        filled(folder)
        if not other:
            (folder / "library").rename(folder / "half")
        return target

    monkeypatch.setattr(headers, "default_folder", lambda: folder)
    monkeypatch.setattr(headers, "damaged", lambda place: not (place / "library").exists())
    monkeypatch.setattr(headers, "_fetch", lambda scratch, place: scratch)
    monkeypatch.setattr(headers, "_unpack", unpack)
    if other:
        headers.install()
    else:
        with pytest.raises(RuntimeError):
            headers.install()
    assert [path.name for path in tmp_path.iterdir()] == ["headers"]
