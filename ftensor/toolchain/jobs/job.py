"""One call of a compiler, and what its output depends on."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ...runtime.command_words import file_word


@dataclass(frozen=True)
class Job:
    """One call of a compiler.

    `command` has the path of `output` as one of its words. `key` is the hash of all that goes into
    the output. `weight` says how large the job is, compared with others: any unit.
    """

    name: str
    command: tuple[str, ...]
    output: Path
    log: Path
    key: str
    weight: float = 1.0
    environment: tuple[tuple[str, str], ...] = ()

    def command_to(self, output: Path) -> list[str]:
        """The command with another output."""
        mine = file_word(self.output)
        assert mine in self.command, f"{self.name}: no word of its command is its output"
        return [file_word(output) if word == mine else word for word in self.command]


def content_key(*parts: str | bytes) -> str:
    """A hash of parts that cannot run into each other: 16 hexadecimal digits."""
    digest = sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]
