"""The standard's extension `fft`: torch's transforms with the arguments `axis` and `axes`, and the
standard's rules for real and complex input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from .dtypes import one_of

__all__: list[str] = []  # the lines of standard.txt


def _transform(name: str, op: Callable[..., Tensor], x: Tensor, size: Any, axes: Any, norm: str) -> Tensor:
    return op(x, size, axes, one_of(name, "norm", norm, "backward", "ortho", "forward"))


def __dir__() -> list[str]:
    return list(__all__)
