"""Another order of launches that have no order, by a seed: a host that misses a wait shows wrong data.

XRT starts a launch when all that it waits for has ended. So launches that are started and have not
ended have no order, and neither do the copies of the host in the meantime.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from .kernels import EmulatedUnit

SETTING = "FTENSOR_EMULATION_SHUFFLE"  # the seed, in the environment of the device
# Questions about each held launch, and nothing else from the host, until one of them runs. The host
# asks about once a millisecond; a busy machine delays its questions as it delays its commands.
QUIET_QUESTIONS = 50
AT_ONCE = 0.25  # of the launches
AT_ONCE_SECONDS = 1.0  # that the host waits for a launch that runs at once; it may be one without an end


class _Held(NamedTuple):
    turn: float  # drawn; the lowest runs first
    unit: EmulatedUnit
    run: Callable[[], None]


class Shuffle:
    """Decides by a seed when launches run.

    A launch runs at once, before the device serves another request, or it is held. The held ones
    run one after another, in a random order, when the host has nothing else to say. Both depend on
    the seed, the unit and the number of its launches alone, not on other launches.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._starts: Counter[str] = Counter()  # launches of each unit
        self._held: list[_Held] = []
        self._begun: list[EmulatedUnit] = []
        self._questions = 0

    def heard(self) -> None:
        """Notes a request of the host that is no question about a unit."""
        self._questions = 0

    def asked(self) -> None:
        """Notes a question about a unit, and runs the next launch if the host only asks."""
        self._questions += 1
        if self._questions < QUIET_QUESTIONS * len(self._held) or not self._held:
            return
        self._begun = [unit for unit in self._begun if unit.running]
        if not self._begun:
            first = min(self._held, key=lambda held: held.turn)
            self._held.remove(first)
            if not first.unit.kernel.streams:  # kernels that are joined run together
                self._begun.append(first.unit)
            first.run()

    def start(self, unit: EmulatedUnit, run: Callable[[], None]) -> None:
        """Calls `run()` for a launch of a unit, now or later."""
        self._begun = [begun for begun in self._begun if begun is not unit]  # its launch before has ended
        drawn = random.Random(f"{self._seed} {unit.name} {self._starts[unit.name]}")
        self._starts[unit.name] += 1
        if drawn.random() >= AT_ONCE:
            self._held.append(_Held(drawn.random(), unit, run))
            return
        run()
        if not unit.kernel.streams:
            unit.ended(AT_ONCE_SECONDS)

    def flush(self) -> None:
        """Runs all held launches, since their image is unloaded."""
        for held in self._held:
            held.run()
        self._held.clear()
