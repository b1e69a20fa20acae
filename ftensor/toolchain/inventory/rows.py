"""The catalogue's rows by name and category, for those who choose kernels ahead of time."""

from __future__ import annotations

from ...rows.catalogue import ROWS, Row


def categories() -> dict[str, tuple[Row, ...]]:
    """All rows, by category."""
    by_category: dict[str, tuple[Row, ...]] = {}
    for row, word in ROWS.items():
        by_category[word] = (*by_category.get(word, ()), row)
    return by_category


def rows() -> dict[str, tuple[Row, ...]]:
    """All rows, by name: a reduction and the op that completes it share one."""
    by_name: dict[str, tuple[Row, ...]] = {}
    for row in ROWS:
        by_name[row.name] = (*by_name.get(row.name, ()), row)
    return dict(sorted(by_name.items()))


def named(word: str) -> tuple[Row, ...]:
    """The rows that a word means: all of a name, or, as in "add()" and "add(alpha)", those of its
    rows that take these parameters."""
    name, bracket, inside = word.partition("(")
    matching = tuple(row for row in ROWS if row.name == name)
    if not bracket:
        return matching
    params = tuple(w.strip() for w in inside.removesuffix(")").split(",") if w.strip())
    return tuple(row for row in matching if row.params == params)
