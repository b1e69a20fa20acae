"""Bits of integers and bools: and, or, xor, shifts."""

from __future__ import annotations

from ...rows.op import Op
from ..bind import add_rows


def _bits(name: str, sign: str, doc: str) -> Op:
    return Op(
        f"bitwise_{name}",
        "input, other",
        "",
        doc=doc,
        int_=f"a {sign} b",
        operators=(f"__{name}__", f"__r{name}__", f"__i{name}__"),
    )


def _shift(direction: str, operator: str, doc: str) -> Op:
    name = f"bitwise_{direction}_shift"
    word = f"{operator}shift__"
    return Op(
        name,
        "input, other",
        "",
        doc=doc,
        int_=f"ftb_shift_{direction}(a, b)",
        bool_="",
        operators=(f"__{word}", f"__r{word}", f"__i{word}"),
    )


ROWS = [
    _bits("and", "&", "Returns the bitwise and."),
    _bits("or", "|", "Returns the bitwise or."),
    _bits("xor", "^", "Returns the bitwise exclusive or."),
    _shift("left", "l", "Returns `input` shifted left by `other` bits; 0 for a negative or too large number."),
    _shift(
        "right",
        "r",
        "Returns `input` shifted right by `other` bits, with its sign; 0 or -1 for a negative or too large number.",
    ),
]
add_rows(ROWS, __name__)
