"""Signatures by code that is written for the types of a call's arguments: what `signature` says of
them, in half the time.

In the code, a0, a1, ... are the arguments, s0, s1, ... the storages of those that are tensors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .._tensor import Tensor
from ..dtypes import get_default_dtype
from ..execute.index_check import get_index_check
from .signature import ALONE, INT, KEYWORDS, MARKS, NUMBERS

Kinds = tuple[type | str, ...]
# (the tensors, the signature) of a call of the op with a mark, with these arguments; None where `signature` has to
# look: at tensors that share memory or are on several devices, and at tuples of what is no int.
Teller = Callable[[Any, Sequence[Any]], tuple[list[Tensor], tuple[Any, ...]] | None]

_MOST_TENSORS = 4  # whose memories are compared in pairs
_MOST_KINDS = 1 << 10


def kinds_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Kinds:
    """The types of a call's arguments: of those by place, the others' names, and their types."""
    if kwargs:
        return (*map(type, args), *kwargs, *map(type, kwargs.values()))
    return tuple(map(type, args))


class Tellers(dict[Kinds, Teller]):
    """By the types of all arguments, the function for them."""

    def __missing__(self, kinds: Kinds) -> Teller:
        names = [k for k in kinds if type(k) is str]
        placed = len(kinds) - 2 * len(names)
        teller = _written([*kinds[:placed], *kinds[placed + len(names) :]], placed, names)
        if len(self) < _MOST_KINDS:
            self[kinds] = teller
        return teller


tellers = Tellers()


def _unknown(mark: Any, args: Sequence[Any]) -> None:
    """Leaves all to `signature`."""


def _ints(sizes: tuple[Any, ...]) -> list[Any] | None:
    """What `signature` says of a tuple of ints; None of another."""
    said: list[Any] = [tuple, len(sizes)]
    for n in sizes:
        if type(n) is not int:
            return None
        said += (INT, n)
    return said


def _written(kinds: Sequence[Any], placed: int, names: Sequence[str]) -> Teller:
    """The function for arguments of these types, the first `placed` by their place."""
    tensors = [k for k, kind in enumerate(kinds) if kind is Tensor]
    sizes = [k for k, kind in enumerate(kinds) if kind is tuple]
    simple = {Tensor, tuple, *MARKS, *ALONE, *NUMBERS}
    if not 0 < len(tensors) <= _MOST_TENSORS or not simple.issuperset(kinds):
        return _unknown
    scope: dict[str, Any] = {"default": get_default_dtype, "mode": get_index_check, "ints": _ints}
    parts = ["mark"]
    for k, kind in enumerate(kinds):
        if k >= placed:
            scope |= {"KEYWORDS": KEYWORDS, f"n{k}": names[k - placed]}
            parts += [*(["KEYWORDS"] if k == placed else []), f"n{k}"]
        if kind is Tensor:
            parts.append(f"a{k}._key")
            continue
        if kind is tuple:
            parts.append(f"*i{k}")
            continue
        if kind not in ALONE:
            scope[f"k{k}"] = MARKS.get(kind, kind)
            parts.append(f"k{k}")
        expression = {float: "a if a and a == a else str(a)", complex: "repr(a)"}.get(kind, "a")
        parts.append(re.sub(r"\ba\b", f"a{k}", expression))
    apart = [f"s{j} is s{k}" for i, j in enumerate(tensors) for k in tensors[i + 1 :]]
    apart += [f"s{k}.device is not s{tensors[0]}.device" for k in tensors[1:]]
    tensor_names = ", ".join([f"a{k}" for k in tensors])
    lines = [
        f"{''.join([f'a{k}, ' for k in range(len(kinds))])}= args",
        *[f"if (i{k} := ints(a{k})) is None: return None" for k in sizes],
        *[f"s{k} = a{k}._storage" for k in tensors if apart],
        *([f"if {' or '.join(apart)}: return None"] if apart else []),
        f"return [{tensor_names}], ({', '.join(parts)}, default(), mode())",
    ]
    text = "\n    ".join(["def tell(mark, args):", *lines])
    exec(compile(text, "<ftensor signature>", "exec"), scope)
    teller: Teller = scope["tell"]
    return teller
