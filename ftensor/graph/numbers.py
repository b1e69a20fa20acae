"""Python numbers of a call that are arguments of its graph: those that nobody looked at.

A function is traced with a `Passed` in the place of each number. What reaches launches as it is,
and had its value asked by nobody, may be another number at another call; the rest is part of the
graph's signature. So a graph is found by the signature of the call that made it, with the numbers
as they were, and by that without the free numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dtypes import dtype
from ..execute.numbers import check_fits, values_of
from ..execute.passed import Passed
from ..iterator.shape import Ints
from .node import FreeNumber, Graph
from .signature import number_at, number_places

if TYPE_CHECKING:
    from ..runtime.launch_table import LaunchTable
    from .lowered import Lowered

_FAMILY, _FREE = object(), object()
_NUMBERS = {int, float, complex}


class Free(NamedTuple):
    """The free numbers of a graph: their places in a signature, and what they must fit: (place, op,
    dtype); without an op they are rounded to that."""

    places: Ints
    fits: tuple[tuple[int, str, dtype], ...]

    def serve(self, signature: Sequence[Any], numbers: Sequence[tuple[int, dtype | None, Ints]]) -> bool:
        """Whether a call's numbers fit where they go; one that doesn't is the function's error."""
        try:
            for place, op, of in self.fits:
                number = number_at(signature, place)
                check_fits(op, number, of) if op else values_of(number, of)
            for place, to, _ in numbers:
                if to is not None:
                    values_of(number_at(signature, place), to)
        except (ArithmeticError, ValueError, RuntimeError):
            return False
        return True


class Passing:
    """The arguments of a call with a Passed for each number in them: in tuples, lists and dicts,
    which are others then. A slice's numbers, and those in containers of other types, are not."""

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any], key: Sequence[Any]) -> None:
        self.numbers: list[Passed] = []
        self._places = iter(number_places(key))
        self._containers: list[tuple[Any, list[Any]]] = []  # that can change, with their parts
        self.args = tuple([self._with(x) for x in args])
        self.kwargs = {name: self._with(x) for name, x in kwargs.items()}
        self._held = self._references()

    def _with(self, x: Any, plain: bool = False) -> Any:
        kind = type(x)
        if kind in _NUMBERS:
            place = next(self._places)
            if plain:
                return x
            self.numbers.append(Passed(x, place))
            return self.numbers[-1]
        if isinstance(x, (tuple, list)):
            named = kind.__base__ is tuple and hasattr(kind, "_make")
            plain = plain or not (kind is tuple or kind is list or named)
            parts = [self._with(part, plain) for part in x]
            if all(a is b for a, b in zip(parts, x)):
                return x
            return self._kept(kind._make(parts) if named else kind(parts))
        if isinstance(x, dict):
            of = {k: self._with(part, plain or kind is not dict) for k, part in x.items()}
            if all(of[k] is part for k, part in x.items()):
                return x
            return self._kept(of)
        if kind is slice:
            for part in (x.start, x.stop, x.step):
                self._with(part, True)
        return x

    def _kept(self, container: Any) -> Any:
        if not isinstance(container, tuple):
            self._containers.append((container, _parts(container)))
        return container

    def _references(self) -> list[int]:
        return [sys.getrefcount(number) for number in self.numbers]

    @property
    def gone(self) -> bool:
        """Whether, after the trace, nobody holds the numbers, and containers are as they were."""
        same = all(_same(_parts(container), parts) for container, parts in self._containers)
        return same and self._references() == self._held

    def freed(self, graph: Graph) -> Graph:
        """The graph with the numbers that were looked at, and a FreeNumber for each other."""
        nodes = []
        for node in graph.nodes:
            if any(type(x) is Passed for x in node.numbers):
                node = replace(node, numbers=tuple([_settled(x) for x in node.numbers]))
            nodes.append(node)
        return replace(graph, nodes=tuple(nodes))

    @property
    def free(self) -> Free | None:
        """The numbers that nobody looked at, if there are any."""
        left = [number for number in self.numbers if not number._read]
        fits = [(n._place, op, of) for n in left for op, of in n._fits]
        return Free(tuple([n._place for n in left]), tuple(dict.fromkeys(fits))) if left else None


def _parts(container: Any) -> list[Any]:
    return [x for pair in container.items() for x in pair] if type(container) is dict else list(container)


def _same(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def _settled(x: Any) -> Any:
    if type(x) is not Passed:
        return x
    return x._value if x._read else FreeNumber(x._place, x._value)


def keep(launches: LaunchTable, signature: tuple[Any, ...], graph: Lowered) -> Lowered:
    """Keep a graph under the signature of the call that made it, and where others find it."""
    kept = launches.keep(signature, graph)
    if kept is graph and graph.free is not None:
        launches.keep(_without(signature, graph.free.places), graph)
        family = _without(signature, number_places(signature), _FAMILY)
        launches.keep(family, _Family()).frees[graph.free.places] = None
    return kept


def known(launches: LaunchTable, signature: tuple[Any, ...]) -> Lowered | None:
    """The graph of a call that differs from an earlier one in free numbers, ready to be told
    them."""
    places = number_places(signature)
    if not places:
        return None
    family: _Family | None = launches.find(_without(signature, places, _FAMILY))
    for free in () if family is None else tuple(family.frees):
        graph: Lowered | None = launches.find(_without(signature, free))
        if graph is not None and not graph.dead and graph.serves(signature):
            return graph.renumbered()
    return None


class _Family:
    """Which numbers are free in the graphs of calls that differ in numbers alone."""

    kept_bytes = 1 << 10

    def __init__(self) -> None:
        self.frees: dict[Ints, None] = {}


def _without(signature: tuple[Any, ...], places: Sequence[int], of: object = _FREE) -> tuple[Any, ...]:
    key = list(signature)
    for k in places:
        key[k] = None
    key.append(of)
    return tuple(key)
