"""Messages as lines: the class of an error and its text, filled in where it is raised."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any, Generic, TypeVar

E = TypeVar("E", bound=BaseException)


class Filling(string.Formatter):
    """`str.format` with conversions of its own: !t a tuple, !l a list, !c its items with commas
    between, !n how many these are, !k the name of a type."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """What a field shows of a value."""
        if conversion in ("t", "l"):
            return tuple(value) if conversion == "t" else list(value)
        if conversion == "c":
            return ", ".join(map(str, value))
        if conversion == "n":
            return len(value)
        if conversion == "k":
            return type(value).__name__
        return super().convert_field(value, conversion)


FILLING = Filling()


class Message(Generic[E]):
    """Makes errors of a class: called with the values of its text's fields, in the order in which
    they first stand there, or in that of `names`, or by name.
    """

    __slots__ = ("_names", "kind", "text")

    def __init__(self, kind: Callable[[str], E], text: str, names: str = "") -> None:
        self.kind, self.text, self._names = kind, text, names

    @property
    def names(self) -> list[str]:
        """What it is called with."""
        if self._names:
            return self._names.split()
        fields = (name for _, name, _, _ in FILLING.parse(self.text) if name)
        return list(dict.fromkeys(name.partition(".")[0] for name in fields))

    def __call__(self, *values: object, **named: object) -> E:
        """The error; TypeError where values are missing, or there are more than fields."""
        fields = dict(zip(self.names, values, strict=False)) | named
        if len(values) + len(named) != len(self.names) or fields.keys() != set(self.names):
            raise TypeError(f"this message takes {self.names}, not {len(values)} values, {named}")
        return self.kind(FILLING.vformat(self.text, (), fields))
