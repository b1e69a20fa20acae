"""Messages about Fourier transforms, windows and filters."""

from __future__ import annotations

from .message import messages

__getattr__ = messages(__name__)
