"""Intel's FPGA emulator: its location, and the environment variables for a program that uses it.

The emulator is the vendor's OpenCL platform for FPGAs, without a board, and comes in wheels for
Linux on x86-64. It cannot share a folder or a process with the newer CPU runtime of the same
packages. So it has its own folder, and programs that use it start with that folder in their
environment.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .. import icd
from ..icd import path_without_blanks

DRIVER = "libintelocl_emu.so"
VARIABLE = "FTENSOR_INTEL_FPGA_EMULATOR"
TARGET = "intel-fpga-emulator"
# For newer CPUs its compiler generates a wrong exp; for this architecture it is correct.
SETTINGS = {"CL_CONFIG_CPU_TARGET_ARCH": "core-avx2"}


def default_folder() -> Path:
    """Returns the emulator's folder: $FTENSOR_INTEL_FPGA_EMULATOR, else a folder in the user's data
    directory."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("ftensor")) / TARGET


def driver(folder: Path | None = None) -> Path | None:
    """Returns the emulator's library in a folder (None: the default one), or None if missing."""
    folder = folder or default_folder()
    if not os.path.isdir(folder):  # also for a name that no folder can have
        return None
    # pip's layout of a prefix differs between systems: lib, local/lib, lib64.
    paths = sorted(folder.glob(DRIVER)) or sorted(folder.rglob(DRIVER))
    return paths[0].resolve() if paths else None


def version(library: Path) -> str:
    """Returns an installed emulator's version from pip's records, else from the library's name."""
    for folder in library.parents[:2]:
        for record in folder.rglob("intel_opencl_rt-*.dist-info"):
            return record.name.removeprefix("intel_opencl_rt-").removesuffix(".dist-info")
    return library.resolve().name.removeprefix(f"{DRIVER}.")


def environment(library: Path, base: Mapping[str, str], vendors: Path) -> dict[str, str]:
    """Returns `base` with the variables that let a program and ftensor use the emulator.

    `library` is the path that `driver` returned. The OpenCL loader reads a folder that lists only
    the emulator; it is found or created in the folder `vendors`.
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
