"""Real and imaginary parts of complex values: views in memory, calls where values are in no
memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..dtypes import dtype
from ..kernels.key import REAL, VALUE
from ..kernels.unit import Unit
from .point import Place


class Part(NamedTuple):
    """Where the complex numbers lie of which a place has one part, and which that is: re or im."""

    whole: Place
    which: str


# The ops that give the parts.
PARTS = {"re": "real", "im": "imag"}


def part_of(p: Place, places: Iterable[Place]) -> Part | None:
    """What real numbers are a part of, where complex ones were made in their memory."""
    for q in places:
        if q.memory == p.memory and q.dtype.is_complex and q.dtype.to_real() is p.dtype:
            size = q.dtype.itemsize
            if any(step % 2 for step in p.strides):
                return None
            whole = Place(p.memory, p.start // size * size, q.dtype, tuple([s // 2 for s in p.strides]))
            return Part(whole, "im" if p.start % size else "re")
    return None


def part_unit(of: dtype, which: str) -> Unit:
    """The function of a complex number that gives its part."""
    return Unit(PARTS[which], of, ((of.to_real(), REAL),), ((of, VALUE),), (f"a.{which}",))
