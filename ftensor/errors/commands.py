"""Messages of commands: estimates, profiles, figures, tuning, warming."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..terminal import guess
from .message import Message


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
published_alone = Message(EstimateError, "--published prints its table alone, without {others}")
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


def program_failed(program: str, status: int) -> EstimateError:
    """Error for a program that failed; the command exits with the program's status."""
    error = EstimateError(f"{program} failed; what it launched until then is not looked at")
    error.status = status
    return error


entered_twice = Message(RuntimeError, "this profile was taken before; make another one: profile()")
no_time = Message(ValueError, "min_time must be more than 0 seconds, not {seconds!r}")
not_done = Message(RuntimeError, "this profile has no end yet: leave its `with` block first")


def no_order(sort_by: object, columns: Sequence[str]) -> ValueError:
    """Error for an unknown column to sort by."""
    return ValueError(f"sort_by={sort_by!r} is none of {_not_among(sort_by, columns)}")


def no_group(group_by: object, group_keys: Sequence[str]) -> ValueError:
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
no_format = Message(PictureError, "{path}: the ending says the format, one of {known}")
not_written = Message(PictureError, "{path} cannot be written: {problem}")


class TuneError(ValueError):
    """There is nothing to measure."""


no_processor = Message(
    TuneError,
    "{device} is no processor: where one way begins to be quicker is measured on CPUs; the kernels "
    "of a board are chosen by its inventory (`ftensor docs tuning`)",
)
rounds = Message(TuneError, "--rounds {rounds}: at least one is needed")


class WarmError(ValueError):
    """The requested kernels can't be compiled."""


nothing_asked = Message(WarmError, "say what to compile: --ops add,sum or --all or a program")


def no_such_op(name: str, names: Iterable[str]) -> WarmError:
    """Error for a name that is neither a function nor a method."""
    advice = guess(name, names) or "; names are ftensor's, as in --ops add,sum,matmul"
    return WarmError(f"there is no op {name!r}{advice}")


def no_such_dtype(name: str, names: Iterable[str]) -> WarmError:
    """Error for an unknown dtype name."""
    choices = list(names)
    return WarmError(f"there is no dtype {name!r}; there are {', '.join(choices)}{guess(name, choices)}")


takes_images = Message(WarmError, "{device} takes its kernels from images: `ftensor build` makes one")
