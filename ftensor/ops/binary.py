"""Rows of two inputs: arithmetic, bits, shifts."""

from __future__ import annotations

from .bind import add_rows
from .op import Op, Promote

ROWS = [
    Op(
        "mul", "mul(input, other, *, out=None) -> Tensor", "a * b",
        doc="The product.",
        bool_="a & b", complex_="ft_cmul(a, b)",
        operators=("__mul__", "__rmul__", "__imul__"), aliases=("multiply",),
    ),
    Op(
        "add", "add(input, other, *, alpha=1, out=None) -> Tensor", "a + b * alpha",
        doc="The sum of `input` and `alpha` times `other`.",
        bool_="a | (b & alpha)", complex_="ft_cadd(a, ft_cmul(b, alpha))",
        params=("alpha",), operators=("__add__", "__radd__", "__iadd__"),
    ),
    Op(
        "true_divide", "true_divide(input, other, *, out=None) -> Tensor", "a / b",
        promote=Promote.INT_TO_FLOAT, operators=("__truediv__", "__rtruediv__", "__itruediv__"),
    ),
    Op("lt", "lt(input, other, *, out=None) -> Tensor", "a < b", promote=Promote.ALWAYS_BOOL, operators=("__lt__",)),
]  # fmt: skip
add_rows(ROWS)
