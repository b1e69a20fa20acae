"""The list of every op: rows with kernels, and Python functions made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry:
    """How one public name is spelled: as a function, a method, a property, under other names.

    A row's spellings follow from the row. A Python function says whether it has an in-place
    form and operators of its own, which rows it runs (their operators are bound to them
    directly), and which callable is the method where that takes its arguments in another order.
    """

    name: str
    call: Callable[..., Any]
    function: bool = True
    method: bool | Callable[..., Any] = True
    prop: bool = False
    aliases: tuple[str, ...] = ()
    namespace: str = ""
    row: Any = None
    inplace: bool = False
    operators: tuple[str, ...] = ()
    rows: tuple[Any, ...] = ()


ENTRIES: dict[str, Entry] = {}


def register(entry: Entry) -> None:
    """Add an entry; a name given twice is a mistake in the catalogue."""
    key = f"{entry.namespace}.{entry.name}" if entry.namespace else entry.name
    assert key not in ENTRIES, f"op {key} is in the catalogue twice"
    ENTRIES[key] = entry


def op(
    *,
    name: str | None = None,
    function: bool = True,
    method: bool | Callable[..., Any] = True,
    prop: bool = False,
    aliases: tuple[str, ...] = (),
    namespace: str = "",
    inplace: bool = False,
    operators: tuple[str, ...] = (),
    rows: tuple[Any, ...] = (),
) -> Callable[[F], F]:
    """Put a Python function into the catalogue under its own name, or `name`.

    With `inplace`, the function takes `out=`, and its `name_` form passes the tensor itself.
    """

    def add(call: F) -> F:
        entry = Entry(
            name or call.__name__, call, function, method, prop, aliases, namespace,
            inplace=inplace, operators=operators, rows=rows,
        )  # fmt: skip
        register(entry)
        return call

    return add
