"""Messages about inventories and building images."""

from __future__ import annotations

from collections.abc import Sequence

from .message import messages

__getattr__ = messages(__name__)


class BuildError(RuntimeError):
    """An image cannot be built as requested."""


def not_compiled(log: Sequence[str]) -> BuildError:
    """Error for a kernel that the device's compiler could not compile."""
    return BuildError("\n".join(["the compiler failed", *log]))


def _abbreviated_list(names: Sequence[str], limit: int = 12) -> str:
    suffix = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + suffix


class InventoryError(ValueError):
    """An inventory can't be read, or names something that does not exist."""


def wrong_value(location: str, name: str, value: object, expected: str) -> InventoryError:
    """Error for a setting of the wrong type or out of range."""
    # Python refuses to print ints of thousands of digits.
    huge = isinstance(value, int) and value.bit_length() > 256
    value_text = f"a number of {value.bit_length()} bits" if huge else repr(value)  # type: ignore[attr-defined]
    return InventoryError(f"{location}: {name} = {value_text}; it must be {expected}")


INSTALL = "ftensor headers --install"
