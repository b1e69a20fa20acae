"""Which op a program has called: what errors name that arise far below it."""

from __future__ import annotations

import sys
from functools import cache
from types import FrameType

from ..runtime.callers import levels_to_user
from .catalogue import ENTRIES


def op_called() -> tuple[str, FrameType]:
    """The outermost op that the program has called, and the program's frame.

    Where no op is, as under a function of torch's device, the outermost function of ours is named.
    """
    user = sys._getframe(levels_to_user() - 1)
    at, names = sys._getframe(1), []
    while at is not user and at.f_back is not None:
        if not at.f_globals.get("__name__", "").startswith("ftensor.graph."):  # `jit` of a function of ours
            names.append(at.f_code.co_name)
        at = at.f_back
    names.reverse()
    op = next((name for name in names if name in _ops() or name[:2] == "__"), names[0])
    return op, user


@cache
def _ops() -> frozenset[str]:
    """What functions of ops are called; others between a program and its launches name none."""
    return frozenset(name.rpartition(".")[2] for name in ENTRIES)
