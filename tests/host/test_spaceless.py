"""Libraries in folders whose names their own code can't read."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from ftensor.errors.call import kernel_build_failed
from ftensor.runtime import cache
from ftensor.runtime.icd import path_without_blanks


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library with a part next to it; the cache's path has no blank."""
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "My Projects" / "lib"
    folder.mkdir(parents=True)
    (folder / "parts.rtl").write_text("parts")
    (folder / "lib.so").write_text("code")
    return folder / "lib.so"


def test_a_path_without_a_blank_stays(tmp_path: Path) -> None:
    assert path_without_blanks(tmp_path / "lib.so") == tmp_path / "lib.so"


@pytest.mark.parametrize("links", [True, False])
def test_a_folder_without_a_blank_has_the_same_files(
    library: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """A hard link, or a copy where the file system has no links; made once."""

    def refused(*_: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    if not links:
        monkeypatch.setattr(os, "link", refused)
    given = path_without_blanks(library)
    assert " " not in str(given.resolve()) and given.read_text() == "code"
    assert os.path.samefile(given, library) == links
    assert (given.parent / "parts.rtl").read_text() == "parts"
    before = given.stat().st_mtime_ns
    assert path_without_blanks(library) == given and given.stat().st_mtime_ns == before
    assert not list(given.parent.parent.glob(".new-*"))


def test_another_library_gets_another_folder(library: Path) -> None:
    first = path_without_blanks(library)
    library.unlink()
    library.write_text("newer code")
    assert path_without_blanks(library) != first and path_without_blanks(library).read_text() == "newer code"


def test_a_cache_with_a_blank_is_not_taken(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "my cache"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert path_without_blanks(library).is_relative_to(tmp_path / "temporary")


@pytest.mark.skipif(os.name != "posix", reason="needs owners of files")
def test_a_folder_that_others_can_write_is_not_taken(library: Path, tmp_path: Path) -> None:
    given = path_without_blanks(library)
    given.parent.chmod(0o777)
    assert path_without_blanks(library).parent != given.parent


@pytest.mark.skipif(os.name != "posix", reason="needs links")
@pytest.mark.parametrize("how", ["link", "dangling", "file", "open"])
def test_a_private_folder_is_ours_alone(tmp_path: Path, how: str) -> None:
    """By a name that others can guess: no link is followed, and no folder writable by others is
    used."""
    place, other = tmp_path / "guessed", tmp_path / "other"
    if how == "link":
        other.mkdir(mode=0o700)
    if how in ("link", "dangling"):
        place.symlink_to(other)
    elif how == "file":
        place.write_text("")
    else:
        place.mkdir()
        place.chmod(0o777)
    with pytest.raises(OSError, match=r"guessed"):
        cache.private_folder(place)
    assert how == "link" or not other.exists()
    assert not other.exists() or not list(other.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="root makes files others own")
def test_a_link_that_another_made_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    assert not cache.writable_by_others(tmp_path / "link")
    os.chown(tmp_path / "link", 65534, 65534, follow_symlinks=False)
    assert cache.writable_by_others(tmp_path / "link")


def test_a_working_directory_that_a_compiler_cannot_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Intel's compiler fails in a folder with a double quote and a blank behind it."""
    folder = tmp_path / 'my "own' / "two words"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    text = str(kernel_build_failed("ft_add", "a device", "no input file", "source"))
    assert repr(str(folder)) in text and "run the program in another folder" in text and "no input file" in text
    monkeypatch.chdir(tmp_path)
    assert "Please report this" in str(kernel_build_failed("ft_add", "a device", "a log", "source"))
