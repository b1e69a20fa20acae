"""Kernels on request: `ftensor emulate` builds what no image has, while the program waits."""

from __future__ import annotations

import json
import os
import pickle
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from ...kernels.key import Key
from ..images import BuildResult

# In the folder that `ftensor emulate` makes for a run: where it listens, if it builds kernels.
SOCKET = "kernels"


def maker() -> Callable[[Sequence[Key]], BuildResult] | None:
    """What has kernels built and says in which image they are; None where nobody builds."""
    place = Path(os.environ.get("FTENSOR_EMULATION", "")) / SOCKET
    if not place.is_absolute() or not place.is_socket():
        return None
    return lambda keys: ask(place, keys)


def ask(place: Path, keys: Sequence[Key]) -> BuildResult:
    """What became of `keys`, once they are built.

    The request is a pickled dict from entries to pickled keys, so that one which the other side
    can't read keeps no other from being built; the answer is that of `BuildResult` in JSON.
    """
    packed, problems = dict[str, bytes](), dict[str, str]()
    for key in keys:
        try:
            packed[key.entry] = pickle.dumps(key)
        except (pickle.PicklingError, AttributeError, TypeError) as problem:
            problems[key.entry] = str(problem)
    if not packed:
        return BuildResult(None, problems)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(place))
            connection.sendall(pickle.dumps(packed))
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answers:
                answer = json.loads(answers.read())
    except (OSError, ValueError) as problem:
        return BuildResult(None, problems | dict.fromkeys(packed, str(problem)))
    return BuildResult(answer["image"], problems | answer["problems"])
