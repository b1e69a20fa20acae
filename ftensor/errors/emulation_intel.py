"""Messages about Intel's FPGA emulator and the images made for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .build import BuildError

INSTALL = "ftensor emulate --intel --install"


def emulator_missing(folder: Path) -> RuntimeError:
    """The emulator is not in the folder in which it was looked for."""
    where = "holds no emulator" if folder.is_dir() else "is not there"
    return RuntimeError(
        f"Intel's FPGA emulator is not installed: {folder} {where}. To install it (Linux on "
        f"x86-64, about 1 GB): {INSTALL}; to take one that is elsewhere: --folder DIR, or "
        f"FTENSOR_INTEL_FPGA_EMULATOR=DIR"
    )


def emulator_folder_taken(folder: Path) -> RuntimeError:
    """The emulator would be installed among other files."""
    return RuntimeError(
        f"{folder} holds something else already, and the emulator needs a folder of its own: "
        f"name another one with --folder DIR, or empty this one"
    )


def emulator_not_installed(folder: Path, packages: Sequence[str]) -> RuntimeError:
    """pip failed, and said why."""
    return RuntimeError(
        f"Intel's FPGA emulator could not be installed into {folder}: pip's own words are above. "
        f"It needs {' and '.join(packages)}, which are there for Linux on x86-64"
    )


def emulator_not_written(folder: Path, problem: OSError) -> RuntimeError:
    """The folder can't be made or filled."""
    return RuntimeError(f"Intel's FPGA emulator could not be installed into {folder}: {problem}")


def emulator_needs_cache(folder: Path, problem: OSError) -> RuntimeError:
    """The OpenCL loader's folder can't be made."""
    return RuntimeError(
        f"the OpenCL loader's settings for the emulator can't be written into {folder}: {problem}; "
        f"set FTENSOR_CACHE_DIR to a folder that can be written"
    )


def program_not_started(program: str, problem: OSError) -> RuntimeError:
    """The program behind `--` does not exist or can't run."""
    return RuntimeError(f"{program} can't be started: {problem.strerror or problem}")


def no_program_to_emulate() -> ValueError:
    """`ftensor emulate --intel` with nothing behind it."""
    return ValueError("no program to run; say which: ftensor emulate --intel -- python program.py")


def option_of_intel(option: str) -> ValueError:
    """An option of Intel's emulator without the option that asks for it."""
    return ValueError(f"{option} is about Intel's FPGA emulator: add --intel")


def no_emulator_to_build(folder: Path) -> BuildError:
    """`ftensor build --target intel-emulator` without the emulator."""
    return BuildError(
        f"the target intel-emulator needs Intel's FPGA emulator, and it is not in {folder}; "
        f"install it: {INSTALL}"
    )
