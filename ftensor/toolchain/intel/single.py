"""OpenCL C of a kernel with its own parameter list: the program for run-time compilation, with
another kernel name."""

from __future__ import annotations

from ..group import KernelGroup, launch_parameters
from .member import kernels


def text(group: KernelGroup) -> str:
    """Returns the program of the only member as a function, and the kernels that call it."""
    key = group.members[0]
    program = group.kind.program(key, "intel", float64=True, grid="slab")
    body = f"{group.name}_body"
    program = program.replace(f"#define FT_NAME {key.entry}", f"#define FT_NAME {body}")
    program = program.replace("FT_KERNEL void FT_NAME(", "static void FT_NAME(")
    args = ", ".join([*(n for _, _, n in launch_parameters(key)), "ft_unit", "ft_units"])
    return f"{program}\n\n{kernels(group, lambda copy: [f'{body}({args});'])}"
