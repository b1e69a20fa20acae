"""The launches that a device keeps ready: so many bytes of them, those used last."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

# Of all that prepared launches hold: some 12000 launches.
MOST_BYTES = 1 << 26


class Entry(Protocol):
    """What the table holds."""

    @property
    def kept_bytes(self) -> int:
        """The memory that goes when the table lets go of it."""
        ...


K = TypeVar("K", bound=Entry)


class _New:
    """What the table has for a call that is new."""

    def call(self, inputs: Any, numbers: Any, out: Any) -> None:
        """Nothing is done."""


NEW = _New()


class LaunchTable(dict[Hashable, Any]):
    """Launches, and what stands for them, by key: the newer ones, at a dict's speed. `table[key]`
    is the launch of a call, and for a new call NEW, whose `call` does nothing.

    When these hold half of `most` bytes they become the older ones, and what was older goes.
    `find` sees the older ones, too, and makes what it finds a newer one: so what is used stays.
    What goes may be in flight, so the device is waited for before, by `synchronize`. An entry with
    `dead` is of no use any more when that is true: whoever finds out calls `lost`, and what is dead
    goes when something is kept next.
    """

    def __init__(self, synchronize: Callable[[], object], most: int = MOST_BYTES) -> None:
        super().__init__()
        self.most = most
        self.held = 0  # bytes of the newer ones
        self._lost = False
        self._older: dict[Hashable, Any] = {}
        self._synchronize = synchronize
        # Signals' handlers come here, too, in whatever their thread was doing.
        self._turning = threading.RLock()

    def __missing__(self, key: Hashable) -> Any:
        return NEW

    def find(self, key: Hashable) -> Any:
        """What was kept under `key`, or None."""
        entry = self.get(key)
        if entry is None:
            entry = self._older.pop(key, None)
            if entry is not None:
                entry = self.keep(key, entry)
        return entry

    def keep(self, key: Hashable, entry: K) -> K:
        """Keep `entry`, or what another thread has kept under this key meanwhile; the one kept."""
        if self._lost:
            self._bury()
        one: K = self.setdefault(key, entry)
        if one is entry:
            self.held += entry.kept_bytes
            if 2 * self.held > self.most:
                self._turn()
        return one

    def lost(self, *_: object) -> None:
        """An entry is dead. Finalizers come here, amid whatever their thread was doing."""
        self._lost = True

    def _bury(self) -> None:
        with self._turning:
            self._lost = False
            gone = []
            for table in (self, self._older):
                for key, entry in tuple(table.items()):
                    if getattr(entry, "dead", False):
                        gone.append(table.pop(key, None))
        if gone:
            self._synchronize()

    def _turn(self) -> None:
        with self._turning:
            if 2 * self.held <= self.most:
                return  # another thread has done it
            self.held = 0
            gone, self._older = self._older, {}
            while self:  # one by one: others keep more meanwhile
                key, entry = self.popitem()
                self._older[key] = entry
        if gone:
            self._synchronize()

    def clear(self) -> None:
        """Let go of all; the caller has waited for what is in flight."""
        super().clear()
        self._older.clear()
        self.held = 0
