"""Registers users' kernels for ops of torch.library on device tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.library import Library

from .._tensor import Tensor
from ..own import register
from . import memory as m

# Libraries by namespace; a registration lives as long as its library.
_libraries: dict[str, Library] = {}


def bind(name: str, function: Callable[..., Any]) -> None:
    """Registers a function on ftensor tensors as the device's kernel of an op."""
    space, _, op = name.partition("::")
    library = _libraries.setdefault(space, Library(space, "FRAGMENT"))

    @wraps(function)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        operands = [_lifted(a) for a in args]
        keywords = {word: _lifted(a) for word, a in kwargs.items()}
        return _wrapped(function(*operands, **keywords), [*operands, *keywords.values()])

    library.impl(op, kernel, "PrivateUse1")


def _lifted(a: Any) -> Any:
    if isinstance(a, (list, tuple)):
        return type(a)(map(_lifted, a))
    return m.lift(a) if isinstance(a, torch.Tensor) else a


def _wrapped(result: Any, operands: list[Any]) -> Any:
    """Converts ftensor results to torch tensors that share no memory with the operands."""
    if isinstance(result, (list, tuple)):
        return type(result)(_wrapped(item, operands) for item in result)
    return m.wrap(m.unaliased(result, *operands)) if type(result) is Tensor else result


def install() -> None:
    """Binds the kernels that were registered before this import, and all later ones."""
    for name, function in register.for_torch.items():
        bind(name, function)
    register.take.append(bind)
