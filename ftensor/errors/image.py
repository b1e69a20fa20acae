"""Messages about image files and users' own kernels."""

from __future__ import annotations

from .message import messages, names_called_op

__getattr__ = messages(__name__)


class ImageError(ValueError):
    """A file is not an image, or is damaged."""


@names_called_op
def in_text(function: str, argument: str, text: str, at: int, problem: str) -> ValueError:
    """Error for a place in the text of a kernel. The message shows the line and marks the place."""
    line = text.count("\n", 0, at) + 1
    begin = text.rfind("\n", 0, at) + 1
    shown = text[begin:].split("\n", 1)[0]
    column = at - begin
    first = max(0, column - 40)
    shown, mark = shown[first : first + 80], " " * (column - first) + "^"
    return ValueError(
        f"{function}(): {problem}, at line {line}, column {column + 1} of `{argument}`:\n    {shown}\n    {mark}"
    )
