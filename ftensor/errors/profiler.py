"""Messages about profiles."""

from __future__ import annotations

from collections.abc import Sequence

from ..table import guess
from .message import Message

entered_twice = Message(RuntimeError, "this profile was taken before; make another one: profile()")
not_done = Message(RuntimeError, "this profile has no end yet: leave its `with` block first")


def no_order(sort_by: object, known: Sequence[str]) -> ValueError:
    """A column to sort by that a table does not have."""
    return ValueError(f"sort_by={sort_by!r} is none of {_listed(sort_by, known)}")


def no_group(group_by: object, known: Sequence[str]) -> ValueError:
    """What launches cannot be put together by."""
    return ValueError(f"group_by={group_by!r} is none of {_listed(group_by, known)}")


def _listed(value: object, known: Sequence[str]) -> str:
    return ", ".join(known) + guess(str(value), known)
