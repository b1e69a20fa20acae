"""The catalogue's rows by name and category, for those who choose kernels ahead of time."""

from __future__ import annotations

from ...rows.catalogue import ROWS, Row


def categories() -> dict[str, tuple[Row, ...]]:
    """All rows, by category."""
    found: dict[str, tuple[Row, ...]] = {}
    for row, word in ROWS.items():
        found[word] = (*found.get(word, ()), row)
    return found


def rows() -> dict[str, tuple[Row, ...]]:
    """All rows, by name: a reduction and the op that completes it share one."""
    found: dict[str, tuple[Row, ...]] = {}
    for row in ROWS:
        found[row.name] = (*found.get(row.name, ()), row)
    return dict(sorted(found.items()))


def named(word: str) -> tuple[Row, ...]:
    """The rows that a word means: all of a name, or, as in "add()" and "add(alpha)", those of its
    rows that take these parameters."""
    name, bracket, inside = word.partition("(")
    found = tuple(row for row in ROWS if row.name == name)
    if not bracket:
        return found
    params = tuple(w.strip() for w in inside.removesuffix(")").split(",") if w.strip())
    return tuple(row for row in found if row.params == params)
