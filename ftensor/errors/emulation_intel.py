"""Messages about Intel's FPGA emulator and the images made for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .build import BuildError
from .message import Message

INSTALL = "ftensor emulate --intel --install"


def emulator_missing(folder: Path) -> RuntimeError:
    """The emulator is not in the folder in which it was looked for."""
    where = "holds no emulator" if folder.is_dir() else "is not there"
    return RuntimeError(
        f"Intel's FPGA emulator is not installed: {folder} {where}. To install it (Linux on "
        f"x86-64, about 1 GB): {INSTALL}; to take one that is elsewhere: --folder DIR, or "
        f"FTENSOR_INTEL_FPGA_EMULATOR=DIR"
    )


emulator_folder_taken = Message(
    RuntimeError,
    "{folder} holds something else already, and the emulator needs a folder of its own: name "
    "another one with --folder DIR, or empty this one",
)


def emulator_not_installed(folder: Path, packages: Sequence[str]) -> RuntimeError:
    """pip failed, and said why."""
    return RuntimeError(
        f"Intel's FPGA emulator could not be installed into {folder}: pip's own words are above. "
        f"It needs {' and '.join(packages)}, which are there for Linux on x86-64"
    )


emulator_not_written = Message(RuntimeError, "Intel's FPGA emulator could not be installed into {folder}: {problem}")
emulator_needs_cache = Message(
    RuntimeError,
    "the OpenCL loader's settings for the emulator can't be written into {folder}: {problem}; set "
    "FTENSOR_CACHE_DIR to a folder that can be written",
)


def program_not_started(program: str, problem: OSError) -> RuntimeError:
    """The program behind `--` does not exist or can't run."""
    return RuntimeError(f"{program} can't be started: {problem.strerror or problem}")


no_program_to_emulate = Message(
    ValueError, "no program to run; say which: ftensor emulate --intel -- python program.py"
)
option_of_intel = Message(ValueError, "{option} is about Intel's FPGA emulator: add --intel")


def no_emulator_to_build(folder: Path) -> BuildError:
    """`ftensor build --target intel-emulator` without the emulator."""
    return BuildError(
        f"the target intel-emulator needs Intel's FPGA emulator, and it is not in {folder}; install it: {INSTALL}"
    )
