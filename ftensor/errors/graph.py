"""Messages about graphs, and about captured launches and their replay."""

from __future__ import annotations

from typing import Any

from .message import messages

__getattr__ = messages(__name__)


class GraphError(RuntimeError):
    """A function can't be traced into a graph, or a node fits no stage; the text names the node and
    the reason."""

    node: Any = None
    why = ""


def at_line(error: Exception, op: str, line: str) -> Exception:
    """An error of a kernel of a graph, with the op and the line of the user's program."""
    error.args = (f"{error}; found in {op} at {line}",)
    return error


def index(error: Exception, call: str, line: str) -> Exception:
    """Returns the error of an index, with the captured call and its line."""
    return type(error)(f"{error}; found in a replay of {call} at {line}")


# Loops with feedback (`ft.scan`)
_STEP = "a step of ft.scan computes each element from the same element of its state and inputs"
