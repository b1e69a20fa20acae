"""Draws the measured speed of a group of cases below the processor's limits."""

from __future__ import annotations

from pathlib import Path

from cases import CASES
from figures import MINE

from ftensor.errors.commands import PictureError
from ftensor.profiler import profile


def roofline(group: str, path: Path) -> None:
    """Draws a group's roofline. Waits for each case, like `of_rows`."""
    calls = [case.calls((MINE,))[MINE] for case in CASES if case.group == group]
    for call in calls:
        call()
    with profile() as profiled:
        for call in calls * 3:
            call()
    try:
        profiled.plot(path)
    except PictureError as error:
        print(f"no roofline: {error}")
    else:
        print(f"drawn: {path}")
