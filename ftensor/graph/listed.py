"""Ops on lists of tensors, which compute the same for each of their places: `@listed`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from .fused import fused
from .series import MOST_ALIKE

P = ParamSpec("P")


def listed(function: Callable[P, None]) -> Callable[P, None]:
    """An op on lists of tensors, as long as the first or empty, that writes to them: graphs of as
    many places as one kernel sees to, where kernels are compiled when they are needed.

    What `function` computes in one place must not depend on another, as it is called for parts of
    the lists.
    """
    op: Callable[..., None] = fused(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        given: Any = args
        for k in range(0, len(given[0]), MOST_ALIKE):
            op(*[x[k : k + MOST_ALIKE] if type(x) is list else x for x in given], **kwargs)

    return call
