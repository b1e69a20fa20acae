"""The logger "ftensor": devices, images and compilations, for programs that configure `logging`, for
FTENSOR_LOG and for the commands' --verbose and --quiet."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from . import errors

VARIABLE = "FTENSOR_LOG"
LEVELS = ("debug", "info", "warning", "error")
LOGGER = logging.getLogger("ftensor")
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_handler: logging.Handler | None = None


def level() -> str | None:
    """Returns the level in FTENSOR_LOG; None if it is not set. Raises ValueError for another word."""
    word = os.environ.get(VARIABLE, "").strip().lower()
    if word and word not in LEVELS:
        raise errors.environment_value(VARIABLE, word, f"one of {', '.join(LEVELS)}")
    return word or None


def print_records() -> None:
    """Prints records of FTENSOR_LOG's level and above to standard error; does nothing if it is not
    set.

    Adds one handler, however often it is called. Raises ValueError for a level that does not exist.
    """
    global _handler
    if (word := level()) is None:
        return
    if _handler is None:
        _handler = logging.StreamHandler(sys.stderr)
        _handler.setFormatter(logging.Formatter(_FORMAT, "%H:%M:%S"))
        LOGGER.addHandler(_handler)
    _handler.setLevel(word.upper())
    LOGGER.setLevel(word.upper())


@contextmanager
def printed(word: str | None) -> Iterator[None]:
    """Sets FTENSOR_LOG inside the block, also for programs that are started there. None changes
    nothing."""
    if word is None:
        yield
        return
    value, level_before, handler_before = os.environ.get(VARIABLE), LOGGER.level, _handler
    os.environ[VARIABLE] = word
    print_records()
    try:
        yield
    finally:
        LOGGER.setLevel(level_before)
        if value is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = value
        if handler_before is None:
            _remove_handler()


def _remove_handler() -> None:
    global _handler
    if _handler is not None:
        LOGGER.removeHandler(_handler)
        _handler = None


def is_quiet() -> bool:
    """True if only errors are printed: FTENSOR_LOG=error, which a command's --quiet sets."""
    return os.environ.get(VARIABLE, "").strip().lower() == "error"
