"""Users' own kernels for ops of torch.library, on tensors of the device."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.library import Library

from .._tensor import Tensor
from ..own import register
from . import memory as m

# By namespace; what they register lives as long as they do.
_libraries: dict[str, Library] = {}


def bind(name: str, function: Callable[..., Any]) -> None:
    """Let a function on ftensor's tensors compute an op on the device."""
    space, _, op = name.partition("::")
    library = _libraries.setdefault(space, Library(space, "FRAGMENT"))

    @wraps(function)
    def kernel(*args: Any, **kwargs: Any) -> Any:
        operands = [_lifted(a) for a in args]
        named = {word: _lifted(a) for word, a in kwargs.items()}
        return _wrapped(function(*operands, **named), [*operands, *named.values()])

    library.impl(op, kernel, "PrivateUse1")


def _lifted(a: Any) -> Any:
    """An argument with ftensor's tensors in the place of torch's."""
    if isinstance(a, (list, tuple)):
        return type(a)(map(_lifted, a))
    return m.lift(a) if isinstance(a, torch.Tensor) else a


def _wrapped(result: Any, operands: list[Any]) -> Any:
    """Results as torch's tensors, which share no memory with the arguments."""
    if isinstance(result, (list, tuple)):
        return type(result)(_wrapped(part, operands) for part in result)
    return m.wrap(m.fresh(result, *operands)) if type(result) is Tensor else result


def install() -> None:
    """Take what was registered before torch was imported, and what will be."""
    for name, function in register.for_torch.items():
        bind(name, function)
    register.take.append(bind)
