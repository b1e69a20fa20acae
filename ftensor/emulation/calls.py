"""Finds the user's line of a launch in the file that ftensor writes in the program's process.

That file in the run's folder has one line of text for each of the last launches: kernel, number of
the first command among the kernel's commands, number of commands, stream, file, line, test. Other
host programs write no such file.
"""

from __future__ import annotations

import linecache
from pathlib import Path

MARK = "\0"  # precedes a kernel's name and the number of its launch in a text of the device


def mark(kernel: str, number: int) -> str:
    """Returns the suffix that identifies a launch in a text; `with_call_site` replaces it."""
    return f"{MARK}{kernel}{MARK}{number}{MARK}"


def with_call_site(text: str, notes: Path | None) -> str:
    """Returns a text of the device; a launch marked at its end is replaced by the user's line."""
    text, *launch = text.split(MARK)
    is_complete = len(launch) == 3  # a text that is too long was cut
    lines = _call_sites(notes, launch[0], int(launch[1])) if is_complete and notes is not None else []
    if not lines:
        return text
    return text + "\n    launched at " + ("" if len(lines) == 1 else "one of\n      ") + "\n      ".join(lines)


def _call_sites(notes: Path, kernel: str, number: int) -> list[str]:
    """Returns the user's lines of a launch. Several are possible if streams ran concurrently, since
    the device may have begun their launches in another order."""
    try:
        lines = notes.read_text(errors="surrogateescape").split("\n")
    except OSError:
        return []
    noted = [words for line in lines if (words := line.rstrip().split("\t"))[0] == kernel and len(words) >= 6]
    if not any(int(first) <= number < int(first) + int(count) for _, first, count, *_ in noted):
        return []
    if len({words[3] for words in noted}) == 1:
        noted = [words for words in noted if int(words[1]) <= number < int(words[1]) + int(words[2])]
    else:
        noted = [words for words in noted if abs(int(words[1]) - number) < _BESIDE]
    return list(dict.fromkeys(_shown(*words[4:]) for words in noted))


_BESIDE = 64  # launches by which streams may overtake each other


def _shown(file: str, line: str, test: str = "") -> str:
    text = linecache.getline(file, int(line)).strip()
    return f"{file}:{line}" + (f": {text}" if text else "") + (f" (in the test {test})" if test else "")
