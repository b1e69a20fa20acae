"""Messages of commands: emulation, estimates, profiles, figures, tuning, warming."""

from __future__ import annotations

from .build import BuildError  # noqa: F401 (a class of commands.txt)
from .message import messages

__getattr__ = messages(__name__)


class EmulationError(RuntimeError):
    """This machine or this image cannot be emulated; `status` is the command's exit status."""

    status = 2


def cannot_start(program: str, failure: OSError) -> EmulationError:
    """Error for a program that does not exist or is not executable; the status is that of a
    shell."""
    error = EmulationError(f"{program} cannot be started: {failure.strerror or failure}")
    error.status = 127 if isinstance(failure, FileNotFoundError) else 126
    return error


INSTALL = "ftensor emulate --intel --install"


class EstimateError(RuntimeError):
    """An estimate cannot be made as requested. The command exits with `status`."""

    status = 1


def program_failed(program: str, status: int) -> EstimateError:
    """Error for a program that failed; the command exits with the program's status."""
    error = EstimateError(f"{program} failed; its launches are not evaluated")
    error.status = status
    return error


class PictureError(RuntimeError):
    """A figure cannot be drawn as requested."""


class TuneError(ValueError):
    """There is nothing to measure."""


class WarmError(ValueError):
    """The requested kernels can't be compiled."""


class ProjectError(ValueError):
    """A project cannot be written."""
