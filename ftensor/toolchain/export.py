"""The files of an exported graph: the graph, an inventory that asks for it, and its sources."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from ..errors.graph import bad_name
from ..graph import jit
from ..graph.staged import Exported
from ..kernels.portable import digest, text
from ..kernels.skeletons import staged
from ..kernels.staged import StagedKey


def install() -> None:
    """Have `jitted.export` write these."""
    jit.writers[:] = [write]
    staged.writers[:] = [program]


def program(key: StagedKey) -> str:
    """The HLS C++ of a key for g++, with all that it includes, and its function called as its entry
    is."""
    from .group import Group
    from .vitis.source import source, whole

    text = whole(source(Group("graph", (key,))))
    return text.replace('extern "C" void graph(', f'extern "C" void {key.entry}(')


def write(key: StagedKey, name: str) -> Exported:
    """NAME.json, NAME.toml, NAME.cpp and NAME.cl. ValueError for a name that no kernel can have."""
    from .group import LONGEST_NAME, Group
    from .intel import source as intel
    from .vitis import source as vitis

    folder, kernel = Path(name).parent, Path(name).name
    if not re.fullmatch(r"[A-Za-z]\w*", kernel, re.ASCII) or len(kernel) > LONGEST_NAME:
        raise bad_name(kernel, LONGEST_NAME)
    paths = [folder / f"{kernel}.{kind}" for kind in ("json", "toml", "cpp", "cl")]
    group = Group(kernel, (key,))
    contents = [text(key), _inventory(key, kernel), vitis.source(group)]
    with suppress(ValueError):  # what Intel's boards have no stage for
        contents.append(intel.source(group))
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in zip(paths, contents, strict=False):
        path.write_text(content)
    opencl = paths[3] if len(contents) > 3 else None
    return Exported(paths[0], paths[1], paths[2], opencl, key.entry)


def _inventory(key: StagedKey, name: str) -> str:
    return "\n".join(
        [
            f"# The graph {name}: any number of rows of {key.length} elements.",
            f'description = "the graph {name}, as one kernel of stages"',
            "",
            "[[graph]]",
            f'file = "{name}.json"',
            f'sha256 = "{digest(key)}"',
            "",
        ]
    )
