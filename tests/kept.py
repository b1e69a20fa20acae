"""Caches results of a test run for the next one, in ftensor's cache: objects, headers, kernels.

On a machine whose user's cache persists, a run compiles only what has changed. A file's name
contains a digest of everything the result depends on, so a missing folder only costs time.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ftensor.runtime import cache

SECONDS = 14 * 24 * 3600  # after which unread files are removed


def kept(name: str) -> Path:
    """Returns a private folder, whose path is one word for a shell."""
    return cache.private_folder(_top(str(cache.directory())) / name)


@functools.cache
def _top(directory: str) -> Path:
    top = Path(directory).resolve() / "tests"
    if shlex.quote(str(top)) != str(top):
        top = Path(tempfile.gettempdir()) / f"ftensor-tests-{os.getuid()}"
    cache.private_folder(top)
    for file in top.rglob("*"):
        with suppress(OSError):  # another run was faster, or the folder is not empty
            status = file.stat()
            if time.time() - max(status.st_atime, status.st_mtime) > SECONDS:
                (file.rmdir if file.is_dir() else file.unlink)()
    return top


def digest(*parts: object) -> str:
    """Returns a digest of these parts, as a name."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def text_of(folder: Path) -> str:
    """Returns the text of all headers of a folder."""
    return "\0".join(file.read_text() for file in sorted(folder.rglob("*.h*")) if file.is_file())


def headers_kept(identity: str, command: Sequence[str], names: Sequence[str], levels: Sequence[str]) -> list[str]:
    """Like `headers_read`, into a persistent folder.

    identity: the compiler, the processor, and the text of headers that are not the compiler's own.
    """
    folder = kept(f"headers-{digest(identity, *command, *names, *levels)}")
    header, read = folder / "headers.h", folder / "headers.h.gch"
    if not header.is_file() or not all((read / level).is_file() for level in levels):
        with tempfile.TemporaryDirectory(dir=folder) as made:
            headers_read(command, names, Path(made) / "new", levels)
            read.mkdir(exist_ok=True)
            for name in ("headers.h", *(f"headers.h.gch/{level}" for level in levels)):
                (Path(made) / "new" / name).replace(folder / name)  # another run may do the same
    return ["-include", str(header)]


def headers_read(
    command: Sequence[str], names: Sequence[str], folder: Path, levels: Sequence[str] = ("-O2",)
) -> list[str]:
    """Precompiles headers, which take half of the time of a small source. Returns the options with
    which a compiler finds them. `command` is the compiler with its options.

    If the options of a call differ in what matters, g++ reads the headers' text instead.
    """
    folder.mkdir(exist_ok=True)
    header = folder / "headers.h"
    header.write_text("".join(f"#include <{name}>\n" for name in names))
    precompiled = folder / "headers.h.gch"  # g++ uses the one that fits
    precompiled.mkdir()
    flags = [word for word in command if word != "-shared"]
    for level in levels:
        words = [*flags, level, "-x", "c++-header", str(header), "-o", str(precompiled / level)]
        subprocess.run(words, check=True)
    return ["-include", str(header)]
