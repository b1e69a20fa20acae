"""Messages about inventories: the files that say what an image holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..table import guess
from .message import Message


class InventoryError(ValueError):
    """An inventory that can't be read, or that asks for what there is not."""


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)


def not_found(name: str, known: Sequence[str]) -> InventoryError:
    """No file of that name, nor an inventory that comes with ftensor."""
    return InventoryError(
        f"there is no inventory {name!r}: give a file, or one of those that come with ftensor "
        f"({_listed(known)}){guess(name, known)}"
    )


unreadable = Message(InventoryError, "{path}: {reason}")


def unknown_setting(where: str, name: str, known: Sequence[str]) -> InventoryError:
    """A key that no inventory has."""
    return InventoryError(
        f"{where}: there is no setting {name!r}{guess(name, known)} (the settings are {_listed(known)})"
    )


def wrong_value(where: str, name: str, value: object, wanted: str) -> InventoryError:
    """A setting of another type, or out of its range."""
    # Python writes no numbers of thousands of digits.
    huge = isinstance(value, int) and value.bit_length() > 256
    shown = f"a number of {value.bit_length()} bits" if huge else repr(value)  # type: ignore[attr-defined]
    return InventoryError(f"{where}: {name} = {shown}; it must be {wanted}")


missing = Message(InventoryError, "{where}: {name} is missing; for example: {example}")
nothing_to_write = Message(InventoryError, "--write needs --trace PROGRAM, whose kernels it writes")


def no_kernel_of(name: str, names: Iterable[str]) -> InventoryError:
    """An op that an image or an inventory does not serve."""
    return InventoryError(f"no kernel of {name!r}{guess(name, names)}")


def unknown_op(where: str, name: str, names: Iterable[str]) -> InventoryError:
    """No row of that name."""
    return InventoryError(
        f"{where}: there is no op {name!r} with a kernel{guess(name, names)} "
        "(ftensor kernels full lists them; for a row of yours, imports = [...] names its module)"
    )


not_imported = Message(InventoryError, "{where}: the module {name!r} can't be imported: {problem!k}: {problem}")


def unknown_category(where: str, name: str, names: Sequence[str]) -> InventoryError:
    """No category of rows of that name."""
    return InventoryError(f"{where}: there is no category {name!r} of ops; there are {_listed('@' + n for n in names)}")


def unknown_dtype(where: str, name: str, names: Sequence[str]) -> InventoryError:
    """No dtype of that name, alone or in a signature."""
    return InventoryError(
        f"{where}: there is no dtype {name!r}{guess(name, names)} (there are {_listed(names)}; "
        'kinds such as "@float"; signatures such as "bool(float32, number)")'
    )


def unknown_layout(where: str, name: str, names: Sequence[str]) -> InventoryError:
    """No layout of that name."""
    return InventoryError(
        f"{where}: there is no layout {name!r}{guess(name, names)} (there are {_listed(names)}, "
        'and layouts in full such as "map vvs")'
    )


serves_nothing = Message(InventoryError, "{where}: no kernel of {op!r} takes {dtypes!c} {why}")
too_many_units = Message(
    InventoryError,
    "{path}: {units} compute units, but an image holds at most {most}; let more ops share a "
    "kernel (the same name, no grouping), or give fewer units",
)
same_name = Message(
    InventoryError,
    "{where}: another table is called {name!r} and differs in structure, units, banks or "
    "grouping; tables of one name share their kernels",
)
too_deep = Message(
    InventoryError,
    "{where}: a FIFO between two kernels of the graph {name} needs {depth} beats, of which the "
    'streams of boards hold {most}: take structure = "dataflow", or export it for shorter rows',
)
unread_graph = Message(
    InventoryError, "{where}: the graph file {path} can't be read: {reason}; `jitted.export` writes one"
)
bad_graph = Message(
    InventoryError,
    "{where}: {path} is no graph file: {problem}; export the graph anew, as such a file is not written by hand",
)
changed_graph = Message(
    InventoryError, "{where}: {path} was changed: its SHA-256 is {digest}, not {wanted}; export the graph anew"
)
bad_name = Message(
    InventoryError,
    "{where}: {name!r} can't begin a kernel's name: letters, digits and underscores, a letter first, at most {longest}",
)
