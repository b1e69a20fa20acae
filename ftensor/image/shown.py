"""What an image's file says of itself, as a terminal may show it."""

from __future__ import annotations

from .. import table


def shown(cell: object) -> object:
    """Text from a file must not steer the terminal."""
    if not isinstance(cell, str):
        return cell
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in cell)


def complain(message: str) -> int:
    """Print one line about what went wrong; the exit status."""
    line = " ".join(str(shown(message)).split())
    table.complain("ftensor", line)
    return 1
