"""Messages about vectors, matrices and their products."""

from __future__ import annotations

from collections.abc import Sequence

from .message import messages

__getattr__ = messages(__name__)


class LinAlgError(RuntimeError):
    """Matrices have no such factors or inverse: they are singular or not positive definite."""


def _batch_prefix(op: str, index: int | None) -> str:
    return f"{op}(): " if index is None else f"{op}(): (batch element {index}): "


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "0-d"
