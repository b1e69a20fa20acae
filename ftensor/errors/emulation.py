"""Messages about running without a board."""

from __future__ import annotations

from collections.abc import Iterable


class EmulationError(RuntimeError):
    """This machine, or this image, cannot be emulated; `status` is the command's exit status."""

    status = 2


def no_xrt(looked: Iterable[object]) -> EmulationError:
    """Xilinx's runtime is not installed."""
    return EmulationError(
        "Xilinx's runtime (XRT) is not on this machine: libxilinxopencl.so.2 and "
        f"libxrt_swemu.so.2 are in none of {', '.join(map(str, looked))}. On Debian and Ubuntu: "
        "apt-get install libxrt1 libxrt-utils; elsewhere set XILINX_XRT to its folder"
    )


def wrong_system(system: str) -> EmulationError:
    """XRT is for Linux on x86-64."""
    return EmulationError(f"XRT's emulation exists for Linux on x86-64, not for {system}")


def no_such_image(path: object, why: str) -> EmulationError:
    """A file that cannot be read."""
    return EmulationError(f"the image {path} cannot be read: {why}")


def not_for_emulation(path: object, why: str) -> EmulationError:
    """An image without what the software device runs."""
    return EmulationError(
        f"{path} cannot be emulated: {why}. The software device runs images whose kernels are a "
        "shared object: `ftensor build --target csim` or `ftensor image pack` makes them"
    )


def socket_path_too_long(path: str, limit: int) -> EmulationError:
    """A socket's path has a limit of the kernel's."""
    return EmulationError(f"the socket {path} has {len(path)} characters, but Linux allows {limit}")


def nothing_to_run() -> EmulationError:
    """No program on the command line."""
    return EmulationError("name the program to run: ftensor emulate -- python program.py")


def cannot_start(program: str, failure: OSError) -> EmulationError:
    """The program is not there or may not be run; the status is that of a shell."""
    error = EmulationError(f"{program} cannot be started: {failure.strerror or failure}")
    error.status = 127 if isinstance(failure, FileNotFoundError) else 126
    return error


def bad_settings(path: str, why: Exception) -> EmulationError:
    """The user's xrt.ini."""
    return EmulationError(f"XRT's settings in {path} cannot be read: {why}")


def no_execution(folder: object) -> EmulationError:
    """A file system on which nothing runs."""
    return EmulationError(
        f"programs may not run in {folder} (mounted with noexec?), but XRT must start the software "
        "device from there; remount /tmp with exec"
    )
