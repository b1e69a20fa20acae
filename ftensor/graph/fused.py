"""Ops that are made of ops, as few kernels: `@fused` below `@op`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from .._tensor import Tensor
from ..errors.graph import GraphError
from ..execute.observe import recorder
from .jit import Jitted

P = ParamSpec("P")
R = TypeVar("R")


def fused(function: Callable[P, R]) -> Callable[P, R]:
    """An op that runs as a graph where kernels are compiled when they are needed.

    Its result, its errors and what it writes are those of `function`, which is called itself on
    boards, as a part of other graphs, and where it reads a value or its tensors are on several
    devices.
    """
    jitted: Jitted[P, R] = Jitted(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        tensors: list[Tensor] = []
        try:
            key = jitted.signature(tensors, args, kwargs)
        except TypeError:  # an argument that the op refuses in its own words
            return function(*args, **kwargs)
        backend = tensors[0]._storage.backend if tensors else None
        if backend is None or not backend.target.unaligned:
            return function(*args, **kwargs)
        if backend.executor is not None and recorder(backend) is not None:
            return function(*args, **kwargs)
        try:
            found = jitted.lowered(backend, key, tensors, args, kwargs)
        except GraphError:
            return function(*args, **kwargs)
        if found.written and any(tensors[k]._storage.readonly for k in found.written):
            return function(*args, **kwargs)
        return found(tensors)

    return call
