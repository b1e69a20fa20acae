"""Guards: assumptions of a trace beyond the call's signature, checked at each call. docs/graphs.md
lists them.

If a guard fails, the function itself runs. A graph whose guards can never hold again is stale, and
its next call traces anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakSet, ref

from .._tensor import Tensor, geometry_key, watchers
from ..dtypes import uint8
from .ir import Graph, GraphBuffer

if TYPE_CHECKING:
    from ..runtime.storage import Storage


class OffsetGuard(NamedTuple):
    """The byte offset of an argument at the trace: modulo `multiple`, or exact and with the
    storage's size if `multiple` is 0."""

    argument: int
    multiple: int
    found: tuple[int, ...]

    @classmethod
    def of(cls, argument: int, t: Tensor, multiple: int) -> OffsetGuard:
        """Returns the guard for a tensor."""
        return cls(argument, multiple, _start(t, multiple))


def _start(t: Tensor, multiple: int) -> tuple[int, ...]:
    storage, start = t._storage, t._offset * t._dtype.itemsize
    if not multiple:
        return start, storage.skew % 64, storage.nbytes
    return start % multiple, storage.skew % multiple


class CapturedStorage:
    """Storage of a tensor that a function captured. The graph owns the storage if nobody else does
    (`own`); else it holds a weak reference, and `gone` is called when the storage dies."""

    __slots__ = ("_key", "_own", "_shape", "reference")

    def __init__(self, storage: Storage, own: bool, gone: Callable[[Any], object]) -> None:
        self._shape = (storage.nbytes,)
        self._key = geometry_key(self._shape, (1,), uint8)
        self._own = storage if own else None
        self.reference = ref(storage, gone)

    @property
    def storage(self) -> Storage:
        """Returns the storage, which is alive as long as the graph is not stale."""
        storage = self.reference()
        assert storage is not None, "a graph ran that is stale"
        return storage

    def whole(self) -> Tensor:
        """Returns the whole storage as a uint8 tensor."""
        tensor = _new(Tensor)
        tensor._storage, tensor._dtype, tensor._offset = self.reference(), uint8, 0  # type: ignore[assignment]
        tensor._shape, tensor._strides, tensor._key = self._shape, (1,), self._key
        return tensor


_new = object.__new__


def captured_storage(graph: Graph, gone: Callable[[Any], object]) -> dict[int, CapturedStorage]:
    """Returns the storage that a graph's function captured, by the memory's number."""
    probe: Any = GraphBuffer(0, None, held=cast("Storage", object()))
    alone = sys.getrefcount(probe.held)
    return {
        k: CapturedStorage(m.held, sys.getrefcount(m.held) <= alone, gone)
        for k, m in enumerate(graph.memories)
        if m.held is not None
    }


class Guards:
    """The guards of a graph.

    `arguments`: places of the call's tensors that kernels access; `written`: those that are
    written. `held`: captured storage; `held_written`: indices of those that are written. `seen`:
    storage of captured tensors that may have had their shapes read.
    """

    def __init__(
        self,
        arguments: Sequence[int],
        written: Sequence[int],
        held: Sequence[CapturedStorage],
        held_written: Sequence[int],
        starts: Sequence[OffsetGuard],
        seen: Iterable[Storage],
        gone: Callable[[], object],
    ) -> None:
        # Arguments that are only read may share memory.
        self._arguments = tuple(arguments) if written or held_written else ()
        self._written, self._places = tuple(written), [k for k, a in enumerate(arguments) if a in written]
        self._held_written, self._starts, self._gone = tuple(held_written), tuple(starts), gone
        self._references = tuple([of.reference for of in held])
        storages = [of.storage for of in held]
        self._others = any(storage.owner is not None for storage in storages)
        self._never = any(_overlap(storages[h], storage) for h in held_written for storage in storages)
        self._reshaped = False
        for storage in {*storages, *seen}:
            watchers.setdefault(storage, WeakSet()).add(self)

    def reshaped(self) -> None:
        """Marks the graph as stale: a captured tensor has another geometry or other storage now."""
        self._reshaped = True
        self._gone()

    @property
    def stale(self) -> bool:
        """True if the call has to be traced anew, as a captured tensor changed or died."""
        return self._reshaped or any(reference() is None for reference in self._references)

    def check(self, tensors: Sequence[Tensor]) -> bool:
        """True if all guards hold for these tensors."""
        for reference in self._references:
            if reference() is None:
                return False
        if self._reshaped or self._never:
            return False
        for k in self._written:
            if tensors[k]._storage.readonly:
                return False
        for k, multiple, found in self._starts:
            if _start(tensors[k], multiple) != found:
                return False
        return not self._arguments or self._apart([tensors[k]._storage for k in self._arguments])

    def _apart(self, arguments: list[Storage]) -> bool:
        """True if no storage that the call writes shares a byte with other storage of the call."""
        others = self._others  # whether some belongs to others: that alone may be handed in twice
        for storage in arguments:
            others = others or storage.owner is not None
        held: list[Any] = []
        if self._references:
            held = [reference() for reference in self._references]
            for h in self._held_written:
                if held[h] in arguments:
                    return False
            for k in self._places:
                if arguments[k] in held:
                    return False
        if not others:
            return True
        written = [arguments[k] for k in self._places] + [held[h] for h in self._held_written]
        return not any(_overlap(a, b) for a in written for b in (*arguments, *held))


def closure_storage(function: Any) -> Iterator[Storage]:
    """Yields the storage of tensors that a function reaches by its globals, defaults, closure or
    `self`, directly or in a container or attribute."""
    function = getattr(function, "__func__", function)
    codes = [getattr(function, "__code__", None)]
    names: set[str] = set()
    while codes:
        code = codes.pop()
        names |= set(getattr(code, "co_names", ()))
        codes += [part for part in getattr(code, "co_consts", ()) if isinstance(part, CodeType)]
    spaces = getattr(function, "__globals__", {})
    things = [spaces[name] for name in names if name in spaces]
    things += [
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).values(),
    ]
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # it is empty
            things.append(cell.cell_contents)
    for thing in [*things, getattr(function, "__self__", None)]:
        kind, parts = type(thing), [thing]
        if issubclass(kind, (list, tuple, dict)):
            parts = list(thing.values() if issubclass(kind, dict) else thing)
        elif not issubclass(kind, (ModuleType, type)):
            with suppress(AttributeError):  # it has no such parts
                parts += object.__getattribute__(thing, "__dict__").values()
        for part in parts:
            if type(part) is Tensor:
                yield part._storage


def _overlap(a: Storage, b: Storage) -> bool:
    """True if two different storages share bytes."""
    if a is b or a.ptr is None or b.ptr is None:
        return False
    return a.ptr < b.ptr + b.nbytes and b.ptr < a.ptr + a.nbytes
