"""Which value has a function traced again and again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._tensor import Tensor
from ..execute.passed import Passed

MANY_TRACES = 8
_MOST = 64  # of so many traces it is known how they were called


class Traces:
    """The calls with which a function was traced, by their arguments' parts."""

    def __init__(self) -> None:
        self._met: list[dict[str, Any]] = []
        self._warned = False

    def many(self, arguments: Mapping[str, Any]) -> str | None:
        """The number or string among these arguments in which alone many traces differ, once there
        are as many; said once."""
        one = {part: of for name, x in arguments.items() for part, of in _parts(name, x)}
        self._met = [*self._met[1 - _MOST :], one]
        for name, value in one.items():
            if self._warned or value[0] not in (int, float, complex, str):
                continue
            others = one | {name: None}
            values = {met[name] for met in self._met if name in met and met | {name: None} == others}
            if len(values) >= MANY_TRACES:
                self._warned = True
                return name
        return None


def _parts(name: str, x: Any) -> Iterator[tuple[str, tuple[type, Any]]]:
    """What an argument consists of, by what a program would call it."""
    if isinstance(x, Tensor):
        yield name, (Tensor, x._key)
    elif isinstance(x, (tuple, list)):
        for k, part in enumerate(x):
            yield from _parts(f"{name}[{k}]", part)
    elif isinstance(x, dict):
        for key, part in x.items():
            yield from _parts(f"{name}[{key!r}]", part)
    elif type(x) is Passed and not x._read:
        yield name, (Passed, "")  # an argument of the graph
    else:
        yield name, (x.__class__, repr(x))
