"""Intel's FPGA emulator: where it is, and the environment that a program needs to use it.

It is the vendor's own OpenCL platform for FPGAs without a board, released as wheels for Linux on
x86-64. It cannot share a folder or a process with the newer CPU runtime of the same packages, so
it has a folder of its own, and a program that uses it is started with that folder in its
environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .. import icd
from ..spaceless import path_without_blanks

DRIVER = "libintelocl_emu.so"
VARIABLE = "FTENSOR_INTEL_FPGA_EMULATOR"
TARGET = "intel-fpga-emulator"
# For newer CPUs its compiler makes code that computes a wrong exp; this level it gets right.
SETTINGS = {"CL_CONFIG_CPU_TARGET_ARCH": "core-avx2"}


def default_folder() -> Path:
    """Where the emulator is looked for and installed: $FTENSOR_INTEL_FPGA_EMULATOR, else a folder
    among the user's data."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("ftensor")) / TARGET


def driver(folder: Path | None = None) -> Path | None:
    """The emulator's library in a folder (None: the default one), or None where there is none."""
    folder = folder or default_folder()
    if not folder.is_dir():
        return None
    # pip's layout of a prefix differs between systems: lib, local/lib, lib64.
    paths = sorted(folder.glob(DRIVER)) or sorted(folder.rglob(DRIVER))
    return paths[0].resolve() if paths else None


def version(library: Path) -> str:
    """The version of an installed emulator, as pip noted it; else the library's own number."""
    for folder in library.parents[:2]:
        for record in folder.rglob("intel_opencl_rt-*.dist-info"):
            return record.name.removeprefix("intel_opencl_rt-").removesuffix(".dist-info")
    return library.resolve().name.removeprefix(f"{DRIVER}.")


def environment(library: Path, base: Mapping[str, str], vendors: Path) -> dict[str, str]:
    """`base` with what lets a program see the emulator, and ftensor take it.

    `library` is the path that `driver` returned; `vendors` is a folder in which a folder for the OpenCL
    loader, which offers the emulator alone, is made or found.
    """
    library = path_without_blanks(library)
    loader = icd.write_folder({f"{TARGET}.icd": str(library)}, vendors)
    libraries = [str(library.parent), base.get("LD_LIBRARY_PATH", "")]
    return {
        **SETTINGS,
        **base,
        "OCL_ICD_VENDORS": os.path.join(loader, ""),
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, libraries)),
        "FTENSOR_DEVICE": TARGET,
    }
