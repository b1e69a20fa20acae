"""Cycles of operators in logic, and how long a sum waits for the one before."""

from __future__ import annotations

from ..dtypes import dtype
from ..kernels.gemm import GemmKey
from ..kernels.key import KernelKey

# Cycles of one operator at 300 MHz on UltraScale+, as Vitis HLS names its cores there
# (fadd_..._7_full_dsp, fmul_..._4_max_dsp, dadd_..._8_full_dsp, dmul_..._8_max_dsp): the model
# takes them for every clock, though a slower one needs fewer.
CYCLES = {
    "float": {"add": 7, "mul": 4, "compare": 2},
    "double": {"add": 8, "mul": 8, "compare": 2},
    "integer": {"add": 1, "mul": 3, "compare": 1},
}
# A division of 32-bit integers takes a cycle for each bit and a few more.
DIVIDE = 36
# From an element's arrival to its result, where the op's own operators are not looked at: an
# addition takes 7, an exponential about 20. Only the filling of a pipeline depends on it.
DEPTH = 30


def _cycles(of: dtype) -> dict[str, int]:
    real = of.compute.to_real() if of.is_complex else of.compute
    if real.kind != "f":
        return CYCLES["integer"]
    return CYCLES["double" if real.itemsize == 8 else "float"]


def recurrence(key: KernelKey | GemmKey) -> int:
    """Cycles until the next element can be folded into the same state: the loop's least II."""
    if isinstance(key, GemmKey):
        cycles = _cycles(key.dtype)
        if key.dtype.is_complex:
            # Four products, two to each part, one behind the other.
            return 2 * (cycles["add"] + (cycles["mul"] if key.fused else 0))
        return cycles["add"] + (cycles["mul"] if key.fused else 0)
    assert key.reduction is not None, key
    cycles, combine = _cycles(key.compute), key.reduction.combine
    wait = cycles["compare"] if key.reduction.arg else 0
    if "ft_cmul" in combine:
        return wait + cycles["mul"] + cycles["add"]
    if "*" in combine:
        return wait + cycles["mul"]
    if "+" in combine or "ft_cadd" in combine:
        return wait + cycles["add"]
    return max(1, wait + cycles["compare"])


def distance(key: KernelKey | GemmKey) -> int:
    """Steps of a pipeline with interval 1 until a state in local memory may be met again."""
    return recurrence(key) + 1  # writing it takes a cycle


def interval(key: KernelKey, between: int) -> int:
    """Cycles from step to step where such a state is met again `between` steps later."""
    return -(-distance(key) // between)
