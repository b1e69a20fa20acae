"""Reorders unordered launches by a seed, so that a host that lacks a wait gets wrong data.

XRT starts a launch when its wait list has completed. So launches that run at the same time are
unordered among themselves, and relative to the host's copies at that time.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from .kernels import EmulatedUnit

SETTING = "FTENSOR_EMULATION_SHUFFLE"  # the seed, in the environment of the device
# The polls of each held launch, without other requests in between, after which one runs. The host
# polls about once a millisecond; a busy machine delays polls and commands alike.
POLLS_BEFORE_RUN = 50
IMMEDIATE_SHARE = 0.25  # share of launches that are not held
IMMEDIATE_TIMEOUT = 1.0  # seconds that the host waits for an immediate launch, which may never end


class _Held(NamedTuple):
    turn: float  # a random number; the lowest runs first
    unit: EmulatedUnit
    run: Callable[[], None]


class LaunchShuffle:
    """Decides by a seed when launches run.

    A launch runs at once, before the device serves another request, or it is held. Held launches
    run one after another, in a random order, while the host only polls. Both choices depend only on
    the seed, the unit and the number of its launches, not on other launches.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._starts: Counter[str] = Counter()  # launches of each unit
        self._held: list[_Held] = []
        self._running: list[EmulatedUnit] = []
        self._polls = 0

    def note_request(self) -> None:
        """Records a request of the host other than a poll."""
        self._polls = 0

    def note_poll(self) -> None:
        """Records a poll of a unit, and runs the next launch if the host only polls."""
        self._polls += 1
        if self._polls < POLLS_BEFORE_RUN * len(self._held) or not self._held:
            return
        self._running = [unit for unit in self._running if unit.running]
        if not self._running:
            first = min(self._held, key=lambda held: held.turn)
            self._held.remove(first)
            if not first.unit.kernel.streams:  # connected kernels run together
                self._running.append(first.unit)
            first.run()

    def start(self, unit: EmulatedUnit, run: Callable[[], None]) -> None:
        """Calls `run()` for a launch of a unit, now or later."""
        self._running = [other for other in self._running if other is not unit]  # its earlier launch has ended
        drawn = random.Random(f"{self._seed} {unit.name} {self._starts[unit.name]}")
        self._starts[unit.name] += 1
        if drawn.random() >= IMMEDIATE_SHARE:
            self._held.append(_Held(drawn.random(), unit, run))
            return
        run()
        if not unit.kernel.streams:
            unit.ended(IMMEDIATE_TIMEOUT)

    def flush(self) -> None:
        """Runs all held launches, since their image is unloaded."""
        for held in self._held:
            held.run()
        self._held.clear()
