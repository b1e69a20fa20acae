"""Paths as words of commands: the one way in which a compiler, a linker or a tool is given a file."""

from __future__ import annotations

import os

_PLAIN = "/._"


def file_word(path: str | os.PathLike[str]) -> str:
    """A path as a word of a command. One that could be an option ("-o.cpp") or name a file of
    options ("@list.cpp") begins with "./", which names the same file."""
    word = os.fspath(path)
    return word if word[:1].isalnum() or word[:1] in _PLAIN else os.path.join(".", word)
