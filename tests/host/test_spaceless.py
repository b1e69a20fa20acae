"""Libraries in folders whose path their own code can't handle."""

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
    """Makes a library with a second file next to it; the cache's path has no space."""
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "My Projects" / "lib"
    folder.mkdir(parents=True)
    (folder / "parts.rtl").write_text("parts")
    (folder / "lib.so").write_text("code")
    return folder / "lib.so"


def test_path_without_space_is_unchanged(tmp_path: Path) -> None:
    assert path_without_blanks(tmp_path / "lib.so") == tmp_path / "lib.so"


@pytest.mark.parametrize("links", [True, False])
def test_folder_without_space_has_the_same_files(library: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    """The files are hard links, or copies if the file system has no links. They are made once."""

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


def test_cache_with_space_is_not_used(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FTENSOR_CACHE_DIR", str(tmp_path / "my cache"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert path_without_blanks(library).is_relative_to(tmp_path / "temporary")


@pytest.mark.skipif(os.name != "posix", reason="needs owners of files")
def test_folder_writable_by_others_is_not_used(library: Path, tmp_path: Path) -> None:
    given = path_without_blanks(library)
    given.parent.chmod(0o777)
    assert path_without_blanks(library).parent != given.parent


@pytest.mark.skipif(os.name != "posix", reason="needs links")
@pytest.mark.parametrize("how", ["link", "dangling", "file", "open"])
def test_private_folder_belongs_to_this_user(tmp_path: Path, how: str) -> None:
    """Others can guess the folder's name. So no link is followed, and no folder writable by others
    is used."""
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
def test_foreign_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    assert not cache.writable_by_others(tmp_path / "link")
    os.chown(tmp_path / "link", 65534, 65534, follow_symlinks=False)
    assert cache.writable_by_others(tmp_path / "link")


def test_working_directory_unusable_by_the_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Intel's compiler fails in a folder whose name has a double quote followed by a space."""
    folder = tmp_path / 'my "own' / "two words"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    text = str(kernel_build_failed("ft_add", "a device", "no input file", "source"))
    assert repr(str(folder)) in text and "run the program in another folder" in text and "no input file" in text
    monkeypatch.chdir(tmp_path)
    assert "Please report this" in str(kernel_build_failed("ft_add", "a device", "a log", "source"))
