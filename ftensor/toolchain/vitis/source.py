"""HLS C++ of a group: one file for v++, which g++ compiles just as well through stand-ins."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

from ...kernels.hls_path import hls_root
from ..group import Group

# Files of hls/ that the sources include as "ftensor/...".
HEADERS = (
    "vitis/words.h",
    "vitis/stages.h",
    "vitis/runs.h",
    "vitis/lanes.h",
    "vitis/compute.h",
    "vitis/end_compute.h",
    "math.h",
    "complex.h",
    "binary.h",
    "special.h",
    "position.h",
    "locate.h",
    "gemm.h",
    "dialect/vitis.h",
)


def source(group: Group) -> str:
    """The text of the one .cpp file that makes the group's kernel.

    ValueError for a group that cannot be one kernel: members whose ports differ in width, wider
    than 512 bits, strided in several lanes, or (reductions) fold different states.
    """
    writer = import_module(f".{group.kind.vitis(group.lanes)}", __package__)
    text: str = writer.source(group)
    return text


def copy_headers(folder: Path) -> None:
    """Put what the sources include into `folder`/ftensor, which `-I folder` then finds."""
    for name in HEADERS:
        target = folder / "ftensor" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(hls_root() / name, target)


def standins() -> Path:
    """The folder with g++'s stand-ins for Vitis' own headers."""
    return hls_root() / "standin"
