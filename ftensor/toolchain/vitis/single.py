"""HLS sources of kernels with a parameter list of their own: their skeleton's text, or template."""

from __future__ import annotations

import re
from pathlib import Path

from ..group import Group
from .interface import interfaces, parameter_list, title
from .text import Word, expand, fill

# The words of the skeleton's own lines; those of the helpers stay macros.
_WORDS: dict[str, Word] = {
    "FT_GLOBAL": "",
    "FT_UNIT": "ft_unit",
    "FT_UNITS": "ft_units",
    "FT_UNROLL": "",
    "FT_LOOP": lambda name: f"{name}:",
    "FT_PIPELINE": "#pragma HLS PIPELINE II=1",
    "FT_EACH_LANE": "for (int ft_lane = 0; ft_lane < FT_LANES; ft_lane++)",
    "FT_LANE": lambda v: f"{v}[ft_lane]",
    "FT_FOR_SLAB": lambda i, n: (
        f"const int {i}_end = ft_slab({n}, ft_unit + 1, ft_units);\n{i}s:\n"
        f"for (int {i} = ft_slab({n}, ft_unit, ft_units); {i} < {i}_end; {i}++)"
    ),
    "g": "geometry",
}


# Settings that mean something for whole programs only.
_NOT_HERE = ("FT_NAME", "FT_N", "FT_GRID_STRIDE")


def source(group: Group) -> str:
    """The text of a group with a single member that knows no opcode."""
    key, skeleton = group.members[0], group.kind
    lines = skeleton.settings(key, float64=True, grid="slab")
    lines = [line for line in lines if line.split()[1] not in _NOT_HERE]
    helpers = ("dialect/vitis.h", *skeleton.helpers(key))
    if "gemm.h" in helpers:
        lines.append("#define FT_APART 1")
    head: dict[str, str | list[str]] = {
        "title": title(group),
        "settings": [re.sub(r"\bft_half\b", "uint16_t", line) for line in lines],
        "includes": [f'#include "ftensor/{name}"' for name in helpers],
    }
    text = skeleton.text()
    if not skeleton.template:
        return fill("fixed.cpp", head | {"body": _body(group, text)})
    geometry = re.findall(r"// Geometry g.*\n(?://  .*\n)*", text)[0].rstrip()
    return fill(
        str((skeleton.folder or Path()) / skeleton.template),
        head
        | skeleton.places(key)
        | {
            "geometry": geometry.replace(" g", "", 1),
            "name": group.name,
            "parameters": parameter_list(group),
            "interfaces": interfaces(group),
        },
    )


def _body(group: Group, text: str) -> list[str]:
    """The skeleton as HLS C++: its words replaced, the interface spelt out."""
    before, kernel = text.split("FT_KERNEL void FT_NAME(", 1)
    body = kernel[kernel.index("\n{\n") + 1 :]
    lines = _lines(before)
    lines += [f'extern "C" void {group.name}(', f"    {parameter_list(group)})"]
    opening, *rest = _lines(body)
    lines += [opening, *interfaces(group)]
    return lines + [line for line in rest if not line.lstrip().startswith("FT_PORT(")]


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
