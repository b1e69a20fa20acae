"""OpenCL C for Intel FPGAs: the text of one kernel of an image, as aoc and its emulator take it."""

from __future__ import annotations

from importlib import import_module

from ...image.intel_stages import uses_channels
from ...table import counted
from ..group import Group
from .member import title


def source(group: Group) -> str:
    """The self-contained text of a group. ValueError for one that cannot be a kernel."""
    how = "one loop"
    if group.kind.waits:
        how = "a kernel for each stage, joined by channels"
    elif uses_channels(group.skeleton, group.structure):
        how = "load, compute and store joined by channels"
    comment = [
        f"// Kernel {group.name}: {group.skeleton}, {counted(group.lanes, 'lane')}, {how}, "
        f"{counted(group.units, 'compute unit')}.",
        "// Made by `ftensor build` from the catalogue's expressions; aoc compiles it as it is.",
    ]
    for opcode, key in enumerate(group.keys):
        comment += [f"// {title(opcode, key)}", f"//   serves {key.entry}"]
    if not group.keys:
        comment.append(f"//   serves {group.members[0].entry}")
    body = import_module(f".{group.kind.intel()}", __package__).text(group)
    return "\n".join([*comment, "", body]) + "\n"
