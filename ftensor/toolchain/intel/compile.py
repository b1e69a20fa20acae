"""Compiles and links for Intel's FPGA emulator, in a process with the emulator's environment.

    python compile.py compile PLATFORM OUT SOURCE.cl
    python compile.py link PLATFORM OUT OBJECT...

PLATFORM is a pattern of the emulator's platform name. The script does not import the package: that
import takes longer than compiling a kernel.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

OPTIONS = b"-cl-std=CL1.2"


def _device(pattern: str) -> Any:
    import pyopencl as cl

    for platform in cl.get_platforms():
        if re.search(pattern, platform.name):
            return platform.get_devices()[0]
    names = [platform.name for platform in cl.get_platforms()]
    sys.exit(f"the emulator is not among the OpenCL platforms {names}")


def compile_source(device: Any, output: Path, source: Path) -> None:
    """Compiles a kernel file to an object. Exits with the compiler's log on failure."""
    import pyopencl as cl
    from pyopencl import _cl

    program: Any = _cl._Program(cl.Context([device]), source.read_text())
    try:
        program.compile(OPTIONS, [device], [])
    except cl.Error:
        sys.exit(program.get_build_info(device, cl.program_build_info.LOG))
    output.write_bytes(program.get_info(cl.program_info.BINARIES)[0])


def link_objects(device: Any, output: Path, objects: Sequence[Path]) -> None:
    """Links all objects to one program. Exits with the linker's message on failure."""
    import pyopencl as cl
    from pyopencl import _cl

    context = cl.Context([device])
    parts = [_cl._Program(context, [device], [path.read_bytes()]) for path in objects]
    try:
        program: Any = _cl._Program.link(context, parts, b"", [device])
    except cl.Error as problem:
        sys.exit(f"the objects can't be linked: {problem}")
    output.write_bytes(program.get_info(cl.program_info.BINARIES)[0])


def main(arguments: Sequence[str]) -> None:
    """Runs this module as a program: "compile" or "link", with its arguments."""
    warnings.simplefilter("ignore")  # a failing build prints the compiler's log
    what, platform, output, *inputs = arguments
    if what == "compile":
        compile_source(_device(platform), Path(output), Path(inputs[0]))
    else:
        link_objects(_device(platform), Path(output), [Path(path) for path in inputs])


if __name__ == "__main__":
    here = Path(__file__).parent  # its files must not shadow other packages' modules
    sys.path[:] = [place for place in sys.path if Path(place) != here]
    main(sys.argv[1:])
