"""A picture of what a group of cases reaches, below what the processor can."""

from __future__ import annotations

from pathlib import Path

from cases import CASES
from figures import MINE

from ftensor.errors.commands import PictureError
from ftensor.profiler import profile


def roofline(group: str, path: Path) -> None:
    """Draws what a group's cases reach; waits for each, as `of_rows` does."""
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
