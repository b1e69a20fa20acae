"""Messages of `ftensor warm`."""

from __future__ import annotations

from collections.abc import Iterable

from ..table import guess
from .message import Message


class WarmError(ValueError):
    """What was asked for can't be compiled."""


nothing_asked = Message(WarmError, "say what to compile: --ops add,sum or --all or a program")


def no_such_op(name: str, names: Iterable[str]) -> WarmError:
    """A name that is neither a function nor a method."""
    meant = guess(name, names) or "; names are ftensor's, as in --ops add,sum,matmul"
    return WarmError(f"there is no op {name!r}{meant}")


def no_such_dtype(name: str, names: Iterable[str]) -> WarmError:
    """A name that is no dtype's."""
    known = list(names)
    return WarmError(f"there is no dtype {name!r}; there are {', '.join(known)}{guess(name, known)}")


takes_images = Message(WarmError, "{device} takes its kernels from images: `ftensor build` makes one")
