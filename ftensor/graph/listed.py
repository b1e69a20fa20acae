"""Ops on lists of tensors, which compute the same for each of their places: `@listed`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from .._tensor import Tensor
from .fused import fused
from .series import MOST_ALIKE

P = ParamSpec("P")
R = TypeVar("R", None, list[Tensor] | None)


def listed(function: Callable[P, R]) -> Callable[P, R]:
    """An op on lists of tensors, as long as the first or empty, that writes to them or gives a
    list: graphs of as many places as one kernel sees to, where kernels are compiled when they are
    needed.

    What `function` computes in one place must not depend on another, as it is called for parts of
    the lists.
    """
    op: Callable[..., Any] = fused(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        lists: Any = args
        results: list[Tensor] = []
        for k in range(0, len(lists[0]), MOST_ALIKE):
            part = op(*[x[k : k + MOST_ALIKE] if type(x) is list else x for x in lists], **kwargs)
            results += part or ()
        return results or None

    return call
