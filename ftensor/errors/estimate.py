"""Messages about estimating a program's time on a board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..table import guess


class EstimateError(RuntimeError):
    """An estimate that cannot be made as asked."""


def no_board(name: str, known: Sequence[str]) -> EstimateError:
    """A board that the model has no row for."""
    return EstimateError(
        f"the performance model has no board {name!r}; it knows {', '.join(known)} "
        f"(another one is a row in ftensor/boards.py){guess(name, known)}"
    )


def no_program(path: Path, problem: str) -> EstimateError:
    """A program that cannot be read."""
    return EstimateError(f"{path}: {problem}; give the path of a Python program")


def not_sliced(device: str) -> EstimateError:
    """A device whose launches are cut in another way than a board's."""
    return EstimateError(
        f"{device} cuts its launches in another way than a board does; run the estimate on the "
        "C simulation (needs g++) or on an OpenCL CPU device: FTENSOR_DEVICE=csim or "
        "FTENSOR_DEVICE=cpu"
    )


def not_positive(option: str, value: float) -> EstimateError:
    """An option that must be more than nothing."""
    return EstimateError(f"{option} must be more than 0, not {value:g}")


def bad_banks(given: str, memory: str) -> EstimateError:
    """A place of buffers that is no memory of the board."""
    return EstimateError(
        f"--banks {given!r} is no place on this board: '*' for each operand its own bank, "
        f"'{memory}[0]' for one bank, '{memory}[0:3]' for one after another"
    )


def nothing_launched(program: str) -> EstimateError:
    """A program that used no kernel."""
    return EstimateError(f"{program} launched no kernel, so there is nothing to estimate")


def program_failed(program: str) -> EstimateError:
    """A program that ended with an exception of its own (printed before)."""
    return EstimateError(f"{program} failed; what it launched until then is not looked at")
