"""In emulation XRT's scheduler is a thread of the process: when has it tidied up?"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path


def threads_at_rest(seconds: float = 0.5) -> None:
    """Wait until every other thread of this process sleeps, but not longer than `seconds`."""
    me, calm, end = str(threading.get_native_id()), 0, time.monotonic() + seconds
    while calm < 2 and time.monotonic() < end:
        busy = any(_runs(task) for task in os.listdir("/proc/self/task") if task != me)
        calm = 0 if busy else calm + 1
        time.sleep(0.001)


def _runs(task: str) -> bool:
    """Whether a thread has something to do, be it that it waits for a processor."""
    try:
        stat = Path(f"/proc/self/task/{task}/stat").read_text()
    except OSError:  # it has just ended
        return False
    return stat.rpartition(")")[2].split()[0] in "RD"
