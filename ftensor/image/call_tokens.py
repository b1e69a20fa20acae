"""How a launch's arguments become those of an image's kernel: the manifest's tokens as code."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from ..errors import image as errors
from .manifest import KernelRecord, MemberRecord

_FLOAT, _DOUBLE, _LONG = struct.Struct("<fi"), struct.Struct("<d"), struct.Struct("<q")
_TOP = 1 << 63


def float_bits(value: float) -> int:
    """A float's 32 bits, as a long; beyond a float's range it is infinite, as in C."""
    try:
        packed = _FLOAT.pack(value, 0)
    except OverflowError:
        packed = _FLOAT.pack(math.copysign(math.inf, value), 0)
    bits: int = _LONG.unpack(packed)[0]
    return bits


def double_bits(value: float) -> int:
    """A double's 64 bits, as a long."""
    bits: int = _LONG.unpack(_DOUBLE.pack(value))[0]
    return bits


def signed(value: int) -> int:
    """An integer of at most 64 bits, as a long."""
    value = int(value)
    return value - (1 << 64) if value >= _TOP else value


SCOPE = {"float_bits": float_bits, "double_bits": double_bits, "signed": signed}
_CONVERSIONS = {"f": "float_bits", "d": "double_bits", "q": "signed"}
_INTEGERS = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"}
# What each conversion takes.
_TAKES = {"f": {"float"}, "d": {"double"}, "q": _INTEGERS}


def expressions(path: object, record: KernelRecord, member: MemberRecord, params: Sequence[str]) -> list[str]:
    """An expression for each argument of the kernel but the last two, over names a0, a1, ...

    ImageError where the manifest passes something else than the launch has.
    """
    tokens = member.call.split()
    wanted = [argument.what for argument in record.arguments[:-2]]
    texts = []
    for token, what in zip(tokens, wanted, strict=True):
        text = _expression(token, what, params)
        if text is None:
            raise errors.launch_differs(path, member.entry, member.call, len(params))
        texts.append(text)
    return texts


def _expression(token: str, what: str, params: Sequence[str]) -> str | None:
    """The expression of one token, or None if the launch has no such argument."""
    head, digits = (token[0], token[1:]) if token[0] in "@fdq=" else ("", token)
    number = digits[1:] if head == "=" and digits[:1] == "-" else digits
    if not (number.isascii() and number.isdecimal()) or len(number) > 19:
        return None
    if head == "=":
        return str(int(digits)) if what != "*" else None
    k = int(digits)
    if k >= len(params):
        return None
    of = params[k]
    if head in _CONVERSIONS:
        return f"{_CONVERSIONS[head]}(a{k})" if of in _TAKES[head] and what == "long" else None
    alike = of == what or (head == "" and of in _INTEGERS and what in _INTEGERS)
    return f"a{k}" if alike and (head == "" or of == "*") else None


def compiled(name: str, lines: Sequence[str], scope: dict[str, Any]) -> Any:
    """The function `launch` that the lines define."""
    exec(compile("\n".join(lines), f"<launch {name}>", "exec"), scope)
    # The function holds the scope; if the scope held the function, only the garbage collector
    # would free what both refer to, such as a driver's kernel.
    return scope.pop("launch")
