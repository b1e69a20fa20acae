"""Index and shape-making ops against torch: layout, dtype, values, exception classes."""

from __future__ import annotations

from typing import Any

import pytest

import ftensor as ft

from ..oracle import agree, cases, ours, torch
from .shape_cases import INDEX, SHAPE


def names(lib: Any, take: Any) -> dict[str, Any]:
    """Returns the names in a case, made of one library's tensors."""
    torch.manual_seed(0)
    t = torch.arange(12.0).reshape(3, 4)
    x4 = torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    return {"lib": lib, "t": take(t), "x4": take(x4), "i": lambda *a: lib.tensor(a)}


@pytest.mark.parametrize(("case", "computed"), cases(INDEX) + cases(SHAPE))
def test_shape_ops_agree_with_torch(case: str, computed: bool) -> None:
    mine, theirs = names(ft, ours), names(torch, lambda t: t)
    both = agree(lambda: eval(case, mine), lambda: eval(case, theirs), exact=True)
    assert both == computed
