"""Libraries of Intel's runtimes by paths that these can read.

They look for their compiler and their built-in functions in the folder that /proc/self/maps names
for the library, and read that name up to its first blank: in an environment below "My Projects"
they find nothing, and say DEVICE_NOT_AVAILABLE. The loader's path has ":" and ";" between folders.
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
    """The library, or the same one in a folder of ours whose name has no blank: a hard link (a copy
    where the file system has none), beside links to all that lies beside it. OSError where no such
    folder can be made."""
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
    """Where such folders may be: in the cache, else among what is temporary."""
    mine = f"ftensor-{os.getuid()}"
    for place in (cache.directory(), Path(tempfile.gettempdir()) / mine, Path("/tmp") / mine):
        if not _UNREADABLE.search(str(place.resolve())):
            yield place.resolve()


def _linked(origin: Path, folder: Path) -> Path:
    """The folder, which appears whole or not at all."""
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
