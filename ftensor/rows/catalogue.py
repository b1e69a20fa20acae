"""The lists of every row and of every op: what kernels compute, and what a user calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .op import Op, Reduce
from .spelling import describe, signature_text

F = TypeVar("F", bound=Callable[..., Any])
Row = Op | Reduce

# All rows in the order in which modules are imported, with the word of their category.
ROWS: dict[Row, str] = {}


def enter(module: str, *rows: Row) -> None:
    """Put rows into the list, under the category of the module that defines them.

    That is the module's name, or the word `CATEGORY` in it, or in its chapter. Rows that are given
    to `add_rows` or `@op` need no more; this is for those that only an engine runs.
    """
    chapter = module.rpartition(".")[0]
    words = [getattr(sys.modules.get(name), "CATEGORY", "") for name in (module, chapter)]
    category = next(filter(None, words), module.rpartition(".")[2])
    for row in rows:
        ROWS.setdefault(row, category)


@dataclass(frozen=True)
class Entry:
    """How one public name is spelled: as a function, a method, a property, under other names.

    `forms` are the signatures in which it is called; a property has none. A row's spellings
    follow from the row. A Python function says whether it has an in-place
    form and operators of its own, which rows it runs (their operators are bound to them
    directly), and which callable is the method where that takes its arguments in another order.
    """

    name: str
    call: Callable[..., Any]
    function: bool = True
    method: bool | Callable[..., Any] = True
    prop: bool = False
    forms: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    namespace: str = ""
    row: Row | None = None
    inplace: bool = False
    operators: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()


ENTRIES: dict[str, Entry] = {}


def register(entry: Entry) -> Entry:
    """Add an entry, with the signature of its function unless it says in which forms it is called.

    A name given twice is a mistake in the catalogue.
    """
    key = f"{entry.namespace}.{entry.name}" if entry.namespace else entry.name
    assert key not in ENTRIES, f"op {key} is in the catalogue twice"
    if not entry.forms and not entry.prop:
        form = signature_text(key, entry.call, method=not entry.function)
        entry = replace(entry, forms=(form,))
    ENTRIES[key] = entry
    return entry


def op(
    *,
    name: str | None = None,
    function: bool = True,
    method: bool | Callable[..., Any] = True,
    prop: bool = False,
    forms: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    namespace: str = "",
    inplace: bool = False,
    operators: tuple[str, ...] = (),
    rows: tuple[Row, ...] = (),
) -> Callable[[F], F]:
    """Put a Python function into the catalogue under its own name, or `name`.

    With `inplace`, the function takes `out=`, and its `name_` form passes the tensor itself. The
    docstring is without the signature, which comes from the function, or from `forms` where the
    op is called in several ways.
    """

    def add(call: F) -> F:
        entry = Entry(
            name or call.__name__, call, function, method, prop, forms, aliases, namespace,
            inplace=inplace, operators=operators, rows=rows,
        )  # fmt: skip
        describe(call, register(entry).forms)
        if callable(method):
            describe(method, (signature_text(entry.name, method, method=True),))
        enter(call.__module__, *rows)
        return call

    return add
