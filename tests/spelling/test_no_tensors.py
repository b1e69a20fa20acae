"""An argument that must be a tensor raises TypeError for anything else, and the message says so."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor.rows.catalogue import ENTRIES, Entry

from ..oracle import lookup, outcome
from .test_names_in_errors import arguments

NAMES = [n for n, e in ENTRIES.items() if e.function and not e.prop]
ARRAY = np.ones((2, 3, 4, 4), np.float32)


def value_of(kind: str) -> Any:
    """Returns an argument for a kind of parameter."""
    if kind.startswith("Tensor"):
        return ft.ones(2, 3, 4, 4)
    if "[Tensor" in kind:
        return [ft.ones(2, 3, 4, 4)] * 2
    return 1.0 if "float" in kind or "Number" in kind else 1


def missing_attribute(name: str, wrong: Any) -> str:
    """Returns the text of a function's AttributeError with one `wrong` tensor; "" if there is
    none."""
    call = reduce(getattr, name.split("."), ft)  # type: ignore[arg-type]
    types = inspect.unwrap(call).__annotations__
    needed = {
        p.name: str(types.get(p.name, ""))
        for p in inspect.signature(call).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    for place in [n for n, kind in needed.items() if "Tensor" in kind]:
        arguments = {n: value_of(k) for n, k in needed.items()}
        arguments[place] = [wrong] * 2 if isinstance(arguments[place], list) else wrong
        try:
            call(**arguments)
        except AttributeError as error:
            return f"{name}, {place}: {error}"
        except (TypeError, ValueError, RuntimeError, IndexError, AssertionError):
            continue
    return ""


@pytest.mark.parametrize("wrong", [None, ARRAY], ids=["None", "array"])
def test_wrong_tensor_is_never_an_attribute_error(wrong: Any) -> None:
    missing = [missing_attribute(name, wrong) for name in NAMES]
    assert not any(missing), "\n".join(filter(None, missing))


WRONG = ("text", 3, [1, 2], {"a": 1})
INTERNAL = (AttributeError, KeyError, NameError, ZeroDivisionError)
# The name in an error, as "cat()" or "cat: ".
NAMED = re.compile(r"^[\w.]+(\(\)|:)")
# torch asserts these shapes before it checks the types.
ASSERTS = {"nn.functional.multi_head_attention_forward"}


def errors_of(call: Any, entry: Entry, first: int) -> Iterator[tuple[str, Exception]]:
    """Yields (parameter, error) for each wrong value of each parameter that takes tensors, from
    number `first` on."""
    parameters = list(inspect.signature(entry.call).parameters.values())
    needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    values = arguments(entry, lambda k: ft.zeros(0, 3))
    for p in parameters[first:]:
        if "Tensor" not in str(p.annotation) or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        for wrong in WRONG:
            given, named = list(values), {}
            if p in needed:
                given[needed.index(p)] = wrong
            else:
                named[p.name] = wrong
            error = outcome(partial(call, *given, **named))
            if isinstance(error, Exception):
                yield p.name, error


@pytest.mark.filterwarnings("ignore")
def test_wrong_tensors_raise_errors_of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks functions, and methods with further tensors, also with the numbers that some ops
    accept for a tensor. No error comes from an internal function, and a TypeError names the called
    one."""
    monkeypatch.setenv("FTENSOR_FUSE", "0")  # composed ops raise without a trace, which takes longer
    wrong, seen = [], 0
    for key, entry in ENTRIES.items():
        if entry.prop:
            continue
        forms = [(lookup(ft, key), 0)] if entry.function else []
        if not entry.namespace:
            methods = (getattr(ft.Tensor, entry.name + end, None) for end in ("", "_"))
            forms += [(method, 1) for method in methods if method is not None]
        for call, first in forms:
            for parameter, error in errors_of(call, entry, first):
                seen += 1
                internal = isinstance(error, (*INTERNAL, AssertionError) if key not in ASSERTS else INTERNAL)
                if internal or (isinstance(error, TypeError) and not NAMED.match(str(error))):
                    wrong.append(f"{key}, {parameter}: {error!r}")
    assert wrong == []
    assert seen > 2000


def test_message_names_the_argument() -> None:
    for call in (ft.conv2d, ft.nn.functional.conv2d):
        with pytest.raises(TypeError, match=r"conv2d\(\).*'weight'.*NoneType"):
            call(ft.ones(1, 1, 3, 3), None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"grid_sample\(\).*'input'.*from_numpy"):
        ft.nn.functional.grid_sample(ARRAY, ft.ones(2, 4, 4, 2))  # type: ignore[arg-type]
