"""Messages about figures."""

from __future__ import annotations

from .message import Message


class PictureError(RuntimeError):
    """A figure that cannot be drawn as asked."""


no_matplotlib = Message(
    PictureError,
    'figures are drawn by matplotlib, which cannot be imported ({error}): pip install ".[plot]" in '
    "the checkout's folder, or pip install matplotlib",
)
no_format = Message(PictureError, "{path}: the ending says the format, one of {known}")
not_written = Message(PictureError, "{path} cannot be written: {problem}")
