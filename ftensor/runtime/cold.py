"""What a user at a terminal is told when kernels are compiled first: why nothing happens yet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from time import monotonic
from typing import Any

PATIENCE = 2.0  # seconds of compiling before a word is said


class Notice:
    """Says once in a process that kernels are compiled, when that has taken long."""

    def __init__(self, timer: Callable[..., Any] = Timer, clock: Callable[[], float] = monotonic) -> None:
        self.timer, self.clock = timer, clock
        self.spent, self.said = 0.0, False

    @contextmanager
    def compiling(self, device: str) -> Iterator[None]:
        """Around a compilation, whose time is added to that of those before."""
        began, timer = self.clock(), None
        if not self.said and sys.stderr is not None and sys.stderr.isatty():
            timer = self.timer(max(0.0, PATIENCE - self.spent), self._say, (device,))
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
            self.spent += self.clock() - began

    def _say(self, device: str) -> None:
        if not self.said:
            self.said = True
            text = f"ftensor: kernels are being compiled for {device}, and kept for the next time"
            print(f"{text} (ftensor docs compile-times)", file=sys.stderr, flush=True)


notice = Notice()
