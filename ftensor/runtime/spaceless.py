"""Paths of Intel's runtime libraries without blanks, which these libraries require.

The libraries look for their compiler and built-in functions in their own folder. They take
that folder from /proc/self/maps and read its name up to the first blank. In an environment
below "My Projects" they find nothing and return DEVICE_NOT_AVAILABLE. The loader's path
separates folders by ":" and ";".
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import cache

_UNREADABLE = re.compile(r"[\s:;]")


def path_without_blanks(library: Path) -> Path:
    """Returns the library, or a link to it in a folder of ours whose name has no blank.

    The folder has a hard link to the library (a copy where the file system has no hard links) and
    symbolic links to its neighbours. Raises OSError if no such folder can be created.
    """
    origin = library.resolve()
    if not _UNREADABLE.search(str(origin)):
        return library
    status = origin.stat()
    said = f"{origin}\0{status.st_size}\0{status.st_mtime_ns}"
    name = f"runtime-{hashlib.sha256(said.encode(errors='surrogateescape')).hexdigest()[:16]}"
    problem: OSError = FileNotFoundError(f"no folder without a blank in its name for {origin}")
    for parent in _parents():
        try:
            return _linked(origin, cache.private_folder(parent) / name)
        except OSError as failure:
            problem = failure
    raise problem


def _parents() -> Iterator[Path]:
    """Yields the parents for such a folder: the cache's folder, then temporary folders."""
    mine = f"ftensor-{os.getuid()}"
    for place in (cache.directory(), Path(tempfile.gettempdir()) / mine, Path("/tmp") / mine):
        if not _UNREADABLE.search(str(place.resolve())):
            yield place.resolve()


def _linked(origin: Path, folder: Path) -> Path:
    """Creates the folder atomically, and returns the library in it."""
    library = folder / origin.name
    if not library.is_file():
        scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
        try:
            for beside in origin.parent.iterdir():
                if beside.name != origin.name:
                    (scratch / beside.name).symlink_to(beside)
            try:
                os.link(origin, scratch / origin.name)
            except OSError:  # on another file system, or another user's
                shutil.copy2(origin, scratch / origin.name)
            os.rename(scratch, folder)
        except OSError:
            shutil.rmtree(scratch, ignore_errors=True)
            if not library.is_file():  # else another process was faster
                raise
    cache.private_folder(folder)
    return library
