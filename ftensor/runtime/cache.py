"""Disk cache of compiled kernels. Processes share it, and any of them may be killed."""

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
MAX_WAIT_SECONDS = 60.0


def directory() -> Path:
    """Returns the cache's folder: FTENSOR_CACHE_DIR, else the user's cache directory."""
    chosen = os.environ.get("FTENSOR_CACHE_DIR")
    if chosen:
        try:
            return Path(chosen).expanduser()
        except RuntimeError:
            needed = "a folder: there is no such user"
            raise errors.environment_value("FTENSOR_CACHE_DIR", chosen, needed) from None
    import platformdirs

    return Path(platformdirs.user_cache_dir("ftensor"))


def key(*parts: str) -> str:
    """Returns the entry name for `parts` compiled by this version of ftensor."""
    from .._version import __version__

    digest = hashlib.sha256()
    for part in (__version__, *parts):
        digest.update(f"{len(part)}:".encode())  # so that ("ab", "c") and ("a", "bc") differ
        digest.update(part.encode())
    return digest.hexdigest()


def path(name: str) -> Path:
    """Returns the file of an entry, existing or not."""
    return directory() / name[:2] / name


def _checksum(name: str, payload: bytes) -> bytes:
    return hashlib.sha256(name.encode() + payload).digest()


def writable_by_others(place: Path) -> bool:
    """Returns True if users other than this one and root may change the file or folder, or own the
    link at this path."""
    if not hasattr(os, "geteuid"):  # a system without file owners
        return False
    status, trusted_owners = place.stat(), (os.geteuid(), 0)
    return not {status.st_uid, place.lstat().st_uid}.issubset(trusted_owners) or bool(status.st_mode & 0o022)


def private_folder(folder: Path) -> Path:
    """Creates a folder with a guessable name, and checks that it is no link and that only this user
    can write to it. Raises PermissionError otherwise."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or writable_by_others(folder):
        raise PermissionError(f"{folder} is a link, or can be written by other users")
    return folder


def written_by_others(place: Path) -> Path | None:
    """Returns the first folder or file between the cache's folder and `place`, both included,
    that other users can write; None if there is none.

    Code run from the cache runs as this user. The cache's folder may be a sticky one, like /tmp,
    in which users can't change each other's files.
    """
    top = directory()
    sticky = top.exists() and bool(top.stat().st_mode & stat.S_ISVTX)
    parents = [parent for parent in place.parents if top in parent.parents]
    for one in (*([] if sticky else [top]), *reversed(parents), place):
        if one.exists() and writable_by_others(one):
            return one
    return None


def _trusted(file: Path) -> bool:
    """Returns True if only this user can write an entry's file and its folders in the cache."""
    place = written_by_others(file)
    if place is not None:
        _warn_once(place, f"{place} can be written by others; chmod go-w {directory()}, or chown it")
    return place is None


def get(name: str) -> bytes | None:
    """Returns the bytes of an entry; None if it is missing or damaged."""
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
    """Writes an entry; returns its file, or None if the cache can't be written.

    The write is atomic, also with concurrent writers: a temporary file is filled, then renamed.
    The digest after the payload detects damage by a full disk or a power cut. A shared library may
    carry the digest, since loaders ignore trailing bytes.
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
    """Inside the block, no other thread or process that shares the cache creates this entry.

    A process that had to wait then finds the entry in the cache. The lock is needed because PoCL
    3.1 crashes if two processes compile the same program at once. The lock is on the entry's
    folder, so entries share locks. Without a cache no process waits; none waits longer than
    MAX_WAIT_SECONDS, since the process that holds the lock may be stopped. A signal handler
    continues if its own thread holds the lock.
    """
    folder = path(name).parent
    held_folders = _held.__dict__.setdefault("folders", set())
    if folder in held_folders:
        yield
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # put() reports the folder's problem
        yield
        return
    try:
        if os.name != "posix" or not _locked(handle):
            yield
            return
        held_folders.add(folder)
        try:
            yield
        finally:
            held_folders.discard(folder)
            fcntl.flock(handle, fcntl.LOCK_UN)  # a forked child may have the handle, too
    finally:
        os.close(handle)


_held = threading.local()  # the folders that this thread has locked


def _locked(handle: int) -> bool:
    until = time.monotonic() + MAX_WAIT_SECONDS
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
    """Removes an entry if it exists and can be removed."""
    try:
        path(name).unlink(missing_ok=True)
    except OSError as error:
        _warn_once(directory(), error)


def _sweep(folder: Path) -> None:
    """Removes temporary files that killed writers left."""
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
