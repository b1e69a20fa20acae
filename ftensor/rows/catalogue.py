"""Catalogue of all rows and ops, and lookup of the op that is being called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import update_wrapper
from inspect import signature, unwrap
from keyword import iskeyword
from types import FrameType, FunctionType
from typing import Any, TypeVar, cast

from .. import errors
from .._tensor import Tensor
from ..errors import message
from ..errors.message import levels_to_user
from .op import BARE, Op, Reduce
from .spelling import describe, numpy_names, show_types, signature_text

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
Row = Op | Reduce

# Category of each row, in the order in which modules are imported.
ROWS: dict[Row, str] = {}
OWN = "own"  # the category of a user's rows


def enter(module: str, *rows: Row) -> None:
    """Adds rows to `ROWS` under the category of the module that defines them.

    The category is `CATEGORY` of the module or of its package, else the last part of the module's
    name. `add_rows` and `@op` add their rows themselves; call `enter` for rows that only other
    functions run.
    """
    chapter = module.rpartition(".")[0]
    words = [getattr(sys.modules.get(name), "CATEGORY", "") for name in (module, chapter)]
    category = next(filter(None, words), module.rpartition(".")[2])
    for row in rows:
        ROWS.setdefault(row, category)
        _NAMES.add(row.name)


def withdraw(*rows: Row) -> None:
    """Removes rows that `enter` has added."""
    for row in rows:
        ROWS.pop(row, None)
        if all(other.name != row.name for other in ROWS):
            _NAMES.discard(row.name)


@dataclass(frozen=True)
class Entry:
    """Public spellings of one op: function, method, property, aliases.

    `forms` are the call signatures; a property has none. The spellings of a row follow from the
    row. A Python function declares an in-place form (`inplace`), its own operators (`operators`),
    and the rows that it runs (`rows`, whose operators call the rows directly). `method` is a
    callable if the method takes its arguments in another order. `aten` are the names of the op in
    torch's dispatcher if they differ from `name`.
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


def op_of(name: str) -> Callable[..., Tensor]:
    """Returns the function of the op `name`, such as "linalg.qr", whose result is a tensor or
    several."""
    return ENTRIES[name].call


# Names of all ops without their namespaces, of their aliases, and of all rows.
_NAMES: set[str] = set()

# Entries that only torch's dispatcher calls: derivatives, and the parts of composite ops. Keyed by
# aten name; called with aten's arguments in aten's order.
ATEN: dict[str, Entry] = {}


def aten_op(*names: str, row: Row | None = None) -> Callable[[F], F]:
    """Returns a decorator that adds a function to `ATEN` under its own name, or under `names`.

    A function with an `out` parameter also implements the `out` overload.
    """

    def add(call: F) -> F:
        for name in names or (call.__name__,):
            assert name not in ATEN, f"aten::{name} is in the catalogue twice"
            ATEN[name] = Entry(name, call, function=False, method=False, row=row)
        return call

    return add


# torch implements these in Python and accepts `dim` under no other name.
_IN_PYTHON = frozenset(["norm", "split", "unique", "unique_consecutive"])


def _takes_numpy_names(entry: Entry) -> bool:
    code = unwrap(entry.call).__code__
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    by_hand = entry.namespace in ("nn.functional", "masked") or entry.name in _IN_PYTHON
    return not by_hand and not {"dim", "keepdim"}.isdisjoint(named)


def register(entry: Entry) -> Entry:
    """Adds `entry` to `ENTRIES` and returns it.

    An entry without `forms` gets the signature of its function; a property gets none. Raises
    AssertionError if the name is already in the catalogue.
    """
    key = f"{entry.namespace}.{entry.name}" if entry.namespace else entry.name
    for call in (entry.call, entry.method):
        name_frames(call, entry.name)
    if _takes_numpy_names(entry):
        entry = replace(entry, call=numpy_names(entry.call))
        name_frames(entry.call, entry.name)
    assert key not in ENTRIES, f"op {key} is in the catalogue twice"
    if not entry.forms and not entry.prop:
        form = signature_text(key, entry.call, method=not entry.function)
        entry = replace(entry, forms=(form,))
    ENTRIES[key] = entry
    _NAMES.update((entry.name, *entry.aliases))
    return entry


def name_frames(call: object, name: str) -> None:
    """Sets the code name of a function that computes an op to the op's name. Tracebacks show it,
    and error messages find the op by it. A function of two ops keeps the name of the first."""
    if isinstance(call, FunctionType) and not is_op(call.__code__.co_name):
        call.__code__ = call.__code__.replace(co_name=name)


# The public classes of namespaces: (namespace, class).
CLASSES: list[tuple[str, type]] = []


def public_class(namespace: str) -> Callable[[C], C]:
    """Returns a decorator that adds a class to a namespace of ftensor under its own name."""

    def add(decorated: C) -> C:
        CLASSES.append((namespace, decorated))
        return decorated

    return add


def add_to_namespace(namespace: str, *names: str, **renamed: str) -> None:
    """Adds functions of the catalogue to `namespace` too, under their own `names`; `renamed` maps
    further names in the namespace to names in the catalogue."""
    for name, source in (dict(zip(names, names)) | renamed).items():
        register(Entry(name, ENTRIES[source].call, method=False, namespace=namespace))


def _serving(call: F, name: str, bare: str) -> F:
    """Returns `call` with a check of its first tensor: raises an error for float8 or complex32
    (`dtype.bare`) unless their group is in `bare`. Other modules call the function without the
    check."""

    def checked(*args: Any, **named: Any) -> Any:
        of = getattr(args[0] if args else named.get("input"), "_dtype", None)
        if of is not None and of.bare and of.bare not in bare:
            raise errors.not_implemented_for(name, of)
        return call(*args, **named)

    # The wrapper shows the function's own signature: it neither adds nor removes a keyword.
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
    """Returns a decorator that adds a Python function to the catalogue under its own name, or under
    `name`.

    With `inplace`, the function takes `out=`, and its `name_` form passes the tensor itself. Leave
    the signature out of the docstring: the decorator adds the function's signature, or `forms` if
    the op has several. `bare` are the groups of dtypes with few ops (`dtype.bare`) that the first
    tensor may have; set it if none of the rows that the function runs refuses the other groups.
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


# The module that adds a row of a program, by the row's name; "" if importing no module would add
# it.
ADDED_BY: dict[str, str] = {}


def note_module(rows: Sequence[Row]) -> None:
    """Records in `ADDED_BY` which module of a program adds `rows`. Call it from the function that
    the module calls.

    The module's body must be running, so that an import adds the rows again; "__main__" can't be
    imported.
    """
    at: FrameType | None = sys._getframe(2)
    assert at is not None
    module = str(at.f_globals.get("__name__", ""))
    if module.partition(".")[0] == __name__.partition(".")[0]:
        return
    while at is not None and not (at.f_code.co_name == "<module>" and at.f_globals.get("__name__") == module):
        at = at.f_back
    found = at is not None and module != "__main__" and is_module_name(module)
    ADDED_BY.update((row.name, module if found else "") for row in rows)


def is_module_name(name: str) -> bool:
    """True if an `import` statement could name this module."""
    return all(part.isidentifier() and not iskeyword(part) for part in name.split("."))


def is_op(name: str) -> bool:
    """True if `name` is the name of an op, also of its in-place form, or of a method that Python
    calls, such as `__bool__`."""
    if name[:2] == "__":
        return name in vars(Tensor)
    return name in _NAMES or (name[-1:] == "_" and name[:-1] in _NAMES)


def op_called() -> tuple[str, FrameType]:
    """Returns the name of the outermost op on the stack, and the frame of the user's code.

    Without an op on the stack, for example below a function of the torch device, returns the name
    of the outermost function of this package.
    """
    user = sys._getframe(levels_to_user() - 1)
    at, names = sys._getframe(1), []
    while at is not user and at.f_back is not None:
        # `jit` of one of ftensor's functions
        if not at.f_globals.get("__name__", "").startswith("ftensor.graph."):
            names.append(at.f_code.co_name)
        at = at.f_back
    names.reverse()
    return next(filter(is_op, names), names[0]), user


def name_called(inner: str) -> str:
    """Returns the name of the outermost op on the stack if `inner` is an op or a row; else `inner`.

    An error that an inner op raises thus names the op in the user's code.
    """
    last = inner.rpartition(".")[2]
    if not is_op(last):
        return inner
    name = op_called()[0]
    return name if is_op(name) and name != last else inner


message.name_called = name_called
