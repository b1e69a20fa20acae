"""HLS C++ of a group: one file for v++, which g++ compiles too, with stand-in headers."""

from __future__ import annotations

import os
import re
import shutil
from importlib import import_module
from pathlib import Path

from ...errors.build import no_vitis_headers
from ...kernels.network_parts import LinkedKey
from ...kernels.source import hls_root
from ..group import KernelGroup, arguments

_INCLUDED = re.compile(r'^#include ["<](.+)[">]$', re.M)
VITIS_INCLUDE = "FTENSOR_VITIS_INCLUDE"
# Vitis' own headers that the sources include.
INCLUDED = ("ap_int.h", "hls_math.h", "hls_stream.h", "hls_vector.h")


def headers() -> dict[str, Path]:
    """Returns the files that sources include, by the names in the include lines."""
    patterns = ("*.h", "vitis/*.h", "dialect/vitis.h")
    paths = sorted(path for place in patterns for path in hls_root().glob(place))
    return {f"ftensor/{path.relative_to(hls_root()).as_posix()}": path for path in paths}


def source(group: KernelGroup) -> str:
    """Returns the text of the .cpp file of a kernel group.

    Raises ValueError for a group that cannot be one kernel: members whose ports differ in width,
    exceed 512 bits, or are strided with several lanes; reductions whose members differ in outputs.
    """
    writer = import_module(f".{group.kind.vitis_module(group.lanes)}", __package__)
    return writer.source(group)


def inline_headers(text: str) -> str:
    """Returns a source with ftensor's headers, and the stand-ins for Vitis' own, inserted in place
    of the include lines."""
    seen: set[Path] = set()

    def there(base: Path, match: re.Match[str]) -> str:
        name = match[1].removeprefix("ftensor/")
        paths = (base / name, hls_root() / name, standins() / name)
        path = next((p.resolve() for p in paths if p.is_file()), None)
        if path is None:
            return match[0]  # one of the compiler's own headers
        content = path.read_text()
        if path in seen and "#pragma once" in content:
            return ""
        seen.add(path)
        content = content.replace("#pragma once\n", "")
        return _INCLUDED.sub(lambda inner: there(path.parent, inner), content)

    return _INCLUDED.sub(lambda match: there(hls_root(), match), text)


def flushing(group: KernelGroup) -> str:
    """Returns the text for a C simulation that flushes subnormal numbers to zero.

    The kernel body is a separate noinline function, so that no compiler moves its operations before
    the processor's mode switches.
    """
    head, kernel = source(group).split(f'extern "C" void {group.name}(', 1)
    parameters = kernel[: kernel.index("\n{\n")]
    member = group.members[0]
    streams = member.stream_names if isinstance(member, LinkedKey) else ()
    args = ", ".join([*(a.name for a in arguments(group)), *streams])
    return "\n".join(
        [
            f'{head}#include "ftensor/vitis/flush.h"',
            "",
            f"__attribute__((noinline)) static void {group.name}_kernel({kernel}",
            f'extern "C" void {group.name}({parameters}',
            "{",
            "    const ft_flush flush;",
            f"    {group.name}_kernel({args});",
            "}\n",
        ]
    )


def copy_headers(folder: Path) -> None:
    """Copies the sources' headers into `folder`/ftensor, where `-I folder` finds them."""
    for name, path in headers().items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def standins() -> Path:
    """Returns the folder of g++'s stand-ins for Vitis' own headers."""
    return hls_root() / "standin"


def vitis_headers() -> Path:
    """Returns the folder of Vitis' headers for g++: FTENSOR_VITIS_INCLUDE, or the stand-ins'
    folder.

    Raises BuildError if the folder that FTENSOR_VITIS_INCLUDE names lacks a header.
    """
    named = os.environ.get(VITIS_INCLUDE)
    if not named:
        return standins()
    folder = Path(named).expanduser().resolve()
    lacks = [name for name in INCLUDED if not (folder / name).is_file()]
    if lacks:
        raise no_vitis_headers(VITIS_INCLUDE, named, lacks)
    return folder
