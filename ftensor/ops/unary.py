"""Rows of one input."""

from __future__ import annotations

from .bind import add_rows
from .op import Op, Promote

ROWS = [
    Op("exp", "exp(input, *, out=None) -> Tensor", "exp(a)", promote=Promote.INT_TO_FLOAT),
]
add_rows(ROWS)
