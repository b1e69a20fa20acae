"""Functions written as lines: names, signatures, conditions, headings (`rows/lines.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ftensor.rows.catalogue import ENTRIES
from ftensor.rows.lines import Functions

TEXT = """
# Numbers

# Returns twice $.
double twice:double(x: int, /, *, by: int = 2) -> int = multiplied("$", x, by)
half(x, even=True) = x // 2 if x % 2 == 0 and even
clamped(x, low=(0, 1)) =
    low[0] if x < low[0]
    else x
taken(double, abs=3) = (double, abs)
ops.absolute:abs() = ($, len, linalg.qr)

[numeric]
added(x: Tensor, y: Tensor | None, n: int, z: Tensor = 3) = x + n + z

[]
plain(x: Tensor) = x
"""


@pytest.fixture
def made(tmp_path: Path) -> dict[str, Callable[..., Any]]:
    path = tmp_path / "lines.txt"
    path.write_text(TEXT)
    calls: list[tuple[Any, ...]] = []
    scope = {"multiplied": lambda op, x, by: (op, x * by), "check": lambda *words: calls.append(words)}
    return dict(Functions(path, scope)) | {"calls": lambda: calls}


def test_names_share_a_signature(made: dict[str, Callable[..., Any]]) -> None:
    assert made["double"](3) == made["twice"](3, by=2) == ("double", 6)
    assert str(inspect.signature(made["twice"])) == "(x: 'int', /, *, by: 'int' = 2) -> 'int'"
    assert (made["twice"].__name__, made["twice"].__doc__) == ("twice", "Returns twice double.")
    assert made["half"].__doc__ is None and made["ops.absolute"].__name__ == "absolute"
    with pytest.raises(TypeError, match=r"half\(\) missing"):
        made["half"]()


def test_false_condition_returns_not_implemented(made: dict[str, Callable[..., Any]]) -> None:
    assert made["half"](4) == 2
    assert made["half"](3) is made["half"](4, even=False) is NotImplemented
    assert (made["clamped"](-1), made["clamped"](5)) == (0, 5)


def test_names_resolve_to_parameters_ops_builtins(made: dict[str, Callable[..., Any]]) -> None:
    assert made["taken"](1) == (1, 3)
    assert made["ops.absolute"]() == (ENTRIES["abs"].call, len, ENTRIES["linalg.qr"].call)


def test_heading_checks_tensors(made: dict[str, Callable[..., Any]]) -> None:
    assert made["added"](1, None, 2) == 6 and made["plain"](4) == 4
    assert made["calls"]() == [("added", "numeric", 1, 3)]


def test_invalid_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("half of x\n")
    with pytest.raises(AssertionError, match="half of x"):
        Functions(path, {})["half"]
