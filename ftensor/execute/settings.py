"""Settings that change what prepared launches would compute."""

from __future__ import annotations

from .. import dtypes
from ..runtime.lifetime import opened


def set_default_dtype(d: dtypes.dtype) -> None:
    """The dtype of floating point tensors made of Python numbers, and of int-to-float results."""
    dtypes.set_default_dtype(d)
    for backend in opened():
        backend.forget_launches()
