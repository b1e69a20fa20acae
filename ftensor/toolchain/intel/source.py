"""OpenCL C for Intel FPGAs: the text of one kernel of an image, as aoc and its emulator take it."""

from __future__ import annotations

from ...dtypes import uint8
from ...image.intel_stages import uses_channels
from ...kernels import gemm
from ...kernels import source as kernel_text
from ...kernels.gemm import GemmKey
from ...kernels.key import KernelKey
from ...table import counted
from ..group import Group, entry, launch_parameters
from .map import map_text
from .member import head, sections, title, whole_call, whole_function
from .text import kernels, switch


def source(group: Group) -> str:
    """The self-contained text of a group. ValueError for one that cannot be a kernel."""
    channels = uses_channels(group.skeleton, group.structure)
    how = "load, compute and store joined by channels" if channels else "one loop"
    comment = [
        f"// Kernel {group.name}: {group.skeleton}, {counted(group.lanes, 'lane')}, {how}, "
        f"{counted(group.units, 'compute unit')}.",
        "// Made by `ftensor build` from the catalogue's expressions; aoc compiles it as it is.",
    ]
    for opcode, member in enumerate(group.members):
        if isinstance(member, KernelKey):
            comment.append(f"// {title(opcode, member)}")
        comment.append(f"//   serves {entry(member)}")
    if not group.keys:
        body = _single(group)
    elif group.skeleton == "map":
        body = map_text(group)
    else:
        body = _walking(group)
    return "\n".join([*comment, "", body]) + "\n"


def _single(group: Group) -> str:
    """A kernel with a parameter list of its own: as it is compiled at run time, under this name."""
    member = group.members[0]
    if isinstance(member, GemmKey):
        text = gemm.program(member, "intel", float64=True, grid="slab")
    else:
        assert isinstance(member, str), member
        skeleton = member.removeprefix("ft_")
        text = kernel_text.fixed_program(member, skeleton, "intel", uint8, float64=True)
    body = f"{group.name}_body"
    text = text.replace(f"#define FT_NAME {entry(member)}", f"#define FT_NAME {body}")
    text = text.replace("FT_KERNEL void FT_NAME(", "static void FT_NAME(")
    passed = ", ".join([*(n for _, _, n in launch_parameters(member)), "ft_unit", "ft_units"])
    return f"{text}\n\n{kernels(group, lambda copy: [f'{body}({passed});'])}"


def _walking(group: Group) -> str:
    """Members that walk memory by a geometry: a function each, and a switch."""
    keys = group.keys
    calls = [whole_call(opcode, key) for opcode, key in enumerate(keys)]
    parts = [head(group.lanes), *sections(keys, whole_function)]
    return "\n\n".join([*parts, kernels(group, lambda copy: [switch(calls)])])
