"""Signature texts and call wrappers of ops, derived from the Python functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, update_wrapper, wraps
from inspect import (
    CO_VARARGS,
    CO_VARKEYWORDS,
    Parameter,
    Signature,
    cleandoc,
    formatannotation,
    isclass,
    isfunction,
    signature,
    unwrap,
)
from types import CodeType, FunctionType
from typing import Any, TypeVar, cast

from .. import errors
from .._tensor import Tensor
from ..dtypes import as_dtype

F = TypeVar("F", bound=Callable[..., Any])


class _Missing:
    """Type of `MISSING`: the default of an argument whose absence differs from every value."""

    def __repr__(self) -> str:
        return "..."


MISSING: Any = _Missing()


_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}


@cache
def numpy_names(call: F) -> F:
    """Returns a wrapper of `call` that also accepts NumPy's `axis`, `keepdims` and dtypes, as torch
    does."""
    if hasattr(call, "numpy_names"):
        return call
    name = call.__name__

    @wraps(call)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if not kwargs.keys().isdisjoint(_NUMPY_NAMES):
                kwargs = {_NUMPY_NAMES.get(k, k): v for k, v in kwargs.items()}
            if "dtype" in kwargs:
                kwargs["dtype"] = as_dtype(name, kwargs["dtype"])
        return call(*args, **kwargs)

    vars(renamed)["numpy_names"] = renamed  # `wraps` copies this to outer wrappers
    return renamed  # type: ignore[return-value]


def without_numpy_names(call: F) -> F:
    """Returns the function that `numpy_names` wrapped, for callers that use torch's argument
    names."""
    return call.__wrapped__ if vars(call).get("numpy_names") is call else call


@cache
def tensors_only(call: F, name: str, old: str = "") -> F:
    """Returns a wrapper of `call` that raises TypeError, as torch does, for an argument that should
    be a tensor.

    The wrapper checks the arguments only after an AttributeError, or a TypeError that names no
    function, so a valid call costs nothing. If `name` is an alias of the function `old`, messages
    that begin with `old` begin with `name`.
    """

    @wraps(call)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except AttributeError:
            wrong = _no_tensor(call, args, kwargs)
            if wrong is None:
                raise
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            if old and str(error).startswith(f"{old}("):
                error.args = (name + str(error)[len(old) :],)
            unnamed = isinstance(error, TypeError) and not _NAMES_A_FUNCTION.search(str(error))
            wrong = _no_tensor(call, args, kwargs) if unnamed else None
            if wrong is None:
                raise
        raise errors.not_a_tensor(name, *wrong)

    return run  # type: ignore[return-value]


_NAMES_A_FUNCTION = re.compile(r"\w\(\)(:| got | missing | takes )")
_TAKES_NUMBERS = re.compile(r"\b(bool|int|float|complex|Number|Any)\b")


def _no_tensor(call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns (parameter, value) of the first argument that should be a tensor and is not; else
    None."""
    types = unwrap(call).__annotations__
    numbers = []
    for name, value in signature(call).bind(*args, **kwargs).arguments.items():
        kind = str(types.get(name, ""))
        if "Tensor" not in kind:
            continue
        several = "[Tensor" in kind and isinstance(value, (list, tuple))
        for one in value if several else (value,):
            if type(one) is Tensor or (one is None and "None" in kind):
                continue
            if not isinstance(one, (bool, int, float, complex)):
                return name, one
            if not _TAKES_NUMBERS.search(kind):
                numbers.append((name, one))
    # Some ops compute with a number in place of a tensor, so a number is reported only if no other
    # argument is at fault.
    return numbers[0] if numbers else None


def signature_text(name: str, call: Callable[..., Any], method: bool = False, without: str = "") -> str:
    """Returns the signature text of a Python function, such as "sum(input, dim=None) -> Tensor".

    A `method` omits its first parameter. `without` names a parameter to omit, such as the `out`
    that an in-place form passes itself. Takes a tenth of the time of `inspect.signature`, because
    importing ftensor describes all ops.
    """
    if "__signature__" in vars(call):  # of a wrapper that adds parameters
        return _said_by(call.__signature__, name, method, without)  # type: ignore[attr-defined]
    function: Any = unwrap(call)
    code = function.__code__
    count, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames
    values = function.__defaults__ or ()
    defaults = dict(zip(names[count - len(values) : count], values))
    defaults |= function.__kwdefaults__ or {}

    def words(some: tuple[str, ...]) -> list[str]:
        return [f"{n}={defaults[n]!r}" if n in defaults else n for n in some if n != without]

    named = words(names[count:total])
    rest = [f"*{names[total]}"] if code.co_flags & CO_VARARGS else ["*"] if named else []
    if code.co_flags & CO_VARKEYWORDS:
        named.append(f"**{names[total + (code.co_flags & CO_VARARGS > 0)]}")
    inside = ", ".join([*words(names[method:count]), *rest, *named])
    returned = function.__annotations__.get("return", "Any")
    return f"{name}({inside})" + (f" -> {returned}" if returned != "Any" else "")


def signature_without(call: Callable[..., Any], name: str) -> Signature:
    """Returns the signature of a function without the parameter `name`."""
    full = signature(call)
    return full.replace(parameters=[p for p in full.parameters.values() if p.name != name])


def renamed(call: F, name: str, old: str) -> F:
    """Returns a copy of the function `old` under the name `name`, such as "special.expit".

    Help, tracebacks and messages about its arguments then show the name that the user called.
    """
    last = name.rpartition(".")[2]
    function: Any = call
    code = function.__code__.replace(co_name=last)
    copy = FunctionType(code, function.__globals__, last, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, call)
    copy.__name__, copy.__qualname__ = last, f"{call.__qualname__.rpartition('.')[0]}.{last}".lstrip(".")
    head, blank, text = (call.__doc__ or "").partition("\n\n")
    copy.__doc__ = f"{head.replace(f'{old}(', f'{name}(')}{blank}{text}\n\nAlias of `{old}`."
    return cast("F", copy)


def _said_by(signature: Signature, name: str, method: bool, without: str) -> str:
    """Returns the result of `signature_text` for a function that has a `__signature__`."""
    empty = Parameter.empty
    shown = [p.replace(annotation=empty) for p in signature.parameters.values() if p.name != without]
    returned = signature.return_annotation
    text = f"{name}{Signature(shown[method:])}"
    return text + (f" -> {returned}" if returned not in ("Any", Signature.empty) else "")


@cache
def _compiled(parameters: str, body: str, returns: str) -> CodeType:
    lines = "\n    ".join(body.splitlines())
    source = f"def _written({parameters}) -> {returns}:\n    {lines}\n"
    return compile(source, "<ftensor op>", "exec")  # types stay text, as in this module


def written(
    name: str, parameters: str, body: str, doc: str | None, returns: str = "Tensor", **scope: Any
) -> Callable[..., Any]:
    """Compiles and returns a function with the parameters `parameters` and the statements `body`.

    A call binds its arguments as fast as a call of an ordinary function. Functions with equal
    parameters, body and return type share the compiled code. `scope` becomes the function's
    globals, with `NAME` set to `name`; `scope["__name__"]` is the function's module.
    """
    scope["NAME"] = name
    exec(_compiled(parameters, body, returns), scope)
    function: Callable[..., Any] = scope.pop("_written")
    function.__code__ = function.__code__.replace(co_name=name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def named(name: str, doc: str | None, module: str | None = None) -> Callable[[F], F]:
    """Returns a decorator that gives a function its name and its docstring, and optionally its module."""

    def give(function: F) -> F:
        function.__name__ = function.__qualname__ = name
        function.__doc__ = doc
        if module is not None:
            function.__module__ = module
        return function

    return give


def declared(parameters: Iterable[Parameter]) -> str:
    """Returns the parameter list, with types and defaults, as in a definition."""
    words, keywords = [], False
    for p in parameters:
        if p.kind is Parameter.KEYWORD_ONLY and not keywords:
            words.append("*")
            keywords = True
        default = "" if p.default is p.empty else f" = {p.default!r}"
        kind = p.annotation if isinstance(p.annotation, str) else formatannotation(p.annotation)
        words.append(f"{p.name}: {kind}{default}")
    return ", ".join(words)


class Shown(str):
    """An annotation whose repr has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def show_types(call: Callable[..., Any]) -> None:
    """Makes `inspect.signature` and `help` show a function's types as in the source."""
    function: Any = unwrap(call)
    function.__annotations__ = {k: Shown(v) for k, v in function.__annotations__.items()}


def show_types_in(*owners: Any) -> None:
    """Calls `show_types` on all functions and public classes of modules."""
    for owner in owners:
        shown = set(dir(owner))
        for name, value in vars(owner).items():
            if isfunction(value):
                show_types(value)
            elif isclass(value) and not isclass(owner) and name in shown:
                show_types_in(value)


def describe(call: Callable[..., Any], forms: tuple[str, ...]) -> None:
    """Puts the call forms at the beginning of a function's docstring, one per line."""
    text = cleandoc(call.__doc__ or "")
    call.__doc__ = "\n".join([*forms, "", text]) if forms else text
    show_types(call)
