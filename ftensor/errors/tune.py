"""Messages of `ftensor tune`."""

from __future__ import annotations

from .message import Message


class TuneError(ValueError):
    """There is nothing to measure."""


no_processor = Message(
    TuneError,
    "{device} is no processor: where one way begins to be quicker is measured on CPUs; the kernels "
    "of a board are chosen by its inventory (`ftensor docs tuning`)",
)
rounds = Message(TuneError, "--rounds {rounds}: at least one is needed")
