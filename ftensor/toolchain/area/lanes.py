"""How many lanes an op can afford: cheap ops fill their ports, dear ones do not."""

from __future__ import annotations

from functools import cache

from ...dtypes import dtype
from ...kernels.key import KernelKey
from ..vitis.member import op_function
from ..vitis.words import dropped_bits
from .count import takes
from .helpers import helpers

# LUT of an operator that may stand in every lane: sums, products, comparisons, logic. Quotients,
# roots and what is made of them, or of a division of integers, take more.
CHEAP = 400
# (LUT of an element's dear operators, lanes): a quotient and an exponential in four lanes, what is
# larger in one.
STEPS = ((0, 16), (2500, 4))
LEAST = 1


def affordable(key: KernelKey) -> int:
    """The most lanes for a pointwise op, by what its expression is made of."""
    return _lanes(key.compute, dropped_bits(key), "\n".join(op_function(key, "op")))


@cache
def _lanes(compute: dtype, dropped: int, text: str) -> int:
    counts = helpers(compute, dropped).counting(text, {}).of("op")
    dear = 0.0
    for word, times in counts.items():
        each = takes({word: 1}).lut
        dear += each * times if each > CHEAP else 0
    return next((lanes for most, lanes in STEPS if dear <= most), LEAST)
