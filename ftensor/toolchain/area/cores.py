"""The table of operators: the FPGA resources of each, pipelined for 300 MHz on UltraScale+.

There are three sources, in decreasing quality. *Seen*: a published table of the cores that the HLS
tools made for a ZCU board (HardwareProfileParams.cpp, XilinxZCUHardwareProfile: adders, products,
quotients, logic), or a synthesis report published with a design. *Formula*: computed from the width
of integers. *Assumed*: no figure was available; rounded up from PG060's description of the core, or
composed of cores as in AMD's own hls_math.h. Each operator has one row, whatever ops contain it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

MEASURED, ASSUMED = "seen", "assumed"


@dataclass(frozen=True)
class Resources:
    """LUT, flip-flops, DSP blocks, block RAM of 36 Kb (halves are of 18 Kb), and UltraRAM of 288
    Kb."""

    lut: float = 0
    ff: float = 0
    dsp: float = 0
    bram: float = 0
    uram: float = 0

    def __add__(self, other: Resources) -> Resources:
        return Resources(*(x + y for x, y in zip(self.values(), other.values())))

    def __mul__(self, times: float) -> Resources:
        return Resources(*(x * times for x in self.values()))

    def values(self) -> tuple[float, ...]:
        """Returns the numbers in the order of the fields."""
        return (self.lut, self.ff, self.dsp, self.bram, self.uram)


NAMES = tuple(field.name for field in fields(Resources))
NONE = Resources()


@dataclass(frozen=True)
class Core:
    """The resources of an operator, and their source."""

    resources: Resources
    source: str


def _core(lut: int, ff: int, dsp: int, source: str, bram: float = 0) -> Core:
    return Core(Resources(lut, ff, dsp, bram), source)


# By operator and type, "float" or "double"; `_integers` has the integers.
FLOATS: Mapping[tuple[str, str], Core] = {
    ("add", "float"): _core(238, 365, 2, MEASURED),
    ("mul", "float"): _core(146, 165, 3, MEASURED),
    ("div", "float"): _core(867, 1436, 0, MEASURED),
    ("compare", "float"): _core(70, 70, 0, ASSUMED),
    ("sqrt", "float"): _core(480, 900, 0, ASSUMED),
    ("exp", "float"): _core(920, 700, 7, MEASURED),  # the DSP count is from a source; the rest is assumed
    ("log", "float"): _core(950, 800, 13, ASSUMED),
    ("fma", "float"): _core(1650, 1200, 2, ASSUMED),  # not a core: an exact product and an exact sum
    ("add", "double"): _core(740, 1050, 3, ASSUMED),
    ("mul", "double"): _core(230, 520, 11, ASSUMED),
    ("div", "double"): _core(3250, 5900, 0, ASSUMED),
    ("compare", "double"): _core(130, 130, 0, ASSUMED),
    ("sqrt", "double"): _core(1850, 3400, 0, ASSUMED),
    ("exp", "double"): _core(2600, 1700, 26, ASSUMED),
    ("log", "double"): _core(2900, 2200, 48, ASSUMED),
    ("fma", "double"): _core(4200, 3200, 11, ASSUMED),
    # Between integers and floats, and between floats.
    ("to_float", "float"): _core(240, 260, 0, ASSUMED),
    ("to_float", "double"): _core(420, 480, 0, ASSUMED),
    ("to_int", "float"): _core(220, 230, 0, ASSUMED),
    ("to_int", "double"): _core(480, 500, 0, ASSUMED),
    ("resize", "float"): _core(100, 110, 0, ASSUMED),
    ("resize", "double"): _core(60, 70, 0, ASSUMED),
    # Sign changes and selections are wires and multiplexers.
    ("sign", "float"): _core(2, 0, 0, ASSUMED),
    ("sign", "double"): _core(2, 0, 0, ASSUMED),
    ("choose", "float"): _core(16, 32, 0, ASSUMED),
    ("choose", "double"): _core(32, 64, 0, ASSUMED),
    ("round", "float"): _core(150, 110, 0, ASSUMED),
    ("round", "double"): _core(330, 230, 0, ASSUMED),
}


def _integers(operator: str, bits: int) -> Core | None:
    """Returns the core of an integer operator by width, None for an unknown operator.

    Adders and logic are as in the table of cores (39 LUT for 32 bits, 97 for a shift); a pipelined
    divider has a row of subtractors for each bit.
    """
    words = -(-bits // 32)
    return {
        "add": _core(round(39 * bits / 32), bits, 0, MEASURED),
        "mul": _core(40, 30, 0, MEASURED)
        if bits <= 8
        else _core(49 * words**2, 165 * words**2, 1 if bits <= 16 else 4 * words**2, MEASURED),
        # Two bytes times a third byte, packed into a DSP block of 27 x 18 bits.
        "pair": _core(40, 36, 1, ASSUMED),
        # Four such pairs, which the DSP blocks add before the two sums are separated.
        "pair4": _core(40, 36, 4, ASSUMED),
        # A product, and its sum with another, in a DSP block.
        "mac": _core(8, 36, 1, ASSUMED),
        "div": _core(round(1.2 * bits**2), 3 * bits**2, 0, ASSUMED),
        "compare": _core(round(0.6 * bits), 1, 0, MEASURED),
        "logic": _core(bits, 0, 0, MEASURED),
        "shift": _core(3 * bits, bits, 0, MEASURED),
        "choose": _core(bits // 2, bits, 0, ASSUMED),
        "sign": _core(bits, bits, 0, ASSUMED),
    }.get(operator)


# Functions of hls_math.h that are not cores: the operators in their source, and the block RAM of
# their constant tables.
LIBRARY: Mapping[str, tuple[Mapping[str, int], float]] = {
    "sin": ({"mul": 5, "add": 4, "compare": 2, "choose": 6, "to_int": 1}, 2),
    "cos": ({"mul": 5, "add": 4, "compare": 2, "choose": 6, "to_int": 1}, 2),
    "tan": ({"mul": 10, "add": 8, "div": 1, "compare": 2, "choose": 12, "to_int": 1}, 4),
    "asin": ({"mul": 7, "add": 7, "div": 1, "sqrt": 1, "compare": 3, "choose": 4}, 0),
    "acos": ({"mul": 7, "add": 8, "div": 1, "sqrt": 1, "compare": 3, "choose": 4}, 0),
    "atan": ({"mul": 8, "add": 9, "div": 1, "compare": 4, "choose": 5}, 0),
    "atan2": ({"mul": 8, "add": 10, "div": 1, "compare": 6, "choose": 8}, 0),
    "sinh": ({"exp": 1, "mul": 2, "add": 2, "div": 1, "compare": 3, "choose": 3}, 0),
    "cosh": ({"exp": 1, "mul": 2, "add": 1, "div": 1, "compare": 2, "choose": 2}, 0),
    "tanh": ({"exp": 1, "mul": 4, "add": 5, "div": 1, "compare": 3, "choose": 3}, 0),
    "asinh": ({"log": 1, "mul": 3, "add": 4, "div": 1, "sqrt": 1, "compare": 3, "choose": 3}, 0),
    "acosh": ({"log": 1, "mul": 2, "add": 3, "div": 1, "sqrt": 1, "compare": 3, "choose": 3}, 0),
    "atanh": ({"log": 1, "mul": 1, "add": 3, "div": 1, "compare": 3, "choose": 2}, 0),
    "exp2": ({"exp": 1, "mul": 1}, 0),
    "expm1": ({"exp": 1, "mul": 5, "add": 6, "compare": 2, "choose": 2}, 0),
    "log1p": ({"log": 1, "mul": 4, "add": 6, "div": 1, "compare": 2, "choose": 2}, 0),
    "log2": ({"log": 1, "mul": 1}, 0),
    "log10": ({"log": 1, "mul": 1}, 0),
    "pow": ({"mul": 9, "add": 9, "compare": 8, "choose": 10, "round": 1, "to_int": 1}, 5),
    "cbrt": ({"exp": 1, "log": 1, "mul": 3, "add": 1, "div": 1, "compare": 2}, 0),
    "hypot": ({"mul": 3, "add": 1, "sqrt": 1, "compare": 3, "choose": 3}, 0),
    "erf": ({"exp": 1, "mul": 22, "add": 22, "div": 1, "compare": 6, "choose": 8}, 0),
    "erfc": ({"exp": 1, "mul": 24, "add": 24, "div": 2, "compare": 6, "choose": 8}, 0),
    "lgamma": ({"log": 2, "mul": 40, "add": 40, "div": 2, "compare": 8, "choose": 10}, 2),
    "tgamma": ({"exp": 1, "log": 2, "mul": 42, "add": 40, "div": 3, "compare": 8, "choose": 10}, 2),
    "frexp": ({"compare": 2, "choose": 2}, 0),
    "modf": ({"round": 1, "add": 1}, 0),
    "ilogb": ({"compare": 2}, 0),
    "logb": ({"compare": 2, "to_float": 1}, 0),
    "scalbn": ({"compare": 2, "choose": 2}, 0),
    "ldexp": ({"compare": 2, "choose": 2}, 0),
    "nextafter": ({"compare": 3, "choose": 3}, 0),
    "fmod": ({"div": 1, "mul": 1, "add": 2, "round": 1, "compare": 2, "choose": 2}, 0),
    "remainder": ({"div": 1, "mul": 1, "add": 2, "round": 1, "compare": 2, "choose": 2}, 0),
    "fmax": ({"compare": 3, "choose": 2}, 0),
    "fmin": ({"compare": 3, "choose": 2}, 0),
    "floor": ({"round": 1}, 0),
    "ceil": ({"round": 1}, 0),
    "trunc": ({"round": 1}, 0),
    "rint": ({"round": 1}, 0),
    "fabs": ({"sign": 1}, 0),
    "copysign": ({"sign": 1}, 0),
    "exp": ({"exp": 1}, 0),
    "log": ({"log": 1}, 0),
    "sqrt": ({"sqrt": 1}, 0),
    "fma": ({"fma": 1}, 0),
}

# Functions that read a column of constants from block RAM of their own.
ROMS: Mapping[str, float] = {"ft_erf_row": 0.5}

BITS = {"bool": 1, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "float": 32, "double": 64}


def core_resources(operator: str, c_type: str) -> Resources:
    """Returns the resources of an operator for a type, such as ("add", "int32").

    Raises KeyError for an unknown operator.
    """
    if c_type in ("float", "double"):
        return FLOATS[operator, c_type].resources
    entry = _integers(operator, BITS[c_type])
    if entry is None:
        raise KeyError((operator, c_type))
    return entry.resources


def function_resources(name: str, c_type: str) -> Resources:
    """Returns the resources of a function of hls_math.h; its tables are twice as large in
    double."""
    parts, tables = LIBRARY.get(name) or ({}, ROMS[name])
    total = Resources(bram=tables * (2 if c_type == "double" else 1))
    for operator, times in parts.items():
        total += core_resources(operator, c_type) * times
    return total


# Ports, control and wires. In published reports an adapter of 32 bits takes about 880 FF and 1050
# LUT; wider adapters take more per bit. The platform's interconnect connects the adapter to a
# memory: converters of width and clock, and a shared switch (assumed).
PORT = Resources(950, 850)
PORT_BIT = Resources(1.5, 3)
SHARED_PORT = Resources(1800, 2400)
SHARED_PORT_BIT = Resources(4, 6)
# A kernel's states and registers, and the registers of each argument (64 bits, written by the
# host).
KERNEL = Resources(700, 900)
ARGUMENT = Resources(60, 130)
# Factors for the logic between operators: pipeline registers, multiplexers, handshakes.
INTERCONNECT = Resources(1.25, 1.4, 1, 1, 1)
