"""The catalogue's rows by name and category, for those who choose kernels ahead of time."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any

from ...rows.catalogue import ENTRIES
from ...rows.op import Op, Reduce

Row = Op | Reduce
# Rows that go through indices.
LOCATED = ("copy", "add_at", "multiply_at", "least_at", "most_at")

# Modules by category. A row that several modules hold belongs to the first of
# them here, and a module that is not here is a category of its own.
CATEGORIES: dict[str, tuple[str, ...]] = {
    "copies": ("execute.memory",),
    "locating": ("execute.indexed", "ops.index.scatter"),
    "unary": ("ops.pointwise.unary",),
    "special": ("ops.pointwise.special",),
    "binary": ("ops.pointwise.binary", "ops.pointwise.division"),
    "power": ("ops.pointwise.power",),
    "bitwise": ("ops.pointwise.bitwise",),
    "compare": ("ops.pointwise.compare",),
    "ternary": ("ops.pointwise.ternary",),
    "activation": ("ops.nn.activation",),
    "reductions": (
        "ops.reduce.fold",
        "ops.reduce.arg",
        "ops.reduce.norm",
        "ops.reduce.stats",
        "ops.reduce.truth",
    ),
    "products": ("ops.linalg.product", "ops.linalg.addmm"),
    "ranges": ("ops.create.ranges", "ops.create.positions", "ops.rearrange.triangle"),
    "indexing": ("ops.index.gather", "ops.index.masked", "ops.index.selection"),
}


@cache
def categories() -> dict[str, tuple[Row, ...]]:
    """All rows, by category."""
    from ... import execute, ops

    named = {module for modules in CATEGORIES.values() for module in modules}
    others = {
        name.rpartition(".")[2]: (name,)
        for package in (execute, ops)
        for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if (name := m.name.partition(".")[2]) not in named
    }
    seen: set[int] = set()
    found: dict[str, tuple[Row, ...]] = {}
    for category, modules in (CATEGORIES | others).items():
        held = [vars(import_module(f"...{m}", __package__)).values() for m in modules]
        mine = _fresh(chain.from_iterable(held), seen)
        if mine:
            found[category] = mine
    # Rows that live in the catalogue alone are those that a table of special functions put there.
    entries = (value for e in ENTRIES.values() for value in (e.row, *e.rows))
    found["special"] += _fresh(entries, seen)
    return found


def _fresh(values: Iterable[Any], seen: set[int]) -> tuple[Row, ...]:
    """The rows among these values that were not met before."""
    mine = []
    for row in chain.from_iterable(map(_rows_in, list(values))):
        if id(row) not in seen:
            seen.add(id(row))
            mine.append(row)
    return tuple(mine)


@cache
def rows() -> dict[str, tuple[Row, ...]]:
    """All rows, by name: a reduction and the op that completes it share one."""
    found: dict[str, list[Row]] = {}
    for mine in categories().values():
        for row in mine:
            found.setdefault(row.name, []).append(row)
    return {name: tuple(found[name]) for name in sorted(found)}


def forget() -> None:
    """The catalogue has new rows: look at it again when asked next."""
    categories.cache_clear()
    rows.cache_clear()


def named(word: str) -> tuple[Row, ...]:
    """The rows that a word means: all of a name, or, as in "add()" and "add(alpha)", those of its
    rows that take these parameters."""
    name, bracket, inside = word.partition("(")
    found = rows().get(name, ())
    if not bracket:
        return found
    params = tuple(w.strip() for w in inside.removesuffix(")").split(",") if w.strip())
    return tuple(row for row in found if row.params == params)


def _rows_in(value: Any) -> Iterable[Row]:
    """The rows that a module's variable holds, alone or in a table."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [v for v in value if isinstance(v, (Op, Reduce))]
    return (value,) if isinstance(value, (Op, Reduce)) else ()
