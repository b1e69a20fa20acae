"""Kernel source text: C types, kernel parameters, and the files of hls/, some of which are templates."""

from __future__ import annotations

import posixpath
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from ..dtypes import dtype
from .key import BY_VALUE, INDEX, KernelKey, Port


@cache
def hls_root() -> Path:
    """Returns the folder that holds `dialect/`, `skeleton/` and `math.h`.

    A wheel carries it as `ftensor/hls`. A checkout, also when installed as editable, has it at the
    top level. The search starts with the wheel's path: in site-packages, a sibling `hls` would
    belong to another package.
    """
    package = Path(__file__).resolve().parent.parent
    candidates = (package / "hls", package.parent / "hls")
    for candidate in candidates:
        if (candidate / "dialect").is_dir():
            return candidate
    raise AssertionError(
        f"ftensor's kernel sources are in neither {candidates[0]} nor {candidates[1]}: "
        "this installation is incomplete, install ftensor again"
    )


# C types in memory; complex numbers are pairs of the named type. float16 is `half` in OpenCL C and
# a 16-bit integer in HLS C++, whose headers have a class `half`. complex32 is a pair of these.
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
# Dtypes stored as bits: ft_from_NAME converts to a float in a register, ft_to_NAME back.
ENCODED_DTYPES = ("float8_e4m3fn", "float8_e5m2", "bfloat16")
# Dtypes that dedicated load macros read as float.
HALF_DTYPES = ("float16", "complex32")
# C types in a register before any conversion.
REGISTER = {**MEMORY, **dict.fromkeys((*ENCODED_DTYPES, *HALF_DTYPES), "float")}
# The integer type whose vectors are as wide as the result of a comparison.
MASK = {"uchar": "char", "char": "char", "short": "short", "int": "int", "long": "long"}
MASK |= {"float": "int", "double": "long"}
MASK |= {"ushort": "short", "uint": "int", "ulong": "long"}

# Bytes of a C type, as kernels' parameters name it.
C_TYPE_BYTES = {"uint8_t": 1, "int8_t": 1, "uchar": 1, "char": 1, "uint16_t": 2, "ft_half": 2, "ushort": 2, "short": 2,
          "int": 4, "float": 4, "uint": 4, "uint32_t": 4, "long": 8, "double": 8, "ulong": 8, "uint64_t": 8,
          "ft_cfloat": 8, "ft_cdouble": 16, "ft_word128": 16}  # fmt: skip

UNSIGNED = ("uchar", "ushort", "uint", "ulong")
INTEGERS = (*UNSIGNED, "char", "short", "int", "long")


def scalar(d: dtype) -> str:
    """Returns the C type that d is computed in; for complex d, the type of the real part."""
    return REGISTER[d.compute.name]


def real_cast(text: str, source: str, target: str) -> str:
    """Returns the C text that converts `text`, a lane vector of C type `source`, to `target`.

    `hls/convert.h` truncates fractions and defines the results of values out of range.
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
    """Returns the C text that converts `text`, a register of dtype `source` without side effects,
    to dtype `target`."""
    source_type, target_type = REGISTER[source.name], REGISTER[target.name]
    if target.name == "bool":
        if source.name == "bool":
            return text
        if source.is_complex:
            zero = f"(FT_VEC({source_type}))(0)"
            return f"FT_MASK_VALUE(uchar, ({text}.re != {zero}) || ({text}.im != {zero}))"
        return f"FT_MASK_VALUE(uchar, {text} != (FT_VEC({source_type}))(0))"
    if source.is_complex and target.is_complex:
        if source_type == target_type:
            return text
        re, im = real_cast(f"{text}.re", source_type, target_type), real_cast(f"{text}.im", source_type, target_type)
        return f"FT_PAIR({target_type}, {re}, {im})"
    if source.is_complex:
        return real_cast(f"{text}.re", source_type, target_type)
    if target.is_complex:
        return f"FT_PAIR({target_type}, {real_cast(text, source_type, target_type)}, (FT_VEC({target_type}))(0))"
    return real_cast(text, source_type, target_type)


def width(c: str) -> int:
    """Returns the bytes of one access through a pointer of C type `c`."""
    c_type = c.removeprefix("const ").removesuffix("*").strip()
    if c_type.startswith("hls::vector<"):
        word, lanes = c_type.removeprefix("hls::vector<").removesuffix(">").split(",")
        return C_TYPE_BYTES[word] * int(lanes)
    return C_TYPE_BYTES[c_type]


OPERAND_NAMES = "abcdefgh"


def parameters(key: KernelKey) -> list[tuple[str, str, str]]:
    """Returns the kernel parameters as (kind, C type, name); kind is "*" or a scalar type.

    The order is outputs, inputs, an element offset for each, scalars, then size and stride of each
    index input and the `bad` pointer. The skeleton appends `n` or the geometry buffer.
    """
    out = [("*", f"FT_GLOBAL {_memory(p)} *", f"out{k}") for k, p in enumerate(key.outs)]
    pointers = [(k, p) for k, p in enumerate(key.ins) if p.kind != BY_VALUE]
    out += [("*", f"FT_GLOBAL const {_memory(p)} *", f"in_{OPERAND_NAMES[k]}") for k, p in pointers]
    names = [f"out{k}" for k in range(len(key.outs))] + [f"in_{OPERAND_NAMES[k]}" for k, _ in pointers]
    out += [("long", "long ", f"{name}_offset") for name in names]
    out += scalar_parameters(key)
    for name in indices(key):
        out += [("long", "long ", f"{name}_size"), ("long", "long ", f"{name}_stride")]
    if indices(key):
        out.append(("*", "FT_GLOBAL long *", "bad"))
    return out


def scalar_parameters(key: KernelKey) -> list[tuple[str, str, str]]:
    """Returns the scalar parameters: inputs passed by value, then the op's parameters."""
    names = [OPERAND_NAMES[k] for k, p in enumerate(key.ins) if p.kind == BY_VALUE] + list(key.params)
    pairs = key.compute.is_complex and key.reduction is None
    return [one for name in names for one in scalar_parameter(name, scalar(key.compute), pairs)]


def scalar_parameter(name: str, real: str, pair: bool) -> list[tuple[str, str, str]]:
    """Returns the kernel parameters of a scalar; a pair has the parts `re` and `im`."""
    parts = ("re", "im") if pair else ("value",)
    return [(real, f"{real} ", f"{name}_{part}") for part in parts]


def indices(key: KernelKey) -> list[str]:
    """Returns the names of the index inputs, which locate other operands."""
    return [OPERAND_NAMES[k] for k, p in enumerate(key.ins) if p.sees == INDEX]


def _memory(p: Port) -> str:
    return MEMORY[p.dtype.name]


MAX_DIMS = 32
# Bits of float32's fraction that the narrow floating dtypes lack.
DROPPED_BITS = {"float16": 13, "bfloat16": 16}
# The helper files besides math.h and complex.h, by the prefix of the names that they define, in the
# order of inclusion.
HELPERS = {
    "ftb_": "binary.h",
    "ftx_": "special.h",
    "ftk_": "bessel.h",
    "ftg_": "gamma.h",
    "fto_": "polynomial.h",
    "FT_POSITION": "position.h",
    "ftr_": "random.h",
    "ftr_count_": "random_counts.h",
}
_WIDE_UNSIGNED = ("uint32", "uint64")


INCLUDE_LINE = re.compile(r'^( *)#include "(.+)"$', re.M)


@cache
def kernel_file(name: str) -> str:
    """Returns the text of a file of hls/ with its relative includes expanded, each indented like its
    line."""
    text = (hls_root() / name).read_text().replace("#pragma once\n", "")
    folder = posixpath.dirname(name)

    def included(match: re.Match[str]) -> str:
        inner = kernel_file(posixpath.normpath(posixpath.join(folder, match[2])))
        return textwrap.indent(inner.rstrip("\n"), match[1], lambda line: line[0] not in "#\n") if match[1] else inner

    return INCLUDE_LINE.sub(included, text)


def inline_includes(text: str) -> str:
    """Returns HLS C++ `text` with its includes of ftensor's headers expanded."""
    return INCLUDE_LINE.sub(lambda match: kernel_file(match[2].removeprefix("ftensor/")), text)


@cache
def constant(name: str, word: str) -> int:
    """Returns the value of a `static const int` in a file of hls/."""
    match = re.search(rf"^static const int {word} = (\d+);", (hls_root() / name).read_text(), re.M)
    assert match is not None, f"hls/{name} has no constant {word}"
    return int(match[1])


def settings(compute: dtype, lanes: int, float64: bool, grid: str) -> list[str]:
    """Returns the `#define` lines that configure the dialect and the helpers."""
    real = scalar(compute)
    lines = [
        f"#define FT_LANES {lanes}",
        f"#define FT_N {lanes if lanes > 1 else ''}",
        f"#define FT_FP64 {int(float64)}",
        f"#define FT_GRID_STRIDE {int(grid == 'stride')}",
        f"#define FT_T {real}",
        f"#define FT_MT {MASK[real]}",
        f"#define FT_FLOATING {int(real in ('float', 'double'))}",
        f"#define FT_DOUBLE {int(real == 'double')}",
        f"#define FT_SIGNED {int(real not in UNSIGNED)}",
        f"#define FT_BITS_PER_VALUE {8 * compute.to_real().itemsize}",
        f"#define FT_MAX_DIMS {MAX_DIMS}",
    ]
    lines += ["#define FT_WIDE_UNSIGNED 1"] if compute.name in _WIDE_UNSIGNED else []
    return lines + (["#define FT_COMPLEX 1"] if compute.is_complex else [])


def is_positional(body: Sequence[str], lets: Sequence[tuple[str, str]]) -> bool:
    """True if an op depends on the element's position, which requires contiguous operands."""
    return any("FT_POSITION" in text for text in (*body, *(text for _, text in lets)))


def helper_files(key: KernelKey) -> list[str]:
    """Returns the helper files that the expressions and ports need besides math.h."""
    text = _expressions(key)
    ports = key.outs + key.ins
    names = ["complex.h"] if key.compute.is_complex or "ft_c" in text else []
    names += ["locate.h"] if indices(key) else []
    names += ["unsigned.h"] if any(p.dtype.name in _WIDE_UNSIGNED for p in key.outs) else []
    names += ["float8.h"] if any(p.dtype.bare == "8" for p in ports) else []
    return names + [name for prefix, name in HELPERS.items() if prefix in text]


def port_settings(key: KernelKey) -> list[str]:
    """Returns the `#define` line for ports of uint32 or uint64; else []."""
    unsigned = any(p.dtype.name in _WIDE_UNSIGNED for p in key.outs + key.ins)
    return ["#define FT_WIDE_UNSIGNED 1"] if unsigned else []


def dropped_bits(key: KernelKey) -> list[int]:
    """Returns the fraction bits that a narrow output drops if helpers need them; else []."""
    text = _expressions(key)
    if "ftb_" not in text and "ftr_" not in text:
        return []
    return [DROPPED_BITS.get(key.outs[0].dtype.name, 0) if key.outs else 0]


def _expressions(key: KernelKey) -> str:
    text = " ".join(key.body) + " ".join(t for _, t in key.lets)
    if key.reduction is not None:
        text += key.reduction.lift + key.reduction.combine
    return text


def fill(template: str, values: Mapping[str, str | Sequence[str]]) -> str:
    """Returns the file `template` of hls/ with each `$name` replaced.

    A placeholder alone on a line may be a list of lines, which take over the line's indentation. An
    empty list leaves nothing. Pragmas start in the first column.
    """
    lines = []
    for line in (hls_root() / template).read_text().splitlines():
        alone = re.fullmatch(r"( *)\$(\w+)", line)
        if alone is None:
            lines.append(re.sub(r"\$(\w+)", lambda m: str(values[m.group(1)]), line))
            continue
        value = values[alone.group(2)]
        for inner in [value] if isinstance(value, str) else value:
            for part in inner.split("\n"):
                lines.append(part if part.startswith("#") or not part else alone.group(1) + part)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def element_type(dtype: dtype) -> str:
    """Returns the C type of an element in memory."""
    return MEMORY[dtype.name]


def element_defines(dtype: dtype) -> dict[str, object]:
    """Returns the macros that hls/element.h needs."""
    return {
        "FT_E": element_type(dtype),
        "FT_E_HALF": int(dtype.name == "float16"),
        "FT_E_BFLOAT16": int(dtype.name == "bfloat16"),
    }


def element_helpers(dtype: dtype, more: list[str]) -> list[str]:
    """Returns the files of hls/ for elements of a dtype, with `more` before element.h."""
    return ["math.h", *(["complex.h"] if dtype.is_complex else []), *more, "element.h"]
