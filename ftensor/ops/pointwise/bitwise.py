"""Bits of integers and bools: and, or, xor, shifts."""

from __future__ import annotations

from ...rows.op import Op
from ..bind import add_rows


def _bits(name: str, sign: str, doc: str) -> Op:
    return Op(
        f"bitwise_{name}",
        f"bitwise_{name}(input, other, *, out=None) -> Tensor",
        "",
        doc=doc,
        int_=f"a {sign} b",
        operators=(f"__{name}__", f"__r{name}__", f"__i{name}__"),
        bare="u",
    )


def _shift(direction: str, operator: str, doc: str) -> Op:
    name = f"bitwise_{direction}_shift"
    word = f"{operator}shift__"
    return Op(
        name,
        f"{name}(input, other, *, out=None) -> Tensor",
        "",
        doc=doc,
        int_=f"ftb_shift_{direction}(a, b)",
        bool_="",
        operators=(f"__{word}", f"__r{word}", f"__i{word}"),
    )


ROWS = [
    _bits("and", "&", "The bits set in both."),
    _bits("or", "|", "The bits set in one or both."),
    _bits("xor", "^", "The bits set in just one."),
    _shift("left", "l", "`input` shifted left by `other` bits; 0 for a negative or too large number."),
    _shift(
        "right",
        "r",
        "`input` shifted right by `other` bits, keeping its sign; 0 (or -1) for a negative or too large number.",
    ),
]
add_rows(ROWS, __name__)
