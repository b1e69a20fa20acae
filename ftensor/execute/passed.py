"""A Python number of a call that is traced: it knows whether anybody has looked at it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tensor import Tensor

if TYPE_CHECKING:
    from ..dtypes import dtype


class Passed:
    """Stands for an int, a float or a complex number among the arguments of a function.

    It is an instance of that type, and does what the number does; whatever has its value is noted
    (`read`). A tensor's op takes it as a number, unread: so it reaches launches as it is, and which
    dtypes an op wanted it to fit is noted (`fits`).
    """

    __slots__ = ("_fits", "_place", "_read", "_value")

    def __init__(self, value: Any, place: int) -> None:
        self._value, self._place = value, place
        self._read = False
        self._fits: list[tuple[str, dtype]] = []

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The number's: what `isinstance` asks for."""
        return type(self._value)

    def __getattr__(self, name: str) -> Any:
        return getattr(looked_at(self), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(looked_at(self), dtype)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return looked_at(self).__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return looked_at(self)

    def __deepcopy__(self, memo: Any) -> Any:
        return looked_at(self)


def looked_at(number: Passed) -> Any:
    """The number itself, which decides from now on what is traced."""
    number._read = True
    return number._value


def passed(x: Any) -> bool:
    """Whether it stands for a number."""
    return type(x) is Passed


def plain(x: Any) -> Any:
    """`x`, or the number that it stands for, which was looked at then."""
    return looked_at(x) if type(x) is Passed else x


def _of_one(of: Callable[..., Any]) -> Any:
    def method(self: Passed, *args: Any) -> Any:
        return of(looked_at(self), *[plain(x) for x in args])

    return method


def _of_two(of: Callable[..., Any], turned: bool) -> Any:
    """An operator: a tensor beside the number computes it, and is asked itself."""

    def method(self: Passed, other: Any, *more: Any) -> Any:
        if type(other) is Tensor:
            return NotImplemented
        mine, other = looked_at(self), plain(other)
        return of(other, mine) if turned else of(mine, other, *map(plain, more))

    return method


_ONE: dict[str, Callable[..., Any]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index,
    "hash": hash, "repr": repr, "str": str, "format": format, "round": round, "neg": operator.neg,
    "pos": operator.pos, "abs": abs, "invert": operator.invert, "trunc": math.trunc,
    "floor": math.floor, "ceil": math.ceil,
}  # fmt: skip
_TWO: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "divmod": divmod,
    "pow": pow,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
for _name, _of in _ONE.items():
    setattr(Passed, f"__{_name}__", _of_one(_of))
for _name, _of in _TWO.items():
    setattr(Passed, f"__{_name}__", _of_two(_of, False))
    setattr(Passed, f"__r{_name}__", _of_two(_of, True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Passed, f"__{_name}__", _of_two(getattr(operator, _name), False))
