"""Messages about pointwise ops, reductions, scans, sorting and integrals."""

from __future__ import annotations

from .message import messages

__getattr__ = messages(__name__)
