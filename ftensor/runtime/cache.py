"""The compiled kernels on disk: several processes may share it and any of them may be killed."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import errors

if os.name == "posix":
    import fcntl

DIGEST = hashlib.sha256().digest_size
_STALE_SECONDS = 3600
MOST_WAITED = 60.0


def directory() -> Path:
    """Where compiled kernels are kept: FTENSOR_CACHE_DIR, else the user's cache directory."""
    chosen = os.environ.get("FTENSOR_CACHE_DIR")
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError:
            wanted = "a folder: there is no such user"
            raise errors.environment_value("FTENSOR_CACHE_DIR", chosen, wanted) from None
    import platformdirs

    return Path(platformdirs.user_cache_dir("ftensor"))


def key(*parts: str) -> str:
    """The name of what was compiled from `parts` by this version of ftensor."""
    from .._version import __version__

    digest = hashlib.sha256()
    for part in (__version__, *parts):
        digest.update(f"{len(part)}:".encode())  # so that ("ab", "c") and ("a", "bc") differ
        digest.update(part.encode())
    return digest.hexdigest()


def path(name: str) -> Path:
    """The file of an entry, whether or not it is there."""
    return directory() / name[:2] / name


def _checksum(name: str, payload: bytes) -> bytes:
    """A digest of the bytes and of what they are, so that no entry stands for another."""
    return hashlib.sha256(name.encode() + payload).digest()


def writable_by_others(place: Path) -> bool:
    """Whether other users than this one and root may change what lies at a path, or made the link
    that it is."""
    if not hasattr(os, "geteuid"):  # a system without owners of this kind
        return False
    status, mine = place.stat(), (os.geteuid(), 0)
    return not {status.st_uid, place.lstat().st_uid}.issubset(mine) or bool(status.st_mode & 0o022)


def private_folder(folder: Path) -> Path:
    """A folder by a name that others can guess, made where it is not there; no link, and this user's
    alone. PermissionError where somebody else made it or may write there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or writable_by_others(folder):
        raise PermissionError(f"{folder} is a link, or can be written by other users")
    return folder


def written_by_others(place: Path) -> Path | None:
    """The first folder or file that others than this user can write, on the way from the cache's
    folder to a place in it; None where there is none.

    What is run from here is run as this user. A folder like /tmp, where nobody may touch what is
    others', may hold the folders of entries.
    """
    top = directory()
    sticky = top.exists() and bool(top.stat().st_mode & stat.S_ISVTX)
    between = [parent for parent in place.parents if top in parent.parents]
    for one in (*([] if sticky else [top]), *reversed(between), place):
        if one.exists() and writable_by_others(one):
            return one
    return None


def _trusted(file: Path) -> bool:
    """Whether an entry's file, and each folder of the cache it lies in, is this user's alone."""
    place = written_by_others(file)
    if place is not None:
        _warn_once(place, f"{place} can be written by others; chmod go-w {directory()}, or chown it")
    return place is None


def get(name: str) -> bytes | None:
    """The bytes of an entry; None if there is none, or if it is not what was written."""
    file = path(name)
    try:
        data = file.read_bytes()
        if not _trusted(file):
            return None
    except OSError:
        return None
    payload, digest = data[:-DIGEST], data[-DIGEST:]
    if _checksum(name, payload) == digest:
        return payload
    drop(name)
    return None


def put(name: str, payload: bytes) -> Path | None:
    """Write an entry; the file, or None where the cache can't be written.

    The entry appears whole or not at all, whoever else writes it at the same moment: a file of
    our own is filled first, then renamed. The digest behind the bytes finds what a full disk or
    a power cut has spoiled; a shared library may carry it, since loaders ignore a tail.
    """
    target = path(name)
    temporary = None
    try:
        for folder in (directory(), target.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _trusted(target):
            return None
        _sweep(target.parent)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".new-")
        with os.fdopen(handle, "wb") as file:
            file.write(payload)
            file.write(_checksum(name, payload))
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)
        _warn_once(directory(), error)
        return None
    return target


@contextmanager
def entry_lock(name: str) -> Iterator[None]:
    """A block in which, of all processes that share the cache, this thread alone makes an entry:
    who waited finds it there. PoCL 3.1 ends the process where two compile the same program at once.

    The entry's folder is locked, which others share; without a cache nobody waits, and nobody for
    longer than MOST_WAITED seconds: a process that makes an entry may have been stopped. A signal's
    handler goes on where its own thread has the folder.
    """
    folder = path(name).parent
    held = _held.__dict__.setdefault("folders", set())
    if folder in held:
        yield
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # put() says what is wrong with the folder
        yield
        return
    try:
        if os.name != "posix" or not _locked(handle):
            yield
            return
        held.add(folder)
        try:
            yield
        finally:
            held.discard(folder)
            fcntl.flock(handle, fcntl.LOCK_UN)  # a forked child may have the handle, too
    finally:
        os.close(handle)


_held = threading.local()  # the folders that this thread has locked


def _locked(handle: int) -> bool:
    until = time.monotonic() + MOST_WAITED
    while time.monotonic() < until:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.005)
        except OSError:  # a file system without locks
            return False
        else:
            return True
    return False


def drop(name: str) -> None:
    """Remove an entry, if it is there and may be removed."""
    try:
        path(name).unlink(missing_ok=True)
    except OSError as error:
        _warn_once(directory(), error)


def _sweep(folder: Path) -> None:
    """Remove what killed writers left behind."""
    now = time.time()
    for leftover in folder.glob(".new-*"):
        try:
            if now - leftover.stat().st_mtime > _STALE_SECONDS:
                leftover.unlink()
        except FileNotFoundError:  # its writer, or another sweeper, was faster
            continue


_warned: set[Path] = set()


def _warn_once(folder: Path, error: object) -> None:
    if folder not in _warned:
        _warned.add(folder)
        warnings.warn(
            f"compiled kernels can't be kept in {folder} ({error}); every process will compile "
            "them again. Set FTENSOR_CACHE_DIR to a folder that you alone can write.",
            RuntimeWarning,
            stacklevel=2,
        )
