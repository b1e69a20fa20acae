"""HLS sources of kernels with their own parameter list: the skeleton's text or template."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from ...kernels.key import Key
from ...kernels.skeleton import Parameter, board_skeleton_of
from ..group import KernelGroup, launch_parameters
from .interface import interfaces, parameter_list, title
from .text import Word, expand, fill, indented, scalar

# Replacements of macros in the skeleton's own lines; the helpers keep their macros.
_WORDS: dict[str, Word] = {
    "FT_GLOBAL": "",
    "FT_UNIT": "ft_unit",
    "FT_UNITS": "ft_units",
    "FT_UNROLL": "",
    "FT_LOOP": lambda name: f"{name}:",
    "FT_PIPELINE": "#pragma HLS PIPELINE II=1",
    "FT_PIPELINE_EVERY": lambda cycles: f"#pragma HLS PIPELINE II={cycles.strip()}",
    "FT_ARRAY_PARTITION": lambda name, dim: f"#pragma HLS ARRAY_PARTITION variable={name} dim={dim.strip()} complete",
    "FT_NO_POINTER_DEPENDENCE": "#pragma HLS DEPENDENCE class=pointer inter false",
    "FT_NO_DEPENDENCE": lambda name: f"#pragma HLS DEPENDENCE variable={name} inter false",
    "FT_INDEPENDENT": lambda name: "\n".join(
        f"#pragma HLS DEPENDENCE variable={name} {between} false" for between in ("inter", "intra")
    ),
    "FT_DEPENDENCE_DISTANCE": lambda name, turns: (
        f"#pragma HLS DEPENDENCE variable={name} inter RAW distance={turns.strip()} true"
    ),
    "FT_SECOND_PORT": lambda _, other: other.strip(),
    "FT_EACH_LANE": "for (int ft_lane = 0; ft_lane < FT_LANES; ft_lane++)",
    "FT_LANE": lambda v: f"{v}[ft_lane]",
    "FT_FOR_SLAB": lambda i, n: (
        f"const int {i}_end = ft_slab({n}, ft_unit + 1, ft_units);\n{i}s:\n"
        f"for (int {i} = ft_slab({n}, ft_unit, ft_units); {i} < {i}_end; {i}++)"
    ),
    "g": "geometry",
}


# Settings that apply to whole programs only.
_UNUSED_SETTINGS = ("FT_NAME", "FT_N", "FT_GRID_STRIDE")


def source(group: KernelGroup) -> str:
    """Returns the text of a group whose skeleton has its own parameter list."""
    if group.shares_ports:
        return _opcode_kernel(group)
    key, skeleton = group.bodies[0], group.kind
    head: dict[str, str | list[str]] = {
        "title": title(group),
        "settings": _settings(key),
        "includes": [*_vectors(group), *map(_include, ("dialect/vitis.h", *skeleton.helpers(key)))],
    }
    text = _text(key)
    if not skeleton.template:
        return fill("fixed.cpp", head | {"body": _kernel(group, text)})
    return fill(
        str((skeleton.folder or Path()) / skeleton.template),
        {
            **head,
            **skeleton.places(key),
            "name": group.name,
            "parameters": parameter_list(group),
            "interfaces": interfaces(group),
        },
    )


def _vectors(group: KernelGroup) -> list[str]:
    wide = any("hls::vector" in a.c for a in group.arguments)
    includes = ["#include <hls_stream.h>"] if group.kind.staged and not group.kind.template else []
    return [*includes, "#include <hls_vector.h>"] if wide else includes


def _opcode_kernel(group: KernelGroup) -> str:
    """Returns a kernel of several bodies, each in its own namespace with its settings, and a switch
    over the opcode."""
    lines, calls = [], []
    for key in group.bodies:
        skeleton = board_skeleton_of(key)
        space, settings, text = skeleton.suffix(key), _settings(key), _text(key)
        files = ["vitis/compute.h", "dialect/vitis.h", *skeleton.helpers(key)]
        before, body = _split_kernel(text)
        names = [line.split()[1].partition("(")[0] for line in settings]
        names += re.findall(r"^ *# *define (\w+)", text, re.M)
        body_parameters = [f"{c}{name}" for _, c, name in [*_parameters(key), *_UNITS]]
        lines += [
            f"// {space}",
            *settings,
            f"namespace {space} {{",
            *map(_include, files),
            *before,
            "static void body(",
            *_wrapped(f"    {', '.join(body_parameters)})"),
            *body,
            "}",
            *(f"#undef {n}" for n in dict.fromkeys(names)),
            _include("vitis/end_member.h"),
            "",
        ]
        calls.append(f"{space}::body({', '.join(_body_arguments(group, key))});")
    last = len(calls) - 1
    cases = [line for k in range(last) for line in _wrapped(f"case {k}: {calls[k]} break;")]
    kernel = [
        f'extern "C" void {group.name}(',
        f"    {parameter_list(group)})",
        "{",
        *interfaces(group),
        *indented(["switch (opcode) {", *cases, *_wrapped(f"default: {calls[last]}"), "}"]),
        "}",
    ]
    includes = [*_vectors(group), _include("vitis/common.h")]
    head = {"title": title(group), "settings": "", "includes": includes}
    return fill("fixed.cpp", {**head, "body": [*lines, *kernel]})


def _text(key: Key) -> str:
    """Returns a skeleton's text with numbers instead of macros in pragmas, since v++ does not
    expand macros there."""
    skeleton = board_skeleton_of(key)
    defines = {name: str(value) for name, value in skeleton.defines(key).items()}
    macros = r"(FT_DEPENDENCE_DISTANCE\(\w+, |FT_PIPELINE_EVERY\()(\w+)"
    return re.sub(macros, lambda m: m[1] + defines.get(m[2], m[2]), skeleton.text())


_UNITS = (("int", "int ", "ft_unit"), ("int", "int ", "ft_units"))


def _parameters(key: Key) -> list[Parameter]:
    """Returns the parameters of a body: those of a launch, with vector types for vector ports, then
    second ports to the same memory."""
    kernel_arguments, args = board_skeleton_of(key).arguments(key), launch_parameters(key)
    wide = {a.name: a.c for a in kernel_arguments if "hls::vector" in a.c}
    names = [name for _, _, name in args]
    also = [(a.what, a.c, a.name) for a in kernel_arguments if a.name not in names]
    return [*((what, wide.get(name, c), name) for what, c, name in args), *also]


def _body_arguments(group: KernelGroup, key: Key) -> list[str]:
    """Returns the arguments of a body's call: the kernel's arguments, cast to the types of the
    body."""
    by_name = {a.name: a for a in group.arguments}
    args = []
    for what, c, name in _parameters(key):
        if by_name[name].c == c.strip():
            args.append(name)
        elif what == "*":
            args.append(f"({c.strip()}){name}")
        else:
            args.append(scalar(name, what))
    return [*args, "ft_unit", "ft_units"]


def _settings(key: Key) -> list[str]:
    """Returns the `#define` lines in front of a body in a kernel of several bodies."""
    skeleton = board_skeleton_of(key)
    lines = skeleton.settings(key, float64=True, grid="slab")
    lines = [line for line in lines if line.split()[1] not in _UNUSED_SETTINGS]
    if {"gemm.h", "element.h"} & set(skeleton.helpers(key)):
        lines.append("#define FT_NO_FMA 1")
    if skeleton.staged and not skeleton.template:
        lines.append("#define FT_PROCESSES 1")
    return [re.sub(r"\bft_half\b", "uint16_t", line) for line in lines]


def _wrapped(text: str) -> list[str]:
    text = text.replace("ft_half", "uint16_t")
    return textwrap.wrap(text, 94, subsequent_indent="    ", break_long_words=False)


def _include(name: str) -> str:
    return f'#include "ftensor/{name}"'


def _split_kernel(text: str) -> tuple[list[str], list[str]]:
    """Returns the text before a skeleton's kernel, and its body, as HLS C++."""
    before, kernel = text.split("FT_KERNEL void FT_NAME(", 1)
    return _lines(before), _lines(kernel[kernel.index("\n{\n") + 1 :])


def _kernel(group: KernelGroup, text: str) -> list[str]:
    """Returns the skeleton as HLS C++: macros replaced, interface pragmas inserted."""
    before, (opening, *rest) = _split_kernel(text)
    head = [f'extern "C" void {group.name}(', f"    {parameter_list(group)})"]
    return [*before, *head, opening, *interfaces(group), *rest]


def _lines(text: str) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines():
        inner = line.lstrip()
        if inner == "FT_UNROLL" or inner.startswith("//"):
            lines += [line] if inner != "FT_UNROLL" else []
            continue
        if inner.startswith("#define"):
            lines.append(line)
            continue
        for new in expand(inner, _WORDS).split("\n"):
            new = new.strip() if new.startswith(" ") else new
            lines.append(new if new.startswith("#") else line[: -len(inner) or None] + new)
    return [re.sub(r"([(,] ) +", r"\1", line).replace("( const", "(const") for line in lines]
