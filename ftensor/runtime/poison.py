"""Memory pools that fill what they allocate (FTENSOR_POISON)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .. import errors
from .pool import VECTOR, MemoryPool, Storage

if TYPE_CHECKING:
    from .stream import DeviceStream


def poisoned(pool: MemoryPool) -> MemoryPool:
    """Returns the pool; with FTENSOR_POISON=1 it fills all allocated memory with `POISON`.

    This reveals reads of memory that no kernel has written. A subclass does the fill, so `take`
    costs nothing without the setting.
    """
    text = os.environ.get("FTENSOR_POISON", "").strip()
    if text not in ("", "0", "1"):
        raise errors.environment_value("FTENSOR_POISON", text, "0 or 1")
    if text == "1":
        kind = type(pool)

        def take(self: MemoryPool, nbytes: int, stream: DeviceStream) -> Storage:
            storage = kind.take(self, nbytes, stream)
            # Whole vectors, as kernels write them; bytes after these are never read.
            self.backend.poison(storage, (nbytes + VECTOR - 1) & -VECTOR)
            return storage

        def renew(self: MemoryPool, storage: Storage) -> None:
            kind.renew(self, storage)
            self.backend.poison(storage, (storage.nbytes + VECTOR - 1) & -VECTOR)

        pool.__class__ = type(f"Poisoned{kind.__name__}", (kind,), {"take": take, "renew": renew})
    return pool
