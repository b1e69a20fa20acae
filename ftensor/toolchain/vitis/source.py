"""HLS C++ of a group: one file for v++, which g++ compiles just as well through stand-ins."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

from ...kernels.hls_path import hls_root
from ..group import Group


def headers() -> dict[str, Path]:
    """The files that sources include, by the names under which they do."""
    places = ("*.h", "vitis/*.h", "dialect/vitis.h")
    found = sorted(path for place in places for path in hls_root().glob(place))
    return {f"ftensor/{path.relative_to(hls_root()).as_posix()}": path for path in found}


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
    for name, path in headers().items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def standins() -> Path:
    """The folder with g++'s stand-ins for Vitis' own headers."""
    return hls_root() / "standin"
