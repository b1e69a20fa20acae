"""A table of a TOML file: its values, checked, and where it stands, for messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import inventory as errors


@dataclass(frozen=True)
class Table:
    """A TOML table and where it stands."""

    path: Path
    lines: tuple[str, ...]
    line: int
    raw: Mapping[str, Any]

    @classmethod
    def top(cls, path: Path, text: str, raw: Mapping[str, Any]) -> Table:
        """The whole file."""
        return cls(path, tuple(text.splitlines()), -1, raw)

    def tables(self, name: str) -> Iterator[Table]:
        """The tables of an array of them."""
        entries = self.raw.get(name, [])
        if not isinstance(entries, list) or not all(isinstance(t, dict) for t in entries):
            raise errors.wrong_value(str(self.path), name, entries, f"tables, each under [[{name}]]")
        heads = [k for k, text in enumerate(self.lines) if text.strip().startswith(f"[[{name}]]")]
        heads += [0] * (len(entries) - len(heads))
        for line, raw in zip(heads, entries):
            yield Table(self.path, self.lines, line, raw)

    def where(self, key: str = "") -> str:
        """The file and the line of a setting, or of the table."""
        for k in range(self.line + 1, len(self.lines) if key else 0):
            if self.lines[k].lstrip().startswith("[["):
                break
            if re.match(rf"\s*{key}\s*=", self.lines[k]):
                return f"{self.path}:{k + 1}"
        return f"{self.path}:{max(self.line, 0) + 1}"

    def check_names(self, known: tuple[str, ...]) -> None:
        """InventoryError for a setting that there is not."""
        for name in self.raw:
            if name not in known:
                raise errors.unknown_setting(self.where(name), name, known)

    def get(self, key: str, default: Any, fits: Callable[[Any], bool], wanted: str) -> Any:
        """A setting's value, which must fit."""
        value = self.raw.get(key, default)
        if key in self.raw and not fits(value):
            raise errors.wrong_value(self.where(key), key, value, wanted)
        return value

    def words(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A setting that is a list of texts."""
        value = self.raw.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise errors.wrong_value(self.where(key), key, value, 'a list such as ["add", "mul"]')
        return tuple(value)

    def numbers(self, key: str, default: tuple[int, ...], low: int, high: int) -> tuple[int, ...]:
        """A setting that is a list of integers in a range."""
        value = self.raw.get(key, list(default))
        if not isinstance(value, list) or not all(is_int(v, low, high) for v in value):
            raise errors.wrong_value(self.where(key), key, value, f"a list of integers from {low} to {high}")
        return tuple(value)


def is_int(value: Any, low: int, high: int) -> bool:
    """Whether a value is an integer in a range; true and false are none."""
    return type(value) is int and low <= value <= high
