"""Paths as arguments of compilers, linkers and tools."""

from __future__ import annotations

import os

_PLAIN = "/._"


def file_word(path: str | os.PathLike[str]) -> str:
    """Returns a path as one command argument. A path that could be read as an option ("-o.cpp") or
    as a file of options ("@list.cpp") gets the prefix "./", which names the same file."""
    word = os.fspath(path)
    return word if word[:1].isalnum() or word[:1] in _PLAIN else os.path.join(".", word)
