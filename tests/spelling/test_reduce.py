"""Reductions in every form of call, against torch. tests/kernel tests their values."""

from __future__ import annotations

import math
from typing import Any

import pytest

import ftensor as ft

from ..oracle import agree, cases, ours, torch
from .reduce_cases import LINES


def names(lib: Any, take: Any) -> dict[str, Any]:
    """Returns the names in a case, made of one library's tensors."""
    x = torch.arange(6.0).reshape(2, 3)
    tensors = {
        "x": x,
        "i": x.long(),
        "u": x.to(torch.uint8),
        "b": x > 2,
        "c": torch.complex(x, x + 1),
        "h": x.half(),
        "n": torch.tensor(3.0),
        "two": torch.tensor(2.0),
        "e": torch.zeros(0),
        "z": torch.zeros(2, 0),
        "f": torch.arange(24.0).reshape(2, 3, 4),
        "g": torch.arange(120.0).reshape(2, 3, 4, 5),
        "low": torch.full((2,), -math.inf),
        "high": torch.full((2,), math.inf),
    }

    def new(shape: Any, dtype: str = "float32") -> Any:
        shape = (shape,) if isinstance(shape, int) else shape
        return take(torch.zeros(shape, dtype=getattr(torch, dtype)))

    return {k: take(t.clone()) for k, t in tensors.items()} | {"lib": lib, "new": new}


@pytest.mark.parametrize(("case", "computed"), cases(LINES))
def test_reductions_in_every_form(case: str, computed: bool) -> None:
    mine, theirs = names(ft, ours), names(torch, lambda t: t)
    both = agree(lambda: eval(case, dict(mine)), lambda: eval(case, dict(theirs)))
    assert both == computed
