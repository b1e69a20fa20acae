"""In emulation XRT's scheduler is a thread of the process: when has it tidied up?"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

TIDYING = 0.1  # seconds of a processor: a thread that has had them is at work of its own


def threads_at_rest(seconds: float = 30.0) -> None:
    """Wait until every other thread of this process sleeps, but not longer than `seconds`.

    Those that go on computing are not waited for. That is told by the processor's time they have
    had: on a busy machine a thread with little to do may wait long until it can do it.
    """
    me, calm, end = str(threading.get_native_id()), 0, time.monotonic() + seconds
    had: dict[str, float] = {}
    while calm < 2 and time.monotonic() < end:
        calm += 1
        for task in os.listdir("/proc/self/task"):
            state, spent = _state(task)
            if task != me and state in "RD" and spent - had.setdefault(task, spent) < TIDYING:
                calm = 0
        time.sleep(0.001)


def _state(task: str) -> tuple[str, float]:
    """What a thread does (R and D: it runs, waits for a processor or the disk), and the seconds of
    a processor that it has had."""
    try:
        stat = Path(f"/proc/self/task/{task}/stat").read_text()
    except OSError:  # it has just ended
        return "X", 0.0
    fields = stat.rpartition(")")[2].split()
    return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
