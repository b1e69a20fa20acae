"""Temporaries of a graph share memory where they are not needed at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from ..runtime.blocks import size_class


def slots(needs: Sequence[tuple[int, int, int]]) -> tuple[list[int], list[int]]:
    """(bytes of each slot, the slot of each need): a need is (bytes, first step, last step).

    A slot serves one need after another, as long as no request is less than half of it: the best
    fitting one is taken, in the order of first steps.
    """
    sizes: list[int] = []
    until: list[int] = []  # the last step of who has a slot
    place = [0] * len(needs)
    for k in sorted(range(len(needs)), key=lambda k: needs[k][1]):
        nbytes, first, last = needs[k]
        size = size_class(nbytes)
        free = [s for s in range(len(sizes)) if until[s] < first and size <= sizes[s] <= 2 * size]
        if free:
            slot = min(free, key=lambda s: sizes[s])
            until[slot] = last
        else:
            slot = len(sizes)
            sizes.append(size)
            until.append(last)
        place[k] = slot
    return sizes, place
