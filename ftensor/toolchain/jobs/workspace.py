"""Build jobs: compiler calls, the build folder, and its state."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...errors.build import no_source
from ...runtime.command_words import file_word
from ..group import KernelGroup


@dataclass(frozen=True)
class Job:
    """A compiler call.

    `command` contains the path of `output` as a word. `key` is the hash of all inputs of the
    output. `weight` is the size of the job relative to others, in any unit.
    """

    name: str
    command: tuple[str, ...]
    output: Path
    log: Path
    key: str
    weight: float = 1.0
    environment: tuple[tuple[str, str], ...] = ()

    def command_to(self, output: Path) -> list[str]:
        """Returns the command with another output path."""
        own_word = file_word(self.output)
        assert own_word in self.command, f"{self.name}: no word of its command is its output"
        return [file_word(output) if word == own_word else word for word in self.command]


def content_key(*parts: str | bytes) -> str:
    """Returns a hash of the parts and their lengths: 16 hexadecimal digits."""
    digest = sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


VERSION = 1


def write_atomically(path: Path, content: str | bytes) -> None:
    """Writes a file atomically. Leaves a file of equal content untouched."""
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


class State:
    """The records of earlier builds, by job name: durations in seconds, and digests of outputs."""

    def __init__(self, path: Path) -> None:
        """Reads the state file. Ignores a damaged one; durations are then guessed."""
        self.path = path
        self.jobs: dict[str, dict[str, Any]] = {}
        try:
            state = json.loads(path.read_text())
        except (OSError, ValueError, RecursionError):
            return
        jobs = state.get("jobs") if isinstance(state, dict) else None
        if isinstance(jobs, dict) and state.get("version") == VERSION:
            self.jobs = {name: job for name, job in jobs.items() if _well_formed(job)}

    def record(self, job: Job, seconds: float) -> None:
        """Stores the duration and the output's digest of a successful job."""
        self.jobs[job.name] = {
            "key": job.key,
            "seconds": round(seconds, 3),
            "weight": job.weight,
            "sha256": _digest(job.output),
        }
        text = json.dumps({"version": VERSION, "jobs": self.jobs}, indent=1, sort_keys=True)
        write_atomically(self.path, text + "\n")

    def whole(self, job: Job) -> bool:
        """True if the output is undamaged: it has its recorded digest, or no digest is recorded for
        the job's key."""
        earlier = self.jobs.get(job.name)
        if earlier is None or earlier.get("key") != job.key or "sha256" not in earlier:
            return True
        return bool(earlier["sha256"] == _digest(job.output))

    def expected(self, jobs: Iterable[Job]) -> dict[str, float | None]:
        """Returns the expected seconds of each job: the last duration, else by weight; None if
        unknown."""
        weight = sum(job["weight"] for job in self.jobs.values())
        seconds = sum(job["seconds"] for job in self.jobs.values())
        rate = seconds / weight if weight > 0 else None
        times: dict[str, float | None] = {}
        for job in jobs:
            earlier = self.jobs.get(job.name)
            by_weight = None if rate is None else rate * job.weight
            times[job.name] = earlier["seconds"] if earlier is not None else by_weight
        return times


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while part := opened.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _well_formed(job: object) -> bool:
    return isinstance(job, dict) and all(
        isinstance(job.get(name), (int, float)) and job[name] >= 0 for name in ("seconds", "weight")
    )


# A comment, or a literal, which may contain comment signs.
_COMMENT = re.compile(r'//(?:[^\\\n]|\\\n|\\.)*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|' r"'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


@dataclass(frozen=True)
class Workspace:
    """The paths below the folder of `--out`."""

    out: Path

    @property
    def sources(self) -> Path:
        """The kernels' sources and the headers that they include."""
        return self.out / "sources"

    @property
    def objects(self) -> Path:
        """Compiled and linked files, each with its content hash in the name."""
        return self.out / "objects"

    @property
    def logs(self) -> Path:
        """The compilers' output, a file for each kernel."""
        return self.out / "logs"

    @property
    def work(self) -> Path:
        """Temporary files of v++, including its internal reports."""
        return self.out / "work"

    @property
    def reports(self) -> Path:
        """The reports that v++ exports."""
        return self.out / "reports"

    @property
    def state(self) -> Path:
        """The durations and digests of earlier jobs."""
        return self.out / "state.json"

    @property
    def manifest(self) -> Path:
        """The manifest: which kernel and opcode serve which launch."""
        return self.out / "manifest.json"

    @property
    def link_configuration(self) -> Path:
        """The configuration file of `v++ --link`."""
        return self.out / "link.cfg"


@dataclass(frozen=True)
class Source:
    """A kernel's source file.

    `digest` is a hash of the file and of every header that it includes, without comments: a comment
    names the memory and the number of compute units, which only the linker uses.
    """

    group: KernelGroup
    path: Path
    digest: str
    size: int  # bytes

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.group.name


def write_source_files(
    groups: Sequence[KernelGroup],
    folder: Path,
    text: Callable[[KernelGroup], str],
    headers: Mapping[str, Path],
    suffix: str,
    include: Iterable[Path],
) -> list[Source]:
    """Writes the sources and headers that changed; returns each source with its digest.

    Copies each of `headers` to its name below `folder`. An include is looked up beside the
    including file, then in the folders `include`. Raises BuildError for a group that has no source.
    """
    for name, origin in headers.items():
        write_atomically(folder / name, origin.read_bytes())
    sources = []
    for group in groups:
        path = folder / f"{group.name}{suffix}"
        try:
            content = text(group)
        except ValueError as problem:
            raise no_source(group.name, problem) from problem
        write_atomically(path, content)
        digest = content_key(*map(without_comments, included_text(path, tuple(include))))
        sources.append(Source(group, path, digest, len(content)))
    return sources


def included_text(path: Path, folders: Sequence[Path]) -> list[str]:
    """Returns the text of a file and of all headers that it includes, each once, breadth first.

    Skips headers outside the given folders: the compiler's version identifies them.
    """
    texts: dict[Path, str] = {}
    waiting = [path.resolve()]
    while waiting:
        file = waiting.pop(0)
        if file in texts:
            continue
        texts[file] = text = file.read_text()
        for match in _INCLUDE.finditer(text):
            same_folder = [] if match[1] is None else [file.parent]
            for folder in [*same_folder, *folders]:
                header = (folder / (match[1] or match[2])).resolve()
                if header.is_file():
                    waiting.append(header)
                    break
    return list(texts.values())


@lru_cache(256)
def without_comments(text: str) -> str:
    """Returns C text with a blank for each comment, and without trailing blanks and empty lines."""
    bare = _COMMENT.sub(lambda m: " " if m[0].startswith("/") else m[0], text)
    return "\n".join(line.rstrip() for line in bare.splitlines() if line.strip())
