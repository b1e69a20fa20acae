"""Messages of commands: emulation, estimates, profiles, figures, tuning, warming."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..terminal import guess
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
        f"Intel's FPGA emulator could not be installed into {folder}: pip's message is above. "
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


class EstimateError(RuntimeError):
    """An estimate cannot be made as requested. The command exits with `status`."""

    status = 1


def no_board(name: str, boards: Sequence[str]) -> EstimateError:
    """Error for a board that the model has no data for."""
    return EstimateError(
        f"the performance model has no board {name!r}; it knows {', '.join(boards)} "
        f"(another one is a row in ftensor/boards.py){guess(name, boards)}"
    )


program_missing = Message(
    EstimateError, "name the program: {command} program.py [its arguments], or -m MODULE, or -c CODE"
)
published_alone = Message(EstimateError, "--published prints only its table, without {others}")
no_program = Message(EstimateError, "{path}: {problem}; give the path of a Python program")
not_sliced = Message(
    EstimateError,
    "{device} divides its launches differently from a board; run the estimate on the C "
    "simulation (needs g++) or on an OpenCL CPU device: FTENSOR_DEVICE=csim or FTENSOR_DEVICE=cpu",
)
not_positive = Message(EstimateError, "{option} must be more than 0, not {value:g}")
bad_banks = Message(
    EstimateError,
    "--banks {banks!r} is no memory of this board: '*' for each operand its own bank, "
    "'{memory}[0]' for one bank, '{memory}[0:3]' for one after another",
)
nothing_launched = Message(EstimateError, "{program} launched no kernel, so there is nothing to estimate")


def program_failed(program: str, status: int) -> EstimateError:
    """Error for a program that failed; the command exits with the program's status."""
    error = EstimateError(f"{program} failed; its launches are not evaluated")
    error.status = status
    return error


entered_twice = Message(RuntimeError, "this profile was taken before; make another one: profile()")
no_time = Message(ValueError, "min_time must be more than 0 seconds, not {seconds!r}")
not_done = Message(RuntimeError, "this profile has no end yet: leave its `with` block first")


def no_order(sort_by: object, columns: Sequence[str]) -> ValueError:
    """Error for an unknown column to sort by."""
    return ValueError(f"sort_by={sort_by!r} is none of {_not_among(sort_by, columns)}")


def unknown_group_key(group_by: object, group_keys: Sequence[str]) -> ValueError:
    """Error for an unknown key to group launches by."""
    return ValueError(f"group_by={group_by!r} is none of {_not_among(group_by, group_keys)}")


def _not_among(value: object, choices: Sequence[str]) -> str:
    return ", ".join(choices) + guess(str(value), choices)


class PictureError(RuntimeError):
    """A figure cannot be drawn as requested."""


no_matplotlib = Message(
    PictureError,
    'figures are drawn by matplotlib, which cannot be imported ({error}): pip install ".[plot]" in '
    "the checkout's folder, or pip install matplotlib",
)
no_format = Message(PictureError, "{path}: the suffix selects the format, one of {known}")
not_written = Message(PictureError, "{path} cannot be written: {problem}")


class TuneError(ValueError):
    """There is nothing to measure."""


no_processor = Message(
    TuneError,
    "{device} is not a CPU: the thresholds between kernels are measured on CPUs; the kernels "
    "of a board are chosen by its inventory (`ftensor docs tuning`)",
)
rounds = Message(TuneError, "--rounds {rounds}: at least one is needed")


class WarmError(ValueError):
    """The requested kernels can't be compiled."""


nothing_asked = Message(WarmError, "name the kernels to compile: --ops add,sum or --all or a program")


def no_such_op(name: str, names: Iterable[str]) -> WarmError:
    """Error for a name that is neither a function nor a method."""
    advice = guess(name, names) or "; names are ftensor's, as in --ops add,sum,matmul"
    return WarmError(f"there is no op {name!r}{advice}")


def no_such_dtype(name: str, names: Iterable[str]) -> WarmError:
    """Error for an unknown dtype name."""
    choices = list(names)
    return WarmError(f"there is no dtype {name!r}; there are {', '.join(choices)}{guess(name, choices)}")


class ProjectError(ValueError):
    """A project cannot be written."""


no_project_name = Message(
    ProjectError,
    "{name!r} cannot name a project: a name has up to 64 letters, digits, '_', '-' and '.', and begins with a letter "
    "or digit; the project is written to a folder of this name, here",
)
project_exists = Message(ProjectError, "{folder} exists; choose another name, or remove it")
project_not_written = Message(ProjectError, "{folder} cannot be written: {why}")
takes_images = Message(WarmError, "{device} takes its kernels from images: `ftensor build` makes one")
