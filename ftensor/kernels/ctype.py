"""The C types behind dtypes, and the text that converts a value from one to another."""

from __future__ import annotations

from ..dtypes import dtype

# In memory; complex numbers are pairs of the named type. float16 is `half` in OpenCL C and 16 bits
# in HLS C++, whose own headers have a class `half`. complex32 is pairs of these.
MEMORY = {
    "bool": "uchar",
    "uint8": "uchar",
    "uint16": "ushort",
    "uint32": "uint",
    "uint64": "ulong",
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "float8_e4m3fn": "uchar",
    "float8_e5m2": "uchar",
    "float16": "ft_half",
    "bfloat16": "ushort",
    "float32": "float",
    "float64": "double",
    "complex32": "ft_half",
    "complex64": "float",
    "complex128": "double",
}
# What lies in memory as bits that ft_from_NAME makes a float of in a register, and ft_to_NAME back.
ENCODED = ("float8_e4m3fn", "float8_e5m2", "bfloat16")
# What memory gives as a float, by words of its own.
HALVES = ("float16", "complex32")
# As read into a register, before any conversion.
REGISTER = {**MEMORY, **dict.fromkeys((*ENCODED, *HALVES), "float")}
# The integer type whose vectors are as wide as a comparison's result.
MASK = {"uchar": "char", "char": "char", "short": "short", "int": "int", "long": "long"}
MASK |= {"float": "int", "double": "long"}
MASK |= {"ushort": "short", "uint": "int", "ulong": "long"}

# Bytes of a C type, as kernels' parameters name it.
WIDTHS = {"uint8_t": 1, "uchar": 1, "char": 1, "uint16_t": 2, "ft_half": 2, "ushort": 2, "short": 2,
          "int": 4, "float": 4, "uint": 4, "uint32_t": 4, "long": 8, "double": 8, "ulong": 8, "uint64_t": 8,
          "ft_cfloat": 8, "ft_cdouble": 16, "ft_word128": 16}  # fmt: skip

UNSIGNED = ("uchar", "ushort", "uint", "ulong")
INTEGERS = (*UNSIGNED, "char", "short", "int", "long")


def scalar(d: dtype) -> str:
    """The C type that computes d (of its real part, for complex)."""
    return REGISTER[d.compute.name]


def real_cast(text: str, source: str, target: str) -> str:
    """`text`, a lane vector of C type `source`, as lanes of `target`.

    A fraction is cut off by `hls/convert.h`, which says what numbers become that no integer holds.
    int8, int16, uint8 and uint16 are the low bits of an int32, as in torch (uint8 of float64: an
    int64); uint32 and uint64 are in hls/unsigned.h.
    """
    if source == target:
        return text
    if source in ("float", "double") and target in INTEGERS:
        wide = "long" if (source, target) == ("double", "uchar") else "int"
        wide = target if target in ("long", "uint", "ulong") else wide
        text = f"ft_to_{wide}({text})"
        if wide == target:
            return text
    return f"FT_CONVERT({target}, {text})"


def cast(text: str, source: dtype, target: dtype) -> str:
    """`text`, a side-effect-free value of dtype `source` in a register, as dtype `target`."""
    here, there = REGISTER[source.name], REGISTER[target.name]
    if target.name == "bool":
        if source.name == "bool":
            return text
        if source.is_complex:
            zero = f"(FT_VEC({here}))(0)"
            return f"FT_MASK_VALUE(uchar, ({text}.re != {zero}) || ({text}.im != {zero}))"
        return f"FT_MASK_VALUE(uchar, {text} != (FT_VEC({here}))(0))"
    if source.is_complex and target.is_complex:
        if here == there:
            return text
        re, im = real_cast(f"{text}.re", here, there), real_cast(f"{text}.im", here, there)
        return f"FT_PAIR({there}, {re}, {im})"
    if source.is_complex:
        return real_cast(f"{text}.re", here, there)
    if target.is_complex:
        return f"FT_PAIR({there}, {real_cast(text, here, there)}, (FT_VEC({there}))(0))"
    return real_cast(text, here, there)


def width(c: str) -> int:
    """Bytes of one access of a pointer of C type `c`."""
    of = c.removeprefix("const ").removesuffix("*").strip()
    if of.startswith("hls::vector<"):
        word, lanes = of.removeprefix("hls::vector<").removesuffix(">").split(",")
        return WIDTHS[word] * int(lanes)
    return WIDTHS[of]
