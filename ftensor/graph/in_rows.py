"""Loops over rows and along one: each is (which of a node's loops, its size, how many of its steps
is one)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .point import Place, Point


def in_order(point: Point, which: Sequence[int]) -> list[Any]:
    """Loops from the outermost, by their steps in what is folded."""
    steps = point.ins[0].strides
    order = sorted(which, key=lambda k: -abs(steps[k]))
    return [(k, point.loops[k].size, 1) for k in order]


def split(each: Sequence[Any], length: int) -> tuple[list[Any], list[Any]] | None:
    """(loops over rows, loops along one): (which, size, how many of its steps is one)."""
    row: list[Any] = []
    left, rest = list(each), length
    while rest > 1 and left:
        k, size, by = left.pop()
        if rest % size == 0:
            row.insert(0, (k, size, by))
            rest //= size
        elif size % rest == 0:
            row.insert(0, (k, rest, by))
            left.append((k, size // rest, by * rest))
            rest = 1
        else:
            return None
    return left, row


def walks(p: Place, loops: Sequence[Any], unit: int) -> bool:
    """Whether a place goes through such loops in line, `unit` elements a step."""
    for k, size, by in reversed(loops):
        if size > 1 and p.strides[k] * by != unit:
            return False
        unit *= size
    return True


def stays(p: Place, loops: Sequence[Any]) -> bool:
    """Whether a place is the same in such loops."""
    return not any(p.strides[k] for k, size, _ in loops if size > 1)
