"""Kernels on request: `ftensor emulate` builds what no image has, while the program waits."""

from __future__ import annotations

import json
import os
import pickle
import socket
from collections.abc import Callable
from pathlib import Path

from ...errors import image as errors
from ...kernels.key import Key

# In the folder that `ftensor emulate` makes for a run: where it listens, if it builds kernels.
SOCKET = "kernels"


def maker() -> Callable[[Key], str] | None:
    """What has a kernel built and says in which image it is; None where nobody builds."""
    place = Path(os.environ.get("FTENSOR_EMULATION", "")) / SOCKET
    if not place.is_absolute() or not place.is_socket():
        return None
    return lambda key: ask(place, key)


def ask(place: Path, key: Key) -> str:
    """The image that has `key`; ImageError where it could not be built."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(place))
            connection.sendall(pickle.dumps(key))
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answers:
                answer = json.loads(answers.read())
    except (OSError, ValueError, pickle.PicklingError) as problem:
        raise errors.not_built_on_request(key.entry, problem) from None
    if "image" not in answer:
        raise errors.not_built_on_request(key.entry, answer["problem"])
    return str(answer["image"])
