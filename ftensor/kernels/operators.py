"""Cycles of operators in logic, and how long a sum waits for the one before."""

from __future__ import annotations

import re

from ..dtypes import dtype

# Cycles of one operator at 300 MHz on UltraScale+, as Vitis HLS names its cores there
# (fadd_..._7_full_dsp, fmul_..._4_max_dsp, dadd_..._8_full_dsp, dmul_..._8_max_dsp): the model
# takes them for every clock, though a slower one needs fewer.
CYCLES = {
    "float": {"add": 7, "mul": 4, "compare": 2, "div": 16},
    "double": {"add": 8, "mul": 8, "compare": 2, "div": 31},
    "integer": {"add": 1, "mul": 3, "compare": 1, "div": 36},
}
# The least of a function of hls_math.h: a square root takes as long as a quotient, others longer.
FUNCTION = {"float": 16, "double": 31}
# A division of 32-bit integers takes a cycle for each bit and a few more.
DIVIDE = CYCLES["integer"]["div"]
# From an element's arrival to its result, where the op's own operators are not looked at: an
# addition takes 7, an exponential about 20. Only the filling of a pipeline depends on it.
DEPTH = 30


def operator_cycles(of: dtype) -> dict[str, int]:
    """Cycles of an addition, a product and a comparison of (the parts of) a dtype."""
    real = of.compute.to_real() if of.is_complex else of.compute
    if real.kind != "f":
        return CYCLES["integer"]
    return CYCLES["double" if real.itemsize == 8 else "float"]


def distance(recurrence: int) -> int:
    """Steps of a pipeline with interval 1 until a state in local memory may be met again, where
    the next value can be folded into it after `recurrence` cycles."""
    return recurrence + 1  # writing it takes a cycle


def interval(recurrence: int, between: int) -> int:
    """Cycles from step to step where such a state is met again `between` steps later."""
    return -(-distance(recurrence) // between)


# An operator between two values, a sign before one, or the name of a function; no constant.
_OPERATION = re.compile(r"(?<=[\w)] )[-+*/](?= )|(?<![\w)] )-(?=[a-z(])|\b(?!K\()[a-z]\w*(?=\()")


def arithmetic(text: str) -> int:
    """How many operations an op's text has for an element, the call of a function counted as one:
    1 for "exp(a)", 2 for "a + b * alpha"."""
    return len(_OPERATION.findall(text))
