"""Messages about views, shapes and indices."""

from __future__ import annotations

from .message import messages

__getattr__ = messages(__name__)


class NoImaginaryPartError(RuntimeError, AttributeError):
    """torch's error for `imag` of real numbers. It is an AttributeError too, so that `hasattr` is
    False."""


class BackwardsError(ValueError):
    """A slice has a negative step where the result must be a view."""
