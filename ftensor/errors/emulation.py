"""Messages about running without a board."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from .build import BuildError
from .message import Message


class EmulationError(RuntimeError):
    """This machine or this image cannot be emulated; `status` is the command's exit status."""

    status = 2


no_xrt = Message(
    EmulationError,
    "Xilinx's runtime (XRT) is not on this machine: libxilinxopencl.so.2 and libxrt_swemu.so.2 are in none of "
    "{looked!c}. On Debian and Ubuntu: apt-get install libxrt1 libxrt-utils; elsewhere set XILINX_XRT to its "
    "folder",
)
wrong_system = Message(EmulationError, "XRT's emulation exists for Linux on x86-64, not for {system}")
no_such_image = Message(EmulationError, "the image {path} cannot be read: {why}")
not_for_emulation = Message(
    EmulationError,
    "{path} cannot be emulated: {why}. The software device runs images whose kernels are a shared "
    "object: `ftensor build --target csim` or `ftensor image pack` makes them",
)
socket_path_too_long = Message(EmulationError, "the socket {path} has {path!n} characters, but Linux allows {limit}")
cannot_write = Message(EmulationError, "can't write {path}: {why}")
nothing_to_run = Message(EmulationError, "name the program to run: ftensor emulate -- python program.py")


def cannot_start(program: str, failure: OSError) -> EmulationError:
    """Error for a program that does not exist or is not executable; the status is that of a
    shell."""
    error = EmulationError(f"{program} cannot be started: {failure.strerror or failure}")
    error.status = 127 if isinstance(failure, FileNotFoundError) else 126
    return error


bad_settings = Message(EmulationError, "XRT's settings in {path} cannot be read: {why}")
no_execution = Message(
    EmulationError,
    "programs may not run in {folder} (mounted with noexec?), but XRT must start the software "
    "device from there; remount /tmp with exec",
)


INSTALL = "ftensor emulate --intel --install"


def emulator_missing(folder: Path) -> RuntimeError:
    """Error for an emulator that is missing from its folder."""
    state = "holds no emulator" if os.path.isdir(folder) else "is not there"
    return RuntimeError(
        f"Intel's FPGA emulator is not installed: {folder} {state}. To install it (Linux on "
        f"x86-64, about 1 GB): {INSTALL}; to take one that is elsewhere: --folder DIR, or "
        f"FTENSOR_INTEL_FPGA_EMULATOR=DIR"
    )


emulator_folder_taken = Message(
    RuntimeError,
    "{folder} holds something else already, and the emulator needs a folder of its own: name "
    "another one with --folder DIR, or empty this one",
)


def emulator_not_installed(folder: Path, packages: Sequence[str]) -> RuntimeError:
    """Error for a failed pip run, which printed the reason."""
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
    """Error for a program behind `--` that does not exist or can't run."""
    return RuntimeError(f"{program} can't be started: {problem.strerror or problem}")


no_program_to_emulate = Message(
    ValueError, "no program to run; say which: ftensor emulate --intel -- python program.py"
)
option_of_intel = Message(ValueError, "{option} is about Intel's FPGA emulator: add --intel")


def no_emulator_to_build(folder: Path) -> BuildError:
    """Error for `ftensor build --target intel-emulator` without the emulator."""
    return BuildError(
        f"the target intel-emulator needs Intel's FPGA emulator, and it is not in {folder}; install it: {INSTALL}"
    )
