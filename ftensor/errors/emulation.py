"""Messages about running without a board."""

from __future__ import annotations

from .message import Message


class EmulationError(RuntimeError):
    """This machine, or this image, cannot be emulated; `status` is the command's exit status."""

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
nothing_to_run = Message(EmulationError, "name the program to run: ftensor emulate -- python program.py")


def cannot_start(program: str, failure: OSError) -> EmulationError:
    """The program is not there or may not be run; the status is that of a shell."""
    error = EmulationError(f"{program} cannot be started: {failure.strerror or failure}")
    error.status = 127 if isinstance(failure, FileNotFoundError) else 126
    return error


bad_settings = Message(EmulationError, "XRT's settings in {path} cannot be read: {why}")
no_execution = Message(
    EmulationError,
    "programs may not run in {folder} (mounted with noexec?), but XRT must start the software "
    "device from there; remount /tmp with exec",
)
