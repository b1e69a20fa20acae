"""Paths that look like options or response files: no compiler may read them as such."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from ftensor import dtypes
from ftensor.errors import build as errors
from ftensor.kernels.key import KernelKey, Port
from ftensor.runtime.command_words import file_word
from ftensor.toolchain import csim
from ftensor.toolchain.group import KernelGroup
from ftensor.toolchain.intel.target import Aoc
from ftensor.toolchain.jobs.workspace import Workspace
from ftensor.toolchain.make import Toolchain
from ftensor.toolchain.user_kernels import command
from ftensor.toolchain.vitis.target import Vitis

F = dtypes.float32
GROUPS = (KernelGroup("neg", (KernelKey("neg", "map", F, 16, (Port(F, "v"),), (Port(F, "v"),), ("(-a)",)),)),)
FOLDERS = ("-o", "-DX", "@list", "--help", "+x", "a b", "'q\"", "$(id)", "größe")


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("-o.cpp", "./-o.cpp"),
        ("@a.cpp", "./@a.cpp"),
        (" a.cpp", "./ a.cpp"),
        ("a.cpp", "a.cpp"),
        ("./-a", "./-a"),
        ("../-a", "../-a"),
        ("/-a", "/-a"),
        ("größe/-a", "größe/-a"),
    ],
)
def test_file_name_is_not_read_as_an_option(path: str, word: str) -> None:
    assert file_word(path) == word and os.path.normpath(word) == os.path.normpath(path)


def chains() -> list[Toolchain]:
    made: list[Toolchain] = [Vitis("hw", "some_board", 300.0, dry=True), Aoc("some_board", dry=True)]
    with contextlib.suppress(errors.BuildError):  # g++ is not installed
        made.append(csim.CSim())
    return made


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_name_is_not_read_as_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """Builds into a folder with such a name."""
    monkeypatch.chdir(tmp_path)
    begin = folder if folder[0].isalnum() else f"./{folder}"
    for chain in chains():
        folders = Workspace(Path(folder))
        (source,) = chain.sources(GROUPS, folders)
        compiled = chain.compile_job(source, folders)
        linked = chain.link_job("image", [compiled], GROUPS, folders)
        for job in (compiled, linked):
            for words in (job.command, job.command_to(Path(folder) / "part" / "x.o")):
                files = [word for word in words if "/" in word and folder in word]
                assert files and all(word.startswith(f"{begin}/") for word in files), words


@pytest.mark.parametrize("name", ["-DX.cpp", "-o.cpp", "@list.cpp", "-include.cpp"])
def test_source_name_is_not_read_as_an_option(name: str) -> None:
    assert command(Path(name), ())[-1] == f"./{name}"
