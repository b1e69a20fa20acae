"""A build's folder: where everything lies, and the sources in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...errors.build import no_source
from ..group import Group
from .job import content_key
from .state import write_whole

# A comment, or what may hold the signs of one without being one.
_COMMENT = re.compile(r'//(?:[^\\\n]|\\\n|\\.)*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|' r"'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


@dataclass(frozen=True)
class Workspace:
    """The paths below the folder that `--out` names."""

    out: Path

    @property
    def sources(self) -> Path:
        """The kernels' sources and the headers that they include."""
        return self.out / "sources"

    @property
    def objects(self) -> Path:
        """What was compiled and linked, each with the hash of its content in its name."""
        return self.out / "objects"

    @property
    def logs(self) -> Path:
        """What the compilers said, a file for each kernel."""
        return self.out / "logs"

    @property
    def work(self) -> Path:
        """What v++ keeps of its own, its reports included."""
        return self.out / "work"

    @property
    def reports(self) -> Path:
        """The reports that v++ hands out."""
        return self.out / "reports"

    @property
    def state(self) -> Path:
        """How long each job took."""
        return self.out / "state.json"

    @property
    def manifest(self) -> Path:
        """Which kernel serves which launch."""
        return self.out / "manifest.json"

    @property
    def link_configuration(self) -> Path:
        """What `v++ --link` is told."""
        return self.out / "link.cfg"


@dataclass(frozen=True)
class Source:
    """A kernel's source file.

    `digest` is a hash of it and of every header that it includes, without their comments: these
    name the memory and the number of compute units, which are matters of the linker alone.
    """

    group: Group
    path: Path
    digest: str
    size: int  # bytes

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.group.name


def lay_out(
    groups: Sequence[Group],
    folder: Path,
    text: Callable[[Group], str],
    headers: Mapping[str, Path],
    suffix: str,
    include: Iterable[Path],
) -> list[Source]:
    """Write the sources and their headers, those that changed; and say what each depends on.

    `headers` are copied to the name below `folder`; headers are looked for beside the file that
    includes them and then in the folders `include`. BuildError for a group that has no source.
    """
    for name, origin in headers.items():
        write_whole(folder / name, origin.read_bytes())
    sources = []
    for group in groups:
        path = folder / f"{group.name}{suffix}"
        try:
            content = text(group)
        except ValueError as problem:
            raise no_source(group.name, problem) from problem
        write_whole(path, content)
        digest = content_key(*map(without_comments, included(path, tuple(include))))
        sources.append(Source(group, path, digest, len(content)))
    return sources


def included(path: Path, folders: Sequence[Path]) -> list[str]:
    """The text of a file and of all headers below it, each once, in the order of first mention.

    Headers that are in none of the folders are the compiler's own: its version stands for them.
    """
    texts: dict[Path, str] = {}
    waiting = [path.resolve()]
    while waiting:
        file = waiting.pop(0)
        if file in texts:
            continue
        texts[file] = text = file.read_text()
        for match in _INCLUDE.finditer(text):
            near = [] if match[1] is None else [file.parent]
            for folder in [*near, *folders]:
                header = (folder / (match[1] or match[2])).resolve()
                if header.is_file():
                    waiting.append(header)
                    break
    return list(texts.values())


@lru_cache(256)
def without_comments(text: str) -> str:
    """C text with a blank for each comment, and no blanks at the ends of lines or empty lines."""
    bare = _COMMENT.sub(lambda m: " " if m[0].startswith("/") else m[0], text)
    return "\n".join(line.rstrip() for line in bare.splitlines() if line.strip())
