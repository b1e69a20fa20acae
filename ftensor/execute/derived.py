"""What is made of a tensor's bytes and kept while nobody writes them, as packed weights are.

A storage's `derived` is a `DerivedTensors`, which whoever writes there drops (`Storage.changed`).
So a result is good as long as it is there: it is kept by what stood there before its kernel was
enqueued.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

from .._tensor import Tensor

if TYPE_CHECKING:
    from ..runtime.storage import Storage

# Bytes of a storage from which on something is kept of it, and for how many calls.
LEAST, MOST = 1 << 14, 64


class Derived(NamedTuple):
    """Tensors made of a storage's bytes, and of those of another one as `mark` stands for them."""

    tensors: tuple[Tensor, ...]
    mark: object


class DerivedTensors:
    """What was made of a storage's bytes, by what asks for it; None for what has only been asked
    for. `mark` stands for the bytes as they are."""

    __slots__ = ("__weakref__", "entries", "mark")

    def __init__(self) -> None:
        self.entries: dict[Hashable, Derived | None] = {}
        self.mark = object()

    def note(self, key: Hashable, derived: Derived | None) -> None:
        """Keep something, or that it was asked for."""
        if len(self.entries) >= MOST:
            self.entries.clear()
        self.entries[key] = derived

    def drop(self) -> bool:
        """Forget all; whether there was memory in it."""
        held = any(self.entries.values())
        self.entries.clear()
        return held


def keeps(storage: Storage) -> bool:
    """Whether something may be kept of a storage: all who write there say so."""
    if storage.nbytes < LEAST or storage.owner is not None or storage.exposed:
        return False
    return not storage.visible


def kept_of(storage: Storage) -> DerivedTensors:
    """What is kept of a storage that `keeps`."""
    kept: DerivedTensors | None = storage.derived
    if kept is None:
        kept = storage.derived = DerivedTensors()
    return kept


def ready(derived: Derived | None, other: Storage) -> tuple[Tensor, ...] | None:
    """The tensors, where `other` still has the bytes that they were made of; they may be used on
    the current stream."""
    if derived is None or other.derived is None or other.derived.mark is not derived.mark:
        return None
    stream, origin = other.backend._current.stream, derived.tensors[0]._storage.stream
    if origin is not stream:
        stream.wait_stream(origin)
    return derived.tensors
