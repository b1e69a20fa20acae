"""An argument that must be a tensor raises TypeError for anything else, and the message says so."""

from __future__ import annotations

import inspect
from functools import reduce
from typing import Any

import numpy as np
import pytest

import ftensor as ft
from ftensor.rows.catalogue import ENTRIES

NAMES = [n for n, e in ENTRIES.items() if e.function and not e.prop]
ARRAY = np.ones((2, 3, 4, 4), np.float32)


def value_of(kind: str) -> Any:
    """Returns an argument for a parameter kind."""
    if kind.startswith("Tensor"):
        return ft.ones(2, 3, 4, 4)
    if "[Tensor" in kind:
        return [ft.ones(2, 3, 4, 4)] * 2
    return 1.0 if "float" in kind or "Number" in kind else 1


def missing_attribute(name: str, wrong: Any) -> str:
    """Returns the text of the AttributeError of a function with one `wrong` tensor; "" if there is
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
def test_it_is_never_a_missing_attribute(wrong: Any) -> None:
    missing = [missing_attribute(name, wrong) for name in NAMES]
    assert not any(missing), "\n".join(filter(None, missing))


def test_the_message_names_the_argument() -> None:
    for call in (ft.conv2d, ft.nn.functional.conv2d):
        with pytest.raises(TypeError, match=r"conv2d\(\).*'weight'.*NoneType"):
            call(ft.ones(1, 1, 3, 3), None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"grid_sample\(\).*'input'.*from_numpy"):
        ft.nn.functional.grid_sample(ARRAY, ft.ones(2, 4, 4, 2))  # type: ignore[arg-type]
