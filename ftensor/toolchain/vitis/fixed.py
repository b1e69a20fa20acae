"""HLS sources of kernels with a parameter list of their own: matrix products, and compaction."""

from __future__ import annotations

import re

from ...dtypes import uint8
from ...estimate.operators import distance
from ...kernels import gemm, source
from ...kernels.gemm import GemmKey
from ...kernels.key import KernelKey
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


def fixed_source(group: Group) -> str:
    """The text of a group with a single member that knows no opcode."""
    member = group.members[0]
    assert not isinstance(member, KernelKey)
    if isinstance(member, GemmKey):
        lines = gemm.settings(member, float64=True, grid="slab")
        helpers = gemm.helpers(member)
        skeleton = member.skeleton
    else:
        lines = source.settings(uint8, 1, True, "slab")
        helpers, skeleton = [], group.skeleton
    lines = [line for line in lines if line.split()[1] not in ("FT_NAME", "FT_N", "FT_GRID_STRIDE")]
    lines = [re.sub(r"\bhalf\b", "uint16_t", line) for line in lines]
    files = [f'#include "ftensor/{name}"' for name in ("dialect/vitis.h", *helpers)]
    text = source.kernel_file(f"skeleton/{skeleton}.h")
    head: dict[str, str | list[str]] = {"title": title(group), "settings": lines, "includes": files}
    if not isinstance(member, GemmKey) or skeleton == "gemm_direct":
        return fill("fixed.cpp", head | {"body": _body(group, text)})
    parts = 2 if member.dtype.is_complex else 1
    return fill(
        f"{skeleton}.cpp",
        head
        | {
            "geometry": re.findall(r"// Geometry g.*\n(?://  .*\n)*", text)[0]
            .rstrip()
            .replace(" g", "", 1),
            "distance": str(distance(member)),
            "parts": str(parts),
            "vectors": str(member.vectors),
            "step": str(member.columns * parts),
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
