"""Catalogue of all rows and ops, and lookup of the op that is being called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, update_wrapper
from inspect import signature, unwrap
from types import FrameType
from typing import Any, TypeVar, cast

from .. import errors
from ..runtime.call_site import levels_to_user
from .op import BARE, Op, Reduce
from .spelling import describe, numpy_names, show_types, signature_text

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
    `aten` has the names under which torch asks a backend for it, where that is not its own.
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
    aten: tuple[str, ...] = ()


ENTRIES: dict[str, Entry] = {}

# What torch asks a backend for under names of its own, and no user calls: derivatives, and the
# parts that it makes ops of. By aten's names; called with aten's arguments in aten's order.
ATEN: dict[str, Entry] = {}


def aten_op(*names: str, row: Row | None = None) -> Callable[[F], F]:
    """Put a function into `ATEN`, under its own name or `names`.

    One that takes `out` serves the overload that writes its result as well.
    """

    def add(call: F) -> F:
        for name in names or (call.__name__,):
            assert name not in ATEN, f"aten::{name} is in the catalogue twice"
            ATEN[name] = Entry(name, call, function=False, method=False, row=row)
        return call

    return add


# Functions that torch has in Python know `dim` by that name alone.
_IN_PYTHON = frozenset(["norm", "split", "unique", "unique_consecutive"])


def _takes_numpy_names(entry: Entry) -> bool:
    code = unwrap(entry.call).__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    by_hand = entry.namespace in ("nn.functional", "masked") or entry.name in _IN_PYTHON
    return not by_hand and not {"dim", "keepdim"}.isdisjoint(named)


def register(entry: Entry) -> Entry:
    """Add an entry, with the signature of its function unless it says in which forms it is called.

    A name given twice is a mistake in the catalogue.
    """
    key = f"{entry.namespace}.{entry.name}" if entry.namespace else entry.name
    if _takes_numpy_names(entry):
        entry = replace(entry, call=numpy_names(entry.call))
    assert key not in ENTRIES, f"op {key} is in the catalogue twice"
    if not entry.forms and not entry.prop:
        form = signature_text(key, entry.call, method=not entry.function)
        entry = replace(entry, forms=(form,))
    ENTRIES[key] = entry
    return entry


def also_in(namespace: str, *names: str, **others: str) -> None:
    """Enter functions of the catalogue in a namespace, too, by their own names or by `others`."""
    for name, of in (dict(zip(names, names)) | others).items():
        register(Entry(name, ENTRIES[of].call, method=False, namespace=namespace))


def _serving(call: F, name: str, bare: str) -> F:
    """`call`, refusing a tensor whose dtype is of another group; other modules call it as it is."""

    def checked(*args: Any, **named: Any) -> Any:
        of = getattr(args[0] if args else named.get("input"), "_dtype", None)
        if of is not None and of.bare and of.bare not in bare:
            raise errors.not_implemented_for(name, of)
        return call(*args, **named)

    # As seen from outside it is the function itself: no keyword comes or goes here.
    checked.__code__ = checked.__code__.replace(co_name=call.__name__)  # in tracebacks, too
    update_wrapper(checked, call)
    show_types(call)
    attributes = vars(checked)
    attributes.pop("__wrapped__")
    attributes |= {"__signature__": signature(call), **vars(call)}
    return cast("F", checked)


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
    aten: tuple[str, ...] = (),
    bare: str = BARE,
) -> Callable[[F], F]:
    """Put a Python function into the catalogue under its own name, or `name`.

    With `inplace`, the function takes `out=`, and its `name_` form passes the tensor itself. The
    docstring is without the signature, which comes from the function, or from `forms` where the
    op is called in several ways. `bare` are the groups of dtypes of few ops (`dtype.bare`) that the
    first tensor may have, where no row that is run would refuse the others.
    """

    def add(call: F) -> F:
        called = call if bare == BARE else _serving(call, name or call.__name__, bare)
        entry = Entry(
            name or call.__name__, called, function, method, prop, forms, aliases, namespace,
            inplace=inplace, operators=operators, rows=rows, aten=aten,
        )  # fmt: skip
        done = register(entry)
        describe(done.call, done.forms)
        if callable(method):
            describe(method, (signature_text(entry.name, method, method=True),))
        enter(call.__module__, *rows)
        return call

    return add


def op_called() -> tuple[str, FrameType]:
    """The outermost op that the program has called, and the program's frame.

    Where no op is, as under a function of torch's device, the outermost function of ours is named.
    """
    user = sys._getframe(levels_to_user() - 1)
    at, names = sys._getframe(1), []
    while at is not user and at.f_back is not None:
        if not at.f_globals.get("__name__", "").startswith("ftensor.graph."):  # `jit` of a function of ours
            names.append(at.f_code.co_name)
        at = at.f_back
    names.reverse()
    op = next((name for name in names if name.removesuffix("_") in _ops() or name[:2] == "__"), names[0])
    return op, user


def name_called(inner: str) -> str:
    """The outermost op that the program has called, or `inner` where no op's function is on the stack.

    Errors of an op that others run name the one in the program's text.
    """
    name = op_called()[0]
    return name if name.removesuffix("_") in _ops() else inner


@cache
def _ops() -> frozenset[str]:
    """Returns the names of all ops."""
    return frozenset(name.rpartition(".")[2] for name in ENTRIES)
