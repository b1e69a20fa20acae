"""Members that iterate by a geometry buffer: a function for each member, and a switch."""

from __future__ import annotations

from ..group import KernelGroup
from .member import head, kernels, sections, skeleton_call, skeleton_function, switch


def text(group: KernelGroup) -> str:
    """Returns the functions and kernels of a group."""
    keys = group.keys
    calls = [skeleton_call(opcode, key) for opcode, key in enumerate(keys)]
    words = "\n".join(group.kind.geometry_words())
    parts = [head(group.lanes, group.keys), words, *sections(keys, skeleton_function)]
    return "\n\n".join([*parts, kernels(group, lambda copy: [switch(calls)])])
