"""Ops that are made of other ops: their functions, and `out=` and in-place forms around them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from ..execute.copy import into
from ..rows.catalogue import op
from ..rows.spelling import Shown, show_types

F = TypeVar("F", bound=Callable[..., Any])
Check = Callable[[str, Any], None]


def deliver(name: str, result: Any, out: Any, exact: bool = False, fixed: bool = False) -> Any:
    """Results brought into `out`: a tensor, or a tuple of as many as there are results.

    RuntimeError for an `out` of another device, one whose elements share memory, and one whose
    dtype cannot hold the result (`exact`: is not the result's) or whose shape, where that is
    `fixed`, is another.
    """
    if not isinstance(result, tuple):
        return into(name, out, result, not exact, fixed)
    outputs = [into(name, to, one, not exact, fixed) for one, to in zip(result, out)]
    return type(result)(outputs) if hasattr(result, "_fields") else tuple(outputs)


def with_out(name: str, call: F, exact: bool = False, check: Check | None = None) -> F:
    """`call` with `out=`, which takes its finished result; `check` may refuse it before."""

    @wraps(call)
    def run(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is not None and check is not None:
            check(name, out)
        result = call(*args, **kwargs)
        if out is None:
            return result
        return deliver(name, result, out, exact, fixed=bool(args) and out is args[0])

    show_types(call)
    plain = signature(call)
    several = str(plain.return_annotation) != "Tensor"
    kind = Shown("tuple[Tensor, ...] | None" if several else "Tensor | None")
    extra = Parameter("out", Parameter.KEYWORD_ONLY, default=None, annotation=kind)
    listed = [*plain.parameters.values(), extra]
    run.__signature__ = plain.replace(parameters=listed)  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


def composed(*, exact: bool = False, check: Check | None = None, **spelling: Any) -> Callable[[F], F]:
    """`@op()` for a function made of other ops, written without `out`: this adds it.

    `exact`: an `out` must have the result's dtype, where torch asks for that; else one that can
    hold it will do. `check(name, out)` may refuse one besides. In place (`inplace=True`), the
    tensor takes the result as an `out` does.
    """

    def add(call: F) -> F:
        name = spelling.get("name") or call.__name__
        full = ".".join(filter(None, (spelling.get("namespace"), name)))
        return op(**spelling)(with_out(full, call, exact, check))

    return add
