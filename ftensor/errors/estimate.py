"""Messages about estimating a program's time on a board."""

from __future__ import annotations

from collections.abc import Sequence

from ..table import guess
from .message import Message


class EstimateError(RuntimeError):
    """An estimate that cannot be made as asked."""


def no_board(name: str, known: Sequence[str]) -> EstimateError:
    """A board that the model has no row for."""
    return EstimateError(
        f"the performance model has no board {name!r}; it knows {', '.join(known)} "
        f"(another one is a row in ftensor/boards.py){guess(name, known)}"
    )


no_program = Message(EstimateError, "{path}: {problem}; give the path of a Python program")
not_sliced = Message(
    EstimateError,
    "{device} cuts its launches in another way than a board does; run the estimate on the C "
    "simulation (needs g++) or on an OpenCL CPU device: FTENSOR_DEVICE=csim or FTENSOR_DEVICE=cpu",
)
not_positive = Message(EstimateError, "{option} must be more than 0, not {value:g}")
bad_banks = Message(
    EstimateError,
    "--banks {banks!r} is no place on this board: '*' for each operand its own bank, "
    "'{memory}[0]' for one bank, '{memory}[0:3]' for one after another",
)
nothing_launched = Message(EstimateError, "{program} launched no kernel, so there is nothing to estimate")
program_failed = Message(EstimateError, "{program} failed; what it launched until then is not looked at")
