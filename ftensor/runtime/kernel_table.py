"""The kernels that a device holds: bounded, and each made by one thread."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# On Intel's CPU runtime a kernel takes 0.6 MB.
MOST_KERNELS = 640


class KernelTable(OrderedDict[Hashable, Any]):
    """Kernels by key. A full table drops the quarter that was not used for the longest time.

    Prepared launches hold kernels and don't look them up, so `forget_launches` drops these, too.
    That is done once before the table is full, so that kernels in use are looked up in time.
    """

    def __init__(self, forget_launches: Callable[[], None], most: int = MOST_KERNELS) -> None:
        super().__init__()
        self.most = most
        self._forget_launches = forget_launches
        self._asked = False

    def get(self, key: Hashable, default: Any = None) -> Any:
        """The kernel of this key, which from now on is the one used last."""
        kernel = super().get(key, default)
        with suppress(KeyError):  # it is not there, or another thread drops it just now
            self.move_to_end(key)
        return kernel

    def __setitem__(self, key: Hashable, kernel: Any) -> None:
        super().__setitem__(key, kernel)
        full = len(self) > self.most
        if full:
            for _ in range(max(1, self.most // 4)):
                self.popitem(last=False)
        if full or (not self._asked and 4 * len(self) > 3 * self.most):
            self._asked = not full
            self._forget_launches()


class Makers:
    """A lock for each thing that is being made: by one thread, and other things meanwhile.

    A signal's handler that needs what its own thread is making makes it, too.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._making: dict[Any, tuple[Any, list[int]]] = {}

    @contextmanager
    def one(self, thing: Any) -> Iterator[None]:
        """Inside the block no other thread makes this thing."""
        with self._lock:
            lock, threads = self._making.setdefault(thing, (threading.RLock(), [0]))
            threads[0] += 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                threads[0] -= 1
                if not threads[0]:
                    del self._making[thing]
